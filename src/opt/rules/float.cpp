// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Float identities that hold bit for bit, NaN and signed zeros included. Nothing that drops an
// operation which would make a signalling NaN quiet (x * 1, x - 0), and no reassociation.
#include <bit>

#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

/// The reciprocal of a power of two, if both are normal numbers: then x / c is x * (1 / c),
/// exactly.
std::optional<InstData> exact_reciprocal(const InstData& c) {
  if (c.op == Op::F32const) {
    const std::uint32_t exponent = (c.b >> 23) & 0xff;
    if ((c.b & 0x7f'ffff) != 0 || exponent == 0 || exponent >= 254) return std::nullopt;
    return InstData{Op::F32const, 0, 0, (c.b & 0x8000'0000) | (254 - exponent) << 23, 0};
  }
  if (c.op != Op::F64const) return std::nullopt;
  const std::uint64_t bits = c.imm64();
  const std::uint64_t exponent = (bits >> 52) & 0x7ff;
  if ((bits << 12) != 0 || exponent == 0 || exponent >= 2046) return std::nullopt;
  return InstData::imm(Op::F64const, (bits & sign_bit(64)) | (2046 - exponent) << 52);
}

}  // namespace

Value simplify_float(Rewriter& rw, InstData& data, Type type) {
  const InstData x = rw.def(lhs(data));
  if (data.op == Op::Fneg) {
    return x.op == Op::Fneg ? lhs(x) : Value::none();
  }
  if (data.op == Op::Fabs) {
    if (x.op == Op::Fabs) return lhs(data);
    if (x.op == Op::Fneg || x.op == Op::Fcopysign) {
      return rw.become(data, Rewriter::unary_data(Op::Fabs, lhs(x)));
    }
    return Value::none();
  }
  if (data.op == Op::Fcopysign) {
    if (rw.same(lhs(data), rhs(data))) return lhs(data);
    if (x.op == Op::Fneg || x.op == Op::Fabs || x.op == Op::Fcopysign) {
      return rw.become(data, Rewriter::binary_data(Op::Fcopysign, lhs(x), rhs(data)));
    }
    const InstData sign = rw.def(rhs(data));
    if (sign.op == Op::Fcopysign) {
      return rw.become(data, Rewriter::binary_data(Op::Fcopysign, lhs(data), rhs(sign)));
    }
    if (sign.op == Op::Fabs || ((sign.op == Op::F32const || sign.op == Op::F64const) &&
                                (sign.op == Op::F32const ? sign.b : sign.c) >> 31 == 0)) {
      return rw.become(data, Rewriter::unary_data(Op::Fabs, lhs(data)));
    }
    return Value::none();
  }
  if (data.op == Op::Fdiv) {
    if (const auto reciprocal = exact_reciprocal(rw.def(rhs(data)))) {
      return rw.become(data,
                       Rewriter::binary_data(Op::Fmul, lhs(data), rw.make(*reciprocal, type)));
    }
  }
  return Value::none();
}

}  // namespace hoist::opt
