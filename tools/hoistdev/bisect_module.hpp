// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// hoistdev bisect for WebAssembly modules.

#include <string>

namespace hoistdev {

/// Prints the function, the pass and the rewrite that break `path`. `command` gets the path of an
/// image and ends with status 0 if that does what it should. `cpu`: platform::parse_cpu_features.
/// The result is an exit status.
int bisect_module(const std::string& path, const std::string& command, const std::string& cpu);

}  // namespace hoistdev
