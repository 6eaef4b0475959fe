// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What a rewrite rule sees of the world: operands and their definitions, and a way to make
/// instructions at the place of the one being rewritten. The same for the builder and for the
/// mid-end's walk.

#include <cstdint>

#include "base/bits.hpp"
#include "ir/function.hpp"

namespace hoist::opt {

using ir::FloatCC;
using ir::InstData;
using ir::IntCC;
using ir::Op;
using ir::Type;
using ir::Value;

class Rewriter {
 public:
  /// Makes a pure instruction, itself simplified and numbered; returns its value.
  using MakeFn = Value (*)(void* self, const InstData& data, Type type);
  Rewriter(ir::Function& func, void* self, MakeFn make) : func_(func), self_(self), make_(make) {}

  const ir::Function& func() const { return func_; }
  Type type(Value v) const { return func_.type(v); }
  unsigned bits(Value v) const { return func_.type(v).bits(); }

  /// The instruction that defines `v`, by value (making instructions moves them); `nop` for a block
  /// parameter.
  InstData def(Value v) const {
    const ir::Inst inst = func_.def_inst(func_.resolve(v));
    return inst.is_none() ? InstData{} : func_.data(inst);
  }
  /// Is `v` an integer constant? `bits` gets it zero-extended.
  bool constant(Value v, std::uint64_t& bits) const {
    const ir::Value r = func_.resolve(v);
    const ir::Inst inst = func_.def_inst(r);
    if (inst.is_none() || func_.op(inst) != Op::Iconst) return false;
    bits = base::zero_extend(func_.data(inst).imm64(), func_.type(r).bits());
    return true;
  }
  bool is_constant(Value v, std::uint64_t wanted) const {
    std::uint64_t bits = 0;
    return constant(v, bits) && bits == wanted;
  }
  bool same(Value a, Value b) const { return func_.resolve(a) == func_.resolve(b); }

  // ---- Making instructions.
  Value make(const InstData& data, Type type) { return make_(self_, data, type); }
  Value iconst(Type type, std::uint64_t bits) {
    return make(InstData::imm(Op::Iconst, base::zero_extend(bits, type.bits())), type);
  }
  Value unary(Op op, Type type, Value x) { return make(unary_data(op, x), type); }
  Value binary(Op op, Value x, Value y) { return make(binary_data(op, x, y), type(x)); }
  Value icmp(IntCC cc, Value x, Value y) { return make(icmp_data(cc, x, y), ir::I8); }

  static InstData unary_data(Op op, Value x) { return {op, 0, x.index(), 0, 0}; }
  static InstData binary_data(Op op, Value x, Value y) { return {op, 0, x.index(), y.index(), 0}; }
  static InstData icmp_data(IntCC cc, Value x, Value y) {
    return {Op::Icmp, static_cast<std::uint16_t>(cc), x.index(), y.index(), 0};
  }

  // ---- Answers of a rule. A rule returns the value that replaces the instruction; or it changes
  // the instruction in place and asks for another round; or it answers none: nothing to do.
  /// The instruction is now `data`.
  Value become(InstData& place, const InstData& data) {
    place = data;
    again_ = true;
    return Value::none();
  }
  bool take_again() {
    const bool was = again_;
    again_ = false;
    return was;
  }

 private:
  ir::Function& func_;
  void* self_;
  MakeFn make_;
  bool again_ = false;
};

inline Value lhs(const InstData& data) {
  return Value(data.a);
}
inline Value rhs(const InstData& data) {
  return Value(data.b);
}
inline Value third(const InstData& data) {
  return Value(data.c);
}

/// All ones in the width of a type.
inline std::uint64_t mask_of(unsigned bits) {
  return base::zero_extend(~std::uint64_t{0}, bits);
}
inline std::uint64_t sign_bit(unsigned bits) {
  return std::uint64_t{1} << (bits - 1);
}
/// Can an instruction of the usual targets hold this constant of a `bits`-wide operation?
inline bool is_cheap_immediate(std::uint64_t value, unsigned bits) {
  return bits <= 32 || base::fits_i32(static_cast<std::int64_t>(value));
}

}  // namespace hoist::opt
