// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for and, or, exclusive-or, complement, and what is known of bits. Canonical: constants on
// the right; x ^ -1 as bnot; masks that change nothing vanish.
#include <utility>

#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

/// How far up an expression `possible_ones` looks.
constexpr int kDepth = 3;

std::uint64_t ones_below(std::uint64_t value) {  // all bits up to the highest one
  if (value == 0) return 0;
  return ~std::uint64_t{0} >> __builtin_clzll(value);
}

std::uint64_t ones_of(const Rewriter& rw, Value v, int depth) {
  const unsigned bits = rw.bits(v);
  const std::uint64_t all = mask_of(bits);
  const InstData d = rw.def(v);
  // Operations without a case are not known: all ones.
  switch (d.op) {
    case Op::Iconst: return base::zero_extend(d.imm64(), bits);
    case Op::Icmp:
    case Op::Fcmp: return 1;
    case Op::Uload8: return 0xff;
    case Op::Uload16: return 0xffff;
    case Op::Uload32: return 0xffff'ffff;
    case Op::Clz:
    case Op::Ctz:
    case Op::Popcnt: return ones_below(bits);
    case Op::Uextend: return depth > 0 ? ones_of(rw, lhs(d), depth - 1) : mask_of(rw.bits(lhs(d)));
    default: break;
  }
  if (depth == 0) return all;
  std::uint64_t c = 0;
  switch (d.op) {
    case Op::Band: return ones_of(rw, lhs(d), depth - 1) & ones_of(rw, rhs(d), depth - 1);
    case Op::Bor:
    case Op::Bxor: return ones_of(rw, lhs(d), depth - 1) | ones_of(rw, rhs(d), depth - 1);
    case Op::Ireduce: return rw.bits(lhs(d)) > 64 ? all : ones_of(rw, lhs(d), depth - 1) & all;
    case Op::Ushr:
      return rw.constant(rhs(d), c) ? ones_of(rw, lhs(d), depth - 1) >> (c % bits) : all;
    case Op::Ishl:
      return rw.constant(rhs(d), c) ? (ones_of(rw, lhs(d), depth - 1) << (c % bits)) & all : all;
    case Op::Select: return ones_of(rw, rhs(d), depth - 1) | ones_of(rw, third(d), depth - 1);
    default: return all;
  }
}

Value and_constant(Rewriter& rw, InstData& data, Type type, std::uint64_t c) {
  const unsigned bits = type.bits();
  const std::uint64_t ones = possible_ones(rw, lhs(data));
  if ((ones & ~c) == 0) return lhs(data);
  if ((ones & c) == 0) return rw.iconst(type, 0);
  const InstData x = rw.def(lhs(data));
  std::uint64_t inner = 0;
  if (x.op == Op::Band && rw.constant(rhs(x), inner)) {  // (x & c1) & c2
    const std::uint64_t both = inner & c;
    if (!is_cheap_immediate(both, bits) && is_cheap_immediate(c, bits)) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Band, lhs(x), rw.iconst(type, both)));
  }
  if (x.op == Op::Bor && rw.constant(rhs(x), inner)) {  // (x | c1) & c2
    if ((inner & c) == c) return rhs(data);
    if ((inner & c) == 0) {
      return rw.become(data, Rewriter::binary_data(Op::Band, lhs(x), rhs(data)));
    }
  }
  if (x.op == Op::Bxor && rw.constant(rhs(x), inner) && (inner & c) == 0) {
    return rw.become(data, Rewriter::binary_data(Op::Band, lhs(x), rhs(data)));
  }
  return Value::none();
}

/// x op (x op2 y) where the result does not depend on y: x & (x | y), x | (x & y).
bool absorbs(const Rewriter& rw, Value x, const InstData& y, Op inner) {
  return y.op == inner && (rw.same(lhs(y), x) || rw.same(rhs(y), x));
}

bool are_complements(const Rewriter& rw, const InstData& data) {
  const InstData x = rw.def(lhs(data));
  const InstData y = rw.def(rhs(data));
  return (x.op == Op::Bnot && rw.same(lhs(x), rhs(data))) ||
         (y.op == Op::Bnot && rw.same(lhs(y), lhs(data)));
}

Value simplify_and(Rewriter& rw, InstData& data, Type type) {
  std::uint64_t c = 0;
  if (rw.constant(rhs(data), c)) return and_constant(rw, data, type, c);
  if (rw.same(lhs(data), rhs(data))) return lhs(data);
  if (are_complements(rw, data)) return rw.iconst(type, 0);
  if (absorbs(rw, lhs(data), rw.def(rhs(data)), Op::Bor)) return lhs(data);
  if (absorbs(rw, rhs(data), rw.def(lhs(data)), Op::Bor)) return rhs(data);
  return Value::none();
}

/// (x << c) | (x >> (width - c)) is a rotation.
Value or_as_rotation(Rewriter& rw, InstData& data, Type type) {
  InstData left = rw.def(lhs(data));
  InstData right = rw.def(rhs(data));
  if (left.op == Op::Ushr) std::swap(left, right);
  if (left.op != Op::Ishl || right.op != Op::Ushr || !rw.same(lhs(left), lhs(right))) {
    return Value::none();
  }
  std::uint64_t l = 0;
  std::uint64_t r = 0;
  if (!rw.constant(rhs(left), l) || !rw.constant(rhs(right), r)) return Value::none();
  const unsigned bits = type.bits();
  // Amounts count modulo the width: two shifts by 0 are not a rotation of anything.
  l %= bits;
  r %= bits;
  if (l == 0 || l + r != bits) return Value::none();
  return rw.become(data, Rewriter::binary_data(Op::Rotl, lhs(left), rw.iconst(type, l)));
}

Value simplify_or(Rewriter& rw, InstData& data, Type type) {
  std::uint64_t c = 0;
  if (rw.constant(rhs(data), c)) {
    if (c == 0) return lhs(data);
    if (c == mask_of(type.bits())) return rhs(data);
    const InstData x = rw.def(lhs(data));
    std::uint64_t inner = 0;
    if (x.op == Op::Bor && rw.constant(rhs(x), inner)) {
      if (!is_cheap_immediate(inner | c, type.bits())) return Value::none();
      return rw.become(data, Rewriter::binary_data(Op::Bor, lhs(x), rw.iconst(type, inner | c)));
    }
    return Value::none();
  }
  if (rw.same(lhs(data), rhs(data))) return lhs(data);
  if (are_complements(rw, data)) return rw.iconst(type, ~std::uint64_t{0});
  if (absorbs(rw, lhs(data), rw.def(rhs(data)), Op::Band)) return lhs(data);
  if (absorbs(rw, rhs(data), rw.def(lhs(data)), Op::Band)) return rhs(data);
  return or_as_rotation(rw, data, type);
}

/// Exclusive-or of a boolean with 1: the inverse comparison.
Value invert_boolean(Rewriter& rw, InstData& data, Type type) {
  const InstData x = rw.def(lhs(data));
  const Value inner = x.op == Op::Uextend ? lhs(x) : lhs(data);
  const InstData compare = rw.def(inner);
  if (compare.op != Op::Icmp && compare.op != Op::Fcmp) return Value::none();
  InstData inverted = compare;
  inverted.aux = static_cast<std::uint16_t>(
      compare.op == Op::Icmp
          ? static_cast<unsigned>(ir::inverse(static_cast<IntCC>(compare.aux)))
          : static_cast<unsigned>(ir::inverse(static_cast<FloatCC>(compare.aux))));
  if (x.op != Op::Uextend) return rw.become(data, inverted);
  const Value made = rw.make(inverted, ir::I8);
  return rw.unary(Op::Uextend, type, made);
}

Value simplify_xor(Rewriter& rw, InstData& data, Type type) {
  std::uint64_t c = 0;
  if (!rw.constant(rhs(data), c)) {
    if (rw.same(lhs(data), rhs(data))) return rw.iconst(type, 0);
    if (are_complements(rw, data)) return rw.iconst(type, ~std::uint64_t{0});
    return Value::none();
  }
  if (c == 0) return lhs(data);
  if (c == 1 && type.bits() > 1) {
    const Value inverse = invert_boolean(rw, data, type);
    if (inverse.is_some() || data.op != Op::Bxor) return inverse;
  }
  if (c == mask_of(type.bits())) {
    return rw.become(data, Rewriter::unary_data(Op::Bnot, lhs(data)));
  }
  const InstData x = rw.def(lhs(data));
  std::uint64_t inner = 0;
  if (x.op == Op::Bxor && rw.constant(rhs(x), inner)) {
    const std::uint64_t both = inner ^ c;
    if (!is_cheap_immediate(both, type.bits())) return Value::none();
    return rw.become(data, Rewriter::binary_data(Op::Bxor, lhs(x), rw.iconst(type, both)));
  }
  return Value::none();
}

}  // namespace

std::uint64_t possible_ones(const Rewriter& rw, Value v) {
  return ones_of(rw, v, kDepth);
}

bool is_boolean(const Rewriter& rw, Value v) {
  return possible_ones(rw, v) <= 1;
}

Value simplify_bits(Rewriter& rw, InstData& data, Type type) {
  if (!type.is_int()) return Value::none();  // also defined on floats; no rules there
  if (data.op == Op::Bnot) {
    const InstData x = rw.def(lhs(data));
    if (x.op == Op::Bnot) return lhs(x);
    return Value::none();
  }
  std::uint64_t c = 0;
  if (rw.constant(lhs(data), c) && !rw.constant(rhs(data), c)) std::swap(data.a, data.b);
  if (data.op == Op::Band) return simplify_and(rw, data, type);
  if (data.op == Op::Bor) return simplify_or(rw, data, type);
  return simplify_xor(rw, data, type);
}

}  // namespace hoist::opt
