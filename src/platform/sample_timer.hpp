// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Interrupts threads at regular times (SIGPROF), for a sampling profiler.

#include <cstdint>

#include "base/result.hpp"
#include "platform/machine_context.hpp"

namespace hoist::platform {

enum class SampleClock : std::uint8_t {
  Cpu,  ///< time in which the thread runs; a waiting thread is left alone. The system looks at it
        ///< at its own ticks only (often every 4 ms) and says how many periods have gone by
  Wall  ///< time; system calls that wait are interrupted (EINTR)
};

/// In a signal handler on the interrupted thread; `periods` is how many have gone by since the last
/// time (1 with SampleClock::Wall, whose signals come late when the thread did not run).
using SampleHandler = void (*)(const MachineRegisters& at, std::uint32_t periods);

/// Once per process, for good. Signals of others go on to the handler that was there before.
void install_sample_handler(SampleHandler handler);

/// A timer for one thread of this process, `thread` as thread_id gives it.
class SampleTimer {
 public:
  SampleTimer() = default;
  SampleTimer(const SampleTimer&) = delete;
  SampleTimer& operator=(const SampleTimer&) = delete;
  ~SampleTimer() { stop(); }
  /// @error Unsupported: the system has no more timers, or no such thread
  Result<void> start(std::uint32_t thread, SampleClock clock, std::uint64_t interval_ns);
  /// A last signal may still be on its way.
  void stop();

 private:
  void* timer_ = nullptr;
  bool running_ = false;
};

}  // namespace hoist::platform
