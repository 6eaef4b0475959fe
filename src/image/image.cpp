// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lookups. The tables are sorted (the builder makes them so, opening a file checks it).
#include "image/image.hpp"

#include <algorithm>
#include <cstring>

#include "base/bits.hpp"

namespace hoist::image {

namespace {

template <typename T>
std::span<const T> array_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

std::string_view text_at(const char* from, std::size_t size) {
  return {from, ::strnlen(from, size)};
}

}  // namespace

TrapTable::TrapTable(std::span<const std::uint8_t> bytes) {
  const std::size_t count = bytes.size() / 5;
  offsets_ = array_of<std::uint32_t>(bytes.first(count * 4));
  codes_ = bytes.subspan(count * 4, count);
}

/// The headers lie within `bytes`; so do the sections, or they are empty.
std::span<const std::uint8_t> Image::section(std::string_view name) const {
  if (bytes_.empty()) return {};
  const auto head = base::load_le<elf::Header>(bytes_.data());
  for (std::uint32_t i = 1; i < head.section_count; ++i) {
    const auto section =
        base::load_le<elf::Section>(bytes_.data() + kSectionsAt + i * sizeof(elf::Section));
    const auto* own_name = reinterpret_cast<const char*>(bytes_.data()) + kNamesAt + section.name;
    if (text_at(own_name, kTextAt - kNamesAt - section.name) != name) continue;
    return bytes_.subspan(section.offset, section.bytes);
  }
  return {};
}

void Image::set_bytes(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner) {
  bytes_ = bytes;
  owner_ = std::move(owner);
  text_ = section(kTextSection);
  functions_ = array_of<FunctionEntry>(section(kFunctionsSection));
  by_key_ = array_of<std::uint32_t>(section(kKeysSection));
  traps_ = TrapTable(section(kTrapsSection));
  const std::span<const std::uint8_t> map = section(kAddressesSection);
  if (map.empty() || !AddressMap::open(map, addresses_)) addresses_ = AddressMap();
  tables_ = TableViews();
  tables_.open([this](TableKind kind) { return section(table_section(kind)); });
}

Image Image::moved_to(std::span<const std::uint8_t> bytes,
                      std::shared_ptr<const void> owner) const {
  Image out;
  out.set_bytes(bytes, std::move(owner));
  return out;
}

std::uint64_t Image::language_features() const {
  if (bytes_.empty()) return 0;
  return base::load_le<ImageHeader>(bytes_.data() + kHeaderAt).language_features;
}

CodeSettings Image::settings() const {
  if (bytes_.empty()) return {};
  return load_settings(base::load_le<ImageHeader>(bytes_.data() + kHeaderAt));
}

std::string_view Image::target() const {
  if (bytes_.empty()) return {};
  const std::uint8_t* at = bytes_.data() + kHeaderAt + offsetof(ImageHeader, target);
  return text_at(reinterpret_cast<const char*>(at), sizeof(ImageHeader::target));
}

const FunctionEntry* Image::find_function(std::uint32_t at) const {
  const auto after = std::upper_bound(
      functions_.begin(), functions_.end(), at,
      [](std::uint32_t offset, const FunctionEntry& entry) { return offset < entry.offset; });
  if (after == functions_.begin()) return nullptr;
  const FunctionEntry* entry = &*(after - 1);
  return at - entry->offset < entry->size ? entry : nullptr;
}

const FunctionEntry* Image::function(FuncKey key) const {
  const auto found = std::lower_bound(
      by_key_.begin(), by_key_.end(), key,
      [this](std::uint32_t number, FuncKey wanted) { return functions_[number].key < wanted; });
  if (found == by_key_.end() || functions_[*found].key != key) return nullptr;
  return &functions_[*found];
}

TrapCode Image::trap_at(std::uint32_t at) const {
  const std::span<const std::uint32_t> offsets = traps_.offsets();
  const auto found = std::lower_bound(offsets.begin(), offsets.end(), at);
  if (found == offsets.end() || *found != at) return TrapCode::None;
  return traps_[static_cast<std::size_t>(found - offsets.begin())].code;
}

std::uint32_t Image::source_at(std::uint32_t at) const {
  AddressEntry entry;
  // An entry ends with its function: padding and functions without locations have none.
  if (!addresses_.find(at, entry)) return AddressEntry::kNone;
  const FunctionEntry* function = find_function(at);
  return function != nullptr && entry.offset >= function->offset ? entry.source
                                                                 : AddressEntry::kNone;
}

}  // namespace hoist::image
