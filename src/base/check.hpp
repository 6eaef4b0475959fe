// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// HOIST_CHECK: for bugs of Hoist only. Guest input never reaches one; bad input is a Result, a
/// misbehaving guest is a trap. A failed check prints one line and aborts.

namespace hoist::base {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* message) noexcept;
/// Ends the process because the library's own small allocations cannot be met.
[[noreturn]] void out_of_memory() noexcept;

}  // namespace hoist::base

/// Always on. The second argument is a C string that says what must hold.
#define HOIST_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0)   \
               : ::hoist::base::check_failed(__FILE__, __LINE__, #condition, message))

#define HOIST_UNREACHABLE(message) \
  ::hoist::base::check_failed(__FILE__, __LINE__, "unreachable", message)

#ifdef NDEBUG
#define HOIST_DCHECK(condition, message) static_cast<void>(0)
#else
#define HOIST_DCHECK(condition, message) HOIST_CHECK(condition, message)
#endif
