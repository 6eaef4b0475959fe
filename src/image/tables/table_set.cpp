// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See table_set.hpp.
#include "image/tables/table_set.hpp"

namespace hoist::image {

std::string_view table_section(TableKind kind) {
  constexpr std::string_view kNames[] = {
#define HOIST_IMAGE_TABLE(Id, section, meaning) section,
#include "image/tables/tables.def"
  };
  return kNames[static_cast<std::size_t>(kind)];
}

void TableSetWriter::add(std::uint32_t text_offset, std::uint32_t size,
                         const FunctionTables& tables) {
  exceptions_.add(text_offset, tables);
  stack_maps_.add(text_offset, tables);
  patch_sites_.add(text_offset, tables);
  debug_points_.add(text_offset, tables);
  inlining_.add(text_offset, size, tables);
}

TableBytes TableSetWriter::finish() {
  TableBytes out;
  const auto put = [&out](TableKind kind, std::vector<std::uint8_t> bytes) {
    out[static_cast<std::size_t>(kind)] = std::move(bytes);
  };
  put(TableKind::Exceptions, exceptions_.finish());
  put(TableKind::StackMaps, stack_maps_.finish());
  put(TableKind::PatchSites, patch_sites_.finish());
  put(TableKind::DebugPoints, debug_points_.finish());
  put(TableKind::Inlining, inlining_.finish());
  put(TableKind::EhFrame, eh_frame_.finish());
  return out;
}

}  // namespace hoist::image
