// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Clocks in nanoseconds, and what the process has used.

#include <cstdint>

namespace hoist::platform {

enum class Clock : std::uint8_t {
  Monotonic,   ///< since some moment; never goes back
  Realtime,    ///< since 1970-01-01T00:00Z
  ProcessCpu,  ///< CPU time of all threads of the process
  ThreadCpu    ///< CPU time of the calling thread
};

std::uint64_t now_ns(Clock clock);
std::uint64_t resolution_ns(Clock clock);
/// The largest resident size the process has had.
std::uint64_t peak_resident_bytes();
std::uint32_t process_id();

}  // namespace hoist::platform
