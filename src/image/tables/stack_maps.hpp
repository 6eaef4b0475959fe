// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Stack maps: where references lie in the frame while a call is under way.
///
/// Header: safe points, slots. Columns by safe point: return offset (ascending), frame pointer
/// minus stack pointer, exclusive end of its slots. Columns by slot: distance above the stack
/// pointer, bytes.

#include <optional>

#include "image/tables/columns.hpp"

namespace hoist::image {

class StackMaps {
 public:
  struct Point {
    std::uint32_t frame_bytes = 0;
    EntryRange slots;
  };

  StackMaps() = default;
  /// Nothing if the bytes are no such table.
  static std::optional<StackMaps> open(std::span<const std::uint8_t> bytes);

  std::optional<Point> find(std::uint32_t return_offset) const;
  StackMapSlot slot(std::uint32_t index) const { return {columns_[3][index], columns_[4][index]}; }
  std::uint32_t point_count() const { return columns_[0].size(); }

 private:
  Column columns_[5];
};

class StackMapWriter {
 public:
  void add(std::uint32_t text_offset, const FunctionTables& tables);
  std::vector<std::uint8_t> finish() const;

 private:
  std::vector<std::uint32_t> returns_, frames_, ends_, offsets_, bytes_;
};

}  // namespace hoist::image
