// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev filetest: runs test files on all cores and prints failures and counts.
#include "hoistdev/filetest.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "hoistdev/command.hpp"
#include "hoistdev/filetest_settings.hpp"

namespace hoistdev {

namespace {

std::vector<std::string> find_files(const std::vector<std::string>& paths, bool& ok) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error)) {
        if (entry.path().extension() == ".clif") files.push_back(entry.path().string());
      }
    } else if (std::filesystem::is_regular_file(path, error)) {
      files.push_back(path);
    } else {
      std::fprintf(stderr, "hoistdev filetest: %s is no file or directory\n", path.c_str());
      ok = false;
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

struct Counts {
  unsigned by_status[4] = {};
  unsigned directives = 0;
  std::map<std::string, unsigned> reasons;  // of what did not run
};

void print_summary(const std::map<std::string, Counts>& by_command, bool with_reasons) {
  std::printf("%-16s %7s %7s %12s %8s %11s\n", "command", "passed", "failed", "unsupported",
              "skipped", "directives");
  for (const auto& [command, counts] : by_command) {
    std::printf("%-16s %7u %7u %12u %8u %11u\n", command.c_str(), counts.by_status[0],
                counts.by_status[1], counts.by_status[2], counts.by_status[3], counts.directives);
  }
  if (!with_reasons) return;
  for (const auto& [command, counts] : by_command) {
    std::vector<std::pair<unsigned, std::string>> sorted;
    for (const auto& [reason, count] : counts.reasons) sorted.emplace_back(count, reason);
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [count, reason] : sorted) {
      std::printf("  %-14s %5u  %s\n", command.c_str(), count, reason.c_str());
    }
  }
}

}  // namespace

int filetest_main(int argc, char** argv) {
  CLI::App app("Runs test files of CLIF text (docs/testing.md)", "hoistdev filetest");
  std::vector<std::string> paths;
  FileTestOptions options;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  bool reasons = false;
  bool list_flags = false;
  app.add_option("paths", paths, "files, or directories to search for .clif files");
  app.add_option("--command", options.only, "only this command of each file");
  app.add_option("--opt-level", options.opt_level, "for run: 0, 1 or 2 instead of the file's")
      ->check(CLI::Range(0, 2));
  app.add_option("--without", options.without,
                 "for run: CPU features not to use (\"avx2 fma\"), or \"all\" above the baseline");
  app.add_option("--threads", threads, "number of threads")->check(CLI::Range(1u, 256u));
  app.add_flag("--differential", options.differential,
               "run: also interpret; both must satisfy each directive and agree");
  app.add_flag("--strict", options.strict,
               "optimize, alias-analysis, compile, unwind, safepoint: the text must match too "
               "(without: counted apart, since it depends on the optimiser and compiler)");
  app.add_flag("--bless", options.bless,
               "write what was found in place of the expected text (precise-output, and blocks of "
               "literal sameln:/nextln: lines)");
  app.add_flag("--flags", list_flags, "list the flags of set lines and what they do");
  app.add_flag("--reasons", reasons, "list why files were unsupported or skipped");
  CLI11_PARSE(app, argc, argv);

  if (list_flags) {
    std::fputs(flags_text().c_str(), stdout);
    return 0;
  }
  if (paths.empty()) {
    std::fputs("hoistdev filetest: no files or directories given\n", stderr);
    return 1;
  }
  bool ok = true;
  const std::vector<std::string> files = find_files(paths, ok);
  std::vector<FileReport> reports(files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      std::ifstream in(files[i], std::ios::binary);
      std::stringstream text;
      text << in.rdbuf();
      reports[i] = run_file(text.str(), options);
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < std::min<std::size_t>(threads, files.size()); ++i)
    pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();

  std::map<std::string, Counts> by_command;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const CommandReport& report : reports[i].commands) {
      Counts& counts = by_command[report.command];
      ++counts.by_status[static_cast<unsigned>(report.status)];
      counts.directives += report.directives;
      if (report.status == Status::Failed) {
        ok = false;
        std::printf("FAIL %s: %s:\n    %s\n", files[i].c_str(), report.command.c_str(),
                    report.reason.c_str());
      } else if (report.status != Status::Passed) {
        ++counts.reasons[report.reason];
      }
    }
  }
  std::size_t blessed = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!reports[i].blessed) continue;
    std::ofstream file(files[i], std::ios::binary | std::ios::trunc);
    file << *reports[i].blessed;
    if (!file.flush()) {
      std::fprintf(stderr, "hoistdev filetest: cannot write %s\n", files[i].c_str());
      ok = false;
    }
    ++blessed;
  }
  std::printf("%zu files\n", files.size());
  if (options.bless) std::printf("%zu files changed\n", blessed);
  print_summary(by_command, reasons);
  return ok ? 0 : 1;
}

}  // namespace hoistdev
