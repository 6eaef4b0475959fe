// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WASI functions called as a guest would, on a memory of 64 KiB: errno of the common path shapes,
// the sandbox with openat2 and without, streams, directory listings, bad pointers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "platform/beneath.hpp"
#include "wasi/p1/context.hpp"

namespace hoist::wasi {
namespace {

class Wasi : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    platform::set_openat2_allowed(GetParam());
    char name[] = "/tmp/hoist-wasi-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    outer_ = name;
    ASSERT_EQ(::mkdir((outer_ + "/box").c_str(), 0777), 0);
    ASSERT_EQ(::mkdir((outer_ + "/box/dir").c_str(), 0777), 0);
    std::ofstream(outer_ + "/secret") << "secret";
    std::ofstream(outer_ + "/box/file") << "content";
    link_to("../secret", "escape");
    link_to(outer_ + "/secret", "absolute");
    link_to("file", "inside");
    link_to("dir/../file", "winding");
    link_to("nowhere", "dangling");
    link_to("loop", "loop");
    link_to("..", "up");
    link_to("dir", "dirlink");
    ASSERT_TRUE(context_.preopen(outer_ + "/box", "/"));
  }
  void TearDown() override {
    platform::set_openat2_allowed(true);
    if (!outer_.empty()) {
      EXPECT_EQ(::system(("rm -rf " + outer_).c_str()), 0);
    }
  }
  void link_to(const std::string& target, const char* name) {
    ASSERT_EQ(::symlink(target.c_str(), (outer_ + "/box/" + name).c_str()), 0);
  }

  Errno call(const char* name, std::initializer_list<std::uint64_t> args) {
    for (const Function& f : functions()) {
      if (std::string_view(f.name) == name) {
        EXPECT_EQ(std::string_view(f.params).size(), args.size()) << name;
        auto outcome = Outcome::Return;
        return f.call(context_, GuestMemory(memory_), args.begin(), outcome);
      }
    }
    ADD_FAILURE() << "no function " << name;
    return Errno::Nosys;
  }
  /// Puts a path at address 1024; returns its length.
  std::uint64_t put(std::string_view path) {
    std::copy(path.begin(), path.end(), memory_.begin() + 1024);
    return path.size();
  }
  Errno open(std::string_view path, std::uint32_t oflags = 0, bool follow = true,
             std::uint64_t rights_base = rights::kFile | rights::kDirectory) {
    const std::uint64_t length = put(path);
    return call("path_open",
                {3, follow ? 1u : 0u, 1024, length, oflags, rights_base, ~0ull, 0, 64});
  }
  std::uint32_t opened() { return base::load_le<std::uint32_t>(&memory_[64]); }
  Errno stat(std::string_view path, bool follow = true) {
    const std::uint64_t length = put(path);
    return call("path_filestat_get", {3, follow ? 1u : 0u, 1024, length, 128});
  }
  Errno simple(const char* name, std::string_view path) {
    const std::uint64_t length = put(path);
    return call(name, {3, 1024, length});
  }

  std::string outer_;
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(65536);
  Context context_;
};

TEST_P(Wasi, OpensWhatIsInside) {
  EXPECT_EQ(open("file"), Errno::Success);
  EXPECT_EQ(open("./dir/../file"), Errno::Success);
  EXPECT_EQ(open("inside"), Errno::Success);
  EXPECT_EQ(open("winding"), Errno::Success);
  EXPECT_EQ(open("dir"), Errno::Success);
  EXPECT_EQ(open("dir/"), Errno::Success);
  EXPECT_EQ(open("dirlink/../file"), Errno::Success);
  EXPECT_EQ(open("."), Errno::Success);
}

TEST_P(Wasi, NeverLeaves) {
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

TEST_P(Wasi, ErrnoOfCommonShapes) {
  EXPECT_EQ(open(""), Errno::Noent);
  EXPECT_EQ(open("missing"), Errno::Noent);
  EXPECT_EQ(open("missing/deeper"), Errno::Noent);
  EXPECT_EQ(open("file/"), Errno::Notdir);
  EXPECT_EQ(open("file/x"), Errno::Notdir);
  EXPECT_EQ(open("file", 2), Errno::Notdir);
  EXPECT_EQ(open("dangling"), Errno::Noent);
  EXPECT_EQ(open("loop"), Errno::Loop);
  EXPECT_EQ(open("inside", 0, false), Errno::Loop);
  EXPECT_EQ(open("file", 1 | 4), Errno::Exist);
  EXPECT_EQ(open("dangling", 1 | 4), Errno::Exist);
  EXPECT_EQ(open(std::string_view("a\0b", 3)), Errno::Inval);
  EXPECT_EQ(open("\xff\xfe"), Errno::Ilseq);
  EXPECT_EQ(open(std::string(300, 'x')), Errno::Nametoolong);
  EXPECT_EQ(simple("path_create_directory", "dir"), Errno::Exist);
  EXPECT_EQ(simple("path_create_directory", "."), Errno::Exist);
  EXPECT_EQ(simple("path_create_directory", "new/"), Errno::Success);
  EXPECT_EQ(simple("path_remove_directory", "new"), Errno::Success);
  EXPECT_EQ(simple("path_remove_directory", "file"), Errno::Notdir);
  EXPECT_EQ(simple("path_unlink_file", "dir"), Errno::Isdir);
  EXPECT_EQ(simple("path_unlink_file", "dir/"), Errno::Isdir);
  EXPECT_EQ(simple("path_unlink_file", "file/"), Errno::Notdir);
  EXPECT_EQ(simple("path_unlink_file", "dangling"), Errno::Success);
  EXPECT_EQ(stat("loop"), Errno::Loop);
  EXPECT_EQ(stat("loop", false), Errno::Success);
  EXPECT_EQ(memory_[128 + 16], 7) << "a symbolic link";
}

TEST_P(Wasi, ReadsAndWrites) {
  ASSERT_EQ(open("made", 1), Errno::Success);
  const std::uint32_t fd = opened();
  const std::string text = "hello, world";
  std::copy(text.begin(), text.end(), memory_.begin() + 2048);
  base::store_le<std::uint32_t>(&memory_[256], 2048);
  base::store_le<std::uint32_t>(&memory_[260], static_cast<std::uint32_t>(text.size()));
  EXPECT_EQ(call("fd_write", {fd, 256, 1, 300}), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint32_t>(&memory_[300]), text.size());
  EXPECT_EQ(call("fd_seek", {fd, 7, 0, 304}), Errno::Success);
  base::store_le<std::uint32_t>(&memory_[256], 4096);
  EXPECT_EQ(call("fd_read", {fd, 256, 1, 300}), Errno::Success);
  EXPECT_EQ(std::string(memory_.begin() + 4096, memory_.begin() + 4101), "world");
  EXPECT_EQ(call("fd_pread", {fd, 256, 1, 0, 300}), Errno::Success);
  EXPECT_EQ(memory_[4096], 'h');
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 3}), Errno::Success);
  EXPECT_EQ(call("fd_close", {fd}), Errno::Success);
  EXPECT_EQ(call("fd_close", {fd}), Errno::Badf);
  EXPECT_EQ(stat("made"), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint64_t>(&memory_[128 + 32]), 3u);
}

TEST_P(Wasi, PointersOutsideOfMemoryAreFaults) {
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = opened();
  EXPECT_EQ(call("fd_read", {fd, 65532, 1, 0}), Errno::Fault);
  EXPECT_EQ(call("fd_read", {fd, 0, 0x2000'0000, 0}), Errno::Fault);
  base::store_le<std::uint32_t>(&memory_[256], 65530);
  base::store_le<std::uint32_t>(&memory_[260], 100);
  EXPECT_EQ(call("fd_read", {fd, 256, 1, 300}), Errno::Fault);
  EXPECT_EQ(call("fd_read", {fd, 256, 1, 0xffff'fffe}), Errno::Fault);
  EXPECT_EQ(call("path_filestat_get", {3, 0, 65535, 100, 0}), Errno::Fault);
  EXPECT_EQ(call("random_get", {65535, 2}), Errno::Fault);
  EXPECT_EQ(call("args_get", {0xffff'fff0, 0xffff'fff0}), Errno::Success)
      << "no arguments, nothing written";
  context_.args = {"a"};
  EXPECT_EQ(call("args_get", {0xffff'fff0, 0}), Errno::Fault);
  EXPECT_EQ(call("poll_oneoff", {0, 0, 0xffff'ffff, 0}), Errno::Fault);
}

TEST_P(Wasi, ListsDirectories) {
  ASSERT_EQ(call("fd_readdir", {3, 8192, 8192, 0, 64}), Errno::Success);
  const std::uint32_t used = opened();
  std::string names;
  for (std::uint32_t at = 0; at + 24 <= used;) {
    const std::uint8_t* entry = &memory_[8192 + at];
    const auto length = base::load_le<std::uint32_t>(entry + 16);
    names += std::string(reinterpret_cast<const char*>(entry + 24), length) + " ";
    at += 24 + length;
  }
  for (const char* name : {"file ", "dir ", "escape ", ". ", ".. "})
    EXPECT_NE(names.find(name), std::string::npos) << names;
  EXPECT_EQ(call("fd_readdir", {3, 8192, 10, 0, 64}), Errno::Success);
  EXPECT_EQ(opened(), 10u) << "a cut entry fills the buffer";
  EXPECT_EQ(call("fd_readdir", {3, 8192, 100, ~0ull, 64}), Errno::Success);
  EXPECT_EQ(opened(), 0u);
}

TEST_P(Wasi, RightsOnlyShrink) {
  ASSERT_EQ(open("file", 0, true, rights::kFdRead), Errno::Success);
  const std::uint32_t fd = opened();
  EXPECT_EQ(call("fd_write", {fd, 256, 0, 300}), Errno::Notcapable);
  EXPECT_EQ(call("fd_fdstat_set_rights", {fd, rights::kFdRead | rights::kFdWrite, 0}),
            Errno::Notcapable);
  EXPECT_EQ(call("fd_fdstat_set_rights", {fd, 0, 0}), Errno::Success);
  EXPECT_EQ(call("fd_read", {fd, 256, 0, 300}), Errno::Notcapable);
}

TEST_P(Wasi, ReadOnlyDirectory) {
  ASSERT_TRUE(context_.preopen(outer_ + "/box", "/ro", true));
  const auto in_ro = [&](const char* name, std::string_view path) {
    const auto n = put(path);
    return call(name, {4, 1024, n});
  };
  EXPECT_EQ(in_ro("path_create_directory", "x"), Errno::Notcapable);
  EXPECT_EQ(in_ro("path_unlink_file", "file"), Errno::Notcapable);
  const auto n = put("file");
  EXPECT_EQ(call("path_open", {4, 1, 1024, n, 8, ~0ull, ~0ull, 0, 64}), Errno::Notcapable);
  EXPECT_EQ(call("path_open", {4, 1, 1024, n, 0, ~0ull, ~0ull, 0, 64}), Errno::Success);
  EXPECT_EQ(call("fd_write", {opened(), 256, 0, 300}), Errno::Notcapable);
}

TEST_P(Wasi, StreamsInMemory) {
  context_.set_input("abc");
  std::string out;
  context_.set_output(1, {[](void* user, const std::uint8_t* data, std::size_t size) {
                            static_cast<std::string*>(user)->append(
                                reinterpret_cast<const char*>(data), size);
                            return true;
                          },
                          &out});
  base::store_le<std::uint32_t>(&memory_[256], 2048);
  base::store_le<std::uint32_t>(&memory_[260], 10);
  EXPECT_EQ(call("fd_read", {0, 256, 1, 300}), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint32_t>(&memory_[300]), 3u);
  EXPECT_EQ(call("fd_read", {0, 256, 1, 300}), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint32_t>(&memory_[300]), 0u);
  base::store_le<std::uint32_t>(&memory_[260], 3);
  EXPECT_EQ(call("fd_write", {1, 256, 1, 300}), Errno::Success);
  EXPECT_EQ(out, "abc");
  EXPECT_EQ(call("fd_seek", {1, 0, 0, 304}), Errno::Notcapable);
}

TEST_P(Wasi, TheNullDeviceIsNoTerminal) {
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(null, 0);
  context_.set_host_fd(1, null);
  EXPECT_EQ(call("fd_fdstat_get", {1, 512}), Errno::Success);
  EXPECT_EQ(memory_[512], 2) << "a character device";
  EXPECT_NE(base::load_le<std::uint64_t>(&memory_[520]) & rights::kFdSeek, 0u);
  ::close(null);
}

TEST_P(Wasi, ClockDeadlinesAreWaitedFor) {
  base::store_le<std::uint64_t>(&memory_[512], 77);
  memory_[520] = 0;
  base::store_le<std::uint32_t>(&memory_[528], 1);
  base::store_le<std::uint64_t>(&memory_[536], 2'000'000);
  base::store_le<std::uint16_t>(&memory_[552], 0);
  EXPECT_EQ(call("poll_oneoff", {512, 1024, 1, 300}), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint32_t>(&memory_[300]), 1u);
  EXPECT_EQ(base::load_le<std::uint64_t>(&memory_[1024]), 77u);
  EXPECT_EQ(call("poll_oneoff", {512, 1024, 0, 300}), Errno::Inval);
}

// A thread swaps a directory for a link to the outside while the guest opens through it: whatever
// the guest gets, it is never the secret.
TEST_P(Wasi, RacingLinkNeverLeaks) {
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
  base::store_le<std::uint32_t>(&memory_[256], 2048);
  base::store_le<std::uint32_t>(&memory_[260], 6);
  int read = 0;
  // On a busy machine the swapper may be stopped in the middle for long: go on until something was
  // read.
  for (int i = 0; i < 3000 || (read == 0 && i < 3'000'000); ++i) {
    if (open("race/secret") != Errno::Success) continue;
    const std::uint32_t fd = opened();
    EXPECT_EQ(call("fd_read", {fd, 256, 1, 300}), Errno::Success);
    ASSERT_EQ(std::string(memory_.begin() + 2048, memory_.begin() + 2054), "public");
    ++read;
    EXPECT_EQ(call("fd_close", {fd}), Errno::Success);
  }
  stop = true;
  swapper.join();
  EXPECT_GT(read, 0);
}

INSTANTIATE_TEST_SUITE_P(Resolution, Wasi, ::testing::Values(true, false),
                         [](const auto& param) { return param.param ? "openat2" : "walk"; });

}  // namespace
}  // namespace hoist::wasi
