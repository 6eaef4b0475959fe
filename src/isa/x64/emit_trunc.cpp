// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Float to integer, trapping and saturating. The instruction answers everything that it cannot
// convert with the minimum ("indefinite"); the cold parts find out why.
#include <cmath>

#include "base/bits.hpp"
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

Mem Emitter::float_constant(unsigned float_bytes, double value) {
  if (float_bytes == 4) {
    const auto single = static_cast<float>(value);
    return Mem::constant(buffer_.add_constant32(base::load_le<std::uint32_t>(&single)));
  }
  return Mem::constant(buffer_.add_constant64(base::load_le<std::uint64_t>(&value)));
}

void Emitter::emit_trunc(std::uint32_t index, const MachInst& inst, Allocs ops, Pseudo kind) {
  const FloatOps& forms = float_ops(inst.cc);
  const Reg dst = reg(ops[0]);
  const Reg x = reg(ops[ops.size() - 1]);
  if (kind == Pseudo::TruncS || kind == Pseudo::TruncSatS) {
    enc_.rr(forms.cvt_to_si_rr, inst.width, dst, x);
    enc_.ri(Op::CmpRI, inst.width, dst, 1);  // overflows for the minimum only
    enc_.jcc(Cc::O, begin_cold(index));
  } else if (kind == Pseudo::TruncU32 || kind == Pseudo::TruncSatU32) {
    const Reg low = reg(ops[1]);
    enc_.rr(forms.cvt_to_si_rr, 8, dst, x);
    enc_.rr(Op::MovRR, 4, low, dst);
    enc_.rr(Op::CmpRR, 8, low, dst);
    enc_.jcc(Cc::Ne, begin_cold(index));
  } else {  // to 64 bits: below 2^63 the signed conversion does
    enc_.rr(forms.cvt_to_si_rr, 8, dst, x);
    enc_.rr(Op::TestRR, 8, dst, dst);
    enc_.jcc(Cc::S, begin_cold(index));
  }
  bind_resume();
}

void Emitter::emit_trunc_cold(const ColdPart& part, Pseudo kind) {
  const MachInst& inst = inst_at(part.inst);
  const Allocs ops = allocs_of(inst);
  const FloatOps& forms = float_ops(inst.cc);
  const Reg dst = reg(ops[0]);
  const Reg x = reg(ops[ops.size() - 1]);
  if (kind == Pseudo::TruncS) return emit_trunc_s_cold(part, inst, ops);
  if (kind == Pseudo::TruncSatS) return emit_trunc_sat_s_cold(part, inst, ops);
  const bool saturate = kind == Pseudo::TruncSatU32 || kind == Pseudo::TruncSatU64;
  const bool is_32 = kind == Pseudo::TruncU32 || kind == Pseudo::TruncSatU32;
  if (is_32) return emit_trunc_bad(part, inst.cc, dst, x, saturate, 4);
  // 2^63 and above: the rest above 2^63 converted; `dst` has the top bit and nothing else.
  const Reg rest = reg(ops[1]);
  const Reg reduced = reg(ops[2]);
  const Label bad = buffer_.new_label();
  enc_.rr(Op::MovapsRR, 0, reduced, x);
  enc_.rm(forms.sub_rm, 0, reduced, float_constant(inst.cc, 0x1p63));
  enc_.rr(forms.cvt_to_si_rr, 8, rest, reduced);
  enc_.rr(Op::TestRR, 8, rest, rest);
  enc_.jcc(Cc::S, bad);
  enc_.rr(Op::XorRR, 8, dst, rest);
  jump_to(part.resume);
  buffer_.bind(bad);
  emit_trunc_bad(part, inst.cc, dst, x, saturate, 8);
}

/// Unsigned, out of range or NaN: traps, or the nearest value with NaN as 0.
void Emitter::emit_trunc_bad(const ColdPart& part, unsigned float_bytes, Reg dst, Reg x,
                             bool saturate, unsigned width) {
  const FloatOps& forms = float_ops(float_bytes);
  if (!saturate) {
    enc_.rr(forms.ucomis_rr, 0, x, x);
    trap_if(Cc::P, image::TrapCode::BadConversion);
    trap_here(image::TrapCode::IntegerOverflow);
    return;
  }
  enc_.rr(Op::XorRR, 4, dst, dst);
  enc_.rm(forms.ucomis_rm, 0, x, float_constant(float_bytes, 0.0));
  enc_.jcc(Cc::Be, part.resume);  // not above 0, or NaN
  enc_.ri(Op::MovRI, width, dst, width == 8 ? std::int64_t{-1} : std::int64_t{0xffff'ffff});
  jump_to(part.resume);
}

/// `dst` is the minimum: because x truncates to it, or is out of range, or NaN.
void Emitter::emit_trunc_s_cold(const ColdPart& part, const MachInst& inst, Allocs ops) {
  const unsigned float_bytes = inst.cc;
  const FloatOps& forms = float_ops(float_bytes);
  const Reg x = reg(ops[1]);
  enc_.rr(forms.ucomis_rr, 0, x, x);
  trap_if(Cc::P, image::TrapCode::BadConversion);
  // A double can lie between the minimum and the next integer below; a single cannot.
  const bool between = inst.width == 4 && float_bytes == 8;
  const double lowest = inst.width == 8 ? -0x1p63 : between ? -0x1p31 - 1 : -0x1p31;
  enc_.rm(forms.ucomis_rm, 0, x, float_constant(float_bytes, lowest));
  const Label overflow = buffer_.new_label();
  enc_.jcc(between ? Cc::Be : Cc::B, overflow);
  enc_.rm(forms.ucomis_rm, 0, x, float_constant(float_bytes, 0.0));
  enc_.jcc(Cc::B, part.resume);
  buffer_.bind(overflow);
  trap_here(image::TrapCode::IntegerOverflow);
}

void Emitter::emit_trunc_sat_s_cold(const ColdPart& part, const MachInst& inst, Allocs ops) {
  const FloatOps& forms = float_ops(inst.cc);
  const Reg dst = reg(ops[0]);
  const Reg x = reg(ops[1]);
  const Label nan = buffer_.new_label();
  enc_.rm(forms.ucomis_rm, 0, x, float_constant(inst.cc, 0.0));
  enc_.jcc(Cc::P, nan);
  enc_.jcc(Cc::B, part.resume);  // the minimum it is
  enc_.ri(Op::MovRI, inst.width, dst, inst.width == 8 ? INT64_MAX : std::int64_t{INT32_MAX});
  jump_to(part.resume);
  buffer_.bind(nan);
  enc_.rr(Op::XorRR, 4, dst, dst);
  jump_to(part.resume);
}

}  // namespace hoist::isa::x64
