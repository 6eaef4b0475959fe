// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// --profile of `hoist run`, and what `hoist profile` prints.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "hoist/hoist.hpp"

namespace hoist::cli {

class RunProfile {
 public:
  /// --profile and --demangle.
  void add_options(CLI::App& sub);
  /// `hoist profile`: the sampler, whatever --profile says of it, and a report.
  void always_samples() { reports_ = true; }
  /// Reads the option, for a program of that file. @error BadArgument; Io: the profile cannot be
  /// written
  Result<void> prepare(const std::string& file);
  void apply(Config& config) const;
  /// After the module is there: says once what is wrong with its names and lines, if that matters;
  /// starts.
  Result<void> start(const Module& module);
  /// Ends the sampler; writes and reports. False: the profile could not be written.
  bool finish();

 private:
  Result<void> parse_guest(const std::string& settings);
  void report(const GuestProfile& profile) const;

  std::string option_ = "none";
  std::string demangle_ = "on";
  std::string file_;
  std::string out_;
  Profiler agent_ = Profiler::None;
  ProfileFormat format_ = ProfileFormat::FlameGraph;
  ProfilerOptions sampler_options_;
  bool samples_ = false;
  bool reports_ = false;
  bool by_line_ = false;
  std::optional<GuestProfiler> sampler_;
};

/// For commands that only show names.
void add_demangle_option(CLI::App& sub, std::string& on_off);

}  // namespace hoist::cli
