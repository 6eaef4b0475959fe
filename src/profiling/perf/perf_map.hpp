// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Tells perf the names of loaded code: lines "ADDRESS SIZE NAME" appended to /tmp/perf-PID.map,
/// where `perf report` looks. Several engines of one process share the file.

#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "runtime/engine/code_listener.hpp"

namespace hoist::profiling {

/// The lines for these symbols; line breaks in names become '_'.
std::string perf_map_lines(std::span<const runtime::CodeSymbol> symbols);

/// @error Io: the file cannot be created.
Result<std::unique_ptr<runtime::CodeListener>> make_perf_map_listener();

}  // namespace hoist::profiling
