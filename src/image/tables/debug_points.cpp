// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See debug_points.hpp.
#include "image/tables/debug_points.hpp"

namespace hoist::image {

std::optional<DebugPoints> DebugPoints::open(std::span<const std::uint8_t> bytes) {
  DebugPoints out;
  std::uint32_t counts[3];
  constexpr std::uint8_t kLengths[] = {0, 0, 1, 1, 2, 2, 2, 2, 2, 2};
  if (!open_columns(bytes, counts, kLengths, out.columns_)) return std::nullopt;
  return out;
}

DebugPoints::Point DebugPoints::point(std::uint32_t index) const {
  const std::uint32_t key = columns_[0][index];
  return {key >> 1, (key & 1) != 0, range_of(columns_[1], index, columns_[2].size())};
}

std::optional<DebugPoints::Point> DebugPoints::find(std::uint32_t offset, bool before) const {
  const std::uint32_t key = offset << 1 | (before ? 1u : 0u);
  const std::uint32_t at = columns_[0].last_at_or_before(key);
  if (at == kAbsent || columns_[0][at] != key) return std::nullopt;
  return point(at);
}

DebugSlot DebugPoints::slot(std::uint32_t index) const {
  DebugSlot out;
  out.key = std::uint64_t{columns_[6][index]} << 32 | columns_[5][index];
  out.has_key = columns_[7][index] == 1;
  out.below_fp = columns_[8][index];
  out.bytes = columns_[9][index];
  return out;
}

EntryRange DebugPoints::slots_of(std::uint32_t text_offset) const {
  return {columns_[4].lower_bound(text_offset), columns_[4].lower_bound(text_offset + 1)};
}

void DebugPointWriter::add(std::uint32_t text_offset, const FunctionTables& tables) {
  const auto first_tag = static_cast<std::uint32_t>(kinds_.size());
  const auto first_slot = static_cast<std::uint32_t>(functions_.size());
  for (const DebugPoint& point : tables.points) {
    keys_.push_back((text_offset + point.offset) << 1 | (point.before ? 1u : 0u));
    ends_.push_back(first_tag + point.tag_end);
  }
  for (const DebugTag& tag : tables.tags) {
    kinds_.push_back(tag.is_slot ? 1 : 0);
    values_.push_back(tag.is_slot ? first_slot + tag.value : tag.value);
  }
  for (const DebugSlot& slot : tables.slots) {
    functions_.push_back(text_offset);
    lows_.push_back(static_cast<std::uint32_t>(slot.key));
    highs_.push_back(static_cast<std::uint32_t>(slot.key >> 32));
    keyed_.push_back(slot.has_key ? 1 : 0);
    distances_.push_back(slot.below_fp);
    bytes_.push_back(slot.bytes);
  }
}

std::vector<std::uint8_t> DebugPointWriter::finish() const {
  std::vector<std::uint8_t> out;
  if (keys_.empty() && functions_.empty()) return out;
  write_columns(
      out,
      {static_cast<std::uint32_t>(keys_.size()), static_cast<std::uint32_t>(kinds_.size()),
       static_cast<std::uint32_t>(functions_.size())},
      {&keys_, &ends_, &kinds_, &values_, &functions_, &lows_, &highs_, &keyed_, &distances_,
       &bytes_});
  return out;
}

}  // namespace hoist::image
