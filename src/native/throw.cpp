// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "native/throw.hpp"

#include <cstdint>

#include "jit/unwinder.hpp"
#include "platform/machine_context.hpp"

namespace hoist::native {

// Not instrumented: its frame is abandoned, and a sanitizer would keep its marks on the stack.
__attribute__((no_sanitize("address"))) static void throw_exception(
    std::uint64_t entry_fp, std::uint64_t exit_fp, std::uint64_t exit_pc, std::uint32_t tag,
    std::uint64_t payload0, std::uint64_t payload1) {
  // The entry's frame is the last one asked: functions inlined into it have their handlers there.
  const auto handler = jit::find_handler(
      exit_pc, exit_fp, entry_fp + 1,
      [tag](std::uint32_t wanted, const std::optional<std::uint64_t>&) { return wanted == tag; });
  if (handler) platform::resume_at(handler->sp, handler->fp, handler->pc, payload0, payload1);
}

const void* throw_function() {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&throw_exception));
}

}  // namespace hoist::native
