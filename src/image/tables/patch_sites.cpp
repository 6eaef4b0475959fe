// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See patch_sites.hpp.
#include "image/tables/patch_sites.hpp"

namespace hoist::image {

std::optional<PatchSites> PatchSites::open(std::span<const std::uint8_t> bytes) {
  PatchSites out;
  std::uint32_t counts[1];
  constexpr std::uint8_t kLengths[] = {0, 0};
  if (!open_columns(bytes, counts, kLengths, out.columns_)) return std::nullopt;
  return out;
}

void PatchSiteWriter::add(std::uint32_t text_offset, const FunctionTables& tables) {
  for (const PatchSite& site : tables.patch_sites) {
    returns_.push_back(text_offset + site.return_offset);
    lengths_.push_back(site.length);
  }
}

std::vector<std::uint8_t> PatchSiteWriter::finish() const {
  std::vector<std::uint8_t> out;
  if (returns_.empty()) return out;
  write_columns(out, {static_cast<std::uint32_t>(returns_.size())}, {&returns_, &lengths_});
  return out;
}

}  // namespace hoist::image
