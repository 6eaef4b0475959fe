// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of compiler/ and wasm/text in a library that only runs images (HOIST_COMPILER=OFF): what
// the API calls there, answering that it is not there.
#include <fmt/core.h>

#include <string>

#include "compiler/native_compiler.hpp"
#include "platform/cpu_features.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist {

static Error no_compiler() {
  return {ErrorKind::Unsupported,
          "this build of Hoist has no compiler: it runs images that another has made "
          "(Module::deserialize)"};
}

namespace compiler {

namespace {

/// The runtime looks for one in the modules of the store then.
Error no_trampoline(const wasm::FuncType& type) {
  return {ErrorKind::Unsupported,
          fmt::format("no module of the store has the code to call a host function of type {} by "
                      "reference, and this build of Hoist has no compiler to make it",
                      wasm::to_string(type))};
}

class NoCompiler final : public runtime::Compiler {
 public:
  NoCompiler(const image::CodeSettings& settings, std::string features)
      : settings_(settings), features_(std::move(features)) {}
  Result<image::Image> compile_module(const wasm::Module&, const runtime::CompileRequest&,
                                      runtime::CompileReport*) const override {
    return no_compiler();
  }
  Result<image::Image> compile_exit_trampoline(const wasm::FuncType& type) const override {
    return no_trampoline(type);
  }
  image::CodeSettings settings() const override { return settings_; }
  const char* cpu_features() const override { return features_.c_str(); }

 private:
  image::CodeSettings settings_;
  std::string features_;
};

}  // namespace

Result<std::unique_ptr<runtime::Compiler>> make_native_compiler(const NativeOptions& options) {
  HOIST_TRY_VOID(platform::check_cpu_baseline(platform::detect_cpu_features()));
  HOIST_TRY(const platform::CpuFeatures cpu, platform::parse_cpu_features(options.cpu));
  image::CodeSettings settings;
  settings.opt_level = static_cast<std::uint8_t>(options.opt_level);
  settings.signals = options.signals;
  settings.explicit_bounds = options.explicit_bounds || !options.signals;
  settings.fuel = options.fuel;
  settings.epoch = options.epoch;
  settings.interrupts = options.interrupts;
  settings.canonical_nans = options.canonical_nans;
  settings.deterministic_relaxed = options.deterministic_relaxed;
  settings.cpu_features = cpu.bits();
  return std::unique_ptr<runtime::Compiler>(
      std::make_unique<NoCompiler>(settings, cpu.to_string()));
}

}  // namespace compiler

namespace wasm {

Result<std::vector<std::uint8_t>> assemble_wat(std::string_view, const TextOptions&) {
  return no_compiler();
}

}  // namespace wasm

}  // namespace hoist
