// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Tells Intel VTune about loaded code, through whatever collector it has put into the process's
/// environment: names, lines, inlined calls, and the end of code. Needs nothing of Intel's to
/// build.

#include <memory>

#include "base/result.hpp"
#include "hoist/code_listener.hpp"

namespace hoist::profiling {

/// @error Unsupported: no collector is there, or it does not listen; Io: it cannot be loaded.
Result<std::shared_ptr<CodeListener>> make_vtune_agent();

}  // namespace hoist::profiling
