// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled with exceptions, as host_function_call.cpp (cmake/layers.cmake): only there `noexcept`
// stops one.
#include "platform/embedder_call.hpp"

namespace hoist::platform {

void call_without_exceptions(void (*call)(void* context), void* context) noexcept {
  call(context);
}

}  // namespace hoist::platform
