// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// All tables of tables.def: written together, and as the bytes of their sections.

#include <array>
#include <string_view>

#include "image/tables/debug_points.hpp"
#include "image/tables/eh_frame.hpp"
#include "image/tables/exception_table.hpp"
#include "image/tables/inline_table.hpp"
#include "image/tables/patch_sites.hpp"
#include "image/tables/stack_maps.hpp"

namespace hoist::image {

enum class TableKind : std::uint8_t {
#define HOIST_IMAGE_TABLE(Id, section, meaning) Id,
#include "image/tables/tables.def"
};
inline constexpr std::size_t kTableCount = static_cast<std::size_t>(TableKind::EhFrame) + 1;

/// The name of the section that holds a table.
std::string_view table_section(TableKind kind);

/// The bytes of each table, by TableKind; empty where the image has nothing of the kind. The frames
/// (EhFrame) are not placed; see eh_frame.hpp.
using TableBytes = std::array<std::vector<std::uint8_t>, kTableCount>;

/// Collects functions in the order of the text.
class TableSetWriter {
 public:
  /// For every function; `code_size` without constants.
  void add_unwind(std::uint32_t text_offset, std::uint32_t code_size,
                  std::span<const UnwindOp> ops) {
    eh_frame_.add(text_offset, code_size, ops);
  }
  /// The other tables of a function that has any; `size` with its constants.
  void add(std::uint32_t text_offset, std::uint32_t size, const FunctionTables& tables);
  TableBytes finish();

 private:
  ExceptionTableWriter exceptions_;
  StackMapWriter stack_maps_;
  PatchSiteWriter patch_sites_;
  DebugPointWriter debug_points_;
  InlineTableWriter inlining_;
  EhFrameWriter eh_frame_;
};

/// The readable tables of an image, opened over the bytes of their sections.
struct TableViews {
  ExceptionTable exceptions;
  StackMaps stack_maps;
  PatchSites patch_sites;
  DebugPoints debug_points;
  InlineTable inlining;

  /// `bytes(kind)` gives a section's bytes. False: one of them is malformed (and then empty).
  template <typename Bytes>
  bool open(Bytes&& bytes) {
    bool good = true;
    const auto take = [&good](auto& table, auto opened) {
      good = good && opened.has_value();
      if (opened.has_value()) table = *opened;
    };
    take(exceptions, ExceptionTable::open(bytes(TableKind::Exceptions)));
    take(stack_maps, StackMaps::open(bytes(TableKind::StackMaps)));
    take(patch_sites, PatchSites::open(bytes(TableKind::PatchSites)));
    take(debug_points, DebugPoints::open(bytes(TableKind::DebugPoints)));
    take(inlining, InlineTable::open(bytes(TableKind::Inlining)));
    return good;
  }
};

}  // namespace hoist::image
