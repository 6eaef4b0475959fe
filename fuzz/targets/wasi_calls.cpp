// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences of WASI calls with any arguments on any memory, against a directory in which links lead
// out, and a secret outside of it. Whatever the calls: the secret is not read, not changed, not
// moved, and nothing appears beside it; every answer is an errno; no host descriptor leaks. Waiting
// is interrupted at once. The first byte chooses whether openat2 is used.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "fuzz/gen/byte_source.hpp"
#include "platform/beneath.hpp"
#include "platform/sockets.hpp"
#include "wasi/p1/context.hpp"

namespace {

using namespace hoist;

constexpr std::size_t kMemorySize = 1 << 16;
constexpr char kSecret[] = "S3CRET-7f1e0c55-not-for-guests";
constexpr std::uint64_t kFileSizeLimit = 1 << 20;

const char* const kPaths[] = {"file",
                              "dir",
                              "dir/",
                              "new",
                              "new/",
                              "dir/new",
                              "..",
                              "../secret",
                              "dir/..",
                              "dir/../..",
                              "up",
                              "up/secret",
                              "up/box/file",
                              "escape",
                              "absolute",
                              "/etc/passwd",
                              ".",
                              "./",
                              "",
                              "dangling",
                              "dangling/",
                              "loop",
                              "dirlink",
                              "dirlink/../..",
                              "fifo",
                              "dir/up",
                              "dir/up/../secret",
                              "//",
                              "a/b/c",
                              "dir/deep/out",
                              "../made",
                              "up/made",
                              "dir/inner",
                              "file/",
                              "self/self",
                              "self/../secret",
                              "../../secret",
                              "../..",
                              "dir/up/up/secret",
                              "moved/../secret"};

struct World {
  std::string outer;
  std::string secret;
  struct stat secret_stat{};
};

std::vector<platform::DirEntry> entries_of(const std::string& path) {
  std::vector<platform::DirEntry> out;
  platform::Fd fd;
  if (platform::open_directory(path.c_str(), fd) == 0)
    static_cast<void>(platform::list_directory(fd.get(), out));
  return out;
}

void clear(const std::string& path) {
  for (const platform::DirEntry& entry : entries_of(path)) {
    if (entry.name == "." || entry.name == "..") continue;
    const std::string child = path + "/" + entry.name;
    if (::unlink(child.c_str()) != 0) {
      clear(child);
      ::rmdir(child.c_str());
    }
  }
}

void write_file(const std::string& path, const char* text) {
  const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  HOIST_CHECK(fd >= 0 && ::write(fd, text, std::strlen(text)) >= 0, "the fuzzer can write");
  ::close(fd);
}

World& world() {
  static World* made = [] {
    auto* w = new World;
    char name[] = "/tmp/hoist-wasi-fuzz-XXXXXX";
    HOIST_CHECK(::mkdtemp(name) != nullptr, "a temporary directory");
    w->outer = name;
    w->secret = w->outer + "/secret";
    write_file(w->secret, kSecret);
    HOIST_CHECK(::stat(w->secret.c_str(), &w->secret_stat) == 0, "the secret is there");
    HOIST_CHECK(::mkdir((w->outer + "/box").c_str(), 0777) == 0, "the box is made");
    const rlimit limit{kFileSizeLimit, kFileSizeLimit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    std::atexit([] {
      clear(world().outer);
      ::rmdir(world().outer.c_str());
    });
    return w;
  }();
  return *made;
}

void fill_box(const World& w) {
  const std::string box = w.outer + "/box/";
  clear(w.outer + "/box");
  ::mkdir((box + "dir").c_str(), 0777);
  ::mkdir((box + "dir/deep").c_str(), 0777);
  write_file(box + "file", "content");
  write_file(box + "dir/inner", "inner");
  ::mkfifo((box + "fifo").c_str(), 0666);
  const auto link = [&](const std::string& target, const char* name) {
    HOIST_CHECK(::symlink(target.c_str(), (box + name).c_str()) == 0, "a link is made");
  };
  link("../secret", "escape");
  link(w.secret, "absolute");
  link("..", "up");
  link("../..", "dir/up");
  link("../../../secret", "dir/deep/out");
  link("nowhere", "dangling");
  link("loop", "loop");
  link("dir", "dirlink");
  link(".", "self");
}

void check_outside(const World& w) {
  struct stat now{};
  HOIST_CHECK(::stat(w.secret.c_str(), &now) == 0, "the secret is where it was");
  HOIST_CHECK(now.st_ino == w.secret_stat.st_ino && now.st_size == w.secret_stat.st_size &&
                  now.st_nlink == 1 && now.st_mtim.tv_sec == w.secret_stat.st_mtim.tv_sec &&
                  now.st_mtim.tv_nsec == w.secret_stat.st_mtim.tv_nsec,
              "the secret was not touched");
  HOIST_CHECK(entries_of(w.outer).size() == 4, "nothing was made outside");
}

std::size_t open_host_descriptors() {
  return entries_of("/proc/self/fd").size();
}

class Run {
 public:
  Run(fuzz::ByteSource& bytes, const World& w) : bytes_(bytes), memory_(kMemorySize) {
    wake_.raise();
    context_.wake = &wake_;
    context_.max_descriptors = 64;
    context_.args = {"program", "argument"};
    context_.env = {"A=1"};
    context_.set_stream(0, std::make_shared<wasi::TextInput>("some input for the guest"));
    context_.set_stream(1, std::make_shared<wasi::TextOutput>(nullptr));
    HOIST_CHECK(context_.preopen(w.outer + "/box", "/").has_value(), "the box is opened");
    HOIST_CHECK(context_.preopen(w.outer + "/box/dir", "/ro", true).has_value(),
                "and a part of it");
    int pair[2];
    HOIST_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "sockets");
    for (const int fd : pair)
      HOIST_CHECK(context_.preopen_fd(platform::Fd(fd), true).has_value(), "sockets are taken");
  }

  void go() {
    for (int i = 0; i < 48 && !bytes_.done(); ++i) {
      poke();
      call();
    }
  }

 private:
  /// Puts things into memory that calls understand.
  void poke() {
    switch (bytes_.below(4)) {
      case 0: break;
      case 1: {  // a path
        const char* path = bytes_.one_of(kPaths);
        std::memcpy(memory_.data() + 256 + 64 * bytes_.below(2), path, std::strlen(path));
        path_length_[bytes_.below(2)] = std::strlen(path);
        break;
      }
      case 2: {  // slices
        for (std::size_t k = 0; k < 4; ++k) {
          base::store_le(memory_.data() + 512 + 8 * k, static_cast<std::uint32_t>(value()));
          base::store_le(memory_.data() + 516 + 8 * k, static_cast<std::uint32_t>(bytes_.u8()));
        }
        break;
      }
      default: {  // anything
        const std::size_t at = bytes_.u8() * 8;
        base::store_le(memory_.data() + at, bytes_.u64());
        break;
      }
    }
  }
  std::uint64_t value() {
    static constexpr std::uint64_t kInteresting[] = {
        0,           1,           2,     3,          4,     5,     6,     7,
        8,           16,          24,    48,         64,    128,   256,   320,
        512,         1024,        4096,  65535,      65536, 65528, 65472, 0xffff'ffff,
        0x7fff'ffff, 0x8000'0000, ~0ull, 1ull << 63, 9,     15,    31,    0x3fff'ffff};
    return bytes_.below(8) == 0 ? bytes_.u64() : bytes_.one_of(kInteresting);
  }
  /// The arguments of a call that finds a path, when it takes one.
  void aim(std::string_view name, std::uint64_t* args) {
    if (!name.starts_with("path_") || bytes_.below(8) == 0) return;
    const std::uint64_t first = path_length_[0], second = path_length_[1];
    const auto at = [&](std::size_t i, std::uint64_t pointer, std::uint64_t length) {
      args[i] = pointer;
      args[i + 1] = length;
    };
    if (name == "path_symlink") {
      at(0, 256, first);
      args[2] = 3;
      at(3, 320, second);
      return;
    }
    args[0] = bytes_.below(4) == 0 ? args[0] : 3;
    const bool flags =
        name == "path_open" || name == "path_link" || name.starts_with("path_filestat");
    at(flags ? 2 : 1, 256, first);
    if (name == "path_rename") {
      args[3] = 3;
      at(4, 320, second);
    }
    if (name == "path_link") {
      args[4] = 3;
      at(5, 320, second);
    }
    if (name == "path_open") {
      args[1] &= 1;
      args[4] &= 15;
      args[5] = args[6] = ~0ull;
      args[7] &= 31;
      args[8] = 64;
    }
  }
  void call() {
    const std::uint8_t choice = bytes_.u8();
    const auto functions =
        wasi::functions(choice < 184 ? wasi::Version::Preview1 : wasi::Version::Unstable);
    const wasi::Function& f = functions[choice % functions.size()];
    std::uint64_t args[wasi::kMaxParams];
    for (std::size_t i = 0; f.params[i] != '\0'; ++i) {
      args[i] = value();
      if (f.params[i] == 'i') args[i] &= 0xffff'ffff;
    }
    aim(f.name, args);
    auto outcome = wasi::Outcome::Return;
    const wasi::Errno error = f.call(context_, wasi::GuestMemory(memory_), args, outcome);
    HOIST_CHECK(static_cast<unsigned>(error) <= 76, "an errno");
    HOIST_CHECK(context_.open_descriptors() <= 64, "the limit holds");
    HOIST_CHECK(::memmem(memory_.data(), memory_.size(), kSecret, sizeof kSecret - 1) == nullptr,
                "the secret was not read");
  }

  fuzz::ByteSource& bytes_;
  std::vector<std::uint8_t> memory_;
  platform::WakeFlag wake_;
  wasi::Context context_;
  std::size_t path_length_[2] = {0, 0};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const World& w = world();
  const std::size_t before = open_host_descriptors();
  fuzz::ByteSource bytes({data, size});
  platform::set_openat2_allowed((bytes.u8() & 1) == 0);
  fill_box(w);
  {
    Run run(bytes, w);
    run.go();
  }
  check_outside(w);
  HOIST_CHECK(open_host_descriptors() == before, "no descriptor is left open");
  return 0;
}
