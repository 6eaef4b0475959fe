// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The commands optimize (the mid-end) and alias-analysis (its part about memory): the function
/// verifies before and after, and behaves the same in the interpreter. What is printed depends on
/// the optimiser; unless --strict asks for the file's text, how it compares counts apart.
#include "hoistdev/equal_results.hpp"
#include "hoistdev/filetest_command.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

void optimise_all(const FileTest& test, Words words, const std::string& command,
                  opt::OptContext& optimiser, Collector& out) {
  const std::vector<ir::ParsedFunction>& functions = test.file.functions;
  std::vector<const ir::Function*> before, after;
  std::vector<ir::Function> results(functions.size());
  if (!verify_all(test, out)) return;
  for (const ir::ParsedFunction& f : functions) before.push_back(&f.func);
  Collector text_only(command + " (text)");
  for (std::size_t i = 0; i < functions.size(); ++i) {
    results[i] = functions[i].func;
    opt::optimise(results[i], optimiser);
    after.push_back(&results[i]);
    if (const Result<void> fine = ir::verify(results[i]); !fine) {
      return out.fail(function_name(results[i]) + ": " + fine.error().message() + "\n" +
                      ir::to_string(results[i]));
    }
    check_text(test, functions[i], words, ir::to_string(results[i]),
               test.options.strict ? out : text_only, Precision::Renamed);
  }
  unsigned compared = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (const auto differs = results_differ(before, after, i, compared)) out.fail(*differs);
  }
  for (Edit& edit : text_only.edits()) out.bless(std::move(edit));
  if (!test.options.strict) out.aside(text_only);
}

}  // namespace

void filetest_optimize(const FileTest& test, Words words, Collector& out) {
  opt::OptContext optimiser;
  optimise_all(test, words, "optimize", optimiser, out);
}

void filetest_alias_analysis(const FileTest& test, Words words, Collector& out) {
  opt::OptContext optimiser;
  for (const opt::Pass pass : {opt::Pass::BlockParams, opt::Pass::Dead}) optimiser.disable(pass);
  optimise_all(test, words, "alias-analysis", optimiser, out);
}

}  // namespace hoistdev
