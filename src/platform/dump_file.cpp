// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/dump_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/pages.hpp"

namespace hoist::platform {

static Error failed(const std::string& what) {
  return {ErrorKind::Io, what + ": " + std::strerror(errno)};
}

Result<void> DumpFile::create(const std::string& path) {
  // A file of an earlier process of the same number is not ours to write into.
  ::unlink(path.c_str());
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd_ < 0) return failed(path);
  size_ = 0;
  return {};
}

Result<void> DumpFile::map_marker() {
  // Never unmapped: the mapping is the message.
  void* at = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd_, 0);
  if (at == MAP_FAILED) return failed("the profile cannot be mapped as executable");
  return {};
}

void DumpFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool DumpFile::append(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> more) {
  if (fd_ < 0) return false;
  std::size_t done = 0;
  while (done < bytes.size() + more.size()) {
    const auto left = bytes.subspan(std::min(done, bytes.size()));
    const auto rest = more.subspan(done - std::min(done, bytes.size()));
    const iovec parts[] = {{const_cast<std::uint8_t*>(left.data()), left.size()},
                           {const_cast<std::uint8_t*>(rest.data()), rest.size()}};
    const ssize_t wrote = ::pwritev(fd_, parts, 2, static_cast<off_t>(size_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      truncate(size_);
      return false;
    }
    done += static_cast<std::size_t>(wrote);
  }
  size_ += done;
  return true;
}

void DumpFile::truncate(std::uint64_t size) {
  if (fd_ >= 0 && ::ftruncate(fd_, static_cast<off_t>(size)) == 0) size_ = size;
}

}  // namespace hoist::platform
