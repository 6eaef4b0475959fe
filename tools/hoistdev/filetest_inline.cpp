// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The command inline: functions that stand earlier in the file are inlined into later ones, the
/// calls in the copies too. Prints the function, or `(no functions inlined into %f)`; with the word
/// `optimize` after the mid-end. Results before and after are compared in the interpreter.
#include <map>

#include "hoistdev/equal_results.hpp"
#include "hoistdev/filetest_command.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/inline/inliner.hpp"
#include "opt/pipeline.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

class EarlierFunctions final : public opt::InlinePolicy {
 public:
  void add(const ir::Function& func) { by_name_[name(func.name)] = &func; }

  opt::InlineDecision decide(const opt::InlineSite& site) override {
    const ir::ExtFunc& callee = site.caller.ext_funcs[site.callee];
    const auto found = by_name_.find(name(callee.name));
    if (found == by_name_.end() || opt::is_recursive(site, callee.name)) return {};
    // A declaration that lies about the signature is a mistake of the file; the call stays.
    const ir::Function& body = *found->second;
    if (body.signature != site.caller.signatures[callee.signature]) return {};
    return {&body, true};
  }

 private:
  static std::string name(const ir::ExternalName& name) {
    base::Printer out;
    out << name;
    return out.take();
  }
  std::map<std::string, const ir::Function*> by_name_;
};

}  // namespace

void filetest_inline(const FileTest& test, Words words, Collector& out) {
  const std::vector<ir::ParsedFunction>& functions = test.file.functions;
  std::vector<const ir::Function*> before, after;
  std::vector<ir::Function> results(functions.size());
  if (!verify_all(test, out)) return;
  for (const ir::ParsedFunction& f : functions) before.push_back(&f.func);
  EarlierFunctions policy;
  opt::Inliner inliner;
  opt::OptContext optimiser;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const ir::ParsedFunction& f = functions[i];
    results[i] = f.func;
    after = before;
    after[i] = &results[i];
    const auto report = inliner.run(results[i], policy);
    policy.add(f.func);
    if (!report) {
      out.refuse(report.error(), function_name(f.func) + ": ");
      continue;
    }
    if (!report->changed()) {
      base::Printer text;
      text << "(no functions inlined into " << f.func.name << ")\n";
      check_text(test, f, words, text.take(), out);
      continue;
    }
    Result<void> fine = ir::verify(results[i]);
    if (fine && has_word(words, "optimize")) {
      opt::optimise(results[i], optimiser);
      fine = ir::verify(results[i]);
    }
    const std::string text = ir::to_string(results[i]);
    if (!fine) {
      out.fail(function_name(f.func) + ": " + fine.error().message() + "\n" + text);
      continue;
    }
    unsigned compared = 0;
    if (const auto differs = results_differ(before, after, i, compared)) {
      out.fail(*differs + "\n" + text);
      continue;
    }
    check_text(test, f, words, text, out, Precision::Renamed);
  }
}

}  // namespace hoistdev
