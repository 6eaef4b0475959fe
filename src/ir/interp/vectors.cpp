// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Operations of instructions: on the lanes of vectors one by one, on whole vectors, and on
/// scalars.
#include "ir/interp/scalar.hpp"

namespace hoist::ir::interp {

namespace {

U128 lane_of(U128 bits, Type type, unsigned lane) {
  return bits >> (lane * type.lane_bits()) & mask(type.lane_bits());
}

/// Builds a vector from lane 0 up.
class Lanes {
 public:
  explicit Lanes(Type type) : lane_bits_(type.lane_bits()) {}
  void push(U128 lane) {
    bits_ |= (lane & mask(lane_bits_)) << used_;
    used_ += lane_bits_;
  }
  U128 bits() const { return bits_; }

 private:
  U128 bits_ = 0;
  unsigned lane_bits_;
  unsigned used_ = 0;
};

/// The lane of `bits` with each number in `numbers` (a byte each) of bytes; 0 for those refused.
template <typename Pick>
U128 pick_bytes(U128 numbers, Pick&& pick) {
  Lanes out(I8x16);
  for (unsigned i = 0; i < 16; ++i) {
    out.push(pick(static_cast<unsigned>(lane_of(numbers, I8x16, i))));
  }
  return out.bits();
}

/// One of two vectors' bytes by number.
U128 byte_of_two(U128 a, U128 b, unsigned number) {
  if (number > 31) return 0;
  return lane_of(number < 16 ? a : b, I8x16, number % 16);
}

/// Lanes of two vectors, one after the other, in half the width.
U128 narrow(const Operation& lane, Type from, Type to, U128 a, U128 b) {
  Lanes out(to);
  for (const U128 vector : {a, b}) {
    for (unsigned i = 0; i < from.lane_count(); ++i) {
      out.push(evaluate_scalar(lane, lane_of(vector, from, i), 0, 0).value);
    }
  }
  return out.bits();
}

U128 widen(const Operation& lane, Type from, Type to, U128 a) {
  const bool high = lane.op == Op::SwidenHigh || lane.op == Op::UwidenHigh;
  Lanes out(to);
  for (unsigned i = 0; i < to.lane_count(); ++i) {
    const U128 x = lane_of(a, from, i + (high ? to.lane_count() : 0));
    out.push(evaluate_scalar(lane, x, 0, 0).value);
  }
  return out.bits();
}

U128 add_pairs(Type type, U128 a, U128 b) {
  Lanes out(type);
  for (const U128 vector : {a, b}) {
    for (unsigned i = 0; i < type.lane_count(); i += 2) {
      out.push(lane_of(vector, type, i) + lane_of(vector, type, i + 1));
    }
  }
  return out.bits();
}

/// Signed bytes of `a` times unsigned bytes of `b`, neighbours added, saturating.
U128 multiply_add_bytes(U128 a, U128 b) {
  Lanes out(I16x8);
  for (unsigned i = 0; i < 16; i += 2) {
    S128 sum = 0;
    for (unsigned k = i; k < i + 2; ++k) {
      sum += sign_extended(lane_of(a, I8x16, k), 8) * static_cast<S128>(lane_of(b, I8x16, k));
    }
    const Operation saturate{Op::Snarrow, I32, I16};
    out.push(evaluate_scalar(saturate, static_cast<U128>(sum) & mask(32), 0, 0).value);
  }
  return out.bits();
}

/// Converts the low lanes of a vector of floats to another width; lanes beyond them are 0.
U128 convert_low(Op scalar_op, Type from, Type to, U128 a) {
  Lanes out(to);
  for (unsigned i = 0; i < 2; ++i) {
    const Operation lane{scalar_op, from.lane_type(), to.lane_type()};
    out.push(evaluate_scalar(lane, lane_of(a, from, i), 0, 0).value);
  }
  return out.bits();
}

/// Operations whose result is not computed lane by lane.
Evaluated evaluate_whole(const Function& func, Inst inst, Type from, Type to, U128 a, U128 b,
                         U128 c) {
  const InstData& data = func.data(inst);
  const Operation lane{data.op, from.lane_type(), to.lane_type(), data.aux};
  switch (data.op) {
    case Op::Vconst: {
      U128 bits = 0;
      const std::vector<std::uint8_t>& bytes = func.constants[Constant(data.a)];
      for (std::size_t i = 0; i < bytes.size() && i < 16; ++i) bits |= U128{bytes[i]} << (8 * i);
      return {bits};
    }
    case Op::F128const: {
      return {from_memory(func.immediates[Immediate(data.a)].data(), F128, false)};
    }
    case Op::Bitcast: {
      std::uint8_t memory[16] = {};
      const bool big = func.mem_flags(inst).endian == 2;
      to_memory(a, from, big, memory);
      return {from_memory(memory, to, big)};
    }
    case Op::Select:
    case Op::SelectSpectreGuard: return {a != 0 ? b : c};
    case Op::Band: return {a & b};
    case Op::Bor: return {a | b};
    case Op::Bxor: return {a ^ b};
    case Op::Bnot: return {~a};
    case Op::Bitselect: return {(a & b) | (~a & c)};
    case Op::VanyTrue: return {a != 0};
    case Op::VallTrue:
      for (unsigned i = 0; i < from.lane_count(); ++i) {
        if (lane_of(a, from, i) == 0) return {0};
      }
      return {1};
    case Op::VhighBits: {
      U128 bits = 0;
      for (unsigned i = 0; i < from.lane_count(); ++i) {
        bits |= (lane_of(a, from, i) >> (from.lane_bits() - 1)) << i;
      }
      return {bits};
    }
    case Op::Splat: {
      Lanes out(to);
      for (unsigned i = 0; i < to.lane_count(); ++i) out.push(a);
      return {out.bits()};
    }
    case Op::ScalarToVector: return {a};
    case Op::Swizzle:
      return {pick_bytes(b, [&](unsigned n) { return n < 16 ? lane_of(a, I8x16, n) : 0; })};
    case Op::X86Pshufb:
      return {pick_bytes(b, [&](unsigned n) { return n < 128 ? lane_of(a, I8x16, n % 16) : 0; })};
    case Op::Shuffle: {
      Lanes out(I8x16);
      for (const std::uint8_t number : func.shuffle_mask(inst)) out.push(byte_of_two(a, b, number));
      return {out.bits()};
    }
    case Op::Insertlane: {
      const unsigned shift = func.lane(inst) * to.lane_bits();
      return {(a & ~(mask(to.lane_bits()) << shift)) | (b & mask(to.lane_bits())) << shift};
    }
    case Op::Extractlane: return {lane_of(a, from, func.lane(inst))};
    case Op::ExtractVector: return {.value = a, .supported = func.lane(inst) == 0};
    case Op::Snarrow:
    case Op::Unarrow:
    case Op::Uunarrow: return {narrow(lane, from, to, a, b)};
    case Op::SwidenLow:
    case Op::SwidenHigh:
    case Op::UwidenLow:
    case Op::UwidenHigh: return {widen(lane, from, to, a)};
    case Op::IaddPairwise: return {add_pairs(to, a, b)};
    case Op::X86Pmaddubsw: return {multiply_add_bytes(a, b)};
    case Op::Fvdemote: return {convert_low(Op::Fdemote, from, to, a)};
    case Op::FvpromoteLow: return {convert_low(Op::Fpromote, from, to, a)};
    case Op::X86Cvtt2dq:
      if (from != F64x2 || to != I32x4) return {.supported = false};
      return {convert_low(data.op, from, to, a)};
    default: return {.supported = false};
  }
}

bool is_shift(Op op) {
  return op == Op::Ishl || op == Op::Ushr || op == Op::Sshr || op == Op::Rotl || op == Op::Rotr;
}

/// Lane by lane with the scalar operation; the amount of a shift is one scalar.
Evaluated evaluate_lanes(const InstData& data, Type from, Type to, U128 a, U128 b, U128 c) {
  if (from.lane_count() != to.lane_count()) return {.supported = false};
  const bool compares = data.op == Op::Icmp || data.op == Op::Fcmp;
  const Operation lane{data.op, from.lane_type(), compares ? I8 : to.lane_type(), data.aux};
  Lanes out(to);
  for (unsigned i = 0; i < to.lane_count(); ++i) {
    const U128 second = is_shift(data.op) ? b : lane_of(b, from, i);
    const Evaluated one = evaluate_scalar(lane, lane_of(a, from, i), second, lane_of(c, from, i));
    if (!one.supported || one.trap != TrapCode::None) return one;
    out.push(compares && one.value != 0 ? ~U128{0} : one.value);
  }
  return {out.bits()};
}

}  // namespace

void to_memory(U128 bits, Type type, bool big_endian, std::uint8_t* bytes) {
  const unsigned size = type.lane_bits() / 8;
  for (unsigned lane = 0; lane < type.lane_count(); ++lane) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned at = lane * size + (big_endian ? size - 1 - i : i);
      bytes[at] = static_cast<std::uint8_t>(bits >> (8 * (lane * size + i)));
    }
  }
}

U128 from_memory(const std::uint8_t* bytes, Type type, bool big_endian) {
  const unsigned size = type.lane_bits() / 8;
  U128 bits = 0;
  for (unsigned lane = 0; lane < type.lane_count(); ++lane) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned at = lane * size + (big_endian ? size - 1 - i : i);
      bits |= U128{bytes[at]} << (8 * (lane * size + i));
    }
  }
  return bits;
}

Evaluated evaluate(const Function& func, Inst inst, U128 a, U128 b, U128 c) {
  const InstData& data = func.data(inst);
  const Type to = func.type(func.result(inst)).fixed_part();
  Type from = to;
  bool is_first = true;
  func.for_each_operand(inst, [&](Value v) {
    if (is_first) from = func.type(v).fixed_part();
    is_first = false;
  });
  if (from.bits() > 128 || to.bits() > 128) return {.supported = false};
  if (from.is_vector() || to.is_vector() || data.op == Op::F128const || data.op == Op::Bitcast) {
    Evaluated result = evaluate_whole(func, inst, from, to, a, b, c);
    if (!result.supported) result = evaluate_lanes(data, from, to, a, b, c);
    result.value &= mask(to.bits());
    return result;
  }
  const bool is_constant =
      format(data.op) == Format::UnaryImm || format(data.op) == Format::UnaryF64;
  const Operation operation{data.op, from, to, data.aux, is_constant ? data.imm64() : data.b};
  return evaluate_scalar(operation, a, b, c);
}

}  // namespace hoist::ir::interp
