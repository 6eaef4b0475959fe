// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/linker/linker.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.hpp"
#include "runtime/linker/import_check.hpp"
#include "runtime/objects/types.hpp"
#include "runtime/store/store_slot.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist::runtime {

// ---- Definitions.

Result<void> Linker::define(std::string_view module, std::string_view field, Item item) {
  auto at = modules_.find(module);
  if (at == modules_.end()) at = modules_.emplace(std::string(module), Fields()).first;
  const auto [place, fresh] = at->second.try_emplace(std::string(field), item);
  if (fresh) return {};
  if (!allow_shadowing) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("\"{}\".\"{}\" is defined already; Linker::allow_shadowing permits defining a "
                    "name again",
                    module, field));
  }
  place->second = std::move(item);
  return {};
}

const Linker::Item* Linker::find(std::string_view module, std::string_view field) const {
  const auto at = modules_.find(module);
  if (at == modules_.end()) return nullptr;
  const auto place = at->second.find(field);
  return place == at->second.end() ? nullptr : &place->second;
}

Result<void> Linker::alias(std::string_view module, std::string_view field,
                           std::string_view as_module, std::string_view as_field) {
  const Item* item = find(module, field);
  if (item == nullptr) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("\"{}\".\"{}\" is not defined", module, field));
  }
  return define(as_module, as_field, Item(*item));
}

Result<void> Linker::alias_module(std::string_view module, std::string_view as_module) {
  const auto at = modules_.find(module);
  if (at == modules_.end()) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("nothing is defined in module \"{}\"", module));
  }
  const Fields fields = at->second;
  for (const auto& [field, item] : fields) HOIST_TRY_VOID(define(as_module, field, item));
  return {};
}

// ---- Resolution.

Result<std::vector<Extern>> Linker::resolve(Store& store, const ModuleCode& code) const {
  std::vector<Extern> out;
  out.reserve(code.module().imports.size());
  for (const wasm::Import& import : code.module().imports) {
    HOIST_TRY(const Extern found, resolve_one(store, code, import));
    out.push_back(found);
  }
  return out;
}

Result<Extern> Linker::resolve_one(Store& store, const ModuleCode& code,
                                   const wasm::Import& import) const {
  const Item* item = find(import.module, import.field);
  if (item == nullptr) return make_unknown(store, code, import);
  if (const auto* host = std::get_if<std::shared_ptr<const HostFunction>>(item)) {
    const auto want = type_of(code.module(), import.kind, import.index);
    if (import.kind != wasm::ExternKind::Func ||
        !engine_->types().is_below((*host)->type_id(), code.function_type_id(import.index))) {
      return Error(
          ErrorKind::Link,
          fmt::format("incompatible import type: {} must be a {}, but a host function {} was "
                      "given",
                      import_name(import), to_string(want), to_string((*host)->public_type())));
    }
    return Extern{wasm::ExternKind::Func, store.new_host_function(*host)};
  }
  if (const auto* memory = std::get_if<std::shared_ptr<LinearMemory>>(item)) {
    HOIST_TRY(LinearMemory * here, store.add_shared_memory(*memory));
    return Extern{wasm::ExternKind::Memory, here};
  }
  const auto& owned = std::get<StoreItem>(*item);
  if (owned.store != store.ref()) {
    return Error(
        ErrorKind::Link,
        fmt::format("{} is defined by something of {}", import_name(import),
                    hoist::detail::Access::store(owned.store) != nullptr ? "another store"
                                                                         : "a store that is gone"));
  }
  return owned.item;
}

/// The wanted type and what could provide it.
Error Linker::unknown_error(const ModuleCode& code, const wasm::Import& import) const {
  const auto want = type_of(code.module(), import.kind, import.index);
  std::string message =
      fmt::format("unknown import: {}, a {}, is not defined", import_name(import), to_string(want));
  const std::string_view module = import.module;
  if (const auto at = modules_.find(module); at != modules_.end()) {
    constexpr std::size_t kListed = 8;
    std::size_t listed = 0;
    message += fmt::format("; \"{}\" has", module);
    for (const auto& [field, item] : at->second) {
      if (listed == kListed) break;
      message += fmt::format("{} \"{}\"", listed++ == 0 ? "" : ",", field);
    }
    if (at->second.size() > kListed)
      message += fmt::format(" and {} more", at->second.size() - kListed);
    // Functions that came with the later of WASI's modules.
    const auto later = modules_.find("wasi_snapshot_preview1");
    if (module == "wasi_unstable" && later != modules_.end() &&
        later->second.contains(import.field)) {
      message += fmt::format("; \"wasi_snapshot_preview1\" has \"{}\"", import.field);
    }
    return {ErrorKind::Link, std::move(message)};
  }
  if (module == "wasi_snapshot_preview1" || module == "wasi_unstable") {
    message += "; WASI preview 1 provides it (hoist::add_wasi_to_linker)";
  } else if (module.starts_with("wasi:")) {
    message += "; it belongs to WASI preview 2, which is for components";
  } else if (module == "wbg" || module.starts_with("__wbindgen")) {
    message += "; it is made by wasm-bindgen, for modules that run with JavaScript";
  } else if (module == "go" || module == "gojs") {
    message += "; Go programs for use without JavaScript are built with GOOS=wasip1";
  } else if (module == "a" || import.field.starts_with("emscripten_")) {
    message += "; Emscripten programs for use without JavaScript are linked with -sSTANDALONE_WASM";
  } else {
    message +=
        "; the host can define it (hoist::Linker::define_func), or a module that exports it can "
        "be linked under that name";
  }
  return {ErrorKind::Link, std::move(message)};
}

// ---- Unknown imports that are made up.

/// A host function that does nothing but trap, or return zeros (its arguments' slots are cleared).
static std::shared_ptr<const HostFunction> make_placeholder(const std::shared_ptr<Engine>& engine,
                                                            std::uint32_t type_id, bool traps,
                                                            std::string name) {
  auto* closure = new std::string(name);
  hoist::detail::HostFuncSpec spec;
  spec.type = engine->types().get_public(type_id);
  spec.closure = closure;
  spec.destroy = [](void* the_closure) { delete static_cast<std::string*>(the_closure); };
  if (traps) {
    spec.thunk = [](void* the_closure, hoist::detail::HostCall& call) noexcept {
      call.fail(
          trap_error(image::TrapCode::UnknownImport, *static_cast<std::string*>(the_closure)));
      return false;
    };
  } else {
    spec.thunk = [](void*, hoist::detail::HostCall& call) noexcept {
      for (std::size_t i = 0; i < call.type().results().size(); ++i) {
        call.slots()[i] = hoist::detail::Slot();
      }
      return true;
    };
  }
  return std::make_shared<const HostFunction>(engine, std::move(spec), type_id, std::move(name));
}

Result<Extern> Linker::make_unknown(Store& store, const ModuleCode& code,
                                    const wasm::Import& import) const {
  const wasm::Module& module = code.module();
  const bool zeros = unknown_imports == UnknownImports::Default;
  if (unknown_imports == UnknownImports::Error) return unknown_error(code, import);
  switch (import.kind) {
    case wasm::ExternKind::Func: {
      const wasm::FuncType& type = module.function_type(import.index);
      // Where zeros are no values there is nothing to return.
      const bool traps = !zeros || !std::all_of(type.results().begin(), type.results().end(),
                                                [](wasm::ValType t) { return t.is_defaultable(); });
      return Extern{import.kind,
                    store.new_host_function(make_placeholder(
                        engine_, code.function_type_id(import.index), traps, import_name(import)))};
    }
    case wasm::ExternKind::Table: {
      wasm::TableType type = module.tables[import.index].type;
      if (!zeros || !type.element.is_defaultable()) break;
      type.element = code.engine_type(type.element);
      HOIST_TRY(TableObject * table, store.new_table(type, 0));
      return Extern{import.kind, table};
    }
    case wasm::ExternKind::Memory: {
      if (!zeros) break;
      HOIST_TRY(LinearMemory * memory, store.new_memory(module.memories[import.index].type));
      return Extern{import.kind, memory};
    }
    case wasm::ExternKind::Global: {
      wasm::GlobalType type = module.globals[import.index].type;
      if (!zeros || !type.type.is_defaultable()) break;
      type.type = code.engine_type(type.type);
      return Extern{import.kind, store.new_global(type, 0)};
    }
    case wasm::ExternKind::Tag: break;
  }
  return unknown_error(code, import);
}

}  // namespace hoist::runtime
