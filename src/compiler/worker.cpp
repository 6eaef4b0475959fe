// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/worker.hpp"

#include "image/layout/func_key.hpp"
#include "opt/rules/rules.hpp"
#include "platform/clocks.hpp"
#include "translate/calls/trampolines.hpp"

namespace hoist::compiler {

using image::FuncKey;
using image::FuncKind;

Worker::Worker(const CompilerOptions& options)
    : options_(options), builder_(func_), context_(*options.target) {
  if (options.stage_times) {
    context_.times = &times_;
    context_.clock = [] { return platform::now_ns(platform::Clock::ThreadCpu); };
  }
}

Worker::Worker(const translate::ModuleEnv& env, const CompilerOptions& options) : Worker(options) {
  // Rules while building pay for themselves with less work later, so they depend on the level only
  // for the sake of debugging them.
  const ir::SimplifyFn simplify = options.opt_level == 0 ? nullptr : opt::simplify_while_building;
  translator_ = std::make_unique<translate::Translator>(env, simplify);
  if (options.optimised_functions != CompilerOptions::kAllFunctions) {
    plain_translator_ = std::make_unique<translate::Translator>(env, nullptr);
    first_defined_ = env.module.num_imported_functions;
  }
}

Result<StoredFunction> Worker::generate(FuncKey key) {
  codegen::CompileOptions options;
  options.opt_level = options_.opt_level;
  options.verify = options_.verify;
  options.check_allocation = options_.check_allocation;
  return generate(key, options);
}

Result<StoredFunction> Worker::generate(FuncKey key, const codegen::CompileOptions& options) {
  HOIST_TRY_VOID(context_.compile(func_, options, code_));
  return store_.add(key, code_);
}

/// See CompilerOptions::optimised_functions.
Result<StoredFunction> Worker::bisected_function(std::uint32_t func) {
  const std::uint32_t number = func - first_defined_;
  const bool is_optimised = number < options_.optimised_functions;
  HOIST_TRY_VOID((is_optimised ? translator_ : plain_translator_)->translate(func, func_));
  codegen::CompileOptions options;
  options.opt_level = is_optimised ? options_.opt_level : 0;
  options.verify = options_.verify;
  options.check_allocation = options_.check_allocation;
  if (number + 1 == options_.optimised_functions) {
    options.passes_off = options_.last_passes_off;
    options.max_rewrites = options_.last_max_rewrites;
  }
  return generate({FuncKind::WasmFunction, 0, func}, options);
}

Result<StoredFunction> Worker::function(std::uint32_t func) {
  if (plain_translator_ != nullptr) return bisected_function(func);
  const std::uint64_t start =
      options_.stage_times ? platform::now_ns(platform::Clock::ThreadCpu) : 0;
  HOIST_TRY_VOID(translator_->translate(func, func_));
  if (options_.stage_times) {
    translate_ns_ += platform::now_ns(platform::Clock::ThreadCpu) - start;
  }
  return generate({FuncKind::WasmFunction, 0, func});
}

Result<StoredFunction> Worker::entry_trampoline(const wasm::FuncType& type, std::uint32_t index) {
  HOIST_TRY_VOID(options_.target->entry_trampoline(translate::ir_signature(type), true, code_));
  return store_.add({FuncKind::EntryTrampoline, 0, index}, code_);
}

Result<StoredFunction> Worker::exit_trampoline(const wasm::FuncType& type, std::uint32_t index) {
  translate::exit_trampoline(type, index, builder_, func_, options_.code.signals);
  return generate({FuncKind::ExitTrampoline, 0, index});
}

Result<StoredFunction> Worker::builtin_trampoline(image::Builtin builtin) {
  translate::builtin_trampoline(builtin, builder_, func_);
  return generate({FuncKind::BuiltinTrampoline, 0, static_cast<std::uint32_t>(builtin)});
}

void Worker::add_times(CompileStats& stats) const {
  stats.translate_ns += translate_ns_;
  stats.optimise_ns += times_.optimise_ns;
  stats.lower_ns += times_.lower_ns;
  stats.regalloc_ns += times_.regalloc_ns;
  stats.emit_ns += times_.emit_ns;
}

}  // namespace hoist::compiler
