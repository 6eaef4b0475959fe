// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/native_compiler.hpp"

#include <optional>
#include <string>

#include "asm/x64/regs.hpp"
#include "compiler/cache/code_cache.hpp"
#include "compiler/compile_module.hpp"
#include "compiler/trampolines.hpp"
#include "isa/registry.hpp"
#include "platform/cpu_features.hpp"

namespace hoist::compiler {

namespace {

/// The platform's features as the x86-64 target counts them.
isa::FeatureSet x64_features(const platform::CpuFeatures& cpu) {
  isa::FeatureSet out = 0;
#define HOIST_CPU_FEATURE(name, text, leaf, reg, bit, saved) \
  if (cpu.has(platform::CpuFeature::name)) {                 \
    out |= masm::x64::feature_bit(masm::x64::Feature::name); \
  }
#include "platform/cpu_features.def"
  return out;
}

class NativeCompiler final : public runtime::Compiler {
 public:
  NativeCompiler(const NativeOptions& options, std::unique_ptr<codegen::Target> target,
                 platform::CpuFeatures cpu)
      : target_(std::move(target)), features_(cpu.to_string()) {
    options_.target = target_.get();
    options_.opt_level = options.opt_level;
    options_.threads = options.threads;
    options_.verify = options.verify;
    options_.check_allocation = options.check_allocation;
    options_.code.opt_level = static_cast<std::uint8_t>(options.opt_level);
    options_.code.cpu_features = cpu.bits();
    options_.code.signals = options.signals;
    options_.code.explicit_bounds = options.explicit_bounds || !options.signals;
    options_.code.fuel = options.fuel;
    options_.code.epoch = options.epoch;
    options_.code.interrupts = options.interrupts;
    options_.code.canonical_nans = options.canonical_nans;
    options_.code.deterministic_relaxed = options.deterministic_relaxed;
    if (!options.cache_directory.empty())
      cache_.emplace(options.cache_directory, options.cache_bytes);
  }

  Result<image::Image> compile_module(const wasm::Module& module,
                                      const runtime::CompileRequest& request,
                                      runtime::CompileReport* report) const override {
    CompilerOptions options = options_;
    options.code.interrupts |= request.interrupts;
    // What is cached has been valid before.
    std::optional<CodeCache::Key> key;
    if (cache_ && !options_.verify && !options_.check_allocation) {
      key = cache_->key(module.bytes.span(), options.code, module.features);
      if (auto image = cache_->find(*key, module)) {
        if (report != nullptr) report->from_cache = true;
        return *std::move(image);
      }
    }
    options.stage_times = report != nullptr;
    const runtime::ProgressSink& progress = request.progress;
    const auto tell = [&progress](std::uint64_t done, std::uint64_t total) {
      progress.on_progress(progress.context, static_cast<std::uint32_t>(done),
                           static_cast<std::uint32_t>(total));
    };
    const Progress sink(tell);
    CompileStats stats;
    auto image = compiler::compile_module(module, options, &stats,
                                          progress.on_progress != nullptr ? &sink : nullptr);
    if (image && key) cache_->store(*key, module, *image);
    if (image && report != nullptr) {
      report->wall_ns = stats.wall_ns;
      report->cpu_ns = stats.cpu_ns;
      report->translate_ns = stats.translate_ns;
      report->optimise_ns = stats.optimise_ns;
      report->lower_ns = stats.lower_ns;
      report->regalloc_ns = stats.regalloc_ns;
      report->emit_ns = stats.emit_ns;
      report->link_ns = stats.link_ns;
    }
    return image;
  }

  Result<image::Image> compile_exit_trampoline(const wasm::FuncType& type) const override {
    return compiler::compile_exit_trampoline(type, *target_, options_.code);
  }

  const char* cpu_features() const override { return features_.c_str(); }
  image::CodeSettings settings() const override { return options_.code; }

 private:
  std::unique_ptr<codegen::Target> target_;
  std::string features_;
  CompilerOptions options_;
  std::optional<CodeCache> cache_;
};

}  // namespace

Result<std::unique_ptr<runtime::Compiler>> make_native_compiler(const NativeOptions& options) {
  HOIST_TRY_VOID(platform::check_cpu_baseline(platform::detect_cpu_features()));
  HOIST_TRY(const platform::CpuFeatures cpu, platform::parse_cpu_features(options.cpu));
  HOIST_TRY(auto target, isa::make_target(platform::cpu_architecture(), x64_features(cpu)));
  return std::unique_ptr<runtime::Compiler>(
      std::make_unique<NativeCompiler>(options, std::move(target), cpu));
}

}  // namespace hoist::compiler
