// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// compile_function: IR to machine code for one function, the whole pipeline in one readable place.

#include <memory>

#include "base/result.hpp"
#include "codegen/compiled_code.hpp"
#include "codegen/target.hpp"
#include "ir/function.hpp"

namespace hoist::codegen {

struct CompileOptions {
  unsigned opt_level = 2;         ///< 0: no mid-end, the simple allocator; 1, 2: all
  bool verify = false;            ///< run the IR verifier after each pass
  bool check_allocation = false;  ///< prove each register allocation
  /// For bisection: passes of opt/passes.def that do not run, by bit, and the number of rewrites of
  /// this function after which the walk of `simplify` changes nothing more.
  std::uint32_t passes_off = 0;
  std::uint64_t max_rewrites = ~std::uint64_t{0};
};

/// Time per stage in nanoseconds of this thread's CPU clock; only filled when asked for.
struct StageTimes {
  std::uint64_t optimise_ns = 0, lower_ns = 0, regalloc_ns = 0, emit_ns = 0;
};

/// CPU time of the calling thread in nanoseconds: given by whoever may ask the system for it.
using ClockFn = std::uint64_t (*)();

/// Everything a thread needs to compile functions one after another; reused, no heap traffic in
/// steady state. Not thread-safe: one per thread.
class CompileContext {
 public:
  explicit CompileContext(const Target& target);
  ~CompileContext();
  CompileContext(const CompileContext&) = delete;
  CompileContext& operator=(const CompileContext&) = delete;

  /// `func` is changed by the mid-end. `out` is overwritten.
  Result<void> compile(ir::Function& func, const CompileOptions& options, CompiledCode& out);
  /// Both set: the times of the stages are added up here.
  StageTimes* times = nullptr;
  ClockFn clock = nullptr;

  /// The machine function and its registers as the last `compile` left them; for dumps and tests.
  const MachFunction& last_mach() const;
  const Allocation& last_allocation() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hoist::codegen
