// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements of random programs beyond scalars up to 64 bits.
#include <array>

#include "fuzz/gen/ir_generator.hpp"

namespace hoist::fuzz {

using ir::I128;
using ir::I16x8;
using ir::I32x4;
using ir::I64;
using ir::I64x2;
using ir::I8;
using ir::I8x16;

void Generator::wide_statement() {
  switch (in_.below(14)) {
    case 12: return has(kPinned) ? pinned() : wide_int();
    case 13: return has(kDynamic) ? dynamic_vector() : overflow();
    case 0:
    case 1: return has(kVectors) ? vector_arithmetic() : wide_int();
    case 2: return has(kVectors) ? vector_bytes() : overflow();
    case 3: return has(kVectors) ? vector_lanes() : wide_int();
    case 4: return has(kVectors) ? vector_floats() : atomic();
    case 5: return has(kVectors) ? vector_widths() : odd_float();
    case 6: return has(kVectors) ? vector_compare() : overflow();
    case 7: return has(kVectors) ? vector_memory() : atomic();
    case 8: return wide_int();
    case 9: return in_.below(2) == 0 ? overflow() : odd_float();
    case 10: return atomic();
    default: return has(kExceptions) && in_.below(2) == 0 ? throw_something() : call();
  }
}

// ---- Values.

Value Generator::wide_constant() {
  const std::uint64_t low = interesting_value(in_, I64);
  const unsigned pick = in_.below(3);
  const std::uint64_t high = pick == 0 ? 0 : pick == 1 ? ~0ull : interesting_value(in_, I64);
  const Value a = b_.iconst(I64, low);
  const Value b = b_.iconst(I64, high);
  return b_.binary(Op::Iconcat, a, b);
}

Value Generator::vector_constant(Type type) {
  std::array<std::uint8_t, 16> bytes{};
  const unsigned step = type.lane_bits() / 8;
  const bool same = in_.below(3) == 0;
  std::uint64_t lane = 0;
  for (unsigned at = 0; at < 16; at += step) {
    if (at == 0 || !same) lane = interesting_value(in_, type.lane_type());
    for (unsigned i = 0; i < step; ++i) bytes[at + i] = static_cast<std::uint8_t>(lane >> (8 * i));
  }
  return b_.vconst(type, bytes);
}

Value Generator::canonical_vector(Value x) {
  const Type type = func_.type(x);
  const Type ints = type == ir::F32x4 ? I32x4 : I64x2;
  std::array<std::uint8_t, 16> nan{};
  for (unsigned at = 0; at < 16; at += type.lane_bits() / 8) {
    const unsigned end = at + type.lane_bits() / 8;
    nan[end - 1] = 0x7f;
    nan[end - 2] = type == ir::F32x4 ? 0xc0 : 0xf8;
  }
  const Value is_nan = b_.fcmp(ir::FloatCC::Uno, x, x);
  const Value bits = b_.bitcast(ints, x);
  const Value canonical = b_.vconst(ints, nan);
  return b_.bitcast(type, b_.ternary(Op::Bitselect, is_nan, canonical, bits));
}

Value Generator::fold(Value x) {
  Value low;
  Value high;
  if (func_.type(x) == I128) {
    const auto halves = b_.pair(Op::Isplit, x);
    low = halves[0];
    high = halves[1];
  } else {
    if (func_.type(x).lane_is_float()) x = canonical(x);
    x = vector_cast(I64x2, x);
    low = b_.extractlane(x, 0);
    high = b_.extractlane(x, 1);
  }
  high = b_.binary(Op::Rotl, high, b_.iconst(ir::I32, 23));
  return b_.binary(Op::Bxor, low, high);
}

/// NaN bits must not matter: floats are canonical before.
Value Generator::vector_cast(Type type, Value x) {
  if (func_.type(x) == type) return x;
  ir::MemFlags flags;
  flags.endian = 1;
  return b_.insert({.op = Op::Bitcast,
                    .aux = static_cast<std::uint16_t>(func_.intern(flags).index()),
                    .a = x.index()},
                   type);
}

Type Generator::int_vector() {
  constexpr Type kIntVectors[] = {I8x16, I16x8, I32x4, I64x2};
  return in_.one_of(kIntVectors);
}

// ---- Vectors.

void Generator::vector_arithmetic() {
  const Type type = int_vector();
  switch (in_.below(10)) {
    case 8: {  // lanes of all ones or none choose
      const Value x = any(type);
      const Value mask = b_.icmp(static_cast<ir::IntCC>(in_.below(10)), x, any(type));
      const Value y = any(type);
      return define_some(type, b_.ternary(Op::Blendv, mask, y, any(type)));
    }
    case 9: return vector_special();
    case 0: {
      constexpr Op kOps[] = {Op::Ishl, Op::Ushr, Op::Sshr};
      const Op op = in_.one_of(kOps);
      const Value x = any(type);
      return define_some(type, b_.binary(op, x, any(any_int())));
    }
    case 1: {
      constexpr Op kOps[] = {Op::Ineg, Op::Bnot, Op::Iabs};
      const Op op = in_.one_of(kOps);
      return define_some(type, b_.unary(op, type, any(type)));
    }
    case 2: {
      const Value mask = any(type);
      const Value x = any(type);
      return define_some(type, b_.ternary(Op::Bitselect, mask, x, any(type)));
    }
    case 3: {
      constexpr Op kOps[] = {Op::UaddSat, Op::SaddSat, Op::UsubSat, Op::SsubSat, Op::AvgRound};
      const Op op = in_.one_of(kOps);
      const Type narrow = in_.below(2) == 0 ? I8x16 : I16x8;
      const Value x = any(narrow);
      return define_some(narrow, b_.binary(op, x, any(narrow)));
    }
    default: {
      constexpr Op kOps[] = {Op::Iadd, Op::Isub, Op::Imul, Op::Band, Op::Bor,
                             Op::Bxor, Op::Smin, Op::Smax, Op::Umin, Op::Umax};
      const Op op = in_.one_of(kOps);
      const Value x = any(type);
      return define_some(type, b_.binary(op, x, any(type)));
    }
  }
}

/// What only x86 has.
void Generator::vector_special() {
  switch (in_.below(4)) {
    case 0: {
      const Value x = any(I8x16);
      return define_some(I8x16, b_.binary(Op::X86Pshufb, x, any(I8x16)));
    }
    case 1: {
      const Value x = any(I16x8);
      return define_some(I16x8, b_.binary(Op::X86Pmulhrsw, x, any(I16x8)));
    }
    case 2: {
      const Value x = any(I8x16);
      return define_some(I16x8, b_.binary(Op::X86Pmaddubsw, x, any(I8x16)));
    }
    default: return define_some(I32x4, b_.unary(Op::X86Cvtt2dq, I32x4, any(ir::F32x4)));
  }
}

void Generator::vector_bytes() {
  const Value x = any(I8x16);
  switch (in_.below(4)) {
    case 0: return define_some(I8x16, b_.binary(Op::Swizzle, x, any(I8x16)));
    case 1: return define_some(I8x16, b_.unary(Op::Popcnt, I8x16, x));
    default: {
      std::array<std::uint8_t, 16> mask{};
      // Often a regular one, for which there are special instructions.
      const unsigned kind = in_.below(4);
      const unsigned start = in_.below(32);
      const unsigned lane = 1u << (1 + in_.below(3));
      unsigned from = start;
      for (unsigned i = 0; i < 16; ++i) {
        if (kind == 0) {
          from = in_.u8();
        } else if (kind == 1) {
          from = start + i;
        } else if (i % lane == 0) {
          from = kind == 2 ? start / lane * lane : in_.below(32) / lane * lane;
        }
        mask[i] = static_cast<std::uint8_t>((from + (kind >= 2 ? i % lane : 0)) % 32);
      }
      return define_some(I8x16, b_.shuffle(x, any(I8x16), mask));
    }
  }
}

void Generator::vector_lanes() {
  Type type = any_type();
  if (!type.is_vector()) type = int_vector();
  const Type lane = type.lane_type();
  const auto number = static_cast<std::uint8_t>(in_.below(type.lane_count()));
  switch (in_.below(6)) {
    case 0: return define_some(type, b_.unary(Op::Splat, type, any(lane)));
    case 1: return define_some(type, b_.unary(Op::ScalarToVector, type, any(lane)));
    case 2:
    case 3: return define_some(lane, b_.extractlane(any(type), number));
    case 4: {
      const Type to = int_vector();
      Value x = any(type);
      if (type.lane_is_float()) x = canonical(x);
      return define_some(to, vector_cast(to, x));
    }
    default: {
      const Value x = any(type);
      return define_some(type, b_.insertlane(x, any(lane), number));
    }
  }
}

void Generator::vector_floats() {
  constexpr Op kBinary[] = {Op::Fadd, Op::Fsub, Op::Fmul,     Op::Fdiv,
                            Op::Fmin, Op::Fmax, Op::Fcopysign};
  constexpr Op kUnary[] = {Op::Sqrt,  Op::Fneg,  Op::Fabs,   Op::Ceil,
                           Op::Floor, Op::Trunc, Op::Nearest};
  const Type type = in_.below(2) == 0 ? ir::F32x4 : ir::F64x2;
  const Value x = any(type);
  switch (in_.below(9)) {
    case 0: {
      const Value y = any(type);
      return define_some(type, b_.ternary(Op::Fma, x, y, any(type)));
    }
    case 1:
    case 2: {
      const Op op = in_.one_of(kUnary);
      return define_some(type, b_.unary(op, type, x));
    }
    case 3: {
      constexpr Op kOps[] = {Op::FcvtToUintSat, Op::FcvtToSintSat};
      const Type to = type == ir::F32x4 ? I32x4 : I64x2;
      const Op op = in_.one_of(kOps);
      return define_some(to, b_.unary(op, to, x));
    }
    case 4: {
      constexpr Op kOps[] = {Op::FcvtFromUint, Op::FcvtFromSint};
      const Op op = in_.one_of(kOps);
      return define_some(type, b_.unary(op, type, any(type == ir::F32x4 ? I32x4 : I64x2)));
    }
    case 5:
      return type == ir::F32x4 ? define_some(ir::F64x2, b_.unary(Op::FvpromoteLow, ir::F64x2, x))
                               : define_some(ir::F32x4, b_.unary(Op::Fvdemote, ir::F32x4, x));
    default: {
      const Op op = in_.one_of(kBinary);
      Value y = any(type);
      if (op == Op::Fcopysign) y = canonical(y);
      return define_some(type, b_.binary(op, x, y));
    }
  }
}

void Generator::vector_widths() {
  switch (in_.below(4)) {
    case 0: {
      constexpr Op kOps[] = {Op::Snarrow, Op::Unarrow, Op::Uunarrow};
      const bool words = in_.below(2) == 0;
      const Type from = words ? I32x4 : I16x8;
      const Op op = in_.one_of(kOps);
      const Value x = any(from);
      return define_some(words ? I16x8 : I8x16, b_.binary(op, x, any(from)));
    }
    case 1: {
      const Type type = in_.below(2) == 0 ? I16x8 : I32x4;
      const Value x = any(type);
      return define_some(type, b_.binary(Op::IaddPairwise, x, any(type)));
    }
    case 2: {
      const Value x = any(I16x8);
      return define_some(I16x8, b_.binary(Op::SqmulRoundSat, x, any(I16x8)));
    }
    default: {
      constexpr Op kOps[] = {Op::SwidenLow, Op::SwidenHigh, Op::UwidenLow, Op::UwidenHigh};
      constexpr Type kFrom[] = {I8x16, I16x8, I32x4};
      constexpr Type kTo[] = {I16x8, I32x4, I64x2};
      const Op op = in_.one_of(kOps);
      const unsigned which = in_.below(3);
      return define_some(kTo[which], b_.unary(op, kTo[which], any(kFrom[which])));
    }
  }
}

void Generator::vector_compare() {
  const Type type = int_vector();
  switch (in_.below(5)) {
    case 0: {
      const Op op = in_.below(2) == 0 ? Op::VanyTrue : Op::VallTrue;
      return define_some(I8, b_.unary(op, I8, any(type)));
    }
    case 1: return define_some(ir::I32, b_.unary(Op::VhighBits, ir::I32, any(type)));
    case 2: {
      const Type floats = in_.below(2) == 0 ? ir::F32x4 : ir::F64x2;
      const Value x = any(floats);
      const Value y = any(floats);
      const Value result = b_.fcmp(static_cast<ir::FloatCC>(in_.below(14)), x, y);
      return define_some(func_.type(result), result);
    }
    default: {
      const Value x = any(type);
      const Value y = any(type);
      return define_some(type, b_.icmp(static_cast<ir::IntCC>(in_.below(10)), x, y));
    }
  }
}

void Generator::vector_memory() {
  constexpr Op kLoads[] = {Op::Uload8x8,  Op::Sload8x8,  Op::Uload16x4,
                           Op::Sload16x4, Op::Uload32x2, Op::Sload32x2};
  const unsigned pick = in_.below(8);
  const ir::MemFlagsRef flags = flags_[in_.below(2)];
  if (pick >= 6) {
    const Type type = int_vector();
    const Value x = any(type);
    const Value at = address(16);
    if (pick == 6) return b_.store(Op::Store, flags, x, at, offset(16));
    return define_some(type, b_.load(Op::Load, type, flags, at, offset(16)));
  }
  const Type to = pick < 2 ? I16x8 : pick < 4 ? I32x4 : I64x2;
  const Value at = address(8);
  define_some(to, b_.load(kLoads[pick], to, flags, at, offset(8)));
}

// ---- Integers.

void Generator::wide_int() {
  if (!has(kWideInts)) return overflow();
  switch (in_.below(11)) {
    case 9: {
      constexpr Op kOps[] = {Op::Udiv, Op::Sdiv, Op::Urem, Op::Srem, Op::Umulhi, Op::Smulhi};
      const Op op = in_.one_of(kOps);
      const Value x = any(I128);
      Value y = any(I128);
      const bool divides = op != Op::Umulhi && op != Op::Smulhi;
      if (divides && in_.below(4) != 0) {
        const Value one = b_.iconst(I64, 1);
        y = b_.binary(Op::Bor, y, b_.unary(Op::Uextend, I128, one));
      }
      return define_some(I128, b_.binary(op, x, y));
    }
    case 10: {
      constexpr Op kFromInt[] = {Op::FcvtFromUint, Op::FcvtFromSint};
      constexpr Op kToInt[] = {Op::FcvtToUintSat, Op::FcvtToSintSat, Op::FcvtToUintSat,
                               Op::FcvtToSintSat, Op::FcvtToUint,    Op::FcvtToSint};
      const Type real = any_float();
      if (in_.below(2) == 0) {
        const Op op = in_.one_of(kFromInt);
        return define_some(real, b_.unary(op, real, any(I128)));
      }
      const Op op = in_.one_of(kToInt);
      return define_some(I128, b_.unary(op, I128, any(real)));
    }
    case 0: {
      const Value x = any(I64);
      return define_some(I128, b_.binary(Op::Iconcat, x, any(I64)));
    }
    case 1: {
      const auto halves = b_.pair(Op::Isplit, any(I128));
      const Value low = halves[0];
      const Value high = halves[1];
      define_some(I64, low);
      return define_some(I64, high);
    }
    case 2: {
      const Type type = any_int();
      return define_some(type, b_.unary(Op::Ireduce, type, any(I128)));
    }
    case 3:
      return define_some(
          I128, b_.unary(in_.below(2) == 0 ? Op::Uextend : Op::Sextend, I128, any(any_int())));
    case 4: {
      constexpr Op kOps[] = {Op::Ishl, Op::Ushr, Op::Sshr, Op::Rotl, Op::Rotr};
      const Op op = in_.one_of(kOps);
      const Value x = any(I128);
      return define_some(I128, b_.binary(op, x, any(any_int())));
    }
    case 5: {
      constexpr Op kOps[] = {Op::Ineg,   Op::Bnot,  Op::Clz, Op::Ctz, Op::Popcnt,
                             Op::Bitrev, Op::Bswap, Op::Cls, Op::Iabs};
      const Op op = in_.one_of(kOps);
      return define_some(I128, b_.unary(op, I128, any(I128)));
    }
    case 6: {
      const Value x = any(I128);
      const Value y = any(I128);
      return define_some(I8, b_.icmp(static_cast<ir::IntCC>(in_.below(10)), x, y));
    }
    default: {
      constexpr Op kOps[] = {Op::Iadd, Op::Isub, Op::Imul, Op::Band, Op::Bor,
                             Op::Bxor, Op::Smin, Op::Smax, Op::Umin, Op::Umax};
      const Op op = in_.one_of(kOps);
      const Value x = any(I128);
      return define_some(I128, b_.binary(op, x, any(I128)));
    }
  }
}

void Generator::overflow() {
  constexpr Op kOps[] = {Op::UaddOverflow,    Op::SaddOverflow,    Op::UsubOverflow,
                         Op::SsubOverflow,    Op::UmulOverflow,    Op::SmulOverflow,
                         Op::UaddOverflowCin, Op::SaddOverflowCin, Op::UsubOverflowBin,
                         Op::SsubOverflowBin};
  const unsigned pick = in_.below(std::size(kOps));
  const Type type = has(kWideInts) && in_.below(4) == 0 ? I128 : any_int();
  const Value x = any(type);
  const Value y = any(type);
  const Value carry = pick >= 6 ? any(I8) : Value::none();
  const auto pair = b_.pair(kOps[pick], x, y, carry);
  const Value result = pair[0];
  const Value flag = pair[1];
  define_some(type, result);
  define_some(I8, flag);
}

void Generator::atomic() {
  if (!has(kAtomics)) return memory();
  const Type type = has(kWideInts) && in_.below(6) == 0 ? I128 : any_int();
  const unsigned places = kSlotBytes / type.bytes();
  const auto at = static_cast<std::int32_t>(in_.below(places) * type.bytes());
  const Value place = b_.stack_addr(I64, slot_, at);
  const ir::MemFlagsRef flags = flags_[in_.below(2)];
  switch (in_.below(6)) {
    case 0: return define_some(type, b_.atomic_load(type, flags, place));
    case 1: return b_.atomic_store(flags, any(type), place);
    case 2: {
      const Value old = in_.below(2) == 0 ? b_.load(Op::Load, type, flags, place, 0) : any(type);
      return define_some(type, b_.atomic_cas(flags, place, old, any(type)));
    }
    default: {
      const auto op = static_cast<ir::AtomicOp>(in_.below(11));
      const Value x = any(type);
      return define_some(type, b_.atomic_rmw(type, flags, op, place, x));
    }
  }
}

/// Bits of an f16 or f128 through moves, memory and selections.
void Generator::odd_float() {
  if (!has(kOddFloats)) return convert();
  const bool wide = has(kWideInts) && in_.below(2) == 0;
  const Type ints = wide ? I128 : ir::I16;
  const Type type = wide ? ir::F128 : ir::F16;
  const Value x = b_.bitcast(type, any(ints));
  switch (in_.below(3)) {
    case 0: {
      const Value at = address(type.bytes());
      return b_.store(Op::Store, flags_[0], x, at, offset(type.bytes()));
    }
    case 1: {
      const Value at = address(type.bytes());
      const Value y = b_.load(Op::Load, type, flags_[0], at, offset(type.bytes()));
      return define_some(ints, b_.bitcast(ints, y));
    }
    default: {
      const Value c = condition();
      const Value y = b_.bitcast(type, any(ints));
      return define_some(ints, b_.bitcast(ints, b_.ternary(Op::Select, c, x, y)));
    }
  }
}

void Generator::set_pinned(Value x) {
  const ir::Inst set = func_.make_inst({.op = Op::SetPinnedReg, .a = x.index()});
  func_.append_inst(set, b_.current_block());
}

/// The register that belongs to the program.
void Generator::pinned() {
  if (in_.below(2) == 0) return set_pinned(any(I64));
  define_some(I64, b_.nullary(Op::GetPinnedReg, I64));
}

/// A dynamic vector lives for a few operations, and in a slot of its own.
void Generator::dynamic_vector() {
  const Type fixed = int_vector();
  const Type type(fixed.lane(), fixed.log2_lane_count(), true);
  ir::GlobalValueData scale;
  scale.kind = ir::GlobalValueData::Kind::DynScale;
  scale.type = fixed;
  const ir::GlobalValue global = func_.global_values.push(scale);
  const ir::DynamicType declared = func_.dynamic_types.push({.base = fixed, .scale = global});
  constexpr Op kOps[] = {Op::Iadd, Op::Isub, Op::Band, Op::Bxor, Op::Smax};
  const Value x = b_.unary(Op::Splat, type, any(fixed.lane_type()));
  const Value y = b_.unary(Op::Splat, type, any(fixed.lane_type()));
  Value z = b_.binary(in_.one_of(kOps), x, y);
  if (in_.below(2) == 0) {
    const ir::DynamicStackSlot slot = func_.dynamic_stack_slots.push({.type = declared});
    const Value at = b_.insert({.op = Op::DynamicStackAddr, .a = slot.index()}, I64);
    b_.store(Op::Store, flags_[0], z, at, 0);
    z = b_.binary(Op::Iadd, b_.load(Op::Load, type, flags_[0], at, 0), y);
  }
  const Value out = b_.insert({.op = Op::ExtractVector, .a = z.index()}, fixed);
  if (has(kVectors)) return define_some(fixed, out);
  const Value halves = vector_cast(I64x2, out);
  define_some(I64, b_.extractlane(halves, 1));
}

// ---- Exceptions.

void Generator::take_results(ir::Inst call) {
  const auto results = func_.results(call);
  for (const Value v : std::vector<Value>(results.begin(), results.end())) {
    define_some(func_.type(v), v);
  }
}

void Generator::try_call() {
  const ir::FuncRef callee(in_.below(static_cast<unsigned>(index_)));
  const ir::SigRef signature = func_.ext_funcs[callee].signature;
  const std::vector<Value> args = call_arguments(signature);
  const bool indirect = in_.below(4) == 0;
  const Value target = indirect ? b_.func_addr(I64, callee) : Value::none();
  const Block normal = b_.make_block();
  std::vector<Value> returned;
  const std::vector<ir::AbiParam> types(func_.signatures[signature].returns.begin(),
                                        func_.signatures[signature].returns.end());
  for (std::uint32_t i = 0; i < types.size(); ++i) {
    if (in_.below(3) == 0) continue;
    func_.append_block_param(normal, types[i].type);
    returned.push_back(b_.try_return(signature, i));
  }
  std::vector<ir::FunctionBuilder::Handler> handlers;
  std::vector<Block> landings;
  const unsigned count = 1 + in_.below(3);
  const Value payload[] = {b_.try_exception(0, I64), b_.try_exception(1, I64)};
  for (unsigned i = 0; i < count; ++i) {
    using Kind = ir::ExceptionItem::Kind;
    const Block landing = b_.make_block();
    func_.append_block_param(landing, I64);
    func_.append_block_param(landing, I64);
    landings.push_back(landing);
    if (in_.below(4) == 0) {
      const Value context = any(in_.below(2) == 0 ? I64 : any_float());
      handlers.push_back({.kind = Kind::Context, .context = context});
    }
    const bool last = i + 1 == count && (is_last() || in_.below(2) == 0);
    handlers.push_back({last ? Kind::Default : Kind::Tag, in_.below(4), landing, payload, {}});
  }
  if (indirect) {
    b_.try_call_indirect(signature, target, args, normal, returned, handlers);
  } else {
    b_.try_call(callee, args, normal, returned, handlers);
  }
  const Block join = b_.make_block();
  landings.push_back(normal);
  for (const Block block : landings) {
    enter(block);
    const auto params = func_.block_params(block);
    for (const Value v : std::vector<Value>(params.begin(), params.end())) {
      define_some(func_.type(v), v);
    }
    if (in_.below(3) == 0) int_binary();
    b_.jump(join);
  }
  enter(join);
}

void Generator::throw_something() {
  if (is_last()) return call();
  if (throw_.is_none()) {
    ir::Signature signature;
    signature.call_conv = ir::CallConv::SystemV;
    for (const Type type : {I64, I64, I64, ir::I32, I64, I64}) signature.params.push_back({type});
    const ir::SigRef ref = func_.signatures.push(signature);
    throw_ = func_.ext_funcs.push(
        {.name = ir::ExternalName::testcase("__cranelift_throw"), .signature = ref});
  }
  const Value frame = b_.nullary(Op::GetFramePointer, I64);
  const Value exit = b_.iconst(I64, 0);  // nothing in this frame takes it
  const Value tag = b_.iconst(ir::I32, in_.below(4));
  const Value first = any(I64);
  const Value second = any(I64);
  const Value entry = b_.use(entry_frame_);
  const Value args[] = {entry, frame, exit, tag, first, second};
  b_.call(throw_, args);
}

}  // namespace hoist::fuzz
