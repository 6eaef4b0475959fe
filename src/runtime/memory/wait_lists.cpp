// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/wait_lists.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "platform/clocks.hpp"

namespace hoist::runtime {

/// Lives on the waiter's stack. A waiter takes the bucket's lock once more before it returns, so
/// that whoever wakes it, under that lock, is done with it.
struct WaitLists::Waiter {
  std::uint64_t address;
  platform::Parker& parker;
  std::atomic<bool> notified{false};
  Waiter* before = nullptr;
  Waiter* behind = nullptr;
};

void WaitLists::remove(Bucket& bucket, Waiter& waiter) {
  (waiter.before != nullptr ? waiter.before->behind : bucket.first) = waiter.behind;
  (waiter.behind != nullptr ? waiter.behind->before : bucket.last) = waiter.before;
}

WaitLists::Outcome WaitLists::wait(std::uint64_t address, base::FunctionRef<bool()> is_expected,
                                   std::int64_t timeout_ns, platform::Parker& parker,
                                   base::FunctionRef<bool()> give_up, std::int64_t slice_ns) {
  constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  const auto now = [] { return platform::now_ns(platform::Clock::Monotonic); };
  const std::uint64_t deadline =
      timeout_ns < 0 ? kNever : now() + static_cast<std::uint64_t>(timeout_ns);

  Bucket& home = bucket(address);
  Waiter self{address, parker};
  {
    const std::lock_guard<std::mutex> lock(home.mutex);
    if (!is_expected()) return Outcome::NotEqual;
    self.before = home.last;
    (home.last != nullptr ? home.last->behind : home.first) = &self;
    home.last = &self;
  }
  auto outcome = Outcome::Woken;
  for (;;) {
    const std::uint32_t ticket = parker.ticket();
    if (self.notified.load(std::memory_order_acquire)) break;
    if (give_up()) {
      outcome = Outcome::GivenUp;
      break;
    }
    std::int64_t left = -1;
    if (deadline != kNever) {
      const std::uint64_t at = now();
      if (at >= deadline) {
        outcome = Outcome::TimedOut;
        break;
      }
      left = static_cast<std::int64_t>(deadline - at);
    }
    if (slice_ns >= 0) left = left < 0 ? slice_ns : std::min(left, slice_ns);
    parker.park(ticket, left);
  }
  const std::lock_guard<std::mutex> lock(home.mutex);
  // Whoever was counted by a notify has been woken, whatever else came in the same moment; but one
  // that gives up has an error to deliver.
  if (!self.notified.load(std::memory_order_relaxed)) {
    remove(home, self);
  } else if (outcome == Outcome::TimedOut) {
    outcome = Outcome::Woken;
  }
  return outcome;
}

std::uint32_t WaitLists::notify(std::uint64_t address, std::uint32_t count) {
  Bucket& home = bucket(address);
  const std::lock_guard<std::mutex> lock(home.mutex);
  std::uint32_t woken = 0;
  for (Waiter* waiter = home.first; waiter != nullptr && woken != count;) {
    Waiter* next = waiter->behind;
    if (waiter->address == address) {
      remove(home, *waiter);
      platform::Parker& parker = waiter->parker;
      waiter->notified.store(true, std::memory_order_release);
      parker.unpark();
      ++woken;
    }
    waiter = next;
  }
  return woken;
}

}  // namespace hoist::runtime
