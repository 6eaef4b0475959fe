// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// 128-bit hash (XXH3) of bytes: against damage and for names, not against an adversary.

#include <cstdint>
#include <span>

namespace hoist::image {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// Of the concatenation of the pieces.
Hash128 hash(std::span<const std::span<const std::uint8_t>> pieces);
Hash128 hash(std::span<const std::uint8_t> bytes);

}  // namespace hoist::image
