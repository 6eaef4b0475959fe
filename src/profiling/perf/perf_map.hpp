// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Tells perf the names of loaded code: lines "ADDRESS SIZE NAME" appended to /tmp/perf-PID.map,
/// where `perf report` looks. Several engines of one process share the file. It has no word for
/// code that went: names of addresses that are used again become those of the last (jitdump has
/// times).

#include <memory>
#include <string>

#include "base/result.hpp"
#include "hoist/code_listener.hpp"

namespace hoist::profiling {

/// The lines for this code; line breaks in names become '_'.
std::string perf_map_lines(const LoadedCode& code);

/// @error Io: the file cannot be created.
Result<std::shared_ptr<CodeListener>> make_perf_map_agent();

}  // namespace hoist::profiling
