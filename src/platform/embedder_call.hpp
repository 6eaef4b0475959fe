// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Calls of functions that the embedder gave as plain pointers. They must not be left by a C++
/// exception: Hoist is compiled without exceptions, and one that passed through its frames would
/// leave its state half changed. Here it ends the process (std::terminate).

#include <type_traits>
#include <utility>

namespace hoist::platform {

/// `call(context)`; nothing leaves it but a return.
void call_without_exceptions(void (*call)(void* context), void* context) noexcept;

/// The same for anything callable; its result.
template <typename F>
auto embedder_call(F&& function) {
  using Result = std::invoke_result_t<F>;
  using Function = std::remove_reference_t<F>;
  if constexpr (std::is_void_v<Result>) {
    call_without_exceptions([](void* self) { (*static_cast<Function*>(self))(); }, &function);
  } else {
    struct Call {
      Function* function;
      Result result;
    } call{&function, Result()};
    call_without_exceptions(
        [](void* self) {
          auto& the_call = *static_cast<Call*>(self);
          the_call.result = (*the_call.function)();
        },
        &call);
    return std::move(call.result);
  }
}

}  // namespace hoist::platform
