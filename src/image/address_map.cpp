// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image/address_map.hpp"

#include <algorithm>

#include "base/bits.hpp"
#include "base/leb128.hpp"

namespace hoist::image {

static std::uint32_t zigzag(std::uint32_t difference) {
  return (difference << 1) ^ (0u - (difference >> 31));
}
static std::uint32_t unzigzag(std::uint32_t coded) {
  return (coded >> 1) ^ (0u - (coded & 1));
}

/// Stops at the end of the data.
static std::uint32_t read_number(std::span<const std::uint8_t> data, std::size_t& at) {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 35 && at < data.size(); shift += 7) {
    const std::uint32_t byte = data[at++];
    if (shift < 32) value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  return value;
}

static void append(std::vector<std::uint8_t>& out, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::uint8_t*>(from);
  out.insert(out.end(), begin, begin + bytes);
}

void AddressMapWriter::add(AddressEntry entry) {
  if (entries_ % AddressMap::kBlock == 0) {
    firsts_.push_back(entry.offset);
    places_.push_back(static_cast<std::uint32_t>(data_.size()));
    base::write_uleb(data_, zigzag(entry.source));
  } else {
    base::write_uleb(data_, entry.offset - last_.offset);
    base::write_uleb(data_, zigzag(entry.source - last_.source));
  }
  last_ = entry;
  ++entries_;
}

void AddressMapWriter::write(std::vector<std::uint8_t>& out) const {
  const std::uint32_t head[2] = {static_cast<std::uint32_t>(entries_),
                                 static_cast<std::uint32_t>(firsts_.size())};
  append(out, head, sizeof(head));
  append(out, firsts_.data(), firsts_.size() * 4);
  append(out, places_.data(), places_.size() * 4);
  append(out, data_.data(), data_.size());
}

bool AddressMap::open(std::span<const std::uint8_t> bytes, AddressMap& out) {
  if (bytes.size() < 8) return false;
  const std::size_t entries = base::load_le<std::uint32_t>(bytes.data());
  const std::size_t blocks = base::load_le<std::uint32_t>(bytes.data() + 4);
  if (blocks != (entries + kBlock - 1) / kBlock || blocks > (bytes.size() - 8) / 8) return false;
  const auto* words = reinterpret_cast<const std::uint32_t*>(bytes.data() + 8);
  out.entries_ = entries;
  out.firsts_ = {words, blocks};
  out.places_ = {words + blocks, blocks};
  out.data_ = bytes.subspan(8 + blocks * 8);
  for (std::size_t i = 0; i < blocks; ++i) {
    if (out.places_[i] > out.data_.size()) return false;
    if (i != 0 && out.firsts_[i] < out.firsts_[i - 1]) return false;
  }
  return true;
}

std::size_t AddressMap::decode(std::size_t block, AddressEntry (&out)[kBlock]) const {
  const std::size_t count = std::min(kBlock, entries_ - block * kBlock);
  std::size_t at = places_[block];
  out[0] = {firsts_[block], unzigzag(read_number(data_, at))};
  for (std::size_t i = 1; i < count; ++i) {
    out[i].offset = out[i - 1].offset + read_number(data_, at);
    out[i].source = out[i - 1].source + unzigzag(read_number(data_, at));
  }
  return count;
}

std::size_t AddressMap::block_of(std::uint32_t offset) const {
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), offset);
  return after == firsts_.begin() ? 0 : static_cast<std::size_t>(after - firsts_.begin()) - 1;
}

AddressEntry AddressMap::operator[](std::size_t i) const {
  AddressEntry buffer[kBlock];
  decode(i / kBlock, buffer);
  return buffer[i % kBlock];
}

bool AddressMap::find(std::uint32_t offset, AddressEntry& out) const {
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), offset);
  if (after == firsts_.begin()) return false;
  AddressEntry buffer[kBlock];
  const std::size_t count = decode(static_cast<std::size_t>(after - firsts_.begin()) - 1, buffer);
  std::size_t i = 0;
  while (i + 1 < count && buffer[i + 1].offset <= offset) ++i;
  out = buffer[i];
  return true;
}

}  // namespace hoist::image
