// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The enum over trap_codes.def. Any other non-zero byte up to 250 is a valid `userN` code of CLIF.

#include <cstdint>

namespace hoist::image {

enum class TrapCode : std::uint8_t {
  None = 0,
#define HOIST_TRAP_CODE(name, code, text, message) name = code,
#include "image/layout/trap_codes.def"
};

/// The specification's message, or "trap" for a user code without one.
const char* trap_message(TrapCode code);
/// CLIF text of a named code, or nullptr for one that prints as userN.
const char* trap_clif_name(TrapCode code);

}  // namespace hoist::image
