// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WasiThreads: "wasi" "thread-spawn" for programs built for wasm32-wasip1-threads. Each thread of
/// the program is a thread of the system with a store and an instance of its own; they share the
/// memory that the module imports. Source: wasi-threads proposal; docs/memory.md.

#include <cstdint>
#include <memory>
#include <optional>

#include "hoist/linker.hpp"

namespace hoist {

namespace detail {
struct ThreadGroup;
}

struct WasiThreadsConfig {
  /// Of the store of each thread; its callback runs there. The totals are of the program: what the
  /// store that spawns has counts, too.
  StoreLimits limits;
  std::uint32_t max_threads = 256;  ///< alive at once; more cannot be spawned
  /// Called on a new thread before the guest runs there, say to set fuel or a deadline.
  void (*on_start)(void* context, StoreRef store) = nullptr;
  /// Called on the thread whose failure ends the program (WasiThreads::Failure), when all others
  /// have been told. For embedders that wait for nobody.
  void (*on_failure)(void* context, std::int32_t thread, const Error& error) = nullptr;
  void* context = nullptr;
};

class HOIST_API WasiThreads {
 public:
  /// Whether a module imports "wasi" "thread-spawn".
  static bool is_wanted(const Module& module) noexcept;

  /// Defines it, and a shared memory for each that the module imports and the linker does not have.
  /// Threads see what the linker has now: call it last. Host functions that it has are called on
  /// several threads at once.
  /// @error BadArgument: the module exports no wasi_thread_start of type (i32, i32), "thread-spawn"
  ///        is defined already; as SharedMemory::create.
  static Result<WasiThreads> add_to_linker(Linker& linker, const Module& module,
                                           const WasiThreadsConfig& config = {}) noexcept;

  WasiThreads(WasiThreads&&) noexcept;
  WasiThreads& operator=(WasiThreads&&) noexcept;
  /// As `stop`, for as long as it takes: a host function is not interrupted, nor a loop of a module
  /// that was compiled without looks (see Config::interruptible).
  ~WasiThreads();

  /// A thread that fails (a trap, proc_exit, an error of a host function) ends the program: all
  /// others, and the call of whoever spawned the first, are interrupted, and this says why.
  struct Failure {
    std::int32_t thread = 0;  ///< its number, as the guest knows it
    Error error;
  };
  std::optional<Failure> failure() const noexcept;

  /// Interrupts all threads and waits for their ends; they can spawn no more. False: some still run
  /// after `timeout_ns` (< 0: wait for ever).
  bool stop(std::int64_t timeout_ns = -1) noexcept;

 private:
  explicit WasiThreads(std::shared_ptr<detail::ThreadGroup> group) noexcept;
  std::shared_ptr<detail::ThreadGroup> group_;
};

}  // namespace hoist
