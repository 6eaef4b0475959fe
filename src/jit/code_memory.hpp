// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CodeMapping: machine code where it can run.

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "platform/pages.hpp"

namespace hoist::jit {

/// Owner of executable memory; unmaps it on destruction, so it must outlive all frames in it.
class CodeMapping {
 public:
  CodeMapping() = default;
  /// Copies `code` into fresh pages and makes them executable. They are never writable and
  /// executable at once, and never writable again.
  /// @error OutOfMemory: the system refuses memory. A system that gives the memory but does not let
  /// it
  ///        become executable is an Unsupported error.
  static Result<CodeMapping> map(std::span<const std::uint8_t> code);

  const std::uint8_t* base() const { return region_.base(); }
  std::uint64_t size() const { return size_; }
  bool contains(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(base()) < size_;
  }

 private:
  platform::PageRegion region_;
  std::uint64_t size_ = 0;
};

}  // namespace hoist::jit
