// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/program_check.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "hoistdev/compile.hpp"
#include "hoistdev/equal_results.hpp"
#include "hoistdev/filetest_native.hpp"
#include "hoistdev/filetest_run.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

std::optional<ir::ParsedFile> read_clif(const std::string& path, std::string* text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "hoistdev: cannot read %s\n", path.c_str());
    return std::nullopt;
  }
  const std::string content(std::istreambuf_iterator<char>(in), {});
  Result<ir::ParsedFile> file = ir::parse_file(content);
  if (!file) {
    std::fprintf(stderr, "%s:%u:%u: %s\n", path.c_str(), file.error().line(), file.error().column(),
                 file.error().message().c_str());
    return std::nullopt;
  }
  if (text != nullptr) *text = content;
  return *std::move(file);
}

std::vector<ProgramRun> runs_of(const ir::ParsedFile& file) {
  std::vector<ProgramRun> runs;
  for (std::size_t i = 0; i < file.functions.size(); ++i) {
    const ir::ParsedFunction& f = file.functions[i];
    for (const ir::AttachedComment& comment : f.comments) {
      const auto directive = parse_run_directive(comment.text, comment.line);
      if (!directive || !*directive) continue;
      auto args = parse_values((*directive)->args, f.func.signature.params);
      if (args) runs.push_back({i, *std::move(args)});
    }
  }
  if (!runs.empty()) return runs;
  for (std::size_t i = 0; i < file.functions.size(); ++i) {
    // Odd sets have no addresses: what the interpreter maps is not there in native code.
    for (unsigned set = 1; set < kArgumentSets; set += 2) {
      auto args = arguments_for(file.functions[i].func.signature, set);
      if (args) runs.push_back({i, *std::move(args)});
    }
  }
  return runs;
}

namespace {

constexpr unsigned kSeconds = 10;

std::string verify_all(const ir::ParsedFile& file) {
  for (const ir::ParsedFunction& f : file.functions) {
    if (const Result<void> fine = ir::verify(f.func); !fine) return fine.error().message();
  }
  return {};
}

std::string ask_native(const ir::ParsedFile& file, const std::string& without) {
  using Outcome = ir::Interpreter::Outcome;
  ir::Interpreter::Limits limits;
  limits.fuel = 1'000'000;
  limits.call_depth = 1'000;
  ir::Interpreter interpreter(limits);
  // Addresses are others natively: a result that depends on one says nothing.
  limits.stack_address = 0x2468'0000;
  ir::Interpreter elsewhere(limits);
  for (const ir::ParsedFunction& f : file.functions) {
    interpreter.add_function(f.func);
    elsewhere.add_function(f.func);
  }
  const std::vector<ProgramRun> runs = runs_of(file);
  std::vector<std::optional<Outcome>> expected;
  for (const ProgramRun& run : runs) {
    Result<Outcome> outcome = interpreter.run(file.functions[run.index].func, run.args);
    const Result<Outcome> other = elsewhere.run(file.functions[run.index].func, run.args);
    const bool is_known = outcome && other && outcome->kind != Outcome::Kind::OutOfFuel &&
                          outcome->trap != ir::TrapCode::StackOverflow &&
                          same_outcome(*outcome, *other);
    expected.push_back(is_known ? std::optional(*std::move(outcome)) : std::nullopt);
  }
  for (const unsigned level : {0u, 2u}) {
    const auto code = NativeFile::compile(file, level, without);
    if (!code) {
      return code.error().kind() == ErrorKind::Internal ? code.error().message() : std::string();
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!expected[i]) continue;
      const Result<Outcome> found = (*code)->run(runs[i].index, runs[i].args);
      if (found && !same_outcome(*expected[i], *found)) return "differs";
    }
  }
  return {};
}

std::string ask_mid_end(const ir::ParsedFile& file, bool compare) {
  opt::OptContext context;
  std::vector<ir::Function> optimised;
  std::vector<const ir::Function*> before, after;
  for (const ir::ParsedFunction& f : file.functions) {
    optimised.push_back(f.func);
    opt::optimise(optimised.back(), context);
    if (const Result<void> fine = ir::verify(optimised.back()); !fine) {
      return compare ? "does not verify" : fine.error().message();
    }
  }
  if (!compare) return {};
  for (std::size_t i = 0; i < optimised.size(); ++i) {
    before.push_back(&file.functions[i].func);
    after.push_back(&optimised[i]);
  }
  for (const ProgramRun& run : runs_of(file)) {
    const auto x = interpret(before, run.index, run.args);
    const auto y = interpret(after, run.index, run.args);
    if (x && y && (!same_outcome(x->outcome, y->outcome) || x->memory != y->memory)) {
      return "differs";
    }
  }
  unsigned compared = 0;
  for (std::size_t i = 0; i < optimised.size(); ++i) {
    if (results_differ(before, after, i, compared)) return "differs";
  }
  return {};
}

std::string ask_compile(const ir::ParsedFile& file) {
  for (const ir::ParsedFunction& f : file.functions) {
    for (const unsigned level : {0u, 2u}) {
      const auto text = compile_to_text(f.func, level, features_of(file), pins_register(file));
      if (text) continue;
      // The machine IR behind the message changes with every step of a reduction.
      const std::string& message = text.error().message();
      return message.substr(0, message.find('\n'));
    }
  }
  return {};
}

std::string ask_here(const Check& check, const std::string& text) {
  const Result<ir::ParsedFile> file = ir::parse_file(text);
  if (!file) return {};
  const std::string refused = verify_all(*file);
  switch (check.kind) {
    case CheckKind::Native:
      return refused.empty() ? ask_native(*file, check.without) : std::string();
    case CheckKind::MidEnd: return refused.empty() ? ask_mid_end(*file, true) : std::string();
    case CheckKind::Verifier: return refused.empty() ? ask_mid_end(*file, false) : refused;
    case CheckKind::Compile: return refused.empty() ? ask_compile(*file) : std::string();
    case CheckKind::Command: break;
  }
  return {};
}

std::string ask_command(const std::string& command, const std::string& text) {
  const std::string path = "/tmp/hoistdev-" + std::to_string(getpid()) + ".clif";
  std::ofstream(path, std::ios::binary) << text;
  const int status = std::system((command + " " + path + " >/dev/null 2>&1").c_str());
  std::remove(path.c_str());
  return status == 0 ? "wrong" : "";
}

}  // namespace

std::string ask(const Check& check, const std::string& text) {
  if (check.kind == CheckKind::Command) return ask_command(check.command, text);
  int ends[2];
  if (pipe(ends) != 0) return {};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    // Crashes are findings; what they print is not.
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    alarm(kSeconds);
    const std::string answer = ask_here(check, text);
    const ssize_t written =
        write(ends[1], answer.data(), std::min<std::size_t>(answer.size(), 4000));
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string answer;
  char buffer[512];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return {};
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? "timeout" : "signal " + std::to_string(WTERMSIG(status));
  }
  return answer;
}

}  // namespace hoistdev
