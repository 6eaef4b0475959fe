// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for select and bitselect.
#include <utility>

#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

/// A boolean `c` (0 or 1, of any integer type) in `type`; none if that takes more than one
/// instruction.
Value boolean_as(Rewriter& rw, Value c, Type type) {
  const Type from = rw.type(c);
  if (from == type) return c;
  return rw.unary(from.bits() < type.bits() ? Op::Uextend : Op::Ireduce, type, c);
}

Value simplify_bitselect(Rewriter& rw, InstData& data, Type type) {
  if (rw.same(rhs(data), third(data))) return rhs(data);
  std::uint64_t mask = 0;
  if (!type.is_int() || !rw.constant(lhs(data), mask)) return Value::none();
  if (mask == 0) return third(data);
  if (mask == mask_of(type.bits())) return rhs(data);
  return Value::none();
}

}  // namespace

Value simplify_select(Rewriter& rw, InstData& data, Type type) {
  if (data.op == Op::Bitselect) return simplify_bitselect(rw, data, type);
  std::uint64_t c = 0;
  if (rw.constant(lhs(data), c)) return c != 0 ? rhs(data) : third(data);
  if (rw.same(rhs(data), third(data))) return rhs(data);
  bool inverted = false;
  const Value condition = strip_condition(rw, lhs(data), inverted);
  if (condition != lhs(data)) {
    data.a = condition.index();
    if (inverted) std::swap(data.b, data.c);
    return rw.become(data, InstData(data));
  }
  // Of a select by the same condition only the arm that it chooses counts.
  const InstData x = rw.def(rhs(data));
  const InstData y = rw.def(third(data));
  if (x.op == Op::Select && rw.same(lhs(x), lhs(data))) {
    InstData inner = data;
    inner.b = x.b;
    return rw.become(data, inner);
  }
  if (y.op == Op::Select && rw.same(lhs(y), lhs(data))) {
    InstData inner = data;
    inner.c = y.c;
    return rw.become(data, inner);
  }
  if (!type.is_int() || !rw.type(condition).is_int() || rw.bits(condition) > 64)
    return Value::none();
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (rw.constant(rhs(data), a) && rw.constant(third(data), b)) {
    if (a == 1 && b == 0 && is_boolean(rw, condition)) return boolean_as(rw, condition, type);
    const InstData compare = rw.def(condition);
    if (a == 0 && b == 1 && compare.op == Op::Icmp) {
      InstData inverse = compare;
      inverse.aux = static_cast<std::uint16_t>(ir::inverse(static_cast<IntCC>(compare.aux)));
      return boolean_as(rw, rw.make(inverse, ir::I8), type);
    }
  }
  return Value::none();
}

}  // namespace hoist::opt
