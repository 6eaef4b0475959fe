// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image/front_page.hpp"

#include <algorithm>
#include <cstring>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "image/version.hpp"

namespace hoist::image {

namespace {

constexpr std::uint16_t kNamesSection = 2;

std::uint8_t* section_at(std::uint8_t* page, std::uint64_t number) {
  return page + kSectionsAt + number * sizeof(elf::Section);
}

void copy_text(char* to, std::size_t size, std::string_view from) {
  std::memset(to, 0, size);
  std::memcpy(to, from.data(), std::min(from.size(), size - 1));
}

}  // namespace

void store_settings(ImageHeader& header, const CodeSettings& settings) {
  // A new setting does not compile here until it has a place.
  const auto& [opt_level, signals, explicit_bounds, fuel, epoch, interrupts, canonical_nans,
               deterministic_relaxed, cpu_features] = settings;
  header.opt_level = opt_level;
  header.signals = signals ? 1 : 0;
  header.explicit_bounds = explicit_bounds ? 1 : 0;
  header.fuel = fuel ? 1 : 0;
  header.epoch = epoch ? 1 : 0;
  header.interrupts = interrupts ? 1 : 0;
  header.canonical_nans = canonical_nans ? 1 : 0;
  header.deterministic_relaxed = deterministic_relaxed ? 1 : 0;
  header.cpu_features = cpu_features;
}

CodeSettings load_settings(const ImageHeader& header) {
  CodeSettings out;
  auto& [opt_level, signals, explicit_bounds, fuel, epoch, interrupts, canonical_nans,
         deterministic_relaxed, cpu_features] = out;
  opt_level = header.opt_level;
  signals = header.signals != 0;
  explicit_bounds = header.explicit_bounds != 0;
  fuel = header.fuel != 0;
  epoch = header.epoch != 0;
  interrupts = header.interrupts != 0;
  canonical_nans = header.canonical_nans != 0;
  deterministic_relaxed = header.deterministic_relaxed != 0;
  cpu_features = header.cpu_features;
  return out;
}

elf::Header FrontPage::header() const {
  return base::load_le<elf::Header>(page_);
}
void FrontPage::set_header(const elf::Header& header) {
  base::store_le(page_, header);
}

void FrontPage::begin(std::string_view target, const CodeSettings& settings) {
  elf::Header head = {};
  std::memcpy(head.ident, elf::kMagic, sizeof(elf::kMagic));
  head.ident[4] = elf::kClass64;
  head.ident[5] = elf::kLittleEndian;
  head.ident[6] = 1;
  head.type = elf::kSharedObject;
  head.machine = target == "x86_64"    ? elf::kMachineX64
                 : target == "aarch64" ? elf::kMachineAArch64
                                       : std::uint16_t{0};
  head.version = 1;
  head.segments = kSegmentsAt;
  head.sections = kSectionsAt;
  head.header_bytes = sizeof(elf::Header);
  head.segment_bytes = sizeof(elf::Segment);
  head.section_bytes = sizeof(elf::Section);
  head.section_count = 1;  // the null section
  head.names_section = kNamesSection;
  set_header(head);

  ImageHeader own = {};
  std::memcpy(own.magic, kImageMagic, sizeof(own.magic));
  own.format = kImageFormat;
  own.header_bytes = sizeof(ImageHeader);
  const LayoutHash layout = layout_hash();
  own.layout[0] = layout.low;
  own.layout[1] = layout.high;
  copy_text(own.version, sizeof(own.version), version_text());
  copy_text(own.target, sizeof(own.target), target);
  store_settings(own, settings);
  base::store_le(page_ + kHeaderAt, own);

  // The names section has to exist before it can take a name, its own included.
  elf::Section names = {};
  names.type = elf::kStrTab;
  names.offset = kNamesAt;
  names.bytes = 1;
  names.align = 1;
  base::store_le(section_at(page_, kNamesSection), names);
  elf::Section section = {};
  section.type = elf::kProgBits;
  section.flags = elf::kAlloc;
  section.address = section.offset = kHeaderAt;
  section.bytes = sizeof(ImageHeader);
  section.align = 8;
  add_section(".hoist.header", section);
  add_section(".shstrtab", names);
}

std::uint16_t FrontPage::add_section(std::string_view name, elf::Section section) {
  elf::Header head = header();
  HOIST_CHECK(head.section_count < kMaxSections, "an image has room for its sections");
  auto names = base::load_le<elf::Section>(section_at(page_, kNamesSection));
  HOIST_CHECK(kNamesAt + names.bytes + name.size() + 1 <= kTextAt,
              "an image has room for the names of its sections");
  section.name = static_cast<std::uint32_t>(names.bytes);
  std::memcpy(page_ + kNamesAt + names.bytes, name.data(), name.size());
  page_[kNamesAt + names.bytes + name.size()] = 0;
  names.bytes += name.size() + 1;
  const std::uint16_t number = head.section_count++;
  if (number == kNamesSection) names.name = section.name;
  if (number != kNamesSection) base::store_le(section_at(page_, number), section);
  base::store_le(section_at(page_, kNamesSection), names);
  set_header(head);
  return number;
}

void FrontPage::add_segment(const elf::Segment& segment) {
  elf::Header head = header();
  HOIST_CHECK(head.segment_count < kMaxSegments, "an image has room for its segments");
  base::store_le(page_ + kSegmentsAt + head.segment_count * sizeof(elf::Segment), segment);
  ++head.segment_count;
  set_header(head);
}

void FrontPage::add_load(std::uint64_t offset, std::uint64_t bytes, std::uint32_t flags) {
  if (bytes == 0) return;
  elf::Segment segment = {};
  segment.type = elf::kLoad;
  segment.flags = flags;
  segment.offset = segment.address = segment.physical = offset;
  segment.file_bytes = segment.memory_bytes = bytes;
  segment.align = kImagePage;
  add_segment(segment);
}

void FrontPage::clear_segments() {
  elf::Header head = header();
  head.segment_count = 0;
  set_header(head);
}

void FrontPage::set_file_bytes(std::uint64_t bytes) {
  auto own = base::load_le<ImageHeader>(page_ + kHeaderAt);
  own.file_bytes = bytes;
  base::store_le(page_ + kHeaderAt, own);
}

void FrontPage::set_language_features(std::uint64_t features) {
  auto own = base::load_le<ImageHeader>(page_ + kHeaderAt);
  own.language_features = features;
  base::store_le(page_ + kHeaderAt, own);
}

}  // namespace hoist::image
