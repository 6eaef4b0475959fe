// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// MemoryImage: what data segments make of a memory, as pages that instances share until they
/// write. Immutable; any thread.

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "platform/memory_file.hpp"

namespace hoist::runtime {

/// Numbers that are never used twice in a process: an image's or a module's, as the pool knows it.
std::uint64_t next_memory_id();

class MemoryImage {
 public:
  struct Piece {
    std::uint64_t to = 0;
    std::span<const std::uint8_t> bytes;
  };
  /// The range from the first to the last byte of an image is at most this much for each byte of
  /// data, and kFreeBytes: a hole that is read or written costs a page of the file too.
  static constexpr std::uint64_t kMostSpread = 8;
  static constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 20;

  /// What `pieces`, written in order over zeros, make. Null if there is nothing to write, if they
  /// lie too far apart, or if the system does not give what it takes: the pieces are then to be
  /// written into each memory.
  static std::shared_ptr<const MemoryImage> build(std::span<const Piece> pieces);

  std::uint64_t id() const { return id_; }
  /// Place in the memory: whole pages.
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return begin_ + file_.bytes(); }
  /// The contents from `begin` on.
  const std::uint8_t* view() const { return file_.view(); }
  /// @error OutOfMemory: nothing has changed
  Result<void> map_into(std::uint8_t* memory) const { return file_.map_private(memory + begin_); }

 private:
  MemoryImage() = default;
  std::uint64_t id_ = 0;
  std::uint64_t begin_ = 0;
  platform::MemoryFile file_;
};

}  // namespace hoist::runtime
