// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev bisect: which function, pass and rewrite breaks a CLIF program?
///
/// If the optimised program already differs in the interpreter, the mid-end is wrong: the function
/// is searched for by optimising the first N of the file, the pass by letting the first N run, the
/// rewrite by the limit of rewrites. Otherwise native code is: the function is searched for by
/// compiling the first N at level 2 and the others at level 0.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>
#include <sstream>

#include "hoistdev/bisect_module.hpp"
#include "hoistdev/command.hpp"
#include "hoistdev/compile.hpp"
#include "hoistdev/equal_results.hpp"
#include "hoistdev/filetest_run.hpp"
#include "hoistdev/program_check.hpp"
#include "hoistdev/smallest.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "native/jit_module.hpp"
#include "opt/pipeline.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

struct Settings {
  std::size_t first = 0, last = 0;  ///< the functions that are optimised
  unsigned passes = opt::kPassCount;
  std::uint64_t rewrites = opt::OptContext::kNoLimit;
};

class Bisection {
 public:
  explicit Bisection(const ir::ParsedFile& file) : file_(file), runs_(runs_of(file)) {
    for (const ir::ParsedFunction& f : file.functions) plain_.push_back(&f.func);
  }

  int run() {
    const std::size_t count = file_.functions.size();
    if (mid_end_is_wrong({0, count})) return mid_end();
    if (!in_child([&] { return native_is_wrong(count); })) {
      std::printf("nothing is wrong: the optimised program and native code agree with it\n");
      return 1;
    }
    if (in_child([&] { return native_is_wrong(0); })) {
      std::printf("native code is wrong at level 0 already: hoistdev reduce --check native\n");
      return 0;
    }
    const std::size_t n = smallest(count, [&](std::uint64_t first) {
      return in_child([&] { return native_is_wrong(static_cast<std::size_t>(first)); });
    });
    std::printf(
        "function %s: native code at level 2 is wrong, at level 0 it is not;\n"
        "what the mid-end makes of it is right\n",
        name(n - 1).c_str());
    return 0;
  }

 private:
  std::string name(std::size_t i) const {
    base::Printer out;
    out << file_.functions[i].func.name;
    return out.take();
  }

  ir::Function optimised(std::size_t i, const Settings& settings, std::uint64_t& rewrites) const {
    ir::Function func = file_.functions[i].func;
    opt::OptContext context;
    for (unsigned p = settings.passes; p < opt::kPassCount; ++p) {
      context.disable(static_cast<opt::Pass>(p));
    }
    context.limit_rewrites(settings.rewrites);
    opt::optimise(func, context);
    rewrites = context.rewrites();
    return func;
  }

  bool mid_end_is_wrong(const Settings& settings) {
    std::vector<ir::Function> changed;
    changed.reserve(settings.last - settings.first);
    std::vector<const ir::Function*> after = plain_;
    for (std::size_t i = settings.first; i < settings.last; ++i) {
      changed.push_back(optimised(i, settings, rewrites_));
      if (!ir::verify(changed.back())) return true;
      after[i] = &changed.back();
    }
    for (const ProgramRun& run : runs_) {
      const auto x = interpret(plain_, run.index, run.args);
      const auto y = interpret(after, run.index, run.args);
      if (x && y && (!same_outcome(x->outcome, y->outcome) || x->memory != y->memory)) return true;
    }
    unsigned compared = 0;
    for (std::size_t i = 0; i < plain_.size(); ++i) {
      if (results_differ(plain_, after, i, compared)) return true;
    }
    return false;
  }

  int mid_end() {
    Settings at{0, static_cast<std::size_t>(smallest(plain_.size(), [&](std::uint64_t n) {
                  return mid_end_is_wrong({0, static_cast<std::size_t>(n)});
                }))};
    std::printf("function %s\n", name(at.last - 1).c_str());
    at.first = at.last - 1;
    if (!mid_end_is_wrong(at)) {
      at.first = 0;
      std::printf("  only together with those before it\n");
    }
    at.passes = static_cast<unsigned>(smallest(opt::kPassCount, [&](std::uint64_t n) {
      Settings fewer = at;
      fewer.passes = static_cast<unsigned>(n);
      return mid_end_is_wrong(fewer);
    }));
    std::printf("pass %s\n", opt::info(static_cast<opt::Pass>(at.passes - 1)).text);
    static_cast<void>(mid_end_is_wrong(at));
    const std::uint64_t all = rewrites_;
    Settings none = at;
    none.rewrites = 0;
    if (all == 0 || mid_end_is_wrong(none)) return 0;
    at.rewrites = smallest(all, [&](std::uint64_t n) {
      Settings fewer = at;
      fewer.rewrites = n;
      return mid_end_is_wrong(fewer);
    });
    std::printf("rewrite %llu of %llu:\n", static_cast<unsigned long long>(at.rewrites),
                static_cast<unsigned long long>(all));
    Settings before = at;
    --before.rewrites;
    std::uint64_t ignored = 0;
    print_difference(ir::to_string(optimised(at.last - 1, before, ignored)),
                     ir::to_string(optimised(at.last - 1, at, ignored)));
    return 0;
  }

  static std::multiset<std::string> lines(const std::string& text) {
    std::multiset<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.insert(line);
    return all;
  }
  static void print_difference(const std::string& before, const std::string& after) {
    const auto print_missing = [](const std::string& text, std::multiset<std::string> other,
                                  char sign) {
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);) {
        const auto same = other.find(line);
        if (same != other.end()) {
          other.erase(same);
        } else {
          std::printf("%c %s\n", sign, line.c_str());
        }
      }
    };
    print_missing(before, lines(after), '-');
    print_missing(after, lines(before), '+');
  }

  /// Crashes and hangs are wrong too.
  template <typename F>
  static bool in_child(const F& wrong) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(wrong() ? 1 : 0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status != 0;
  }

  /// Compiles the first `count` functions at level 2.
  bool native_is_wrong(std::size_t count) {
    native::JitOptions options;
    options.pinned_register = pins_register(file_);
    auto module = native::JitModule::create(options);
    if (!module) return false;
    for (std::size_t i = 0; i < plain_.size(); ++i) {
      (*module)->set_opt_level(i < count ? 2 : 0);
      if (!(*module)->define(*plain_[i])) return true;
    }
    if (!(*module)->finalise()) return true;
    for (const ProgramRun& run : runs_) {
      using Outcome = ir::Interpreter::Outcome;
      ir::Interpreter interpreter;
      for (const ir::Function* func : plain_) interpreter.add_function(*func);
      const Result<Outcome> expected = interpreter.run(*plain_[run.index], run.args);
      if (!expected || expected->kind == Outcome::Kind::OutOfFuel ||
          expected->trap == ir::TrapCode::StackOverflow) {
        continue;
      }
      auto called = (*module)->call(plain_[run.index]->name, run.args);
      if (!called) return true;
      Outcome found;
      found.kind =
          called->trap == ir::TrapCode::None ? Outcome::Kind::Returned : Outcome::Kind::Trapped;
      found.trap = called->trap;
      found.values = std::move(called->values);
      if (!same_outcome(*expected, found)) return true;
    }
    return false;
  }

  const ir::ParsedFile& file_;
  std::vector<ProgramRun> runs_;
  std::vector<const ir::Function*> plain_;
  std::uint64_t rewrites_ = 0;
};

}  // namespace

int bisect_main(int argc, char** argv) {
  CLI::App app(
      "Finds the function, the pass and the rewrite that break a CLIF file: what the interpreter "
      "says about the file is right. Or a WebAssembly module: a command says what is right.",
      "hoistdev bisect");
  std::string path;
  std::string command;
  std::string cpu = "native";
  app.add_option("file", path,
                 "CLIF text; its run lines are what is called, if it has any; or a module")
      ->required();
  app.add_option("--run", command,
                 "for a module: a shell command that gets the path of an image, as by hoist "
                 "compile, and ends with status 0 if that does what it should");
  app.add_option("--cpu", cpu, "for a module: as of hoist compile (native)");
  CLI11_PARSE(app, argc, argv);
  if (!command.empty()) return bisect_module(path, command, cpu);
  const std::optional<ir::ParsedFile> file = read_clif(path);
  if (!file) return 1;
  for (const ir::ParsedFunction& f : file->functions) {
    if (const Result<void> fine = ir::verify(f.func); !fine) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), fine.error().message().c_str());
      return 1;
    }
  }
  return Bisection(*file).run();
}

}  // namespace hoistdev
