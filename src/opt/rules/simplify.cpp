// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dispatcher of the rules. Assumes operands that have been simplified before (building order or
// dominator order). Ends: a bounded number of rounds; each round that changes something makes the
// instruction simpler in the sense of README.md.
#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

/// A chain of rewrites of one instruction is short; the bound is for safety only.
constexpr int kMaxRounds = 8;

using Rule = Value (*)(Rewriter& rw, InstData& data, Type type);

/// The family of an operation, or null where no rule exists.
Rule rule_for(Op op) {
  // Most operations have no rules, so a default is what is meant here: the enum grows with the IR.
  switch (op) {
    case Op::Iadd:
    case Op::Isub:
    case Op::Ineg:
    case Op::Iabs:
    case Op::Imul:
    case Op::Smin:
    case Op::Smax:
    case Op::Umin:
    case Op::Umax:
    case Op::Udiv:
    case Op::Sdiv:
    case Op::Urem:
    case Op::Srem: return simplify_integer;
    case Op::Band:
    case Op::Bor:
    case Op::Bxor:
    case Op::Bnot: return simplify_bits;
    case Op::Ishl:
    case Op::Ushr:
    case Op::Sshr:
    case Op::Rotl:
    case Op::Rotr: return simplify_shift;
    case Op::Icmp: return simplify_compare;
    case Op::Uextend:
    case Op::Sextend:
    case Op::Ireduce:
    case Op::Bitcast: return simplify_extend;
    case Op::Select:
    case Op::Bitselect: return simplify_select;
    case Op::Fneg:
    case Op::Fabs:
    case Op::Fcopysign:
    case Op::Fdiv: return simplify_float;
    default: return nullptr;
  }
}

bool is_narrow_scalar(Type type) {
  return type.is_scalar() && type.bits() <= 64;
}

/// Number of leading value operands of the formats that rules know; 0 for others.
unsigned value_operands(ir::Format format) {
  switch (format) {
    case ir::Format::Unary:
    case ir::Format::LoadNoOffset: return 1;
    case ir::Format::Binary:
    case ir::Format::IntCompare:
    case ir::Format::FloatCompare: return 2;
    case ir::Format::Ternary: return 3;
    case ir::Format::Nullary:
    case ir::Format::UnaryImm:
    case ir::Format::UnaryF32:
    case ir::Format::UnaryF64:
    case ir::Format::UnaryGlobalValue:
    case ir::Format::MultiAry:
    case ir::Format::IntAddTrap:
    case ir::Format::Jump:
    case ir::Format::Brif:
    case ir::Format::BrTable:
    case ir::Format::Trap:
    case ir::Format::CondTrap:
    case ir::Format::Call:
    case ir::Format::CallIndirect:
    case ir::Format::FuncAddr:
    case ir::Format::StackAddr:
    case ir::Format::Load:
    case ir::Format::Store:
    case ir::Format::UnaryF16:
    case ir::Format::UnaryF128:
    case ir::Format::UnaryConst:
    case ir::Format::BinaryImm8:
    case ir::Format::TernaryImm8:
    case ir::Format::Shuffle:
    case ir::Format::TryCall:
    case ir::Format::TryCallIndirect:
    case ir::Format::DynamicStackAddr:
    case ir::Format::StoreNoOffset:
    case ir::Format::AtomicRmw:
    case ir::Format::AtomicCas:
    case ir::Format::ExceptionHandlerAddress: return 0;
  }
  return 0;
}

}  // namespace

Value simplify(Rewriter& rw, InstData& data, Type type) {
  if (!is_narrow_scalar(type)) {
    for (int round = 0; round < kMaxRounds; ++round) {
      const Value value = simplify_vector(rw, data, type);
      if (value.is_some() || !rw.take_again()) return value;
    }
    return Value::none();
  }
  for (int round = 0; round < kMaxRounds; ++round) {
    const unsigned operands = value_operands(ir::format(data.op));
    if (operands == 0) return Value::none();
    if (!is_narrow_scalar(rw.type(lhs(data)))) return Value::none();
    if (const std::optional<InstData> folded = fold_constants(rw, data, type)) {
      return rw.make(*folded, type);
    }
    const Rule rule = rule_for(data.op);
    if (rule == nullptr) return Value::none();
    const Value value = rule(rw, data, type);
    if (value.is_some()) return value;
    if (!rw.take_again()) return Value::none();
  }
  return Value::none();
}

Value simplify_while_building(ir::FunctionBuilder& builder, InstData& data, Type type) {
  const auto make = [](void* self, const InstData& made, Type made_type) {
    return static_cast<ir::FunctionBuilder*>(self)->pure(made, made_type);
  };
  Rewriter rw(builder.func(), &builder, make);
  return simplify(rw, data, type);
}

}  // namespace hoist::opt
