// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The commands interpret and run: the directives of run tests.
#include <algorithm>

#include "hoistdev/filetest_command.hpp"
#include "hoistdev/filetest_native.hpp"
#include "hoistdev/filetest_run.hpp"
#include "ir/interp/interpreter.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

class Execution {
 public:
  Execution(const FileTest& test, unsigned opt_level) : test_(test), opt_level_(opt_level) {}

  void run_directives(Collector& out, bool interpret, bool native) {
    if (!verify_all(test_, out)) return;
    ir::Interpreter interpreter;
    for (const ir::ParsedFunction& f : test_.file.functions) {
      interpreter.add_function(f.func);
    }
    std::unique_ptr<NativeFile> code;
    if (native) {
      Result<std::unique_ptr<NativeFile>> compiled =
          NativeFile::compile(test_.file, opt_level_, test_.options.without);
      if (!compiled) {
        out.refuse(compiled.error(), "");
        return;
      }
      code = *std::move(compiled);
    }
    for (const ir::ParsedFunction& f : test_.file.functions) {
      for (const ir::AttachedComment& comment : f.comments) {
        auto directive = parse_run_directive(comment.text, comment.line);
        if (!directive) continue;
        if (!*directive) {
          out.fail(error_text(directive->error()));
        } else {
          run_directive(**directive, f, interpret ? &interpreter : nullptr, code.get(), out);
        }
      }
    }
  }

 private:
  /// A file that is only for native code may do what the interpreter refuses.
  bool is_meant_for(std::string_view command) const {
    return std::ranges::any_of(
        test_.file.tests, [&](const ir::ParsedLine& test) { return test.words[0] == command; });
  }

  void run_directive(const RunDirective& directive, const ir::ParsedFunction& owner,
                     ir::Interpreter* interpreter, NativeFile* native, Collector& out) {
    // As in the suites a directive calls the function that it stands behind, whatever its name
    // says.
    const ir::ParsedFunction* const target = &owner;
    if (!directive.function.empty() && owner.func.name.text != directive.function) {
      const auto found = std::ranges::find_if(
          test_.file.functions,
          [&](const ir::ParsedFunction& f) { return f.func.name.text == directive.function; });
      if (found == test_.file.functions.end()) {
        out.fail(line_text(directive.line, "no function %" + directive.function));
        return;
      }
    }
    const std::string where = "line " + std::to_string(directive.line) + ": ";
    const ir::Signature& signature = target->func.signature;
    const Result<std::vector<ir::DataValue>> args = parse_values(directive.args, signature.params);
    if (!args) return out.refuse(args.error(), where);
    std::vector<ir::DataValue> expected;
    if (directive.compare == RunDirective::Compare::Equal ||
        directive.compare == RunDirective::Compare::NotEqual) {
      Result<std::vector<ir::DataValue>> values =
          parse_values(directive.expected, signature.returns);
      if (!values) return out.refuse(values.error(), where);
      expected = *std::move(values);
    }
    using Outcome = ir::Interpreter::Outcome;
    std::vector<Outcome> outcomes;
    if (interpreter != nullptr) {
      Result<Outcome> outcome = interpreter->run(target->func, *args);
      if (outcome) {
        outcomes.push_back(*std::move(outcome));
      } else if (native == nullptr || is_meant_for("interpret")) {
        return out.refuse(outcome.error(), where + directive.text + ": ");
      }
    }
    if (native != nullptr) {
      const auto index = static_cast<std::size_t>(target - test_.file.functions.data());
      Result<Outcome> outcome = native->run(index, *args);
      if (!outcome) return out.refuse(outcome.error(), where + directive.text + ": ");
      outcomes.push_back(*std::move(outcome));
    }
    for (const Outcome& outcome : outcomes) {
      if (const auto failure = check_outcome(directive, expected, outcome)) {
        out.fail(where + *failure);
        return;
      }
    }
    if (outcomes.size() == 2 && !same_outcome(outcomes[0], outcomes[1])) {
      out.fail(where + directive.text + ": interpreted " + outcome_text(outcomes[0]) + ", native " +
               outcome_text(outcomes[1]));
      return;
    }
    out.held();
  }

  const FileTest& test_;
  unsigned opt_level_;
};

}  // namespace

void filetest_interpret(const FileTest& test, Words, Collector& out) {
  Execution(test, 0).run_directives(out, true, false);
}

void filetest_run(const FileTest& test, Words, Collector& out) {
  const TargetSettings* target = test.x64();
  if (target == nullptr) {
    out.skip("no target is this machine's");
  } else if (!target->host_lacks.empty()) {
    out.skip("this CPU lacks " + target->host_lacks);
  } else {
    Execution(test, test.opt_level(*target)).run_directives(out, test.options.differential, true);
  }
}

}  // namespace hoistdev
