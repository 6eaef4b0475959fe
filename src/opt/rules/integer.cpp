// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for addition, subtraction, multiplication, division. Canonical: constants on the right, x -
// c as x + -c, products by powers of two as shifts.
#include <bit>
#include <utility>

#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

/// Moves a constant left operand of a commutative operation to the right.
bool constant_to_the_right(Rewriter& rw, InstData& data) {
  std::uint64_t c = 0;
  if (!rw.constant(lhs(data), c) || rw.constant(rhs(data), c)) return false;
  std::swap(data.a, data.b);
  return true;
}

Value add_constant(Rewriter& rw, InstData& data, Type type, std::uint64_t c) {
  if (c == 0) return lhs(data);
  const InstData x = rw.def(lhs(data));
  std::uint64_t inner = 0;
  if (x.op == Op::Iadd && rw.constant(rhs(x), inner)) {  // (x + c1) + c2
    const std::uint64_t sum = base::zero_extend(inner + c, type.bits());
    if (!is_cheap_immediate(sum, type.bits())) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Iadd, lhs(x), rw.iconst(type, sum)));
  }
  if (x.op == Op::Isub && rw.constant(lhs(x), inner)) {  // (c1 - x) + c2
    return rw.become(data, Rewriter::binary_data(Op::Isub, rw.iconst(type, inner + c), rhs(x)));
  }
  if (x.op == Op::Bnot && c == 1) {  // ~x + 1
    return rw.become(data, Rewriter::unary_data(Op::Ineg, lhs(x)));
  }
  return Value::none();
}

Value simplify_add(Rewriter& rw, InstData& data, Type type) {
  constant_to_the_right(rw, data);
  std::uint64_t c = 0;
  if (rw.constant(rhs(data), c)) return add_constant(rw, data, type, c);
  const InstData x = rw.def(lhs(data));
  const InstData y = rw.def(rhs(data));
  if (y.op == Op::Ineg) {  // x + -y
    return rw.become(data, Rewriter::binary_data(Op::Isub, lhs(data), lhs(y)));
  }
  if (x.op == Op::Ineg) {  // -x + y
    return rw.become(data, Rewriter::binary_data(Op::Isub, rhs(data), lhs(x)));
  }
  if (x.op == Op::Isub && rw.same(rhs(x), rhs(data))) return lhs(x);  // (x - y) + y
  if (y.op == Op::Isub && rw.same(rhs(y), lhs(data))) return lhs(y);  // y + (x - y)
  if ((x.op == Op::Bnot && rw.same(lhs(x), rhs(data))) ||
      (y.op == Op::Bnot && rw.same(lhs(y), lhs(data)))) {  // ~x + x
    return rw.iconst(type, ~std::uint64_t{0});
  }
  return Value::none();
}

Value simplify_sub(Rewriter& rw, InstData& data, Type type) {
  std::uint64_t c = 0;
  if (rw.constant(rhs(data), c)) {
    if (c == 0) return lhs(data);
    // The negated minimum of 32 bits in a 64-bit type does not fit an immediate; the minimum does.
    const std::uint64_t negated = base::zero_extend(0 - c, type.bits());
    if (!is_cheap_immediate(negated, type.bits()) && is_cheap_immediate(c, type.bits())) {
      return Value::none();
    }
    return rw.become(data, Rewriter::binary_data(Op::Iadd, lhs(data), rw.iconst(type, negated)));
  }
  if (rw.same(lhs(data), rhs(data))) return rw.iconst(type, 0);
  const InstData x = rw.def(lhs(data));
  const InstData y = rw.def(rhs(data));
  std::uint64_t inner = 0;
  if (rw.constant(lhs(data), c)) {
    if (c == 0) return rw.become(data, Rewriter::unary_data(Op::Ineg, rhs(data)));
    if (c == mask_of(type.bits())) {  // -1 - x
      return rw.become(data, Rewriter::unary_data(Op::Bnot, rhs(data)));
    }
    if (y.op == Op::Iadd && rw.constant(rhs(y), inner)) {  // c1 - (x + c2)
      return rw.become(data, Rewriter::binary_data(Op::Isub, rw.iconst(type, c - inner), lhs(y)));
    }
    return Value::none();
  }
  if (y.op == Op::Ineg) return rw.become(data, Rewriter::binary_data(Op::Iadd, lhs(data), lhs(y)));
  if (x.op == Op::Iadd) {  // (x + y) - x
    if (rw.same(lhs(x), rhs(data))) return rhs(x);
    if (rw.same(rhs(x), rhs(data))) return lhs(x);
  }
  if (y.op == Op::Isub && rw.same(lhs(y), lhs(data))) return rhs(y);  // x - (x - y)
  return Value::none();
}

Value simplify_mul(Rewriter& rw, InstData& data, Type type) {
  constant_to_the_right(rw, data);
  std::uint64_t c = 0;
  if (!rw.constant(rhs(data), c)) return Value::none();
  if (c == 0) return rhs(data);
  if (c == 1) return lhs(data);
  if (c == mask_of(type.bits())) return rw.become(data, Rewriter::unary_data(Op::Ineg, lhs(data)));
  if (std::has_single_bit(c)) {
    const auto shift = static_cast<std::uint64_t>(std::countr_zero(c));
    return rw.become(data, Rewriter::binary_data(Op::Ishl, lhs(data), rw.iconst(type, shift)));
  }
  const InstData x = rw.def(lhs(data));
  std::uint64_t inner = 0;
  if (x.op == Op::Imul && rw.constant(rhs(x), inner)) {  // (x * c1) * c2
    const std::uint64_t product = base::zero_extend(inner * c, type.bits());
    if (!is_cheap_immediate(product, type.bits())) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Imul, lhs(x), rw.iconst(type, product)));
  }
  if (x.op == Op::Ishl && rw.constant(rhs(x), inner)) {  // (x << c1) * c2
    const std::uint64_t product = base::zero_extend(c << (inner % type.bits()), type.bits());
    if (!is_cheap_immediate(product, type.bits())) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Imul, lhs(x), rw.iconst(type, product)));
  }
  if (x.op == Op::Ineg) {  // -x * c
    const std::uint64_t negated = base::zero_extend(0 - c, type.bits());
    if (!is_cheap_immediate(negated, type.bits())) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Imul, lhs(x), rw.iconst(type, negated)));
  }
  return Value::none();
}

/// Division by constants that need none. By zero, or by -1 where that can overflow: left alone, it
/// traps.
Value simplify_divide(Rewriter& rw, InstData& data, Type type) {
  std::uint64_t c = 0;
  if (!rw.constant(rhs(data), c) || c == 0) return Value::none();
  const bool is_remainder = data.op == Op::Urem || data.op == Op::Srem;
  if (c == 1) return is_remainder ? rw.iconst(type, 0) : lhs(data);
  if (data.op == Op::Srem) {
    return c == mask_of(type.bits()) ? rw.iconst(type, 0) : Value::none();
  }
  if (data.op == Op::Sdiv || !std::has_single_bit(c)) return Value::none();
  if (data.op == Op::Urem) {
    if (!is_cheap_immediate(c - 1, type.bits())) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Band, lhs(data), rw.iconst(type, c - 1)));
  }
  const auto shift = static_cast<std::uint64_t>(std::countr_zero(c));
  return rw.become(data, Rewriter::binary_data(Op::Ushr, lhs(data), rw.iconst(type, shift)));
}

Value simplify_min_max(Rewriter& rw, InstData& data, Type type) {
  constant_to_the_right(rw, data);
  if (rw.same(lhs(data), rhs(data))) return lhs(data);
  std::uint64_t c = 0;
  if (!rw.constant(rhs(data), c)) return Value::none();
  const bool is_signed = data.op == Op::Smin || data.op == Op::Smax;
  const std::uint64_t low = is_signed ? sign_bit(type.bits()) : 0;
  const std::uint64_t high = is_signed ? mask_of(type.bits()) >> 1 : mask_of(type.bits());
  const bool is_min = data.op == Op::Smin || data.op == Op::Umin;
  if (c == (is_min ? low : high)) return rhs(data);
  if (c == (is_min ? high : low)) return lhs(data);
  return Value::none();
}

}  // namespace

Value simplify_integer(Rewriter& rw, InstData& data, Type type) {
  const Op op = data.op;
  if (op == Op::Iadd) return simplify_add(rw, data, type);
  if (op == Op::Isub) return simplify_sub(rw, data, type);
  if (op == Op::Imul) return simplify_mul(rw, data, type);
  if (op == Op::Ineg || op == Op::Iabs) {
    const InstData x = rw.def(lhs(data));
    if (op == Op::Ineg && x.op == Op::Ineg) return lhs(x);
    if (op == Op::Ineg && x.op == Op::Isub) {  // -(x - y)
      return rw.become(data, Rewriter::binary_data(Op::Isub, rhs(x), lhs(x)));
    }
    if (op == Op::Iabs && (x.op == Op::Iabs)) return lhs(data);
    if (op == Op::Iabs && x.op == Op::Ineg) {
      return rw.become(data, Rewriter::unary_data(Op::Iabs, lhs(x)));
    }
    return Value::none();
  }
  if (op == Op::Udiv || op == Op::Sdiv || op == Op::Urem || op == Op::Srem) {
    return simplify_divide(rw, data, type);
  }
  return simplify_min_max(rw, data, type);
}

}  // namespace hoist::opt
