// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the subcommands of `hoist` share: one function per subcommand, messages, exit statuses.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hoist/result.hpp"

namespace hoist::cli {

inline constexpr int kFailure = 1;     ///< bad input, bad usage, a failed test
inline constexpr int kTimedOut = 124;  ///< as timeout(1) has it
inline constexpr int kTrapped = 134;   ///< the guest trapped, as for a process ended by SIGABRT

/// What follows a "--" among the options of a command that runs a program: FILE and its arguments,
/// none of which is an option.
struct AfterMarker {
  bool is_there = false;
  std::vector<std::string> words;
};

/// Each adds its subcommand to `app`; the callback stores the exit status in `status`.
void add_run(CLI::App& app, const AfterMarker& after, int& status);
void add_profile(CLI::App& app, const AfterMarker& after, int& status);
void add_compile(CLI::App& app, int& status);
void add_objdump(CLI::App& app, int& status);
void add_cache(CLI::App& app, int& status);
void add_validate(CLI::App& app, int& status);
void add_print(CLI::App& app, int& status);
void add_wast(CLI::App& app, int& status);

/// "FILE:3:14: message" or "FILE: message (at offset 0x1f)": one line, no final newline.
std::string describe(const std::string& file, const Error& error);
/// Prints "hoist: " and the text to stderr on one line (base::printable); returns kFailure.
int fail(const std::string& text);
/// To standard output; that it could not be written is noticed at the end of the program.
void print(std::string_view text);
/// To standard error, as it is; nothing can be done, and nothing is, if that fails.
void note(std::string_view text);

/// Shows a percentage on stderr while something takes long, if stderr is a terminal; nothing
/// otherwise.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(std::uint64_t done, std::uint64_t total);
  void clear();

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace hoist::cli
