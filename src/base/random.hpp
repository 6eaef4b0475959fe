// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// SplitMix64: numbers for tests and fuzzers, the same for the same seed everywhere. Not for
/// secrets.

#include <cstdint>

namespace hoist::base {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e37'79b9'7f4a'7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace hoist::base
