// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Config: the settings of an Engine. Plain data, copied when the engine is made.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace hoist {

class CodeListener;  // code_listener.hpp

/// What the code generator spends to make code fast.
enum class OptLevel : std::uint8_t {
  None = 0,   ///< no optimisation, the simple register allocator: fastest to compile
  Speed = 1,  ///< all optimisations that are quick to apply
  Full = 2    ///< everything; the default
};

/// Which profiler is told about machine code as it is loaded and as it goes (docs/profiling.md).
enum class Profiler : std::uint8_t {
  None,
  PerfMap,  ///< appends to /tmp/perf-PID.map, which `perf report` reads
  JitDump,  ///< writes jit-PID.dump for `perf inject --jit`: names, code, lines, unwinding
  VTune     ///< tells Intel VTune, which runs the process
};

/// A pool of address space for hosts that start many instances (docs/instantiation.md): made with
/// the engine, used by every store that does not say otherwise (StoreLimits::pooled). What does not
/// fit or finds no free slot is an Error of kind Limit. Counts are of what is alive at once.
struct PoolingOptions {
  std::uint32_t instances = 1000;
  std::uint32_t memories = 1000;  ///< each takes 6 GiB of address space
  std::uint32_t tables = 1000;
  std::uint64_t memory_bytes = std::uint64_t{1} << 32;  ///< of each memory, at most 4 GiB
  std::uint64_t table_elements = 20'000;                ///< of each table
  /// Of each instance's own state: 32 bytes for each function that has a reference, 16 for each
  /// global and imported function.
  std::uint64_t instance_bytes = std::uint64_t{1} << 20;
  /// Memory of a free slot that is cleared by writing instead of being given back to the system:
  /// costs resident memory, saves page faults of programs that write most of it.
  std::uint64_t keep_resident_bytes = 0;
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
  /// The embedder's own, told the same; besides `profiler`.
  std::shared_ptr<CodeListener> code_listener;
  /// Names of C++ and Rust functions appear in backtraces and profiles as the source has them, if
  /// this build has a demangler; off: as the module has them.
  bool demangle = true;
  /// The CPU that code is made for: "native" is this one, "baseline" any that Hoist runs on; or
  /// features beyond the baseline: "popcnt,avx2"; or this one without some: "native,-avx512f". Code
  /// for another CPU can only be made (Module::precompile), not loaded.
  std::string cpu = "native";
  /// Language features that modules may use, as differences from the defaults (all finished ones):
  /// "+legacy-exceptions,-threads". Engine::create knows the names.
  std::string features;
  /// Where compiled modules are kept between processes (docs/cache.md); empty: nowhere. Created if
  /// missing. What is wrong with it only means that modules are compiled.
  std::string cache_directory;
  /// What is not used for longest goes when the cache is larger.
  std::uint64_t cache_bytes = std::uint64_t{1} << 30;
  std::optional<PoolingOptions> pooling;
  /// Traps are found by faulting instructions and the handlers of four signals (SIGSEGV, SIGBUS,
  /// SIGILL, SIGFPE). Off: no handler is ever installed for this engine, and code checks everything
  /// itself, which makes it larger and slower (docs/limits.md has numbers). Implies
  /// `explicit_bounds_checks`.
  bool signals = true;
  /// Every access to memory compares its address, instead of faulting in reserved address space.
  bool explicit_bounds_checks = false;
  /// Code counts what it executes: Store::set_fuel and its relatives work.
  bool fuel = false;
  /// Code compares Engine::epoch with the store's deadline at every function and every turn of a
  /// loop: Store::set_epoch_deadline works, and InterruptHandle::interrupt stops loops too.
  bool epoch = false;
  /// Code looks at every turn of a loop whether InterruptHandle::interrupt was called, which ends
  /// loops then, too; cheaper than `epoch`, which does the same and more. On by itself for modules
  /// that import "wasi" "thread-spawn": each thread of a program can end all of it.
  bool interruptible = false;
  /// For tests: stores look for unreachable references each time that one is made.
  bool collect_always = false;
  /// Floating-point arithmetic gives one NaN only, the positive canonical one, as the
  /// specification's deterministic profile wants; otherwise sign and payload are the processor's.
  bool canonical_nans = false;
  /// Relaxed vector instructions give the results of the specification's deterministic profile, the
  /// same on every CPU, instead of what this CPU does fastest.
  bool deterministic_relaxed_simd = false;
  /// For developers of Hoist: verify the IR after each pass, prove each register allocation.
  bool verify_ir = false;
  bool check_allocation = false;
};

}  // namespace hoist
