// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// LoadedImage: an image whose code can run: mapped, registered, found by address.

#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "image/image.hpp"
#include "jit/code_registry.hpp"

namespace hoist::jit {

/// Unregisters and unmaps on destruction, so it must outlive all frames in its code.
class LoadedImage {
 public:
  /// `owner` is what CodeLookup says of addresses in it. Errors as CodeMapping::map.
  static Result<std::unique_ptr<LoadedImage>> load(image::Image image, const CodeOwner* owner);
  ~LoadedImage();
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  const image::Image& image() const { return image_; }
  const std::uint8_t* base() const { return loaded_.code.base(); }
  /// Address of the code of this key, or null.
  const void* address(image::FuncKey key) const;

  /// Overwrites patchable calls (numbers of image().tables().patch_sites) by no-operations, or puts
  /// them back. All calls are there at first. See CodeMapping::unpublish about other threads; the
  /// memory is never writable and executable at once.
  /// @error BadArgument: no such site; OutOfMemory: the system refuses. Nothing has changed then.
  Result<void> set_patch_sites(std::span<const std::uint32_t> sites, bool active);

  /// Tells the system's unwinder (of C++ exceptions, backtrace(), sanitizers) about the code, until
  /// this is destroyed. Not needed for anything that Hoist does itself.
  /// @error Unsupported: the image has no unwind information near its code, or the system has no
  ///        such unwinder
  Result<void> register_frames();

 private:
  LoadedImage() = default;
  image::Image image_;
  LoadedCode loaded_;
  std::vector<std::uint8_t> calls_;  // the original bytes of all sites, once one was changed
  const std::uint8_t* registered_ = nullptr;
};

}  // namespace hoist::jit
