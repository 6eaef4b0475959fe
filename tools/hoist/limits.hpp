// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The limits of `hoist run`: their options, numbers with units, and the watchdog behind --timeout.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "hoist/hoist.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace hoist::cli {

/// "1500ms" in nanoseconds, "64MiB" in bytes: digits and a unit, nothing else.
/// @error BadArgument: names the option and what is wrong: no number, no or an unknown unit, a
/// sign, a
///        fraction, too large.
Result<std::uint64_t> parse_duration(const std::string& option, const std::string& text);
Result<std::uint64_t> parse_size(const std::string& option, const std::string& text);
/// Digits only.
Result<std::uint64_t> parse_count(const std::string& option, const std::string& text);

/// Settings that are options of several subcommands.
struct CodeOptions {
  std::string signals = "on";
  std::string bounds_checks = "auto";
  std::string nan = "any";
  std::string relaxed_simd = "fast";
  std::string features;
  bool collect_always = false;
};
void add_code_options(CLI::App& app, CodeOptions& options);
/// Language features: --features=+x,-y.
CLI::Option* add_features_option(CLI::App& app, std::string& features);
void apply(const CodeOptions& options, Config& config);

/// Runs `call(context)` on a thread with that much stack and waits for it. False: there is none.
bool on_stack(std::uint64_t bytes, void (*call)(void* context), void* context);

/// How a program with threads ends when one of them fails: the main thread comes back, or it is not
/// waited for.
class ProgramEnd {
 public:
  /// Says what happened and ends the process; on the thread that failed.
  using Abandon = void (*)(void* context, std::int32_t thread, const Error& error);
  ProgramEnd(Abandon abandon, void* context) : abandon_(abandon), context_(context) {}

  void main_returned();
  /// A thread has failed, and the main thread was told. Comes back once it has returned.
  void failed(std::int32_t thread, const Error& error);

 private:
  Abandon abandon_;
  void* context_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool returned_ = false;
};

class RunLimits {
 public:
  RunLimits() = default;
  ~RunLimits() { stop(); }
  RunLimits(const RunLimits&) = delete;
  RunLimits& operator=(const RunLimits&) = delete;

  void add_options(CLI::App& app);
  /// Reads the options' texts.
  Result<void> parse();
  void apply(Config& config) const;
  StoreLimits store_limits();
  /// The same for the threads of a program.
  WasiThreadsConfig threads(std::uint32_t most, ProgramEnd& end);
  /// Fuel and the time begin to run.
  Result<void> start(Store& store);
  void stop();

  /// Stack that a thread must have for --max-stack; 0: any has enough.
  std::uint64_t thread_stack_bytes() const;
  bool timed_out();
  const std::string& timeout_text() const { return timeout_; }
  /// What a program was refused and may have failed for; empty if nothing.
  std::string refusal() const;

 private:
  static bool on_growth(void* self, const Growth& growth);
  void watch(InterruptHandle handle);

  // As given.
  std::string timeout_;
  std::string max_memory_;
  std::string max_table_elements_;
  std::string max_total_table_elements_;
  std::string max_references_;
  std::string max_stack_;
  std::string fuel_;
  bool trap_on_grow_failure_ = false;
  // As read; 0 where the option is not given.
  std::uint64_t timeout_ns_ = 0;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t table_elements_ = 0;
  std::uint64_t total_table_elements_ = 0;
  std::uint64_t references_ = 0;
  std::uint64_t stack_bytes_ = 0;
  std::uint64_t fuel_units_ = 0;

  ProgramEnd* end_ = nullptr;
  Growth refused_;
  std::uint64_t refusals_ = 0;
  std::thread watchdog_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool timed_out_ = false;
};

}  // namespace hoist::cli
