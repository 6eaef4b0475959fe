// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev fuzz: random IR programs in the interpreter and as native code at every optimisation
/// level, with CPU features off at random. A program depends on its seed only. The work is done in
/// a child process, so that a crash or a hang is a finding like any other; findings are written as
/// test files.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "fuzz/gen/ir_program.hpp"
#include "fuzz/support/compare_native.hpp"
#include "hoistdev/command.hpp"
#include "hoistdev/program_check.hpp"
#include "ir/text/data_value_text.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/rules/rules.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

/// A program that takes longer hangs.
constexpr unsigned kSeconds = 20;
constexpr unsigned kArgumentSets = 4;
constexpr const char* kFeatures[] = {"",       "avx512vbmi avx512bitalg avx512vpopcntdq",
                                     "fma",    "avx2 fma",
                                     "popcnt", "lzcnt",
                                     "bmi1",   "bmi2",
                                     "avx",    "avx512f",
                                     "f16c",   "sse4.2 popcnt avx"};

struct Options {
  std::uint64_t count = 1000;
  std::uint64_t seed = 1;
  unsigned families = fuzz::kAllFamilies;
  unsigned findings = 10;
  unsigned shrink = 1000;
  std::string out = ".";
};

/// What the child tells, in memory shared with it.
struct Progress {
  struct Reason {
    char text[120];
    std::uint64_t count;
  };
  std::uint64_t seed = 0;  // being looked at
  std::uint64_t programs = 0;
  std::uint64_t runs = 0;  // programs × ways to compile them
  std::uint64_t unsupported = 0;
  unsigned findings = 0;
  std::array<Reason, 64> reasons{};
};

/// Everything that a seed decides.
struct Program {
  std::vector<std::uint8_t> bytes;
  unsigned families;
  std::uint64_t arguments;
  const char* without[2];
  bool baseline;

  Program(std::uint64_t seed, unsigned allowed) {
    base::SplitMix64 numbers(seed * 0x2545'f491'4f6c'dd1d + 1);
    const std::uint64_t size = 64 + numbers.next() % (numbers.next() % 8 == 0 ? 6000 : 1200);
    while (bytes.size() < size) bytes.push_back(static_cast<std::uint8_t>(numbers.next() >> 32));
    families = static_cast<unsigned>(numbers.next() >> 20) & allowed;
    if (numbers.next() % 4 == 0) families = allowed;
    arguments = numbers.next();
    for (const char*& features : without) {
      features = kFeatures[numbers.next() % std::size(kFeatures)];
    }
    baseline = numbers.next() % 3 == 0;
  }
  void generate(std::vector<ir::Function>& functions, ir::SimplifyFn simplify = nullptr) const {
    fuzz::ByteSource source(bytes);
    fuzz::generate_program(source, simplify, functions, families);
  }
};

/// The whole program, and what `reduced` makes of it: with the calls that were compared.
void write_finding(const Options& options, std::uint64_t seed, const std::string& what,
                   const std::string& without = {}) {
  const Program program(seed, options.families);
  std::vector<ir::Function> functions;
  program.generate(functions);
  const std::string path = options.out + "/fuzz-" + std::to_string(seed) + ".clif";
  std::printf("seed %llu: %s\n  %s\n", static_cast<unsigned long long>(seed), what.c_str(),
              path.c_str());
  std::fflush(stdout);
  std::string text = fuzz::program_text(functions);
  base::Printer calls;
  for (const auto& args :
       fuzz::argument_sets(functions.back().signature, program.arguments, kArgumentSets)) {
    calls << "; print: " << functions.back().name << '(';
    for (std::size_t i = 0; i < args.size(); ++i) calls << (i == 0 ? "" : ", ") << args[i];
    calls << ")\n";
  }
  text += calls.take();
  const auto write = [&what](const std::string& to, const std::string& content) {
    std::FILE* const file = std::fopen(to.c_str(), "w");
    if (file == nullptr) return;
    std::fprintf(file, "%s; %s\n", content.c_str(), what.c_str());
    std::fclose(file);
  };
  write(path, text);
  if (options.shrink == 0) return;
  alarm(0);  // the questions have their own
  const Result<ir::ParsedFile> file = ir::parse_file(text);
  if (!file) return;
  const std::string small = reduced(*file, {CheckKind::Native, {}, without}, options.shrink);
  if (small.empty()) return;
  write(options.out + "/fuzz-" + std::to_string(seed) + "-small.clif", small);
  std::printf("  small: %zu bytes of %zu\n", small.size(), text.size());
  std::fflush(stdout);
}

void count_unsupported(Progress& progress, const std::string& message) {
  ++progress.unsupported;
  std::string text;
  for (const char c : message.substr(0, sizeof(Progress::Reason::text) - 1)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || text.empty() || text.back() != '#') text += digit ? '#' : c;
  }
  for (Progress::Reason& reason : progress.reasons) {
    if (reason.count == 0) std::memcpy(reason.text, text.c_str(), text.size() + 1);
    if (text == reason.text) {
      ++reason.count;
      return;
    }
  }
}

/// True: nothing found.
bool check(const Options& options, Progress& progress) {
  const std::uint64_t seed = progress.seed;
  const Program program(seed, options.families);
  std::vector<ir::Function> functions;
  const auto found = [&](const std::string& what, const std::string& without = {}) {
    write_finding(options, seed, what, without);
    return false;
  };
  program.generate(functions);
  for (const ir::Function& func : functions) {
    const Result<void> verified = ir::verify(func);
    if (!verified) return found("verifier: " + verified.error().message());
  }
  const fuzz::ArgumentSets sets =
      fuzz::argument_sets(functions.back().signature, program.arguments, kArgumentSets);
  const auto expected = fuzz::try_interpret(functions, sets);
  if (!expected) return found("interpreter: " + expected.error().message());
  std::vector<ir::Function> simplified;
  program.generate(simplified, opt::simplify_while_building);
  for (unsigned way = 0; way < 5; ++way) {
    constexpr unsigned kLevels[] = {0, 1, 2, 2, 0};
    native::JitOptions jit;
    jit.opt_level = kLevels[way];
    jit.check_allocation = true;
    jit.pinned_register = (program.families & fuzz::kPinned) != 0;
    jit.baseline_cpu = way == 3 && program.baseline;
    if (!jit.baseline_cpu && (way == 1 || way == 3))
      jit.without_features = program.without[way / 2];
    if (way == 4) jit.baseline_cpu = !program.baseline;
    ++progress.runs;
    const auto finding =
        fuzz::find_difference(way == 1 || way == 3 ? simplified : functions, sets, *expected, jit);
    if (!finding) continue;
    if (!finding->unsupported) {
      return found(finding->what + (": " + finding->detail),
                   jit.baseline_cpu ? "all" : std::string(jit.without_features));
    }
    count_unsupported(progress, finding->detail);
  }
  return true;
}

/// Until all is done or too much is found; starts a new child after each crash.
void run(const Options& options, Progress& progress) {
  progress.seed = options.seed;
  const std::uint64_t end = options.seed + options.count;
  while (progress.seed < end && progress.findings < options.findings) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      for (; progress.seed < end && progress.findings < options.findings; ++progress.seed) {
        alarm(kSeconds);
        if (!check(options, progress)) ++progress.findings;
        ++progress.programs;
      }
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
      std::perror("hoistdev fuzz");
      return;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ++progress.findings;
    write_finding(options, progress.seed,
                  signal == SIGALRM ? "hangs" : "dies: " + std::string(strsignal(signal)));
    ++progress.programs;
    ++progress.seed;
  }
}

}  // namespace

int fuzz_main(int argc, char** argv) {
  Options options;
  CLI::App app("Random IR programs: the interpreter against native code", "hoistdev fuzz");
  app.add_option("--count", options.count, "programs (1000)");
  app.add_option("--seed", options.seed, "of the first; the next has the next number (1)");
  app.add_option("--families", options.families,
                 "sum of: 1 vectors, 2 i128, 4 atomics, 8 exceptions, 16 f16 and f128, 32 dynamic "
                 "vectors, 64 the pinned register (127)");
  app.add_option("--findings", options.findings, "stop after so many (10)");
  app.add_option("--shrink", options.shrink,
                 "how often to ask at most when a finding is made smaller; 0: leave it (1000)");
  app.add_option("--out", options.out, "directory for programs that show a difference (.)");
  CLI11_PARSE(app, argc, argv);
  void* const memory =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("hoistdev fuzz");
    return 2;
  }
  Progress& progress = *new (memory) Progress();
  run(options, progress);
  std::printf("%llu programs in %llu runs, %u findings; unsupported in %llu runs\n",
              static_cast<unsigned long long>(progress.programs),
              static_cast<unsigned long long>(progress.runs), progress.findings,
              static_cast<unsigned long long>(progress.unsupported));
  std::sort(progress.reasons.begin(), progress.reasons.end(),
            [](const auto& a, const auto& b) { return a.count > b.count; });
  for (const Progress::Reason& reason : progress.reasons) {
    if (reason.count == 0) break;
    std::printf("%10llu  %s\n", static_cast<unsigned long long>(reason.count), reason.text);
  }
  return progress.findings == 0 ? 0 : 1;
}

}  // namespace hoistdev
