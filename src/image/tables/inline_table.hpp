// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Inlining chains: which calls were inlined around an instruction, so that backtraces, profiles
/// and debuggers show the frames that the source has. Only functions into which something was
/// inlined have entries.
///
/// Header: ranges, frames. Columns by range: code offset (ascending) from which it holds to the
/// next range, frame (kAbsent: nothing was inlined). Columns by frame: name space and index of the
/// inlined function's FuncKey, frame that it was inlined into (kAbsent: the function itself; else a
/// smaller number), source location of the call there.

#include <optional>

#include "image/tables/columns.hpp"

namespace hoist::image {

class InlineTable {
 public:
  InlineTable() = default;
  /// Nothing if the bytes are no such table.
  static std::optional<InlineTable> open(std::span<const std::uint8_t> bytes);

  /// The frame that the instruction at a text offset belongs to, or kAbsent.
  std::uint32_t frame_at(std::uint32_t offset) const;
  /// `parent` is always smaller than `index`, so that a walk ends also in a damaged table.
  InlineFrame frame(std::uint32_t index) const;
  std::uint32_t frame_count() const { return columns_[2].size(); }
  /// Ranges by offset; `range_at` is the number of that which covers an offset, or of the first
  /// behind it.
  std::uint32_t range_count() const { return columns_[0].size(); }
  std::uint32_t range_at(std::uint32_t offset) const {
    const std::uint32_t at = columns_[0].last_at_or_before(offset);
    return at == kAbsent ? 0 : at;
  }
  InlineRange range(std::uint32_t index) const {
    const std::uint32_t frame = columns_[1][index];
    return {columns_[0][index], frame < frame_count() ? frame : kAbsent};
  }

 private:
  Column columns_[6];
};

class InlineTableWriter {
 public:
  void add(std::uint32_t text_offset, std::uint32_t size, const FunctionTables& tables);
  std::vector<std::uint8_t> finish() const;

 private:
  std::vector<std::uint32_t> offsets_, frames_;
  std::vector<std::uint32_t> spaces_, indices_, parents_, sources_;
};

}  // namespace hoist::image
