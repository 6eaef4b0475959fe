// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Subtyping among the types of one module whose type section is valid. Type indexes in value types
/// are canonical, so equal types have equal bits. A check takes as many steps as the type has super
/// types, at most kMaxSubtypeDepth.
///
/// Source: WebAssembly core specification 3.0, section 3.3 "Matching".

#include "wasm/format/module.hpp"

namespace hoist::wasm {

bool is_heap_subtype(const Module& module, HeapType a, HeapType b);
/// For types that differ.
bool is_subtype_slow(const Module& module, ValType a, ValType b);

/// Whether every value of type `a` is one of type `b`.
inline bool is_subtype(const Module& module, ValType a, ValType b) {
  return a == b || is_subtype_slow(module, a, b);
}
/// The same for type indexes: the same type, or `b` is among the super types of `a`.
bool is_type_subtype(const Module& module, std::uint32_t a, std::uint32_t b);
/// The widest of the heap types that `type` is a subtype of: any, func, extern or exn.
HeapType top_of(const Module& module, HeapType type);
/// Whether two fields match: equal if mutable, else covariant.
bool is_field_subtype(const Module& module, const FieldType& a, const FieldType& b);
/// Whether the composite type of `a` may stand where that of `b` is expected: what a declared super
/// type demands.
bool is_structural_subtype(const Module& module, std::uint32_t a, std::uint32_t b);

}  // namespace hoist::wasm
