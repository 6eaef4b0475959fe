// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sandbox: a guest never leaves the directories it was given, with openat2, without it, with it
// refused by a filter, and while another thread swaps directories for links.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <thread>

#include "wasi/p1/test_support.hpp"

namespace hoist::wasi {
namespace {

using Sandbox = WasiTest;

TEST_P(Sandbox, NeverLeaves) {
  for (const char* path : {"..", "../secret", "dir/../../secret", "escape", "absolute", "up/secret",
                           "up", "up/box/file", "dirlink/../../secret", "../box/file"}) {
    EXPECT_EQ(open(path), Errno::Perm) << path;
    EXPECT_EQ(stat(path), Errno::Perm) << path;
  }
  EXPECT_EQ(open(outer_ + "/secret"), Errno::Perm);
  EXPECT_EQ(open("/"), Errno::Perm);
  EXPECT_EQ(simple("path_create_directory", "../made"), Errno::Perm);
  EXPECT_EQ(simple("path_unlink_file", "../secret"), Errno::Perm);
  EXPECT_EQ(simple("path_unlink_file", "up/secret"), Errno::Perm);
  EXPECT_EQ(simple("path_remove_directory", ".."), Errno::Perm);
  EXPECT_EQ(open("up/made", 1), Errno::Perm);
  EXPECT_NE(::access((outer_ + "/made").c_str(), F_OK), 0);
  EXPECT_EQ(::access((outer_ + "/secret").c_str(), F_OK), 0);
}

// What a guest makes itself does not lead out either.
TEST_P(Sandbox, LinksOfTheGuest) {
  EXPECT_EQ(symlink("/etc/passwd", "a"), Errno::Perm) << "absolute";
  EXPECT_EQ(symlink("../../../../../../../../etc/passwd", "b"), Errno::Success);
  EXPECT_EQ(open("b"), Errno::Perm);
  EXPECT_EQ(open("b", 0, false), Errno::Loop);
  EXPECT_EQ(open("b", 1 | 8), Errno::Perm);
  EXPECT_EQ(symlink(".", "self"), Errno::Success);
  EXPECT_EQ(open("self/self/../secret"), Errno::Perm);
  EXPECT_EQ(open("self/../secret"), Errno::Perm);
  EXPECT_EQ(simple("path_create_directory", "dir/deep"), Errno::Success);
  EXPECT_EQ(symlink("../../..", "dir/deep/out"), Errno::Success);
  EXPECT_EQ(open("dir/deep/out/secret"), Errno::Perm);
  EXPECT_EQ(rename("dir/deep/out", "out"), Errno::Success) << "a link moved up leads further out";
  EXPECT_EQ(open("out/secret"), Errno::Perm);
  EXPECT_EQ(link("../secret", "stolen"), Errno::Perm);
  EXPECT_EQ(link("escape", "stolen", true), Errno::Perm);
  EXPECT_EQ(link("up/secret", "stolen"), Errno::Perm);
  EXPECT_EQ(rename("file", "../moved"), Errno::Perm);
  EXPECT_EQ(rename("file", "up/moved"), Errno::Perm);
  EXPECT_EQ(rename("../secret", "stolen"), Errno::Perm);
  EXPECT_EQ(symlink("x", "../made"), Errno::Perm);
  EXPECT_EQ(symlink("x", "up/made"), Errno::Perm);
  std::uint64_t n = put("escape");
  EXPECT_EQ(call("path_filestat_set_times", {3, 1, kPathAt, n, 1, 1, 5}), Errno::Perm);
  n = put("../secret");
  EXPECT_EQ(call("path_filestat_set_times", {3, 0, kPathAt, n, 1, 1, 5}), Errno::Perm);
  EXPECT_EQ(call("path_readlink", {3, kPathAt, n, 8192, 100, kOutAt}), Errno::Perm);
  ASSERT_EQ(open("dir"), Errno::Success);
  EXPECT_EQ(open("../file", 0, true, rights::kFdRead, 0, out()), Errno::Perm)
      << "a directory below is a border too";
  EXPECT_NE(::access((outer_ + "/moved").c_str(), F_OK), 0);
  EXPECT_NE(::access((outer_ + "/made").c_str(), F_OK), 0);
}

// A thread swaps a directory for a link to the outside while the guest opens through it: whatever
// the guest gets, it is never the secret.
TEST_P(Sandbox, RacingLinkNeverLeaks) {
  ASSERT_EQ(::mkdir((outer_ + "/box/race").c_str(), 0777), 0);
  std::ofstream(outer_ + "/box/race/secret") << "public";
  std::atomic<bool> stop{false};
  std::thread swapper([&] {
    const std::string a = outer_ + "/box/race", b = outer_ + "/box/parked";
    while (!stop) {
      static_cast<void>(::rename(a.c_str(), b.c_str()));
      static_cast<void>(::symlink("..", a.c_str()));
      static_cast<void>(::unlink(a.c_str()));
      static_cast<void>(::rename(b.c_str(), a.c_str()));
    }
  });
  base::store_le<std::uint32_t>(&memory[256], 2048);
  base::store_le<std::uint32_t>(&memory[260], 6);
  int read = 0;
  // On a busy machine the swapper may be stopped in the middle for long: go on until something was
  // read.
  for (int i = 0; i < 3000 || (read == 0 && i < 3'000'000); ++i) {
    if (open("race/secret") != Errno::Success) continue;
    const std::uint32_t fd = out();
    EXPECT_EQ(call("fd_read", {fd, 256, 1, 300}), Errno::Success);
    ASSERT_EQ(std::string(memory.begin() + 2048, memory.begin() + 2054), "public");
    ++read;
    EXPECT_EQ(call("fd_close", {fd}), Errno::Success);
  }
  stop = true;
  swapper.join();
  EXPECT_GT(read, 0);
}

// The same with the last component: a file that is swapped for a link, opened to be written.
TEST_P(Sandbox, RacingLastComponentNeverWritesOutside) {
  std::ofstream(outer_ + "/box/target") << "x";
  std::atomic<bool> stop{false};
  std::thread swapper([&] {
    const std::string a = outer_ + "/box/target", b = outer_ + "/box/parked";
    while (!stop) {
      static_cast<void>(::rename(a.c_str(), b.c_str()));
      static_cast<void>(::symlink("../secret", a.c_str()));
      static_cast<void>(::unlink(a.c_str()));
      static_cast<void>(::rename(b.c_str(), a.c_str()));
    }
  });
  for (int i = 0; i < 3000; ++i) {
    const Errno error = open("target", i % 2 == 0 ? 8 : 1 | 8);
    if (error == Errno::Success) {
      const std::uint32_t fd = out();
      write(fd, "overwritten");
      EXPECT_EQ(call("fd_close", {fd}), Errno::Success);
    }
    if (i % 7 == 0) rename("target", "dir/t");
    if (i % 11 == 0) link("target", "dir/l", true);
  }
  stop = true;
  swapper.join();
  std::string secret;
  std::ifstream(outer_ + "/secret") >> secret;
  EXPECT_EQ(secret, "secret");
  struct stat s;
  ASSERT_EQ(::stat((outer_ + "/secret").c_str(), &s), 0);
  EXPECT_EQ(s.st_nlink, 1u);
}

HOIST_WASI_BOTH_WAYS(Sandbox);

/// From now on, for this process, openat2 fails with `error`.
bool refuse_openat2(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class SandboxFilter : public ::testing::TestWithParam<int> {};

TEST_P(SandboxFilter, Openat2RefusedByAFilter) {
  const std::string outer = directory_for_tests();
  ASSERT_EQ(::mkdir((outer + "/box").c_str(), 0777), 0);
  std::ofstream(outer + "/secret") << "secret";
  std::ofstream(outer + "/box/file") << "content";
  ASSERT_EQ(::symlink("../secret", (outer + "/box/escape").c_str()), 0);
  ASSERT_EQ(::symlink("file", (outer + "/box/inside").c_str()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!refuse_openat2(GetParam())) ::_exit(100);
    if (::syscall(SYS_openat2, AT_FDCWD, ".", nullptr, 0) != -1 || errno != GetParam())
      ::_exit(101);
    Guest guest;
    if (!guest.context.preopen(outer + "/box", "/")) ::_exit(102);
    std::string text;
    const bool right =
        guest.open("file") == Errno::Success &&
        guest.read(guest.out(), 7, text) == Errno::Success && text == "content" &&
        guest.open("inside") == Errno::Success && guest.open("escape") == Errno::Perm &&
        guest.open("../secret") == Errno::Perm && guest.open(outer + "/secret") == Errno::Perm &&
        guest.stat("escape") == Errno::Perm && guest.open("missing") == Errno::Noent &&
        guest.simple("path_create_directory", "../made") == Errno::Perm;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  remove_tree(outer);
}

INSTANTIATE_TEST_SUITE_P(Errors, SandboxFilter, ::testing::Values(ENOSYS, EPERM));

}  // namespace
}  // namespace hoist::wasi
