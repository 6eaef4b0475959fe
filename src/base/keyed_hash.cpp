// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/keyed_hash.hpp"

#include <mutex>
#include <random>

namespace hoist::base::detail {

constinit HashKey hash_key = {};
constinit std::atomic<bool> has_hash_key{false};

void make_hash_key() {
  static constinit std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  if (has_hash_key.load(std::memory_order_relaxed)) return;
  std::random_device random;
  for (std::uint64_t& word : hash_key.words) {
    const std::uint64_t high = random();
    word = high << 32 | random();
  }
  has_hash_key.store(true, std::memory_order_release);
}

}  // namespace hoist::base::detail
