// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/objects/linear_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace hoist::runtime {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOIST_TEST_LIMITS_ADDRESSES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOIST_TEST_LIMITS_ADDRESSES 0
#endif
#endif
#ifndef HOIST_TEST_LIMITS_ADDRESSES
#define HOIST_TEST_LIMITS_ADDRESSES 1
#endif

/// Grows a memory page by page under a limit on address space. How often it moved; -1: an error.
int moves_until_full(std::uint64_t room) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto most =
      static_cast<rlim_t>(pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + room);
  const rlimit limit{most, most};
  wasm::MemoryType type;
  type.limits.min = 1;
  if (pages == 0 || ::setrlimit(RLIMIT_AS, &limit) != 0) return -1;
  auto memory = LinearMemory::create(type, ~std::uint64_t{0}, nullptr, nullptr, true);
  if (!memory) return -1;
  int moves = 0;
  const std::uint8_t* base = (*memory)->base();
  (*memory)->base()[5] = 7;
  while ((*memory)->grow(1)) {
    if ((*memory)->base() != base) ++moves;
    base = (*memory)->base();
  }
  const bool is_intact = base[5] == 7 && (*memory)->bytes() > room / 3;
  return is_intact ? moves : -1;
}

TEST(LinearMemory, GrowsWithFewMovesWhereAddressSpaceIsScarce) {
  if (!HOIST_TEST_LIMITS_ADDRESSES) GTEST_SKIP() << "sanitizers need address space";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(moves_until_full(std::uint64_t{80} << 20) & 0xff);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_LE(WEXITSTATUS(status), 40);
}

std::unique_ptr<LinearMemory> make(const wasm::MemoryType& type, bool explicit_bounds = false) {
  auto made = LinearMemory::create(type, ~std::uint64_t{0}, nullptr, nullptr, explicit_bounds);
  if (!made) ADD_FAILURE() << made.error().message();
  return made ? *std::move(made) : nullptr;
}

wasm::MemoryType type_of(std::uint64_t min, std::uint64_t max, bool is64, bool shared,
                         std::uint8_t page_size_log2) {
  return {{min, max, max != 0}, is64, shared, page_size_log2};
}

TEST(LinearMemory, GrowsInPagesOfAnySize) {
  for (const bool is64 : {false, true}) {
    const auto memory = make(type_of(5, 0, is64, false, 0));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(memory->bytes(), 5U);
    memory->base()[4] = 9;
    for (std::uint64_t size = 5; size < 20'000; size += 1733) {
      const auto old = memory->grow(1733);
      ASSERT_TRUE(old);
      EXPECT_EQ(*old, size);
      EXPECT_EQ(memory->pages(), size + 1733);
      EXPECT_EQ(memory->base()[size + 1732], 0);
      memory->base()[size + 1732] = 1;
    }
    EXPECT_EQ(memory->base()[4], 9);
    EXPECT_TRUE(memory->in_bounds(memory->bytes() - 1, 1));
    EXPECT_FALSE(memory->in_bounds(memory->bytes() - 1, 2));
    EXPECT_FALSE(memory->in_bounds(~std::uint64_t{0}, 2));
    EXPECT_FALSE(memory->grow(~std::uint64_t{0}));
    EXPECT_FALSE(memory->grow(std::uint64_t{1} << 48));
  }
}

TEST(LinearMemory, MovesWithoutTouchingWhatTheGuestNeverTouched) {
  const auto memory = make(type_of(0, 0, true, false, 16));
  ASSERT_NE(memory, nullptr);
  std::uint64_t moves = 0;
  const std::uint8_t* base = memory->base();
  // 64 GiB, which would not fit the machine if they were copied.
  for (std::uint64_t pages = 1; pages <= std::uint64_t{1} << 20; pages *= 4) {
    ASSERT_TRUE(memory->grow(pages - memory->pages()));
    if (memory->base() != base) ++moves;
    base = memory->base();
    memory->base()[memory->bytes() - 1] = 3;
    memory->base()[memory->bytes() / 2] = 4;
    for (std::uint64_t old = 4; old <= pages; old *= 4) {
      ASSERT_EQ(memory->base()[(old << 16) - 1], 3);
      ASSERT_EQ(memory->base()[old << 15], 4);
    }
  }
  EXPECT_GE(moves, 5U);
  std::uint64_t resident = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> resident >> resident;
  EXPECT_LT(resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)), std::uint64_t{1} << 30);
}

TEST(LinearMemory, DoesNotGrowToASizeThatReadsAsARefusal) {
  const auto memory = make(type_of(0xffff'fffe, 0xffff'ffff, false, true, 0));
  ASSERT_NE(memory, nullptr);
  EXPECT_FALSE(memory->grow(1));
  const auto old = memory->grow(0);
  ASSERT_TRUE(old);
  EXPECT_EQ(*old, 0xffff'fffeU);
}

TEST(LinearMemory, SharedMemoriesStayWhereTheyAre) {
  for (const bool is64 : {false, true}) {
    for (const bool explicit_bounds : {false, true}) {
      const auto memory = make(type_of(0, 300, is64, true, 16), explicit_bounds);
      ASSERT_NE(memory, nullptr);
      ASSERT_NE(memory->waits(), nullptr);
      const std::uint8_t* base = memory->base();
      while (memory->grow(1)) memory->base()[memory->bytes() - 1] = 1;
      EXPECT_EQ(memory->base(), base);
      EXPECT_EQ(memory->pages(), 300U);
    }
  }
}

TEST(LinearMemory, RefusesWhatNoMemoryCanBe) {
  const auto kind_of = [](const wasm::MemoryType& type) {
    const auto made = LinearMemory::create(type, ~std::uint64_t{0});
    return made ? ErrorKind::Internal : made.error().kind();
  };
  EXPECT_EQ(kind_of(type_of(65'537, 0, false, false, 16)), ErrorKind::BadArgument);
  EXPECT_EQ(kind_of(type_of(std::uint64_t{1} << 32, 0, false, false, 0)), ErrorKind::BadArgument);
  EXPECT_EQ(kind_of(type_of((std::uint64_t{1} << 48) + 1, 0, true, false, 16)),
            ErrorKind::BadArgument);
  EXPECT_EQ(kind_of(type_of(std::uint64_t{1} << 48, 0, true, false, 16)), ErrorKind::Limit);
  EXPECT_EQ(kind_of(type_of(~std::uint64_t{0}, 0, true, false, 0)), ErrorKind::Limit);
  EXPECT_EQ(kind_of(type_of(1, 0, false, true, 16)), ErrorKind::BadArgument);
  EXPECT_EQ(kind_of(type_of(1, 0, false, false, 17)), ErrorKind::BadArgument);
  EXPECT_EQ(kind_of(type_of(2, 1, false, false, 16)), ErrorKind::BadArgument);
}

}  // namespace
}  // namespace hoist::runtime
