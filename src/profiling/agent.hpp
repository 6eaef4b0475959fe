// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The agents that come with Hoist, by Config::profiler.

#include <memory>

#include "base/result.hpp"
#include "hoist/code_listener.hpp"
#include "hoist/config.hpp"

namespace hoist::profiling {

/// Null for Profiler::None.
/// @error Io: the profile cannot be written; Unsupported: the profiler is not there. BadArgument:
/// no such profiler.
Result<std::shared_ptr<CodeListener>> make_agent(Profiler profiler);

}  // namespace hoist::profiling
