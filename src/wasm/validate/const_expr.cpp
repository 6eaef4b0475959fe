// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/validate/const_expr.hpp"

#include <fmt/core.h>

namespace hoist::wasm {

static Error invalid(std::string message, std::uint32_t offset) {
  return Error(ErrorKind::Invalid, std::move(message), offset);
}

Result<void> ConstExprValidator::check(ConstExpr expr, ValType expected, std::uint32_t num_globals,
                                       std::string_view what, std::uint32_t index) {
  stack_.clear();
  for (const ConstOp& op : module_.const_ops(expr)) {
    if (!is_const_arithmetic(op.op)) {
      HOIST_TRY(const ValType type, result_of_leaf(op, num_globals));
      stack_.push_back(type);
      continue;
    }
    const ValType type = op.op == Op::I32Add || op.op == Op::I32Sub || op.op == Op::I32Mul
                             ? TypeKind::I32
                             : TypeKind::I64;
    const std::size_t size = stack_.size();
    if (size < 2 || stack_[size - 1] != type || stack_[size - 2] != type) {
      return invalid(
          fmt::format("type mismatch: {} expects [{} {}], found {}", text(op.op), to_string(type),
                      to_string(type), to_string(std::span<const ValType>(stack_))),
          op.offset);
    }
    stack_.pop_back();
  }
  if (stack_.size() == 1 && stack_[0] == expected) return {};
  return invalid(fmt::format("type mismatch: {} {} must be [{}], found {}", what, index,
                             to_string(expected), to_string(std::span<const ValType>(stack_))),
                 expr.offset);
}

Result<ValType> ConstExprValidator::result_of_leaf(const ConstOp& op,
                                                   std::uint32_t num_globals) const {
  const Group group = op_info(op.op).group;
  if (group == Group::ConstI32) return ValType(TypeKind::I32);
  if (group == Group::ConstI64) return ValType(TypeKind::I64);
  if (group == Group::ConstF32) return ValType(TypeKind::F32);
  if (group == Group::ConstF64) return ValType(TypeKind::F64);
  if (group == Group::RefNull) {
    const auto bits = static_cast<std::uint32_t>(op.operand);
    return bits == ValType(TypeKind::FuncRef).bits() ? ValType(TypeKind::FuncRef)
                                                     : ValType(TypeKind::ExternRef);
  }
  if (group == Group::RefFunc) {
    if (op.operand < module_.functions.size()) return ValType(TypeKind::FuncRef);
    return invalid(
        fmt::format("unknown function {}: there are {}", op.operand, module_.functions.size()),
        op.offset);
  }
  if (group == Group::GlobalGet) {
    if (op.operand >= num_globals) {
      return invalid(fmt::format("unknown global {}: {} can be used here", op.operand, num_globals),
                     op.offset);
    }
    const GlobalType& type = module_.globals[static_cast<std::size_t>(op.operand)].type;
    if (!type.is_mutable) return type.type;
    return invalid(fmt::format("constant expression required: global {} is mutable", op.operand),
                   op.offset);
  }
  if (group == Group::Later) {
    const OpInfo& info = op_info(op.op);
    return Error(ErrorKind::Unsupported,
                 fmt::format("unsupported feature: {} ({})", text(info.feature), info.text),
                 op.offset);
  }
  return invalid(fmt::format("constant expression required: found {}", text(op.op)), op.offset);
}

}  // namespace hoist::wasm
