// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist validate: decode and validate modules without compiling them.
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "hoist/cli.hpp"
#include "hoist/module.hpp"
#include "platform/files.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist::cli {

static Result<void> validate_file(const std::string& file) {
  auto content = platform::read_file(file, std::uint64_t{1} << 30);
  if (!content) return std::move(content).error();
  const std::vector<std::uint8_t>& bytes = *content;
  const bool binary =
      bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 'a' && bytes[2] == 's' && bytes[3] == 'm';
  if (binary) return Module::validate(bytes);
  auto assembled =
      wasm::assemble_wat({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, {});
  if (!assembled) return std::move(assembled).error();
  return Module::validate(*assembled);
}

void add_validate(CLI::App& app, int& status) {
  const auto shared = std::make_shared<std::vector<std::string>>();
  CLI::App* sub =
      app.add_subcommand("validate", "Check that modules are valid, without running them");
  sub->footer(
      "Prints one line per invalid FILE and nothing for a valid one; exit status 1 if any is "
      "invalid.");
  sub->add_option("FILE", *shared, "Modules, binary or text")->required();
  sub->callback([shared, &status] {
    for (const std::string& file : *shared) {
      if (auto valid = validate_file(file); !valid) status = fail(describe(file, valid.error()));
    }
  });
}

}  // namespace hoist::cli
