// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WebAssembly function bodies to IR: validation, translation and SSA construction in one walk.
///
/// Conventions of the result, known to compiler and runtime: calling convention Tail; the first
/// parameter is the instance (purpose vmctx, i64), then the parameters of the WebAssembly type;
/// references are i64. Names are FuncKeys. Source locations are byte offsets in the module.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "image/layout/instance_layout.hpp"
#include "image/settings.hpp"
#include "ir/builder.hpp"
#include "ir/function.hpp"
#include "wasm/format/module.hpp"

namespace hoist::translate {

/// What all functions of a module share; immutable once made, and read by all threads.
struct ModuleEnv {
  explicit ModuleEnv(const wasm::Module& module, const image::CodeSettings& settings = {});

  const wasm::Module& module;
  image::FuncRefNumbers func_refs;
  image::VmLayout layout;
  image::CodeSettings settings;
  bool has_fma = false;  ///< the target multiplies and adds in one instruction
  /// Value of an immutable global that is known at compile time.
  struct ConstGlobal {
    bool known = false;
    std::uint64_t bits = 0;
  };
  std::vector<ConstGlobal> globals;
};

/// Translates functions one after another and keeps its memory. One per thread.
class Translator {
 public:
  /// `simplify`: rules applied while building, or null. `env` must live as long.
  explicit Translator(const ModuleEnv& env, ir::SimplifyFn simplify = nullptr);
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  /// Decodes, validates and translates the body of a defined function into `out` (cleared first).
  /// `func` counts in the index space of functions.
  /// @error Malformed, Invalid, Unsupported with byte offset; Limit: too complex. `out` is then
  ///        worthless.
  Result<void> translate(std::uint32_t func, ir::Function& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The IR type of a value type without v128.
ir::Type ir_type(wasm::ValType type);
/// The Tail signature of a WebAssembly function: instance, parameters; results.
ir::Signature ir_signature(const wasm::FuncType& type);

}  // namespace hoist::translate
