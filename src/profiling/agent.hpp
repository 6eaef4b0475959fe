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

/// Whether the files of perf map and jitdump agents of this process have all that was told. A full
/// disk ends such a profile and not the program, so whoever asked for it should look at the end.
bool agent_files_are_whole();
/// For agents: they have not.
void note_unwritten();

}  // namespace hoist::profiling
