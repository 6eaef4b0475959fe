// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the embedder's host functions. Compiled with exceptions (cmake/layers.cmake), so that
// `noexcept` ends the process when one leaves a host function of a file that has none: it would
// pass through our frames and the guest's. Where the file has them, its thunk lets none out.
#include "runtime/objects/host_function.hpp"

namespace hoist::runtime {

bool HostFunction::call(hoist::detail::HostCall& call) const noexcept {
  // By its type it never throws, and the compiler would rely on that.
  const auto thunk = static_cast<bool (*)(void*, hoist::detail::HostCall&)>(spec_.thunk);
  return thunk(spec_.closure, call);
}

}  // namespace hoist::runtime
