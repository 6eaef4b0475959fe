// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Config: the settings of an Engine. Plain data, copied when the engine is made.

#include <cstdint>

namespace hoist {

/// What the code generator spends to make code fast.
enum class OptLevel : std::uint8_t {
  None = 0,   ///< no optimisation, the simple register allocator: fastest to compile
  Speed = 1,  ///< all optimisations that are quick to apply
  Full = 2    ///< everything; the default
};

/// Who is told about machine code as it is loaded.
enum class Profiler : std::uint8_t {
  None,
  PerfMap  ///< appends to /tmp/perf-PID.map, which `perf report` reads
};

struct Config {
  OptLevel opt_level = OptLevel::Full;
  /// Threads that compile one module; 0 is one per core. The code does not depend on it.
  unsigned threads = 0;
  /// Stack that compiled code may use, in bytes, counted from the outermost call into it; beyond,
  /// it traps with "call stack exhausted". At least 64 KiB. A thread with a smaller stack gives
  /// what it has.
  std::uint64_t guest_stack_bytes = std::uint64_t{1} << 20;
  /// Stack left for host functions below the guest's, in bytes; at least 32 KiB.
  std::uint64_t host_reserve_bytes = std::uint64_t{128} << 10;
  Profiler profiler = Profiler::None;
  /// For developers of Hoist: verify the IR after each pass, prove each register allocation.
  bool verify_ir = false;
  bool check_allocation = false;
};

}  // namespace hoist
