// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Address space from the system: reserve, make usable, protect, give back.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace hoist::platform {

enum class Access : std::uint8_t { None, Read, ReadWrite, ReadExecute };

/// Bytes of a page; a power of two, at most 65,536.
std::size_t page_bytes();

/// A range of reserved address space, given back at destruction. Fresh pages read as zero.
class PageRegion {
 public:
  PageRegion() = default;
  /// Reserves `bytes` (rounded up to pages) without access and without committing memory.
  /// @error OutOfMemory: the system refuses; the message names the size and what may be the reason.
  static Result<PageRegion> reserve(std::uint64_t bytes);

  PageRegion(PageRegion&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageRegion& operator=(PageRegion&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PageRegion();

  std::uint8_t* base() const { return base_; }
  std::uint64_t bytes() const { return bytes_; }
  bool contains(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(base_) < bytes_;
  }
  /// Changes access of whole pages in [offset, offset + bytes), both multiples of the page size.
  /// @error OutOfMemory
  Result<void> protect(std::uint64_t offset, std::uint64_t bytes, Access access);
  /// Moves what is in whole pages at [offset, offset + bytes) of `from` to the same place here,
  /// which is as accessible as there afterwards: no byte is copied, pages never touched stay so.
  /// `from` has zeros there, or what a mapped file has. False: the system cannot, as where the
  /// range has several mappings; `from` is unchanged then, and what is here is to be overwritten.
  bool take_pages(PageRegion& from, std::uint64_t offset, std::uint64_t bytes);

 private:
  std::uint8_t* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// Changes access of whole pages that somebody else owns. @error OutOfMemory: the system refuses
Result<void> protect_pages(const std::uint8_t* base, std::uint64_t bytes, Access access);

/// A regular file in memory, read-only, private. As long as somebody cuts it off or overwrites it,
/// reading it faults or changes, as for every mapped program: replace files, do not rewrite them.
class MappedFile {
 public:
  MappedFile() = default;
  /// The whole file of an open descriptor, which the caller keeps. Empty for an empty file.
  /// @error Io: not a regular file; OutOfMemory
  static Result<MappedFile> map(int fd);
  /// The file of that name. @error Io besides: names it
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();
  const std::uint8_t* data() const { return base_; }
  std::uint64_t size() const { return bytes_; }

 private:
  std::uint8_t* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace hoist::platform
