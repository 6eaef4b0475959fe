// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Placement and linking. Assumes what the header asks of the callers; guarantees sorted tables, an
// image that depends on the order of the calls only, and near-linear work. The text grows behind
// the page that will take the headers, the tables are appended to it: nothing is copied twice.
#include "image/image_builder.hpp"

#include <algorithm>
#include <cstring>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "image/front_page.hpp"

namespace hoist::image {

namespace {

/// What the processor traps on between functions: a jump into the padding must not slide.
constexpr std::uint8_t kPadding = 0xcc;
/// Text has to stay within reach of a 32-bit pc-relative field.
constexpr std::size_t kMaxText = 0x7fff'ffff;

template <typename T>
void append(std::vector<std::uint8_t>& out, const std::vector<T>& items) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(items.data());
  out.insert(out.end(), begin, begin + items.size() * sizeof(T));
}

/// Appends sections to the bytes of an image and enters them into its first page.
class Sections {
 public:
  explicit Sections(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  template <typename Write>
  void add(std::string_view name, Write&& write) {
    bytes_.resize(base::align_up(bytes_.size(), 8));
    const std::size_t begin = bytes_.size();
    write(bytes_);
    if (bytes_.size() == begin) return;
    elf::Section section = {};
    section.type = elf::kProgBits;
    section.flags = elf::kAlloc;
    section.address = section.offset = begin;
    section.bytes = bytes_.size() - begin;
    section.align = 8;
    FrontPage(bytes_.data()).add_section(name, section);
  }

 private:
  std::vector<std::uint8_t>& bytes_;
};

void add_function_tables(Sections& sections, TableBytes tables) {
  for (std::size_t i = 0; i < kTableCount; ++i) {
    const auto kind = static_cast<TableKind>(i);
    std::vector<std::uint8_t>& contents = tables[i];
    sections.add(table_section(kind), [&](std::vector<std::uint8_t>& out) {
      if (kind == TableKind::EhFrame) {
        const auto distance =
            static_cast<std::int64_t>(out.size()) - static_cast<std::int64_t>(kTextAt);
        HOIST_CHECK(place_eh_frame(contents, distance), "the frames were just written");
      }
      append(out, contents);
    });
  }
}

}  // namespace

ImageBuilder::ImageBuilder() : bytes_(kTextAt) {}

void ImageBuilder::reserve(std::size_t text_bytes, std::size_t functions) {
  bytes_.reserve(kTextAt + text_bytes);
  functions_.reserve(functions);
}

void ImageBuilder::set_target(std::string_view target, const CodeSettings& settings) {
  target_ = target;
  settings_ = settings;
}

void ImageBuilder::add_section(std::string_view name, std::vector<std::uint8_t> contents) {
  if (contents.empty()) return;
  HOIST_CHECK(name.starts_with(".hoist."), "tables of an image are named .hoist.…");
  extras_.push_back({std::string(name), std::move(contents)});
}

std::uint32_t ImageBuilder::add_function(FunctionEntry entry, std::uint32_t align,
                                         std::span<const std::uint8_t> code,
                                         std::span<const Reloc> relocs,
                                         std::span<const TrapEntry> traps,
                                         std::span<const AddressEntry> addresses) {
  HOIST_CHECK(align != 0 && (align & (align - 1)) == 0 && align <= kTextAt,
              "alignment is a power of two, at most a page");
  bytes_.resize(base::align_up(bytes_.size(), align), kPadding);
  const auto start = static_cast<std::uint32_t>(text_bytes());
  bytes_.insert(bytes_.end(), code.begin(), code.end());
  entry.offset = start;
  entry.size = static_cast<std::uint32_t>(code.size());
  if (entry.code_size == 0 || entry.code_size > entry.size) entry.code_size = entry.size;
  functions_.push_back(entry);
  for (const Reloc& reloc : relocs) {
    HOIST_CHECK(std::size_t{reloc.offset} + 4 <= code.size(),
                "relocated field lies in its function");
    relocs_.push_back({start + reloc.offset, reloc.addend, reloc.target});
  }
  for (const TrapEntry& trap : traps) {
    trap_offsets_.push_back(start + trap.offset);
    trap_codes_.push_back(static_cast<std::uint8_t>(trap.code));
  }
  bool is_first = true;
  for (AddressEntry address : addresses) {
    // Neighbours of one source location share an entry.
    if (!is_first && addresses_.last().source == address.source) continue;
    address.offset += start;
    addresses_.add(address);
    is_first = false;
  }
  return start;
}

void ImageBuilder::add_tables(std::uint32_t start, std::span<const UnwindOp> unwind,
                              const FunctionTables* tables) {
  const FunctionEntry& entry = functions_.back();
  HOIST_CHECK(entry.offset == start, "tables follow their function");
  tables_.add_unwind(start, entry.code_size, unwind);
  if (tables != nullptr) tables_.add(start, entry.size, *tables);
}

bool ImageBuilder::fits() const {
  return text_bytes() <= kMaxText;
}

std::vector<std::uint32_t> ImageBuilder::sorted_by_key() const {
  std::vector<std::uint32_t> out(functions_.size());
  for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = i;
  std::sort(out.begin(), out.end(), [this](std::uint32_t a, std::uint32_t b) {
    return functions_[a].key < functions_[b].key;
  });
  for (std::size_t i = 1; i < out.size(); ++i) {
    HOIST_CHECK(functions_[out[i - 1]].key != functions_[out[i]].key, "function keys are unique");
  }
  return out;
}

void ImageBuilder::link(std::span<const std::uint32_t> by_key) {
  for (const PendingReloc& reloc : relocs_) {
    const auto found = std::lower_bound(
        by_key.begin(), by_key.end(), reloc.target,
        [this](std::uint32_t number, FuncKey key) { return functions_[number].key < key; });
    HOIST_CHECK(found != by_key.end() && functions_[*found].key == reloc.target,
                "relocation names a function of the image");
    // S + A - P; the text is below 2 GiB, so the difference fits unless the addend is absurd.
    const std::int64_t value =
        std::int64_t{functions_[*found].offset} + reloc.addend - std::int64_t{reloc.at};
    HOIST_CHECK(base::fits_i32(value), "relocation is in range");
    base::store_le(text() + reloc.at, static_cast<std::int32_t>(value));
  }
}

/// At most what the tables take.
std::size_t ImageBuilder::table_bytes() const {
  std::size_t bytes = functions_.size() * (sizeof(FunctionEntry) + 4) + trap_offsets_.size() * 5 +
                      addresses_.bytes() + std::size_t{8} * kMaxSections;
  for (const Extra& extra : extras_) bytes += extra.contents.size();
  return bytes;
}

Image ImageBuilder::finish() {
  HOIST_CHECK(fits(), "text is at most 2 GiB - 1 bytes");
  const std::vector<std::uint32_t> by_key = sorted_by_key();
  link(by_key);

  FrontPage(bytes_.data()).begin(target_, settings_);
  const std::uint64_t text_size = text_bytes();
  elf::Section code = {};
  code.type = elf::kProgBits;
  code.flags = elf::kAlloc | elf::kExecInstr;
  code.address = code.offset = kTextAt;
  code.bytes = text_size;
  code.align = kImagePage;
  FrontPage(bytes_.data()).add_section(kTextSection, code);
  bytes_.reserve(bytes_.size() + kImagePage + table_bytes());
  // The pages of the text hold nothing else: they become executable.
  bytes_.resize(base::align_up(bytes_.size(), kImagePage), kPadding);
  const std::uint64_t tables_at = bytes_.size();
  using Bytes = std::vector<std::uint8_t>;
  Sections sections(bytes_);
  sections.add(kFunctionsSection, [&](Bytes& out) { append(out, functions_); });
  sections.add(kKeysSection, [&](Bytes& out) { append(out, by_key); });
  sections.add(kTrapsSection, [&](Bytes& out) {
    append(out, trap_offsets_);
    append(out, trap_codes_);
  });
  if (addresses_.size() != 0) {
    sections.add(kAddressesSection, [&](Bytes& out) { addresses_.write(out); });
  }
  add_function_tables(sections, tables_.finish());
  for (const Extra& extra : extras_) {
    sections.add(extra.name, [&](Bytes& out) { append(out, extra.contents); });
  }
  FrontPage page(bytes_.data());
  page.add_load(0, kTextAt, elf::kRead);
  page.add_load(kTextAt, text_size, elf::kRead | elf::kExecute);
  page.add_load(tables_at, bytes_.size() - tables_at, elf::kRead);
  page.set_file_bytes(bytes_.size());

  auto kept = std::make_shared<const Bytes>(std::move(bytes_));
  const std::span<const std::uint8_t> view(*kept);
  Image out;
  out.set_bytes(view, std::move(kept));
  *this = ImageBuilder();
  return out;
}

}  // namespace hoist::image
