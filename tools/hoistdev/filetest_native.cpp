// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/filetest_native.hpp"

#include <map>
#include <optional>

#include "hoistdev/filetest_settings.hpp"
#include "native/jit_module.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library
using Outcome = ir::Interpreter::Outcome;

namespace {

/// A function that the target does not support takes those that call it with it.
class Jit final : public NativeFile {
 public:
  Jit(const ir::ParsedFile& file, std::unique_ptr<native::JitModule> module,
      std::vector<std::optional<Error>> refused)
      : file_(file), module_(std::move(module)), refused_(std::move(refused)) {}

  Result<Outcome> run(std::size_t index, std::span<const ir::DataValue> args) override {
    if (refused_[index]) {
      return Error(refused_[index]->kind(), refused_[index]->message());
    }
    HOIST_TRY(native::CallOutcome called, module_->call(file_.functions[index].func.name, args));
    Outcome outcome;
    outcome.kind =
        called.trap == image::TrapCode::None ? Outcome::Kind::Returned : Outcome::Kind::Trapped;
    outcome.trap = called.trap;
    outcome.values = std::move(called.values);
    return outcome;
  }

 private:
  const ir::ParsedFile& file_;
  std::unique_ptr<native::JitModule> module_;
  std::vector<std::optional<Error>> refused_;
};

/// Refuses functions that name a refused one, until nothing changes.
void spread(const ir::ParsedFile& file, std::vector<std::optional<Error>>& refused) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t caller = 0; caller < refused.size(); ++caller) {
      if (refused[caller]) continue;
      for (const ir::ExtFunc& ext : file.functions[caller].func.ext_funcs) {
        for (std::size_t callee = 0; callee < refused.size(); ++callee) {
          if (!refused[callee] || file.functions[callee].func.name != ext.name) continue;
          refused[caller] = Error(refused[callee]->kind(), refused[callee]->message());
          changed = true;
          break;
        }
        if (refused[caller]) break;
      }
    }
  }
}

}  // namespace

Result<std::unique_ptr<NativeFile>> NativeFile::compile(const ir::ParsedFile& file,
                                                        unsigned opt_level,
                                                        std::string_view without) {
  native::JitOptions options;
  options.baseline_cpu = without == "all";
  if (!options.baseline_cpu) options.without_features = without;
  options.opt_level = opt_level;
  options.check_allocation = true;
  if (const auto targets = parse_settings(file)) {
    for (const TargetSettings& target : *targets) {
      if (target.is_x64) options.pinned_register |= target.is_on("enable_pinned_reg");
    }
  }
  std::vector<std::optional<Error>> refused(file.functions.size());
  // Each function alone first: which of them does the target take?
  {
    HOIST_TRY(const std::unique_ptr<native::JitModule> trial, native::JitModule::create(options));
    for (std::size_t i = 0; i < refused.size(); ++i) {
      Result<void> defined = trial->define(file.functions[i].func);
      if (defined) continue;
      if (defined.error().kind() != ErrorKind::Unsupported) return std::move(defined).error();
      refused[i] = std::move(defined).error();
    }
  }
  spread(file, refused);
  HOIST_TRY(std::unique_ptr<native::JitModule> module, native::JitModule::create(options));
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (!refused[i]) HOIST_TRY_VOID(module->define(file.functions[i].func));
  }
  HOIST_TRY_VOID(module->finalise());
  return std::unique_ptr<NativeFile>(
      std::make_unique<Jit>(file, std::move(module), std::move(refused)));
}

}  // namespace hoistdev
