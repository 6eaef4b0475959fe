// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lookups of an Image and the linking of its builder. Assumes what the header asks of the callers;
// guarantees sorted tables, an image that depends on the order of add_function only, and linear
// work.
#include "image/image.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "base/check.hpp"

namespace hoist::image {

namespace {

constexpr std::uint32_t kNoSource = 0xffff'ffff;
/// What the processor traps on between functions: a jump into the padding must not slide.
constexpr std::uint8_t kPadding = 0xcc;
/// Text has to stay within reach of a 32-bit pc-relative field.
constexpr std::size_t kMaxText = 0x7fff'ffff;

/// The last entry that begins at or before `at`, or null.
template <typename Entry>
const Entry* last_at_or_before(std::span<const Entry> entries, std::uint32_t at) {
  const auto after = std::upper_bound(
      entries.begin(), entries.end(), at,
      [](std::uint32_t offset, const Entry& entry) { return offset < entry.offset; });
  return after == entries.begin() ? nullptr : &*(after - 1);
}

}  // namespace

const FunctionEntry* Image::find_function(std::uint32_t at) const {
  const FunctionEntry* entry = last_at_or_before(functions(), at);
  return entry != nullptr && at - entry->offset < entry->size ? entry : nullptr;
}

const FunctionEntry* Image::function(FuncKey key) const {
  const auto found = std::lower_bound(
      by_key_.begin(), by_key_.end(), key,
      [this](std::uint32_t number, FuncKey wanted) { return functions_[number].key < wanted; });
  if (found == by_key_.end() || functions_[*found].key != key) return nullptr;
  return &functions_[*found];
}

TrapCode Image::trap_at(std::uint32_t at) const {
  const TrapEntry* entry = last_at_or_before(traps(), at);
  return entry != nullptr && entry->offset == at ? entry->code : TrapCode::None;
}

std::uint32_t Image::source_at(std::uint32_t at) const {
  const AddressEntry* entry = last_at_or_before(addresses(), at);
  // An entry ends with its function: padding and functions without locations have none.
  if (entry == nullptr) return kNoSource;
  const FunctionEntry* function = find_function(at);
  return function != nullptr && entry->offset >= function->offset ? entry->source : kNoSource;
}

void ImageBuilder::reserve(std::size_t text_bytes, std::size_t functions) {
  image_.text_.reserve(text_bytes);
  image_.functions_.reserve(functions);
}

void ImageBuilder::add_function(FunctionEntry entry, std::uint32_t align,
                                std::span<const std::uint8_t> code, std::span<const Reloc> relocs,
                                std::span<const TrapEntry> traps,
                                std::span<const AddressEntry> addresses) {
  HOIST_CHECK(align != 0 && (align & (align - 1)) == 0, "alignment is a power of two");
  image_.text_.resize(base::align_up(image_.text_.size(), align), kPadding);
  const auto start = static_cast<std::uint32_t>(image_.text_.size());
  image_.text_.insert(image_.text_.end(), code.begin(), code.end());
  entry.offset = start;
  entry.size = static_cast<std::uint32_t>(code.size());
  image_.functions_.push_back(entry);
  for (const Reloc& reloc : relocs) {
    HOIST_CHECK(std::size_t{reloc.offset} + 4 <= code.size(),
                "relocated field lies in its function");
    relocs_.push_back({start + reloc.offset, reloc.addend, reloc.target});
  }
  for (TrapEntry trap : traps) {
    trap.offset += start;
    image_.traps_.push_back(trap);
  }
  for (AddressEntry address : addresses) {
    address.offset += start;
    // Neighbours of one source location share an entry, also across functions.
    if (!image_.addresses_.empty() && image_.addresses_.back().source == address.source &&
        image_.addresses_.back().offset >= start) {
      continue;
    }
    image_.addresses_.push_back(address);
  }
}

bool ImageBuilder::fits() const {
  return image_.text_.size() <= kMaxText;
}

Image ImageBuilder::finish() {
  HOIST_CHECK(fits(), "text is at most 2 GiB - 1 bytes");
  std::vector<std::uint32_t>& by_key = image_.by_key_;
  by_key.resize(image_.functions_.size());
  for (std::uint32_t i = 0; i < by_key.size(); ++i) by_key[i] = i;
  std::sort(by_key.begin(), by_key.end(), [this](std::uint32_t a, std::uint32_t b) {
    return image_.functions_[a].key < image_.functions_[b].key;
  });
  for (std::size_t i = 1; i < by_key.size(); ++i) {
    HOIST_CHECK(image_.functions_[by_key[i - 1]].key != image_.functions_[by_key[i]].key,
                "function keys are unique");
  }
  for (const PendingReloc& reloc : relocs_) {
    const FunctionEntry* target = image_.function(reloc.target);
    HOIST_CHECK(target != nullptr, "relocation names a function of the image");
    // S + A - P; the text is below 2 GiB, so the difference fits unless the addend is absurd.
    const std::int64_t value = std::int64_t{target->offset} + reloc.addend - std::int64_t{reloc.at};
    HOIST_CHECK(base::fits_i32(value), "relocation is in range");
    base::store_le(&image_.text_[reloc.at], static_cast<std::int32_t>(value));
  }
  relocs_.clear();
  Image out = std::move(image_);
  image_ = Image();
  return out;
}

}  // namespace hoist::image
