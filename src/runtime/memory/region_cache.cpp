// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/region_cache.hpp"

#include <utility>

#include "platform/memory_file.hpp"

namespace hoist::runtime {

std::optional<RegionCache::Item> RegionCache::take() {
  if (busy_.test_and_set(std::memory_order_acquire)) return std::nullopt;
  std::optional<Item> out;
  if (count_ != 0) out = std::move(items_[--count_]);
  busy_.clear(std::memory_order_release);
  return out;
}

void RegionCache::give(platform::PageRegion region, std::uint64_t accessible) {
  if (accessible > kMostAccessible || !platform::discard_pages(region.base(), accessible)) return;
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  if (count_ < kMost) items_[count_++] = {std::move(region), accessible};
  busy_.clear(std::memory_order_release);
}

}  // namespace hoist::runtime
