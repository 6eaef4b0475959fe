// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/loaded_image.hpp"

#include <utility>

namespace hoist::jit {

Result<std::unique_ptr<LoadedImage>> LoadedImage::load(image::Image image, const void* owner) {
  std::unique_ptr<LoadedImage> out(new LoadedImage);
  out->image_ = std::move(image);
  HOIST_TRY(out->loaded_.code, CodeMapping::map(out->image_.text()));
  out->loaded_.image = &out->image_;
  out->loaded_.owner = owner;
  if (out->loaded_.code.size() != 0) register_code(out->loaded_);
  return out;
}

LoadedImage::~LoadedImage() {
  if (loaded_.code.size() != 0) unregister_code(loaded_);
}

const void* LoadedImage::address(image::FuncKey key) const {
  const image::FunctionEntry* entry = image_.function(key);
  return entry == nullptr ? nullptr : base() + entry->offset;
}

}  // namespace hoist::jit
