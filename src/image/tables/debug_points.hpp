// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Debug tags with their code offsets, and the stack slots that tags or keys name.
///
/// Header: points, tags, slots. Columns by point: twice its code offset, plus one for a point
/// before its instruction (ascending; a point of a call is at its return address), exclusive end of
/// its tags. Columns by tag: 1 for a slot, 0 for a number of the user; the number (of a slot: in
/// the slots' columns). Columns by slot: offset of its function in the text (ascending), lower and
/// upper half of its key, 1 if it has a key, frame pointer minus its address, bytes.

#include <optional>

#include "image/tables/columns.hpp"

namespace hoist::image {

class DebugPoints {
 public:
  DebugPoints() = default;
  /// Nothing if the bytes are no such table.
  static std::optional<DebugPoints> open(std::span<const std::uint8_t> bytes);

  struct Point {
    std::uint32_t offset = 0;
    bool before = false;
    EntryRange tags;
  };
  std::uint32_t size() const { return columns_[0].size(); }
  Point point(std::uint32_t index) const;
  /// The tags at a return address or, with `before`, of the sequence point at an instruction (the
  /// last of several).
  std::optional<Point> find(std::uint32_t offset, bool before) const;
  DebugTag tag(std::uint32_t index) const { return {columns_[2][index] == 1, columns_[3][index]}; }
  DebugSlot slot(std::uint32_t index) const;
  std::uint32_t slot_count() const { return columns_[4].size(); }
  /// The slots of the function at `text_offset`.
  EntryRange slots_of(std::uint32_t text_offset) const;

 private:
  Column columns_[10];
};

class DebugPointWriter {
 public:
  void add(std::uint32_t text_offset, const FunctionTables& tables);
  std::vector<std::uint8_t> finish() const;

 private:
  std::vector<std::uint32_t> keys_, ends_, kinds_, values_;
  std::vector<std::uint32_t> functions_, lows_, highs_, keyed_, distances_, bytes_;
};

}  // namespace hoist::image
