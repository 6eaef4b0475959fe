// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev reduce: makes a failing CLIF file smaller while it fails in the same way. Each step is
/// tried on a copy, must verify, and is kept if the check says the same as at first.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "hoistdev/command.hpp"
#include "hoistdev/filetest_run.hpp"
#include "hoistdev/program_check.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Value;

struct Part {
  Function func;
  std::string after;  // run directives
};

class Reducer {
 public:
  Reducer(const ir::ParsedFile& file, Check check, unsigned max_checks)
      : check_(std::move(check)), left_(max_checks) {
    const auto add = [&](const char* word, const std::vector<ir::ParsedLine>& lines) {
      for (const ir::ParsedLine& line : lines) {
        head_ += word;
        for (const std::string& text : line.words) head_ += " " + text;
        head_ += "\n";
      }
    };
    add("test", file.tests);
    add("set", file.sets);
    add("target", file.targets);
    for (const ir::ParsedFunction& f : file.functions) {
      Part part{f.func, {}};
      for (const ir::AttachedComment& comment : f.comments) {
        if (parse_run_directive(comment.text, comment.line)) part.after += comment.text + "\n";
      }
      parts_.push_back(std::move(part));
    }
    wanted_ = ask(check_, text(parts_));
  }

  const std::string& wanted() const { return wanted_; }
  unsigned left() const { return left_; }
  std::string text() const { return text(parts_); }

  void run() {
    for (bool changed = true; changed && left_ != 0;) {
      changed = drop_functions();
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        changed |= drop_directives(i);
        changed |= cut_branches(i);
        changed |= drop_instructions(i);
        changed |= replace_results(i);
        changed |= shrink_constants(i);
        changed |= drop_dead(i);
      }
    }
  }

 private:
  std::string text(const std::vector<Part>& parts) const {
    std::string out = head_;
    for (const Part& part : parts) out += "\n" + ir::to_string(part.func) + part.after;
    return out;
  }

  bool still_wrong(const std::vector<Part>& parts) {
    if (left_ == 0) return false;
    --left_;
    return ask(check_, text(parts)) == wanted_;
  }

  /// Tries `change(func)` on function `i`.
  template <typename F>
  bool attempt(std::size_t i, const F& change) {
    Function saved = parts_[i].func;
    change(parts_[i].func);
    const bool is_valid =
        check_.kind == CheckKind::Verifier || ir::verify(parts_[i].func).has_value();
    if (is_valid && still_wrong(parts_)) return true;
    parts_[i].func = std::move(saved);
    return false;
  }

  bool drop_functions() {
    bool changed = false;
    for (std::size_t i = parts_.size(); i-- > 0 && parts_.size() > 1;) {
      std::vector<Part> fewer = parts_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (!still_wrong(fewer)) continue;
      parts_ = std::move(fewer);
      changed = true;
    }
    return changed;
  }

  bool drop_directives(std::size_t i) {
    bool changed = false;
    for (std::size_t at = 0; at < parts_[i].after.size();) {
      const std::size_t end = parts_[i].after.find('\n', at) + 1;
      std::vector<Part> fewer = parts_;
      fewer[i].after.erase(at, end - at);
      if (still_wrong(fewer)) {
        parts_ = std::move(fewer);
        changed = true;
      } else {
        at = end;
      }
    }
    return changed;
  }

  std::vector<Inst> insts(std::size_t i) const {
    std::vector<Inst> all;
    const Function& func = parts_[i].func;
    for (Block b = func.first_block(); b.is_some(); b = func.next_block(b)) {
      for (Inst inst = func.first_inst(b); inst.is_some(); inst = func.next_inst(inst)) {
        all.push_back(inst);
      }
    }
    return all;
  }

  static void without_unreachable(Function& func) {
    opt::OptContext only_unreachable;
    only_unreachable.set_disabled(~std::uint32_t{0});
    opt::optimise(func, only_unreachable);
  }

  /// Branches become jumps to one of their targets; blocks that nothing reaches go.
  bool cut_branches(std::size_t i) {
    bool changed = false;
    for (const Inst inst : insts(i)) {
      const Op op = parts_[i].func.op(inst);
      if (parts_[i].func.inst_block(inst).is_none()) continue;  // removed with its block
      if (op != Op::Brif && op != Op::BrTable) continue;
      std::vector<ir::BlockCall> targets;
      parts_[i].func.for_each_target(inst, [&](ir::BlockCall call) { targets.push_back(call); });
      for (const ir::BlockCall target : targets) {
        const bool cut = attempt(i, [&](Function& func) {
          func.data(inst) = {Op::Jump, 0, target.index()};
          without_unreachable(func);
        });
        changed |= cut;
        if (cut) break;
      }
    }
    return changed;
  }

  /// Instructions without results, in runs of halving length.
  bool drop_instructions(std::size_t i) {
    std::vector<Inst> droppable;
    for (const Inst inst : insts(i)) {
      const Function& func = parts_[i].func;
      if (!ir::is_terminator(func.op(inst)) && func.results(inst).empty()) {
        droppable.push_back(inst);
      }
    }
    bool changed = false;
    for (std::size_t length = droppable.size(); length != 0; length /= 2) {
      for (std::size_t at = 0; at < droppable.size();) {
        const std::size_t count = std::min(length, droppable.size() - at);
        const auto first = droppable.begin() + static_cast<std::ptrdiff_t>(at);
        const bool dropped = attempt(i, [&](Function& func) {
          for (std::size_t n = 0; n < count; ++n)
            func.remove_inst(first[static_cast<std::ptrdiff_t>(n)]);
        });
        if (dropped) {
          droppable.erase(first, first + static_cast<std::ptrdiff_t>(count));
          changed = true;
        } else {
          at += count;
        }
      }
    }
    return changed;
  }

  static bool is_constant(const Function& func, Inst inst) {
    return ir::format(func.op(inst)) == ir::Format::UnaryImm;
  }

  /// An instruction becomes its own operand of the same type, or 0.
  bool replace_results(std::size_t i) {
    bool changed = false;
    for (const Inst inst : insts(i)) {
      const Function& now = parts_[i].func;
      if (now.results(inst).size() != 1 || is_constant(now, inst)) continue;
      const ir::Type type = now.type(now.result(inst));
      std::vector<Value> operands;
      now.for_each_operand(inst, [&](Value v) {
        if (now.type(v) == type) operands.push_back(v);
      });
      bool done = false;
      if (type.is_int() && type.bits() <= 64) {
        done = attempt(i, [&](Function& func) {
          func.data(inst) = InstData::imm(Op::Iconst, 0);
          func.set_stack_map(inst, {});
          func.set_debug_tags(inst, {});
        });
      }
      for (std::size_t n = 0; n < operands.size() && !done; ++n) {
        done = attempt(i, [&](Function& func) {
          if (func.resolve(operands[n]) == func.result(inst)) return;
          func.make_alias(func.result(inst), operands[n]);
          func.remove_inst(inst);
          func.resolve_all_aliases();
        });
      }
      changed |= done;
    }
    return changed;
  }

  bool shrink_constants(std::size_t i) {
    bool changed = false;
    for (const Inst inst : insts(i)) {
      const Function& now = parts_[i].func;
      if (now.op(inst) != Op::Iconst) continue;
      const std::uint64_t bits = now.data(inst).imm64();
      for (const std::uint64_t smaller : {std::uint64_t{0}, std::uint64_t{1}, bits / 2}) {
        if (smaller >= bits) break;
        if (attempt(
                i, [&](Function& func) { func.data(inst) = InstData::imm(Op::Iconst, smaller); })) {
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  bool drop_dead(std::size_t i) {
    const std::size_t before = insts(i).size();
    return attempt(i,
                   [&](Function& func) {
                     opt::OptContext only_dead;
                     for (unsigned p = 0; p < opt::kPassCount; ++p) {
                       if (static_cast<opt::Pass>(p) != opt::Pass::Dead) {
                         only_dead.disable(static_cast<opt::Pass>(p));
                       }
                     }
                     opt::optimise(func, only_dead);
                   }) &&
           insts(i).size() < before;
  }

  std::string head_;
  std::vector<Part> parts_;
  Check check_;
  std::string wanted_;
  unsigned left_;
};

}  // namespace

std::string reduced(const ir::ParsedFile& file, const Check& check, unsigned max_checks) {
  Reducer reducer(file, check, max_checks);
  if (reducer.wanted().empty()) return {};
  reducer.run();
  return reducer.text();
}

int reduce_main(int argc, char** argv) {
  CLI::App app("Shrinks a CLIF file that shows a mistake; prints the smaller file.",
               "hoistdev reduce");
  std::string path;
  std::string check_name = "native";
  std::string output;
  std::string without;
  unsigned max_checks = 5000;
  app.add_option("--without", without, "native: CPU features not to use, or all");
  app.add_option("file", path, "CLIF text")->required();
  std::string checks = "what is wrong, one of";
  for (const CheckRow& row : kChecks) {
    checks += std::string("\n  ") + row.name + ": " + row.meaning;
  }
  checks += "\nor a shell command that gets a file's path and ends with status 0 if it is wrong";
  app.add_option("--check", check_name, checks);
  app.add_option("-o,--output", output, "the file to write, instead of standard output");
  app.add_option("--max-checks", max_checks, "how often to ask at most");
  CLI11_PARSE(app, argc, argv);

  std::string text;
  const std::optional<ir::ParsedFile> file = read_clif(path, &text);
  if (!file) return 1;
  Check check{CheckKind::Command, check_name, without};
  for (const CheckRow& row : kChecks) {
    if (check_name == row.name) check = {row.kind, {}, without};
  }
  Reducer reducer(*file, check, max_checks);
  if (reducer.wanted().empty()) {
    std::fprintf(stderr, "hoistdev reduce: nothing is wrong with %s\n", path.c_str());
    return 1;
  }
  reducer.run();
  std::fprintf(stderr, "%s: %u checks, %zu bytes of %zu left\n", reducer.wanted().c_str(),
               max_checks - reducer.left(), reducer.text().size(), text.size());
  if (output.empty()) {
    std::fputs(reducer.text().c_str(), stdout);
    return 0;
  }
  std::ofstream out(output, std::ios::binary);
  out << reducer.text();
  return out.flush() ? 0 : 1;
}

}  // namespace hoistdev
