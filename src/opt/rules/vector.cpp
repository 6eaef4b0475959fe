// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules for vectors. Few: scalar identities mostly do not hold for lanes (true is all ones) or for
// floats, and what costs instructions is matched where instructions are selected.
#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

bool is_big_endian(const Rewriter& rw, const InstData& bitcast) {
  return rw.func().mem_flags(ir::MemFlagsRef(std::uint32_t{bitcast.aux})).endian == 2;
}

/// Chains become one step; what changes nothing vanishes. Big-endian ones permute bytes.
Value simplify_vector_bitcast(Rewriter& rw, InstData& data, Type type) {
  if (is_big_endian(rw, data)) return Value::none();
  if (rw.type(lhs(data)) == type) return lhs(data);
  const InstData x = rw.def(lhs(data));
  if (x.op != Op::Bitcast || is_big_endian(rw, x)) return Value::none();
  const Value source = lhs(x);
  if (rw.type(source) == type) return source;
  // One that keeps the lanes need not say its byte order; one that changes them must.
  if (!rw.type(source).is_vector() ||
      rw.func().mem_flags(ir::MemFlagsRef(std::uint32_t{data.aux})).endian != 1) {
    return Value::none();
  }
  InstData direct = data;
  direct.a = source.index();
  return rw.become(data, direct);
}

}  // namespace

Value simplify_vector(Rewriter& rw, InstData& data, Type type) {
  if (!type.is_vector()) return Value::none();
  // Most operations have no rules, so a default is what is meant here: the enum grows with the IR.
  switch (data.op) {
    case Op::Bitcast:
      if (!rw.type(lhs(data)).is_vector()) return Value::none();
      return simplify_vector_bitcast(rw, data, type);
    case Op::Bnot: {
      const InstData x = rw.def(lhs(data));
      return x.op == Op::Bnot ? lhs(x) : Value::none();
    }
    case Op::Band:
    case Op::Bor: return rw.same(lhs(data), rhs(data)) ? lhs(data) : Value::none();
    case Op::Bitselect: return rw.same(rhs(data), third(data)) ? rhs(data) : Value::none();
    default: return Value::none();
  }
}

}  // namespace hoist::opt
