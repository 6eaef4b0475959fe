// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist: the command that users get. One file per subcommand.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/text/printable.hpp"
#include "hoist/cli.hpp"
#include "hoist/engine.hpp"

namespace hoist::cli {

std::string describe(const std::string& file, const Error& error) {
  if (error.line() != 0)
    return fmt::format("{}:{}:{}: {}", file, error.line(), error.column(), error.message());
  if (error.has_offset())
    return fmt::format("{}: {} (at offset 0x{:x})", file, error.message(), error.offset());
  return fmt::format("{}: {}", file, error.message());
}

void print(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
}

void note(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

int fail(const std::string& text) {
  note(fmt::format("hoist: {}\n", base::printable(text)));
  return kFailure;
}

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), terminal_(::isatty(2) != 0) {}
ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::update(std::uint64_t done, std::uint64_t total) {
  if (!terminal_ || total == 0) return;
  note(fmt::format("\r\x1b[K{} {}%", base::printable(what_, 200), done * 100 / total));
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  note("\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

static std::string version_text() {
  const auto engine = Engine::create();
  return fmt::format("hoist {}\nx86-64 code for this machine: {}", hoist::version(),
                     engine ? engine->cpu_features() : engine.error().message());
}

/// A standard stream that the caller closed must not become some file that is opened later: its
/// number is taken by a descriptor on which every access fails, as on a closed one (WASI sees by
/// O_PATH that it is none), and which is no file that /dev/stdout could open again.
static void occupy_standard_streams() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1) static_cast<void>(::open("/", O_PATH));
  }
}

/// What was printed must have arrived: a full disk is no success.
static int finish(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  const int failed = fail(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  return status == 0 ? failed : status;
}

/// An option that is given is given a value: `--timeout "$UNSET"` must not run without a limit.
static void refuse_empty_values(CLI::App& app) {
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (CLI::Option* option : sub->get_options()) {
      if (!option->nonpositional()) continue;
      option->check([](const std::string& value) {
        return value.empty() ? std::string("the value is empty") : std::string();
      });
    }
  }
}

static const CLI::App* find_subcommand(const CLI::App& app, const std::string& name) {
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* sub : app.get_subcommands(all)) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

/// The "--" that ends the options of a command that runs a program, or `argc`: CLI11 would take the
/// words behind it apart.
static int find_marker(const CLI::App& app, int argc, char** argv) {
  const CLI::App* sub = argc < 2 ? nullptr : find_subcommand(app, argv[1]);
  if (sub == nullptr || !sub->get_prefix_command()) return argc;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return i;
    if (word.size() < 2 || word[0] != '-') return argc;  // FILE
    const CLI::Option* option = sub->get_option_no_throw(word);
    if (option != nullptr && option->get_expected_min() > 0) ++i;  // its value
  }
  return argc;
}

/// "--profile= FILE": CLI11 would take FILE for the value. Empty: there is no such option.
static std::string option_without_value(const CLI::App& app, int marker, char** argv) {
  const CLI::App* sub = marker < 2 ? nullptr : find_subcommand(app, argv[1]);
  if (sub == nullptr) return {};
  for (int i = 2; i < marker; ++i) {
    std::string word = argv[i];
    if (word.size() < 2 || word[0] != '-') {
      if (sub->get_prefix_command()) return {};  // FILE: what follows is the program's
      continue;
    }
    if (word.starts_with("--") && word.ends_with('=')) {
      word.pop_back();
      if (sub->get_option_no_throw(word) != nullptr) return word;
    }
    const CLI::Option* option = sub->get_option_no_throw(word);
    if (option != nullptr && option->get_expected_min() > 0) ++i;  // its value
  }
  return {};
}

static int run(int argc, char** argv) {
  // A file-size limit is an error of the write that hits it, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{
      "Hoist runs WebAssembly: compiles a module to machine code and runs it in a sandbox.",
      "hoist"};
  app.footer(
      "Examples:\n"
      "  hoist run program.wasm one two            run a WASI program with arguments\n"
      "  hoist run --dir . program.wasm input.txt  let it see this directory\n"
      "  hoist run --invoke add math.wat 2 3       call one function of a module\n"
      "  hoist profile program.wasm one two        show where its time goes\n"
      "  hoist compile program.wasm -o program     compile now, start at once later\n"
      "  hoist objdump program.wasm                see the machine code\n"
      "  hoist validate module.wasm                check a module without running it\n"
      "  hoist print program.wasm                  see the module as text\n"
      "  hoist wast tests/*.wast                   run WebAssembly test scripts\n\n"
      "`hoist SUBCOMMAND --help` tells more about one of them.");
  app.set_version_flag(
      "--version", [] { return version_text(); }, "Print the version and the CPU features in use");
  app.require_subcommand(1);
  int status = 0;
  AfterMarker after;
  add_run(app, after, status);
  add_profile(app, after, status);
  add_compile(app, status);
  add_objdump(app, status);
  add_cache(app, status);
  add_validate(app, status);
  add_print(app, status);
  add_wast(app, status);
  refuse_empty_values(app);
  // Nothing of Hoist's own stands before the subcommand but --help and --version.
  if (argc > 1 && std::string_view(argv[1]) == "--") ++argv, --argc;
  const std::string first = argc > 1 ? argv[1] : "-";
  bool known = first.starts_with('-');
  std::string names;
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* sub : std::as_const(app).get_subcommands(all)) {
    known |= sub->get_name() == first;
    names += (names.empty() ? "" : ", ") + sub->get_name();
  }
  if (!known) {
    return fail(fmt::format("there is no subcommand '{}': it is one of {} (see hoist --help)",
                            first, names));
  }
  const int marker = find_marker(app, argc, argv);
  if (const std::string option = option_without_value(app, marker, argv); !option.empty()) {
    return fail(fmt::format("{}: the value is empty (see hoist {} --help)", option, first));
  }
  if (marker < argc) {
    after.is_there = true;
    after.words.assign(argv + marker + 1, argv + argc);
  }
  try {
    app.parse(marker, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    std::string hint = "see hoist --help";
    for (const CLI::App* sub : app.get_subcommands())
      hint = fmt::format("see hoist {} --help", sub->get_name());
    return fail(fmt::format("{} ({})", error.what(), hint));
  }
  return status;
}

}  // namespace hoist::cli

int main(int argc, char** argv) {
  hoist::cli::occupy_standard_streams();
  return hoist::cli::finish(hoist::cli::run(argc, argv));
}
