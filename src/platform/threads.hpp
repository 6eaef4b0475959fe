// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Facts about threads.

#include <cstdint>
#include <string>

namespace hoist::platform {

struct StackBounds {
  std::uintptr_t low = 0;   ///< first usable address (the guard is below)
  std::uintptr_t high = 0;  ///< end
  bool contains(std::uintptr_t address) const { return address >= low && address < high; }
};

/// Of the calling thread's own stack; found once per thread. On the main thread it counts what the
/// stack may grow to. {0, 0} if the system does not say.
StackBounds thread_stack();

/// The system's number of the calling thread.
std::uint32_t thread_id();

/// Of a thread of this process, as the system knows it; empty if it does not say.
std::string thread_name(std::uint32_t id);
/// The calling thread's; the system keeps 15 bytes.
void name_this_thread(const std::string& name);

/// Lets another thread run.
void yield_thread();

/// Calls these around each fork from now on, the last in the child, on the forking thread: for
/// locks that other threads may hold at that moment.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

/// Threads that this process may run at once: at least 1.
unsigned usable_cores();

}  // namespace hoist::platform
