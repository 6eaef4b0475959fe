// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A growable set of small integers, one bit each.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hoist::base {

class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t size) { reset(size); }

  /// Empties the set and sizes it for members below `size`.
  void reset(std::size_t size) { words_.assign((size + 63) / 64, 0); }
  bool contains(std::size_t i) const {
    return i / 64 < words_.size() && ((words_[i / 64] >> (i % 64)) & 1) != 0;
  }
  /// Returns whether `i` was new.
  bool insert(std::size_t i) {
    if (i / 64 >= words_.size()) words_.resize(i / 64 + 1, 0);
    const std::uint64_t bit = std::uint64_t{1} << (i % 64);
    const bool fresh = (words_[i / 64] & bit) == 0;
    words_[i / 64] |= bit;
    return fresh;
  }
  void erase(std::size_t i) {
    if (i / 64 < words_.size()) words_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  }
  /// this |= other; returns whether anything changed.
  bool merge(const BitSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size(), 0);
    bool changed = false;
    for (std::size_t w = 0; w < other.words_.size(); ++w) {
      const std::uint64_t merged = words_[w] | other.words_[w];
      changed |= merged != words_[w];
      words_[w] = merged;
    }
    return changed;
  }
  /// Calls `visit(index)` for each member, ascending.
  template <typename F>
  void for_each(F&& visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        visit(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace hoist::base
