// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Thread-local variables of this process as generated code finds them: by the module (program or
/// shared library) that has them and their offset in its block, of which each thread has its own.

#include <cstdint>
#include <optional>

namespace hoist::platform {

/// What `thread_local_lookup()` takes a pointer to.
struct ThreadLocalIndex {
  std::uint64_t module = 0;
  std::uint64_t offset = 0;
};

/// The index of the variable that the calling thread has at `address`; nothing if it lies in no
/// thread-local block of a loaded module.
std::optional<ThreadLocalIndex> thread_local_index(const void* address);

/// Address of the C library's `void* (ThreadLocalIndex*)`: where the calling thread has it.
const void* thread_local_lookup();

}  // namespace hoist::platform
