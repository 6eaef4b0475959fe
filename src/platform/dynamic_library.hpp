// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A shared library found at run time.

#include <string>

#include "base/result.hpp"

namespace hoist::platform {

/// Loads a library that stays loaded until the process ends. @error Io: the system's reason
Result<void*> load_library(const std::string& path);
/// Address of a symbol of a loaded library, or null.
void* library_symbol(void* library, const char* name);

}  // namespace hoist::platform
