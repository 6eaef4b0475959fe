// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WakeFlag: how one thread asks another to stop waiting in the system. The waiting thread polls
/// what it waits for together with the flag's descriptor, so that nobody looks at the clock. The
/// descriptor is made at the first wait; a flag that nobody waited with costs eight bytes.

#include <atomic>
#include <cstdint>

namespace hoist::platform {

class WakeFlag {
 public:
  WakeFlag() = default;
  ~WakeFlag();
  WakeFlag(const WakeFlag&) = delete;
  WakeFlag& operator=(const WakeFlag&) = delete;

  /// Wakes whoever waits, now and later, until `lower`. From any thread and from signal handlers.
  void raise();
  void lower();
  bool raised() const { return raised_.load(std::memory_order_seq_cst); }

  /// For the waiting thread: readable while the flag is raised; -1 if the system gives none (then
  /// wait in slices of at most kSliceNs and look at `raised`).
  int descriptor();
  /// Makes the descriptor agree with the flag after a `raise` and a `lower` that crossed.
  void settle();
  static constexpr std::int64_t kSliceNs = 50'000'000;

 private:
  std::atomic<int> fd_{-1};
  std::atomic<bool> raised_{false};
};

}  // namespace hoist::platform
