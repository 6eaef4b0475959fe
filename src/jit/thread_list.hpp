// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The threads of the process that have run compiled code, for whoever watches them all: a sampling
/// profiler.

#include <atomic>
#include <cstdint>

namespace hoist::jit {

struct ThreadState;

struct ThreadEntry {
  std::uint32_t id = 0;                 ///< the system's
  const ThreadState* state = nullptr;   ///< lives as long as the entry
  std::atomic<void*> watcher{nullptr};  ///< of the watcher
  ThreadEntry* next = nullptr;
  ThreadEntry* previous = nullptr;
};

/// Both are called with the list locked: on the thread itself, or `begin` on the thread that begins
/// to watch.
struct ThreadWatcher {
  void (*begin)(ThreadEntry& thread) = nullptr;
  void (*end)(ThreadEntry& thread) = nullptr;
};

/// Puts the calling thread into the list until it ends; costs something once for each thread.
void enlist_thread(const ThreadState& state);

/// ThreadEntry::watcher of the calling thread, or null. For signal handlers.
void* watcher_of_this_thread();

/// Calls watcher.begin for every thread that is there and comes, watcher.end for each that goes.
/// One watcher at a time.
void watch_threads(const ThreadWatcher& watcher);
/// Calls the watcher's `end` for every thread that is there; afterwards it is called no more.
void stop_watching_threads();

}  // namespace hoist::jit
