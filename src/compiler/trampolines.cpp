// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/trampolines.hpp"

#include <span>

#include "compiler/worker.hpp"

namespace hoist::compiler {

namespace {

image::Image image_of(const StoredFunction& function,
                      std::span<const StoredFunction> builtins = {}) {
  image::ImageBuilder builder;
  for (const StoredFunction& builtin : builtins) place(builder, builtin);
  place(builder, function);
  return builder.finish();
}

}  // namespace

Result<image::Image> compile_exit_trampoline(const wasm::FuncType& type,
                                             const codegen::Target& target,
                                             const image::CodeSettings& settings) {
  CompilerOptions options;
  options.target = &target;
  options.opt_level = 1;
  options.code = settings;
  Worker worker(options);
  HOIST_TRY(const StoredFunction made, worker.exit_trampoline(type, 0));
  if (worker.store().builtins() == 0) return image_of(made);
  // Only its traps can be calls.
  HOIST_TRY(const StoredFunction trap, worker.builtin_trampoline(image::Builtin::trap));
  return image_of(made, {&trap, 1});
}

}  // namespace hoist::compiler
