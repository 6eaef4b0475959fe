// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The compiler as the runtime sees it, for the CPU that runs it.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "runtime/compiler_interface.hpp"

namespace hoist::compiler {

struct NativeOptions {
  unsigned opt_level = 2;
  unsigned threads = 0;  ///< 0: as many as the process may run on
  bool verify = false;
  bool check_allocation = false;
  // See image::CodeSettings.
  bool signals = true;
  bool explicit_bounds = false;
  bool fuel = false;
  bool epoch = false;
  bool interrupts = false;
  bool canonical_nans = false;
  bool deterministic_relaxed = false;
  /// "native", "baseline" or features (platform::parse_cpu_features).
  std::string cpu = "native";
  std::string cache_directory;  ///< empty: no cache
  std::uint64_t cache_bytes = 0;
};

/// @error Unsupported: no target for this CPU, or a CPU below the baseline; names what is missing.
Result<std::unique_ptr<runtime::Compiler>> make_native_compiler(const NativeOptions& options);

}  // namespace hoist::compiler
