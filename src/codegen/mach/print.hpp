// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Text of machine IR, before and after register allocation, and a reader of the generic form for
/// tests.
///
///   mb0:
///     op1 def %v0:i=r7, def %v1:f
///     op2 def %v2:i~1, use %v0, use %v0=r1, any %v1 clobber r0 r1 f3 call
///     op9 use %v2 -> mb1, mb2
///   mb1 depth 1 loop cold:
///     op8 -> mb3(%v2)
///
/// A definition names its class: `:i`, `:f` or `:v` (16 bytes). Roles: def, early, use, late; `any`
/// is a use in a register or a slot, `slot` one in a slot. `=r7` is Fixed, `~1` is Same as operand
/// number 1. After allocation each operand is followed by `@r3`, `@s4` (slot) or `@-`, and each
/// copy has a line of its own.

#include <string_view>

#include "base/function_ref.hpp"
#include "base/result.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"

namespace hoist::codegen {

/// Prints one instruction without its newline.
using InstPrinter = base::FunctionRef<void(base::Printer&, const MachInst&)>;

void print(base::Printer& out, PReg reg);
void print(base::Printer& out, Alloc alloc);
/// `r3 <- s4`, `r3 <-> r5`, `r3 <- remat 17`.
void print(base::Printer& out, const AllocMove& move);
/// `def %v2:i~1@r3`; `number` is the operand's index in MachFunction::operands.
void print_operand(base::Printer& out, const MachFunction& func, std::uint32_t number,
                   const Allocation* alloc);
/// The generic form of an instruction: `op12 def %v0:i, use %v1 -> mb3`.
void print_inst(base::Printer& out, const MachFunction& func, const MachInst& inst,
                const Allocation* alloc);

/// The whole function; with `alloc`, its copies and locations too. `print_one` prints an
/// instruction in the target's way.
void print_function(base::Printer& out, const MachFunction& func, const Allocation* alloc,
                    InstPrinter print_one);
/// The whole function in the generic form.
void print_function(base::Printer& out, const MachFunction& func,
                    const Allocation* alloc = nullptr);

/// Reads the generic form (without locations). Errors: Malformed with line and column.
Result<void> parse_function(std::string_view text, MachFunction& out);

}  // namespace hoist::codegen
