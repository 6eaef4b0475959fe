// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CodeMapping: machine code where it can run.

#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "image/image.hpp"
#include "platform/pages.hpp"

namespace hoist::jit {

/// Owner of executable memory; unmaps it on destruction, so it must outlive all frames in it.
class CodeMapping {
 public:
  CodeMapping() = default;
  /// Copies `code` into fresh pages and makes them executable. They are never writable and
  /// executable at once.
  /// @error OutOfMemory: the system refuses memory. A system that gives the memory but does not let
  /// it
  ///        become executable is an Unsupported error.
  static Result<CodeMapping> map(std::span<const std::uint8_t> code);
  /// The text of `image`, made executable where it is if the image is a mapped file. Otherwise all
  /// of the image moves into fresh pages, so that no second copy of anything is kept. `image` must
  /// outlive the mapping. Errors as above.
  static Result<CodeMapping> map(image::Image& image);

  /// Makes the code writable instead of executable. No thread may be in it until `publish`, nor be
  /// about to enter it; frames in it may be on stacks.
  /// @error OutOfMemory: the system refuses; nothing has changed
  Result<void> unpublish();
  /// Makes it executable again; ends the process if the system refuses.
  void publish();
  /// Only between `unpublish` and `publish`.
  std::uint8_t* writable() { return const_cast<std::uint8_t*>(base_); }

  const std::uint8_t* base() const { return base_; }
  std::uint64_t size() const { return size_; }
  bool contains(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(base()) < size_;
  }

 private:
  platform::PageRegion region_;  // empty: the image owns the pages
  const std::uint8_t* base_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace hoist::jit
