// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See inline_table.hpp.
#include "image/tables/inline_table.hpp"

namespace hoist::image {

std::optional<InlineTable> InlineTable::open(std::span<const std::uint8_t> bytes) {
  InlineTable out;
  std::uint32_t counts[2];
  constexpr std::uint8_t kLengths[] = {0, 0, 1, 1, 1, 1};
  if (!open_columns(bytes, counts, kLengths, out.columns_)) return std::nullopt;
  return out;
}

std::uint32_t InlineTable::frame_at(std::uint32_t offset) const {
  const std::uint32_t at = columns_[0].last_at_or_before(offset);
  if (at == kAbsent) return kAbsent;
  const std::uint32_t frame = columns_[1][at];
  return frame < frame_count() ? frame : kAbsent;
}

InlineFrame InlineTable::frame(std::uint32_t index) const {
  InlineFrame out;
  out.callee = FuncKey::from_name(columns_[2][index], columns_[3][index]);
  const std::uint32_t parent = columns_[4][index];
  out.parent = parent < index ? parent : kAbsent;
  out.call_source = columns_[5][index];
  return out;
}

void InlineTableWriter::add(std::uint32_t text_offset, std::uint32_t size,
                            const FunctionTables& tables) {
  if (tables.inline_frames.empty()) return;
  const auto base = static_cast<std::uint32_t>(spaces_.size());
  for (const InlineFrame& frame : tables.inline_frames) {
    spaces_.push_back(frame.callee.name_space());
    indices_.push_back(frame.callee.index());
    parents_.push_back(frame.parent == kAbsent ? kAbsent : base + frame.parent);
    sources_.push_back(frame.call_source);
  }
  for (const InlineRange& range : tables.inline_ranges) {
    offsets_.push_back(text_offset + range.offset);
    frames_.push_back(range.frame == kAbsent ? kAbsent : base + range.frame);
  }
  // The next function starts with nothing inlined.
  if (frames_.empty() || frames_.back() == kAbsent) return;
  offsets_.push_back(text_offset + size);
  frames_.push_back(kAbsent);
}

std::vector<std::uint8_t> InlineTableWriter::finish() const {
  std::vector<std::uint8_t> out;
  if (offsets_.empty()) return out;
  write_columns(
      out,
      {static_cast<std::uint32_t>(offsets_.size()), static_cast<std::uint32_t>(spaces_.size())},
      {&offsets_, &frames_, &spaces_, &indices_, &parents_, &sources_});
  return out;
}

}  // namespace hoist::image
