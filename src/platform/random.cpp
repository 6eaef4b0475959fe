// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/random.hpp"

#include <sys/random.h>

#include <cerrno>

#include "base/check.hpp"

namespace hoist::platform {

void random_bytes(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0) {
      HOIST_CHECK(errno == EINTR, "the system gives random bytes");
      continue;
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace hoist::platform
