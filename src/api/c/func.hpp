// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Host functions of C: what wasm_func_new and hoist_linker_define_func hand to the library.

#include "hoist/detail/host_call.hpp"
#include "hoist/types.hpp"
#include "wasm.h"

namespace hoist::c_api {

struct HostCallback {
  wasm_func_callback_t plain = nullptr;
  wasm_func_callback_with_env_t with_env = nullptr;
  void* env = nullptr;
  void (*finalizer)(void*) = nullptr;
};

/// What C has no values for.
bool has_vectors(const FuncType& type);
detail::HostFuncSpec host_function(FuncType type, const HostCallback& callback);

}  // namespace hoist::c_api
