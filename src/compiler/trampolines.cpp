// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/trampolines.hpp"

#include "compiler/worker.hpp"

namespace hoist::compiler {

namespace {

CompilerOptions options_for(const codegen::Target& target) {
  CompilerOptions options;
  options.target = &target;
  options.opt_level = 1;
  return options;
}

image::Image image_of(const StoredFunction& function) {
  image::ImageBuilder builder;
  place(builder, function);
  return builder.finish();
}

}  // namespace

Result<image::Image> compile_entry_trampoline(const wasm::FuncType& type,
                                              const codegen::Target& target) {
  Worker worker(options_for(target));
  HOIST_TRY(const StoredFunction made, worker.entry_trampoline(type, 0));
  return image_of(made);
}

Result<image::Image> compile_exit_trampoline(const wasm::FuncType& type,
                                             const codegen::Target& target) {
  Worker worker(options_for(target));
  HOIST_TRY(const StoredFunction made, worker.exit_trampoline(type, 0));
  return image_of(made);
}

}  // namespace hoist::compiler
