// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each function does: files, directories, streams, rights, descriptors' numbers.
#include <fcntl.h>

#include <cerrno>

#include "platform/clocks.hpp"
#include "wasi/p1/test_support.hpp"

namespace hoist::wasi {
namespace {

using Wasi = WasiTest;

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
  EXPECT_EQ(memory[128 + 16], 7) << "a symbolic link";
}

TEST_P(Wasi, ReadsAndWrites) {
  ASSERT_EQ(open("made", 1), Errno::Success);
  const std::uint32_t fd = out();
  const std::string text = "hello, world";
  std::copy(text.begin(), text.end(), memory.begin() + 2048);
  base::store_le<std::uint32_t>(&memory[256], 2048);
  base::store_le<std::uint32_t>(&memory[260], static_cast<std::uint32_t>(text.size()));
  EXPECT_EQ(call("fd_write", {fd, 256, 1, 300}), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint32_t>(&memory[300]), text.size());
  EXPECT_EQ(call("fd_seek", {fd, 7, 0, 304}), Errno::Success);
  base::store_le<std::uint32_t>(&memory[256], 4096);
  EXPECT_EQ(call("fd_read", {fd, 256, 1, 300}), Errno::Success);
  EXPECT_EQ(std::string(memory.begin() + 4096, memory.begin() + 4101), "world");
  EXPECT_EQ(call("fd_pread", {fd, 256, 1, 0, 300}), Errno::Success);
  EXPECT_EQ(memory[4096], 'h');
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 3}), Errno::Success);
  EXPECT_EQ(call("fd_close", {fd}), Errno::Success);
  EXPECT_EQ(call("fd_close", {fd}), Errno::Badf);
  EXPECT_EQ(stat("made"), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint64_t>(&memory[128 + 32]), 3u);
}

/// Names of a whole listing, read with a buffer of `size` bytes; "" on an error.
static std::string list(Guest& guest, std::uint32_t fd, std::uint32_t size) {
  std::string names;
  std::uint64_t cookie = 0;
  for (int rounds = 0; rounds < 1000; ++rounds) {
    if (guest.call("fd_readdir", {fd, 8192, size, cookie, 64}) != Errno::Success) return "";
    const std::uint32_t used = guest.out();
    for (std::uint32_t at = 0; at + 24 <= used;) {
      const auto length = guest.get<std::uint32_t>(8192 + at + 16);
      if (at + 24 + length > used) break;  // cut: asked for again
      names += std::string(guest.memory.begin() + 8192 + at + 24,
                           guest.memory.begin() + 8192 + at + 24 + length) +
               " ";
      cookie = guest.get<std::uint64_t>(8192 + at);
      at += 24 + length;
    }
    if (used < size) return names;
  }
  return "no end";
}

TEST_P(Wasi, ListsWithSmallBuffersWhileTheDirectoryChanges) {
  const std::string whole = list(*this, 3, 8192);
  EXPECT_EQ(list(*this, 3, 48), whole);
  EXPECT_EQ(list(*this, 3, 33), whole);
  ASSERT_EQ(open("."), Errno::Success);
  const std::uint32_t other = out();
  ASSERT_EQ(call("fd_readdir", {3, 8192, 64, 0, 64}), Errno::Success);
  const auto cookie = get<std::uint64_t>(8192);
  EXPECT_EQ(list(*this, other, 8192), whole) << "two descriptors do not disturb each other";
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(simple("path_create_directory", "n" + std::to_string(i)), Errno::Success);
  ASSERT_EQ(simple("path_unlink_file", "loop"), Errno::Success);
  ASSERT_EQ(call("fd_readdir", {3, 8192, 8192, cookie, 64}), Errno::Success);
  EXPECT_LT(out(), 8192u) << "the rest of the listing begun before";
  EXPECT_NE(list(*this, 3, 8192).find("n49 "), std::string::npos);
}

TEST_P(Wasi, ListsDirectories) {
  ASSERT_EQ(call("fd_readdir", {3, 8192, 8192, 0, 64}), Errno::Success);
  const std::uint32_t used = out();
  std::string names;
  for (std::uint32_t at = 0; at + 24 <= used;) {
    const std::uint8_t* entry = &memory[8192 + at];
    const auto length = base::load_le<std::uint32_t>(entry + 16);
    names += std::string(reinterpret_cast<const char*>(entry + 24), length) + " ";
    at += 24 + length;
  }
  for (const char* name : {"file ", "dir ", "escape ", ". ", ".. "})
    EXPECT_NE(names.find(name), std::string::npos) << names;
  EXPECT_EQ(call("fd_readdir", {3, 8192, 10, 0, 64}), Errno::Success);
  EXPECT_EQ(out(), 10u) << "a cut entry fills the buffer";
  EXPECT_EQ(call("fd_readdir", {3, 8192, 100, ~0ull, 64}), Errno::Success);
  EXPECT_EQ(out(), 0u);
}

TEST_P(Wasi, RightsOnlyShrink) {
  ASSERT_EQ(open("file", 0, true, rights::kFdRead), Errno::Success);
  const std::uint32_t fd = out();
  EXPECT_EQ(call("fd_write", {fd, 256, 0, 300}), Errno::Notcapable);
  EXPECT_EQ(call("fd_fdstat_set_rights", {fd, rights::kFdRead | rights::kFdWrite, 0}),
            Errno::Notcapable);
  EXPECT_EQ(call("fd_fdstat_set_rights", {fd, 0, 0}), Errno::Success);
  EXPECT_EQ(call("fd_read", {fd, 256, 0, 300}), Errno::Notcapable);
}

TEST_P(Wasi, ReadOnlyDirectory) {
  ASSERT_TRUE(context.preopen(outer_ + "/box", "/ro", true));
  const auto in_ro = [&](const char* name, std::string_view path) {
    const auto n = put(path);
    return call(name, {4, 1024, n});
  };
  EXPECT_EQ(in_ro("path_create_directory", "x"), Errno::Notcapable);
  EXPECT_EQ(in_ro("path_unlink_file", "file"), Errno::Notcapable);
  const auto n = put("file");
  EXPECT_EQ(call("path_open", {4, 1, 1024, n, 8, ~0ull, ~0ull, 0, 64}), Errno::Notcapable);
  EXPECT_EQ(call("path_open", {4, 1, 1024, n, 0, ~0ull, ~0ull, 0, 64}), Errno::Success);
  EXPECT_EQ(call("fd_write", {out(), 256, 0, 300}), Errno::Notcapable);
}

TEST_P(Wasi, StreamsInMemory) {
  context.set_stream(0, std::make_shared<TextInput>("abc"));
  std::string written, text;
  context.set_stream(1, std::make_shared<TextOutput>(&written));
  EXPECT_EQ(read(0, 10, text), Errno::Success);
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(read(0, 10, text), Errno::Success);
  EXPECT_EQ(text, "");
  EXPECT_EQ(write(1, "abc"), Errno::Success);
  EXPECT_EQ(written, "abc");
  EXPECT_EQ(call("fd_seek", {1, 0, 0, 304}), Errno::Spipe);
  EXPECT_EQ(write(0, "x"), Errno::Notcapable);
  const std::string big(40000, 'x');
  std::size_t sent = 0;
  while (sent < big.size()) {
    slice(20000, static_cast<std::uint32_t>(big.size() - sent));
    ASSERT_EQ(call("fd_write", {1, kListAt, 1, kOutAt}), Errno::Success);
    ASSERT_GT(out(), 0u);
    sent += out();
  }
  EXPECT_EQ(written.size(), 3 + big.size());
}

TEST_P(Wasi, ScattersAndGathers) {
  context.set_stream(0, std::make_shared<TextInput>("abcdefgh"));
  slice(3000, 2, 0);
  slice(3100, 0, 1);
  slice(3200, 3, 2);
  slice(3300, 10, 3);
  ASSERT_EQ(call("fd_read", {0, kListAt, 4, kOutAt}), Errno::Success);
  EXPECT_EQ(out(), 8u);
  EXPECT_EQ(std::string(memory.begin() + 3200, memory.begin() + 3203), "cde");
  ASSERT_EQ(open("made", 1), Errno::Success);
  const std::uint32_t fd = out();
  slice(3200, 3, 0);
  slice(3000, 2, 1);
  slice(3300, 3, 2);
  ASSERT_EQ(call("fd_write", {fd, kListAt, 3, kOutAt}), Errno::Success);
  EXPECT_EQ(out(), 8u);
  slice(3400, 100);
  ASSERT_EQ(call("fd_pread", {fd, kListAt, 1, 1, kOutAt}), Errno::Success);
  EXPECT_EQ(out(), 7u);
  EXPECT_EQ(std::string(memory.begin() + 3400, memory.begin() + 3407), "deabfgh");
}

TEST_P(Wasi, AppendingDoesNotTruncate) {
  ASSERT_EQ(open("file", 8), Errno::Success);
  const std::uint32_t fd = out();
  ASSERT_EQ(write(fd, "0123456789"), Errno::Success);
  ASSERT_EQ(call("fd_fdstat_set_flags", {fd, fdflags::kAppend}), Errno::Success);
  ASSERT_EQ(call("fd_seek", {fd, 0, 0, 304}), Errno::Success);
  ASSERT_EQ(write(fd, "abcde"), Errno::Success);
  ASSERT_EQ(call("fd_filestat_get", {fd, 128}), Errno::Success);
  EXPECT_EQ(get<std::uint64_t>(128 + 32), 15u);
  ASSERT_EQ(call("fd_fdstat_get", {fd, 512}), Errno::Success);
  EXPECT_EQ(get<std::uint16_t>(514), fdflags::kAppend);
  EXPECT_EQ(call("fd_fdstat_set_flags", {fd, fdflags::kAppend | fdflags::kSync}), Errno::Notsup);
  EXPECT_EQ(call("fd_fdstat_set_flags", {fd, 32}), Errno::Inval);
  ASSERT_EQ(call("fd_tell", {fd, 304}), Errno::Success);
  EXPECT_EQ(get<std::uint64_t>(304), 15u);
}

TEST_P(Wasi, SyncFlagsAreKept) {
  ASSERT_EQ(open("file", 0, true, rights::kFile, fdflags::kDsync | fdflags::kNonblock),
            Errno::Success);
  const std::uint32_t fd = out();
  ASSERT_EQ(call("fd_fdstat_get", {fd, 512}), Errno::Success);
  EXPECT_EQ(get<std::uint16_t>(514), fdflags::kDsync | fdflags::kNonblock);
  EXPECT_EQ(call("fd_fdstat_set_flags", {fd, fdflags::kDsync}), Errno::Success);
  EXPECT_EQ(call("fd_datasync", {fd}), Errno::Success);
  EXPECT_EQ(call("fd_sync", {fd}), Errno::Success);
}

TEST_P(Wasi, TruncatingNeedsTheRight) {
  ASSERT_TRUE(context.preopen(outer_ + "/box", "/ro", true));
  EXPECT_EQ(open("file", 8, true, rights::kFdRead, 0, 4), Errno::Notcapable);
  EXPECT_EQ(open("fresh", 1, true, rights::kFdRead, 0, 4), Errno::Notcapable);
  struct stat s;
  ASSERT_EQ(::stat((outer_ + "/box/file").c_str(), &s), 0);
  EXPECT_EQ(s.st_size, 7);
}

TEST_P(Wasi, NumbersAreTheLowestFree) {
  ASSERT_EQ(open("file"), Errno::Success);
  EXPECT_EQ(out(), 0u) << "no standard streams in this test";
  for (std::uint32_t expected : {1u, 2u, 4u, 5u, 6u}) {
    ASSERT_EQ(open("file"), Errno::Success);
    EXPECT_EQ(out(), expected);
  }
  EXPECT_EQ(call("fd_close", {5}), Errno::Success);
  EXPECT_EQ(call("fd_close", {1}), Errno::Success);
  ASSERT_EQ(open("file"), Errno::Success);
  EXPECT_EQ(out(), 1u);
  ASSERT_EQ(open("file"), Errno::Success);
  EXPECT_EQ(out(), 5u);
}

TEST_P(Wasi, Renumbering) {
  ASSERT_EQ(open("file"), Errno::Success);  // 0
  ASSERT_EQ(open("dir"), Errno::Success);   // 1
  EXPECT_EQ(call("fd_renumber", {0, 0}), Errno::Success);
  EXPECT_EQ(call("fd_renumber", {0, 0xffff'ffff}), Errno::Badf);
  EXPECT_EQ(call("fd_renumber", {0, 2}), Errno::Badf) << "the target is closed";
  EXPECT_EQ(call("fd_renumber", {2, 0}), Errno::Badf) << "the source is closed";
  EXPECT_EQ(call("fd_renumber", {0, 1}), Errno::Success);
  EXPECT_EQ(call("fd_close", {0}), Errno::Badf);
  std::string text;
  EXPECT_EQ(read(1, 7, text), Errno::Success);
  EXPECT_EQ(text, "content");
  ASSERT_EQ(open("file"), Errno::Success);
  EXPECT_EQ(out(), 0u);
  EXPECT_EQ(context.open_descriptors(), 3u);
}

TEST_P(Wasi, DescriptorsAreLimited) {
  context.max_descriptors = 4;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(open("file"), Errno::Success);
  EXPECT_EQ(open("fresh", 1), Errno::Mfile);
  EXPECT_EQ(stat("fresh"), Errno::Noent) << "nothing was created";
  EXPECT_EQ(call("fd_close", {1}), Errno::Success);
  EXPECT_EQ(open("file"), Errno::Success);
}

TEST_P(Wasi, NothingLeaks) {
  const auto count = [] {
    std::vector<platform::DirEntry> entries;
    platform::Fd fd;
    EXPECT_EQ(platform::open_directory("/proc/self/fd", fd), 0);
    EXPECT_EQ(platform::list_directory(fd.get(), entries), 0);
    return entries.size();
  };
  const std::size_t before = count();
  for (const char* path :
       {"file", "dir", "missing", "escape", "loop", "file/x", "up/x", "dir/", ""}) {
    for (std::uint32_t oflags = 0; oflags < 16; ++oflags) {
      if (open(path, oflags) == Errno::Success) {
        EXPECT_EQ(
            call("fd_readdir", {out(), 8192, 100, 0, 96}) == Errno::Success,
            get<std::uint8_t>(0) == 0 && context.find(out())->kind == Descriptor::Kind::Directory);
        EXPECT_EQ(call("fd_close", {out()}), Errno::Success);
      }
    }
    stat(path);
    link(path, "dir/l");
    rename(path, "dir/r");
    symlink("x", path);
  }
  EXPECT_EQ(count(), before);
}

TEST_P(Wasi, ClosedStandardStreams) {
  const int closed = ::dup(0);
  ::close(closed);
  context.set_host_fd(0, closed);
  EXPECT_EQ(call("fd_read", {0, kListAt, 0, kOutAt}), Errno::Badf);
  const int name_only = ::open("/dev/null", O_PATH | O_CLOEXEC);
  context.set_host_fd(1, name_only);
  EXPECT_EQ(call("fd_fdstat_get", {1, 512}), Errno::Badf);
  ::close(name_only);
}

TEST_P(Wasi, Times) {
  const std::uint64_t n = put("inside");
  EXPECT_EQ(
      call("path_filestat_set_times", {3, 1, kPathAt, n, 1'000'000'001, 2'000'000'002, 1 | 4}),
      Errno::Success);
  ASSERT_EQ(stat("file"), Errno::Success);
  EXPECT_EQ(get<std::uint64_t>(128 + 40), 1'000'000'001u);
  EXPECT_EQ(get<std::uint64_t>(128 + 48), 2'000'000'002u);
  put("inside");
  EXPECT_EQ(call("path_filestat_set_times", {3, 0, kPathAt, n, 0, 7, 4}), Errno::Success);
  ASSERT_EQ(stat("inside", false), Errno::Success);
  EXPECT_EQ(get<std::uint64_t>(128 + 48), 7u);
  ASSERT_EQ(stat("file"), Errno::Success);
  EXPECT_EQ(get<std::uint64_t>(128 + 48), 2'000'000'002u) << "the file was not meant";
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = out();
  EXPECT_EQ(call("fd_filestat_set_times", {fd, 5, 5, 3}), Errno::Inval);
  EXPECT_EQ(call("fd_filestat_set_times", {fd, 5, 5, 16}), Errno::Inval);
  EXPECT_EQ(call("fd_filestat_set_times", {fd, 5, 0, 1 | 8}), Errno::Success);
  ASSERT_EQ(call("fd_filestat_get", {fd, 128}), Errno::Success);
  EXPECT_EQ(get<std::uint64_t>(128 + 40), 5u);
  EXPECT_GT(get<std::uint64_t>(128 + 48), 1'000'000'000'000'000'000u);
}

TEST_P(Wasi, SizesAndAdvice) {
  ASSERT_EQ(open("file"), Errno::Success);
  const std::uint32_t fd = out();
  EXPECT_EQ(call("fd_filestat_set_size", {fd, ~0ull}), Errno::Inval);
  EXPECT_EQ(call("fd_filestat_set_size", {fd, 3}), Errno::Success);
  EXPECT_EQ(call("fd_allocate", {fd, 0, 0}), Errno::Inval);
  const Errno allocated = call("fd_allocate", {fd, 0, 100});
  EXPECT_TRUE(allocated == Errno::Success || allocated == Errno::Notsup) << allocated;
  EXPECT_EQ(call("fd_advise", {fd, 0, 100, 5}), Errno::Success);
  EXPECT_EQ(call("fd_advise", {fd, 0, 100, 6}), Errno::Inval);
  EXPECT_EQ(call("fd_advise", {3, 0, 100, 0}), Errno::Badf);
  EXPECT_EQ(call("fd_allocate", {3, 0, 100}), Errno::Badf);
  EXPECT_EQ(call("fd_seek", {fd, static_cast<std::uint64_t>(-1), 0, 304}), Errno::Inval);
  EXPECT_EQ(call("fd_seek", {fd, 0, 3, 304}), Errno::Inval);
  EXPECT_EQ(call("fd_seek", {3, 0, 0, 304}), Errno::Badf);
  std::string text;
  EXPECT_EQ(read(3, 1, text), Errno::Isdir);
  EXPECT_EQ(write(3, "x"), Errno::Badf);
  EXPECT_EQ(call("fd_pread", {fd, kListAt, 1, ~0ull, kOutAt}), Errno::Inval);
}

TEST_P(Wasi, TheNullDeviceIsNoTerminal) {
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(null, 0);
  context.set_host_fd(1, null);
  EXPECT_EQ(call("fd_fdstat_get", {1, 512}), Errno::Success);
  EXPECT_EQ(memory[512], 2) << "a character device";
  EXPECT_NE(base::load_le<std::uint64_t>(&memory[520]) & rights::kFdSeek, 0u);
  ::close(null);
}

TEST_P(Wasi, ClockDeadlinesAreWaitedFor) {
  base::store_le<std::uint64_t>(&memory[512], 77);
  memory[520] = 0;
  base::store_le<std::uint32_t>(&memory[528], 1);
  base::store_le<std::uint64_t>(&memory[536], 2'000'000);
  base::store_le<std::uint16_t>(&memory[552], 0);
  EXPECT_EQ(call("poll_oneoff", {512, 1024, 1, 300}), Errno::Success);
  EXPECT_EQ(base::load_le<std::uint32_t>(&memory[300]), 1u);
  EXPECT_EQ(base::load_le<std::uint64_t>(&memory[1024]), 77u);
  EXPECT_EQ(call("poll_oneoff", {512, 1024, 0, 300}), Errno::Inval);
}

HOIST_WASI_BOTH_WAYS(Wasi);

}  // namespace
}  // namespace hoist::wasi
