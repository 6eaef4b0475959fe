// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist wast: run WebAssembly test scripts.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "base/text/printable.hpp"
#include "hoist/cli.hpp"
#include "hoist/limits.hpp"
#include "hoist/wast_runner.hpp"
#include "platform/files.hpp"
#include "wasm/text/script_settings.hpp"

namespace hoist::cli {

namespace {

struct WastOptions {
  std::vector<std::string> files;
  unsigned opt_level = 2;
  unsigned threads = 0;
  bool verify = false;
  bool fuel = false;
  bool epoch = false;
  bool interruptible = false;
  bool quiet = false;
  bool messages = false;
  std::string cpu = "native";
  CodeOptions code;
};

struct Totals {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  std::uint64_t unsupported = 0;
  std::map<std::string, std::uint64_t> reasons;
};

/// A directory stands for the scripts in it and below, in order of their names.
void add_scripts(const std::string& path, std::vector<std::string>& out) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    out.push_back(path);
    return;
  }
  std::vector<std::string> found;
  std::filesystem::recursive_directory_iterator it(path, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".wast") found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  out.insert(out.end(), found.begin(), found.end());
}

std::string counts(std::uint64_t passed, std::uint64_t failed, std::uint64_t unsupported) {
  return fmt::format("{} passed, {} failed, {} unsupported", passed, failed, unsupported);
}

/// The engines for the settings that scripts ask for, made when the first one does.
class Engines {
 public:
  explicit Engines(const Config& config) : config_(config) {}

  Result<Engine> get(const wasm::ScriptSettings& settings) {
    Config config = config_;
    // What the command line says counts last.
    config.features = settings.features;
    if (!config_.features.empty()) {
      config.features += (config.features.empty() ? "" : ",") + config_.features;
    }
    config.canonical_nans = config_.canonical_nans || settings.canonical_nans;
    const auto key = std::make_pair(config.features, config.canonical_nans);
    if (const auto found = engines_.find(key); found != engines_.end()) return found->second;
    auto engine = Engine::create(config);
    if (engine) engines_.emplace(key, *engine);
    return engine;
  }

 private:
  const Config& config_;
  std::map<std::pair<std::string, bool>, Engine> engines_;
};

/// False if the file cannot be read.
bool run_file(Engines& engines, const std::string& file, const WastOptions& options,
              ProgressLine& progress, Totals& totals) {
  auto content = platform::read_file(file, std::uint64_t{1} << 30);
  if (!content) {
    progress.clear();
    fail(describe(file, content.error()));
    return false;
  }
  const std::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
  const wasm::Script script = wasm::parse_script(text);
  const wasm::ScriptSettings settings = wasm::script_settings(file, text);
  const auto engine = engines.get(settings);
  if (!engine) {
    progress.clear();
    fail(describe(file, engine.error()));
    return false;
  }
  ScriptRunner runner(*engine, options.messages);
  for (const auto& problem : settings.problems) {
    runner.outcome().failures.push_back({problem.line, problem.message});
  }
  std::size_t reported = 0;
  std::uint64_t done = 0;
  const auto report = [&] {
    const std::vector<ScriptFailure>& failures = runner.outcome().failures;
    if (reported == failures.size()) return;
    progress.clear();
    for (; reported < failures.size(); ++reported) {
      print(fmt::format("{}:{}: {}\n", base::printable(file), failures[reported].line,
                        base::printable(failures[reported].message)));
    }
    std::fflush(stdout);
  };
  report();
  for (const wasm::Command& command : script.commands) {
    runner.run(command);
    report();
    if (++done % 64 == 0) progress.update(done, script.commands.size());
  }
  runner.finish();
  report();
  const ScriptOutcome& outcome = runner.outcome();
  totals.passed += outcome.passed;
  totals.failed += outcome.failures.size();
  totals.unsupported += outcome.unsupported;
  for (const auto& [reason, count] : outcome.reasons) totals.reasons[reason] += count;
  progress.clear();
  if (!options.quiet) {
    print(fmt::format("{}: {}\n", file,
                      counts(outcome.passed, outcome.failures.size(), outcome.unsupported)));
    for (const auto& [reason, count] : outcome.reasons) {
      print(fmt::format("    {:>8} unsupported: {}\n", count, reason));
    }
  }
  return true;
}

int run_scripts(const WastOptions& options) {
  std::vector<std::string> files;
  for (const std::string& path : options.files) add_scripts(path, files);
  if (files.empty()) return fail("no scripts (.wast) found in the directories given");
  Config config;
  config.opt_level = static_cast<OptLevel>(options.opt_level);
  config.threads = options.threads;
  config.verify_ir = config.check_allocation = options.verify;
  apply(options.code, config);
  config.cpu = options.cpu;
  config.fuel = options.fuel;
  config.epoch = options.epoch;
  config.interruptible = options.interruptible;
  if (auto engine = Engine::create(config); !engine) return fail(engine.error().message());
  Engines engines(config);

  Totals totals;
  bool readable = true;
  for (std::size_t i = 0; i < files.size(); ++i) {
    ProgressLine progress(fmt::format("[{}/{}] {}", i + 1, files.size(), files[i]));
    progress.update(0, 1);
    readable &= run_file(engines, files[i], options, progress, totals);
  }
  print(fmt::format("{} file{}: {}\n", files.size(), files.size() == 1 ? "" : "s",
                    counts(totals.passed, totals.failed, totals.unsupported)));
  if (!totals.reasons.empty()) {
    print("unsupported, by what is missing:\n");
    for (const auto& [reason, count] : totals.reasons)
      print(fmt::format("{:>8}  {}\n", count, reason));
  }
  std::fflush(stdout);
  return totals.failed == 0 && readable ? 0 : kFailure;
}

}  // namespace

void add_wast(CLI::App& app, int& status) {
  const auto shared = std::make_shared<WastOptions>();  // lives as long as the callback
  WastOptions& options = *shared;
  CLI::App* sub = app.add_subcommand("wast", "Run WebAssembly test scripts (.wast)");
  sub->footer(
      "Prints one line per failure (FILE:LINE: MESSAGE), counts per file and in total, and what "
      "the\n"
      "unsupported commands need that this build does not have. A directory stands for all "
      "scripts\n"
      "in it. Modules may import the host module \"spectest\" of the official test suite, whose\n"
      "folders of proposals run with their own features. Lines \";;! key = value\" at the "
      "beginning\n"
      "of a script set what it needs (features, nan_canonicalization).\n\n"
      "The exit status is 1 if anything failed; unsupported commands are no failure.");
  sub->add_option("FILE", options.files, "Scripts, or directories of scripts")->required();
  sub->add_option("--opt-level", options.opt_level,
                  "0: compile fastest; 1; 2 (default): run fastest")
      ->check(CLI::Range(0u, 2u));
  sub->add_option("--threads", options.threads, "Threads that compile; 0 (default) is one per core")
      ->check(CLI::Range(0u, 1024u));
  sub->add_flag("--verify", options.verify, "Check the compiler's work at every stage (slow)");
  sub->add_option("--cpu", options.cpu,
                  "As for hoist compile; native,-FEATURE: this CPU without a feature")
      ->type_name("baseline|native|FEATURES");
  add_code_options(*sub, options.code);
  sub->add_flag("--fuel", options.fuel, "Let code count fuel, of which there is plenty");
  sub->add_flag("--epoch", options.epoch, "Let code look at the epoch");
  sub->add_flag("--interruptible", options.interruptible,
                "Let code look whether it is interrupted");
  sub->add_flag("--messages", options.messages,
                "What rejects a module must contain the message that the script expects");
  sub->add_flag("-q,--quiet", options.quiet, "Only failures and the total");
  sub->callback([shared, &status] { status = run_scripts(*shared); });
}

}  // namespace hoist::cli
