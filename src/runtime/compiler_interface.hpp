// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Compiler: what the runtime needs from a compiler. Implemented in compiler/, plugged in by api/.
///
/// What an image of a module must contain, by FuncKey (module number 0):
///   WasmFunction f         each defined function
///   EntryTrampoline t      for the type of each escaping function (Module::escaping_functions,
///   imported
///                          ones too) and of the start function; t is Module::canonical_type of it
///   ExitTrampoline t       for the canonical type index of each imported function
///   BuiltinTrampoline b    as its code needs
/// Code addresses the instance as image::instance_layout says.

#include <cstdint>

#include "base/result.hpp"
#include "image/image.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

/// What a compilation cost; CPU times are sums over threads. Only filled in when asked for.
struct CompileReport {
  bool from_cache = false;  ///< nothing was compiled
  std::uint64_t wall_ns = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t translate_ns = 0;
  std::uint64_t optimise_ns = 0;
  std::uint64_t lower_ns = 0;
  std::uint64_t regalloc_ns = 0;
  std::uint64_t emit_ns = 0;
  std::uint64_t link_ns = 0;
};

struct ProgressSink {
  /// Called on the thread that called compile_module, a few times a second at most; may be null.
  void (*on_progress)(void* context, std::uint32_t functions_done,
                      std::uint32_t functions) = nullptr;
  void* context = nullptr;
};

/// What one module is compiled for besides the compiler's settings.
struct CompileRequest {
  ProgressSink progress;
  bool interrupts = false;  ///< turns CodeSettings::interrupts on
};

/// Immutable; any number of threads may call it at once.
class Compiler {
 public:
  virtual ~Compiler() = default;

  /// Validates and compiles the bodies of a module whose declarations are valid already.
  /// @error Invalid, Malformed, Unsupported with the lowest offset; Limit: text over 2 GiB.
  virtual Result<image::Image> compile_module(const wasm::Module& module,
                                              const CompileRequest& request,
                                              CompileReport* report) const = 0;
  /// An image with ExitTrampoline 0: compiled code calls host functions of this type through
  /// function references that no module made.
  virtual Result<image::Image> compile_exit_trampoline(const wasm::FuncType& type) const = 0;
  /// What its code is made for and with: an image of other settings does not run beside it.
  virtual image::CodeSettings settings() const = 0;
  /// Space-separated features of the CPU that code is generated for.
  virtual const char* cpu_features() const = 0;
};

}  // namespace hoist::runtime
