// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What an image and the Hoist that runs it have to have in common.

#include <cstdint>
#include <string_view>

namespace hoist::image {

struct LayoutHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const LayoutHash&, const LayoutHash&) = default;
};

/// Of everything that compiler and runtime must agree on: VM structures, builtins, trap codes,
/// formats of tables. Computed by the build from the files that say it, so that no change of them
/// can be forgotten.
LayoutHash layout_hash();

/// "0.1.0"
std::string_view version_text();

}  // namespace hoist::image
