// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The parts of ELF64 that an image uses: System V gABI, chapter 4. Little-endian, as every host.

#include <cstdint>

namespace hoist::image::elf {

inline constexpr std::uint8_t kMagic[4] = {0x7f, 'E', 'L', 'F'};

struct Header {
  std::uint8_t ident[16];
  std::uint16_t type;
  std::uint16_t machine;
  std::uint32_t version;
  std::uint64_t entry;
  std::uint64_t segments;  ///< file offset of the program headers
  std::uint64_t sections;  ///< file offset of the section headers
  std::uint32_t flags;
  std::uint16_t header_bytes;
  std::uint16_t segment_bytes;
  std::uint16_t segment_count;
  std::uint16_t section_bytes;
  std::uint16_t section_count;
  std::uint16_t names_section;
};
static_assert(sizeof(Header) == 64);
inline constexpr std::uint8_t kClass64 = 2;
inline constexpr std::uint8_t kLittleEndian = 1;
inline constexpr std::uint16_t kSharedObject = 3;
inline constexpr std::uint16_t kMachineX64 = 62;
inline constexpr std::uint16_t kMachineAArch64 = 183;

struct Segment {
  std::uint32_t type;
  std::uint32_t flags;
  std::uint64_t offset;
  std::uint64_t address;
  std::uint64_t physical;
  std::uint64_t file_bytes;
  std::uint64_t memory_bytes;
  std::uint64_t align;
};
static_assert(sizeof(Segment) == 56);
inline constexpr std::uint32_t kLoad = 1;
inline constexpr std::uint32_t kGnuEhFrame = 0x6474'e550;
inline constexpr std::uint32_t kGnuStack = 0x6474'e551;
inline constexpr std::uint32_t kExecute = 1;
inline constexpr std::uint32_t kRead = 4;
inline constexpr std::uint32_t kReadWrite = 6;

struct Section {
  std::uint32_t name;  ///< offset into the names section
  std::uint32_t type;
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t align;
  std::uint64_t entry_bytes;
};
static_assert(sizeof(Section) == 64);
inline constexpr std::uint32_t kProgBits = 1;
inline constexpr std::uint32_t kSymTab = 2;
inline constexpr std::uint32_t kStrTab = 3;
inline constexpr std::uint64_t kAlloc = 2;
inline constexpr std::uint64_t kExecInstr = 4;

struct Symbol {
  std::uint32_t name;
  std::uint8_t info;
  std::uint8_t other;
  std::uint16_t section;
  std::uint64_t value;
  std::uint64_t bytes;
};
static_assert(sizeof(Symbol) == 24);
inline constexpr std::uint8_t kLocalFunction = 2;  ///< STB_LOCAL, STT_FUNC

}  // namespace hoist::image::elf
