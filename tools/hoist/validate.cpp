// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist validate: decode and validate modules without compiling them.
#include <memory>
#include <string>
#include <vector>

#include "hoist/cli.hpp"
#include "hoist/limits.hpp"
#include "hoist/module.hpp"
#include "hoist/modules.hpp"

namespace hoist::cli {

namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  std::string features;
};

Result<void> validate_file(const std::string& file, const std::string& features) {
  auto bytes = read_module_file(file);
  if (!bytes) return std::move(bytes).error();
  return Module::validate(*bytes, features);
}

}  // namespace

void add_validate(CLI::App& app, int& status) {
  const auto shared = std::make_shared<ValidateOptions>();
  CLI::App* sub =
      app.add_subcommand("validate", "Check that modules are valid, without running them");
  sub->footer(
      "Prints one line per invalid FILE and nothing for a valid one; exit status 1 if any is "
      "invalid.");
  sub->add_option("FILE", shared->files, "Modules, binary or text")->required();
  add_features_option(*sub, shared->features);
  sub->callback([shared, &status] {
    for (const std::string& file : shared->files) {
      if (auto valid = validate_file(file, shared->features); !valid) {
        status = fail(describe(file, valid.error()));
      }
    }
  });
}

}  // namespace hoist::cli
