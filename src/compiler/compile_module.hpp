// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A decoded module to an image: all functions in parallel, then one deterministic link.

#include <cstdint>

#include "base/function_ref.hpp"
#include "base/result.hpp"
#include "codegen/target.hpp"
#include "image/image.hpp"
#include "wasm/format/module.hpp"

namespace hoist::compiler {

struct CompilerOptions {
  const codegen::Target* target = nullptr;
  unsigned opt_level = 2;    ///< 0, 1, 2
  image::CodeSettings code;  ///< opt_level above counts, not its own
  unsigned threads = 0;      ///< 0: as many as the process may run on
  bool verify = false;       ///< IR verifier after translation and after each pass
  bool check_allocation = false;
  bool stage_times = false;  ///< fill the CPU times per stage (costs a little)
  /// For bisection: only the first so many defined functions are made at `opt_level`, the others at
  /// 0, and of the last of the first some passes and rewrites are left out
  /// (codegen::CompileOptions).
  static constexpr std::uint32_t kAllFunctions = 0xffff'ffff;
  std::uint32_t optimised_functions = kAllFunctions;
  std::uint32_t last_passes_off = 0;
  std::uint64_t last_max_rewrites = ~std::uint64_t{0};
};

/// What a compilation took. Times in nanoseconds; stages are CPU time summed over threads.
struct CompileStats {
  std::uint64_t wall_ns = 0, cpu_ns = 0;
  std::uint64_t translate_ns = 0, optimise_ns = 0, lower_ns = 0, regalloc_ns = 0, emit_ns = 0,
                link_ns = 0;
  std::uint64_t functions = 0;
  std::uint64_t trampolines = 0;
  std::uint64_t wasm_bytes = 0;  ///< the whole module
  std::uint64_t code_section_bytes = 0;
  std::uint64_t text_bytes = 0;      ///< machine code, constants and padding included
  std::uint64_t peak_rss_bytes = 0;  ///< of the process, when the compilation ended
  unsigned threads = 0;
};

/// Called now and then, from the thread that called compile_module.
using Progress = base::FunctionRef<void(std::uint64_t done, std::uint64_t total)>;

/// `module` has passed wasm::decode and wasm::validate_module; the bodies are validated here. The
/// image holds each defined function, the entry trampolines of the types of functions that can be
/// called from outside (escaping functions and the start function), the exit trampolines of the
/// types of imported functions (both under the canonical type index), and the builtin trampolines
/// that the code uses. Its bytes do not depend on the number of threads.
///
/// @error that of the lowest function in the module, for any number of threads; Limit if the code
/// is
///        too large for one image; OutOfMemory is not caught here.
Result<image::Image> compile_module(const wasm::Module& module, const CompilerOptions& options,
                                    CompileStats* stats = nullptr,
                                    const Progress* progress = nullptr);

}  // namespace hoist::compiler
