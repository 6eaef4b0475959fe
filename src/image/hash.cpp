// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define XXH_INLINE_ALL
#include "image/hash.hpp"

#include <xxhash.h>

namespace hoist::image {

Hash128 hash(std::span<const std::span<const std::uint8_t>> pieces) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const std::span<const std::uint8_t> piece : pieces) {
    XXH3_128bits_update(&state, piece.data(), piece.size());
  }
  const XXH128_hash_t value = XXH3_128bits_digest(&state);
  return {value.low64, value.high64};
}

Hash128 hash(std::span<const std::uint8_t> bytes) {
  const XXH128_hash_t value = XXH3_128bits(bytes.data(), bytes.size());
  return {value.low64, value.high64};
}

}  // namespace hoist::image
