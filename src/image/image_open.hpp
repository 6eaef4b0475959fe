// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Opening an image that comes from outside: a file, a buffer. Checks all that can be checked
/// without knowing the module: afterwards no lookup reads outside of the bytes.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "image/hash.hpp"
#include "image/image.hpp"

namespace hoist::image {

/// Whether the bytes begin as an ELF file does: neither WebAssembly nor text.
bool has_elf_magic(std::span<const std::uint8_t> bytes);

struct OpenOptions {
  std::string_view target;     ///< of this machine; empty: whatever the image is for
  bool is_mapped = false;      ///< see Image::is_mapped
  bool check_checksum = true;  ///< off in tests only
};

/// `owner` keeps `bytes`, which are 8-aligned.
/// @error Malformed: no image, cut off, or damaged; Unsupported: made by a Hoist of another
///        layout or for another target. The message says which.
Result<Image> open_image(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
                         const OpenOptions& options = {});

/// What the header's checksum has to be.
Hash128 image_checksum(std::span<const std::uint8_t> bytes);

}  // namespace hoist::image
