// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the types of wasm.h are, and the way between them and the C++ types.

#include "hoist.h"
#include "hoist/types.hpp"
#include "wasm.h"

struct wasm_valtype_t {
  wasm_valkind_t kind;
};

struct wasm_externtype_t {
  wasm_externkind_t kind;
};
struct wasm_functype_t : wasm_externtype_t {
  wasm_valtype_vec_t params;
  wasm_valtype_vec_t results;
};
struct wasm_globaltype_t : wasm_externtype_t {
  wasm_valtype_t* content;
  wasm_mutability_t mutability;
};
struct wasm_tabletype_t : wasm_externtype_t {
  wasm_valtype_t* element;
  wasm_limits_t limits;   ///< as far as they fit
  hoist::TableType type;  ///< all of it but the element
};
struct wasm_memorytype_t : wasm_externtype_t {
  wasm_limits_t limits;  ///< as far as they fit
  hoist::MemoryType type;
};
struct wasm_tagtype_t : wasm_externtype_t {
  wasm_functype_t* type;
};

struct wasm_importtype_t {
  wasm_name_t module;
  wasm_name_t name;
  wasm_externtype_t* type;
};
struct wasm_exporttype_t {
  wasm_name_t name;
  wasm_externtype_t* type;
};

namespace hoist::c_api {

/// False for a number that is no kind.
bool to_cpp(wasm_valkind_t kind, ValKind& out);
wasm_valkind_t to_c(ValKind kind);
wasm_externkind_t to_c(ExternKind kind);

/// Of types that the constructors of wasm.h made.
FuncType to_cpp(const wasm_functype_t& type);
GlobalType to_cpp(const wasm_globaltype_t& type);
TableType to_cpp(const wasm_tabletype_t& type);
MemoryType to_cpp(const wasm_memorytype_t& type);

wasm_functype_t* new_type(const FuncType& type);
wasm_globaltype_t* new_type(const GlobalType& type);
/// Sizes that do not fit become the greatest that does.
wasm_tabletype_t* new_type(const TableType& type);
wasm_memorytype_t* new_type(const MemoryType& type);
wasm_externtype_t* new_type(const ExternType& type);

void set_name(wasm_name_t& out, std::string_view text);

}  // namespace hoist::c_api
