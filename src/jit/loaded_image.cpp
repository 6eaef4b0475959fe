// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/loaded_image.hpp"

#include <cstring>
#include <utility>

#include "platform/machine_context.hpp"

// The system's unwinder, where it is part of the process.
extern "C" {
[[gnu::weak]] void __register_frame(void* section);    // NOLINT: the library's name
[[gnu::weak]] void __deregister_frame(void* section);  // NOLINT
}

namespace hoist::jit {

/// Room for the longest patchable call of any target.
static constexpr std::uint32_t kMaxPatch = 16;

Result<std::unique_ptr<LoadedImage>> LoadedImage::load(image::Image image, const CodeOwner* owner) {
  std::unique_ptr<LoadedImage> out(new LoadedImage);
  out->image_ = std::move(image);
  HOIST_TRY(out->loaded_.code, CodeMapping::map(out->image_));
  out->loaded_.image = &out->image_;
  out->loaded_.owner = owner;
  if (out->loaded_.code.size() != 0) register_code(out->loaded_);
  return out;
}

LoadedImage::~LoadedImage() {
  if (registered_ != nullptr) __deregister_frame(const_cast<std::uint8_t*>(registered_));
  if (loaded_.code.size() != 0) unregister_code(loaded_);
}

const void* LoadedImage::address(image::FuncKey key) const {
  const image::FunctionEntry* entry = image_.function(key);
  return entry == nullptr ? nullptr : base() + entry->offset;
}

Result<void> LoadedImage::register_frames() {
  if (registered_ != nullptr) return {};
  const std::span<const std::uint8_t> frames =
      image_.section(image::table_section(image::TableKind::EhFrame));
  if (frames.empty() || base() != image_.text().data() || __register_frame == nullptr ||
      __deregister_frame == nullptr) {
    return Error(ErrorKind::Unsupported, "no unwind information to register for this code");
  }
  __register_frame(const_cast<std::uint8_t*>(frames.data()));
  registered_ = frames.data();
  return {};
}

Result<void> LoadedImage::set_patch_sites(std::span<const std::uint32_t> sites, bool active) {
  const image::PatchSites& table = image_.tables().patch_sites;
  const auto code_of = [&](std::uint32_t number) -> std::uint64_t {
    const image::PatchSite site = table.site(number);
    return std::uint64_t{site.return_offset} - site.length;
  };
  const auto is_good = [&](std::uint32_t number) {
    const image::PatchSite site = table.site(number);
    return number < table.size() && site.length <= kMaxPatch && site.length <= site.return_offset &&
           site.return_offset <= loaded_.code.size();
  };
  for (const std::uint32_t number : sites) {
    if (!is_good(number)) return Error(ErrorKind::BadArgument, "no patchable call of this number");
  }
  if (sites.empty()) return {};
  if (calls_.empty()) {
    calls_.resize(std::size_t{table.size()} * kMaxPatch);
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      if (!is_good(i)) continue;
      std::memcpy(&calls_[std::size_t{i} * kMaxPatch], base() + code_of(i), table.site(i).length);
    }
  }
  HOIST_TRY_VOID(loaded_.code.unpublish());
  for (const std::uint32_t number : sites) {
    const std::uint32_t length = table.site(number).length;
    std::uint8_t* to = loaded_.code.writable() + code_of(number);
    if (active) {
      std::memcpy(to, &calls_[std::size_t{number} * kMaxPatch], length);
    } else {
      platform::write_no_operations(to, length);
    }
  }
  loaded_.code.publish();
  return {};
}

}  // namespace hoist::jit
