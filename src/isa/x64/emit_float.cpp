// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Float selection, minimum and maximum, conversions from integers.
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using masm::x64::Op;

const FloatOps& float_ops(unsigned float_bytes) {
  static constexpr FloatOps kSingle = {Op::UcomissRR,  Op::UcomissRM,  Op::AddssRR,
                                       Op::SubssRM,    Op::MinssRR,    Op::MaxssRR,
                                       Op::Cvtsi2ssRR, Op::Cvtsi2ssRM, Op::Cvttss2siRR};
  static constexpr FloatOps kDouble = {Op::UcomisdRR,  Op::UcomisdRM,  Op::AddsdRR,
                                       Op::SubsdRM,    Op::MinsdRR,    Op::MaxsdRR,
                                       Op::Cvtsi2sdRR, Op::Cvtsi2sdRM, Op::Cvttsd2siRR};
  return float_bytes == 4 ? kSingle : kDouble;
}

/// Operand 0 (the register of operand 1) = cc ? operand 2 : operand 1.
void Emitter::emit_fselect(const MachInst& inst, Allocs ops) {
  const Reg dst = reg(ops[0]);
  const Reg other = reg(ops[2]);
  if (dst == other) return;
  const Label over = buffer_.new_label();
  enc_.jcc(invert(static_cast<Cc>(inst.cc)), over);
  enc_.rr(Op::MovapsRR, 0, dst, other);
  buffer_.bind(over);
}

/// The minimum (cc 0) or maximum (cc 1) with NaN contagious and -0 below +0. The instruction does
/// it but for equal operands and NaN, which are rare.
void Emitter::emit_fminmax(std::uint32_t index, const MachInst& inst, Allocs ops) {
  const FloatOps& forms = float_ops(inst.width);
  const Reg a = reg(ops[0]);
  const Reg b = reg(ops[2]);
  enc_.rr(forms.ucomis_rr, 0, a, b);
  enc_.jcc(Cc::E, begin_cold(index));  // equal or unordered
  enc_.rr(inst.cc == 0 ? forms.min_rr : forms.max_rr, 0, a, b);
  bind_resume();
}

void Emitter::emit_fminmax_cold(const ColdPart& part) {
  const MachInst& inst = inst_at(part.inst);
  const Allocs ops = allocs_of(inst);
  const Reg a = reg(ops[0]);
  const Reg b = reg(ops[2]);
  const Label nan = buffer_.new_label();
  enc_.jcc(Cc::P, nan);
  // Equal: the same bits, or zeros of either sign.
  enc_.rr(inst.cc == 0 ? Op::OrpsRR : Op::AndpsRR, 0, a, b);
  jump_to(part.resume);
  buffer_.bind(nan);
  enc_.rr(float_ops(inst.width).add_rr, 0, a, b);
  jump_to(part.resume);
}

void Emitter::emit_int_to_float(const MachInst& inst, Allocs ops) {
  const FloatOps& forms = float_ops(inst.cc);
  const Reg dst = reg(ops[0]);
  // The conversion keeps the upper lanes; zeroing them ends a false dependency.
  enc_.rr(Op::XorpsRR, 0, dst, dst);
  if (ops[1].is_slot()) {
    enc_.rm(forms.cvt_si_rm, inst.width, dst, slot_mem(ops[1]));
  } else {
    enc_.rr(forms.cvt_si_rr, inst.width, dst, reg(ops[1]));
  }
}

/// Operands: result, temporary, integer.
void Emitter::emit_u64_to_float(std::uint32_t index, const MachInst& inst, Allocs ops) {
  const Reg dst = reg(ops[0]);
  const Reg source = reg(ops[2]);
  enc_.rr(Op::XorpsRR, 0, dst, dst);
  enc_.rr(Op::TestRR, 8, source, source);
  enc_.jcc(Cc::S, begin_cold(index));
  enc_.rr(float_ops(inst.cc).cvt_si_rr, 8, dst, source);
  bind_resume();
}

/// 2^63 and above: half of it, the lost bit kept so that rounding comes out right, then doubled.
void Emitter::emit_u64_to_float_cold(const ColdPart& part) {
  const MachInst& inst = inst_at(part.inst);
  const Allocs ops = allocs_of(inst);
  const FloatOps& forms = float_ops(inst.cc);
  const Reg dst = reg(ops[0]);
  const Reg half = reg(ops[1]);
  const Label even = buffer_.new_label();
  enc_.rr(Op::MovRR, 8, half, reg(ops[2]));
  enc_.ri(Op::ShrRI, 8, half, 1);
  enc_.jcc(Cc::Ae, even);
  enc_.ri(Op::OrRI, 8, half, 1);
  buffer_.bind(even);
  enc_.rr(forms.cvt_si_rr, 8, dst, half);
  enc_.rr(forms.add_rr, 0, dst, dst);
  jump_to(part.resume);
}

}  // namespace hoist::isa::x64
