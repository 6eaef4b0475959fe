// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linker/import_check.hpp"

#include <fmt/core.h>

#include "base/check.hpp"
#include "runtime/objects/types.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::runtime {

static std::string quoted(std::string_view name) {
  if (name.size() <= wasm::kMaxNameInMessage) return fmt::format("\"{}\"", name);
  return fmt::format("\"{}…\"", name.substr(0, wasm::kMaxNameInMessage));
}

std::string import_name(const wasm::Import& import) {
  return quoted(import.module) + "." + quoted(import.field);
}

/// `size` is what there is now.
static bool limits_match(const wasm::Limits& wanted, std::uint64_t size,
                         const wasm::Limits& given) {
  if (size < wanted.min) return false;
  if (!wanted.has_max) return true;
  return given.has_max && given.max <= wanted.max;
}

bool import_matches(const ModuleCode& code, const wasm::Import& import, const Extern& given) {
  if (given.kind != import.kind || given.object == nullptr) return false;
  const wasm::Module& module = code.module();
  const TypeRegistry& types = code.engine()->types();
  switch (import.kind) {
    case wasm::ExternKind::Func:
      return types.is_below(static_cast<const image::VmFuncRef*>(given.object)->type_id,
                            code.function_type_id(import.index));
    case wasm::ExternKind::Table: {
      const auto& table = *static_cast<const TableObject*>(given.object);
      const wasm::TableType& wanted = module.tables[import.index].type;
      return table.type().element == code.engine_type(wanted.element) &&
             table.type().is64 == wanted.is64 &&
             limits_match(wanted.limits, table.size(), table.type().limits);
    }
    case wasm::ExternKind::Memory: {
      const auto& memory = *static_cast<const LinearMemory*>(given.object);
      const wasm::MemoryType& wanted = module.memories[import.index].type;
      return memory.type().is64 == wanted.is64 && memory.type().shared == wanted.shared &&
             memory.type().page_size_log2 == wanted.page_size_log2 &&
             limits_match(wanted.limits, memory.pages(), memory.type().limits);
    }
    case wasm::ExternKind::Global: {
      const wasm::GlobalType& has = static_cast<const GlobalObject*>(given.object)->type;
      const wasm::GlobalType& wanted = module.globals[import.index].type;
      const wasm::ValType type = code.engine_type(wanted.type);
      if (has.is_mutable != wanted.is_mutable) return false;
      return wanted.is_mutable ? has.type == type : types.matches(has.type, type);
    }
    case wasm::ExternKind::Tag:
      return static_cast<const TagObject*>(given.object)->type_id ==
             code.type_id(module.tags[import.index].type_index);
  }
  HOIST_UNREACHABLE("an ExternKind");
}

Result<void> check_imports(Store& store, const ModuleCode& code, std::span<const Extern> imports) {
  const std::vector<wasm::Import>& wanted = code.module().imports;
  if (imports.size() != wanted.size()) {
    return Error(ErrorKind::Link, fmt::format("the module has {} imports, but {} were given",
                                              wanted.size(), imports.size()));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (import_matches(code, wanted[i], imports[i])) continue;
    const std::string want = to_string(type_of(code.module(), wanted[i].kind, wanted[i].index));
    const bool given = imports[i].object != nullptr;
    const std::string have = given ? to_string(extern_type(store, imports[i])) : "null";
    // The texts show the general kind of references only.
    return Error(ErrorKind::Link,
                 fmt::format("incompatible import type: {} must be a {}, but a {}{} was given",
                             import_name(wanted[i]), want, have,
                             want == have ? " with other types behind its references" : ""));
  }
  return {};
}

}  // namespace hoist::runtime
