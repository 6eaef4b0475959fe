// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Emission for x86-64: a register-allocated MachFunction becomes bytes and side tables.
///
/// Needs: the guarantees of codegen/mach/machine.hpp, an allocation that satisfies every
/// constraint, operands ordered as pseudo.def says. Blocks are emitted in layout order; those that
/// only jump on disappear, jumps to the next block too, and short branches are used where they
/// reach. Out-of-line parts (traps, rare paths of conversions) follow the last block. Cost: linear
/// in the code; no allocation in steady state.

#include <memory>

#include "base/result.hpp"
#include "codegen/compiled_code.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"

namespace hoist::isa::x64 {

/// Memory of emission, reused between functions.
class EmitScratch {
 public:
  EmitScratch();
  ~EmitScratch();
  EmitScratch(const EmitScratch&) = delete;
  EmitScratch& operator=(const EmitScratch&) = delete;

  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// `out` is overwritten. Errors: Limit (a frame above kMaxFrameBytes, more than 1 GiB of code),
/// Unsupported (a stack slot with an alignment above 16).
Result<void> emit_function(const codegen::MachFunction& func, const codegen::Allocation& alloc,
                           EmitScratch& scratch, codegen::CompiledCode& out);

/// The trampoline described at codegen::Target::entry_trampoline.
Result<void> emit_entry_trampoline(const ir::Signature& sig, bool has_ctx,
                                   codegen::CompiledCode& out);

}  // namespace hoist::isa::x64
