// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/memory_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"

namespace hoist::platform {
namespace {

/// Successes left; negative: never fail.
constinit std::atomic<int> failures[kPageCalls] = {-1, -1, -1, -1, -1, -1};

Error refused(std::uint64_t bytes) {
  return {ErrorKind::OutOfMemory, fmt::format("the system refuses to map {} bytes of memory: {}",
                                              bytes, std::strerror(errno))};
}

}  // namespace

void fail_pages(PageCall call, int successes) {
  failures[static_cast<int>(call)].store(successes, std::memory_order_relaxed);
}

bool is_failing(PageCall call) {
  std::atomic<int>& left = failures[static_cast<int>(call)];
  if (left.load(std::memory_order_relaxed) < 0) [[likely]]
    return false;
  int now = left.load(std::memory_order_relaxed);
  while (now > 0 && !left.compare_exchange_weak(now, now - 1, std::memory_order_relaxed)) {
  }
  if (now == 0) errno = ENOMEM;
  return now == 0;
}

Result<MemoryFile> MemoryFile::create(std::uint64_t bytes) {
  HOIST_CHECK(bytes != 0 && bytes % page_bytes() == 0, "whole pages");
  MemoryFile out;
  out.fd_ = is_failing(PageCall::CreateFile)
                ? -1
                : ::memfd_create("hoist memory image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (out.fd_ < 0) {
    return Error(ErrorKind::Unsupported,
                 fmt::format("the system has no memory files: {}", std::strerror(errno)));
  }
  if (is_failing(PageCall::SizeFile) || ::ftruncate(out.fd_, static_cast<off_t>(bytes)) != 0) {
    return refused(bytes);
  }
  void* view = is_failing(PageCall::MapFile)
                   ? MAP_FAILED
                   : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd_, 0);
  if (view == MAP_FAILED) return refused(bytes);
  out.view_ = static_cast<std::uint8_t*>(view);
  out.bytes_ = bytes;
  return out;
}

MemoryFile::~MemoryFile() {
  if (view_ != nullptr) {
    HOIST_CHECK(::munmap(view_, bytes_) == 0, "the view can be given back");
  }
  if (fd_ >= 0) ::close(fd_);
}

Result<void> MemoryFile::seal() {
  HOIST_CHECK(::munmap(view_, bytes_) == 0, "the view can be given back");
  view_ = nullptr;
  // Seals keep a mistake from changing what instances share; a kernel without them still works.
  (void)::fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  void* view = is_failing(PageCall::MapFile)
                   ? MAP_FAILED
                   : ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (view == MAP_FAILED) return refused(bytes_);
  view_ = static_cast<std::uint8_t*>(view);
  return {};
}

Result<void> MemoryFile::map_private(std::uint8_t* at) const {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  if (is_failing(PageCall::MapFile) ||
      ::mmap(at, bytes_, kProtection, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd_, 0) ==
          MAP_FAILED) {
    return refused(bytes_);
  }
  return {};
}

static int protection_of(Access access) {
  switch (access) {
    case Access::None: return PROT_NONE;
    case Access::Read: return PROT_READ;
    case Access::ReadWrite: return PROT_READ | PROT_WRITE;
    case Access::ReadExecute: return PROT_READ | PROT_EXEC;
  }
  HOIST_UNREACHABLE("an Access");
}

Result<void> map_fresh(std::uint8_t* at, std::uint64_t bytes, Access access) {
  if (bytes == 0) return {};
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (is_failing(PageCall::MapFresh) ||
      ::mmap(at, bytes, protection_of(access), kFlags, -1, 0) == MAP_FAILED) {
    return refused(bytes);
  }
  return {};
}

bool discard_pages(std::uint8_t* at, std::uint64_t bytes) {
  return bytes == 0 || (!is_failing(PageCall::Discard) && ::madvise(at, bytes, MADV_DONTNEED) == 0);
}

}  // namespace hoist::platform
