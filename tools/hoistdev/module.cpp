// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev module: a WebAssembly module through the whole compiler; counts and times, or one
/// function in all its forms.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "compiler/compile_module.hpp"
#include "hoistdev/command.hpp"
#include "hoistdev/compile.hpp"
#include "hoistdev/read_module.hpp"
#include "ir/text/printer.hpp"
#include "isa/registry.hpp"
#include "opt/pipeline.hpp"
#include "opt/rules/rules.hpp"
#include "platform/clocks.hpp"
#include "translate/translator.hpp"
#include "wasm/format/module.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

struct Options {
  std::string file;
  int function = -1;
  unsigned opt_level = 2;
  unsigned threads = 1;
  unsigned repeat = 1;
  unsigned features = 0;
  bool verify = false;
  bool check = false;
};

double ms(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

void print_stats(const compiler::CompileStats& stats) {
  const double mb = static_cast<double>(stats.code_section_bytes) / 1e6;
  std::printf("%llu functions, %llu trampolines; code section %.2f MB, machine code %.2f MB\n",
              static_cast<unsigned long long>(stats.functions),
              static_cast<unsigned long long>(stats.trampolines), mb,
              static_cast<double>(stats.text_bytes) / 1e6);
  std::printf(
      "wall %.0f ms, CPU %.0f ms on %u threads: %.2f MB per CPU second, peak memory %.0f MiB\n",
      ms(stats.wall_ns), ms(stats.cpu_ns), stats.threads, mb / (ms(stats.cpu_ns) / 1e3),
      static_cast<double>(stats.peak_rss_bytes) / (1024.0 * 1024.0));
  std::printf(
      "translate %.2f, optimise %.2f, lower %.2f, regalloc %.2f, emit %.2f, link %.2f ms CPU\n",
      ms(stats.translate_ns), ms(stats.optimise_ns), ms(stats.lower_ns), ms(stats.regalloc_ns),
      ms(stats.emit_ns), ms(stats.link_ns));
}

Result<void> print_function(const Options& options, const wasm::Module& module) {
  const auto func = static_cast<std::uint32_t>(options.function);
  if (func < module.num_imported_functions || func >= module.num_functions()) {
    return Error(ErrorKind::BadArgument, "no defined function " + std::to_string(func) +
                                             ", they are " +
                                             std::to_string(module.num_imported_functions) +
                                             " to " + std::to_string(module.num_functions() - 1));
  }
  const translate::ModuleEnv env(module);
  translate::Translator translator(env,
                                   options.opt_level == 0 ? nullptr : opt::simplify_while_building);
  ir::Function ir;
  HOIST_TRY_VOID(translator.translate(func, ir));
  HOIST_TRY(
      const CompileText text,
      compile_to_text(ir, options.opt_level, isa::baseline_features("x86_64") | options.features));
  if (options.opt_level > 0) {
    opt::OptContext context;
    opt::optimise(ir, context);
  }
  std::printf("%s\n; lowered\n%s\n; allocated\n%s\n; assembly\n%s", ir::to_string(ir).c_str(),
              text.lowered.c_str(), text.allocated.c_str(), text.assembly.c_str());
  return {};
}

Result<void> compile(const Options& options, const wasm::Module& module) {
  HOIST_TRY(const auto target,
            isa::make_target("x86_64", isa::baseline_features("x86_64") | options.features));
  compiler::CompilerOptions compiler_options;
  compiler_options.target = target.get();
  compiler_options.opt_level = options.opt_level;
  compiler_options.threads = options.threads;
  compiler_options.verify = options.verify;
  compiler_options.check_allocation = options.check;
  compiler_options.stage_times = true;
  for (unsigned i = 0; i < options.repeat; ++i) {
    compiler::CompileStats stats;
    HOIST_TRY_VOID(compiler::compile_module(module, compiler_options, &stats));
    print_stats(stats);
  }
  return {};
}

}  // namespace

int module_main(int argc, char** argv) {
  Options options;
  CLI::App app("Compile a WebAssembly module", "hoistdev module");
  app.add_option("FILE", options.file, "a module, binary or text")->required();
  app.add_option("--function", options.function,
                 "print this function's IR, machine IR and assembly (imports count)");
  app.add_option("--opt-level", options.opt_level, "0, 1 or 2")->check(CLI::Range(0, 2));
  app.add_option("--threads", options.threads, "threads; 0 is one per core, the default is 1");
  app.add_option("--repeat", options.repeat, "compile this often");
  app.add_option("--features", options.features, "CPU feature bits beyond the baseline");
  app.add_flag("--verify", options.verify, "verify the IR after each pass");
  app.add_flag("--check", options.check, "prove each register allocation");
  CLI11_PARSE(app, argc, argv);
  const auto module = read_module(options.file);
  if (!module) return report(options.file, module.error());
  const auto done =
      options.function >= 0 ? print_function(options, *module) : compile(options, *module);
  return done ? 0 : report(options.file, done.error());
}

}  // namespace hoistdev
