// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Turns instruction forms with operands into bytes at the end of a CodeBuffer.
///
/// One function per operand shape; operands in Intel order. The caller picks a form that has this
/// shape and a width that the form allows (checked in debug builds); widths are in bytes and
/// ignored by forms that have one or none. Addresses, immediates and branches get their shortest
/// form.

#include <cstdint>

#include "asm/buffer/code_buffer.hpp"
#include "asm/x64/insts.hpp"
#include "asm/x64/regs.hpp"

namespace hoist::masm::x64 {

class Encoder {
 public:
  explicit Encoder(CodeBuffer& buffer) : buffer_(buffer) {}
  CodeBuffer& buffer() { return buffer_; }

  // ---- by operand shape: r register, m memory, i immediate
  void none(Op op);                      ///< Ret, Cdq, Ud2, ...
  void r(Op op, unsigned width, Reg a);  ///< also shifts by cl
  void m(Op op, unsigned width, const Mem& a);
  void rr(Op op, unsigned width, Reg a, Reg b);  ///< also shld by cl
  void rm(Op op, unsigned width, Reg a, const Mem& b);
  void mr(Op op, unsigned width, const Mem& a, Reg b);
  void ri(Op op, unsigned width, Reg a, std::int64_t imm);
  void mi(Op op, unsigned width, const Mem& a, std::int64_t imm);
  void i(Op op, std::int64_t imm);
  void rri(Op op, unsigned width, Reg a, Reg b, std::int64_t imm);
  void rmi(Op op, unsigned width, Reg a, const Mem& b, std::int64_t imm);
  void rrr(Op op, unsigned width, Reg a, Reg b, Reg c);
  void rmr(Op op, unsigned width, Reg a, const Mem& b, Reg c);  ///< Shlx...RMR
  void rrm(Op op, unsigned width, Reg a, Reg b, const Mem& c);  ///< AndnRRM
  void rrri(Op op, unsigned width, Reg a, Reg b, Reg c, std::int64_t imm);
  void rrmi(Op op, unsigned width, Reg a, Reg b, const Mem& c, std::int64_t imm);
  void rrrr(Op op, Reg a, Reg b, Reg c, Reg d);         ///< `d` in the last byte
  void rrmr(Op op, Reg a, Reg b, const Mem& c, Reg d);  ///< `d` in the last byte

  // ---- with a condition code
  void setcc(Cc cc, Reg dst);
  void setcc(Cc cc, const Mem& dst);
  void cmovcc(Cc cc, unsigned width, Reg dst, Reg src);
  void cmovcc(Cc cc, unsigned width, Reg dst, const Mem& src);

  // ---- control flow
  void jmp(Label target);
  void jcc(Cc cc, Label target);
  void jmp(Symbol target);
  void jcc(Cc cc, Symbol target);
  void call(Symbol target);
  void call(Label target);

  /// `bytes` of padding in as few no-operation instructions as possible.
  void nop(std::uint32_t bytes);

 private:
  CodeBuffer& buffer_;
};

}  // namespace hoist::masm::x64
