// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/agent.hpp"

#include <atomic>

#include "profiling/perf/jitdump.hpp"
#include "profiling/perf/perf_map.hpp"
#include "profiling/vtune/vtune.hpp"

namespace hoist::profiling {

static constinit std::atomic<bool> is_whole{true};

bool agent_files_are_whole() {
  return is_whole.load(std::memory_order_relaxed);
}

void note_unwritten() {
  is_whole.store(false, std::memory_order_relaxed);
}

Result<std::shared_ptr<CodeListener>> make_agent(Profiler profiler) {
  switch (profiler) {
    case Profiler::None: return std::shared_ptr<CodeListener>();
    case Profiler::PerfMap: return make_perf_map_agent();
    case Profiler::JitDump: return make_jitdump_agent();
    case Profiler::VTune: return make_vtune_agent();
  }
  return Error(ErrorKind::BadArgument, "Config::profiler is none of the profilers");
}

}  // namespace hoist::profiling
