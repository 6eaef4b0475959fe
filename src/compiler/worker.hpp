// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Worker: everything that one thread needs to turn function bodies and trampolines into code,
/// reused from function to function.

#include <memory>

#include "base/result.hpp"
#include "codegen/compile.hpp"
#include "compiler/compile_module.hpp"
#include "compiler/function_store.hpp"
#include "image/layout/builtin.hpp"
#include "ir/builder.hpp"
#include "translate/translator.hpp"

namespace hoist::compiler {

class Worker {
 public:
  Worker(const translate::ModuleEnv& env, const CompilerOptions& options);
  /// For trampolines only.
  explicit Worker(const CompilerOptions& options);

  Result<StoredFunction> function(std::uint32_t func);
  Result<StoredFunction> entry_trampoline(const wasm::FuncType& type, std::uint32_t index);
  Result<StoredFunction> exit_trampoline(const wasm::FuncType& type, std::uint32_t index);
  Result<StoredFunction> builtin_trampoline(image::Builtin builtin);

  const FunctionStore& store() const { return store_; }
  /// Adds this thread's times per stage; only filled with `stage_times`.
  void add_times(CompileStats& stats) const;

 private:
  Result<StoredFunction> generate(image::FuncKey key);
  Result<StoredFunction> bisected_function(std::uint32_t func);
  Result<StoredFunction> generate(image::FuncKey key, const codegen::CompileOptions& options);

  CompilerOptions options_;
  std::unique_ptr<translate::Translator> translator_;
  std::unique_ptr<translate::Translator> plain_translator_;  ///< for bisection only
  std::uint32_t first_defined_ = 0;
  ir::Function func_;
  ir::FunctionBuilder builder_;  // of trampolines
  codegen::CompileContext context_;
  codegen::CompiledCode code_;
  codegen::StageTimes times_;
  std::uint64_t translate_ns_ = 0;
  FunctionStore store_;
};

}  // namespace hoist::compiler
