// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Small variable-length lists of 4-byte items, all in one growing array, named by a 4-byte handle.
/// Nothing is freed before `clear`, which keeps the memory; a list that outgrows its chunk (powers
/// of two) moves to a new one.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.hpp"

namespace hoist::base {

/// Handle of a list; 0 is the empty list.
struct ListRef {
  std::uint32_t index = 0;
  friend constexpr bool operator==(ListRef, ListRef) = default;
};

/// `T` is a 4-byte trivially copyable type. A list occupies [length, items..., spare] in the pool.
/// Spans from `get` are invalidated by `make` and `append`.
template <typename T>
class ListPool {
  static_assert(sizeof(T) == 4 && alignof(T) == 4);

 public:
  ListPool() { clear(); }
  void clear() {
    data_.clear();
    data_.push_back(0);
  }

  /// A new list; `items` may point into this pool.
  ListRef make(std::span<const T> items) {
    if (items.empty()) return {};
    const auto count = static_cast<std::uint32_t>(items.size());
    const auto* source = reinterpret_cast<const std::uint32_t*>(items.data());
    const bool inside = source >= data_.data() && source < data_.data() + data_.size();
    const std::size_t source_index = inside ? static_cast<std::size_t>(source - data_.data()) : 0;
    const std::uint32_t at = allocate(count);
    if (inside) source = data_.data() + source_index;
    std::copy(source, source + count, data_.begin() + at + 1);
    return {at};
  }
  /// A list of `count` items that the caller fills in.
  ListRef make_uninitialized(std::uint32_t count) {
    return count == 0 ? ListRef{} : ListRef{allocate(count)};
  }

  std::span<const T> get(ListRef list) const {
    return {reinterpret_cast<const T*>(&data_[list.index] + 1), data_[list.index]};
  }
  std::span<T> get(ListRef list) {
    return {reinterpret_cast<T*>(&data_[list.index] + 1), data_[list.index]};
  }
  /// Adds `item`; the old handle must not be used any more.
  [[nodiscard]] ListRef append(ListRef list, T item) {
    const std::uint32_t length = data_[list.index];
    std::uint32_t at = list.index;
    if (at == 0 || chunk_words(length + 1) != chunk_words(length)) {
      at = allocate(length + 1);
      std::copy_n(data_.begin() + list.index + 1, length, data_.begin() + at + 1);
    }
    data_[at] = length + 1;
    __builtin_memcpy(&data_[at + 1 + length], &item, 4);
    return {at};
  }
  /// Drops the items from `length` on.
  void truncate(ListRef list, std::uint32_t length) {
    HOIST_DCHECK(length <= data_[list.index], "truncate only shortens");
    // The chunk stays as large as it was; `append` may move the list earlier than needed.
    if (list.index != 0) data_[list.index] = length;
  }

 private:
  static std::uint32_t chunk_words(std::uint32_t length) { return std::bit_ceil(length + 1); }
  std::uint32_t allocate(std::uint32_t count) {
    HOIST_CHECK(data_.size() + chunk_words(count) < 0xffff'fff0u, "list pool fits 32-bit handles");
    const auto at = static_cast<std::uint32_t>(data_.size());
    data_.resize(data_.size() + chunk_words(count));
    data_[at] = count;
    return at;
  }
  std::vector<std::uint32_t> data_;
};

}  // namespace hoist::base
