// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Names of the x86-64 instruction forms and what is known about each, from insts.def.

#include <cstdint>
#include <span>
#include <string_view>

#include "asm/x64/regs.hpp"

namespace hoist::masm::x64 {

/// One encoding form: a row of insts.def.
///
/// In machine IR (codegen/mach) the operands of a plain instruction are first the Defs, then the
/// Uses, both in the row's order, implicit and fixed ones (<rax>, cl) included: w is a Def, r a
/// Use, rw both (a few forms that only keep upper lanes have no Use for their rw). Then the
/// registers of the memory operand, base before index. OpInfo::mach_operand says where each
/// register of the row is.
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
  Xrm,
  XVReg,  // a vector register: ModRM.reg, ModRM.rm, VEX.vvvv
  XIs4,   // a vector register in the upper half of the last byte
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

/// Shape of a form: the number of register operands (not counting fixed ones) and these bits.
/// A register in the last byte is not counted.
enum ShapeBit : std::uint8_t {
  kShapeMem = 4,
  kShapeImm = 8,
  kShapeCc = 16,
  kShapeRel = 32,
  kShapeIs4 = 64
};

struct OpInfo {
  static constexpr unsigned kMaxOperands = 5;

  const char* mnemonic;  ///< "{cc}" stands for the condition code's name
  OperandInfo operand[kMaxOperands];
  std::uint8_t operand_count;
  std::uint8_t widths;  ///< allowed width parameters in bytes, or-ed; 0: no width
  Feature feature;
  std::uint8_t flags_read;
  std::uint8_t flags_written;
  std::uint8_t shape;  ///< kShape bits: which operands the encoder takes
  /// Place of each explicit register among the machine IR operands that are not of the address:
  /// counted from the start, or (negative) from the end; the one in the last byte is number 3.
  std::int8_t mach_operand[4];

  constexpr std::span<const OperandInfo> operands() const { return {operand, operand_count}; }
  constexpr bool allows_width(unsigned bytes) const { return widths == 0 || (widths & bytes) != 0; }
};

extern const OpInfo kOpInfos[kOpCount];
inline const OpInfo& info(Op op) {
  return kOpInfos[static_cast<std::uint16_t>(op)];
}

inline constexpr Op kNoOp{0xffff};
/// The form with the last register operand (which is only read) in memory: AddRR to AddRM, CmpRR to
/// CmpRM, Movzx8RR to Movzx8RM, MulR to MulM, Cvtsi2sdRR to Cvtsi2sdRM ... and TestRR to TestMR,
/// whose operands may be exchanged. kNoOp where there is none or where it reads more than 8 bytes.
/// So this says for which instructions an operand may be left in an 8-byte spill slot.
Op with_memory_source(Op op);
/// CmpRR to CmpMR, TestRR to TestMR, CmpRI to CmpMI, TestRI to TestMI: the first operand in memory.
/// kNoOp for anything that writes its first operand.
Op with_memory_first(Op op);
/// The same for a value that fills its 16 bytes of memory: the forms of with_memory_source and
/// those that read 16 bytes. With VEX there is no demand on their alignment.
Op with_memory_source_16(Op op);
/// The form with VEX (of three operands where SSE has two) of an SSE form: AddpsRR to VaddpsRRR,
/// AddpsRM to VaddpsRRM, PslldRI to VpslldRRI. kNoOp where there is none or `op` is no SSE form.
Op with_vex(Op op);
/// The table's id: "AddRR".
std::string_view op_name(Op op);

}  // namespace hoist::masm::x64
