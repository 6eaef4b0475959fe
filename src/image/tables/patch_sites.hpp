// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Patchable calls: each is one call instruction of fixed length that may be overwritten by
/// no-operations and put back.
///
/// Header: sites. Columns: return offset (ascending), length in bytes.

#include <optional>

#include "image/tables/columns.hpp"

namespace hoist::image {

class PatchSites {
 public:
  PatchSites() = default;
  /// Nothing if the bytes are no such table.
  static std::optional<PatchSites> open(std::span<const std::uint8_t> bytes);

  std::uint32_t size() const { return columns_[0].size(); }
  PatchSite site(std::uint32_t index) const { return {columns_[0][index], columns_[1][index]}; }
  /// The first site that returns to `offset` or behind it; `size()` if there is none.
  std::uint32_t first_from(std::uint32_t offset) const { return columns_[0].lower_bound(offset); }

 private:
  Column columns_[2];
};

class PatchSiteWriter {
 public:
  void add(std::uint32_t text_offset, const FunctionTables& tables);
  std::vector<std::uint8_t> finish() const;

 private:
  std::vector<std::uint32_t> returns_, lengths_;
};

}  // namespace hoist::image
