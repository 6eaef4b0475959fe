// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image/layout/trap_code.hpp"

namespace hoist::image {

const char* trap_message(TrapCode code) {
  switch (static_cast<std::uint8_t>(code)) {
#define HOIST_TRAP_CODE(name, value, text, message) \
  case value: return message;
#include "image/layout/trap_codes.def"
    default: return "trap";
  }
}

const char* trap_clif_name(TrapCode code) {
  switch (static_cast<std::uint8_t>(code)) {
#define HOIST_TRAP_CODE(name, value, text, message) \
  case value: return (value) > 250 ? text : nullptr;
#include "image/layout/trap_codes.def"
    default: return nullptr;
  }
}

}  // namespace hoist::image
