// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace hoist::platform {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4);

void Parker::park(std::uint32_t ticket, std::int64_t timeout_ns) {
  timespec timeout{};
  if (timeout_ns >= 0) timeout = {timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  // Whoever unparks changes the word and then looks here; the kernel compares the word after this.
  parked_.store(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, ticket, timeout_ns < 0 ? nullptr : &timeout,
            nullptr, 0);
  parked_.store(0, std::memory_order_seq_cst);
}

void Parker::unpark() {
  word_.fetch_add(1, std::memory_order_seq_cst);
  if (parked_.load(std::memory_order_seq_cst) == 0) return;
  const int saved = errno;
  ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = saved;
}

}  // namespace hoist::platform
