// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See stack_maps.hpp.
#include "image/tables/stack_maps.hpp"

namespace hoist::image {

std::optional<StackMaps> StackMaps::open(std::span<const std::uint8_t> bytes) {
  StackMaps out;
  std::uint32_t counts[2];
  constexpr std::uint8_t kLengths[] = {0, 0, 0, 1, 1};
  if (!open_columns(bytes, counts, kLengths, out.columns_)) return std::nullopt;
  return out;
}

std::optional<StackMaps::Point> StackMaps::find(std::uint32_t return_offset) const {
  const std::uint32_t at = columns_[0].find(return_offset);
  if (at == kAbsent) return std::nullopt;
  return Point{columns_[1][at], range_of(columns_[2], at, columns_[3].size())};
}

void StackMapWriter::add(std::uint32_t text_offset, const FunctionTables& tables) {
  const auto base = static_cast<std::uint32_t>(offsets_.size());
  for (const SafePoint& point : tables.safe_points) {
    returns_.push_back(text_offset + point.return_offset);
    frames_.push_back(point.frame_bytes);
    ends_.push_back(base + point.slot_end);
  }
  for (const StackMapSlot& slot : tables.stack_map) {
    offsets_.push_back(slot.sp_offset);
    bytes_.push_back(slot.bytes);
  }
}

std::vector<std::uint8_t> StackMapWriter::finish() const {
  std::vector<std::uint8_t> out;
  if (returns_.empty()) return out;
  write_columns(
      out,
      {static_cast<std::uint32_t>(returns_.size()), static_cast<std::uint32_t>(offsets_.size())},
      {&returns_, &frames_, &ends_, &offsets_, &bytes_});
  return out;
}

}  // namespace hoist::image
