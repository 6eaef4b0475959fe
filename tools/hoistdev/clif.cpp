// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// hoistdev clif: verifies a CLIF file, and prints it, optimises, compiles or runs it.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "hoistdev/command.hpp"
#include "hoistdev/compile.hpp"
#include "hoistdev/filetest_native.hpp"
#include "hoistdev/filetest_run.hpp"
#include "hoistdev/program_check.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

/// All violations of all functions.
bool verify_all(const ir::ParsedFile& file, const std::string& path) {
  bool fine = true;
  ir::Verifier verifier;
  for (const ir::ParsedFunction& f : file.functions) {
    base::Printer name;
    name << f.func.name;
    for (const ir::VerifierError& error : verifier.run(f.func)) {
      base::Printer where;
      where << error.where;
      std::fprintf(stderr, "%s: %s: %s: %s\n", path.c_str(), std::string(name.view()).c_str(),
                   where.take().c_str(), error.message.c_str());
      fine = false;
    }
  }
  return fine;
}

int compile_all(const ir::ParsedFile& file, unsigned level) {
  int status = 0;
  for (const ir::ParsedFunction& f : file.functions) {
    base::Printer name;
    name << f.func.name;
    const Result<CompileText> text =
        compile_to_text(f.func, level, features_of(file), pins_register(file));
    std::printf("function %s\n%s\n", std::string(name.view()).c_str(),
                text ? text->assembly.c_str() : text.error().message().c_str());
    if (!text) status = 1;
  }
  return status;
}

/// Runs `call`, such as "%f(1, 2)", interpreted and natively.
int run_call(const ir::ParsedFile& file, const std::string& call, unsigned level) {
  const auto directive = parse_run_directive("; print: " + call, 0);
  if (!directive || !*directive) {
    std::fprintf(stderr, "hoistdev clif: expected a call such as %%f(1, 2), found %s\n",
                 call.c_str());
    return 1;
  }
  std::size_t index = 0;
  while (index < file.functions.size() &&
         file.functions[index].func.name.text != (*directive)->function) {
    ++index;
  }
  if (index == file.functions.size()) {
    std::fprintf(stderr, "hoistdev clif: no function %%%s\n", (*directive)->function.c_str());
    return 1;
  }
  const auto args = parse_values((*directive)->args, file.functions[index].func.signature.params);
  if (!args) {
    std::fprintf(stderr, "hoistdev clif: %s\n", args.error().message().c_str());
    return 1;
  }
  ir::Interpreter interpreter;
  for (const ir::ParsedFunction& f : file.functions) interpreter.add_function(f.func);
  const auto interpreted = interpreter.run(file.functions[index].func, *args);
  std::printf("interpreted: %s\n", interpreted ? outcome_text(*interpreted).c_str()
                                               : interpreted.error().message().c_str());
  std::fflush(stdout);
  const auto code = NativeFile::compile(file, level);
  if (!code) {
    std::printf("native: %s\n", code.error().message().c_str());
    return 1;
  }
  const auto native = (*code)->run(index, *args);
  std::printf("native: %s\n",
              native ? outcome_text(*native).c_str() : native.error().message().c_str());
  return interpreted && native && same_outcome(*interpreted, *native) ? 0 : 1;
}

}  // namespace

int clif_main(int argc, char** argv) {
  CLI::App app("Verifies a CLIF file; then does what the options say.", "hoistdev clif");
  std::string path;
  std::string call;
  bool print = false, optimise = false, compile = false;
  unsigned level = 2;
  app.add_option("file", path, "CLIF text")->required();
  app.add_flag("--print", print, "print the functions");
  app.add_flag("--optimize", optimise, "run the mid-end and print the functions");
  app.add_flag("--compile", compile, "compile for x86_64 and print the disassembly");
  app.add_option("--run", call,
                 "call \"%f(1, 2)\", interpreted and natively; status 1 if they differ");
  app.add_option("-O,--opt-level", level, "for --compile and --run: 0, 1 or 2")
      ->check(CLI::Range(0, 2));
  CLI11_PARSE(app, argc, argv);

  const std::optional<ir::ParsedFile> file = read_clif(path);
  if (!file) return 1;
  if (!verify_all(*file, path)) return 1;
  opt::OptContext context;
  for (const ir::ParsedFunction& f : file->functions) {
    if (print) std::printf("%s\n", ir::to_string(f.func).c_str());
    if (!optimise) continue;
    ir::Function func = f.func;
    opt::optimise(func, context);
    const std::string after = ir::to_string(func);
    std::printf("%s\n", after.c_str());
    if (const Result<void> fine = ir::verify(func); !fine) {
      std::fprintf(stderr, "hoistdev clif: after the mid-end: %s\n",
                   fine.error().message().c_str());
      return 1;
    }
  }
  if (compile) {
    if (const int status = compile_all(*file, level); status != 0) return status;
  }
  return call.empty() ? 0 : run_call(*file, call, level);
}

}  // namespace hoistdev
