// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// StoreShared: the part of a store that other threads may touch at any time, also after the
/// store's end: InterruptHandles keep it alive. Everything else of a store belongs to one thread.

#include <atomic>

#include "image/layout/vm_layout.hpp"
#include "platform/parker.hpp"
#include "platform/wake.hpp"

namespace hoist::detail {

struct StoreShared {
  image::StoreContext context;
  platform::WakeFlag wake;
  platform::Parker parker;  ///< where the guest waits for other guests
  /// Asked for and not yet delivered.
  std::atomic<bool> interrupted{false};

  /// From any thread and from signal handlers. Code finds out at its next look at the deadline, or
  /// at the stack limit; host functions that wait are woken.
  void interrupt() noexcept {
    interrupted.store(true, std::memory_order_seq_cst);
    stop_code();
    wake.raise();
    parker.unpark();
  }
  void stop_code() noexcept {
    std::atomic_ref(context.epoch_deadline).store(0, std::memory_order_seq_cst);
    std::atomic_ref(context.stack_limit).store(~std::uint64_t{0}, std::memory_order_seq_cst);
  }
};

}  // namespace hoist::detail
