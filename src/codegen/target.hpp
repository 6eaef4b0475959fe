// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Target: what an instruction set provides to the code generator. Implemented under isa/; one
/// immutable object per instruction set and CPU feature set, shared by all threads.

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "codegen/compiled_code.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "ir/function.hpp"

namespace hoist::codegen {

/// Per-thread memory of a target's lowering and emission, reused between functions.
class TargetScratch {
 public:
  virtual ~TargetScratch() = default;
};

class Target {
 public:
  virtual ~Target() = default;
  virtual std::string_view name() const = 0;
  virtual std::unique_ptr<TargetScratch> make_scratch() const = 0;
  virtual const RegisterFile& registers(ir::CallConv conv) const = 0;

  /// Instruction selection. `func` is verified IR; `out` is cleared first and then satisfies the
  /// guarantees in machine.hpp. Errors: Unsupported names an operation or type this target lacks.
  virtual Result<void> lower(const ir::Function& func, TargetScratch& scratch,
                             MachFunction& out) const = 0;
  /// Encodes; `out` is cleared first. Errors: Limit (code over 2 GiB).
  virtual Result<void> emit(const MachFunction& func, const Allocation& alloc,
                            TargetScratch& scratch, CompiledCode& out) const = 0;

  /// Host to compiled code, for one signature whose first parameter is the context (any
  /// convention):
  ///   std::uint64_t entry(const void* code, void* ctx, image::StoreContext* store,
  ///   image::VmGlobal* slots)
  /// in the host's C convention. Arguments after the context are read from 16-byte `slots`, results
  /// are written to them from slot 0 on (i32 zero-extended to 64 bits). Saves the outer
  /// resume_sp/fp/pc, exit_fp/pc and entry_fp of `store`, sets its own (resume_fp is its frame
  /// pointer, entry_fp too), and restores them before it returns. Returns 0, or 1 when compiled
  /// code was left through the resume address. Passes the other context-less signatures (users of
  /// the IR) with `has_ctx` false.
  virtual Result<void> entry_trampoline(const ir::Signature& sig, bool has_ctx,
                                        CompiledCode& out) const = 0;

  /// One line of text per instruction for dumps and tests.
  virtual void print(base::Printer& out, const MachFunction& func, const MachInst& inst,
                     const Allocation* alloc) const = 0;
};

}  // namespace hoist::codegen
