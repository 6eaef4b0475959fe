// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of wasm.h: plain values on the heap.
#include "api/c/types.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace hoist::c_api {

#define HOIST_C_VALKIND(c_name, kind, letter) static_assert(c_name <= 0xff);
#include "api/c/tables.def"

bool to_cpp(wasm_valkind_t kind, ValKind& out) {
  switch (kind) {
#define HOIST_C_VALKIND(c_name, cpp_kind, letter) \
  case c_name: out = ValKind::cpp_kind; return true;
#include "api/c/tables.def"
    default: return false;
  }
}

wasm_valkind_t to_c(ValKind kind) {
  switch (kind) {
#define HOIST_C_VALKIND(c_name, cpp_kind, letter) \
  case ValKind::cpp_kind: return c_name;
#include "api/c/tables.def"
  }
  HOIST_UNREACHABLE("a ValKind");
}

wasm_externkind_t to_c(ExternKind kind) {
  switch (kind) {
#define HOIST_C_EXTERNKIND(c_name, cpp_kind, type) \
  case ExternKind::cpp_kind: return c_name;
#include "api/c/tables.def"
  }
  HOIST_UNREACHABLE("an ExternKind");
}

static ValType to_cpp(const wasm_valtype_t& type) {
  ValKind kind = ValKind::I32;
  HOIST_CHECK(to_cpp(type.kind, kind), "wasm_valtype_new makes no other");
  return kind;
}

static std::vector<ValType> to_cpp(const wasm_valtype_vec_t& types) {
  std::vector<ValType> out;
  out.reserve(types.size);
  for (std::size_t i = 0; i < types.size; ++i) out.push_back(to_cpp(*types.data[i]));
  return out;
}

FuncType to_cpp(const wasm_functype_t& type) {
  return {to_cpp(type.params), to_cpp(type.results)};
}
GlobalType to_cpp(const wasm_globaltype_t& type) {
  return {to_cpp(*type.content), type.mutability == WASM_VAR};
}

template <typename Type>
static void put_limits(Type& out, const wasm_limits_t& limits) {
  out.minimum = limits.min;
  if (limits.max != wasm_limits_max_default) out.maximum = limits.max;
}
TableType to_cpp(const wasm_tabletype_t& type) {
  TableType out = type.type;
  out.element = to_cpp(*type.element);
  return out;
}
MemoryType to_cpp(const wasm_memorytype_t& type) {
  return type.type;
}

// ---- From C++.

static wasm_valtype_t* new_type(ValType type) {
  return new wasm_valtype_t{to_c(type.kind())};
}

static wasm_valtype_vec_t new_types(std::span<const ValType> types) {
  wasm_valtype_vec_t out;
  wasm_valtype_vec_new_uninitialized(&out, types.size());
  for (std::size_t i = 0; i < out.size; ++i) out.data[i] = new_type(types[i]);
  return out;
}

wasm_functype_t* new_type(const FuncType& type) {
  return new wasm_functype_t{
      {WASM_EXTERN_FUNC}, new_types(type.params()), new_types(type.results())};
}
wasm_globaltype_t* new_type(const GlobalType& type) {
  return new wasm_globaltype_t{
      {WASM_EXTERN_GLOBAL},
      new_type(type.content),
      static_cast<wasm_mutability_t>(type.is_mutable ? WASM_VAR : WASM_CONST)};
}

static wasm_limits_t limits_of(std::uint64_t minimum, const std::optional<std::uint64_t>& maximum) {
  const auto fit = [](std::uint64_t value, std::uint32_t most) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, most));
  };
  return {fit(minimum, wasm_limits_max_default),
          maximum ? fit(*maximum, wasm_limits_max_default - 1) : wasm_limits_max_default};
}
wasm_tabletype_t* new_type(const TableType& type) {
  return new wasm_tabletype_t{
      {WASM_EXTERN_TABLE}, new_type(type.element), limits_of(type.minimum, type.maximum), type};
}
wasm_memorytype_t* new_type(const MemoryType& type) {
  return new wasm_memorytype_t{{WASM_EXTERN_MEMORY}, limits_of(type.minimum, type.maximum), type};
}

wasm_externtype_t* new_type(const ExternType& type) {
  switch (type.kind) {
    case ExternKind::Func: return new_type(type.func);
    case ExternKind::Table: return new_type(type.table);
    case ExternKind::Memory: return new_type(type.memory);
    case ExternKind::Global: return new_type(type.global);
    case ExternKind::Tag: return new wasm_tagtype_t{{WASM_EXTERN_TAG}, new_type(type.tag)};
  }
  HOIST_UNREACHABLE("an ExternKind");
}

void set_name(wasm_name_t& out, std::string_view text) {
  wasm_byte_vec_new(&out, text.size(), text.data());
}

}  // namespace hoist::c_api

using hoist::ValKind;

/// Moves a vector that was passed on; what it leaves is empty.
template <typename Vec>
static void take(Vec& out, Vec* from) {
  out = {0, nullptr};
  if (from != nullptr) std::swap(out, *from);
}

extern "C" {

// ---- Value types.

wasm_valtype_t* wasm_valtype_new(wasm_valkind_t kind) {
  ValKind known = ValKind::I32;
  return hoist::c_api::to_cpp(kind, known) ? new wasm_valtype_t{kind} : nullptr;
}
wasm_valtype_t* wasm_valtype_copy(const wasm_valtype_t* type) {
  return type == nullptr ? nullptr : new wasm_valtype_t(*type);
}
void wasm_valtype_delete(wasm_valtype_t* type) {
  delete type;
}
wasm_valkind_t wasm_valtype_kind(const wasm_valtype_t* type) {
  return type == nullptr ? static_cast<wasm_valkind_t>(WASM_I32) : type->kind;
}

// ---- Extern types: those of each kind, and the common base.

static bool is_complete(const wasm_valtype_vec_t& types) {
  if (types.size != 0 && types.data == nullptr) return false;
  for (std::size_t i = 0; i < types.size; ++i) {
    if (types.data[i] == nullptr) return false;
  }
  return true;
}

wasm_functype_t* wasm_functype_new(wasm_valtype_vec_t* params, wasm_valtype_vec_t* results) {
  auto* out = new wasm_functype_t{{WASM_EXTERN_FUNC}, {}, {}};
  take(out->params, params);
  take(out->results, results);
  if (params != nullptr && results != nullptr && is_complete(out->params) &&
      is_complete(out->results)) {
    return out;
  }
  wasm_functype_delete(out);
  return nullptr;
}
wasm_functype_t* wasm_functype_copy(const wasm_functype_t* type) {
  if (type == nullptr) return nullptr;
  auto* out = new wasm_functype_t{{WASM_EXTERN_FUNC}, {}, {}};
  wasm_valtype_vec_copy(&out->params, &type->params);
  wasm_valtype_vec_copy(&out->results, &type->results);
  return out;
}
void wasm_functype_delete(wasm_functype_t* type) {
  if (type == nullptr) return;
  wasm_valtype_vec_delete(&type->params);
  wasm_valtype_vec_delete(&type->results);
  delete type;
}
const wasm_valtype_vec_t* wasm_functype_params(const wasm_functype_t* type) {
  return type == nullptr ? nullptr : &type->params;
}
const wasm_valtype_vec_t* wasm_functype_results(const wasm_functype_t* type) {
  return type == nullptr ? nullptr : &type->results;
}

wasm_globaltype_t* wasm_globaltype_new(wasm_valtype_t* content, wasm_mutability_t mutability) {
  if (content != nullptr && mutability <= WASM_VAR) {
    return new wasm_globaltype_t{{WASM_EXTERN_GLOBAL}, content, mutability};
  }
  wasm_valtype_delete(content);
  return nullptr;
}
wasm_globaltype_t* wasm_globaltype_copy(const wasm_globaltype_t* type) {
  if (type == nullptr) return nullptr;
  return wasm_globaltype_new(wasm_valtype_copy(type->content), type->mutability);
}
void wasm_globaltype_delete(wasm_globaltype_t* type) {
  if (type == nullptr) return;
  wasm_valtype_delete(type->content);
  delete type;
}
const wasm_valtype_t* wasm_globaltype_content(const wasm_globaltype_t* type) {
  return type == nullptr ? nullptr : type->content;
}
wasm_mutability_t wasm_globaltype_mutability(const wasm_globaltype_t* type) {
  return type == nullptr ? static_cast<wasm_mutability_t>(WASM_CONST) : type->mutability;
}

wasm_tabletype_t* wasm_tabletype_new(wasm_valtype_t* element, const wasm_limits_t* limits) {
  if (element != nullptr && limits != nullptr && wasm_valtype_is_ref(element)) {
    hoist::TableType type;
    hoist::c_api::put_limits(type, *limits);
    return new wasm_tabletype_t{{WASM_EXTERN_TABLE}, element, *limits, type};
  }
  wasm_valtype_delete(element);
  return nullptr;
}
wasm_tabletype_t* wasm_tabletype_copy(const wasm_tabletype_t* type) {
  if (type == nullptr) return nullptr;
  return new wasm_tabletype_t{
      {WASM_EXTERN_TABLE}, wasm_valtype_copy(type->element), type->limits, type->type};
}
void wasm_tabletype_delete(wasm_tabletype_t* type) {
  if (type == nullptr) return;
  wasm_valtype_delete(type->element);
  delete type;
}
const wasm_valtype_t* wasm_tabletype_element(const wasm_tabletype_t* type) {
  return type == nullptr ? nullptr : type->element;
}
const wasm_limits_t* wasm_tabletype_limits(const wasm_tabletype_t* type) {
  return type == nullptr ? nullptr : &type->limits;
}

wasm_memorytype_t* wasm_memorytype_new(const wasm_limits_t* limits) {
  if (limits == nullptr) return nullptr;
  hoist::MemoryType type;
  hoist::c_api::put_limits(type, *limits);
  return new wasm_memorytype_t{{WASM_EXTERN_MEMORY}, *limits, type};
}
wasm_memorytype_t* wasm_memorytype_copy(const wasm_memorytype_t* type) {
  return type == nullptr ? nullptr : new wasm_memorytype_t(*type);
}
void wasm_memorytype_delete(wasm_memorytype_t* type) {
  delete type;
}
const wasm_limits_t* wasm_memorytype_limits(const wasm_memorytype_t* type) {
  return type == nullptr ? nullptr : &type->limits;
}

wasm_memorytype_t* hoist_memorytype_new(const hoist_memory_type_t* type) {
  if (type == nullptr || type->page_size_log2 > 16) return nullptr;
  hoist::MemoryType wanted;
  wanted.minimum = type->minimum;
  if (type->maximum != UINT64_MAX) wanted.maximum = type->maximum;
  wanted.is_64 = type->is_64;
  wanted.shared = type->shared;
  wanted.page_size_log2 = type->page_size_log2;
  return hoist::c_api::new_type(wanted);
}
void hoist_memorytype_get(const wasm_memorytype_t* type, hoist_memory_type_t* out) {
  if (out == nullptr) return;
  const hoist::MemoryType full = type == nullptr ? hoist::MemoryType() : type->type;
  *out = {full.minimum, full.maximum.value_or(UINT64_MAX), full.is_64, full.shared,
          full.page_size_log2};
}
wasm_tabletype_t* hoist_tabletype_new(wasm_valtype_t* element, const hoist_table_type_t* type) {
  if (element == nullptr || type == nullptr || !wasm_valtype_is_ref(element)) {
    wasm_valtype_delete(element);
    return nullptr;
  }
  hoist::TableType wanted;
  wanted.element = hoist::c_api::to_cpp(*element);
  wanted.minimum = type->minimum;
  if (type->maximum != UINT64_MAX) wanted.maximum = type->maximum;
  wanted.is_64 = type->is_64;
  wasm_valtype_delete(element);
  return hoist::c_api::new_type(wanted);
}
void hoist_tabletype_get(const wasm_tabletype_t* type, hoist_table_type_t* out) {
  if (out == nullptr) return;
  const hoist::TableType full = type == nullptr ? hoist::TableType() : type->type;
  *out = {full.minimum, full.maximum.value_or(UINT64_MAX), full.is_64};
}

wasm_tagtype_t* wasm_tagtype_new(wasm_functype_t* type) {
  return type == nullptr ? nullptr : new wasm_tagtype_t{{WASM_EXTERN_TAG}, type};
}
wasm_tagtype_t* wasm_tagtype_copy(const wasm_tagtype_t* type) {
  return type == nullptr ? nullptr : wasm_tagtype_new(wasm_functype_copy(type->type));
}
void wasm_tagtype_delete(wasm_tagtype_t* type) {
  if (type == nullptr) return;
  wasm_functype_delete(type->type);
  delete type;
}
const wasm_functype_t* wasm_tagtype_functype(const wasm_tagtype_t* type) {
  return type == nullptr ? nullptr : type->type;
}

wasm_externkind_t wasm_externtype_kind(const wasm_externtype_t* type) {
  return type == nullptr ? static_cast<wasm_externkind_t>(WASM_EXTERN_FUNC) : type->kind;
}
wasm_externtype_t* wasm_externtype_copy(const wasm_externtype_t* type) {
  if (type == nullptr) return nullptr;
  switch (type->kind) {
#define HOIST_C_EXTERNKIND(c_name, kind, c_type) \
  case c_name: return wasm_##c_type##_copy(static_cast<const wasm_##c_type##_t*>(type));
#include "api/c/tables.def"
    default: return nullptr;
  }
}
void wasm_externtype_delete(wasm_externtype_t* type) {
  if (type == nullptr) return;
  switch (type->kind) {
#define HOIST_C_EXTERNKIND(c_name, kind, c_type) \
  case c_name: wasm_##c_type##_delete(static_cast<wasm_##c_type##_t*>(type)); break;
#include "api/c/tables.def"
    default: break;
  }
}

#define HOIST_C_EXTERNKIND(c_name, cpp_kind, c_type)                                            \
  wasm_externtype_t* wasm_##c_type##_as_externtype(wasm_##c_type##_t* type) {                   \
    return type;                                                                                \
  }                                                                                             \
  const wasm_externtype_t* wasm_##c_type##_as_externtype_const(const wasm_##c_type##_t* type) { \
    return type;                                                                                \
  }                                                                                             \
  const wasm_##c_type##_t* wasm_externtype_as_##c_type##_const(const wasm_externtype_t* type) { \
    return type == nullptr || type->kind != (c_name)                                            \
               ? nullptr                                                                        \
               : static_cast<const wasm_##c_type##_t*>(type);                                   \
  }                                                                                             \
  wasm_##c_type##_t* wasm_externtype_as_##c_type(wasm_externtype_t* type) {                     \
    return type == nullptr || type->kind != (c_name) ? nullptr                                  \
                                                     : static_cast<wasm_##c_type##_t*>(type);   \
  }
#include "api/c/tables.def"

// ---- Imports and exports.

wasm_importtype_t* wasm_importtype_new(wasm_name_t* module, wasm_name_t* name,
                                       wasm_externtype_t* type) {
  auto* out = new wasm_importtype_t{{}, {}, type};
  take(out->module, module);
  take(out->name, name);
  if (module != nullptr && name != nullptr && type != nullptr) return out;
  wasm_importtype_delete(out);
  return nullptr;
}
wasm_importtype_t* wasm_importtype_copy(const wasm_importtype_t* from) {
  if (from == nullptr) return nullptr;
  auto* out = new wasm_importtype_t{{}, {}, wasm_externtype_copy(from->type)};
  wasm_name_copy(&out->module, &from->module);
  wasm_name_copy(&out->name, &from->name);
  return out;
}
void wasm_importtype_delete(wasm_importtype_t* import) {
  if (import == nullptr) return;
  wasm_name_delete(&import->module);
  wasm_name_delete(&import->name);
  wasm_externtype_delete(import->type);
  delete import;
}
const wasm_name_t* wasm_importtype_module(const wasm_importtype_t* import) {
  return import == nullptr ? nullptr : &import->module;
}
const wasm_name_t* wasm_importtype_name(const wasm_importtype_t* import) {
  return import == nullptr ? nullptr : &import->name;
}
const wasm_externtype_t* wasm_importtype_type(const wasm_importtype_t* import) {
  return import == nullptr ? nullptr : import->type;
}

wasm_exporttype_t* wasm_exporttype_new(wasm_name_t* name, wasm_externtype_t* type) {
  auto* out = new wasm_exporttype_t{{}, type};
  take(out->name, name);
  if (name != nullptr && type != nullptr) return out;
  wasm_exporttype_delete(out);
  return nullptr;
}
wasm_exporttype_t* wasm_exporttype_copy(const wasm_exporttype_t* from) {
  if (from == nullptr) return nullptr;
  auto* out = new wasm_exporttype_t{{}, wasm_externtype_copy(from->type)};
  wasm_name_copy(&out->name, &from->name);
  return out;
}
void wasm_exporttype_delete(wasm_exporttype_t* item) {
  if (item == nullptr) return;
  wasm_name_delete(&item->name);
  wasm_externtype_delete(item->type);
  delete item;
}
const wasm_name_t* wasm_exporttype_name(const wasm_exporttype_t* item) {
  return item == nullptr ? nullptr : &item->name;
}
const wasm_externtype_t* wasm_exporttype_type(const wasm_exporttype_t* item) {
  return item == nullptr ? nullptr : item->type;
}

}  // extern "C"
