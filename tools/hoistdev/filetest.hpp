// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Test files of CLIF text: what one file says to do, done.

#include <string>
#include <string_view>
#include <vector>

namespace hoistdev {

struct FileTestOptions {
  int opt_level = -1;         ///< -1: what the file sets, else 2
  bool differential = false;  ///< run directives: interpreter against native code
  std::string only;           ///< a command, or empty for all
};

enum class Status : unsigned char { Passed, Failed, Unsupported, Skipped };

struct CommandReport {
  std::string command;
  Status status = Status::Passed;
  std::string reason;
  unsigned directives = 0;  ///< run directives that held
};

/// One report per command of the file; a file that cannot be read as CLIF has one, failed.
std::vector<CommandReport> run_file(std::string_view text, const FileTestOptions& options);

}  // namespace hoistdev
