// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hoist::platform {
namespace {

struct Descriptor {
  int fd;
  explicit Descriptor(int the_fd) : fd(the_fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Error io_error(const char* what, const std::string& path, int error) {
  return {ErrorKind::Io, fmt::format("cannot {} '{}': {}", what, path, std::strerror(error))};
}

}  // namespace

Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::uint64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.fd < 0) return io_error("read", path, errno);
  struct stat info = {};
  if (::fstat(file.fd, &info) != 0) return io_error("read", path, errno);
  if (S_ISDIR(info.st_mode)) {
    return Error(ErrorKind::Io,
                 fmt::format("cannot read '{}': it is a directory, not a file", path));
  }
  const auto too_large = [&] {
    return Error(ErrorKind::Io,
                 fmt::format("cannot read '{}': it is larger than {} bytes", path, max_bytes));
  };
  std::vector<std::uint8_t> bytes;
  if (S_ISREG(info.st_mode)) {
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (size > max_bytes) return too_large();
    bytes.reserve(size + 1);  // one more, so that the end is seen without growing
  }
  // The size is a hint only: files in /proc say 0, others may grow.
  std::size_t used = 0;
  for (;;) {
    bytes.resize(std::max(bytes.capacity(), used + 65536));
    const ssize_t got = ::read(file.fd, bytes.data() + used, bytes.size() - used);
    if (got < 0) {
      if (errno == EINTR) continue;
      return io_error("read", path, errno);
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > max_bytes) return too_large();
  }
  bytes.resize(used);
  return bytes;
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat first = {}, second = {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

Result<void> append_file(const std::string& path, std::string_view text) {
  // Not waiting: what is there may be a pipe that nobody reads.
  const Descriptor file(::open(
      path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file.fd < 0) return io_error("write to", path, errno);
  struct stat info = {};
  if (::fstat(file.fd, &info) != 0) return io_error("write to", path, errno);
  if (!S_ISREG(info.st_mode)) return io_error("write to", path, EINVAL);
  while (!text.empty()) {
    const ssize_t wrote = ::write(file.fd, text.data(), text.size());
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return io_error("write to", path, errno);
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

void remove_file(const std::string& path) {
  ::unlink(path.c_str());
}

}  // namespace hoist::platform
