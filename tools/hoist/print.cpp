// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist print: a module as text.
#include <memory>
#include <span>
#include <vector>

#include "hoist/cli.hpp"
#include "hoist/limits.hpp"
#include "hoist/module.hpp"
#include "hoist/modules.hpp"
#include "wasm/text/wat_printer.hpp"

namespace hoist::cli {

namespace {

struct PrintCommand {
  std::string file;
  std::string features;
  bool check = false;
  bool indexes = false;
};

int print_file(const PrintCommand& command) {
  auto bytes = read_module_file(command.file);
  if (!bytes) return fail(describe(command.file, bytes.error()));
  if (command.check || !command.features.empty()) {
    if (auto valid = Module::validate(*bytes, command.features); !valid) {
      return fail(describe(command.file, valid.error()));
    }
  }
  wasm::PrintOptions options;
  options.names = !command.indexes;
  const auto write = [](std::string_view text) { print(text); };
  if (auto done = wasm::print_wat(*bytes, options, write); !done) {
    print("\n");  // what came before the mistake was printed
    return fail(describe(command.file, done.error()));
  }
  return 0;
}

}  // namespace

void add_print(CLI::App& app, int& status) {
  const auto shared = std::make_shared<PrintCommand>();  // lives as long as the callback
  PrintCommand& command = *shared;
  CLI::App* sub = app.add_subcommand("print", "Print a module as text");
  sub->footer(
      "The text reads back to the same module: names are identifiers, other custom sections are\n"
      "annotations (@custom). A module need not be valid to be printed. If it is malformed, what\n"
      "comes before the mistake is printed and the exit status is 1.\n"
      "The text of a module in text form is its canonical layout.");
  sub->add_option("FILE", command.file, "The module, binary or text; - is the standard input")
      ->required();
  sub->add_flag("--indexes", command.indexes, "Numbers instead of names");
  sub->add_flag("--check", command.check, "Print it only if it is valid");
  add_features_option(*sub, command.features)
      ->description("With --check, which this implies: the features that it may use");
  sub->callback([shared, &status] { status = print_file(*shared); });
}

}  // namespace hoist::cli
