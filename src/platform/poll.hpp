// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Waiting for descriptors, clocks and a WakeFlag at once. Never a loop that keeps a processor
/// busy.

#include <cstdint>
#include <span>

#include "platform/wake.hpp"

namespace hoist::platform {

/// One descriptor to wait for: to be read, written, or both.
struct PollItem {
  int fd = -1;
  bool read = false, write = false;
  bool can_read = false, can_write = false;  ///< out
  bool hangup = false;                       ///< out: closed at the other end, or an error
  bool invalid = false;                      ///< out: not an open descriptor
  std::uint64_t available = 0;               ///< out: bytes to be read, where the system says
};

/// Waits until an item is ready or the time is up; `timeout_ns` < 0 is for ever. Returns 0,
/// ECANCELED when `wake` (may be null) is raised and nothing was ready, or an errno value. May
/// return early with nothing ready (a signal).
int poll_fds(std::span<PollItem> items, std::int64_t timeout_ns, WakeFlag* wake);

/// Waits until `fd` can be read (or written) or has hung up: 0; or ECANCELED.
int wait_for(int fd, bool write, WakeFlag* wake);
/// Whether it can be now.
bool is_ready(int fd, bool write);
/// Sleeps; 0 or ECANCELED.
int sleep_ns(std::uint64_t ns, WakeFlag* wake);

}  // namespace hoist::platform
