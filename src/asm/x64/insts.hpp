// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Names of the x86-64 instruction forms and what is known about each, from insts.def.

#include <cstdint>
#include <span>
#include <string_view>

#include "asm/x64/regs.hpp"

namespace hoist::masm::x64 {

/// One encoding form: a row of insts.def.
enum class Op : std::uint16_t {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) id,
#include "asm/x64/insts.def"
};

inline constexpr std::uint16_t kOpCount = 0
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) +1
#include "asm/x64/insts.def"
    ;

enum class Role : std::uint8_t { Read, Write, ReadWrite, Address };

/// Where an operand is encoded, or which register it is.
enum class Place : std::uint8_t {
  Reg,
  Rm,
  OpReg,
  VReg,  // a general register: ModRM.reg, ModRM.rm, opcode, VEX.vvvv
  XReg,
  Xrm,  // a vector register: ModRM.reg, ModRM.rm
  Mem,
  Imm,
  Imm8,
  Imm64,
  Rel,
  Cl,
  Xmm0,  // written in text, fixed
  Rax,
  Rbx,
  Rcx,
  Rdx  // implicit  clang-format off
};  // clang-format on

constexpr bool is_implicit(Place p) {
  return p >= Place::Rax;
}
constexpr bool is_fixed(Place p) {
  return p >= Place::Cl;
}

struct OperandInfo {
  Place place;
  Role role;
  std::uint8_t bits;  ///< 0: the instruction's width
};

/// Flags as bits, in the order of the table's notation.
enum FlagBit : std::uint8_t {
  kFlagO = 1,
  kFlagS = 2,
  kFlagZ = 4,
  kFlagA = 8,
  kFlagP = 16,
  kFlagC = 32,
  kFlagsOfCc = 64  ///< those that the condition code needs  clang-format off
};  // clang-format on

struct OpInfo {
  static constexpr unsigned kMaxOperands = 5;

  const char* mnemonic;  ///< "{cc}" stands for the condition code's name
  OperandInfo operand[kMaxOperands];
  std::uint8_t operand_count;
  std::uint8_t widths;  ///< allowed width parameters in bytes, or-ed; 0: no width
  Feature feature;
  std::uint8_t flags_read;
  std::uint8_t flags_written;

  constexpr std::span<const OperandInfo> operands() const { return {operand, operand_count}; }
  constexpr bool allows_width(unsigned bytes) const { return widths == 0 || (widths & bytes) != 0; }
};

const OpInfo& info(Op op);
/// The table's id: "AddRR".
std::string_view op_name(Op op);

}  // namespace hoist::masm::x64
