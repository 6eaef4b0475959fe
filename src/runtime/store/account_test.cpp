// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/store/account.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace hoist::runtime {
namespace {

using What = Account::What;
constexpr std::uint64_t kPage = 65536;

std::unique_ptr<LinearMemory> shared_memory(std::uint64_t minimum, std::uint64_t maximum) {
  wasm::MemoryType type;
  type.shared = true;
  type.limits.min = minimum;
  type.limits.max = maximum;
  type.limits.has_max = true;
  auto made = LinearMemory::create(type, ~std::uint64_t{0});
  return made ? *std::move(made) : nullptr;
}

TEST(Account, TakesUpToTheLimit) {
  Account account;
  EXPECT_TRUE(account.take(What::MemoryBytes, 10, 10));
  EXPECT_FALSE(account.take(What::MemoryBytes, 1, 10));
  EXPECT_TRUE(account.take(What::MemoryBytes, 0, 10));
  EXPECT_TRUE(account.take(What::TableElements, 10, 10));
  EXPECT_FALSE(account.take(What::MemoryBytes, ~std::uint64_t{0}, ~std::uint64_t{0}));
  account.give(What::MemoryBytes, 4);
  EXPECT_EQ(account.total(What::MemoryBytes), 6U);
  EXPECT_TRUE(account.take(What::MemoryBytes, 4, 10));
  EXPECT_EQ(account.total(What::TableElements), 10U);
}

TEST(Account, CountsSharedMemoriesOnce) {
  Account account;
  const auto memory = shared_memory(2, 10);
  ASSERT_NE(memory, nullptr);
  EXPECT_FALSE(account.add_shared(*memory, 2 * kPage - 1));
  EXPECT_TRUE(account.add_shared(*memory, 2 * kPage));
  EXPECT_TRUE(account.add_shared(*memory, 0));  // known already
  EXPECT_EQ(account.total(What::MemoryBytes), 2 * kPage);
  // Grown by somebody else.
  ASSERT_TRUE(memory->grow(3));
  EXPECT_EQ(account.total(What::MemoryBytes), 5 * kPage);
  EXPECT_FALSE(account.grow_shared(*memory, 2, 6 * kPage));
  const auto grown = account.grow_shared(*memory, 1, 6 * kPage);
  ASSERT_TRUE(grown && *grown);
  EXPECT_EQ(**grown, 5U);
  const auto beyond = account.grow_shared(*memory, 5, ~std::uint64_t{0});
  ASSERT_TRUE(beyond);
  EXPECT_FALSE(*beyond);
  account.drop_shared(*memory);
  EXPECT_EQ(account.total(What::MemoryBytes), 6 * kPage);
  account.drop_shared(*memory);
  EXPECT_EQ(account.total(What::MemoryBytes), 0U);
}

TEST(Account, IsExactAmongThreads) {
  Account account;
  std::atomic<std::uint64_t> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        if (account.take(What::MemoryBytes, 7, 70'000)) taken += 7;
        EXPECT_LE(account.total(What::MemoryBytes), 70'000U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 70'000U);
}

}  // namespace
}  // namespace hoist::runtime
