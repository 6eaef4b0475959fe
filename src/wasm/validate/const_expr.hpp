// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Validation of constant expressions.

#include <vector>

#include "base/result.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

class ConstExprValidator {
 public:
  explicit ConstExprValidator(const Module& module) : module_(module) {}
  /// `expr` yields one value of type `expected` and uses only globals below `num_globals`, which
  /// must be immutable. `what` names it in messages ("initializer of global 3").
  Result<void> check(ConstExpr expr, ValType expected, std::uint32_t num_globals,
                     std::string_view what, std::uint32_t index);

 private:
  Result<void> step(const ConstOp& op, std::uint32_t num_globals);
  Result<ValType> result_of_leaf(const ConstOp& op, std::uint32_t num_globals) const;
  Result<void> heap_object(const ConstOp& op);
  Result<void> convert(const ConstOp& op, HeapType::Abstract from, HeapType::Abstract to);
  Result<const TypeDef*> composite(const ConstOp& op, CompositeKind kind) const;
  /// Pops `types`.
  Result<void> pop(const ConstOp& op, std::span<const ValType> types);
  Result<void> pop(const ConstOp& op, const FieldType& element, std::uint32_t count);
  Error mismatch(const ConstOp& op, std::string_view expected) const;

  const Module& module_;
  std::vector<ValType> stack_;
  std::vector<ValType> wanted_;
};

}  // namespace hoist::wasm
