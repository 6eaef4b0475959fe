// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The settings that a test script is run with: by its place in the official suite, whose proposals
/// build on different versions of the language, and by the headers (";;! key = value") in which
/// engine tests name what they need.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::wasm {

struct ScriptSettings {
  /// Differences from the defaults, for `parse_features`.
  std::string features;
  bool canonical_nans = false;
  /// The script needs gigabytes of memory. Nothing follows from it here: address space is reserved.
  bool hogs_memory = false;
  struct Problem {
    std::uint32_t line = 0;
    std::string message;
  };
  std::vector<Problem> problems;  ///< headers that are not understood
};

/// `path` is used as text: its folders count.
ScriptSettings script_settings(std::string_view path, std::string_view text);

}  // namespace hoist::wasm
