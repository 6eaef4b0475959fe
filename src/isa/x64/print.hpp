// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Text of x86-64 machine instructions: mnemonic and width, then the operands in the notation of
/// codegen/mach/print.hpp, address, immediate, condition, trap and successors:
///
///   add.4 def %v3:i~1, use %v1, any %v2
///   mov.8 def %v4:i, [use %v0 + use %v3*8 + 16] trap heap_oob
///   j.ne -> mb1, mb2

#include "base/text/printer.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"

namespace hoist::isa::x64 {

/// One instruction, without its newline.
void print_inst(base::Printer& out, const codegen::MachFunction& func,
                const codegen::MachInst& inst, const codegen::Allocation* alloc);

}  // namespace hoist::isa::x64
