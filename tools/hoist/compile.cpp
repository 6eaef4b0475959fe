// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist compile: a module to an image, which `hoist run` starts without compiling.
#include <fmt/core.h>

#include <memory>
#include <vector>

#include "hoist/cli.hpp"
#include "hoist/hoist.hpp"
#include "hoist/limits.hpp"
#include "platform/files.hpp"
#include "platform/private_dir.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::cli {

namespace {

struct CompileCommand {
  std::string file;
  std::string output;
  std::string cpu = "native";
  unsigned threads = 0;
  unsigned opt_level = 2;
  CodeOptions code;
  bool fuel = false;
  bool epoch = false;
  bool interruptible = false;
};

int run(const CompileCommand& options) {
  Config config;
  config.opt_level = static_cast<OptLevel>(options.opt_level);
  config.threads = options.threads;
  config.cpu = options.cpu;
  apply(options.code, config);
  config.fuel = options.fuel;
  config.epoch = options.epoch;
  config.interruptible = options.interruptible;
  if (platform::is_same_file(options.file, options.output)) {
    return fail(
        fmt::format("-o '{}' is the input itself, which the image would replace", options.output));
  }
  auto engine = Engine::create(config);
  if (!engine) return fail(engine.error().message());
  auto bytes =
      platform::read_file(options.file == "-" ? "/dev/stdin" : options.file, wasm::kMaxModuleBytes);
  if (!bytes) return fail(describe(options.file, bytes.error()));
  if (Module::is_image(*bytes)) return fail(options.file + ": it is an image already");

  ProgressLine progress("compiling " + options.file);
  hoist::CompileOptions compile;
  compile.context = &progress;
  compile.on_progress = [](void* context, const CompileProgress& now) {
    static_cast<ProgressLine*>(context)->update(now.functions_done, now.functions);
  };
  auto image = Module::precompile(*engine, *bytes, compile);
  progress.clear();
  if (!image) return fail(describe(options.file, image.error()));
  if (options.output == "-") {
    print({reinterpret_cast<const char*>(image->data()), image->size()});
    return 0;
  }
  auto written = platform::replace_file(options.output, *image, true);
  if (!written) return fail(written.error().message());
  return 0;
}

}  // namespace

void add_compile(CLI::App& app, int& status) {
  const auto options = std::make_shared<CompileCommand>();
  CLI::App* sub = app.add_subcommand("compile", "Compile a module to an image that starts at once");
  sub->footer(
      "hoist compile FILE -o OUT, then hoist run OUT [ARGS...].\n\n"
      "The image is an ELF file that objdump, nm and debuggers read. It is machine code: run only "
      "images\n"
      "that you would also run as programs. It is written completely or not at all. Its settings "
      "have to\n"
      "be those of the run.");
  sub->add_option("FILE", options->file,
                  "Binary WebAssembly or its text form; - is the standard input")
      ->required();
  sub->add_option("-o,--output", options->output, "Where the image goes; - is the standard output")
      ->required()
      ->type_name("OUT");
  sub->add_option(
         "--cpu", options->cpu,
         "native (default): this machine; baseline: any x86-64 with SSE4.1; or features "
         "beyond that: popcnt,avx2; native,-avx512f: this machine without a feature and what "
         "needs it")
      ->type_name("baseline|native|FEATURES");
  sub->add_option("-O,--opt-level", options->opt_level,
                  "0: compile fastest; 1; 2 (default): run fastest")
      ->check(CLI::Range(0u, 2u))
      ->type_name("0|1|2");
  sub->add_option("--threads", options->threads,
                  "Threads that compile; 0 (default) is one per core. The image does not depend on "
                  "it")
      ->check(CLI::Range(0u, 1024u))
      ->type_name("N");
  add_code_options(*sub, options->code);
  sub->add_flag("--fuel", options->fuel, "Code for runs with --fuel");
  sub->add_flag("--interruptible", options->interruptible,
                "Code for runs with --timeout; programs with threads have it anyway");
  sub->add_flag("--epoch", options->epoch,
                "Code for embedders that use epochs (docs/limits.md), and for --timeout");
  sub->callback([options, &status] { status = run(*options); });
}

}  // namespace hoist::cli
