// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What a command of test files is given, and where it puts its outcome.
///
/// A command is `void filetest_NAME(const FileTest&, Words, Collector&)` in filetest_NAME.cpp with
/// a row in filetest_commands.def. It never throws. It walks the functions, and for each calls
/// `check_text` (pattern directives, or exact text under `precise-output`) or reports itself.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "hoistdev/filetest.hpp"
#include "hoistdev/filetest_settings.hpp"
#include "ir/text/reader.hpp"

namespace hoistdev {

struct FileTest {
  const hoist::ir::ParsedFile& file;
  const FileTestOptions& options;
  std::span<const TargetSettings> targets;  ///< at least one

  /// The first target that is x86_64, or none; a file without target lines counts as x86_64.
  const TargetSettings* x64() const;
  /// 0 to 2: the command line's, else the target's, else 2.
  unsigned opt_level(const TargetSettings& target) const;
};

/// The words of the `test` line after the command.
using Words = std::span<const std::string>;
bool has_word(Words words, std::string_view word);

/// New lines for the lines `first` to `last` (from 1, both included; none if last < first).
struct Edit {
  std::uint32_t first = 0, last = 0;
  std::vector<std::string> lines;
};

/// Collects the outcome of one command over the functions of a file: the worst wins, all failures
/// are kept.
class Collector {
 public:
  explicit Collector(std::string command) { report_.command = std::move(command); }
  void fail(const std::string& reason);
  void unsupported(const std::string& reason) { weaker(Status::Unsupported, reason); }
  void skip(const std::string& reason) { weaker(Status::Skipped, reason); }
  /// Unsupported for that kind of error, else a failure.
  void refuse(const hoist::Error& error, const std::string& where);
  void held() { ++report_.directives; }
  void bless(Edit edit) { edits_.push_back(std::move(edit)); }
  /// Reports `other`, which says how texts compare that this command does not insist on, on a line
  /// of its own: a failure there is none.
  void aside(Collector& other);
  const std::string& command() const { return report_.command; }
  std::vector<CommandReport>& asides() { return asides_; }
  CommandReport take() { return std::move(report_); }
  std::vector<Edit>& edits() { return edits_; }

 private:
  void weaker(Status status, const std::string& reason);
  CommandReport report_;
  std::vector<CommandReport> asides_;
  std::vector<Edit> edits_;
};

/// How exact text is compared.
enum class Precision : unsigned char {
  Lines,    ///< line for line
  Renamed,  ///< as functions, up to numbers of entities and the order of pure instructions
};

/// Compares what a command made of a function with the directives in its comments; with
/// `precise-output` among the words, with the comments after it. Under --bless, what differs is
/// replaced.
void check_text(const FileTest& test, const hoist::ir::ParsedFunction& function, Words words,
                const std::string& text, Collector& out, Precision precision = Precision::Lines);

/// "line 7: message", "7:3: message", "%name".
std::string line_text(std::uint32_t line, const std::string& message);
std::string error_text(const hoist::Error& error);
std::string function_name(const hoist::ir::Function& func);

/// All functions pass the verifier? A failure for each that does not.
bool verify_all(const FileTest& test, Collector& out);

/// Where two functions differ, or nothing: numbers of entities and the order and place of pure
/// instructions do not count.
std::optional<std::string> difference(const hoist::ir::Function& a, const hoist::ir::Function& b);

#define HOIST_FILETEST_COMMAND(name, text, meaning) \
  void filetest_##name(const FileTest& test, Words words, Collector& out);
#include "hoistdev/filetest_commands.def"

}  // namespace hoistdev
