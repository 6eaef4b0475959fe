// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/pages.hpp"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/bits.hpp"
#include "base/check.hpp"

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
  if (::mprotect(base_ + offset, bytes, protection_of(access)) != 0) {
    return Error(ErrorKind::OutOfMemory, fmt::format("the system refuses {} bytes of memory: {}",
                                                     bytes, std::strerror(errno)));
  }
  return {};
}

}  // namespace hoist::platform
