// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The step of every bisection: the first number at which something goes wrong.

#include <cstdint>

namespace hoistdev {

/// The smallest number in 1 to `known` for which `wrong` holds, which it does for `known`.
template <typename F>
std::uint64_t smallest(std::uint64_t known, const F& wrong) {
  std::uint64_t fine = 0;
  while (known - fine > 1) {
    const std::uint64_t middle = fine + (known - fine) / 2;
    (wrong(middle) ? known : fine) = middle;
  }
  return known;
}

}  // namespace hoistdev
