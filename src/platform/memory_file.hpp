// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// MemoryFile: contents without a name in any file system (memfd) that many private mappings share
/// until they write; and the two ways of making pages as new. Pages of a file that nobody wrote
/// cost nothing.

#include <cstdint>
#include <utility>

#include "base/result.hpp"
#include "platform/pages.hpp"

namespace hoist::platform {

class MemoryFile {
 public:
  MemoryFile() = default;
  /// `bytes` zeros (a multiple of the page size, not 0), to be written through `writable`.
  /// @error Unsupported: the system has no such files or forbids them; OutOfMemory
  static Result<MemoryFile> create(std::uint64_t bytes);
  MemoryFile(MemoryFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        view_(std::exchange(other.view_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryFile& operator=(MemoryFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(view_, other.view_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryFile();

  std::uint64_t bytes() const { return bytes_; }
  /// Until `seal`.
  std::uint8_t* writable() const { return view_; }
  /// The contents never change again. @error OutOfMemory
  Result<void> seal();
  /// After `seal`: the contents, read-only.
  const std::uint8_t* view() const { return view_; }
  /// Puts the contents at `at`, readable and writable, in place of whatever is mapped there; what
  /// is written is private. After `seal`. @error OutOfMemory: nothing has changed
  Result<void> map_private(std::uint8_t* at) const;

 private:
  int fd_ = -1;
  std::uint8_t* view_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// Puts fresh zero pages in place of whatever is mapped there. @error OutOfMemory
Result<void> map_fresh(std::uint8_t* at, std::uint64_t bytes, Access access);
/// Gives the memory of whole pages back: they read as their file or as zero again. Access stays.
/// False if the system does not (pages are locked).
bool discard_pages(std::uint8_t* at, std::uint64_t bytes);

/// For tests: after `successes` more calls of one kind, calls of it fail until the next
/// `fail_pages(call, -1)`. Whole process.
enum class PageCall : std::uint8_t { CreateFile, SizeFile, MapFile, MapFresh, Protect, Discard };
inline constexpr int kPageCalls = 6;
void fail_pages(PageCall call, int successes);
/// Whether a call of this kind is to fail now.
bool is_failing(PageCall call);

}  // namespace hoist::platform
