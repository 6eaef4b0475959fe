// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The sampling profiler: one per process. Every thread that runs guests has a ring that the signal
/// handler writes raw stacks into; a thread of the sampler reads the rings and turns addresses into
/// names. Before code goes, what was sampled of it gets its names, so that no later code at its
/// addresses can be taken for it.
///
/// By the CPU clock, a timer of each thread interrupts it. By the wall clock, the sampler's thread
/// wakes up, and interrupts threads that are in guests: one timer for all of them, on whatever core
/// is free. A thread that still waits where it was seen last is not interrupted: its last stack
/// counts again.

#include <cstdint>

#include "base/result.hpp"
#include "profiling/sampler/profile.hpp"

namespace hoist::profiling {

enum class SampleClock : std::uint8_t { Cpu, Wall };

struct SamplerOptions {
  std::uint64_t interval_ns = 1'000'000;
  SampleClock clock = SampleClock::Cpu;
};

inline constexpr std::uint64_t kShortestInterval = 100'000;
inline constexpr std::uint64_t kLongestInterval = 10'000'000'000;

/// @error BadArgument: it runs already, or the interval is out of range; Unsupported: the system
/// has no timers
Result<void> start_sampler(const SamplerOptions& options);
/// Ends it. What was sampled.
Profile stop_sampler();

}  // namespace hoist::profiling
