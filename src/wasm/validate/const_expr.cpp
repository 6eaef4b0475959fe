// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/validate/const_expr.hpp"

#include <fmt/core.h>

#include "wasm/format/subtyping.hpp"

namespace hoist::wasm {

static Error invalid(std::string message, std::uint32_t offset) {
  return Error(ErrorKind::Invalid, std::move(message), offset);
}

Result<void> ConstExprValidator::check(ConstExpr expr, ValType expected, std::uint32_t num_globals,
                                       std::string_view what, std::uint32_t index) {
  stack_.clear();
  for (const ConstOp& op : module_.const_ops(expr)) HOIST_TRY_VOID(step(op, num_globals));
  if (stack_.size() == 1 && is_subtype(module_, stack_[0], expected)) return {};
  return invalid(fmt::format("type mismatch: {} {} must be [{}], found {}", what, index,
                             to_string(expected), to_string(std::span<const ValType>(stack_))),
                 expr.offset);
}

Result<void> ConstExprValidator::step(const ConstOp& op, std::uint32_t num_globals) {
  if (is_const_arithmetic(op.op)) {
    const bool is_i32 = op.op == Op::I32Add || op.op == Op::I32Sub || op.op == Op::I32Mul;
    const ValType type = is_i32 ? TypeKind::I32 : TypeKind::I64;
    const ValType operands[] = {type, type};
    HOIST_TRY_VOID(pop(op, operands));
    stack_.push_back(type);
    return {};
  }
  if (is_const_heap(op.op)) return heap_object(op);
  HOIST_TRY(const ValType type, result_of_leaf(op, num_globals));
  stack_.push_back(type);
  return {};
}

Error ConstExprValidator::mismatch(const ConstOp& op, std::string_view expected) const {
  return invalid(fmt::format("type mismatch: {} expects {}, found {}", text(op.op), expected,
                             to_string(std::span<const ValType>(stack_))),
                 op.offset);
}

Result<void> ConstExprValidator::pop(const ConstOp& op, std::span<const ValType> types) {
  const bool enough = stack_.size() >= types.size();
  const std::size_t first = enough ? stack_.size() - types.size() : 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!enough || !is_subtype(module_, stack_[first + i], types[i])) {
      return mismatch(op, to_string(types));
    }
  }
  stack_.resize(first);
  return {};
}

Result<void> ConstExprValidator::pop(const ConstOp& op, const FieldType& element,
                                     std::uint32_t count) {
  // So that no list is made of what cannot be there.
  if (count > stack_.size()) {
    return mismatch(op, fmt::format("{} values of type {}", count, to_string(element.type)));
  }
  wanted_.assign(count, element.type);
  return pop(op, wanted_);
}

Result<const TypeDef*> ConstExprValidator::composite(const ConstOp& op, CompositeKind kind) const {
  const auto type = static_cast<std::uint32_t>(op.operand);
  if (type >= module_.type_defs.size()) {
    return invalid(fmt::format("unknown type {}: there are {}", type, module_.type_defs.size()),
                   op.offset);
  }
  const TypeDef& def = module_.type_defs[type];
  if (def.kind == kind) return &def;
  return invalid(fmt::format("type mismatch: {} expects {} type, which type {} is not", text(op.op),
                             kind == CompositeKind::Struct ? "a struct" : "an array", type),
                 op.offset);
}

Result<void> ConstExprValidator::convert(const ConstOp& op, HeapType::Abstract from,
                                         HeapType::Abstract to) {
  const ValType expected = ValType::ref(HeapType(from), true);
  if (stack_.empty() || !is_subtype(module_, stack_.back(), expected)) {
    return mismatch(op, to_string(expected));
  }
  stack_.back() = ValType::ref(HeapType(to), stack_.back().is_nullable());
  return {};
}

Result<void> ConstExprValidator::heap_object(const ConstOp& op) {
  const ValType kI32[] = {TypeKind::I32};
  if (op.op == Op::RefI31) {
    HOIST_TRY_VOID(pop(op, kI32));
    stack_.push_back(ValType::ref(HeapType(HeapType::I31), false));
    return {};
  }
  if (op.op == Op::AnyConvertExtern) return convert(op, HeapType::Extern, HeapType::Any);
  if (op.op == Op::ExternConvertAny) return convert(op, HeapType::Any, HeapType::Extern);
  const bool is_struct = op.op == Op::StructNew || op.op == Op::StructNewDefault;
  HOIST_TRY_VOID(composite(op, is_struct ? CompositeKind::Struct : CompositeKind::Array));
  const auto type = static_cast<std::uint32_t>(op.operand);
  const std::span<const FieldType> fields = module_.fields_of(type);
  if (op.op == Op::StructNewDefault || op.op == Op::ArrayNewDefault) {
    for (const FieldType& field : fields) {
      if (field.type.is_defaultable()) continue;
      return invalid(fmt::format("type mismatch: {} of a type with a field of type {}, which has "
                                 "no default",
                                 text(op.op), to_string(field.type)),
                     op.offset);
    }
  }
  if (op.op == Op::ArrayNew || op.op == Op::ArrayNewDefault) HOIST_TRY_VOID(pop(op, kI32));
  if (op.op == Op::StructNew) {
    wanted_.clear();
    for (const FieldType& field : fields) wanted_.push_back(field.type);
    HOIST_TRY_VOID(pop(op, wanted_));
  } else if (op.op == Op::ArrayNew) {
    HOIST_TRY_VOID(pop(op, fields[0], 1));
  } else if (op.op == Op::ArrayNewFixed) {
    HOIST_TRY_VOID(pop(op, fields[0], static_cast<std::uint32_t>(op.operand >> 32)));
  }
  stack_.push_back(ValType::ref(HeapType::concrete(module_.canonical_type(type)), false));
  return {};
}

Result<ValType> ConstExprValidator::result_of_leaf(const ConstOp& op,
                                                   std::uint32_t num_globals) const {
  const Group group = op_info(op.op).group;
  if (group == Group::ConstI32) return ValType(TypeKind::I32);
  if (group == Group::ConstI64) return ValType(TypeKind::I64);
  if (group == Group::ConstF32) return ValType(TypeKind::F32);
  if (group == Group::ConstF64) return ValType(TypeKind::F64);
  if (group == Group::ConstV128) return ValType(TypeKind::V128);
  if (group == Group::RefNull) return ValType::from_bits(static_cast<std::uint32_t>(op.operand));
  if (group == Group::RefFunc) {
    if (op.operand < module_.functions.size()) {
      const auto func = static_cast<std::uint32_t>(op.operand);
      if (module_.functions[func].type_index >= module_.types.size()) return ValType();
      return module_.func_ref_type(func);
    }
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
  return invalid(fmt::format("constant expression required: found {}", text(op.op)), op.offset);
}

}  // namespace hoist::wasm
