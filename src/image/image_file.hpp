// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What is written to disk: the bytes of an image, then what only a file needs: unwind information,
/// the module, symbols; and its checksum.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/image.hpp"

namespace hoist::image {

/// Name of the function that is number `function` in Image::functions().
struct ImageSymbol {
  std::uint32_t function = 0;
  std::string name;
};

struct ImageFileParts {
  std::span<const std::uint8_t> module;  ///< becomes Image::section(kModuleSection)
  std::span<const ImageSymbol> symbols;
  std::span<const std::uint8_t> key;    ///< of a cache; becomes Image::section(kKeySection)
  std::uint64_t language_features = 0;  ///< becomes Image::language_features
};

/// The image may itself come from a file: then its parts are replaced.
std::vector<std::uint8_t> image_file(const Image& image, const ImageFileParts& parts);

/// Writes the right checksum into the header.
void seal_image_file(std::span<std::uint8_t> bytes);

}  // namespace hoist::image
