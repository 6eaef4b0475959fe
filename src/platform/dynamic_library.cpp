// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/dynamic_library.hpp"

#include <dlfcn.h>

namespace hoist::platform {

Result<void*> load_library(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = ::dlerror();
  return Error(ErrorKind::Io, reason == nullptr ? path + ": cannot be loaded" : reason);
}

void* library_symbol(void* library, const char* name) {
  return ::dlsym(library, name);
}

}  // namespace hoist::platform
