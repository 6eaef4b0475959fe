// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A file that a profiler writes while the program runs and that perf finds by its mapping.

#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace hoist::platform {

class DumpFile {
 public:
  DumpFile() = default;
  DumpFile(const DumpFile&) = delete;
  DumpFile& operator=(const DumpFile&) = delete;

  /// Creates the file for this user alone; one that is there is replaced, a link is not followed.
  /// @error Io
  Result<void> create(const std::string& path);
  /// Maps its first page as executable: that event is what `perf record` keeps of it. Needs one
  /// byte in the file. @error Io: the file system forbids it
  Result<void> map_marker();
  bool is_open() const { return fd_ >= 0; }
  void close();
  std::uint64_t size() const { return size_; }
  /// All of it, and `more` behind it, or nothing; false: the disk is full or the like.
  bool append(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> more = {});
  void truncate(std::uint64_t size);

 private:
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace hoist::platform
