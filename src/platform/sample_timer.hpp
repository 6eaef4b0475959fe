// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Interrupts threads (SIGPROF), for a sampling profiler: by a timer on a thread's CPU clock, or at
/// once; and says where a thread waits in the system, which needs no interruption.

#include <cstdint>

#include "base/result.hpp"
#include "platform/machine_context.hpp"

namespace hoist::platform {

/// In a signal handler on the interrupted thread; `periods` is how many of a timer have gone by
/// since the last time, and 1 without a timer.
using SampleHandler = void (*)(const MachineRegisters& at, std::uint32_t periods);

/// Once per process, for good. Signals of others go on to the handler that was there before.
void install_sample_handler(SampleHandler handler);

/// A timer on the time in which one thread of this process runs; a thread that waits is left alone.
/// The system looks at it at its own ticks only (often every 4 ms) and says how many periods have
/// gone by.
class SampleTimer {
 public:
  SampleTimer() = default;
  SampleTimer(const SampleTimer&) = delete;
  SampleTimer& operator=(const SampleTimer&) = delete;
  ~SampleTimer() { stop(); }
  /// `thread` as thread_id gives it. @error Unsupported: the system has no more timers, or no such
  /// thread
  Result<void> start(std::uint32_t thread, std::uint64_t interval_ns);
  /// A last signal may still be on its way.
  void stop();

 private:
  void* timer_ = nullptr;
  bool running_ = false;
};

/// Has the handler called on a thread of this process as soon as that runs: once for several calls
/// before. A wait in a system call ends with EINTR, or begins anew.
void interrupt_for_sample(std::uint32_t thread);

/// Where a thread waits in a system call.
struct WaitPlace {
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;
  std::uint64_t ran_ns = 0;  ///< CPU time of the thread: the same as long as it waits
  /// Whether registers that a SampleHandler has got are those of such a wait: the system may have
  /// put the program counter back on the call.
  bool is_at(std::uintptr_t other_pc, std::uintptr_t other_sp) const {
    return sp == other_sp && pc - other_pc <= kCallBytes;
  }
  static constexpr std::uintptr_t kCallBytes = 4;
};

/// Asks the system what a thread of this process does, without touching it.
class WaitProbe {
 public:
  WaitProbe() = default;
  WaitProbe(const WaitProbe&) = delete;
  WaitProbe& operator=(const WaitProbe&) = delete;
  ~WaitProbe() { close(); }
  /// Where the system does not tell, no thread is ever seen to wait.
  void open(std::uint32_t thread);
  void close();
  /// False: it runs, or would if it had a core, or the system does not tell.
  bool waits(WaitPlace& out) const;

 private:
  int fd_ = -1;
  std::uint32_t thread_ = 0;
};

}  // namespace hoist::platform
