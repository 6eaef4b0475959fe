// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Test files of CLIF text: what one file says to do, done.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hoistdev {

struct FileTestOptions {
  int opt_level = -1;         ///< -1: what the file sets, else 2
  bool differential = false;  ///< run directives: interpreter against native code
  bool strict = false;        ///< text that depends on the optimiser or compiler must match
  bool bless = false;         ///< put what was found in place of what was expected
  std::string without;        ///< names of CPU features that native code does without, or "all"
  std::string only;           ///< a command, or empty for all
};

enum class Status : unsigned char { Passed, Failed, Unsupported, Skipped };

struct CommandReport {
  std::string command;
  Status status = Status::Passed;
  std::string reason;
  unsigned directives = 0;  ///< run directives that held
};

struct FileReport {
  std::vector<CommandReport> commands;
  std::optional<std::string> blessed;  ///< the new text of the file, if it changes
};

/// One report per command of the file; a file that cannot be read as CLIF has one, failed.
FileReport run_file(std::string_view text, const FileTestOptions& options);

}  // namespace hoistdev
