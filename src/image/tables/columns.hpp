// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The common form of the tables: a header of counts, then columns of that many little-endian
/// 32-bit numbers, used where they lie (no alignment needed). A table of zero bytes is an empty
/// one.
///
/// Readers trust nothing: `Columns::open` checks that the columns fill the bytes exactly, and reads
/// of an index outside of its column give kAbsent, so that damaged tables give wrong answers but
/// never a wrong access.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "image/tables/function_tables.hpp"

namespace hoist::image {

/// One column of a table.
class Column {
 public:
  Column() = default;
  Column(const std::uint8_t* first, std::uint32_t count) : first_(first), count_(count) {}
  std::uint32_t size() const { return count_; }
  std::uint32_t operator[](std::uint32_t index) const {
    return index < count_ ? base::load_le<std::uint32_t>(first_ + std::size_t{4} * index) : kAbsent;
  }
  /// The number of entries before the first that is at least `wanted`; the column ascends.
  std::uint32_t lower_bound(std::uint32_t wanted) const {
    std::uint32_t low = 0;
    std::uint32_t high = count_;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      if ((*this)[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  /// The entry that is `wanted`, or kAbsent.
  std::uint32_t find(std::uint32_t wanted) const {
    const std::uint32_t at = lower_bound(wanted);
    return at < count_ && (*this)[at] == wanted ? at : kAbsent;
  }
  /// The last entry that is at most `wanted`, or kAbsent.
  std::uint32_t last_at_or_before(std::uint32_t wanted) const {
    const std::uint32_t after = wanted == kAbsent ? count_ : lower_bound(wanted + 1);
    return after == 0 ? kAbsent : after - 1;
  }

 private:
  const std::uint8_t* first_ = nullptr;
  std::uint32_t count_ = 0;
};

/// A range of entries of another column, kept within it.
struct EntryRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Entry `index` of a column of exclusive ends: the range since the previous end, cut to `limit`.
inline EntryRange range_of(const Column& ends, std::uint32_t index, std::uint32_t limit) {
  const std::uint32_t begin = index == 0 ? 0 : ends[index - 1];
  const std::uint32_t end = std::min(ends[index], limit);
  return begin <= end ? EntryRange{begin, end} : EntryRange{0, 0};
}

/// Splits a table: `columns` says for each column which of the `counts` header numbers is its
/// length. False: the bytes are not such a table.
inline bool open_columns(std::span<const std::uint8_t> bytes, std::span<std::uint32_t> counts,
                         std::span<const std::uint8_t> columns, std::span<Column> out) {
  for (std::uint32_t& count : counts) count = 0;
  for (Column& column : out) column = Column();
  if (bytes.empty()) return true;
  if (bytes.size() < 4 * counts.size()) return false;
  std::uint64_t words = counts.size();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = base::load_le<std::uint32_t>(bytes.data() + 4 * i);
  }
  for (const std::uint8_t count : columns) words += counts[count];
  const bool fits = words * 4 == bytes.size();
  const std::uint8_t* at = bytes.data() + 4 * counts.size();
  for (std::size_t i = 0; fits && i < columns.size(); ++i) {
    out[i] = Column(at, counts[columns[i]]);
    at += std::size_t{4} * counts[columns[i]];
  }
  if (!fits) {
    for (std::uint32_t& count : counts) count = 0;
  }
  return fits;
}

/// Appends a table in the same form.
inline void write_columns(std::vector<std::uint8_t>& out,
                          std::initializer_list<std::uint32_t> counts,
                          std::initializer_list<const std::vector<std::uint32_t>*> columns) {
  const auto put = [&out](std::uint32_t word) {
    const std::size_t at = out.size();
    out.resize(at + 4);
    base::store_le(&out[at], word);
  };
  for (const std::uint32_t count : counts) put(count);
  for (const std::vector<std::uint32_t>* column : columns) {
    for (const std::uint32_t word : *column) put(word);
  }
}

}  // namespace hoist::image
