// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments that no honest guest passes: pointers at and beyond the end of memory, overlapping
// buffers, huge counts. The functions come from the table, so that a new one is tested too.
#include <sys/socket.h>

#include <cerrno>

#include "wasi/p1/test_support.hpp"

namespace hoist::wasi {
namespace {

using Hostile = WasiTest;

TEST_P(Hostile, PointersOutsideOfMemoryAreFaults) {
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = out();
  EXPECT_EQ(call("fd_read", {fd, 65532, 1, 0}), Errno::Fault);
  EXPECT_EQ(call("fd_read", {fd, 0, 0x2000'0000, 0}), Errno::Fault);
  slice(65530, 100);
  EXPECT_EQ(call("fd_read", {fd, 256, 1, 300}), Errno::Fault);
  EXPECT_EQ(call("fd_read", {fd, 256, 1, 0xffff'fffe}), Errno::Fault);
  EXPECT_EQ(call("path_filestat_get", {3, 0, 65535, 100, 0}), Errno::Fault);
  put("file");
  EXPECT_EQ(call("path_filestat_get", {3, 0, kPathAt, 4, 65536 - 63}), Errno::Fault);
  EXPECT_EQ(call("path_filestat_get", {3, 0, kPathAt, 4, 65536 - 64}), Errno::Success);
  EXPECT_EQ(call("fd_filestat_get", {fd, 65536 - 63}), Errno::Fault);
  EXPECT_EQ(call("fd_fdstat_get", {fd, 65536 - 23}), Errno::Fault);
  EXPECT_EQ(call("fd_fdstat_get", {fd, 65536 - 24}), Errno::Success);
  EXPECT_EQ(call("fd_prestat_get", {3, 65536 - 7}), Errno::Fault);
  EXPECT_EQ(call("fd_prestat_dir_name", {3, 65536, 1}), Errno::Fault);
  EXPECT_EQ(call("random_get", {65535, 2}), Errno::Fault);
  EXPECT_EQ(call("random_get", {65536, 0}), Errno::Success);
  EXPECT_EQ(call("random_get", {65537, 0}), Errno::Fault);
  EXPECT_EQ(call("clock_time_get", {0, 0, 65536 - 7}), Errno::Fault);
  EXPECT_EQ(call("args_get", {65536, 65536}), Errno::Success) << "no arguments, nothing written";
  context.args = {"a"};
  EXPECT_EQ(call("args_get", {0xffff'fff0, 0}), Errno::Fault);
  EXPECT_EQ(call("args_get", {0, 65535}), Errno::Fault);
  EXPECT_EQ(call("args_get", {0, 65534}), Errno::Success);
  EXPECT_EQ(call("poll_oneoff", {0, 0, 0xffff'ffff, 0}), Errno::Fault);
  EXPECT_EQ(call("poll_oneoff", {65536 - 47, 0, 1, 0}), Errno::Fault);
  EXPECT_EQ(call("poll_oneoff", {0, 65536 - 31, 1, 0}), Errno::Fault);
  EXPECT_EQ(call("fd_readdir", {3, 65000, 1000, 0, 0}), Errno::Fault);
}

TEST_P(Hostile, NothingIsCreatedWhenTheAnswerHasNoPlace) {
  const std::uint64_t n = put("fresh");
  EXPECT_EQ(call("path_open", {3, 1, kPathAt, n, 1, ~0ull, ~0ull, 0, 65533}), Errno::Fault);
  EXPECT_EQ(stat("fresh"), Errno::Noent);
  EXPECT_EQ(context.open_descriptors(), 1u);
}

TEST_P(Hostile, ListsOfSlices) {
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = out();
  // The data go over the list and over each other.
  slice(kListAt, 4, 0);
  slice(kListAt + 2, 4, 1);
  EXPECT_EQ(call("fd_read", {fd, kListAt, 2, kListAt}), Errno::Success);
  EXPECT_EQ(get<std::uint32_t>(kListAt), 7u);
  // Empty slices are not the end, however many.
  memory.assign(memory.size(), 0);
  slice(40000, 3, 2000);
  EXPECT_EQ(call("fd_pread", {fd, kListAt, 2001, 1, kOutAt}), Errno::Success);
  EXPECT_EQ(out(), 3u);
  // All of memory, thousands of times over.
  for (std::uint32_t i = 0; i < 8000; ++i) slice(0, 65536, i);
  EXPECT_EQ(call("fd_pread", {fd, kListAt, 8000, 0, 65532}), Errno::Success);
  EXPECT_EQ(get<std::uint32_t>(65532), 7u);
  memory.resize(std::size_t{1} << 24);
  EXPECT_EQ(call("fd_read", {fd, 0, (1 << 20) + 1, 0}), Errno::Inval);
  EXPECT_EQ(call("fd_read", {fd, 0, 1 << 22, 0}), Errno::Fault);
}

TEST_P(Hostile, ManySubscriptions) {
  memory.resize(std::size_t{4} << 20);
  for (std::uint32_t i = 0; i < 16384; ++i) {
    const std::size_t at = 1'000'000 + 48 * std::size_t{i};
    set<std::uint64_t>(at, i);
    memory[at + 8] = static_cast<std::uint8_t>(i % 4);  // 3 is no event
    set<std::uint32_t>(at + 16, i % 3 == 0 ? 3 : i);
  }
  EXPECT_EQ(call("poll_oneoff", {1'000'000, 2'000'000, 16384, kOutAt}), Errno::Success);
  EXPECT_GT(out(), 8192u);
  EXPECT_EQ(call("poll_oneoff", {1'000'000, 2'000'000, 16385, kOutAt}), Errno::Inval);
  EXPECT_EQ(call("poll_oneoff", {1'000'000, 1'000'000, 1000, kOutAt}), Errno::Success)
      << "events over the subscriptions";
}

// Each function with each of its arguments at the edges, on descriptors of each kind: no crash, no
// access beyond the memory (which ends at its allocation: the sanitizers see it).
TEST_P(Hostile, EveryFunctionAtTheEdges) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  platform::WakeFlag wake;
  wake.raise();
  context.wake = &wake;
  context.args = {"program", "argument"};
  context.env = {"NAME=value"};
  const std::uint64_t edges[] = {0,           1,           3,          4,           65535,
                                 65536,       65536 - 8,   65536 - 64, 0x7fff'ffff, 0x8000'0000,
                                 0xffff'fff8, 0xffff'ffff, ~0ull,      1ull << 63,  100};
  std::uint32_t state = 12345;
  const auto next = [&] {
    state = state * 1664525 + 1013904223;
    return edges[(state >> 16) % std::size(edges)];
  };
  std::vector<Function> all(functions().begin(), functions().end());
  for (const Function& older : functions(Version::Unstable)) {
    const auto same = [&](const Function& f) { return f.call == older.call; };
    if (std::ranges::none_of(functions(), same)) all.push_back(older);
  }
  for (const Function& f : all) {
    const std::string_view name = f.name;
    const std::size_t count = std::string_view(f.params).size();
    for (int round = 0; round < 400; ++round) {
      if (context.find(3) == nullptr) {
        ASSERT_TRUE(context.preopen(outer_ + "/box", "/"));
      }
      if (context.find(4) == nullptr) {
        Descriptor d;
        d.fd = platform::Fd(::dup(pair[0]));
        ASSERT_TRUE(describe_host_fd(d));
        context.set(4, std::move(d));
      }
      std::uint64_t args[kMaxParams];
      for (std::size_t i = 0; i < count; ++i) {
        args[i] = next();
        if (f.params[i] == 'i') args[i] &= 0xffff'ffff;
      }
      if (name == "fd_allocate") args[2] = std::min<std::uint64_t>(args[2], 65536);
      outcome = Outcome::Return;
      const Errno error = f.call(context, GuestMemory(memory), args, outcome);
      EXPECT_LE(static_cast<unsigned>(error), 76u) << name;
    }
  }
  ::close(pair[0]);
  ::close(pair[1]);
}

HOIST_WASI_BOTH_WAYS(Hostile);

TEST(WasiTables, ErrnosAndRights) {
  EXPECT_EQ(static_cast<int>(Errno::Notcapable), 76);
  EXPECT_EQ(from_host(ENOTSOCK), Errno::Notsock);
  EXPECT_EQ(static_cast<int>(Errno::Notsock), 57);
  EXPECT_EQ(from_host(99999), Errno::Io);
  EXPECT_EQ(rights::kSockAccept, std::uint64_t{1} << 29);
  EXPECT_EQ(functions().size(), 46u);
  for (const Function& f : functions()) EXPECT_NE(f.call, nullptr) << f.name;
  EXPECT_EQ(functions(Version::Unstable).size(), 45u);
  for (const Function& f : functions(Version::Unstable)) EXPECT_NE(f.call, nullptr);
}

}  // namespace
}  // namespace hoist::wasi
