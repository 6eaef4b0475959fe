// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks go from what tells most to the user to what tells least: foreign file, other version,
// cut off, damaged. All numbers in the headers are hostile until checked, the checksum notwith-
// standing: whoever damages a file can also correct its checksum.
#include "image/image_open.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>

#include "base/bits.hpp"
#include "base/text/printable.hpp"
#include "image/version.hpp"

namespace hoist::image {

namespace {

Error damaged(std::string what) {
  return {ErrorKind::Malformed, "damaged image: " + std::move(what)};
}

std::string_view text_of(const char* from, std::size_t size) {
  return {from, ::strnlen(from, size)};
}

/// Whether [offset, offset + bytes) lies in `size` bytes.
bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

Result<void> check_header(std::span<const std::uint8_t> bytes) {
  if (!has_elf_magic(bytes)) {
    return Error(ErrorKind::Malformed, "not a Hoist image: it does not begin as an ELF file does");
  }
  constexpr std::size_t kHeadersEnd = kHeaderAt + sizeof(ImageHeader);
  if (bytes.size() < kHeadersEnd) {
    return damaged(fmt::format("the file ends after {} bytes, within its header", bytes.size()));
  }
  const auto own = base::load_le<ImageHeader>(bytes.data() + kHeaderAt);
  if (std::memcmp(own.magic, kImageMagic, sizeof(own.magic)) != 0) {
    return Error(ErrorKind::Malformed, "not a Hoist image: an ELF file of another kind");
  }
  const LayoutHash layout = layout_hash();
  if (own.format != kImageFormat || own.header_bytes != sizeof(ImageHeader) ||
      own.layout[0] != layout.low || own.layout[1] != layout.high) {
    return Error(
        ErrorKind::Unsupported,
        fmt::format("the image was made by another build of Hoist (version {}, this is "
                    "{}): compile the module again",
                    base::printable(text_of(own.version, sizeof(own.version))), version_text()));
  }
  if (own.file_bytes != bytes.size()) {
    return damaged(
        own.file_bytes > bytes.size()
            ? fmt::format("it is cut off: {} of {} bytes are there", bytes.size(), own.file_bytes)
            : fmt::format("{} bytes follow its end", bytes.size() - own.file_bytes));
  }
  return {};
}

Result<void> check_target(std::span<const std::uint8_t> bytes, std::string_view wanted) {
  const auto own = base::load_le<ImageHeader>(bytes.data() + kHeaderAt);
  const std::string_view target = text_of(own.target, sizeof(own.target));
  if (wanted.empty() || target == wanted) return {};
  return Error(ErrorKind::Unsupported,
               fmt::format("the image holds code for {}, this machine is {}",
                           base::printable(target), wanted));
}

Result<void> check_sections(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kTextAt) return damaged("it is smaller than its headers");
  const auto head = base::load_le<elf::Header>(bytes.data());
  if (head.sections != kSectionsAt || head.section_bytes != sizeof(elf::Section) ||
      head.section_count > kMaxSections) {
    return damaged("its section headers are not where they belong");
  }
  // What lies before the sections of a file, and is kept when another file is made of the image.
  std::size_t own_names = 1;
  std::size_t own_sections = 1;
  bool own_ended = false;
  for (std::uint32_t i = 1; i < head.section_count; ++i) {
    const auto section =
        base::load_le<elf::Section>(bytes.data() + kSectionsAt + i * sizeof(elf::Section));
    if (section.name >= kTextAt - kNamesAt || !fits(section.offset, section.bytes, bytes.size())) {
      return damaged(fmt::format("section {} lies outside of the file", i));
    }
    const char* name = reinterpret_cast<const char*>(bytes.data()) + kNamesAt + section.name;
    const std::size_t room = kTextAt - kNamesAt - section.name;
    const std::size_t length = ::strnlen(name, room);
    if (length == room) return damaged(fmt::format("the name of section {} has no end", i));
    if (!own_ended && is_file_section({name, length})) own_ended = true;
    if (!own_ended) {
      ++own_sections;
      own_names = std::max(own_names, section.name + length + 1);
    }
    // .shstrtab, .strtab and the like are never read as tables.
    if (i > 2 && section.offset % 8 != 0) {
      return damaged(fmt::format("section {} is not aligned", i));
    }
  }
  std::size_t file_names = 0;
  for (const std::string_view name : kFileSections) file_names += name.size() + 1;
  if (own_sections + std::size(kFileSections) > kMaxSections ||
      own_names + file_names > kTextAt - kNamesAt) {
    return damaged("its section headers are too many");
  }
  return {};
}

Result<void> check_functions(const Image& image, std::span<const std::uint32_t> by_key) {
  const std::span<const FunctionEntry> functions = image.functions();
  const std::uint64_t text = image.text().size();
  if (text > 0x7fff'ffff) return damaged("its text is larger than 2 GiB");
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const FunctionEntry& entry = functions[i];
    if (entry.offset < end || !fits(entry.offset, entry.size, text) ||
        entry.prologue_end > entry.size || entry.code_size > entry.size) {
      return damaged(fmt::format("function {} lies outside of its place", i));
    }
    end = std::uint64_t{entry.offset} + entry.size;
  }
  if (by_key.size() != functions.size()) return damaged("its functions and their names differ");
  for (std::size_t i = 0; i < by_key.size(); ++i) {
    if (by_key[i] >= functions.size() ||
        (i != 0 && functions[by_key[i - 1]].key >= functions[by_key[i]].key)) {
      return damaged("its functions are not in order");
    }
  }
  return {};
}

Result<void> check_tables(const Image& image) {
  const std::span<const std::uint32_t> offsets = image.traps().offsets();
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) return damaged("its traps are not in order");
  }
  const std::span<const std::uint8_t> map = image.section(kAddressesSection);
  AddressMap ignored;
  if (!map.empty() && !AddressMap::open(map, ignored)) {
    return damaged("its table of source locations is wrong");
  }
  TableViews views;
  if (!views.open([&](TableKind kind) { return image.section(table_section(kind)); })) {
    return damaged("its tables of calls are wrong");
  }
  return {};
}

}  // namespace

bool has_elf_magic(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= sizeof(elf::kMagic) &&
         std::memcmp(bytes.data(), elf::kMagic, sizeof(elf::kMagic)) == 0;
}

Hash128 image_checksum(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kAt = kHeaderAt + offsetof(ImageHeader, checksum);
  static constexpr std::uint8_t kZero[sizeof(ImageHeader::checksum)] = {};
  const std::span<const std::uint8_t> pieces[] = {bytes.first(kAt), kZero,
                                                  bytes.subspan(kAt + sizeof(kZero))};
  return hash(pieces);
}

class ImageOpener {
 public:
  static Result<Image> open(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
                            const OpenOptions& options) {
    HOIST_TRY_VOID(check_header(bytes));
    HOIST_TRY_VOID(check_target(bytes, options.target));
    if (options.check_checksum) {
      const auto own = base::load_le<ImageHeader>(bytes.data() + kHeaderAt);
      if (image_checksum(bytes) != Hash128{own.checksum[0], own.checksum[1]}) {
        return damaged("its checksum is wrong");
      }
    }
    HOIST_TRY_VOID(check_sections(bytes));
    Image image;
    image.set_bytes(bytes, std::move(owner));
    image.is_mapped_ = options.is_mapped;
    const std::uint64_t text_at =
        static_cast<std::uint64_t>(image.text().data() - image.bytes().data());
    if (!image.text().empty() && text_at != kTextAt) return damaged("its text is out of place");
    HOIST_TRY_VOID(check_functions(image, image.by_key_));
    HOIST_TRY_VOID(check_tables(image));
    return image;
  }
};

Result<Image> open_image(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
                         const OpenOptions& options) {
  return ImageOpener::open(bytes, std::move(owner), options);
}

}  // namespace hoist::image
