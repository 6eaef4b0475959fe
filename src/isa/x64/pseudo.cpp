// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Facts of the pseudo instructions, expanded from pseudo.def.
#include "isa/x64/pseudo.hpp"

#include <string_view>

namespace hoist::isa::x64 {

static constexpr bool has(std::string_view flags, char letter) {
  return flags.find(letter) != std::string_view::npos;
}

static constexpr PseudoInfo kPseudos[] = {
#define HOIST_X64_PSEUDO(name, text, operands, flags, meaning) \
  {#name, text, has(flags, 'r'), has(flags, 'w')},
#include "isa/x64/pseudo.def"
};

const PseudoInfo& info(Pseudo op) {
  return kPseudos[static_cast<unsigned>(op) - masm::x64::kOpCount];
}

}  // namespace hoist::isa::x64
