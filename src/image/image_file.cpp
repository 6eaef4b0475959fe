// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image/image_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/bits.hpp"
#include "image/front_page.hpp"
#include "image/image_open.hpp"

namespace hoist::image {

namespace {

class FileWriter {
 public:
  FileWriter(const Image& image, const ImageFileParts& parts) : image_(image), parts_(parts) {}

  std::vector<std::uint8_t> run() {
    copy_image();
    add_frame_index();
    add(kModuleSection, elf::kProgBits, elf::kAlloc,
        [&] { out_.insert(out_.end(), parts_.module.begin(), parts_.module.end()); });
    add(kKeySection, elf::kProgBits, elf::kAlloc,
        [&] { out_.insert(out_.end(), parts_.key.begin(), parts_.key.end()); });
    const std::size_t loaded_end = out_.size();
    add_symbols();
    add_segments(loaded_end);
    FrontPage(out_.data()).set_file_bytes(out_.size());
    FrontPage(out_.data()).set_language_features(parts_.language_features);
    seal_image_file(out_);
    return std::move(out_);
  }

 private:
  /// The image's own sections, which lie before those of a file.
  void copy_image() {
    const std::span<const std::uint8_t> from = image_.bytes();
    const auto head = base::load_le<elf::Header>(from.data());
    std::uint64_t end = kTextAt;
    std::uint32_t kept = 0;
    std::uint64_t names_end = 1;
    for (std::uint32_t i = 1; i < head.section_count; ++i) {
      const auto section = section_of(from.data(), i);
      const std::string_view name =
          reinterpret_cast<const char*>(from.data()) + kNamesAt + section.name;
      if (is_file_section(name)) break;
      kept = i;
      names_end = std::max<std::uint64_t>(names_end, section.name + name.size() + 1);
      if (section.offset + section.bytes > end) end = section.offset + section.bytes;
    }
    out_.reserve(end + parts_.module.size() + image_.functions().size() * 128);
    out_.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(end));
    auto copied = head;
    copied.section_count = static_cast<std::uint16_t>(kept + 1);
    base::store_le(out_.data(), copied);
    auto names = section_of(out_.data(), 2);
    names.bytes = names_end;
    // Nothing stays of the sections that are left out.
    const std::uint64_t headers_end = kSectionsAt + (kept + 1) * sizeof(elf::Section);
    std::memset(out_.data() + headers_end, 0, kNamesAt - headers_end);
    std::memset(out_.data() + kNamesAt + names_end, 0, kTextAt - kNamesAt - names_end);
    base::store_le(out_.data() + kSectionsAt + 2 * sizeof(elf::Section), names);
  }

  static elf::Section section_of(const std::uint8_t* page, std::uint32_t number) {
    return base::load_le<elf::Section>(page + kSectionsAt + number * sizeof(elf::Section));
  }

  template <typename Write>
  std::uint16_t add(std::string_view name, std::uint32_t type, std::uint64_t flags, Write&& write,
                    elf::Section section = {}) {
    out_.resize(base::align_up(out_.size(), 8));
    const std::size_t begin = out_.size();
    write();
    if (out_.size() == begin) return 0;
    section.type = type;
    section.flags = flags;
    section.offset = begin;
    section.address = (flags & elf::kAlloc) != 0 ? begin : 0;
    section.bytes = out_.size() - begin;
    section.align = 8;
    return FrontPage(out_.data()).add_section(name, section);
  }

  /// The search table of the unwind information.
  void add_frame_index() {
    const std::span<const std::uint8_t> frames = image_.section(table_section(TableKind::EhFrame));
    if (frames.empty()) return;
    const auto frames_at = static_cast<std::int64_t>(frames.data() - image_.bytes().data());
    add(kFrameIndexSection, elf::kProgBits, elf::kAlloc, [&] {
      const std::vector<std::uint8_t> index =
          make_eh_frame_hdr(frames, frames_at - static_cast<std::int64_t>(out_.size()));
      frame_index_.offset = frame_index_.address = frame_index_.physical = out_.size();
      frame_index_.file_bytes = frame_index_.memory_bytes = index.size();
      out_.insert(out_.end(), index.begin(), index.end());
    });
  }

  void add_symbols() {
    std::vector<elf::Symbol> symbols(1);
    std::vector<char> names(1);
    for (const ImageSymbol& from : parts_.symbols) {
      const FunctionEntry& entry = image_.functions()[from.function];
      elf::Symbol symbol = {};
      symbol.name = static_cast<std::uint32_t>(names.size());
      symbol.info = elf::kLocalFunction;
      symbol.section = kTextNumber;
      symbol.value = kTextAt + entry.offset;
      symbol.bytes = entry.size;
      symbols.push_back(symbol);
      // A name ends at its first NUL, which a module may well contain.
      names.insert(names.end(), from.name.c_str(),
                   from.name.c_str() + std::strlen(from.name.c_str()));
      names.push_back('\0');
    }
    if (symbols.size() == 1) return;
    const std::uint16_t strings = add(".strtab", elf::kStrTab, 0,
                                      [&] { out_.insert(out_.end(), names.begin(), names.end()); });
    elf::Section section = {};
    section.link = strings;
    section.info = static_cast<std::uint32_t>(symbols.size());  // all are local
    section.entry_bytes = sizeof(elf::Symbol);
    add(
        ".symtab", elf::kSymTab, 0,
        [&] {
          const auto* begin = reinterpret_cast<const std::uint8_t*>(symbols.data());
          out_.insert(out_.end(), begin, begin + symbols.size() * sizeof(elf::Symbol));
        },
        section);
  }

  void add_segments(std::size_t loaded_end) {
    FrontPage page(out_.data());
    page.clear_segments();
    const std::uint64_t text = image_.text().size();
    const std::uint64_t tables = base::align_up(kTextAt + text, kImagePage);
    page.add_load(0, kTextAt, elf::kRead);
    page.add_load(kTextAt, text, elf::kRead | elf::kExecute);
    if (loaded_end > tables) page.add_load(tables, loaded_end - tables, elf::kRead);
    if (frame_index_.file_bytes != 0) {
      frame_index_.type = elf::kGnuEhFrame;
      frame_index_.flags = elf::kRead;
      frame_index_.align = 4;
      page.add_segment(frame_index_);
    }
    elf::Segment stack = {};
    stack.type = elf::kGnuStack;
    stack.flags = elf::kReadWrite;
    stack.align = 16;
    page.add_segment(stack);
  }

  static constexpr std::uint16_t kTextNumber = 3;
  const Image& image_;
  const ImageFileParts& parts_;
  elf::Segment frame_index_ = {};
  std::vector<std::uint8_t> out_;
};

}  // namespace

void seal_image_file(std::span<std::uint8_t> bytes) {
  const Hash128 sum = image_checksum(bytes);
  constexpr std::size_t kAt = kHeaderAt + offsetof(ImageHeader, checksum);
  base::store_le(bytes.data() + kAt, sum.low);
  base::store_le(bytes.data() + kAt + 8, sum.high);
}

std::vector<std::uint8_t> image_file(const Image& image, const ImageFileParts& parts) {
  return FileWriter(image, parts).run();
}

}  // namespace hoist::image
