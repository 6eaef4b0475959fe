// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled with -fno-exceptions -fno-rtti.
#include "mixed.hpp"

#if defined(__cpp_exceptions)
#error "this file is to be compiled without exceptions"
#endif

namespace without {

hoist::Result<void> define_bounce(hoist::Linker& linker) {
  return linker.define_func("h", "bounce", [](hoist::Caller& caller) -> hoist::Result<void> {
    auto result = caller.get("inner")->func()->call();
    if (!result) return std::move(result).error();
    return {};
  });
}

hoist::Func make_calling(hoist::StoreRef store, void (*inner)()) {
  return hoist::Func::wrap(store, [inner] { inner(); });
}

std::string call(const hoist::Func& func) {
  const auto result = func.call();
  return result ? "" : result.error().message();
}

std::string call_typed(const hoist::Func& func) {
  const auto typed = func.typed<void()>();
  if (!typed) return typed.error().message();
  const hoist::Result<void> result = (*typed)();
  return result ? "" : result.error().message();
}

std::string instantiate(hoist::Linker& linker, hoist::StoreRef store, const hoist::Module& module) {
  const auto result = linker.instantiate(store, module);
  return result ? "" : result.error().message();
}

}  // namespace without
