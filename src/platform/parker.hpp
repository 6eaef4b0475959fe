// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Parker: where one thread sleeps until another wakes it or time is up. Costs eight bytes, and a
/// system call only where somebody sleeps.

#include <atomic>
#include <cstdint>

namespace hoist::platform {

class Parker {
 public:
  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// The sleeping thread takes a ticket, then looks at what it waits for, then parks: an `unpark`
  /// after the ticket was taken is not missed.
  std::uint32_t ticket() const { return word_.load(std::memory_order_seq_cst); }
  /// Returns after an `unpark` since the ticket, after `timeout_ns` (< 0: never), or for no reason.
  void park(std::uint32_t ticket, std::int64_t timeout_ns);
  /// From any thread and from signal handlers.
  void unpark();

 private:
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> parked_{0};
};

}  // namespace hoist::platform
