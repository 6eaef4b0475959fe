// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every shape of path through every path function, beside the system call that a native program
// would make in the same directory: same error number, same directory afterwards. A table of the
// shapes that lead out, for which there is no native counterpart, follows.
#include <fcntl.h>

#include <cerrno>
#include <functional>

#include "wasi/p1/test_support.hpp"

namespace hoist::wasi {
namespace {

const char* const kShapes[] = {".",
                               "./",
                               "./.",
                               "dir",
                               "dir/",
                               "dir//",
                               "dir/.",
                               "dir/./",
                               "dir/..",
                               "dir/../",
                               "dir/../file",
                               "full",
                               "full/",
                               "full/inner",
                               "full/inner/",
                               "full/inner/x",
                               "full/../dir",
                               "file",
                               "file/",
                               "file/.",
                               "file/..",
                               "file/x",
                               "file/../dir",
                               ".//file",
                               "missing",
                               "missing/",
                               "missing/.",
                               "missing/..",
                               "missing/x",
                               "dir/missing",
                               "dir/missing/",
                               "filelink",
                               "filelink/",
                               "filelink/.",
                               "filelink/x",
                               "dirlink",
                               "dirlink/",
                               "dirlink/.",
                               "dirlink/..",
                               "dirlink/new",
                               "fulllink/inner",
                               "fulllink/",
                               "dangling",
                               "dangling/",
                               "dangling/.",
                               "dangling/x",
                               "loop",
                               "loop/",
                               "loop/x",
                               "slashlink",
                               "slashlink/",
                               "slashlink/x",
                               "newslash",
                               "chain",
                               "chain/inner",
                               "dir/up/file",
                               "dir/up",
                               "dir/up/",
                               "",
                               " ",
                               "dir/../dir/../dir",
                               "noentry/../file",
                               "filelink/../file"};

/// The shapes that differ as a second name.
const char* const kTargets[] = {".",        "./",        "dir",      "dir/",      "dir/..",
                                "full",     "file",      "file/",    "file/x",    "missing",
                                "missing/", "missing/x", "filelink", "dirlink/",  "dirlink/new",
                                "dangling", "dangling/", "loop",     "slashlink", ""};

/// A box and its twin for native calls.
class Twins {
 public:
  Twins() : outer_(directory_for_tests()) {}
  ~Twins() { remove_tree(outer_); }
  std::string guest() const { return outer_ + "/guest"; }
  std::string native() const { return outer_ + "/native"; }

  void reset() {
    make(guest());
    make(native());
  }
  static std::string contents(const std::string& path) {
    std::string out;
    describe(path, "", out);
    return out;
  }

 private:
  static void clear(const std::string& path) {
    std::vector<platform::DirEntry> entries;
    platform::Fd fd;
    if (platform::open_directory(path.c_str(), fd) != 0) return;
    static_cast<void>(platform::list_directory(fd.get(), entries));
    for (const platform::DirEntry& entry : entries) {
      if (entry.name == "." || entry.name == "..") continue;
      const std::string child = path + "/" + entry.name;
      if (entry.type == platform::FileType::Directory) {
        clear(child);
        ::rmdir(child.c_str());
      } else {
        ::unlink(child.c_str());
      }
    }
  }
  static void make(const std::string& box) {
    clear(box);
    ::mkdir(box.c_str(), 0777);
    ::mkdir((box + "/dir").c_str(), 0777);
    ::mkdir((box + "/full").c_str(), 0777);
    for (const char* file : {"/file", "/full/inner", "/ "}) {
      const int fd = ::open((box + file).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
      EXPECT_EQ(::write(fd, file, 3), 3) << file;
      ::close(fd);
    }
    const auto link = [&](const char* target, const char* name) {
      EXPECT_EQ(::symlink(target, (box + "/" + name).c_str()), 0);
    };
    link("file", "filelink");
    link("dir", "dirlink");
    link("full", "fulllink");
    link("nowhere", "dangling");
    link("loop", "loop");
    link("dir/", "slashlink");
    link("fresh/", "newslash");
    link("fulllink", "chain");
    link("..", "dir/up");
  }
  static void describe(const std::string& path, const std::string& name, std::string& out) {
    struct stat s;
    if (::lstat(path.c_str(), &s) != 0) return;
    out += name + (S_ISDIR(s.st_mode) ? "/" : S_ISLNK(s.st_mode) ? "@" : "*");
    if (S_ISLNK(s.st_mode)) {
      char target[256];
      const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
      out.append(target, n < 0 ? 0 : static_cast<std::size_t>(n));
    }
    if (S_ISREG(s.st_mode)) {
      out += std::to_string(s.st_size) + "x" + std::to_string(s.st_nlink);
      if (s.st_mtime < 1000) out += "@" + std::to_string(s.st_mtime);
    }
    out += "\n";
    if (!S_ISDIR(s.st_mode)) return;
    std::vector<platform::DirEntry> entries;
    platform::Fd fd;
    if (platform::open_directory(path.c_str(), fd) != 0) return;
    static_cast<void>(platform::list_directory(fd.get(), entries));
    std::vector<std::string> names;
    for (const platform::DirEntry& entry : entries) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    for (const std::string& n : names) {
      if (n != "." && n != "..") describe(path + "/" + n, name + "/" + n, out);
    }
  }
  std::string outer_;
};

class Shapes : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { platform::set_openat2_allowed(GetParam()); }
  void TearDown() override { platform::set_openat2_allowed(true); }

  using GuestCall = std::function<Errno(Guest&)>;
  using NativeCall = std::function<int(int box)>;  // as the system call: -1 and errno

  /// Runs both on fresh twins.
  void compare(const std::string& what, const GuestCall& guest_call,
               const NativeCall& native_call) {
    if (dirty_) twins_.reset();
    Guest guest;
    ASSERT_TRUE(guest.context.preopen(twins_.guest(), "/"));
    platform::Fd box;
    ASSERT_EQ(platform::open_directory(twins_.native().c_str(), box), 0);
    const Errno got = guest_call(guest);
    const int result = native_call(box.get());
    const int error = result < 0 ? errno : 0;
    EXPECT_EQ(got, from_host(error)) << what;
    // A call that fails has changed nothing.
    dirty_ = got == Errno::Success || error == 0;
    if (dirty_) {
      EXPECT_EQ(Twins::contents(twins_.guest()), Twins::contents(twins_.native())) << what;
    }
  }

  Twins twins_;
  bool dirty_ = true;
};

int closed(int fd) {
  const int saved = errno;
  if (fd >= 0) ::close(fd);
  errno = saved;
  return fd < 0 ? -1 : 0;
}

TEST_P(Shapes, Open) {
  struct Mode {
    std::uint32_t oflags;
    std::uint64_t rights;
    int flags;
  };
  static constexpr Mode kModes[] = {
      {0, rights::kFdRead, O_RDONLY},
      {2, rights::kFdRead, O_RDONLY | O_DIRECTORY},
      {1, rights::kFdRead, O_RDONLY | O_CREAT},
      {1, rights::kFdWrite, O_WRONLY | O_CREAT},
      {1 | 4, rights::kFdWrite, O_WRONLY | O_CREAT | O_EXCL},
      {8, rights::kFdWrite, O_WRONLY | O_TRUNC},
      {1 | 8, rights::kFdRead | rights::kFdWrite, O_RDWR | O_CREAT | O_TRUNC},
      {0, rights::kFdWrite, O_WRONLY},
  };
  for (const char* path : kShapes) {
    for (const Mode& mode : kModes) {
      for (const bool follow : {true, false}) {
        compare(
            std::string("open ") + path + " " + std::to_string(mode.oflags) +
                (follow ? "" : " nofollow"),
            [&](Guest& guest) { return guest.open(path, mode.oflags, follow, mode.rights); },
            [&](int box) {
              const int flags = mode.flags | (follow ? 0 : O_NOFOLLOW) | O_CLOEXEC;
              const int fd = ::openat(box, path, flags, 0666);
              // What WASI opens for writing is opened for reading if it is a directory.
              if (fd < 0 && errno == EISDIR && mode.flags == O_WRONLY)
                return closed(
                    ::openat(box, path, O_RDONLY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)));
              return closed(fd);
            });
      }
    }
  }
}

TEST_P(Shapes, OneName) {
  for (const char* path : kShapes) {
    const std::string name = path;
    for (const bool follow : {true, false}) {
      compare(
          "stat " + name, [&](Guest& guest) { return guest.stat(path, follow); },
          [&](int box) {
            struct stat s;
            return ::fstatat(box, path, &s, follow ? 0 : AT_SYMLINK_NOFOLLOW);
          });
      compare(
          "utimes " + name,
          [&](Guest& guest) {
            const std::uint64_t n = guest.put(path);
            return guest.call("path_filestat_set_times", {3, follow ? 1u : 0u, Guest::kPathAt, n,
                                                          5'000'000'000, 7'000'000'000, 5});
          },
          [&](int box) {
            const timespec times[2] = {{5, 0}, {7, 0}};
            return ::utimensat(box, path, times, follow ? 0 : AT_SYMLINK_NOFOLLOW);
          });
    }
    compare(
        "mkdir " + name, [&](Guest& guest) { return guest.simple("path_create_directory", path); },
        [&](int box) { return ::mkdirat(box, path, 0777); });
    compare(
        "rmdir " + name, [&](Guest& guest) { return guest.simple("path_remove_directory", path); },
        [&](int box) { return ::unlinkat(box, path, AT_REMOVEDIR); });
    compare(
        "unlink " + name, [&](Guest& guest) { return guest.simple("path_unlink_file", path); },
        [&](int box) { return ::unlinkat(box, path, 0); });
    compare(
        "symlink " + name, [&](Guest& guest) { return guest.symlink("target", path); },
        [&](int box) { return ::symlinkat("target", box, path); });
    compare(
        "readlink " + name,
        [&](Guest& guest) {
          const std::uint64_t n = guest.put(path);
          return guest.call("path_readlink", {3, Guest::kPathAt, n, 8192, 100, Guest::kOutAt});
        },
        [&](int box) {
          // An empty path asks Linux about the directory's descriptor itself.
          if (*path == '\0') {
            errno = ENOENT;
            return -1;
          }
          char buffer[100];
          return static_cast<int>(::readlinkat(box, path, buffer, sizeof buffer));
        });
  }
}

TEST_P(Shapes, TwoNames) {
  for (const char* from : kShapes) {
    for (const char* to : kTargets) {
      const std::string names = std::string(from) + " -> " + to;
      compare(
          "rename " + names, [&](Guest& guest) { return guest.rename(from, to); },
          [&](int box) { return ::renameat(box, from, box, to); });
      for (const bool follow : {false, true}) {
        compare(
            (follow ? "link following " : "link ") + names,
            [&](Guest& guest) { return guest.link(from, to, follow); },
            [&](int box) { return ::linkat(box, from, box, to, follow ? AT_SYMLINK_FOLLOW : 0); });
      }
    }
  }
}

TEST_P(Shapes, WhatNoPathMayBe) {
  Guest guest;
  twins_.reset();
  ASSERT_TRUE(guest.context.preopen(twins_.guest(), "/"));
  const std::string long_name(256, 'x');
  std::string long_path = "dir";
  while (long_path.size() < 4095) long_path += "/.";
  struct Row {
    std::string path;
    Errno expected;
  };
  const Row rows[] = {
      {"..", Errno::Perm},
      {"../", Errno::Perm},
      {"dir/../..", Errno::Perm},
      {"dir/../../x", Errno::Perm},
      {"dirlink/../../x", Errno::Perm},
      {"/", Errno::Perm},
      {"//", Errno::Perm},
      {"/file", Errno::Perm},
      {std::string("fi\0le", 5), Errno::Inval},
      {std::string("file\0", 5), Errno::Inval},
      {"\xff", Errno::Ilseq},
      {"\xed\xa0\x80", Errno::Ilseq},
      {"\xc0\xaf", Errno::Ilseq},
      {long_name, Errno::Nametoolong},
      {"dir/" + long_name, Errno::Nametoolong},
      {long_path + "/.", Errno::Nametoolong},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(guest.open(row.path), row.expected) << row.path;
    EXPECT_EQ(guest.open(row.path, 1 | 8), row.expected) << row.path;
    EXPECT_EQ(guest.stat(row.path), row.expected) << row.path;
    EXPECT_EQ(guest.stat(row.path, false), row.expected) << row.path;
    for (const char* function :
         {"path_create_directory", "path_remove_directory", "path_unlink_file"})
      EXPECT_EQ(guest.simple(function, row.path), row.expected) << function << " " << row.path;
    EXPECT_EQ(guest.symlink("x", row.path), row.expected) << row.path;
    EXPECT_EQ(guest.rename(row.path, "dir/to"), row.expected) << row.path;
    EXPECT_EQ(guest.rename("file", row.path), row.expected) << row.path;
    EXPECT_EQ(guest.link(row.path, "dir/to"), row.expected) << row.path;
    EXPECT_EQ(guest.link("file", row.path), row.expected) << row.path;
  }
  EXPECT_EQ(guest.symlink("", "new"), Errno::Noent);
  EXPECT_EQ(guest.symlink("/x", "new"), Errno::Perm);
  EXPECT_EQ(guest.symlink(std::string("a\0b", 3), "new"), Errno::Inval);
}

HOIST_WASI_BOTH_WAYS(Shapes);

}  // namespace
}  // namespace hoist::wasi
