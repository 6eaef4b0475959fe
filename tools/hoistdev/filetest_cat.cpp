// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The command cat: the text matches its directives, and reads back as what prints the same.
#include "hoistdev/filetest_command.hpp"
#include "ir/text/printer.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

void filetest_cat(const FileTest& test, Words words, Collector& out) {
  for (const ir::ParsedFunction& f : test.file.functions) {
    const std::string text = ir::to_string(f.func);
    check_text(test, f, words, text, out);
    const Result<ir::Function> again = ir::parse_function(text);
    if (!again) {
      out.fail(function_name(f.func) +
               ": the printed text does not read back: " + error_text(again.error()) + "\n" + text);
    } else if (const std::string second = ir::to_string(*again); second != text) {
      out.fail(function_name(f.func) + ": the text changes when it is read and printed:\n" + text +
               second);
    }
  }
}

}  // namespace hoistdev
