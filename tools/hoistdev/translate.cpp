// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev translate: WebAssembly (binary or text) to IR, as text or just counted and timed.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "hoistdev/command.hpp"
#include "hoistdev/read_module.hpp"
#include "image/layout/builtin.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"
#include "opt/rules/rules.hpp"
#include "platform/clocks.hpp"
#include "translate/calls/trampolines.hpp"
#include "translate/translator.hpp"
#include "wasm/format/module.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

struct Options {
  std::string file;
  int function = -1;
  unsigned opt_level = 2;
  bool verify = false;
  bool stats = false;
  bool trampolines = false;
};

struct Counts {
  std::uint64_t translate_ns = 0, optimise_ns = 0, insts = 0, optimised_insts = 0, blocks = 0,
                params = 0;
};

std::uint64_t count_insts(const ir::Function& func) {
  std::uint64_t count = 0;
  for (ir::Block b = func.first_block(); b.is_some(); b = func.next_block(b)) {
    for (ir::Inst i = func.first_inst(b); i.is_some(); i = func.next_inst(i)) ++count;
  }
  return count;
}

void print_stats(const Options& options, const wasm::Module& module, const Counts& counts,
                 const opt::OptContext& opt_context) {
  const double translate_ms = static_cast<double>(counts.translate_ns) / 1e6;
  const double optimise_ms = static_cast<double>(counts.optimise_ns) / 1e6;
  std::printf("functions %u, code section %u bytes\n", module.num_defined_functions(),
              module.code_section.size);
  std::printf("translate %.1f ms: %llu instructions, %llu blocks, %llu block parameters\n",
              translate_ms, static_cast<unsigned long long>(counts.insts),
              static_cast<unsigned long long>(counts.blocks),
              static_cast<unsigned long long>(counts.params));
  if (options.opt_level < 2) return;
  std::printf("optimise  %.1f ms: %llu instructions\n", optimise_ms,
              static_cast<unsigned long long>(counts.optimised_insts));
  for (unsigned i = 0; i < opt::kPassCount; ++i) {
    const auto pass = static_cast<opt::Pass>(i);
    std::printf("  %-14s %llu changes\n", opt::info(pass).text,
                static_cast<unsigned long long>(opt_context.changes(pass)));
  }
}

void print_function(const ir::Function& func) {
  const std::string text = ir::to_string(func);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

int print_trampolines(const wasm::Module& module) {
  ir::Function func;
  ir::FunctionBuilder builder(func);
  for (std::uint32_t i = 0; i < module.types.size(); ++i) {
    translate::exit_trampoline(module.types[i], i, builder, func);
    print_function(func);
  }
  for (std::uint32_t i = 0; i < image::kBuiltinCount; ++i) {
    translate::builtin_trampoline(static_cast<image::Builtin>(i), builder, func);
    print_function(func);
  }
  return 0;
}

int translate_module(const Options& options, const wasm::Module& module) {
  const translate::ModuleEnv env(module);
  translate::Translator translator(env,
                                   options.opt_level == 0 ? nullptr : opt::simplify_while_building);
  ir::Function func;
  opt::OptContext opt_context;
  Counts counts;
  for (std::uint32_t i = module.num_imported_functions; i < module.num_functions(); ++i) {
    if (options.function >= 0 && static_cast<std::uint32_t>(options.function) != i) continue;
    const std::uint64_t start = platform::now_ns(platform::Clock::ThreadCpu);
    if (const auto done = translator.translate(i, func); !done)
      return report(options.file, done.error());
    const std::uint64_t middle = platform::now_ns(platform::Clock::ThreadCpu);
    counts.translate_ns += middle - start;
    if (options.verify) {
      if (const auto fine = ir::verify(func); !fine)
        return report(options.file + ": function " + std::to_string(i), fine.error());
    }
    if (options.stats) {
      counts.insts += count_insts(func);
      for (ir::Block b = func.first_block(); b.is_some(); b = func.next_block(b)) {
        ++counts.blocks;
        counts.params += func.block_params(b).size();
      }
    }
    if (options.opt_level >= 2) {
      const std::uint64_t before = platform::now_ns(platform::Clock::ThreadCpu);
      opt::optimise(func, opt_context);
      counts.optimise_ns += platform::now_ns(platform::Clock::ThreadCpu) - before;
      if (options.verify) {
        if (const auto fine = ir::verify(func); !fine)
          return report(options.file + ": function " + std::to_string(i), fine.error());
      }
    }
    if (options.stats) {
      counts.optimised_insts += count_insts(func);
    } else {
      print_function(func);
    }
  }
  if (options.stats) print_stats(options, module, counts, opt_context);
  return 0;
}

}  // namespace

int translate_main(int argc, char** argv) {
  Options options;
  CLI::App app("WebAssembly to IR, as CLIF text", "hoistdev translate");
  app.add_option("FILE", options.file, "a module, binary or text")->required();
  app.add_option("--function", options.function, "only this function (imports count)");
  app.add_option("--opt-level", options.opt_level,
                 "0: as translated; 1: with rules while building; 2: and the mid-end")
      ->check(CLI::Range(0, 2));
  app.add_flag("--verify", options.verify, "verify each function");
  app.add_flag("--stats", options.stats, "print counts and times instead of the IR");
  app.add_flag("--trampolines", options.trampolines, "print the trampolines of the module's types");
  CLI11_PARSE(app, argc, argv);
  const auto module = read_module(options.file);
  if (!module) return report(options.file, module.error());
  return options.trampolines ? print_trampolines(*module) : translate_module(options, *module);
}

}  // namespace hoistdev
