// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The first page of an image: ELF header, Hoist's header, program headers, section headers and
/// their names, each at a fixed place. The text begins at the next page; a file offset is also the
/// address that ELF gives, so that an image is mapped as one piece.

#include <cstdint>
#include <string_view>

#include "image/elf.hpp"
#include "image/settings.hpp"

namespace hoist::image {

/// Begins right after the ELF header. What it says is checked in this order when an image is
/// opened: magic, format, layout, size, checksum.
struct ImageHeader {
  char magic[8];
  std::uint32_t format;        ///< kImageFormat
  std::uint32_t header_bytes;  ///< sizeof(ImageHeader)
  std::uint64_t layout[2];     ///< layout_hash(): what compiler and runtime agree on
  std::uint64_t checksum[2];   ///< of the file with these 16 bytes zero; 0 if never written
  std::uint64_t file_bytes;
  char version[16];            ///< of the Hoist that made it, for messages
  char target[16];             ///< "x86_64"
  std::uint64_t cpu_features;  ///< CodeSettings, field by field
  std::uint8_t opt_level;
  std::uint8_t signals;
  std::uint8_t explicit_bounds;
  std::uint8_t fuel;
  std::uint8_t epoch;
  std::uint8_t canonical_nans;
  std::uint8_t deterministic_relaxed;
  std::uint8_t interrupts;
  /// Of a file: those that its module was accepted with, bit by bit in the order of
  /// wasm/format/features.def.
  std::uint64_t language_features;
};
static_assert(sizeof(ImageHeader) == 112);

inline constexpr char kImageMagic[8] = {'H', 'O', 'I', 'S', 'T', 'I', 'M', 'G'};
inline constexpr std::uint32_t kImageFormat = 2;

/// Places in the first page.
inline constexpr std::uint64_t kHeaderAt = sizeof(elf::Header);
inline constexpr std::uint64_t kSegmentsAt = 256;
inline constexpr std::uint32_t kMaxSegments = 8;
inline constexpr std::uint64_t kSectionsAt = kSegmentsAt + kMaxSegments * sizeof(elf::Segment);
inline constexpr std::uint32_t kMaxSections = 32;
inline constexpr std::uint64_t kNamesAt = kSectionsAt + kMaxSections * sizeof(elf::Section);
inline constexpr std::uint64_t kTextAt = 4096;
inline constexpr std::uint64_t kImagePage = 4096;
static_assert(kHeaderAt + sizeof(ImageHeader) <= kSegmentsAt && kNamesAt < kTextAt);

/// Names of sections.
inline constexpr std::string_view kTextSection = ".text";
inline constexpr std::string_view kFunctionsSection = ".hoist.functions";
inline constexpr std::string_view kKeysSection = ".hoist.keys";
inline constexpr std::string_view kTrapsSection = ".hoist.traps";
inline constexpr std::string_view kAddressesSection = ".hoist.addresses";
inline constexpr std::string_view kModuleSection = ".hoist.module";
inline constexpr std::string_view kKeySection = ".hoist.key";
inline constexpr std::string_view kFrameIndexSection = ".eh_frame_hdr";
/// Sections that only a file has, and that a file made from a file gets anew.
inline constexpr std::string_view kFileSections[] = {kModuleSection, kKeySection,
                                                     kFrameIndexSection, ".symtab", ".strtab"};
constexpr bool is_file_section(std::string_view name) {
  for (const std::string_view one : kFileSections) {
    if (name == one) return true;
  }
  return false;
}

void store_settings(ImageHeader& header, const CodeSettings& settings);
CodeSettings load_settings(const ImageHeader& header);

}  // namespace hoist::image
