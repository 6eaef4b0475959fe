// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for shifts and rotations. The amount counts modulo the width of the shifted value and may
// have any integer type. Canonical: constant amounts below the width; rotr by a constant as rotl.
#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

/// Strips what does not change the amount modulo the width: extensions, reductions, masks.
bool simplify_amount(const Rewriter& rw, InstData& data, unsigned width) {
  bool changed = false;
  for (int step = 0; step < 4; ++step) {
    const InstData amount = rw.def(rhs(data));
    const bool is_reduction = amount.op == Op::Ireduce;
    if (amount.op == Op::Uextend || amount.op == Op::Sextend || is_reduction) {
      // All types have at least 8 bits, more than an amount of up to 63 needs.
      if (rw.bits(lhs(amount)) > 64) return changed;
      data.b = lhs(amount).index();
    } else if (std::uint64_t mask = 0; amount.op == Op::Band && rw.constant(rhs(amount), mask) &&
                                       (mask & (width - 1)) == width - 1) {
      data.b = lhs(amount).index();
    } else {
      return changed;
    }
    changed = true;
  }
  return changed;
}

/// A shift of a shift, both by constants.
Value combine(Rewriter& rw, InstData& data, Type type, std::uint64_t amount) {
  const unsigned bits = type.bits();
  const InstData x = rw.def(lhs(data));
  std::uint64_t inner = 0;
  if (x.op != Op::Ishl && x.op != Op::Ushr && x.op != Op::Sshr && x.op != Op::Rotl) {
    return Value::none();
  }
  if (!rw.constant(rhs(x), inner)) return Value::none();
  inner %= bits;
  if (x.op == data.op) {
    std::uint64_t sum = inner + amount;
    if (data.op == Op::Rotl) {
      sum %= bits;
    } else if (sum >= bits) {
      if (data.op != Op::Sshr) return rw.iconst(type, 0);
      sum = bits - 1;
    }
    return rw.become(data, Rewriter::binary_data(data.op, lhs(x), rw.iconst(type, sum)));
  }
  if (inner != amount) return Value::none();
  if (data.op == Op::Ushr && x.op == Op::Ishl) {  // (x << c) >> c
    const std::uint64_t kept = mask_of(bits) >> amount;
    if (!is_cheap_immediate(kept, bits)) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Band, lhs(x), rw.iconst(type, kept)));
  }
  if (data.op == Op::Ishl && (x.op == Op::Ushr || x.op == Op::Sshr)) {  // (x >> c) << c
    const std::uint64_t kept = base::zero_extend(mask_of(bits) << amount, bits);
    if (!is_cheap_immediate(kept, bits)) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Band, lhs(x), rw.iconst(type, kept)));
  }
  if (data.op == Op::Sshr && x.op == Op::Ishl) {  // (x << c) >> c: extension of the low part
    const Type narrow = Type::int_of_bits(static_cast<unsigned>(bits - amount));
    if (!narrow.is_valid() || narrow.bits() < 8) return Value::none();
    const Value low = rw.unary(Op::Ireduce, narrow, lhs(x));
    return rw.unary(Op::Sextend, type, low);
  }
  return Value::none();
}

}  // namespace

Value simplify_shift(Rewriter& rw, InstData& data, Type type) {
  if (!type.is_int()) return Value::none();
  const unsigned bits = type.bits();
  const bool stripped = simplify_amount(rw, data, bits);
  std::uint64_t amount = 0;
  if (!rw.constant(rhs(data), amount)) {
    std::uint64_t x = 0;
    if (rw.constant(lhs(data), x)) {
      if (x == 0) return lhs(data);
      if (x == mask_of(bits) && data.op != Op::Ishl && data.op != Op::Ushr) return lhs(data);
    }
    // A stripped amount may make two constants of two operands.
    return stripped && rw.constant(lhs(data), x) ? rw.become(data, InstData(data)) : Value::none();
  }
  if (amount % bits == 0) return lhs(data);
  if (data.op == Op::Rotr) {
    const std::uint64_t left = bits - amount % bits;
    return rw.become(data, Rewriter::binary_data(Op::Rotl, lhs(data), rw.iconst(type, left)));
  }
  if (amount >= bits) {
    return rw.become(data,
                     Rewriter::binary_data(data.op, lhs(data), rw.iconst(type, amount % bits)));
  }
  if (data.op == Op::Sshr || data.op == Op::Ushr) {
    const std::uint64_t ones = possible_ones(rw, lhs(data));
    if ((ones >> amount) == 0 && (ones & sign_bit(bits)) == 0) return rw.iconst(type, 0);
    if (data.op == Op::Sshr && (ones & sign_bit(bits)) == 0) {
      return rw.become(data, Rewriter::binary_data(Op::Ushr, lhs(data), rhs(data)));
    }
  }
  return combine(rw, data, type, amount);
}

}  // namespace hoist::opt
