// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/code_events.hpp"

#include <algorithm>

#include "image/inlined_frames.hpp"
#include "jit/loaded_image.hpp"

namespace hoist::jit {

constinit std::atomic<void (*)()> before_unload{nullptr};

CodeOwner::CodeOwner(const void* layer) : layer_(layer) {
  static constinit std::atomic<std::uint64_t> last{0};
  id_ = last.fetch_add(1, std::memory_order_relaxed) + 1;
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

CodePiece CodeView::piece(std::size_t number) const noexcept {
  const image::FunctionEntry& entry = code_.image().functions()[number];
  CodePiece out;
  out.name = owner_.name(entry.key);
  out.kind = owner_.kind(entry.key);
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
  const CodeOwner::Place place = owner_.place(source);
  out.module_offset = place.module_offset;
  out.file = place.file;
  out.line = place.line;
  return out;
}

void CodeView::lines(std::size_t number, std::vector<CodeLine>& out) const noexcept {
  out.clear();
  const image::FunctionEntry& entry = code_.image().functions()[number];
  if (owner_.kind(entry.key) != CodeKind::Function) return;
  const image::AddressMap& map = code_.image().addresses();
  map.for_range(entry.offset, entry.offset + entry.code_size, [&](image::AddressEntry at) {
    // Of what is before.
    if (at.offset < entry.offset) return;
    const CodeLine line = line_at(at.offset - entry.offset, at.source);
    if (!out.empty()) {
      const CodeLine& before = out.back();
      // Line 0 is code that the compiler says is of no line: it stays with what is before it.
      if (before.line != 0 &&
          (line.line == 0 || (line.line == before.line && line.file == before.file)))
        return;
    } else if (at.source == image::AddressEntry::kNone) {
      return;
    }
    out.push_back(line);
  });
  if (out.empty() || out[0].offset == 0) return;
  // The prologue, and other code of no place, is where the first that has one is; if that is
  // inlined, where it was called.
  const std::uint32_t first = entry.offset + out[0].offset;
  if (code_.image().tables().inlining.frame_at(first) != image::kAbsent)
    out.insert(out.begin(), line_at(0, image::own_source_at(code_.image(), first)));
  out[0].offset = 0;
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

void tell_loaded(const CodeListeners& listeners, const CodeOwner& owner, const LoadedImage& code) {
  if (listeners.empty()) [[likely]]
    return;
  const CodeView view(owner, code);
  for (const auto& listener : listeners) listener->on_load(view);
}

void tell_unloading(const CodeListeners& listeners, const CodeOwner& owner,
                    const LoadedImage& code) {
  if (const auto hook = before_unload.load(std::memory_order_acquire)) [[unlikely]]
    hook();
  if (listeners.empty()) [[likely]]
    return;
  const CodeView view(owner, code);
  for (const auto& listener : listeners) listener->on_unload(view);
}

}  // namespace hoist::jit
