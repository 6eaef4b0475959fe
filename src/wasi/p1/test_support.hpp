// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For the tests beside: WASI functions called as a guest would, on a memory of 64 KiB, with a
/// directory "box" given as descriptor 3 and things outside of it that must stay untouched.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "platform/beneath.hpp"
#include "wasi/p1/context.hpp"

namespace hoist::wasi {

inline std::string directory_for_tests() {
  char name[] = "/tmp/hoist-wasi-XXXXXX";
  EXPECT_NE(::mkdtemp(name), nullptr);
  return name;
}
inline void remove_tree(const std::string& path) {
  if (path.empty()) return;
  EXPECT_EQ(::system(("rm -rf " + path).c_str()), 0);
}

/// Calls and what they need.
class Guest {
 public:
  static constexpr std::uint32_t kPathAt = 1024, kPath2At = 6000, kListAt = 256, kOutAt = 64;

  Errno call(const char* name, std::initializer_list<std::uint64_t> args) {
    for (const Function& f : functions(version)) {
      if (std::string_view(f.name) == name) {
        EXPECT_EQ(std::string_view(f.params).size(), args.size()) << name;
        outcome = Outcome::Return;
        return f.call(context, GuestMemory(memory), args.begin(), outcome);
      }
    }
    ADD_FAILURE() << "no function " << name;
    return Errno::Nosys;
  }
  std::uint64_t put(std::string_view text, std::uint32_t at = kPathAt) {
    std::copy(text.begin(), text.end(), memory.begin() + at);
    return text.size();
  }
  Errno open(std::string_view path, std::uint32_t oflags = 0, bool follow = true,
             std::uint64_t rights_base = rights::kFile | rights::kDirectory,
             std::uint32_t fd_flags = 0, std::uint32_t dir = 3) {
    const std::uint64_t length = put(path);
    return call("path_open", {dir, follow ? 1u : 0u, kPathAt, length, oflags, rights_base, ~0ull,
                              fd_flags, kOutAt});
  }
  std::uint32_t out() { return get<std::uint32_t>(kOutAt); }
  Errno stat(std::string_view path, bool follow = true) {
    const std::uint64_t length = put(path);
    return call("path_filestat_get", {3, follow ? 1u : 0u, kPathAt, length, 128});
  }
  Errno simple(const char* name, std::string_view path) {
    const std::uint64_t length = put(path);
    return call(name, {3, kPathAt, length});
  }
  Errno symlink(std::string_view target, std::string_view path) {
    const std::uint64_t n = put(target, kPath2At), m = put(path);
    return call("path_symlink", {kPath2At, n, 3, kPathAt, m});
  }
  /// path_rename, or path_link with `lookup` flags.
  Errno rename(std::string_view from, std::string_view to) {
    const std::uint64_t n = put(from, kPath2At), m = put(to);
    return call("path_rename", {3, kPath2At, n, 3, kPathAt, m});
  }
  Errno link(std::string_view from, std::string_view to, bool follow = false) {
    const std::uint64_t n = put(from, kPath2At), m = put(to);
    return call("path_link", {3, follow ? 1u : 0u, kPath2At, n, 3, kPathAt, m});
  }
  /// A list of one slice at kListAt.
  void slice(std::uint32_t at, std::uint32_t size, std::uint32_t index = 0) {
    set(kListAt + index * 8, at);
    set(kListAt + index * 8 + 4, size);
  }
  Errno write(std::uint32_t fd, std::string_view text) {
    slice(2048, static_cast<std::uint32_t>(put(text, 2048)));
    return call("fd_write", {fd, kListAt, 1, kOutAt});
  }
  Errno read(std::uint32_t fd, std::uint32_t size, std::string& text) {
    slice(4096, size);
    const Errno error = call("fd_read", {fd, kListAt, 1, kOutAt});
    text.clear();
    if (error == Errno::Success) text.assign(memory.begin() + 4096, memory.begin() + 4096 + out());
    return error;
  }
  template <typename T>
  T get(std::size_t at) {
    return base::load_le<T>(&memory[at]);
  }
  template <typename T>
  void set(std::size_t at, T value) {
    base::store_le(&memory[at], value);
  }
  /// One subscription at 8192 + 48 * index; events go to 20480, their number to kOutAt.
  void subscribe_clock(std::uint32_t index, std::uint64_t user, std::uint32_t id, std::uint64_t ns,
                       bool absolute) {
    const std::size_t at = 8192 + 48 * index;
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(at), 48, std::uint8_t{0});
    set(at, user);
    set(at + 16, id);
    set(at + 24, ns);
    set<std::uint16_t>(at + 40, absolute ? 1 : 0);
  }
  void subscribe_fd(std::uint32_t index, std::uint64_t user, std::uint32_t fd, bool write) {
    const std::size_t at = 8192 + 48 * index;
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(at), 48, std::uint8_t{0});
    set(at, user);
    memory[at + 8] = write ? 2 : 1;
    set(at + 16, fd);
  }
  Errno poll(std::uint32_t count) { return call("poll_oneoff", {8192, 20480, count, kOutAt}); }
  struct Event {
    std::uint64_t user, bytes;
    std::uint16_t error, flags;
    std::uint8_t tag;
  };
  Event event(std::uint32_t index) {
    const std::size_t at = 20480 + 32 * index;
    return {get<std::uint64_t>(at), get<std::uint64_t>(at + 16), get<std::uint16_t>(at + 8),
            get<std::uint16_t>(at + 24), memory[at + 10]};
  }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(65536);
  Context context;
  Outcome outcome = Outcome::Return;
  Version version = Version::Preview1;
};

inline std::ostream& operator<<(std::ostream& out, Errno error) {
  return out << name_of(error);
}

/// Each test runs with openat2 and without.
class WasiTest : public ::testing::TestWithParam<bool>, public Guest {
 protected:
  void SetUp() override {
    platform::set_openat2_allowed(GetParam());
    outer_ = directory_for_tests();
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
    ASSERT_TRUE(context.preopen(outer_ + "/box", "/"));
  }
  void TearDown() override {
    platform::set_openat2_allowed(true);
    remove_tree(outer_);
  }
  void link_to(const std::string& target, const char* name) {
    ASSERT_EQ(::symlink(target.c_str(), (outer_ + "/box/" + name).c_str()), 0);
  }
  std::string outer_;
};

#define HOIST_WASI_BOTH_WAYS(suite)                                           \
  INSTANTIATE_TEST_SUITE_P(Resolution, suite, ::testing::Values(true, false), \
                           [](const auto& param) { return param.param ? "openat2" : "walk"; })

}  // namespace hoist::wasi
