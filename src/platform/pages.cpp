// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/pages.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "platform/memory_file.hpp"

namespace hoist::platform {

static int protection_of(Access access) {
  switch (access) {
    case Access::None: return PROT_NONE;
    case Access::Read: return PROT_READ;
    case Access::ReadWrite: return PROT_READ | PROT_WRITE;
    case Access::ReadExecute: return PROT_READ | PROT_EXEC;
  }
  HOIST_UNREACHABLE("an Access");
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Result<PageRegion> PageRegion::reserve(std::uint64_t bytes) {
  const std::uint64_t rounded = base::align_up(bytes, page_bytes());
  if (rounded < bytes || rounded == 0) {
    return Error(ErrorKind::OutOfMemory,
                 fmt::format("cannot reserve {} bytes of address space", bytes));
  }
  void* base =
      ::mmap(nullptr, rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return Error(
        ErrorKind::OutOfMemory,
        fmt::format("the system refuses to reserve {} bytes of address space: {} (a limit on "
                    "virtual memory, `ulimit -v`, may be the reason)",
                    rounded, std::strerror(errno)));
  }
  PageRegion region;
  region.base_ = static_cast<std::uint8_t*>(base);
  region.bytes_ = rounded;
  return region;
}

PageRegion::~PageRegion() {
  if (base_ != nullptr) {
    HOIST_CHECK(::munmap(base_, bytes_) == 0, "reserved pages can be given back");
  }
}

Result<void> PageRegion::protect(std::uint64_t offset, std::uint64_t bytes, Access access) {
  HOIST_CHECK(offset <= bytes_ && bytes <= bytes_ - offset, "pages are within the region");
  if (bytes == 0) return {};
  if (is_failing(PageCall::Protect) ||
      ::mprotect(base_ + offset, bytes, protection_of(access)) != 0) {
    return Error(ErrorKind::OutOfMemory, fmt::format("the system refuses {} bytes of memory: {}",
                                                     bytes, std::strerror(errno)));
  }
  return {};
}

bool PageRegion::take_pages(PageRegion& from, std::uint64_t offset, std::uint64_t bytes) {
  HOIST_CHECK(offset <= bytes_ && bytes <= bytes_ - offset, "pages are within the region");
  HOIST_CHECK(offset <= from.bytes_ && bytes <= from.bytes_ - offset, "pages are within the other");
  // Without DONTUNMAP another thread could be given the hole before `from` is given back.
  std::uint8_t* to = base_ + offset;
  const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  if (::mremap(from.base_ + offset, bytes, bytes, flags, to) != MAP_FAILED) return true;
  // What was here may be gone all the same.
  const int fresh = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  const void* again = ::mmap(to, bytes, PROT_READ | PROT_WRITE, fresh, -1, 0);
  HOIST_CHECK(again == to || errno == EEXIST, "what was reserved can be had again");
  return false;
}

Result<void> protect_pages(const std::uint8_t* base, std::uint64_t bytes, Access access) {
  void* at = const_cast<std::uint8_t*>(base);
  if (bytes == 0 || ::mprotect(at, bytes, protection_of(access)) == 0) return {};
  return Error(ErrorKind::OutOfMemory, fmt::format("the system refuses {} bytes of memory: {}",
                                                   bytes, std::strerror(errno)));
}

Result<MappedFile> MappedFile::map(int fd) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return Error(ErrorKind::Io, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return Error(ErrorKind::Io, "it is not a regular file");
  MappedFile out;
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes == 0) return out;
  void* base = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (base == MAP_FAILED) {
    return Error(ErrorKind::OutOfMemory,
                 fmt::format("cannot map {} bytes of a file: {}", bytes, std::strerror(errno)));
  }
  out.base_ = static_cast<std::uint8_t*>(base);
  out.bytes_ = bytes;
  return out;
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    return Error(ErrorKind::Io, fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  }
  auto mapped = map(fd);
  ::close(fd);
  if (mapped) return mapped;
  return Error(mapped.error().kind(),
               fmt::format("cannot read '{}': {}", path, mapped.error().message()));
}

MappedFile::~MappedFile() {
  if (base_ != nullptr) {
    HOIST_CHECK(::munmap(base_, bytes_) == 0, "mapped pages can be given back");
  }
}

}  // namespace hoist::platform
