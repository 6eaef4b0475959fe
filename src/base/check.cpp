// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace hoist::base {

void check_failed(const char* file, int line, const char* condition, const char* message) noexcept {
  std::fprintf(stderr, "hoist: internal error at %s:%d: %s (%s)\n", file, line, message, condition);
  std::fflush(stderr);
  std::abort();
}

void out_of_memory() noexcept {
  std::fputs("hoist: out of memory\n", stderr);
  std::abort();
}

}  // namespace hoist::base
