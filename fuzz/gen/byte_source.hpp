// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Choices from the bytes that a fuzzer gives.

#include <cstddef>
#include <cstdint>
#include <span>

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
  template <typename T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }
  bool done() const { return at_ == data_.size(); }

 private:
  std::span<const std::uint8_t> data_;
  std::size_t at_ = 0;
};

}  // namespace hoist::fuzz
