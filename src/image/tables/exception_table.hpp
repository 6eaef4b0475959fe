// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Call sites with exception handlers: what the unwinder needs to leave a frame through a handler.
///
/// Header: call sites, handlers. Columns by call site: return offset (ascending), frame pointer
/// minus stack pointer, exclusive end of its handlers. Columns by handler, in the order in which
/// they are tried: tag, distance of its dynamic context above the stack pointer (kAbsent: none),
/// offset of its landing pad, with bit 31 set if it catches everything whatever the tag. Call sites
/// without handlers are not listed.

#include <optional>

#include "image/tables/columns.hpp"

namespace hoist::image {

class ExceptionTable {
 public:
  /// A call site that was found.
  struct Site {
    std::uint32_t frame_bytes = 0;
    EntryRange handlers;
  };

  ExceptionTable() = default;
  /// Nothing if the bytes are no such table.
  static std::optional<ExceptionTable> open(std::span<const std::uint8_t> bytes);

  std::optional<Site> find(std::uint32_t return_offset) const;
  HandlerEntry handler(std::uint32_t index) const;
  std::uint32_t site_count() const { return columns_[0].size(); }
  std::uint32_t return_offset(std::uint32_t site) const { return columns_[0][site]; }
  Site site(std::uint32_t index) const {
    return {columns_[1][index], range_of(columns_[2], index, columns_[3].size())};
  }

 private:
  Column columns_[6];
};

class ExceptionTableWriter {
 public:
  void add(std::uint32_t text_offset, const FunctionTables& tables);
  /// The table; empty if there is no entry.
  std::vector<std::uint8_t> finish() const;

 private:
  std::vector<std::uint32_t> returns_, frames_, ends_, tags_, contexts_, landings_;
};

}  // namespace hoist::image
