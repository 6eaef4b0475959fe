// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of images: what is written is what is read, and whatever is read is an image or an error.
// Buffers have their exact size, so that sanitizers see every access beyond them.
#include "image/image_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "base/bits.hpp"
#include "image/image_builder.hpp"
#include "image/image_open.hpp"
#include "image/version.hpp"

namespace hoist::image {
namespace {

using Bytes = std::vector<std::uint8_t>;

FuncKey wasm(std::uint32_t index) {
  return {FuncKind::WasmFunction, 0, index};
}

Image sample() {
  ImageBuilder builder;
  CodeSettings settings;
  settings.opt_level = 1;
  settings.fuel = true;
  settings.cpu_features = 0x305;
  builder.set_target("x86_64", settings);
  const Bytes code(40, 0x90);
  const TrapEntry traps[] = {{2, TrapCode::HeapOutOfBounds}, {8, TrapCode::Unreachable}};
  std::vector<AddressEntry> addresses;
  for (std::uint32_t i = 0; i < 40; ++i) addresses.push_back({i, 1000 + i * i % 77});
  for (std::uint32_t f = 0; f < 3; ++f) {
    builder.add_function({wasm(7 - f)}, 16, code, {}, traps, addresses);
  }
  builder.add_section(".hoist.other", {1, 2, 3});
  return builder.finish();
}

constexpr std::uint8_t kModule[] = {0, 'a', 's', 'm', 1, 0, 0, 0};

Bytes sample_file() {
  const ImageSymbol symbols[] = {{0, "first"}, {2, "third"}};
  ImageFileParts parts;
  parts.module = kModule;
  parts.symbols = symbols;
  return image_file(sample(), parts);
}

/// Opens a copy of exactly this size.
Result<Image> open(const Bytes& bytes, OpenOptions options = {}) {
  auto owner = std::make_shared<const Bytes>(bytes);
  return open_image(*owner, owner, options);
}

/// Asks everything that an image answers.
void read_all(const Image& image) {
  std::uint64_t sum = image.settings().cpu_features + image.target().size();
  for (std::uint32_t at = 0; at < 170; at += 11) {
    const FunctionEntry* entry = image.find_function(at);
    sum += entry == nullptr ? 0 : entry->size;
    sum += static_cast<std::uint64_t>(image.trap_at(at)) + image.source_at(at);
  }
  for (std::uint32_t i = 0; i < 10; ++i) {
    const FunctionEntry* entry = image.function(wasm(i));
    if (entry == nullptr) continue;
    for (const std::uint8_t byte : image.text().subspan(entry->offset, entry->size)) sum += byte;
  }
  image.addresses().for_each([&](const AddressEntry& entry) { sum += entry.source; });
  for (const std::string_view name : {kModuleSection, std::string_view(".symtab")}) {
    for (const std::uint8_t byte : image.section(name)) sum += byte;
  }
  volatile std::uint64_t keep = sum;
  static_cast<void>(keep);
}

TEST(ImageFile, ReadsBackWhatWasWritten) {
  const Bytes file = sample_file();
  OpenOptions options;
  options.target = "x86_64";
  const auto image = open(file, options);
  ASSERT_TRUE(image) << image.error().message();
  const Image original = sample();
  EXPECT_TRUE(std::ranges::equal(image->text(), original.text()));
  EXPECT_EQ(image->settings(), original.settings());
  EXPECT_EQ(image->target(), "x86_64");
  EXPECT_TRUE(std::ranges::equal(image->section(kModuleSection), kModule));
  EXPECT_TRUE(std::ranges::equal(image->section(".hoist.other"), Bytes{1, 2, 3}));
  EXPECT_TRUE(image->section(".hoist.none").empty());
  EXPECT_EQ(image->function(wasm(6))->offset, 48u);
  EXPECT_EQ(image->trap_at(50), TrapCode::HeapOutOfBounds);
  EXPECT_EQ(image->source_at(49), 1001u);
  EXPECT_EQ(image->traps().size(), 6u);
  EXPECT_EQ(image->addresses().size(), original.addresses().size());
  for (std::size_t i = 0; i < original.addresses().size(); ++i) {
    EXPECT_EQ(image->addresses()[i].offset, original.addresses()[i].offset);
    EXPECT_EQ(image->addresses()[i].source, original.addresses()[i].source);
  }
}

TEST(ImageFile, IsReproducible) {
  EXPECT_EQ(sample_file(), sample_file());
  // A file made from what a file was opened as is the same file.
  const auto image = open(sample_file());
  ASSERT_TRUE(image);
  const ImageSymbol symbols[] = {{0, "first"}, {2, "third"}};
  ImageFileParts parts;
  parts.module = image->section(kModuleSection);
  parts.symbols = symbols;
  EXPECT_EQ(image_file(*image, parts), sample_file());
}

TEST(ImageFile, EveryTruncationIsAnError) {
  const Bytes file = sample_file();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto image = open(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_FALSE(image) << size;
    EXPECT_EQ(image.error().kind(), ErrorKind::Malformed);
    EXPECT_EQ(image.error().message().find('\n'), std::string::npos);
  }
  Bytes longer = file;
  longer.push_back(0);
  EXPECT_EQ(open(longer).error().message(), "damaged image: 1 bytes follow its end");
}

TEST(ImageFile, EveryBitFlipIsAnError) {
  Bytes file = sample_file();
  for (std::size_t at = 0; at < file.size(); ++at) {
    // Every bit of the headers and some of the rest.
    for (unsigned bit = 0; bit < 8; bit += at < kNamesAt ? 1 : 5) {
      file[at] = static_cast<std::uint8_t>(file[at] ^ (1u << bit));
      ASSERT_FALSE(open_image(file, nullptr)) << at << " bit " << bit;
      file[at] = static_cast<std::uint8_t>(file[at] ^ (1u << bit));
    }
  }
  EXPECT_TRUE(open(file));
}

/// With the checksum put right, damage may stay unseen, but nothing outside of the bytes is read.
TEST(ImageFile, DamageWithTheRightChecksumIsHarmless) {
  const Bytes file = sample_file();
  OpenOptions options;
  options.check_checksum = false;
  std::size_t opened = 0;
  Bytes damaged = file;
  const auto try_it = [&] {
    const auto image = open_image(damaged, nullptr, options);
    if (!image) return;
    ++opened;
    read_all(*image);
    // Another file can be made of all that opens.
    ImageFileParts parts;
    parts.module = kModule;
    EXPECT_TRUE(open(image_file(*image, parts), options));
  };
  for (std::size_t at = 0; at < file.size(); ++at) {
    if (at >= kNamesAt + 400 && at < kTextAt) continue;  // nothing there
    for (const std::uint8_t value : Bytes{0x00, 0x01, 0x7f, 0x80, 0xff}) {
      damaged[at] = value;
      try_it();
    }
    damaged[at] = static_cast<std::uint8_t>(file[at] ^ 1);
    try_it();
    damaged[at] = file[at];
  }
  // Whole words, too: offsets and counts that wrap around.
  for (std::size_t at = 0; at + 8 <= file.size(); at += 4) {
    if (at >= kNamesAt + 400 && at < kTextAt) continue;
    for (const std::uint64_t value :
         {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{0xffff'fff8},
          std::uint64_t{file.size()}, std::uint64_t{file.size() - 4}}) {
      base::store_le(damaged.data() + at, value);
      try_it();
    }
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at), 8,
                damaged.begin() + static_cast<std::ptrdiff_t>(at));
  }
  EXPECT_GT(opened, 100u);
}

/// A name far away leaves no room for those of a file that is made of this one.
TEST(ImageFile, NamesOfSectionsLeaveRoom) {
  const Bytes file = sample_file();
  const auto sections = base::load_le<elf::Header>(file.data()).section_count;
  std::size_t opened = 0;
  for (std::size_t number = 3; number < sections; ++number) {
    for (std::uint32_t name = 0; name <= kTextAt - kNamesAt; name += 3) {
      Bytes damaged = file;
      std::uint8_t* at = damaged.data() + kSectionsAt + number * sizeof(elf::Section);
      auto section = base::load_le<elf::Section>(at);
      section.name = name;
      base::store_le(at, section);
      seal_image_file(damaged);
      const auto image = open(damaged);
      if (!image) continue;
      ++opened;
      ImageFileParts parts;
      parts.module = kModule;
      EXPECT_TRUE(open(image_file(*image, parts))) << number << " named " << name;
    }
  }
  EXPECT_GT(opened, 100u);
}

/// The file with its header changed, checksum put right, and what opening it says.
std::string message_of(const std::function<void(ImageHeader&)>& change) {
  Bytes file = sample_file();
  auto header = base::load_le<ImageHeader>(file.data() + kHeaderAt);
  change(header);
  base::store_le(file.data() + kHeaderAt, header);
  seal_image_file(file);
  OpenOptions options;
  options.target = "x86_64";
  const auto image = open(file, options);
  return image ? "" : image.error().message();
}

TEST(ImageFile, SaysWhatIsWrongWithTheHeader) {
  EXPECT_EQ(message_of([](ImageHeader&) {}), "");
  EXPECT_EQ(message_of([](ImageHeader& h) { h.magic[0] = 'X'; }),
            "not a Hoist image: an ELF file of another kind");
  const std::string another =
      "the image was made by another build of Hoist (version 9.9, this is " +
      std::string(version_text()) + "): compile the module again";
  const auto version = [](ImageHeader& h) { std::strcpy(h.version, "9.9"); };
  EXPECT_EQ(message_of([&](ImageHeader& h) { version(h), ++h.format; }), another);
  EXPECT_EQ(message_of([&](ImageHeader& h) { version(h), ++h.header_bytes; }), another);
  EXPECT_EQ(message_of([&](ImageHeader& h) { version(h), ++h.layout[0]; }), another);
  EXPECT_EQ(message_of([&](ImageHeader& h) { version(h), ++h.layout[1]; }), another);
  EXPECT_NE(message_of([](ImageHeader& h) { ++h.file_bytes; }).find("it is cut off: "),
            std::string::npos);
  EXPECT_NE(message_of([](ImageHeader& h) { --h.file_bytes; }).find("1 bytes follow its end"),
            std::string::npos);
  EXPECT_EQ(message_of([](ImageHeader& h) { std::strcpy(h.target, "vax"); }),
            "the image holds code for vax, this machine is x86_64");
  EXPECT_EQ(message_of([](ImageHeader& h) { std::memset(h.target, 'x', 16); }),
            "the image holds code for xxxxxxxxxxxxxxxx, this machine is x86_64");
  Bytes file = sample_file();
  file[kHeaderAt + offsetof(ImageHeader, checksum)] ^= 1;
  EXPECT_EQ(open(file).error().message(), "damaged image: its checksum is wrong");
  EXPECT_EQ(open({'\0', 'a', 's', 'm'}).error().message(),
            "not a Hoist image: it does not begin as an ELF file does");
}

TEST(AddressMap, AnswersAsAPlainTable) {
  AddressMapWriter writer;
  std::vector<AddressEntry> entries;
  std::uint32_t offset = 5;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const AddressEntry entry{offset, i % 7 == 0 ? AddressEntry::kNone : i * 2654435761u};
    entries.push_back(entry);
    writer.add(entry);
    offset += i % 13 == 0 ? 70000 : 1 + i % 5;
  }
  Bytes bytes;
  writer.write(bytes);
  EXPECT_EQ(bytes.size(), writer.bytes());
  AddressMap map;
  ASSERT_TRUE(AddressMap::open(bytes, map));
  ASSERT_EQ(map.size(), entries.size());
  AddressEntry found;
  EXPECT_FALSE(map.find(4, found));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ASSERT_EQ(map[i].offset, entries[i].offset);
    ASSERT_EQ(map[i].source, entries[i].source);
    ASSERT_TRUE(map.find(entries[i].offset, found));
    ASSERT_EQ(found.source, entries[i].source);
    if (i + 1 == entries.size()) break;
    ASSERT_TRUE(map.find(entries[i + 1].offset - 1, found));
    ASSERT_EQ(found.source, entries[i].source);
  }
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::uint32_t begin = i * 2654435761u % (offset + 100);
    const std::uint32_t end = begin + i % 300 * (i % 5 == 0 ? 1000 : 1);
    if (begin == end) continue;
    std::vector<AddressEntry> wanted, got;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const bool holds = k + 1 == entries.size() || entries[k + 1].offset > begin;
      if (entries[k].offset < end && holds) wanted.push_back(entries[k]);
    }
    map.for_range(begin, end, [&](AddressEntry entry) { got.push_back(entry); });
    ASSERT_EQ(got.size(), wanted.size()) << begin << " " << end;
    for (std::size_t k = 0; k < got.size(); ++k) ASSERT_EQ(got[k].offset, wanted[k].offset);
  }
}

}  // namespace
}  // namespace hoist::image
