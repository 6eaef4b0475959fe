// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Sections of a module by their ids, and their order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace hoist::wasm {

enum SectionId : std::uint8_t {
  kCustomSection = 0,
  kTypeSection = 1,
  kImportSection = 2,
  kFunctionSection = 3,
  kTableSection = 4,
  kMemorySection = 5,
  kGlobalSection = 6,
  kExportSection = 7,
  kStartSection = 8,
  kElementSection = 9,
  kCodeSection = 10,
  kDataSection = 11,
  kDataCountSection = 12,
  kTagSection = 13
};

/// In the order that a module must keep; the text has it too.
inline constexpr std::uint8_t kSectionOrder[] = {
    kTypeSection,      kImportSection, kFunctionSection, kTableSection, kMemorySection,
    kTagSection,       kGlobalSection, kExportSection,   kStartSection, kElementSection,
    kDataCountSection, kCodeSection,   kDataSection};

/// Place of a section that is not custom in that order.
inline std::size_t section_rank(std::uint8_t id) {
  return static_cast<std::size_t>(
      std::find(std::begin(kSectionOrder), std::end(kSectionOrder), id) -
      std::begin(kSectionOrder));
}

}  // namespace hoist::wasm
