// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// LoadedImage: an image whose code can run: mapped, registered, found by address.

#include <memory>

#include "base/result.hpp"
#include "image/image.hpp"
#include "jit/code_registry.hpp"

namespace hoist::jit {

/// Unregisters and unmaps on destruction, so it must outlive all frames in its code.
class LoadedImage {
 public:
  /// `owner` is what CodeLookup says of addresses in it. Errors as CodeMapping::map.
  static Result<std::unique_ptr<LoadedImage>> load(image::Image image, const void* owner);
  ~LoadedImage();
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  const image::Image& image() const { return image_; }
  const std::uint8_t* base() const { return loaded_.code.base(); }
  /// Address of the code of this key, or null.
  const void* address(image::FuncKey key) const;

 private:
  LoadedImage() = default;
  image::Image image_;
  LoadedCode loaded_;
};

}  // namespace hoist::jit
