// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three-operand additions and small shifts, division.
#include <utility>

#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

static Gpr as_gpr(Reg reg) {
  return static_cast<Gpr>(reg.number);
}

void Emitter::emit_add_regs(const MachInst& inst, Allocs ops) {
  const Reg dst = reg(ops[0]);
  Reg a = reg(ops[1]);
  Reg b = reg(ops[2]);
  if (dst == a) return enc_.rr(Op::AddRR, inst.width, dst, b);
  if (dst == b) return enc_.rr(Op::AddRR, inst.width, dst, a);
  // As a base, r13 would need a displacement.
  if (as_gpr(a) == Gpr::R13) std::swap(a, b);
  enc_.rm(Op::LeaRM, inst.width, dst, Mem::at(as_gpr(a), as_gpr(b), 0));
}

void Emitter::emit_add_imm(const MachInst& inst, Allocs ops) {
  const Reg dst = reg(ops[0]);
  const Reg a = reg(ops[1]);
  if (dst != a) {
    const auto disp = static_cast<std::int32_t>(inst.imm);
    enc_.rm(Op::LeaRM, inst.width, dst, Mem::at(as_gpr(a), disp));
  } else if (inst.imm == 128) {
    enc_.ri(Op::SubRI, inst.width, dst, -128);  // -128 is one byte, 128 four
  } else {
    enc_.ri(Op::AddRI, inst.width, dst, inst.imm);
  }
}

void Emitter::emit_shl_small(const MachInst& inst, Allocs ops) {
  const Reg dst = reg(ops[0]);
  const Reg a = reg(ops[1]);
  if (dst == a) return enc_.ri(Op::ShlRI, inst.width, dst, inst.imm);
  // Without a base an index needs four bytes of displacement: twice is a sum.
  const Mem shifted = inst.imm == 1 ? Mem::at(as_gpr(a), as_gpr(a), 0)
                                    : Mem::index_only(as_gpr(a), static_cast<unsigned>(inst.imm));
  enc_.rm(Op::LeaRM, inst.width, dst, shifted);
}

/// Operands: rax, rdx (results), rax (dividend), the divisor. The division traps by itself on zero
/// and, signed, on the one quotient that does not fit.
void Emitter::emit_division(std::uint32_t index, const MachInst& inst, Allocs ops, Pseudo kind) {
  const unsigned width = inst.width;
  const Alloc divisor = ops[3];
  const bool is_signed = kind != Pseudo::Udiv;
  if (kind == Pseudo::Srem) {
    // x % -1 is 0 for every x; the instruction would trap for the minimum.
    if (divisor.is_slot()) {
      enc_.mi(Op::CmpMI, width, slot_mem(divisor), -1);
    } else {
      enc_.ri(Op::CmpRI, width, reg(divisor), -1);
    }
    enc_.jcc(Cc::E, begin_cold(index));
  }
  if (is_signed) {
    enc_.none(width == 8 ? Op::Cqo : Op::Cdq);
  } else {
    enc_.rr(Op::XorRR, 4, Gpr::Rdx, Gpr::Rdx);
  }
  if (inst.trap != image::TrapCode::None) buffer_.add_trap(static_cast<std::uint32_t>(inst.trap));
  if (divisor.is_slot()) {
    enc_.m(is_signed ? Op::IdivM : Op::DivM, width, slot_mem(divisor));
  } else {
    enc_.r(is_signed ? Op::IdivR : Op::DivR, width, reg(divisor));
  }
  if (kind == Pseudo::Srem) bind_resume();
}

void Emitter::emit_remainder_cold(const ColdPart& part) {
  enc_.rr(Op::XorRR, 4, Gpr::Rdx, Gpr::Rdx);
  jump_to(part.resume);
}

}  // namespace hoist::isa::x64
