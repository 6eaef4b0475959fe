// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WaitLists: who waits at which address of a shared memory, in the order in which they came. Any
/// thread.
///
/// Guarantees: a waiter that has seen the expected value is in the list before any later notify at
/// its address looks; a notify counts exactly the waiters that it wakes. A waiter costs no memory
/// but its stack. Source: threads proposal, "Wait and notify operators".

#include <cstdint>
#include <mutex>

#include "base/function_ref.hpp"
#include "platform/parker.hpp"

namespace hoist::runtime {

class WaitLists {
 public:
  /// The numbers are those of the instructions.
  enum class Outcome : std::uint8_t { Woken = 0, NotEqual = 1, TimedOut = 2, GivenUp = 3 };

  /// @param is_expected  looks at the memory; called once, under a lock.
  /// @param timeout_ns   < 0: for ever.
  /// @param parker       the calling thread's own; whoever unparks it makes `give_up` be asked.
  /// @param give_up      asked before each sleep, without a lock: true ends the waiting.
  /// @param slice_ns     `give_up` is asked at least that often; < 0: only when unparked.
  Outcome wait(std::uint64_t address, base::FunctionRef<bool()> is_expected,
               std::int64_t timeout_ns, platform::Parker& parker, base::FunctionRef<bool()> give_up,
               std::int64_t slice_ns);
  /// Wakes at most `count` of those that wait at the address, first come first served.
  std::uint32_t notify(std::uint64_t address, std::uint32_t count);

 private:
  struct Waiter;
  struct Bucket {
    std::mutex mutex;
    Waiter* first = nullptr;
    Waiter* last = nullptr;
  };
  static constexpr std::uint32_t kBuckets = 64;

  Bucket& bucket(std::uint64_t address) {
    return buckets_[(address >> 2) * 0x9e37'79b9'7f4a'7c15 >> 58];
  }
  static void remove(Bucket& bucket, Waiter& waiter);

  static_assert(kBuckets == 64, "`bucket` takes the upper six bits");
  Bucket buckets_[kBuckets];
};

}  // namespace hoist::runtime
