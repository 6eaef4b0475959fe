// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for extensions, reductions and bit casts: chains become one step, what changes nothing
// vanishes.
#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

Value simplify_uextend(Rewriter& rw, InstData& data, Type type) {
  const InstData x = rw.def(lhs(data));
  if (x.op == Op::Uextend) {
    return rw.become(data, Rewriter::unary_data(Op::Uextend, lhs(x)));
  }
  if (x.op == Op::Ireduce && rw.type(lhs(x)) == type) {
    // Exactly the low bits of a value that has no others.
    const std::uint64_t kept = mask_of(rw.bits(lhs(data)));
    if ((possible_ones(rw, lhs(x)) & ~kept) == 0) return lhs(x);
    if (rw.bits(lhs(data)) < 32) {
      return rw.become(data, Rewriter::binary_data(Op::Band, lhs(x), rw.iconst(type, kept)));
    }
  }
  return Value::none();
}

Value simplify_sextend(Rewriter& rw, InstData& data, Type type) {
  const InstData x = rw.def(lhs(data));
  if (x.op == Op::Sextend || x.op == Op::Uextend) {
    return rw.become(data, Rewriter::unary_data(x.op, lhs(x)));
  }
  if ((possible_ones(rw, lhs(data)) & sign_bit(rw.bits(lhs(data)))) == 0) {
    return rw.become(data, Rewriter::unary_data(Op::Uextend, lhs(data)));
  }
  if (x.op == Op::Ireduce && rw.type(lhs(x)) == type) {
    // Sign extension of what is already extended from as few bits or fewer.
    const InstData wide = rw.def(lhs(x));
    const unsigned narrow_bits = rw.bits(lhs(data));
    if (wide.op == Op::Sextend && rw.bits(lhs(wide)) <= narrow_bits) return lhs(x);
    if (wide.op == Op::Sload8 || (wide.op == Op::Sload16 && narrow_bits >= 16) ||
        (wide.op == Op::Sload32 && narrow_bits >= 32)) {
      return lhs(x);
    }
  }
  return Value::none();
}

Value simplify_ireduce(Rewriter& rw, InstData& data, Type type) {
  const InstData x = rw.def(lhs(data));
  if (x.op == Op::Ireduce) return rw.become(data, Rewriter::unary_data(Op::Ireduce, lhs(x)));
  if (x.op == Op::Uextend || x.op == Op::Sextend) {
    const unsigned source = rw.bits(lhs(x));
    if (source == type.bits()) return lhs(x);
    const Op op = source > type.bits() ? Op::Ireduce : x.op;
    return rw.become(data, Rewriter::unary_data(op, lhs(x)));
  }
  std::uint64_t mask = 0;
  const std::uint64_t kept = mask_of(type.bits());
  if (x.op == Op::Band && rw.constant(rhs(x), mask) && (mask & kept) == kept) {
    return rw.become(data, Rewriter::unary_data(Op::Ireduce, lhs(x)));
  }
  return Value::none();
}

}  // namespace

Value simplify_extend(Rewriter& rw, InstData& data, Type type) {
  if (data.op == Op::Uextend) return simplify_uextend(rw, data, type);
  if (data.op == Op::Sextend) return simplify_sextend(rw, data, type);
  if (data.op == Op::Ireduce) return simplify_ireduce(rw, data, type);
  // Bitcast of scalars: no lanes, so the byte order in the flags means nothing.
  const InstData x = rw.def(lhs(data));
  if (rw.type(lhs(data)) == type) return lhs(data);
  if (x.op == Op::Bitcast && rw.type(lhs(x)).is_scalar()) {
    if (rw.type(lhs(x)) == type) return lhs(x);
    InstData direct = data;
    direct.a = x.a;
    return rw.become(data, direct);
  }
  return Value::none();
}

}  // namespace hoist::opt
