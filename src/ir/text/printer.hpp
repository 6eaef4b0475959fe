// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CLIF text of functions and their parts. What is printed reads back (reader.hpp) as an equal
/// function, but for user names of symbols, which CLIF prints by number.

#include <string>

#include "base/text/printer.hpp"
#include "ir/function.hpp"

namespace hoist::ir {

void print(base::Printer& out, const Function& func);
std::string to_string(const Function& func);

/// One instruction without indentation and newline, results and operands included.
void print(base::Printer& out, const Function& func, Inst inst);
std::string to_string(const Function& func, Inst inst);
/// Opcode and operands only: `iadd v1, v2`.
void print_operation(base::Printer& out, const Function& func, Inst inst);
/// `block0(v0: i32) cold:`
void print_block_header(base::Printer& out, const Function& func, Block block);

base::Printer& operator<<(base::Printer& out, const Signature& signature);
base::Printer& operator<<(base::Printer& out, const ExternalName& name);
std::string_view text(CallConv conv);
/// `heap_oob`, `user7`.
void print(base::Printer& out, TrapCode code);

}  // namespace hoist::ir
