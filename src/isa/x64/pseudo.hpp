// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Pseudo: the enum over pseudo.def. Its values follow masm::x64::Op in MachInst::op.

#include <cstdint>

#include "asm/x64/insts.hpp"

namespace hoist::isa::x64 {

enum class Pseudo : std::uint16_t {
  BeforeFirst = masm::x64::kOpCount - 1,
#define HOIST_X64_PSEUDO(name, text, operands, flags, meaning) name,
#include "isa/x64/pseudo.def"
  End
};

struct PseudoInfo {
  const char* name;
  const char* text;
  bool reads_flags;
  bool writes_flags;
};
const PseudoInfo& info(Pseudo op);

constexpr bool is_pseudo(std::uint16_t op) {
  return op >= masm::x64::kOpCount;
}
constexpr std::uint16_t raw(Pseudo op) {
  return static_cast<std::uint16_t>(op);
}
constexpr std::uint16_t raw(masm::x64::Op op) {
  return static_cast<std::uint16_t>(op);
}

}  // namespace hoist::isa::x64
