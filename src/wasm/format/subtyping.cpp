// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/format/subtyping.hpp"

namespace hoist::wasm {

/// Whether `a` is below `b` in one of the four trees of abstract heap types.
static bool is_abstract_subtype(HeapType::Abstract a, HeapType::Abstract b) {
  if (a == b || a == HeapType::Bot) return true;
  switch (b) {
    case HeapType::Any:
      return a == HeapType::Eq || a == HeapType::I31 || a == HeapType::Struct ||
             a == HeapType::Array || a == HeapType::None;
    case HeapType::Eq:
      return a == HeapType::I31 || a == HeapType::Struct || a == HeapType::Array ||
             a == HeapType::None;
    case HeapType::I31:
    case HeapType::Struct:
    case HeapType::Array: return a == HeapType::None;
    case HeapType::Func: return a == HeapType::NoFunc;
    case HeapType::Extern: return a == HeapType::NoExtern;
    case HeapType::Exn: return a == HeapType::NoExn;
    case HeapType::Bot:
    case HeapType::None:
    case HeapType::NoFunc:
    case HeapType::NoExtern:
    case HeapType::NoExn: return false;
  }
  return false;
}

static HeapType::Abstract abstract_of(CompositeKind kind) {
  switch (kind) {
    case CompositeKind::Func: return HeapType::Func;
    case CompositeKind::Struct: return HeapType::Struct;
    case CompositeKind::Array: return HeapType::Array;
  }
  return HeapType::Bot;
}

bool is_type_subtype(const Module& module, std::uint32_t a, std::uint32_t b) {
  // An index out of range is an error that has been found elsewhere.
  if (a >= module.type_defs.size() || b >= module.type_defs.size()) return a == b;
  a = module.canonical_type(a);
  b = module.canonical_type(b);
  const std::uint8_t depth = module.type_defs[b].depth;
  while (module.type_defs[a].depth > depth) a = module.type_defs[a].super;
  return a == b;
}

bool is_heap_subtype(const Module& module, HeapType a, HeapType b) {
  if (a == b) return true;
  const std::size_t types = module.type_defs.size();
  if (a.is_abstract()) {
    if (b.is_abstract()) return is_abstract_subtype(a.abstract(), b.abstract());
    if (a.abstract() == HeapType::Bot) return true;
    if (b.type_index() >= types) return false;
    return a.abstract() ==
           (module.is_func_type(b.type_index()) ? HeapType::NoFunc : HeapType::None);
  }
  if (!b.is_abstract()) return is_type_subtype(module, a.type_index(), b.type_index());
  if (a.type_index() >= types) return false;
  return is_abstract_subtype(abstract_of(module.type_defs[a.type_index()].kind), b.abstract());
}

bool is_subtype_slow(const Module& module, ValType a, ValType b) {
  if (a.is_bottom()) return true;
  if (!a.is_ref() || !b.is_ref()) return a == b;
  if (a.is_nullable() && !b.is_nullable()) return false;
  return is_heap_subtype(module, a.heap(), b.heap());
}

HeapType top_of(const Module& module, HeapType type) {
  HeapType::Abstract abstract = HeapType::Any;
  if (type.is_abstract()) {
    abstract = type.abstract();
  } else if (type.type_index() < module.type_defs.size()) {
    abstract = abstract_of(module.type_defs[type.type_index()].kind);
  }
  for (const HeapType::Abstract top : {HeapType::Func, HeapType::Extern, HeapType::Exn}) {
    if (is_abstract_subtype(abstract, top)) return HeapType(top);
  }
  return HeapType(HeapType::Any);
}

bool is_field_subtype(const Module& module, const FieldType& a, const FieldType& b) {
  if (a.packed != b.packed || a.is_mutable != b.is_mutable) return false;
  return a.is_mutable ? a.type == b.type : is_subtype(module, a.type, b.type);
}

static bool are_subtypes(const Module& module, std::span<const ValType> a,
                         std::span<const ValType> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_subtype(module, a[i], b[i])) return false;
  }
  return true;
}

bool is_structural_subtype(const Module& module, std::uint32_t a, std::uint32_t b) {
  const TypeDef& sub = module.type_defs[a];
  const TypeDef& super = module.type_defs[b];
  if (sub.kind != super.kind) return false;
  if (sub.kind == CompositeKind::Func) {
    return are_subtypes(module, module.types[b].params(), module.types[a].params()) &&
           are_subtypes(module, module.types[a].results(), module.types[b].results());
  }
  if (sub.num_fields < super.num_fields) return false;
  const std::span<const FieldType> fields = module.fields_of(a);
  const std::span<const FieldType> wanted = module.fields_of(b);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_field_subtype(module, fields[i], wanted[i])) return false;
  }
  return true;
}

}  // namespace hoist::wasm
