// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Tells perf all about loaded code: a file jit-PID.dump with names, machine code, lines and
/// unwinding information, and times, so that addresses that are used again are told apart:
///
///   perf record -k mono hoist run --profile=jitdump program.wasm
///   perf inject --jit -i perf.data -o perf.jit.data && perf report -i perf.jit.data
///
/// In $JITDUMPDIR, else in the current directory. One file per process, however many engines; the
/// last record is "close" once the last engine that uses it has ended. A child of a fork writes
/// nothing into it; engines that it makes itself have a file of its own. Lines are those of the
/// module's DWARF; without it, the file is MODULE.wasm and a line is the byte offset in it.
///
/// Source: linux/tools/perf/Documentation/jitdump-specification.txt, version 1.

#include <memory>

#include "base/result.hpp"
#include "hoist/code_listener.hpp"

namespace hoist::profiling {

/// @error Io: the file cannot be made.
Result<std::shared_ptr<CodeListener>> make_jitdump_agent();

}  // namespace hoist::profiling
