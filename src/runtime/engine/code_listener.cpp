// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/code_listener.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "demangle/demangle.hpp"
#include "jit/loaded_image.hpp"
#include "runtime/engine/module_code.hpp"
#include "wasm/debug/line_table.hpp"

namespace hoist::runtime {

using image::FuncKey;
using image::FuncKind;

constinit std::atomic<void (*)()> before_unload{nullptr};

// ---- Owners.

std::uint64_t CodeOwner::next_id() {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
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
  if (given.empty()) return fmt::format("wasm[{}]::function[{}]", module_name(), key.index());
  return demangle::display_name(given, raw_names);
}

const wasm::LineTable* CodeOwner::lines() const {
  if (module == nullptr) return nullptr;
  const wasm::LineTable& table = module->lines();
  return table.empty() ? nullptr : &table;
}

// ---- The view.

const void* CodeView::address() const noexcept {
  return code_.base();
}
std::uint64_t CodeView::size() const noexcept {
  return code_.image().text().size();
}
std::size_t CodeView::piece_count() const noexcept {
  return code_.image().functions().size();
}

static CodeKind kind_of(FuncKind kind) {
  switch (kind) {
    case FuncKind::WasmFunction: return CodeKind::Function;
    case FuncKind::EntryTrampoline: return CodeKind::EntryTrampoline;
    case FuncKind::ExitTrampoline: return CodeKind::ExitTrampoline;
    case FuncKind::BuiltinTrampoline: return CodeKind::BuiltinTrampoline;
    case FuncKind::User: break;
  }
  return CodeKind::Other;
}

CodePiece CodeView::piece(std::size_t number) const noexcept {
  const image::FunctionEntry& entry = code_.image().functions()[number];
  CodePiece out;
  out.name = owner_.name(entry.key);
  out.kind = kind_of(entry.key.kind());
  out.index = entry.key.index();
  out.address = code_.base() + entry.offset;
  out.size = entry.size;
  out.code_size = entry.code_size;
  return out;
}

CodeLine CodeView::line_at(std::uint32_t offset, std::uint32_t source) const {
  CodeLine out;
  out.offset = offset;
  if (source == image::AddressEntry::kNone) return out;
  out.module_offset = source;
  if (const wasm::LineTable* table = owner_.lines()) {
    const wasm::SourceLine found = table->find(source);
    out.file = found.file;
    out.line = found.line;
  }
  return out;
}

void CodeView::lines(std::size_t number, std::vector<CodeLine>& out) const noexcept {
  out.clear();
  const image::FunctionEntry& entry = code_.image().functions()[number];
  if (entry.key.kind() != FuncKind::WasmFunction) return;
  const image::AddressMap& map = code_.image().addresses();
  const auto add = [&](image::AddressEntry at) {
    const CodeLine line = line_at(at.offset - entry.offset, at.source);
    if (!out.empty()) {
      const CodeLine& before = out.back();
      // Line 0 is code that the compiler says is of no line: it stays with what is before it.
      if (before.line != 0 &&
          (line.line == 0 || (line.line == before.line && line.file == before.file)))
        return;
    }
    out.push_back(line);
  };
  std::size_t low = 0;
  std::size_t high = map.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (map[middle].offset < entry.offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  // What holds where the piece begins.
  image::AddressEntry first;
  if (map.find(entry.offset, first)) add({entry.offset, first.source});
  for (; low < map.size(); ++low) {
    const image::AddressEntry at = map[low];
    if (at.offset >= entry.offset + entry.code_size) break;
    if (at.offset != entry.offset) add(at);
  }
}

void CodeView::inlined(std::size_t number, std::vector<InlinedCode>& out) const noexcept {
  out.clear();
  const image::FunctionEntry& entry = code_.image().functions()[number];
  const image::InlineTable& table = code_.image().tables().inlining;
  if (table.frame_count() == 0) return;
  const std::uint32_t end = entry.offset + entry.code_size;
  // Frames of a piece in the order of their numbers: parents first.
  std::vector<std::uint32_t> frames;
  for (std::uint32_t i = table.range_at(entry.offset); i < table.range_count(); ++i) {
    if (table.range(i).offset >= end) break;
    for (std::uint32_t at = table.range(i).frame; at != image::kAbsent; at = table.frame(at).parent)
      frames.push_back(at);
  }
  std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  const auto number_of = [&](std::uint32_t frame) {
    if (frame == image::kAbsent) return InlinedCode::kNone;
    const auto at = std::lower_bound(frames.begin(), frames.end(), frame);
    return static_cast<std::uint32_t>(at - frames.begin());
  };
  for (const std::uint32_t frame : frames) {
    const image::InlineFrame from = table.frame(frame);
    InlinedCode& code = out.emplace_back();
    code.name = owner_.name(from.callee);
    code.index = from.callee.index();
    code.parent = number_of(from.parent);
    code.call = line_at(0, from.call_source);
  }
  for (std::uint32_t i = table.range_at(entry.offset); i < table.range_count(); ++i) {
    const image::InlineRange range = table.range(i);
    if (range.offset >= end) break;
    if (range.frame == image::kAbsent) continue;
    const std::uint32_t next = i + 1 < table.range_count() ? table.range(i + 1).offset : end;
    const std::uint32_t begin = std::max(range.offset, entry.offset) - entry.offset;
    out[number_of(range.frame)].ranges.push_back({begin, std::min(next, end) - entry.offset});
  }
}

std::span<const std::uint8_t> CodeView::unwind_info() const noexcept {
  return code_.image().section(image::table_section(image::TableKind::EhFrame));
}

// ---- Telling.

void tell_loaded(const CodeListeners& listeners, const CodeOwner& owner,
                 const jit::LoadedImage& code) {
  if (listeners.empty()) [[likely]]
    return;
  const CodeView view(owner, code);
  for (const auto& listener : listeners) listener->on_load(view);
}

void tell_unloading(const CodeListeners& listeners, const CodeOwner& owner,
                    const jit::LoadedImage& code) {
  if (const auto hook = before_unload.load(std::memory_order_acquire)) [[unlikely]]
    hook();
  if (listeners.empty()) [[likely]]
    return;
  const CodeView view(owner, code);
  for (const auto& listener : listeners) listener->on_unload(view);
}

}  // namespace hoist::runtime
