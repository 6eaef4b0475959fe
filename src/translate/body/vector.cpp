// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector instructions without memory, by one table.
//
// On the operand stack, in locals, block parameters and signatures every v128 is an i8x16; an
// operation looks at its operands as lanes of its own type. Such a look is a bitcast, which takes
// no code: the back end gives it the register of its operand. One that undoes another is not even
// made.
//
// Relaxed instructions do what the processor does best, or, with `deterministic_relaxed`, what the
// specification's deterministic profile says: the first choice of each of its lists.
#include <algorithm>
#include <array>

#include "base/check.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using ir::F32;
using ir::F32x4;
using ir::F64;
using ir::F64x2;
using ir::FloatCC;
using ir::I16;
using ir::I16x8;
using ir::I32;
using ir::I32x4;
using ir::I64;
using ir::I64x2;
using ir::I8;
using ir::I8x16;
using ir::IntCC;
using wasm::Op;

namespace {

/// How an instruction is made of IR operations.
enum class Shape : std::uint8_t {
  None,          ///< no vector instruction
  Unary,         ///< ir(x), of type `out`
  Binary,        ///< ir(x, y)
  Logic,         ///< ir(x, y) on bits: in whatever lanes x has
  Not,           ///< ~x
  AndNot,        ///< x & ~y
  FloatUnary,    ///< ir(x), of type `out`; may be a NaN
  FloatBinary,   ///< ir(x, y); may be a NaN
  Bitselect,     ///< bits of x where z has 1, of y where 0
  Shift,         ///< ir(x, amount)
  IntCompare,    ///< `cc`
  FloatCompare,  ///< `cc`
  Test,          ///< ir(x) as an i32
  Bitmask,       ///< the highest bits
  Splat,
  ExtractSigned,
  ExtractUnsigned,
  Extract,  ///< lanes of 32 and 64 bits
  Replace,
  AddPairs,      ///< of lanes widened by ir and its upper half
  MulWidened,    ///< of lanes widened by ir
  Dot,           ///< products of widened lanes, neighbours added
  ConvertLow,    ///< the low two i32, widened by ir, to f64
  TruncateZero,  ///< f64 to the low two i32 by ir, the others 0
  PseudoMin,     ///< y < x ? y : x
  PseudoMax,     ///< x < y ? y : x
  // Relaxed.
  RelaxedSwizzle,
  RelaxedTruncate,      ///< to signed
  RelaxedTruncateZero,  ///< to signed, f64
  RelaxedMadd,          ///< x * y + z
  RelaxedNmadd,         ///< -(x * y) + z
  RelaxedSelect,
  RelaxedMin,
  RelaxedMax,
  RelaxedQ15,
  RelaxedDot,
  RelaxedDotAdd,
};

struct Row {
  Op op;
  Shape shape;
  ir::Op ir = ir::Op::Nop;
  ir::Type in = I8x16;   ///< lanes of the operands
  ir::Type out = I8x16;  ///< of the result of ir, where it is not that of the operands
  std::uint8_t cc = 0;
};

constexpr std::uint8_t cc(IntCC code) {
  return static_cast<std::uint8_t>(code);
}
constexpr std::uint8_t cc(FloatCC code) {
  return static_cast<std::uint8_t>(code);
}

// clang-format off
#define INT_LANES(suffix, shape, ir_op) \
  {Op::I8x16##suffix, Shape::shape, ir::Op::ir_op, I8x16, I8x16}, \
  {Op::I16x8##suffix, Shape::shape, ir::Op::ir_op, I16x8, I16x8}, \
  {Op::I32x4##suffix, Shape::shape, ir::Op::ir_op, I32x4, I32x4}, \
  {Op::I64x2##suffix, Shape::shape, ir::Op::ir_op, I64x2, I64x2}
#define SMALL_LANES(suffix, shape, ir_op) \
  {Op::I8x16##suffix, Shape::shape, ir::Op::ir_op, I8x16, I8x16}, \
  {Op::I16x8##suffix, Shape::shape, ir::Op::ir_op, I16x8, I16x8}
#define MIN_MAX_LANES(suffix, ir_op) \
  SMALL_LANES(suffix, Binary, ir_op), {Op::I32x4##suffix, Shape::Binary, ir::Op::ir_op, I32x4}
#define FLOAT_LANES(suffix, shape, ir_op) \
  {Op::F32x4##suffix, Shape::shape, ir::Op::ir_op, F32x4, F32x4}, \
  {Op::F64x2##suffix, Shape::shape, ir::Op::ir_op, F64x2, F64x2}
#define COMPARE(lanes, suffix, code) {Op::lanes##suffix, Shape::IntCompare, ir::Op::Icmp, lanes, lanes, cc(IntCC::code)}
#define SIGNED_COMPARES(lanes) \
  COMPARE(lanes, Eq, Eq), COMPARE(lanes, Ne, Ne), COMPARE(lanes, LtS, Slt), \
  COMPARE(lanes, GtS, Sgt), COMPARE(lanes, LeS, Sle), COMPARE(lanes, GeS, Sge)
#define COMPARES(lanes) \
  SIGNED_COMPARES(lanes), COMPARE(lanes, LtU, Ult), COMPARE(lanes, GtU, Ugt), \
  COMPARE(lanes, LeU, Ule), COMPARE(lanes, GeU, Uge)
#define FLOAT_COMPARE(suffix, code) \
  {Op::F32x4##suffix, Shape::FloatCompare, ir::Op::Fcmp, F32x4, F32x4, cc(FloatCC::code)}, \
  {Op::F64x2##suffix, Shape::FloatCompare, ir::Op::Fcmp, F64x2, F64x2, cc(FloatCC::code)}
/// The four instructions that widen lanes of `from` to `to`, and their products.
#define WIDENS(to, from) \
  {Op::to##ExtendLow##from##S, Shape::Unary, ir::Op::SwidenLow, from, to}, \
  {Op::to##ExtendHigh##from##S, Shape::Unary, ir::Op::SwidenHigh, from, to}, \
  {Op::to##ExtendLow##from##U, Shape::Unary, ir::Op::UwidenLow, from, to}, \
  {Op::to##ExtendHigh##from##U, Shape::Unary, ir::Op::UwidenHigh, from, to}, \
  {Op::to##ExtmulLow##from##S, Shape::MulWidened, ir::Op::SwidenLow, from, to}, \
  {Op::to##ExtmulHigh##from##S, Shape::MulWidened, ir::Op::SwidenHigh, from, to}, \
  {Op::to##ExtmulLow##from##U, Shape::MulWidened, ir::Op::UwidenLow, from, to}, \
  {Op::to##ExtmulHigh##from##U, Shape::MulWidened, ir::Op::UwidenHigh, from, to}

constexpr Row kRows[] = {
    {Op::I8x16Swizzle, Shape::Binary, ir::Op::Swizzle},
    INT_LANES(Splat, Splat, Splat),
    FLOAT_LANES(Splat, Splat, Splat),
    SMALL_LANES(ExtractLaneS, ExtractSigned, Extractlane),
    SMALL_LANES(ExtractLaneU, ExtractUnsigned, Extractlane),
    {Op::I32x4ExtractLane, Shape::Extract, ir::Op::Extractlane, I32x4},
    {Op::I64x2ExtractLane, Shape::Extract, ir::Op::Extractlane, I64x2},
    FLOAT_LANES(ExtractLane, Extract, Extractlane),
    INT_LANES(ReplaceLane, Replace, Insertlane),
    FLOAT_LANES(ReplaceLane, Replace, Insertlane),

    COMPARES(I8x16), COMPARES(I16x8), COMPARES(I32x4), SIGNED_COMPARES(I64x2),
    FLOAT_COMPARE(Eq, Eq), FLOAT_COMPARE(Ne, Ne), FLOAT_COMPARE(Lt, Lt),
    FLOAT_COMPARE(Gt, Gt), FLOAT_COMPARE(Le, Le), FLOAT_COMPARE(Ge, Ge),

    {Op::V128Not, Shape::Not, ir::Op::Bnot},
    {Op::V128And, Shape::Logic, ir::Op::Band},
    {Op::V128Andnot, Shape::AndNot, ir::Op::Band},
    {Op::V128Or, Shape::Logic, ir::Op::Bor},
    {Op::V128Xor, Shape::Logic, ir::Op::Bxor},
    {Op::V128Bitselect, Shape::Bitselect, ir::Op::Bitselect},
    {Op::V128AnyTrue, Shape::Test, ir::Op::VanyTrue},
    INT_LANES(AllTrue, Test, VallTrue),
    INT_LANES(Bitmask, Bitmask, VhighBits),

    INT_LANES(Abs, Unary, Iabs), INT_LANES(Neg, Unary, Ineg),
    {Op::I8x16Popcnt, Shape::Unary, ir::Op::Popcnt},
    INT_LANES(Shl, Shift, Ishl), INT_LANES(ShrS, Shift, Sshr), INT_LANES(ShrU, Shift, Ushr),
    INT_LANES(Add, Binary, Iadd), INT_LANES(Sub, Binary, Isub),
    {Op::I16x8Mul, Shape::Binary, ir::Op::Imul, I16x8},
    {Op::I32x4Mul, Shape::Binary, ir::Op::Imul, I32x4},
    {Op::I64x2Mul, Shape::Binary, ir::Op::Imul, I64x2},
    SMALL_LANES(AddSatS, Binary, SaddSat), SMALL_LANES(AddSatU, Binary, UaddSat),
    SMALL_LANES(SubSatS, Binary, SsubSat), SMALL_LANES(SubSatU, Binary, UsubSat),
    SMALL_LANES(AvgrU, Binary, AvgRound),
    MIN_MAX_LANES(MinS, Smin), MIN_MAX_LANES(MinU, Umin),
    MIN_MAX_LANES(MaxS, Smax), MIN_MAX_LANES(MaxU, Umax),
    {Op::I16x8Q15mulrSatS, Shape::Binary, ir::Op::SqmulRoundSat, I16x8},
    {Op::I8x16NarrowI16x8S, Shape::Binary, ir::Op::Snarrow, I16x8},
    {Op::I8x16NarrowI16x8U, Shape::Binary, ir::Op::Unarrow, I16x8},
    {Op::I16x8NarrowI32x4S, Shape::Binary, ir::Op::Snarrow, I32x4},
    {Op::I16x8NarrowI32x4U, Shape::Binary, ir::Op::Unarrow, I32x4},
    WIDENS(I16x8, I8x16), WIDENS(I32x4, I16x8), WIDENS(I64x2, I32x4),
    {Op::I16x8ExtaddPairwiseI8x16S, Shape::AddPairs, ir::Op::SwidenLow, I8x16, I16x8},
    {Op::I16x8ExtaddPairwiseI8x16U, Shape::AddPairs, ir::Op::UwidenLow, I8x16, I16x8},
    {Op::I32x4ExtaddPairwiseI16x8S, Shape::AddPairs, ir::Op::SwidenLow, I16x8, I32x4},
    {Op::I32x4ExtaddPairwiseI16x8U, Shape::AddPairs, ir::Op::UwidenLow, I16x8, I32x4},
    {Op::I32x4DotI16x8S, Shape::Dot, ir::Op::SwidenLow, I16x8, I32x4},

    FLOAT_LANES(Abs, Unary, Fabs), FLOAT_LANES(Neg, Unary, Fneg),
    FLOAT_LANES(Sqrt, FloatUnary, Sqrt), FLOAT_LANES(Ceil, FloatUnary, Ceil),
    FLOAT_LANES(Floor, FloatUnary, Floor), FLOAT_LANES(Trunc, FloatUnary, Trunc),
    FLOAT_LANES(Nearest, FloatUnary, Nearest),
    FLOAT_LANES(Add, FloatBinary, Fadd), FLOAT_LANES(Sub, FloatBinary, Fsub),
    FLOAT_LANES(Mul, FloatBinary, Fmul), FLOAT_LANES(Div, FloatBinary, Fdiv),
    FLOAT_LANES(Min, FloatBinary, Fmin), FLOAT_LANES(Max, FloatBinary, Fmax),
    FLOAT_LANES(Pmin, PseudoMin, Nop), FLOAT_LANES(Pmax, PseudoMax, Nop),
    {Op::F32x4DemoteF64x2Zero, Shape::FloatUnary, ir::Op::Fvdemote, F64x2, F32x4},
    {Op::F64x2PromoteLowF32x4, Shape::FloatUnary, ir::Op::FvpromoteLow, F32x4, F64x2},
    {Op::I32x4TruncSatF32x4S, Shape::Unary, ir::Op::FcvtToSintSat, F32x4, I32x4},
    {Op::I32x4TruncSatF32x4U, Shape::Unary, ir::Op::FcvtToUintSat, F32x4, I32x4},
    {Op::F32x4ConvertI32x4S, Shape::Unary, ir::Op::FcvtFromSint, I32x4, F32x4},
    {Op::F32x4ConvertI32x4U, Shape::Unary, ir::Op::FcvtFromUint, I32x4, F32x4},
    {Op::I32x4TruncSatF64x2SZero, Shape::TruncateZero, ir::Op::FcvtToSintSat, F64x2, I64x2},
    {Op::I32x4TruncSatF64x2UZero, Shape::TruncateZero, ir::Op::FcvtToUintSat, F64x2, I64x2},
    {Op::F64x2ConvertLowI32x4S, Shape::ConvertLow, ir::Op::SwidenLow, I32x4, I64x2},
    {Op::F64x2ConvertLowI32x4U, Shape::ConvertLow, ir::Op::UwidenLow, I32x4, I64x2},

    {Op::I8x16RelaxedSwizzle, Shape::RelaxedSwizzle},
    {Op::I32x4RelaxedTruncF32x4S, Shape::RelaxedTruncate, ir::Op::FcvtToSintSat, F32x4, I32x4},
    // Saturating is one of the choices, and as fast as any.
    {Op::I32x4RelaxedTruncF32x4U, Shape::Unary, ir::Op::FcvtToUintSat, F32x4, I32x4},
    {Op::I32x4RelaxedTruncF64x2SZero, Shape::RelaxedTruncateZero, ir::Op::FcvtToSintSat, F64x2, I64x2},
    {Op::I32x4RelaxedTruncF64x2UZero, Shape::TruncateZero, ir::Op::FcvtToUintSat, F64x2, I64x2},
    FLOAT_LANES(RelaxedMadd, RelaxedMadd, Fma), FLOAT_LANES(RelaxedNmadd, RelaxedNmadd, Fma),
    INT_LANES(RelaxedLaneselect, RelaxedSelect, Blendv),
    FLOAT_LANES(RelaxedMin, RelaxedMin, Fmin), FLOAT_LANES(RelaxedMax, RelaxedMax, Fmax),
    {Op::I16x8RelaxedQ15mulrS, Shape::RelaxedQ15, ir::Op::X86Pmulhrsw, I16x8},
    {Op::I16x8RelaxedDotI8x16I7x16S, Shape::RelaxedDot, ir::Op::SwidenLow, I8x16, I16x8},
    {Op::I32x4RelaxedDotI8x16I7x16AddS, Shape::RelaxedDotAdd, ir::Op::SwidenLow, I8x16, I16x8},
};
#undef INT_LANES
#undef SMALL_LANES
#undef MIN_MAX_LANES
#undef FLOAT_LANES
#undef COMPARE
#undef SIGNED_COMPARES
#undef COMPARES
#undef FLOAT_COMPARE
#undef WIDENS
// clang-format on

constexpr std::uint16_t kFirst = wasm::op_number(0xfd, 0);
constexpr std::size_t kCodes = 0x120;

constexpr std::array<Row, kCodes> by_code() {
  std::array<Row, kCodes> out{};
  for (const Row& row : kRows) out[static_cast<std::uint16_t>(row.op) - kFirst] = row;
  return out;
}
constexpr std::array<Row, kCodes> kByCode = by_code();

/// The operation that does to the upper half of the lanes what `low` does to the lower.
constexpr ir::Op upper_half(ir::Op low) {
  return low == ir::Op::SwidenLow ? ir::Op::SwidenHigh : ir::Op::UwidenHigh;
}

bool is_register_vector(ir::Type type) {
  return type.is_vector() && type.bits() == 128;
}

}  // namespace

ir::MemFlagsRef IrSink::little_endian() {
  if (bitcast_flags_.is_none()) {
    ir::MemFlags flags;
    flags.endian = 1;
    bitcast_flags_ = func().intern(flags);
  }
  return bitcast_flags_;
}

IrSink::Value IrSink::as_lanes(ir::Type type, Value v) {
  v = func().resolve(v);
  if (func().type(v) == type) return v;
  const ir::Inst def = func().def_inst(v);
  if (def.is_some() && func().op(def) == ir::Op::Bitcast) {
    const Value source = func().resolve(func().arg_a(def));
    if (func().type(source) == type) return source;
    if (is_register_vector(func().type(source))) v = source;
  } else if (def.is_some() && func().op(def) == ir::Op::Vconst) {
    const ir::Constant bytes(func().data(def).a);
    return builder_.pure({.op = ir::Op::Vconst, .a = bytes.index()}, type);
  }
  const auto flags = static_cast<std::uint16_t>(little_endian().index());
  return builder_.pure({.op = ir::Op::Bitcast, .aux = flags, .a = v.index()}, type);
}

IrSink::Value IrSink::const_v128(std::span<const std::uint8_t, 16> bytes) {
  return builder_.vconst(I8x16, bytes);
}

IrSink::Value IrSink::shuffle(std::span<const std::uint8_t, 16> lanes, Value x, Value y) {
  std::array<std::uint8_t, 16> mask;
  std::ranges::copy(lanes, mask.begin());
  return builder_.shuffle(x, y, mask);
}

/// A constant whose every lane has these bits.
IrSink::Value IrSink::splat_constant(ir::Type type, std::uint64_t lane) {
  std::array<std::uint8_t, 16> bytes;
  const unsigned size = type.lane_bits() / 8;
  for (unsigned i = 0; i < 16; ++i) {
    bytes[i] = static_cast<std::uint8_t>(lane >> (i % size * 8));
  }
  return builder_.vconst(type, bytes);
}

IrSink::Value IrSink::canonical_nan(Value v) {
  if (!env_.settings.canonical_nans) return v;
  const ir::Type type = func().type(v);
  const bool single = type.lane_bits() == 32;
  const std::uint64_t bits = single ? 0x7fc0'0000 : 0x7ff8'0000'0000'0000;
  const Value is_nan = builder_.fcmp(FloatCC::Uno, v, v);
  if (type.is_vector()) {
    const ir::Type lanes = single ? I32x4 : I64x2;
    const Value nan = splat_constant(lanes, bits);
    const Value chosen = builder_.ternary(ir::Op::Bitselect, is_nan, nan, as_lanes(lanes, v));
    return as_lanes(type, chosen);
  }
  const Value nan =
      single ? builder_.f32const(static_cast<std::uint32_t>(bits)) : builder_.f64const(bits);
  return builder_.ternary(ir::Op::Select, is_nan, nan, v);
}

/// x < y ? if_so : if_not, of bits.
IrSink::Value IrSink::choose_less(Value x, Value y, Value if_so, Value if_not) {
  const Value less = builder_.fcmp(FloatCC::Lt, x, y);
  const ir::Type lanes = func().type(less);
  const Value so = as_lanes(lanes, if_so);
  const Value otherwise = as_lanes(lanes, if_not);
  return builder_.ternary(ir::Op::Bitselect, less, so, otherwise);
}

/// Products of the lanes of x and y, widened by `widen` and its upper half; neighbours added.
IrSink::Value IrSink::dot(ir::Op widen, ir::Type wide, Value x, Value y) {
  const Value low_x = builder_.unary(widen, wide, x);
  const Value low_y = builder_.unary(widen, wide, y);
  const Value low = builder_.binary(ir::Op::Imul, low_x, low_y);
  const Value high_x = builder_.unary(upper_half(widen), wide, x);
  const Value high_y = builder_.unary(upper_half(widen), wide, y);
  const Value high = builder_.binary(ir::Op::Imul, high_x, high_y);
  return builder_.binary(ir::Op::IaddPairwise, low, high);
}

/// Sums of two products of signed bytes, saturating: the least word means that a sum wrapped, for
/// the least real sum is above it.
IrSink::Value IrSink::saturating_dot(Value x, Value y) {
  const Value sums = dot(ir::Op::SwidenLow, I16x8, x, y);
  const Value wrapped = builder_.icmp(IntCC::Eq, sums, splat_constant(I16x8, 0x8000));
  return builder_.binary(ir::Op::Bxor, sums, wrapped);
}

IrSink::Value IrSink::add_pairs(ir::Op widen, ir::Type wide, Value x) {
  const Value low = builder_.unary(widen, wide, x);
  const Value high = builder_.unary(upper_half(widen), wide, x);
  return builder_.binary(ir::Op::IaddPairwise, low, high);
}

/// Doubles to the low two lanes of an i32x4 by `convert`.
IrSink::Value IrSink::truncate_zero(ir::Op convert, Value x) {
  const Value whole = builder_.unary(convert, I64x2, x);
  const Value zero = splat_constant(I64x2, 0);
  const ir::Op narrow = convert == ir::Op::FcvtToSintSat ? ir::Op::Snarrow : ir::Op::Uunarrow;
  return builder_.binary(narrow, whole, zero);
}

IrSink::Value IrSink::multiply_add(Value x, Value y, Value z, bool negate) {
  const bool fused = !env_.settings.deterministic_relaxed && env_.has_fma;
  if (negate && fused) x = builder_.unary(ir::Op::Fneg, func().type(x), x);
  if (fused) return canonical_nan(builder_.ternary(ir::Op::Fma, x, y, z));
  const Value product = canonical_nan(builder_.binary(ir::Op::Fmul, x, y));
  return canonical_nan(negate ? builder_.binary(ir::Op::Fsub, z, product)
                              : builder_.binary(ir::Op::Fadd, product, z));
}

IrSink::Value IrSink::vector(Op op, In in, std::uint8_t lane) {
  const Row& row = kByCode[static_cast<std::uint16_t>(op) - kFirst];
  const bool relaxed = row.shape >= Shape::RelaxedSwizzle;
  const Value made = relaxed ? relaxed_vector(op, in) : plain_vector(op, in, lane);
  return func().type(made).is_vector() ? as_lanes(I8x16, made) : made;
}

IrSink::Value IrSink::plain_vector(Op op, In in, std::uint8_t lane) {
  const Row& row = kByCode[static_cast<std::uint16_t>(op) - kFirst];
  const auto operand = [&](std::size_t i) { return as_lanes(row.in, in[i].value); };
  const ir::Type scalar = row.in.lane_type();
  // The scalar operand of splat and replace_lane; narrow lanes take the low bits of an i32.
  const auto scalar_operand = [&](std::size_t i) {
    if (scalar == I8 || scalar == I16) {
      return builder_.unary(ir::Op::Ireduce, scalar, in[i].value);
    }
    return in[i].value;
  };
  const auto binary = [&] {
    const Value x = operand(0);
    return builder_.binary(row.ir, x, operand(1));
  };
  switch (row.shape) {
    case Shape::Unary: return builder_.unary(row.ir, row.out, operand(0));
    case Shape::FloatUnary: return canonical_nan(builder_.unary(row.ir, row.out, operand(0)));
    case Shape::Binary: return binary();
    case Shape::FloatBinary: return canonical_nan(binary());
    case Shape::Logic: return binary();
    case Shape::Not: return builder_.unary(row.ir, I8x16, operand(0));
    case Shape::AndNot: {
      const Value x = operand(0);
      const Value inverse = builder_.unary(ir::Op::Bnot, I8x16, operand(1));
      return builder_.binary(ir::Op::Band, x, inverse);
    }
    case Shape::Bitselect: {
      const Value x = operand(0);
      const Value y = operand(1);
      return builder_.ternary(ir::Op::Bitselect, operand(2), x, y);
    }
    case Shape::Shift: return builder_.binary(row.ir, operand(0), in[1].value);
    case Shape::IntCompare: {
      const Value x = operand(0);
      return builder_.icmp(static_cast<IntCC>(row.cc), x, operand(1));
    }
    case Shape::FloatCompare: {
      const Value x = operand(0);
      return builder_.fcmp(static_cast<FloatCC>(row.cc), x, operand(1));
    }
    case Shape::Test: return to_i32(builder_.unary(row.ir, I8, operand(0)));
    case Shape::Bitmask: return builder_.unary(row.ir, I32, operand(0));
    case Shape::Splat: return builder_.unary(row.ir, row.in, scalar_operand(0));
    case Shape::ExtractSigned:
      return builder_.unary(ir::Op::Sextend, I32, builder_.extractlane(operand(0), lane));
    case Shape::ExtractUnsigned:
      return builder_.unary(ir::Op::Uextend, I32, builder_.extractlane(operand(0), lane));
    case Shape::Extract: return builder_.extractlane(operand(0), lane);
    case Shape::Replace: {
      const Value x = operand(0);
      return builder_.insertlane(x, scalar_operand(1), lane);
    }
    case Shape::AddPairs: return add_pairs(row.ir, row.out, operand(0));
    case Shape::MulWidened: {
      const Value x = builder_.unary(row.ir, row.out, operand(0));
      const Value y = builder_.unary(row.ir, row.out, operand(1));
      return builder_.binary(ir::Op::Imul, x, y);
    }
    case Shape::Dot: {
      const Value x = operand(0);
      return dot(row.ir, row.out, x, operand(1));
    }
    case Shape::ConvertLow: {
      const bool is_signed = row.ir == ir::Op::SwidenLow;
      const Value wide = builder_.unary(row.ir, row.out, operand(0));
      return builder_.unary(is_signed ? ir::Op::FcvtFromSint : ir::Op::FcvtFromUint, F64x2, wide);
    }
    case Shape::TruncateZero: return truncate_zero(row.ir, operand(0));
    case Shape::PseudoMin: {
      const Value x = operand(0);
      const Value y = operand(1);
      return choose_less(y, x, y, x);
    }
    case Shape::PseudoMax: {
      const Value x = operand(0);
      const Value y = operand(1);
      return choose_less(x, y, y, x);
    }
    case Shape::None:
    case Shape::RelaxedSwizzle:
    case Shape::RelaxedTruncate:
    case Shape::RelaxedTruncateZero:
    case Shape::RelaxedMadd:
    case Shape::RelaxedNmadd:
    case Shape::RelaxedSelect:
    case Shape::RelaxedMin:
    case Shape::RelaxedMax:
    case Shape::RelaxedQ15:
    case Shape::RelaxedDot:
    case Shape::RelaxedDotAdd: break;
  }
  HOIST_UNREACHABLE("opcode is a vector instruction without memory");
}

IrSink::Value IrSink::relaxed_vector(Op op, In in) {
  const Row& row = kByCode[static_cast<std::uint16_t>(op) - kFirst];
  const bool fast = !env_.settings.deterministic_relaxed;
  const bool fast_extreme = fast && !env_.settings.canonical_nans;
  const Value x = as_lanes(row.in, in[0].value);
  const Value y = in.size() > 1 ? as_lanes(row.in, in[1].value) : Value();
  switch (row.shape) {
    case Shape::RelaxedSwizzle:
      return builder_.binary(fast ? ir::Op::X86Pshufb : ir::Op::Swizzle, x, y);
    case Shape::RelaxedTruncate:
      return builder_.unary(fast ? ir::Op::X86Cvtt2dq : row.ir, I32x4, x);
    case Shape::RelaxedTruncateZero:
      return fast ? builder_.unary(ir::Op::X86Cvtt2dq, I32x4, x) : truncate_zero(row.ir, x);
    case Shape::RelaxedMadd:
    case Shape::RelaxedNmadd: {
      const Value z = as_lanes(row.in, in[2].value);
      return multiply_add(x, y, z, row.shape == Shape::RelaxedNmadd);
    }
    case Shape::RelaxedSelect: {
      const Value mask = as_lanes(row.in, in[2].value);
      // There is no instruction that chooses 16 bits by their sign.
      const bool by_sign = fast && row.in != I16x8;
      return builder_.ternary(by_sign ? ir::Op::Blendv : ir::Op::Bitselect, mask, x, y);
    }
    case Shape::RelaxedMin:
      return fast_extreme ? choose_less(x, y, x, y) : canonical_nan(builder_.binary(row.ir, x, y));
    case Shape::RelaxedMax:
      return fast_extreme ? choose_less(y, x, x, y) : canonical_nan(builder_.binary(row.ir, x, y));
    case Shape::RelaxedQ15:
      return builder_.binary(fast ? ir::Op::X86Pmulhrsw : ir::Op::SqmulRoundSat, x, y);
    case Shape::RelaxedDot:
      return fast ? builder_.binary(ir::Op::X86Pmaddubsw, x, y) : saturating_dot(x, y);
    case Shape::RelaxedDotAdd: {
      const Value pairs = fast ? builder_.binary(ir::Op::X86Pmaddubsw, x, y) : saturating_dot(x, y);
      const Value fours = add_pairs(ir::Op::SwidenLow, I32x4, pairs);
      return builder_.binary(ir::Op::Iadd, fours, as_lanes(I32x4, in[2].value));
    }
    case Shape::None:
    case Shape::Unary:
    case Shape::Binary:
    case Shape::Logic:
    case Shape::Not:
    case Shape::AndNot:
    case Shape::FloatUnary:
    case Shape::FloatBinary:
    case Shape::Bitselect:
    case Shape::Shift:
    case Shape::IntCompare:
    case Shape::FloatCompare:
    case Shape::Test:
    case Shape::Bitmask:
    case Shape::Splat:
    case Shape::ExtractSigned:
    case Shape::ExtractUnsigned:
    case Shape::Extract:
    case Shape::Replace:
    case Shape::AddPairs:
    case Shape::MulWidened:
    case Shape::Dot:
    case Shape::ConvertLow:
    case Shape::TruncateZero:
    case Shape::PseudoMin:
    case Shape::PseudoMax: break;
  }
  HOIST_UNREACHABLE("opcode is a relaxed vector instruction");
}

// ---- Wide arithmetic.

/// 128-bit values exist only between these operations: the back end keeps the halves in registers
/// and joins the two sums by the carry flag.
void IrSink::wide(Op op, In in, Out out) {
  const auto joined = [&](std::size_t low) {
    return builder_.binary(ir::Op::Iconcat, in[low].value, in[low + 1].value);
  };
  Value result;
  if (op == Op::I64Add128 || op == Op::I64Sub128) {
    const Value x = joined(0);
    const Value y = joined(2);
    result = builder_.binary(op == Op::I64Add128 ? ir::Op::Iadd : ir::Op::Isub, x, y);
  } else {
    const ir::Op extend = op == Op::I64MulWideS ? ir::Op::Sextend : ir::Op::Uextend;
    const Value x = builder_.unary(extend, ir::I128, in[0].value);
    const Value y = builder_.unary(extend, ir::I128, in[1].value);
    result = builder_.binary(ir::Op::Imul, x, y);
  }
  const std::span<const Value> halves = builder_.pair(ir::Op::Isplit, result);
  out[0].value = halves[0];
  out[1].value = halves[1];
}

}  // namespace hoist::translate
