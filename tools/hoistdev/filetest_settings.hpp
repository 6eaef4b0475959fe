// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the `set` and `target` lines of a test file say.
///
/// `set` lines accumulate for the targets after them. Every flag of filetest_flags.def is known,
/// every name of the targets too, as far as pointer width, byte order and flag names go; only
/// x86_64 is compiled for and run.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/text/reader.hpp"
#include "isa/registry.hpp"

namespace hoistdev {

struct TargetSettings {
  std::string name;              ///< x86_64, pulley32be, ...; empty: no target line
  hoist::ir::Type pointer_type;  ///< invalid without a target
  bool big_endian = false;
  bool is_x64 = false;
  hoist::isa::FeatureSet features = 0;  ///< x86_64: baseline and what flags and presets add
  std::string host_lacks;               ///< a feature without which this CPU cannot run the code
  std::map<std::string, std::string> flags;

  std::string flag(const std::string& key, const char* fallback) const {
    const auto found = flags.find(key);
    return found == flags.end() ? fallback : found->second;
  }
  bool is_on(const std::string& key) const { return flag(key, "false") == "true"; }
};

/// One entry per target line, or one without a name. Errors: Malformed for an unknown flag, a bad
/// value or a `set` after the last target; Unsupported for a target that nobody knows.
hoist::Result<std::vector<TargetSettings>> parse_settings(const hoist::ir::ParsedFile& file);

/// The table of flags as text.
std::string flags_text();

}  // namespace hoistdev
