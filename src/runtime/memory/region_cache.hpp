// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// RegionCache: a few reservations of memories that have ended, for those that begin next. Saves
/// stores without a pool most system calls and the kernel's page tables; holds address space only,
/// no memory. Any thread; never waits, so that a fork at any moment is harmless.

#include <atomic>
#include <cstdint>
#include <optional>

#include "platform/pages.hpp"

namespace hoist::runtime {

class RegionCache {
 public:
  /// Of regions as large as a memory that never moves; all of them are as long.
  struct Item {
    platform::PageRegion region;
    std::uint64_t accessible = 0;  ///< the first bytes; they are zeros
  };

  /// Empty: there is none, or another thread is here.
  std::optional<Item> take();
  /// Clears and keeps the region, or gives it back to the system. It holds anonymous pages only.
  void give(platform::PageRegion region, std::uint64_t accessible);

 private:
  static constexpr std::uint32_t kMost = 4;
  /// To clear more takes as long as what is saved.
  static constexpr std::uint64_t kMostAccessible = std::uint64_t{1} << 20;

  std::atomic_flag busy_;
  std::uint32_t count_ = 0;
  Item items_[kMost];
};

}  // namespace hoist::runtime
