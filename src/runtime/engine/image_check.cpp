// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/image_check.hpp"

#include <fmt/core.h>

#include "image/layout/builtin.hpp"

namespace hoist::runtime {

using image::FuncKey;
using image::FuncKind;

/// How many names of this kind the module has; 0 for kinds that no module's image holds.
static std::uint64_t names_of_kind(const wasm::Module& module, FuncKind kind) {
  switch (kind) {
    case FuncKind::WasmFunction: return module.num_functions();
    case FuncKind::EntryTrampoline:
    case FuncKind::ExitTrampoline: return module.types.size();
    case FuncKind::BuiltinTrampoline: return image::kBuiltinCount;
    case FuncKind::User: return 0;
  }
  return 0;
}

Result<void> check_image(const wasm::Module& module, const image::Image& image) {
  for (const image::FunctionEntry& entry : image.functions()) {
    const FuncKey key = entry.key;
    if (key.module() != 0 || key.index() >= names_of_kind(module, key.kind())) {
      return Error(ErrorKind::Malformed,
                   fmt::format("damaged image: it holds code of kind {} for number {}, which its "
                               "module does not have",
                               static_cast<unsigned>(key.kind()), key.index()));
    }
  }
  const auto want = [&](FuncKind kind, std::uint32_t index) -> Result<void> {
    const image::FunctionEntry* entry = image.function(FuncKey(kind, 0, index));
    if (entry != nullptr && entry->size != 0) return {};
    return Error(ErrorKind::Malformed,
                 fmt::format("damaged image: code of kind {} for number {} is missing",
                             static_cast<unsigned>(kind), index));
  };
  const auto type_of = [&](std::uint32_t func) {
    return module.canonical_type(module.functions[func].type_index);
  };
  for (std::uint32_t func = 0; func < module.num_functions(); ++func) {
    const bool imported = module.is_imported_function(func);
    HOIST_TRY_VOID(want(imported ? FuncKind::ExitTrampoline : FuncKind::WasmFunction,
                        imported ? type_of(func) : func));
    if (module.escaping_functions.contains(func)) {
      HOIST_TRY_VOID(want(FuncKind::EntryTrampoline, type_of(func)));
    }
  }
  if (module.start) return want(FuncKind::EntryTrampoline, type_of(*module.start));
  return {};
}

}  // namespace hoist::runtime
