// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Bytes to a valid IR function: every byte string gives one that verifies and ends. Covers all scalar operations
/// of ops.def, branches, loops with a bounded count, jump tables, stack memory and traps. NaN bits, which the
/// IR leaves open, never reach an integer: a float is canonicalised before its bits are looked at.

#include <cstdint>
#include <span>

#include "ir/function.hpp"

namespace hoist::fuzz {

/// Takes bytes from the front, zeros when they have run out.
class ByteSource {
 public:
  explicit ByteSource(std::span<const std::uint8_t> data) : data_(data) {}
  std::uint8_t u8() {
    if (at_ == data_.size()) return 0;
    return data_[at_++];
  }
  std::uint64_t u64() {
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) out |= std::uint64_t{u8()} << (8 * i);
    return out;
  }
  /// 0 to n-1; n is at most 256.
  unsigned below(unsigned n) { return u8() % n; }
  bool done() const { return at_ == data_.size(); }

 private:
  std::span<const std::uint8_t> data_;
  std::size_t at_ = 0;
};

/// Fills `func` (cleared) with a function named %fuzz of convention system_v; parameters and results are
/// scalars of i8 to i64, f32, f64: up to eight and one to four.
void generate_function(ByteSource& source, ir::Function& func);

/// A value of `type` biased towards edges; in the low bits.
std::uint64_t interesting_value(ByteSource& source, ir::Type type);

}  // namespace hoist::fuzz
