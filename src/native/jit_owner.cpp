// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What listeners are told of a module's code.
#include "demangle/demangle.hpp"
#include "ir/text/printer.hpp"
#include "native/jit_state.hpp"

namespace hoist::native {

using image::FuncKey;
using image::FuncKind;

static constexpr char kLayer = 0;

JitModule::State::~State() {
  if (loaded != nullptr) jit::tell_unloading(options.listeners, owner, *loaded);
}

JitModule::State::Owner::Owner(const State& state) : jit::CodeOwner(&kLayer), state_(state) {}

std::string JitModule::State::Owner::module_name() const {
  return demangle::display_name(state_.options.name, true);
}

std::string JitModule::State::Owner::shown(const std::string& name) const {
  const auto given = state_.shown_names.find(name);
  std::string_view text = given == state_.shown_names.end() ? name : given->second;
  if (given == state_.shown_names.end() && text.starts_with('%')) text.remove_prefix(1);
  return demangle::display_name(text, state_.options.raw_names);
}

std::string JitModule::State::Owner::name(FuncKey key) const {
  if (key.kind() == FuncKind::EntryTrampoline && key.index() < state_.entry_signatures.size()) {
    base::Printer out;
    out << "entry trampoline " << state_.entry_signatures[key.index()];
    return out.take();
  }
  if (key.module() == kInlinedOnly) {
    return key.index() < state_.inlined.size() ? shown(state_.inlined[key.index()]) : "inlined";
  }
  if (key.index() >= state_.entries.size()) return "code";
  const Entry& entry = state_.entries[key.index()];
  const bool is_jump = !entry.is_defined && !state_.thread_locals.contains(entry.name);
  return is_jump ? "jump to " + shown(entry.name) : shown(entry.name);
}

CodeKind JitModule::State::Owner::kind(FuncKey key) const {
  if (key.kind() == FuncKind::EntryTrampoline) return CodeKind::EntryTrampoline;
  const bool is_jump = key.module() != kInlinedOnly && key.index() < state_.entries.size() &&
                       !state_.entries[key.index()].is_defined;
  return is_jump ? CodeKind::Other : CodeKind::Function;
}

jit::CodeOwner::Place JitModule::State::Owner::place(std::uint32_t source) const {
  Place out;
  if (state_.options.sources == nullptr) {
    out.file = state_.options.name;
    out.line = source;
    return out;
  }
  const SourceMap::Place found = state_.options.sources->find(source);
  out.file = found.file;
  out.line = found.line;
  return out;
}

}  // namespace hoist::native
