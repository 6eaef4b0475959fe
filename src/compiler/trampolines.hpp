// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Trampolines on demand: for host functions made at run time.

#include "base/result.hpp"
#include "codegen/target.hpp"
#include "image/image.hpp"
#include "image/settings.hpp"
#include "wasm/format/types.hpp"

namespace hoist::compiler {

/// Compiled code to a host function: the image has FuncKey(ExitTrampoline, 0, 0), and the builtin
/// trampolines that it needs.
Result<image::Image> compile_exit_trampoline(const wasm::FuncType& type,
                                             const codegen::Target& target,
                                             const image::CodeSettings& settings = {});

}  // namespace hoist::compiler
