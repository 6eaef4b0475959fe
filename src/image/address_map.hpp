// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The dense map from code to source locations. Ascending entries in blocks of 32: an index that is
/// searched by halves, then a few differences to decode. About 3 bytes an entry instead of 8.
///
///   u32 entries, u32 blocks; u32 first offset of each block; u32 place of each block in the data;
///   data: of the first entry of a block its source, of the others the difference in offset and the
///   difference in source; numbers are LEB128, sources zigzag (modulo 2^32).

#include <cstdint>
#include <span>
#include <vector>

namespace hoist::image {

/// From `offset` on (to the next entry), code belongs to source location `source` (wasm byte
/// offset).
struct AddressEntry {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::uint32_t offset = 0;
  std::uint32_t source = kNone;
};

/// A view. Whatever the bytes are, nothing outside of them is read.
class AddressMap {
 public:
  AddressMap() = default;
  /// False if the bytes are no such map. `bytes` is 4-aligned.
  static bool open(std::span<const std::uint8_t> bytes, AddressMap& out);

  std::size_t size() const { return entries_; }
  /// Decodes up to a block.
  AddressEntry operator[](std::size_t i) const;
  /// The last entry at or before `offset`; false if there is none.
  bool find(std::uint32_t offset, AddressEntry& out) const;
  /// Calls `visit(entry)` for each entry, in order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t block = 0; block < firsts_.size(); ++block) {
      AddressEntry buffer[kBlock];
      const std::size_t count = decode(block, buffer);
      for (std::size_t i = 0; i < count; ++i) visit(buffer[i]);
    }
  }

  /// Calls `visit(entry)` for what holds at `begin`, if anything does, and for each entry from
  /// there to before `end`, in order. Decodes each block once: what many functions are asked for in
  /// turn.
  template <typename Visit>
  void for_range(std::uint32_t begin, std::uint32_t end, Visit&& visit) const {
    for (std::size_t block = block_of(begin); block < firsts_.size() && firsts_[block] < end;
         ++block) {
      AddressEntry buffer[kBlock];
      const std::size_t count = decode(block, buffer);
      const std::uint32_t after = block + 1 < firsts_.size() ? firsts_[block + 1] : end;
      for (std::size_t i = 0; i < count && buffer[i].offset < end; ++i) {
        const std::uint32_t next = i + 1 < count ? buffer[i + 1].offset : after;
        if (next > begin) visit(buffer[i]);
      }
    }
  }

  static constexpr std::size_t kBlock = 32;

 private:
  /// The last block that begins at or before `offset`; the first if none does.
  std::size_t block_of(std::uint32_t offset) const;
  std::size_t decode(std::size_t block, AddressEntry (&out)[kBlock]) const;

  std::size_t entries_ = 0;
  std::span<const std::uint32_t> firsts_;
  std::span<const std::uint32_t> places_;
  std::span<const std::uint8_t> data_;
};

class AddressMapWriter {
 public:
  /// Offsets ascend.
  void add(AddressEntry entry);
  std::size_t size() const { return entries_; }
  /// The entry added last, if there is one.
  AddressEntry last() const { return last_; }
  std::size_t bytes() const { return 8 + firsts_.size() * 8 + data_.size(); }
  /// Appends the map.
  void write(std::vector<std::uint8_t>& out) const;

 private:
  std::vector<std::uint32_t> firsts_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint8_t> data_;
  std::size_t entries_ = 0;
  AddressEntry last_;
};

}  // namespace hoist::image
