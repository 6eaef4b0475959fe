// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Is something wrong with a CLIF program? The question that `hoistdev reduce` and `hoistdev
/// bisect` ask again and again. Asked in a child process: crashes and hangs are answers.

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/data_value.hpp"
#include "ir/text/reader.hpp"

namespace hoistdev {

/// The built-in questions; see kCheckNames.
enum class CheckKind : unsigned char { Native, MidEnd, Verifier, Compile, Command };
struct CheckRow {
  const char* name;
  CheckKind kind;
  const char* meaning;
};
inline constexpr CheckRow kChecks[] = {
    {"native", CheckKind::Native, "native code at level 0 or 2 differs from the interpreter"},
    {"mid-end", CheckKind::MidEnd, "interpreted, the optimised program differs from the program"},
    {"verifier", CheckKind::Verifier, "the verifier refuses it, before or after the mid-end"},
    {"compile", CheckKind::Compile, "compiling it is an error"},
};

struct Check {
  CheckKind kind = CheckKind::Native;
  std::string command;  ///< Command: gets the path of the file; status 0: it is still wrong
  std::string without;  ///< Native: NativeFile::compile
};

/// What is wrong in a few words ("differs", "signal 11", "timeout", an error's text), or empty.
/// Never ends this process.
std::string ask(const Check& check, const std::string& text);

/// The smallest program found, within so many questions, with which the same is wrong as with
/// `file`; empty: nothing is wrong with it (see reduce.cpp).
std::string reduced(const hoist::ir::ParsedFile& file, const Check& check, unsigned max_checks);

/// One call of function `index`.
struct ProgramRun {
  std::size_t index = 0;
  std::vector<hoist::ir::DataValue> args;
};
/// Those of the run directives, else a few for each function.
std::vector<ProgramRun> runs_of(const hoist::ir::ParsedFile& file);

/// A file of CLIF text, read, or nothing; prints the reason. `text`: where its text goes, too.
std::optional<hoist::ir::ParsedFile> read_clif(const std::string& path,
                                               std::string* text = nullptr);

}  // namespace hoistdev
