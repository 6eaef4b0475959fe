// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Division.
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

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
