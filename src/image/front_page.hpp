// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// FrontPage: writes the headers of an image into its first page, in place, one section after the
/// other. Sections have a fixed number of places; more of them than fit is a bug of the caller.

#include <cstdint>
#include <string_view>

#include "image/header.hpp"

namespace hoist::image {

class FrontPage {
 public:
  /// `page` has kTextAt zero bytes, or what an earlier FrontPage made of them.
  explicit FrontPage(std::uint8_t* page) : page_(page) {}

  /// ELF header and the sections that come before all others (the null section, the header, the
  /// names).
  void begin(std::string_view target, const CodeSettings& settings);
  /// Returns its number. `section` has everything but the name.
  std::uint16_t add_section(std::string_view name, elf::Section section);
  void add_segment(const elf::Segment& segment);
  /// A segment that is mapped at its place in the file; none if `bytes` is 0.
  void add_load(std::uint64_t offset, std::uint64_t bytes, std::uint32_t flags);
  /// Forgets the segments, so that they can be added anew.
  void clear_segments();
  void set_file_bytes(std::uint64_t bytes);
  void set_language_features(std::uint64_t features);

 private:
  elf::Header header() const;
  void set_header(const elf::Header& header);

  std::uint8_t* page_;
};

}  // namespace hoist::image
