// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wasi_unstable where it differs from preview 1. Source: WASI, legacy/preview0.
#include <sys/stat.h>

#include <iterator>

#include "wasi/p1/test_support.hpp"

namespace hoist::wasi {
namespace {

class Unstable : public WasiTest {
 protected:
  void SetUp() override {
    WasiTest::SetUp();
    version = Version::Unstable;
  }
  std::uint64_t seek(std::uint32_t fd, std::int64_t by, std::uint32_t whence) {
    EXPECT_EQ(call("fd_seek", {fd, static_cast<std::uint64_t>(by), whence, 304}), Errno::Success);
    return get<std::uint64_t>(304);
  }
  void expect_filestat(std::size_t at, const struct stat& host) {
    EXPECT_EQ(get<std::uint64_t>(at), host.st_dev);
    EXPECT_EQ(get<std::uint64_t>(at + 8), host.st_ino);
    EXPECT_EQ(memory[at + 16], 4) << "a regular file";
    EXPECT_EQ(get<std::uint32_t>(at + 20), host.st_nlink);
    EXPECT_EQ(get<std::uint64_t>(at + 24), 7u) << "its size";
    EXPECT_EQ(get<std::uint64_t>(at + 40),
              static_cast<std::uint64_t>(host.st_mtim.tv_sec) * 1'000'000'000 +
                  static_cast<std::uint64_t>(host.st_mtim.tv_nsec));
    EXPECT_EQ(get<std::uint64_t>(at + 56), 0xeeee'eeee'eeee'eeee) << "behind it";
  }
};

TEST_P(Unstable, Whence) {
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = out();
  EXPECT_EQ(seek(fd, 0, 0), 0u) << "current";
  EXPECT_EQ(seek(fd, -2, 1), 5u) << "end";
  EXPECT_EQ(seek(fd, 1, 0), 6u);
  EXPECT_EQ(seek(fd, 3, 2), 3u) << "start";
  EXPECT_EQ(call("fd_seek", {fd, 0, 3, 304}), Errno::Inval);
  // Only asking for the position takes less rights, by the older numbers too.
  ASSERT_EQ(call("fd_fdstat_set_rights", {fd, rights::kFdTell, 0}), Errno::Success);
  EXPECT_EQ(seek(fd, 0, 0), 3u);
  EXPECT_EQ(call("fd_seek", {fd, 0, 1, 304}), Errno::Notcapable);
}

TEST_P(Unstable, Filestat) {
  ASSERT_EQ(::link((outer_ + "/box/file").c_str(), (outer_ + "/box/twin").c_str()), 0);
  struct stat host{};
  ASSERT_EQ(::stat((outer_ + "/box/file").c_str(), &host), 0);
  ASSERT_EQ(host.st_nlink, 2u);
  std::fill_n(memory.begin() + 128, 128, std::uint8_t{0xee});
  ASSERT_EQ(stat("file"), Errno::Success);
  expect_filestat(128, host);
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = out();
  std::fill_n(memory.begin() + 128, 128, std::uint8_t{0xee});
  ASSERT_EQ(call("fd_filestat_get", {fd, 128}), Errno::Success);
  expect_filestat(128, host);
  // 56 bytes, not 64.
  const std::uint64_t length = put("file");
  EXPECT_EQ(call("fd_filestat_get", {fd, 65536 - 56}), Errno::Success);
  EXPECT_EQ(call("fd_filestat_get", {fd, 65536 - 55}), Errno::Fault);
  EXPECT_EQ(call("path_filestat_get", {3, 0, kPathAt, length, 65536 - 56}), Errno::Success);
  EXPECT_EQ(call("path_filestat_get", {3, 0, kPathAt, length, 65536 - 55}), Errno::Fault);
}

TEST_P(Unstable, Poll) {
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = out();
  // Two clocks and a descriptor, 56 bytes each.
  constexpr std::size_t kAt = 8192, kSize = 56;
  const auto clock = [&](std::size_t index, std::uint64_t user, std::uint64_t ns) {
    const std::size_t at = kAt + kSize * index;
    set(at, user);
    memory[at + 8] = 0;
    set<std::uint64_t>(at + 16, ~std::uint64_t{0});  // the identifier that nobody uses
    set<std::uint32_t>(at + 24, 1);                  // monotonic
    set(at + 32, ns);
    set<std::uint64_t>(at + 40, 1000);  // precision
    set<std::uint16_t>(at + 48, 0);
  };
  clock(0, 11, std::uint64_t{3'600'000'000'000});
  clock(1, 12, 1'000'000);
  ASSERT_EQ(call("poll_oneoff", {kAt, 20480, 2, kOutAt}), Errno::Success);
  ASSERT_EQ(Guest::out(), 1u);
  EXPECT_EQ(event(0).user, 12u);
  EXPECT_EQ(event(0).tag, 0);
  set<std::uint64_t>(kAt + kSize, 13);
  memory[kAt + kSize + 8] = 1;
  set<std::uint32_t>(kAt + kSize + 16, fd);
  ASSERT_EQ(call("poll_oneoff", {kAt, 20480, 2, kOutAt}), Errno::Success);
  ASSERT_EQ(Guest::out(), 1u);
  EXPECT_EQ(event(0).user, 13u);
  EXPECT_EQ(event(0).tag, 1);
  set<std::uint16_t>(kAt + 48, 2);
  ASSERT_EQ(call("poll_oneoff", {kAt, 20480, 1, kOutAt}), Errno::Success);
  EXPECT_EQ(event(0).error, static_cast<std::uint16_t>(Errno::Inval)) << "unknown flags";
  EXPECT_EQ(call("poll_oneoff", {65536 - 2 * kSize, 0, 2, kOutAt}), Errno::Success);
  EXPECT_EQ(call("poll_oneoff", {65536 - 2 * kSize + 1, 0, 2, kOutAt}), Errno::Fault);
}

HOIST_WASI_BOTH_WAYS(Unstable);

TEST(WasiTables, UnstableIsPreview1WithoutAccept) {
  const auto newer = functions();
  const auto older = functions(Version::Unstable);
  std::size_t at = 0;
  int differ = 0;
  for (const Function& f : newer) {
    if (std::string_view(f.name) == "sock_accept") continue;
    ASSERT_LT(at, older.size());
    EXPECT_STREQ(older[at].name, f.name);
    EXPECT_STREQ(older[at].params, f.params);
    EXPECT_EQ(older[at].has_result, f.has_result);
    differ += older[at].call != f.call ? 1 : 0;
    ++at;
  }
  EXPECT_EQ(at, older.size());
  EXPECT_EQ(differ, 4);
}

}  // namespace
}  // namespace hoist::wasi
