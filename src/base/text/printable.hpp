// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Text from a guest made harmless for a terminal and a log line.

#include <cstddef>
#include <string>
#include <string_view>

namespace hoist::base {

/// What is longer is cut in messages.
inline constexpr std::size_t kMaxPrinted = 4096;

/// `text` on one line: control characters (C0, DEL, C1), line separators, direction overrides,
/// spaces without width and bytes that are not UTF-8 appear as \xNN or \u{N}; beyond `max_bytes` of
/// input it is cut and ends in "...". Source: Unicode 15, chapter 23.1 "Control Codes", UAX 9
/// section 2.
std::string printable(std::string_view text, std::size_t max_bytes = kMaxPrinted);

}  // namespace hoist::base
