// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for icmp, and for conditions. Canonical: constants on the right; tests of a comparison's
// result become that comparison or its inverse; unsigned comparisons with the ends of the range
// become equalities.
#include <utility>

#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

bool is_equality(IntCC cc) {
  return cc == IntCC::Eq || cc == IntCC::Ne;
}
bool is_signed(IntCC cc) {
  return cc == IntCC::Slt || cc == IntCC::Sle || cc == IntCC::Sgt || cc == IntCC::Sge;
}
IntCC unsigned_of(IntCC cc) {
  switch (cc) {
    case IntCC::Slt: return IntCC::Ult;
    case IntCC::Sle: return IntCC::Ule;
    case IntCC::Sgt: return IntCC::Ugt;
    case IntCC::Sge: return IntCC::Uge;
    case IntCC::Eq:
    case IntCC::Ne:
    case IntCC::Ult:
    case IntCC::Uge:
    case IntCC::Ugt:
    case IntCC::Ule: return cc;
  }
  return cc;
}

IntCC cc_of(const InstData& data) {
  return static_cast<IntCC>(data.aux);
}

Value truth(Rewriter& rw, bool value) {
  return rw.iconst(ir::I8, value ? 1 : 0);
}

InstData inverted_compare(InstData compare) {
  compare.aux = static_cast<std::uint16_t>(
      compare.op == Op::Icmp
          ? static_cast<unsigned>(ir::inverse(static_cast<IntCC>(compare.aux)))
          : static_cast<unsigned>(ir::inverse(static_cast<FloatCC>(compare.aux))));
  return compare;
}

/// Comparisons that the ends of the range decide, or turn into equalities.
Value at_the_ends(Rewriter& rw, InstData& data, std::uint64_t c, unsigned bits) {
  const IntCC cc = cc_of(data);
  const Type type = rw.type(lhs(data));
  const std::uint64_t low = is_signed(cc) ? sign_bit(bits) : 0;
  const std::uint64_t high = is_signed(cc) ? mask_of(bits) >> 1 : mask_of(bits);
  const auto equal = [&](bool eq, std::uint64_t value) {
    const Value constant = value == c ? rhs(data) : rw.iconst(type, value);
    return rw.become(data, Rewriter::icmp_data(eq ? IntCC::Eq : IntCC::Ne, lhs(data), constant));
  };
  const auto next = [&](std::uint64_t value) { return base::zero_extend(value + 1, bits); };
  const auto previous = [&](std::uint64_t value) { return base::zero_extend(value - 1, bits); };
  const bool less = cc == IntCC::Ult || cc == IntCC::Slt;
  const bool less_equal = cc == IntCC::Ule || cc == IntCC::Sle;
  const bool greater = cc == IntCC::Ugt || cc == IntCC::Sgt;
  if (is_equality(cc)) return Value::none();
  if (less) {
    if (c == low) return truth(rw, false);
    if (c == next(low)) return equal(true, low);
    if (c == high) return equal(false, high);
  } else if (less_equal) {
    if (c == high) return truth(rw, true);
    if (c == low) return equal(true, low);
    if (c == previous(high)) return equal(false, high);
  } else if (greater) {
    if (c == high) return truth(rw, false);
    if (c == previous(high)) return equal(true, high);
    if (c == low) return equal(false, low);
  } else {
    if (c == low) return truth(rw, true);
    if (c == high) return equal(true, high);
    if (c == next(low)) return equal(false, low);
  }
  return Value::none();
}

/// x == c or x != c, looking at how x was made.
Value equality_with_constant(Rewriter& rw, InstData& data, std::uint64_t c, unsigned bits) {
  const IntCC cc = cc_of(data);
  const InstData x = rw.def(lhs(data));
  const Type type = rw.type(lhs(data));
  const bool wants_true = (cc == IntCC::Ne) == (c == 0);
  if (c <= 1 && (x.op == Op::Icmp || x.op == Op::Fcmp)) {  // a comparison as a number
    if (wants_true) return lhs(data);
    return rw.become(data, inverted_compare(x));
  }
  if (c == 1 && is_boolean(rw, lhs(data))) {
    return rw.become(data, Rewriter::icmp_data(cc == IntCC::Eq ? IntCC::Ne : IntCC::Eq, lhs(data),
                                               rw.iconst(type, 0)));
  }
  if (c > 1 && is_boolean(rw, lhs(data))) return truth(rw, cc == IntCC::Ne);
  std::uint64_t inner = 0;
  if (x.op == Op::Iadd && rw.constant(rhs(x), inner)) {
    const std::uint64_t moved = base::zero_extend(c - inner, bits);
    if (!is_cheap_immediate(moved, bits)) return Value::none();
    return rw.become(data, Rewriter::icmp_data(cc, lhs(x), rw.iconst(type, moved)));
  }
  if (x.op == Op::Bxor && rw.constant(rhs(x), inner)) {
    const std::uint64_t moved = c ^ inner;
    if (!is_cheap_immediate(moved, bits)) return Value::none();
    return rw.become(data, Rewriter::icmp_data(cc, lhs(x), rw.iconst(type, moved)));
  }
  if (c == 0 && (x.op == Op::Isub || x.op == Op::Bxor)) {  // x - y == 0
    return rw.become(data, Rewriter::icmp_data(cc, lhs(x), rhs(x)));
  }
  if (c == 0 && (x.op == Op::Ineg || x.op == Op::Bswap || x.op == Op::Bitrev || x.op == Op::Iabs ||
                 x.op == Op::Rotl || x.op == Op::Rotr)) {
    return rw.become(data, Rewriter::icmp_data(cc, lhs(x), rhs(data)));
  }
  if (x.op == Op::Select) {  // of two constants, exactly one of which is c
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    if (rw.constant(rhs(x), a) && rw.constant(third(x), b) && (a == c) != (b == c)) {
      const bool when_true = (a == c) == (cc == IntCC::Eq);
      const Type condition = rw.type(lhs(x));
      if (!condition.is_scalar() || condition.bits() > 64) return Value::none();
      return rw.become(data, Rewriter::icmp_data(when_true ? IntCC::Ne : IntCC::Eq, lhs(x),
                                                 rw.iconst(condition, 0)));
    }
  }
  return Value::none();
}

/// Compares the operands of extensions instead. Narrow integers other than booleans are not worth
/// it: registers hold them with unknown upper bits.
Value look_through_extension(Rewriter& rw, InstData& data) {
  const InstData x = rw.def(lhs(data));
  if (x.op != Op::Uextend && x.op != Op::Sextend) return Value::none();
  const Type narrow = rw.type(lhs(x));
  if (!narrow.is_scalar() || narrow.bits() > 64) return Value::none();
  const IntCC cc = cc_of(data);
  const bool zero = x.op == Op::Uextend;
  std::uint64_t c = 0;
  if (rw.constant(rhs(data), c)) {
    const bool zero_test = c == 0 && is_equality(cc);
    const InstData source = rw.def(lhs(x));
    const bool is_compare = source.op == Op::Icmp || source.op == Op::Fcmp;
    if (narrow.bits() < 32 && !(is_compare && is_equality(cc) && c <= 1)) return Value::none();
    const std::uint64_t low = base::zero_extend(c, narrow.bits());
    const std::uint64_t back =
        zero ? low
             : base::zero_extend(static_cast<std::uint64_t>(base::sign_extend(low, narrow.bits())),
                                 rw.bits(lhs(data)));
    if (back != c && !zero_test) {
      // The constant is outside of what the extension can give.
      if (cc == IntCC::Eq) return truth(rw, false);
      if (cc == IntCC::Ne) return truth(rw, true);
      return Value::none();
    }
    if (!zero && !is_signed(cc) && !is_equality(cc)) return Value::none();
    const IntCC narrow_cc = zero ? unsigned_of(cc) : cc;
    // A signed comparison of a zero-extended value with a negative constant was sorted out by
    // `back`.
    return rw.become(data, Rewriter::icmp_data(narrow_cc, lhs(x), rw.iconst(narrow, low)));
  }
  const InstData y = rw.def(rhs(data));
  if (y.op != x.op || rw.type(lhs(y)) != narrow || narrow.bits() < 32) return Value::none();
  if (!zero && !is_signed(cc) && !is_equality(cc)) return Value::none();
  return rw.become(data, Rewriter::icmp_data(zero ? unsigned_of(cc) : cc, lhs(x), lhs(y)));
}

bool holds_for_equal(IntCC cc) {
  return cc == IntCC::Eq || cc == IntCC::Sle || cc == IntCC::Sge || cc == IntCC::Ule ||
         cc == IntCC::Uge;
}

}  // namespace

Value simplify_compare(Rewriter& rw, InstData& data, Type) {
  const unsigned bits = rw.bits(lhs(data));
  std::uint64_t c = 0;
  if (rw.constant(lhs(data), c) && !rw.constant(rhs(data), c)) {
    data = Rewriter::icmp_data(ir::swapped(cc_of(data)), rhs(data), lhs(data));
  }
  if (rw.same(lhs(data), rhs(data))) return truth(rw, holds_for_equal(cc_of(data)));
  if (rw.constant(rhs(data), c)) {
    const InstData before = data;
    const Value value = at_the_ends(rw, data, c, bits);
    if (value.is_some() || !(data == before)) return value;
    if (is_equality(cc_of(data))) {
      const Value equal = equality_with_constant(rw, data, c, bits);
      if (equal.is_some() || !(data == before)) return equal;
    }
  }
  return look_through_extension(rw, data);
}

Value strip_condition(const Rewriter& rw, Value c, bool& inverted) {
  inverted = false;
  // Chains are short: the rules have already been at the operands.
  for (int step = 0; step < 8; ++step) {
    const InstData d = rw.def(c);
    std::uint64_t constant = 0;
    if (d.op == Op::Uextend || d.op == Op::Sextend || d.op == Op::Bmask || d.op == Op::Ineg ||
        d.op == Op::Bswap || d.op == Op::Bitrev) {
      c = lhs(d);
    } else if (d.op == Op::Icmp && is_equality(cc_of(d)) && rw.constant(rhs(d), constant) &&
               constant == 0) {
      if (!rw.type(lhs(d)).is_scalar() || rw.bits(lhs(d)) > 64) return c;
      inverted ^= cc_of(d) == IntCC::Eq;
      c = lhs(d);
    } else if (d.op == Op::Bxor && rw.constant(rhs(d), constant) && constant == 1 &&
               is_boolean(rw, lhs(d))) {
      inverted = !inverted;
      c = lhs(d);
    } else {
      return c;
    }
  }
  return c;
}

}  // namespace hoist::opt
