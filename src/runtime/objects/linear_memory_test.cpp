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

}  // namespace
}  // namespace hoist::runtime
