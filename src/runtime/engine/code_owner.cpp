// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/code_owner.hpp"

#include <fmt/core.h>

#include "demangle/demangle.hpp"
#include "runtime/engine/module_code.hpp"
#include "wasm/debug/inlined_calls.hpp"
#include "wasm/debug/line_table.hpp"

namespace hoist::runtime {

using image::FuncKey;
using image::FuncKind;

static constexpr char kLayer = 0;

CodeOwner::CodeOwner() : jit::CodeOwner(&kLayer) {}

const CodeOwner* CodeOwner::of(const jit::CodeOwner* owner) {
  if (owner == nullptr || owner->layer() != &kLayer) return nullptr;
  return static_cast<const CodeOwner*>(owner);
}

std::string CodeOwner::module_name() const {
  const std::string_view name = module == nullptr ? "" : module->names().module();
  if (module == nullptr) return "host functions";
  return name.empty() ? "module" : demangle::display_name(name, true);
}

std::string CodeOwner::name(FuncKey key) const {
  if (module == nullptr) return "exit trampoline " + signature;
  if (key.kind() != FuncKind::WasmFunction) return module->names()(key);
  const std::string_view given = module->names().function(key.index());
  if (given.find_first_not_of(' ') == std::string_view::npos)
    return fmt::format("wasm[{}]::function[{}]", module_name(), key.index());
  return demangle::display_name(given, raw_names);
}

CodeKind CodeOwner::kind(FuncKey key) const {
  switch (key.kind()) {
    case FuncKind::WasmFunction: return CodeKind::Function;
    case FuncKind::EntryTrampoline: return CodeKind::EntryTrampoline;
    case FuncKind::ExitTrampoline: return CodeKind::ExitTrampoline;
    case FuncKind::BuiltinTrampoline: return CodeKind::BuiltinTrampoline;
    case FuncKind::User: break;
  }
  return CodeKind::Other;
}

jit::CodeOwner::Place CodeOwner::place(std::uint32_t source) const {
  Place out;
  out.module_offset = source;
  if (const wasm::LineTable* table = lines()) {
    const wasm::SourceLine found = table->find(source);
    out.file = found.file;
    out.line = found.line;
  }
  return out;
}

const wasm::LineTable* CodeOwner::lines() const {
  if (module == nullptr) return nullptr;
  const wasm::LineTable& table = module->lines();
  return table.empty() ? nullptr : &table;
}

void CodeOwner::source_frames(std::uint32_t source,
                              base::FunctionRef<void(const wasm::SourceFrame&)> visit) const {
  if (module == nullptr) {
    visit({});
  } else {
    wasm::for_each_source_frame(module->lines(), module->inlined_calls(), source, visit);
  }
}

}  // namespace hoist::runtime
