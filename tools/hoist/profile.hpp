// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// --profile of `hoist run`, and what `hoist profile` prints.

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hoist/end_signals.hpp"
#include "hoist/hoist.hpp"

namespace hoist::cli {

class RunProfile {
 public:
  /// --profile and --demangle.
  void add_options(CLI::App& sub);
  /// `hoist profile`: the sampler, whatever --profile says of it, and a report.
  void always_samples() { reports_ = true; }
  /// Reads the option, for a program: its file, then its arguments. @error BadArgument; Io: the
  /// profile cannot be written
  Result<void> prepare(const std::vector<std::string>& command);
  void apply(Config& config) const;
  /// After the module is there: says once what is wrong with its names and lines, if that matters;
  /// starts. From now on a signal that asks the process to end ends the program in the store and
  /// finishes the profile first; a second one does not wait for that.
  Result<void> start(const Module& module, Store& store);
  /// Does not return if a signal has ended the program.
  void wait_if_ended();
  /// Ends the sampler; writes and reports. False: the profile could not be written.
  bool finish();
  /// Ends the sampler of a program that did not come to run.
  void discard();

 private:
  Result<void> parse_guest(const std::string& settings);
  Result<void> parse_setting(const std::string& item);
  Result<void> choose_output();
  void on_signal(int signal);
  bool claim();
  bool write_and_report();
  bool write(const GuestProfile& profile) const;

  std::string option_ = "none";
  std::string demangle_ = "on";
  std::string file_;
  std::string title_;
  std::string out_;
  Profiler agent_ = Profiler::None;
  ProfileFormat format_ = ProfileFormat::FlameGraph;
  ProfilerOptions sampler_options_;
  bool samples_ = false;
  bool reports_ = false;
  bool by_line_ = false;
  bool has_format_ = false;
  std::optional<GuestProfiler> sampler_;  ///< of whom `claim` let
  bool is_sampling_ = false;              ///< since the start
  std::uint64_t started_ns_ = 0;

  /// Who has it ends the profile, once: a signal, or the program's end.
  std::atomic<bool> claimed_{false};
  /// That came while the profile was being written: ends the process afterwards.
  std::atomic<int> late_signal_{0};
  InterruptHandle interrupt_;
  EndSignals signals_;
};

/// For commands that only show names.
void add_demangle_option(CLI::App& sub, std::string& on_off);

}  // namespace hoist::cli
