// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The sampling profiler: one per process. Every thread that runs guests has a timer and a ring
/// that the signal handler writes raw stacks into; a thread of the sampler reads the rings and
/// turns addresses into names. Before code goes, what was sampled of it gets its names, so that no
/// later code at its addresses can be taken for it.

#include <cstdint>

#include "base/result.hpp"
#include "platform/sample_timer.hpp"
#include "profiling/sampler/profile.hpp"

namespace hoist::profiling {

struct SamplerOptions {
  std::uint64_t interval_ns = 1'000'000;
  platform::SampleClock clock = platform::SampleClock::Cpu;
};

inline constexpr std::uint64_t kShortestInterval = 100'000;
inline constexpr std::uint64_t kLongestInterval = 10'000'000'000;

/// @error BadArgument: it runs already, or the interval is out of range; Unsupported: the system
/// has no timers
Result<void> start_sampler(const SamplerOptions& options);
/// Ends it. What was sampled.
Profile stop_sampler();

}  // namespace hoist::profiling
