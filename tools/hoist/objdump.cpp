// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist objdump: the machine code of a module or of an image, with names, wasm offsets and traps.
#include <fmt/core.h>

#include <charconv>
#include <memory>
#include <optional>

#include "base/text/printable.hpp"
#include "demangle/demangle.hpp"
#include "hoist/cli.hpp"
#include "hoist/disassembly.hpp"
#include "hoist/hoist.hpp"
#include "hoist/limits.hpp"
#include "hoist/profile.hpp"
#include "image/image_open.hpp"
#include "ir/text/printer.hpp"
#include "opt/pipeline.hpp"
#include "opt/rules/rules.hpp"
#include "platform/cpu_features.hpp"
#include "platform/files.hpp"
#include "platform/pages.hpp"
#include "platform/private_dir.hpp"
#include "runtime/engine/image_check.hpp"
#include "translate/translator.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/feature_list.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/used_features.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist::cli {

namespace {

struct ObjdumpCommand {
  std::string file;
  std::string function;
  std::string cpu = "native";
  unsigned opt_level = 2;
  unsigned threads = 0;
  bool ir = false;
  std::string demangle = "on";
  bool has_code_options = false;  // what decides how a module is compiled was given
  CodeOptions code;
};

struct Input {
  image::Image image;
  wasm::Module module;
  bool was_image = false;
};

Result<std::vector<std::uint8_t>> compiled(const ObjdumpCommand& options,
                                           std::span<const std::uint8_t> bytes) {
  Config config;
  config.opt_level = static_cast<OptLevel>(options.opt_level);
  config.threads = options.threads;
  config.cpu = options.cpu;
  apply(options.code, config);
  auto engine = Engine::create(config);
  if (!engine) return std::move(engine).error();
  return Module::precompile(*engine, bytes);
}

Error compiled_already() {
  return {ErrorKind::BadArgument,
          "it is an image, compiled already: options for compiling have no effect"};
}

Result<Input> read_input(const ObjdumpCommand& options) {
  Input out;
  const std::string path = options.file == "-" ? "/dev/stdin" : options.file;
  out.was_image = platform::begins_like(path, Module::is_image);
  std::shared_ptr<const void> owner;
  std::span<const std::uint8_t> bytes;
  if (out.was_image) {
    if (options.has_code_options) return compiled_already();
    auto mapped = platform::MappedFile::open(path);
    if (!mapped) return std::move(mapped).error();
    auto file = std::make_shared<const platform::MappedFile>(*std::move(mapped));
    bytes = {file->data(), file->size()};
    owner = std::move(file);
  } else {
    auto read = platform::read_file(path, wasm::kMaxModuleBytes);
    // A pipe tells only now.
    out.was_image = read && Module::is_image(*read);
    if (out.was_image && options.has_code_options) return compiled_already();
    if (read && !out.was_image) read = compiled(options, *read);
    if (!read) return std::move(read).error();
    auto image = std::make_shared<const std::vector<std::uint8_t>>(*std::move(read));
    bytes = *image;
    owner = std::move(image);
  }
  auto image = image::open_image(bytes, owner);
  if (!image) return std::move(image).error();
  out.image = *std::move(image);
  auto module = wasm::decode(wasm::ModuleBytes(owner, out.image.section(image::kModuleSection)));
  if (!module) return std::move(module).error();
  out.module = *std::move(module);
  auto valid = wasm::validate_module(out.module);
  if (!valid) return std::move(valid).error();
  valid = runtime::check_image(out.module, out.image);
  if (!valid) return std::move(valid).error();
  return out;
}

/// The IR of functions as the code generator gets it.
class IrPrinter {
 public:
  IrPrinter(const Input& input, unsigned opt_level)
      : env_(input.module, input.image.settings()),
        translator_(env_, opt_level == 0 ? nullptr : opt::simplify_while_building),
        opt_level_(opt_level) {
    env_.has_fma =
        platform::CpuFeatures::from_bits(env_.settings.cpu_features).has(platform::CpuFeature::Fma);
  }

  std::string operator()(std::uint32_t func) {
    if (const auto done = translator_.translate(func, func_); !done) {
      return fmt::format("; {}\n", done.error().message());
    }
    if (opt_level_ != 0) opt::optimise(func_, context_);
    return ir::to_string(func_);
  }

 private:
  translate::ModuleEnv env_;
  translate::Translator translator_;
  opt::OptContext context_;
  ir::Function func_;
  unsigned opt_level_;
};

void print_head(const ObjdumpCommand& options, const Input& input) {
  const image::CodeSettings settings = input.image.settings();
  const std::string used = wasm::switchable_names(wasm::bits_of(wasm::used_features(
      input.module.bytes, wasm::features_of_bits(input.image.language_features()))));
  print(fmt::format(
      "{}: code for {} with {}; opt level {}{}{}{}{}{}{}{}; {} functions, {} bytes of code; the "
      "module uses {}\n",
      base::printable(options.file), input.image.target(),
      platform::CpuFeatures::from_bits(settings.cpu_features).to_string(), settings.opt_level,
      settings.signals ? "" : ", no signals", settings.explicit_bounds ? ", bounds checks" : "",
      settings.fuel ? ", fuel" : "", settings.epoch ? ", epochs" : "",
      settings.interrupts ? ", interruptible" : "",
      settings.canonical_nans ? ", canonical NaNs" : "",
      settings.deterministic_relaxed ? ", deterministic relaxed SIMD" : "",
      input.image.functions().size(), input.image.text().size(),
      used.empty() ? "no features" : used));
}

/// By name, or by the index of a function of the module.
bool is_wanted(const std::string& wanted, image::FuncKey key, const std::string& name) {
  if (wanted.empty() || wanted == name) return true;
  std::uint32_t index = 0;
  const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  return code == std::errc() && end == wanted.data() + wanted.size() &&
         key.kind() == image::FuncKind::WasmFunction && key.index() == index;
}

int run(const ObjdumpCommand& options) {
  auto input = read_input(options);
  if (!input) return fail(describe(options.file, input.error()));
  if (options.ir && input->was_image) {
    return fail(options.file + ": an image holds no IR: --ir needs the WebAssembly file");
  }
  const runtime::SymbolNames names(input->module);
  const bool raw = options.demangle == "off";
  const Disassembler disassembler(input->image, names, raw);
  std::optional<IrPrinter> ir;
  if (options.ir) ir.emplace(*input, options.opt_level);
  print_head(options, *input);
  bool found = false;
  for (const image::FunctionEntry& entry : input->image.functions()) {
    const std::string name = names(entry.key);
    if (!is_wanted(options.function, entry.key, name) &&
        (raw || options.function != demangle::demangled(name))) {
      continue;
    }
    found = true;
    std::string text = "\n";
    if (ir && entry.key.kind() == image::FuncKind::WasmFunction) {
      text += (*ir)(entry.key.index()) + "\n";
    }
    disassembler.function(entry, text);
    print(text);
  }
  if (found) return 0;
  if (options.function.empty()) return 0;
  return fail(fmt::format("{}: it has no function '{}'", options.file, options.function));
}

}  // namespace

void add_objdump(CLI::App& app, int& status) {
  const auto options = std::make_shared<ObjdumpCommand>();
  CLI::App* sub = app.add_subcommand("objdump", "Show the machine code of a module or an image");
  sub->footer(
      "One line per instruction: address, @ offset in the module where it changes, instruction; "
      "then what\n"
      "it refers to and why it may trap. Addresses are those of the image. A module is compiled "
      "first.");
  sub->add_option("FILE", options->file,
                  "WebAssembly, its text form, or an image; - is the standard input")
      ->required();
  sub->add_option("--function", options->function, "Only functions of this name or index")
      ->type_name("NAME|INDEX");
  sub->add_flag("--ir", options->ir, "Print the IR that the code was made from, too");
  sub->add_option("--cpu", options->cpu, "As for hoist compile")
      ->type_name("baseline|native|FEATURES");
  sub->add_option("-O,--opt-level", options->opt_level, "As for hoist compile")
      ->check(CLI::Range(0u, 2u))
      ->type_name("0|1|2");
  sub->add_option("--threads", options->threads, "Threads that compile; 0 (default): one per core")
      ->check(CLI::Range(0u, 1024u))
      ->type_name("N");
  add_demangle_option(*sub, options->demangle);
  add_code_options(*sub, options->code);
  sub->callback([options, sub, &status] {
    for (const char* name : {"--cpu", "--opt-level", "--threads", "--signals", "--bounds-checks",
                             "--nan", "--relaxed-simd"})
      options->has_code_options |= sub->count(name) != 0;
    status = run(*options);
  });
}

}  // namespace hoist::cli
