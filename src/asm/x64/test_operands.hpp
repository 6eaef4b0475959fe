// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests: one set of operands for any instruction form, encoded and written as text through the
/// table, so that every row is tested without knowing it by name.

#include <string>

#include "asm/x64/encoder.hpp"

namespace hoist::masm::x64 {

struct TestOperands {
  unsigned regs[4] = {0, 0, 0, 0};  ///< in operand order, fixed ones not counted
  Mem mem;
  std::int64_t imm = 0;
  Cc cc = Cc::E;
};

/// Encodes the form; Rel forms are not covered.
void encode_for_test(Encoder& enc, Op op, unsigned width, const TestOperands& operands);
/// Intel syntax as an assembler reads it: "add dword ptr [rax + 8], ecx".
std::string text_for_test(Op op, unsigned width, const TestOperands& operands);

unsigned explicit_regs(const OpInfo& op);
bool has_place(const OpInfo& op, Place place);
/// Reads one lane from memory for all (the names of these rows end in B for their memory operand).
bool is_broadcast(Op op);
inline bool has_mem(const OpInfo& op) {
  return has_place(op, Place::Mem);
}
inline bool has_imm(const OpInfo& op) {
  return has_place(op, Place::Imm) || has_place(op, Place::Imm8) || has_place(op, Place::Imm64);
}
inline bool is_vector(Place p) {
  return p >= Place::XReg && p <= Place::XIs4;
}
inline bool is_register(Place p) {
  return p < Place::Mem;
}
/// The mnemonic with the condition code and comparison predicate filled in.
std::string mnemonic_for_test(const OpInfo& op, const TestOperands& operands);

}  // namespace hoist::masm::x64
