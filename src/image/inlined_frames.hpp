// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The frames that the source has at an instruction: those of inlined calls, innermost first, then
/// that of the function itself.

#include <cstdint>

#include "image/image.hpp"

namespace hoist::image {

/// Calls visit(FuncKey function, std::uint32_t source) for each; `source` is where that function is
/// (kAbsent: not known). Nothing if `offset` is in no function. For a return address, ask at the
/// byte before it.
template <typename Visit>
void for_each_source_frame(const Image& image, std::uint32_t offset, Visit&& visit) {
  const FunctionEntry* function = image.find_function(offset);
  if (function == nullptr) return;
  std::uint32_t source = image.source_at(offset);
  const InlineTable& table = image.tables().inlining;
  for (std::uint32_t at = table.frame_at(offset); at != kAbsent;) {
    const InlineFrame frame = table.frame(at);
    visit(frame.callee, source);
    source = frame.call_source;
    at = frame.parent;
  }
  visit(function->key, source);
}

/// Where the function itself is at that instruction, whatever is inlined there.
inline std::uint32_t own_source_at(const Image& image, std::uint32_t offset) {
  std::uint32_t source = kAbsent;
  for_each_source_frame(image, offset, [&](FuncKey, std::uint32_t at) { source = at; });
  return source;
}

}  // namespace hoist::image
