// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies of test_operands.hpp: in a test file so that only the test binary links them.
#include "asm/x64/test_operands.hpp"

#include "base/text/printer.hpp"

namespace hoist::masm::x64 {

unsigned explicit_regs(const OpInfo& op) {
  unsigned count = 0;
  for (const OperandInfo& o : op.operands()) count += is_register(o.place) ? 1u : 0u;
  return count;
}

bool has_place(const OpInfo& op, Place place) {
  for (const OperandInfo& o : op.operands()) {
    if (o.place == place) return true;
  }
  return false;
}

bool is_broadcast(Op op) {
  const std::string_view name = op_name(op);
  return name.ends_with("RB") || name.ends_with("RBI");
}

void encode_for_test(Encoder& enc, Op op, unsigned width, const TestOperands& t) {
  const OpInfo& row = info(op);
  const Reg a(t.regs[0]);
  const Reg b(t.regs[1]);
  const Reg c(t.regs[2]);
  if (op == Op::SetccR) return enc.setcc(t.cc, a);
  if (op == Op::SetccM) return enc.setcc(t.cc, t.mem);
  if (op == Op::CmovccRR) return enc.cmovcc(t.cc, width, a, b);
  if (op == Op::CmovccRM) return enc.cmovcc(t.cc, width, a, t.mem);
  const unsigned regs = explicit_regs(row);
  if (has_place(row, Place::XIs4)) {
    return has_mem(row) ? enc.rrmr(op, a, b, t.mem, c) : enc.rrrr(op, a, b, c, Reg(t.regs[3]));
  }
  if (has_mem(row)) {
    if (has_imm(row) && regs == 2) return enc.rrmi(op, width, a, b, t.mem, t.imm);
    if (has_imm(row))
      return regs == 0 ? enc.mi(op, width, t.mem, t.imm) : enc.rmi(op, width, a, t.mem, t.imm);
    if (regs == 0) return enc.m(op, width, t.mem);
    if (regs == 1) return enc.rm(op, width, a, t.mem);
    return enc.rmr(op, width, a, t.mem, b);
  }
  if (has_imm(row)) {
    if (regs == 0) return enc.i(op, t.imm);
    if (regs == 3) return enc.rrri(op, width, a, b, c, t.imm);
    return regs == 1 ? enc.ri(op, width, a, t.imm) : enc.rri(op, width, a, b, t.imm);
  }
  switch (regs) {
    case 0: return enc.none(op);
    case 1: return enc.r(op, width, a);
    case 2: return enc.rr(op, width, a, b);
    default: return enc.rrr(op, width, a, b, c);
  }
}

std::string mnemonic_for_test(const OpInfo& op, const TestOperands& t) {
  std::string text = op.mnemonic;
  if (const std::size_t at = text.find("{cc}"); at != std::string::npos) {
    text.replace(at, 4, cc_name(t.cc));
  }
  return text;
}

static void print_mem(base::Printer& out, const Mem& mem, unsigned bits) {
  const char* size = bits == 8    ? "byte ptr "
                     : bits == 16 ? "word ptr "
                     : bits == 32 ? "dword ptr "
                     : bits == 64 ? "qword ptr "
                                  : "xmmword ptr ";
  out << size << '[';
  const char* plus = "";
  if (mem.base != Mem::kNoReg) {
    out << gpr_name(Reg(mem.base), 8);
    plus = " + ";
  }
  if (mem.index != Mem::kNoReg) {
    out << plus << (1u << mem.scale) << '*' << gpr_name(Reg(mem.index), 8);
    plus = " + ";
  }
  if (mem.disp < 0 && *plus != 0) {
    out << " - " << -std::int64_t{mem.disp};
  } else if (mem.disp != 0 || *plus == 0) {
    out << plus << mem.disp;
  }
  out << ']';
}

std::string text_for_test(Op op, unsigned width, const TestOperands& t) {
  const OpInfo& row = info(op);
  base::Printer out;
  out << mnemonic_for_test(row, t);
  const char* separator = " ";
  unsigned reg = 0;
  for (const OperandInfo& o : row.operands()) {
    if (is_implicit(o.place)) continue;
    out << separator;
    separator = ", ";
    const unsigned bits = o.bits != 0 ? o.bits : width * 8;
    switch (o.place) {
      case Place::Reg:
      case Place::Rm:
      case Place::OpReg:
      case Place::VReg: out << gpr_name(Reg(t.regs[reg++]), bits / 8); break;
      case Place::XReg:
      case Place::Xrm:
      case Place::XVReg:
      case Place::XIs4: out << xmm_name(Reg(t.regs[reg++])); break;
      case Place::Mem:
        print_mem(out, t.mem, bits);
        if (is_broadcast(op)) out << (bits == 32 ? "{1to4}" : "{1to2}");
        break;
      case Place::Imm:
      case Place::Imm8:
      case Place::Imm64: out << t.imm; break;
      case Place::Cl: out << "cl"; break;
      case Place::Xmm0: out << "xmm0"; break;
      case Place::Rel:
      case Place::Rax:
      case Place::Rbx:
      case Place::Rcx:
      case Place::Rdx: break;
    }
  }
  return out.take();
}

}  // namespace hoist::masm::x64
