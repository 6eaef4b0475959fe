// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Op: the enum over ops.def, its facts, and the instruction formats.

#include <cstdint>
#include <string_view>

#include "ir/types.hpp"

namespace hoist::ir {

enum class Op : std::uint16_t {
#define HOIST_IR_OP(name, ...) name,
#include "ir/ops.def"
};
#define HOIST_IR_OP(...) +1
inline constexpr unsigned kOpCount = 0
#include "ir/ops.def"
    ;

/// Operand layouts. InstData has one 16-bit field `aux` and three 32-bit fields `a`, `b`, `c`:
///
///   format            CLIF text                      fields
enum class Format : std::uint8_t {
  Nullary,           //
  Unary,             // x                              a = x
  UnaryImm,          // IMM                            b, c = low and high half of the immediate
  UnaryF16,          // 0x1.8p3                        b = bits
  UnaryF32,          // 0x1.8p3                        b = bits
  UnaryF64,          // 0x1.8p3                        b, c = bits
  UnaryF128,         // 0x1.8p3                        a = Immediate
  UnaryConst,        // const0 or a literal            a = Constant
  UnaryGlobalValue,  // gv0                            a = global value
  Binary,            // x, y                           a, b
  Ternary,           // x, y, z                        a, b, c
  BinaryImm8,        // x, 3                           aux = number; a = x
  TernaryImm8,       // x, y, 3                        aux = number; a, b
  Shuffle,           // x, y, [0 1 ...]                a, b; c = Immediate, byte i is number i
  MultiAry,          // x, y, ...                      b = value list
  IntCompare,        // cc x, y                        aux = IntCC; a, b
  FloatCompare,      // cc x, y                        aux = FloatCC; a, b
  IntAddTrap,        // x, y, code                     aux = TrapCode; a, b
  Jump,              // block1(v1)                     a = block call
  Brif,              // c, block1(v1), block2          a = c; b, c = block calls
  BrTable,           // x, block1, [block2, block3]    a = x; b = jump table
  Trap,              // code                           aux = TrapCode
  CondTrap,          // c, code                        aux = TrapCode; a = c
  Call,              // fn0(x, y)                      a = FuncRef; b = value list
  CallIndirect,      // sig0, callee(x, y)             a = SigRef; b = value list, callee first
  TryCall,  // fn0(x), sig0, block1(ret0), [] a = FuncRef; b = value list; c = ExceptionTable
  TryCallIndirect,   // callee(x), sig0, block1, []    b = value list, callee first; c =
                     // ExceptionTable
  FuncAddr,          // fn0                            a = FuncRef
  StackAddr,         // ss0+8                          a = StackSlot; b = offset (i32)
  DynamicStackAddr,  // dss0                           a = DynamicStackSlot
  Load,              // flags p+8                      aux = MemFlagsRef; a = p; b = offset (i32)
  LoadNoOffset,      // flags x                        aux = MemFlagsRef; a = x
  Store,             // flags x, p+8                   aux = MemFlagsRef; a = x; b = p; c = offset
  StoreNoOffset,     // flags x, p                     aux = MemFlagsRef; a = x; b = p
  AtomicRmw,         // flags add p, x                 aux = MemFlagsRef; a = p; b = x; c = AtomicOp
  AtomicCas,         // flags p, expected, new         aux = MemFlagsRef; a = p; b, c
  ExceptionHandlerAddress,  // block1, 0               a = Block, ending in a try_call; b = number
};

enum class Control : std::uint8_t { None, Arg0, Arg1, Suffix };
enum class ResultRule : std::uint8_t {
  None,
  T,
  I8,
  Byte,
  I64,
  F16,
  F32,
  F64,
  F128,
  I8x16,
  I16x8,
  I32x4,
  I64x2,
  F32x4,
  F64x2,
  Addr,
  Sig,
  PairI8,
  HalfPair,
  Double,
  Lane,
  Narrow,
  Wide,
  Fixed,
  Suffix
};

/// Effect bits of a row of ops.def.
namespace effect {
inline constexpr std::uint16_t Pure = 0, Load = 1, Store = 2, Trap = 4, Call = 8, Side = 16,
                               Term = 32, Branch = 64, Idem = 128;
}

struct OpInfo {
  const char* name;
  const char* text;
  const char* meaning;
  Format format;
  Control control;
  ResultRule result;
  std::uint16_t effects;
};
extern const OpInfo kOpInfos[kOpCount];
inline const OpInfo& info(Op op) {
  return kOpInfos[static_cast<unsigned>(op)];
}
inline Format format(Op op) {
  return info(op).format;
}
inline bool has_effect(Op op, std::uint16_t bits) {
  return (info(op).effects & bits) != 0;
}
inline bool is_terminator(Op op) {
  return has_effect(op, effect::Term);
}
inline bool is_call(Op op) {
  return has_effect(op, effect::Call);
}
/// try_call, try_call_indirect: a call and a terminator with an exception table.
inline bool is_try(Op op) {
  return format(op) == Format::TryCall || format(op) == Format::TryCallIndirect;
}
/// Carries debug tags: calls and sequence_point.
inline bool may_have_debug_tags(Op op) {
  return is_call(op) || op == Op::SequencePoint;
}
/// Number of results by the rule; for Sig the signature decides, here 0.
unsigned result_count(ResultRule rule);
/// Type of result `number` for the controlling type; invalid for Sig, and where the rule cannot be
/// applied to `control` (half of an f32, ...).
Type result_type(Op op, Type control, unsigned number = 0);

/// No effect but its results (a load is not pure).
inline bool is_pure(Op op) {
  return info(op).effects == 0;
}

/// What atomic_rmw does, CLIF order.
enum class AtomicOp : std::uint8_t { Add, Sub, And, Nand, Or, Xor, Xchg, Umin, Umax, Smin, Smax };
std::string_view text(AtomicOp op);

/// Integer conditions, CLIF order.
enum class IntCC : std::uint8_t { Eq, Ne, Slt, Sge, Sgt, Sle, Ult, Uge, Ugt, Ule };
/// Float conditions, CLIF order.
enum class FloatCC : std::uint8_t {
  Ord,
  Uno,
  Eq,
  Ne,
  One,
  Ueq,
  Lt,
  Le,
  Gt,
  Ge,
  Ult,
  Ule,
  Ugt,
  Uge
};
std::string_view text(IntCC cc);
std::string_view text(FloatCC cc);
/// The condition that is true exactly when `cc` is false.
IntCC inverse(IntCC cc);
FloatCC inverse(FloatCC cc);
/// The condition for exchanged operands.
IntCC swapped(IntCC cc);
FloatCC swapped(FloatCC cc);

}  // namespace hoist::ir
