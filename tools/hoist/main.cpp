// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist: the command that users get. One file per subcommand.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

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

int fail(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe += c;
    }
  }
  fmt::print(stderr, "hoist: {}\n", safe);
  return kFailure;
}

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), terminal_(::isatty(2) != 0) {}
ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::update(std::uint64_t done, std::uint64_t total) {
  if (!terminal_ || total == 0) return;
  fmt::print(stderr, "\r\x1b[K{} {}%", what_, done * 100 / total);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

static std::string version_text() {
  const auto engine = Engine::create();
  return fmt::format("hoist {}\nx86-64 code for this machine: {}", hoist::version(),
                     engine ? engine->cpu_features() : engine.error().message());
}

static int run(int argc, char** argv) {
  CLI::App app{
      "Hoist runs WebAssembly: compiles a module to machine code and runs it in a sandbox.",
      "hoist"};
  app.footer(
      "Examples:\n"
      "  hoist run program.wasm input.txt          run a WASI program with arguments\n"
      "  hoist run --dir . program.wasm            let it see this directory\n"
      "  hoist run --invoke add math.wat 2 3       call one function of a module\n"
      "  hoist validate module.wasm                check a module without running it\n"
      "  hoist wast tests/*.wast                   run WebAssembly test scripts\n\n"
      "`hoist SUBCOMMAND --help` tells more about one of them.");
  app.set_version_flag(
      "--version", [] { return version_text(); }, "Print the version and the CPU features in use");
  app.require_subcommand(1);
  int status = 0;
  add_run(app, status);
  add_validate(app, status);
  add_wast(app, status);
  try {
    app.parse(argc, argv);
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
  return hoist::cli::run(argc, argv);
}
