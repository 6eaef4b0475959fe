// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The commands of test files.
#include <algorithm>
#include <functional>

#include "hoistdev/compile.hpp"
#include "hoistdev/filetest.hpp"
#include "hoistdev/filetest_check.hpp"
#include "hoistdev/filetest_native.hpp"
#include "hoistdev/filetest_run.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/text/printer.hpp"
#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

std::string line_text(std::uint32_t line, const std::string& message) {
  return "line " + std::to_string(line) + ": " + message;
}

std::string error_text(const Error& error) {
  if (error.line() == 0) return error.message();
  return std::to_string(error.line()) + ":" + std::to_string(error.column()) + ": " +
         error.message();
}

std::string function_name(const ir::Function& func) {
  base::Printer out;
  out << func.name;
  return out.take();
}

/// Collects the outcome of one command over the functions of a file.
class Collector {
 public:
  explicit Collector(std::string command) { report_.command = std::move(command); }
  void fail(const std::string& reason) {
    if (report_.status != Status::Failed) report_.reason.clear();
    report_.status = Status::Failed;
    if (!report_.reason.empty()) report_.reason += "\n    ";
    report_.reason += reason;
  }
  void unsupported(const std::string& reason) { weaker(Status::Unsupported, reason); }
  void skip(const std::string& reason) { weaker(Status::Skipped, reason); }
  void held() { ++report_.directives; }
  CommandReport take() { return std::move(report_); }

 private:
  void weaker(Status status, const std::string& reason) {
    if (report_.status != Status::Passed) return;
    report_.status = status;
    report_.reason = reason;
  }
  CommandReport report_;
};

class FileRun {
 public:
  FileRun(const ir::ParsedFile& file, const FileTestOptions& options)
      : file_(file), options_(options) {}

  CommandReport run(const std::string& command) {
    Collector out(command);
    if (command == "cat") {
      each(out, [&](const ir::ParsedFunction& f) { cat(f, out); });
    } else if (command == "verifier") {
      each(out, [&](const ir::ParsedFunction& f) { verifier(f, out); });
    } else if (command == "print-cfg") {
      each(out, [&](const ir::ParsedFunction& f) { print_cfg(f, out); });
    } else if (command == "domtree") {
      each(out, [&](const ir::ParsedFunction& f) { domtree(f, out); });
    } else if (command == "lower" || command == "compile") {
      each(out, [&](const ir::ParsedFunction& f) { compile(f, command == "lower", out); });
    } else if (command == "interpret") {
      run_directives(out, true, false);
    } else if (command == "run") {
      if (!has_host_target()) {
        out.skip("no target is this machine's");
      } else {
        run_directives(out, options_.differential, true);
      }
    } else {
      out.skip("command " + command + " does not exist yet");
    }
    return out.take();
  }

 private:
  template <typename F>
  void each(Collector& out, F&& visit) {
    for (const ir::ParsedFunction& function : file_.functions) {
      if (function.unsupported) {
        out.unsupported(function.unsupported->message());
      } else {
        visit(function);
      }
    }
  }

  void check_text(const ir::ParsedFunction& f, const std::string& text, Collector& out) {
    FileCheck check;
    const auto add = [&](const std::vector<ir::AttachedComment>& comments) {
      for (const ir::AttachedComment& comment : comments) {
        if (const auto error = check.add(comment.text)) out.fail(line_text(comment.line, *error));
      }
    };
    add(file_.comments);
    add(f.comments);
    if (const auto failure = check.run(text)) out.fail(function_name(f.func) + ": " + *failure);
  }

  /// The text matches its directives, and reads back as what prints the same.
  void cat(const ir::ParsedFunction& f, Collector& out) {
    const std::string text = ir::to_string(f.func);
    check_text(f, text, out);
    Result<ir::Function> again = ir::parse_function(text);
    if (!again) {
      out.fail(function_name(f.func) +
               ": the printed text does not read back: " + error_text(again.error()) + "\n" + text);
    } else if (const std::string second = ir::to_string(*again); second != text) {
      out.fail(function_name(f.func) + ": the text changes when it is read and printed:\n" + text +
               second);
    }
  }

  // ---- Verifier.

  ir::Type pointer_type() const {
    if (file_.targets.empty() || file_.targets[0].words.empty()) return {};
    const std::string& target = file_.targets[0].words[0];
    return target.starts_with("pulley32") ? ir::I32 : ir::I64;
  }

  void verifier(const ir::ParsedFunction& f, Collector& out) {
    ir::Verifier verifier;
    verifier.set_pointer_type(pointer_type());
    const std::span<const ir::VerifierError> errors = verifier.run(f.func);
    std::vector<bool> seen(errors.size());
    for (const ir::AttachedComment& comment : f.comments) {
      const std::size_t at = comment.text.find("error:");
      if (at == std::string::npos) continue;
      std::string expected = comment.text.substr(at + 6);
      expected.erase(0, expected.find_first_not_of(' '));
      while (!expected.empty() && (expected.back() == ' ' || expected.back() == '\r')) {
        expected.pop_back();
      }
      bool found = false;
      for (std::size_t i = 0; i < errors.size() && !found; ++i) {
        if (seen[i] || !is_about(f.func, errors[i].where, comment.owner)) continue;
        found = errors[i].message.find(expected) != std::string::npos;
        if (found) seen[i] = true;
      }
      if (!found) out.fail(line_text(comment.line, "missing error: " + expected));
    }
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (seen[i]) continue;
      base::Printer text;
      text << function_name(f.func) << ": unexpected error: " << errors[i].where << ": "
           << errors[i].message;
      out.fail(text.take());
    }
  }

  static bool is_about(const ir::Function& func, ir::EntityRef error, ir::EntityRef comment) {
    if (error == comment) return true;
    // The signature of `fn0 = %f() -> i8` has no line of its own.
    return error.kind == ir::EntityKind::SigRef && comment.kind == ir::EntityKind::FuncRef &&
           func.ext_funcs[ir::FuncRef(comment.index)].signature == ir::SigRef(error.index);
  }

  // ---- Analyses.

  void print_cfg(const ir::ParsedFunction& f, Collector& out) {
    const ir::Function& func = f.func;
    ir::ControlFlow flow;
    flow.compute(func);
    base::Printer text;
    text << "digraph \"" << func.name << "\" {\n";
    if (func.entry_block().is_some()) text << "    {rank=min; " << func.entry_block() << "}\n";
    for (ir::Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
      text << "    " << block << " [shape=record, label=\"{";
      ir::print_block_header(text, func, block);
      text << '\n';
      if (const ir::Inst last = func.last_inst(block)) {
        text << " | <" << last << '>';
        ir::print(text, func, last);
        text << '\n';
      }
      text << "}\"]\n";
    }
    for (ir::Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
      for (const ir::Predecessor& pred : flow.predecessors(block)) {
        text << "    " << pred.block << ':' << pred.branch << " -> " << block << '\n';
      }
    }
    text << "}\n";
    check_text(f, text.take(), out);
  }

  void domtree(const ir::ParsedFunction& f, Collector& out) {
    const ir::Function& func = f.func;
    ir::ControlFlow flow;
    flow.compute(func);
    ir::DominatorTree tree;
    tree.compute(func, flow);
    std::size_t claimed = 0;
    for (const ir::AttachedComment& comment : f.comments) {
      const std::size_t at = comment.text.find("dominates:");
      if (at == std::string::npos || comment.owner.kind != ir::EntityKind::Inst) continue;
      const ir::Block dominator = func.inst_block(ir::Inst(comment.owner.index));
      std::size_t from = at + 10;
      while ((from = comment.text.find("block", from)) != std::string::npos) {
        const ir::Block block(
            static_cast<std::uint32_t>(std::stoul(comment.text.substr(from + 5))));
        from += 5;
        ++claimed;
        if (tree.idom(block) == dominator) continue;
        base::Printer text;
        text << "the immediate dominator of " << block << " is " << tree.idom(block) << ", not "
             << dominator;
        out.fail(line_text(comment.line, text.take()));
      }
    }
    if (claimed + 1 != tree.preorder().size()) {
      out.fail(function_name(func) + ": " + std::to_string(tree.preorder().size() - 1) +
               " blocks are dominated, the comments name " + std::to_string(claimed));
    }
    base::Printer text;
    text << "cfg_postorder:";
    for (const ir::Block block : flow.postorder()) text << ' ' << block;
    text << "\ndomtree_preorder {\n";
    for (const ir::Block block : tree.preorder()) {
      text << block << ':';
      for (ir::Block child = tree.first_child(block); child.is_some();
           child = tree.next_sibling(child)) {
        text << ' ' << child;
      }
      text << '\n';
    }
    text << "}\n";
    check_text(f, text.take(), out);
  }

  // ---- The back end.

  /// `lower`: machine IR before register allocation, not optimised before; `compile`: assembly.
  void compile(const ir::ParsedFunction& f, bool lowered, Collector& out) {
    const Result<CompileText> text =
        compile_to_text(f.func, lowered ? 0 : opt_level(), features_of(file_));
    if (text) {
      check_text(f, lowered ? text->lowered : text->assembly, out);
    } else {
      refuse(text.error(), function_name(f.func) + ": ", out);
    }
  }

  // ---- Running.

  bool has_host_target() const {
    if (file_.targets.empty()) return true;
    return std::ranges::any_of(file_.targets, [](const ir::ParsedLine& target) {
      return !target.words.empty() && target.words[0] == "x86_64";
    });
  }

  /// A file that is only for native code may do what the interpreter refuses.
  bool is_meant_for(std::string_view command) const {
    return std::ranges::any_of(
        file_.tests, [&](const ir::ParsedLine& test) { return test.words[0] == command; });
  }

  unsigned opt_level() const {
    if (options_.opt_level >= 0) return static_cast<unsigned>(options_.opt_level);
    unsigned level = 2;
    for (const ir::ParsedLine& line : file_.sets) {
      for (const std::string& word : line.words) {
        if (word == "opt_level=none") level = 0;
        if (word.starts_with("opt_level=speed")) level = 2;
      }
    }
    return level;
  }

  /// All functions that a run can reach pass the verifier?
  bool verify_all(Collector& out) {
    bool ok = true;
    for (const ir::ParsedFunction& f : file_.functions) {
      if (f.unsupported) continue;
      if (const Result<void> result = ir::verify(f.func); !result) {
        out.fail(function_name(f.func) + ": " + result.error().message());
        ok = false;
      }
    }
    return ok;
  }

  void run_directives(Collector& out, bool interpret, bool native) {
    if (!verify_all(out)) return;
    ir::Interpreter interpreter;
    for (const ir::ParsedFunction& f : file_.functions) {
      if (!f.unsupported) interpreter.add_function(f.func);
    }
    std::unique_ptr<NativeFile> code;
    if (native) {
      Result<std::unique_ptr<NativeFile>> compiled = NativeFile::compile(file_, opt_level());
      if (!compiled) {
        refuse(compiled.error(), "", out);
        return;
      }
      code = *std::move(compiled);
    }
    for (const ir::ParsedFunction& f : file_.functions) {
      for (const ir::AttachedComment& comment : f.comments) {
        auto directive = parse_run_directive(comment.text, comment.line);
        if (!directive) continue;
        if (!*directive) {
          out.fail(error_text(directive->error()));
        } else {
          run_directive(**directive, f, interpret ? &interpreter : nullptr, code.get(), out);
        }
      }
      if (f.unsupported) out.unsupported(f.unsupported->message());
    }
  }

  static void refuse(const Error& error, const std::string& where, Collector& out) {
    if (error.kind() == ErrorKind::Unsupported) {
      out.unsupported(error.message());
    } else {
      out.fail(where + error_text(error));
    }
  }

  void run_directive(const RunDirective& directive, const ir::ParsedFunction& owner,
                     ir::Interpreter* interpreter, NativeFile* native, Collector& out) {
    const ir::ParsedFunction* target = &owner;
    if (!directive.function.empty() && owner.func.name.text != directive.function) {
      const auto found = std::ranges::find_if(file_.functions, [&](const ir::ParsedFunction& f) {
        return f.func.name.text == directive.function;
      });
      if (found == file_.functions.end()) {
        out.fail(line_text(directive.line, "no function %" + directive.function));
        return;
      }
      target = &*found;
    }
    if (target->unsupported) {
      out.unsupported(target->unsupported->message());
      return;
    }
    const std::string where = "line " + std::to_string(directive.line) + ": ";
    const ir::Signature& signature = target->func.signature;
    const Result<std::vector<ir::DataValue>> args = parse_values(directive.args, signature.params);
    if (!args) return refuse(args.error(), where, out);
    std::vector<ir::DataValue> expected;
    if (directive.compare == RunDirective::Compare::Equal ||
        directive.compare == RunDirective::Compare::NotEqual) {
      Result<std::vector<ir::DataValue>> values =
          parse_values(directive.expected, signature.returns);
      if (!values) return refuse(values.error(), where, out);
      expected = *std::move(values);
    }
    using Outcome = ir::Interpreter::Outcome;
    std::vector<Outcome> outcomes;
    if (interpreter != nullptr) {
      Result<Outcome> outcome = interpreter->run(target->func, *args);
      if (outcome) {
        outcomes.push_back(*std::move(outcome));
      } else if (native == nullptr || is_meant_for("interpret")) {
        return refuse(outcome.error(), where + directive.text + ": ", out);
      }
    }
    if (native != nullptr) {
      const auto index = static_cast<std::size_t>(target - file_.functions.data());
      Result<Outcome> outcome = native->run(index, *args);
      if (!outcome) return refuse(outcome.error(), where + directive.text + ": ", out);
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

  const ir::ParsedFile& file_;
  const FileTestOptions& options_;
};

}  // namespace

std::vector<CommandReport> run_file(std::string_view text, const FileTestOptions& options) {
  std::vector<CommandReport> reports;
  const Result<ir::ParsedFile> file = ir::parse_file(text);
  if (!file) {
    reports.push_back({"read", Status::Failed, error_text(file.error()), 0});
    return reports;
  }
  if (file->tests.empty()) {
    reports.push_back({"read", Status::Failed, "the file has no test line", 0});
    return reports;
  }
  FileRun run(*file, options);
  for (const ir::ParsedLine& test : file->tests) {
    if (!options.only.empty() && options.only != test.words[0]) continue;
    reports.push_back(run.run(test.words[0]));
  }
  return reports;
}

}  // namespace hoistdev
