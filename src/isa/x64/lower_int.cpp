// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Integer arithmetic, logic, shifts.
#include <bit>

#include "base/bits.hpp"
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

/// d = x op y: with an immediate, with memory, or between registers.
void Lowering::lower_alu(ir::Inst inst, Op rr_form, bool commutes) {
  const VReg d = result(inst);
  const ir::Type t = type(func().result(inst));
  const unsigned width = op_width(t);
  const unsigned bits = t.bits();
  ir::Value x = resolve(func().arg_a(inst));
  ir::Value y = resolve(func().arg_b(inst));
  if (commutes && constant(x) && !constant(y)) std::swap(x, y);
  if (const auto imm = immediate(y, width))
    return ri(next(rr_form, 3), width, d, low(x, bits), *imm);
  Address memory;
  if (t.bytes() >= 4) {
    if (fold_load(y, inst, memory)) return rm(next(rr_form), width, d, low(x, bits), memory);
    if (commutes && fold_load(x, inst, memory)) {
      return rm(next(rr_form), width, d, low(y, bits), memory);
    }
  }
  // The first operand is overwritten: better one that is not needed any more.
  if (commutes && !is_single_use(x) && is_single_use(y)) std::swap(x, y);
  const VReg first = low(x, bits);
  rr(rr_form, width, d, first, low(y, bits));
}

/// Bitwise operations exist on floats too: packed ones between registers.
void Lowering::lower_logic(ir::Inst inst, Op int_rr, Op float_rr) {
  if (type(func().result(inst)).is_int()) return lower_alu(inst, int_rr, true);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  emit(mi(float_rr, 16), {codegen::def_same(result(inst), 1), codegen::use(x), codegen::use(y)});
}

/// base + (index << 1..3)
bool Lowering::lower_scaled_add(ir::Inst inst, ir::Value base, ir::Value scaled) {
  const ir::Inst shift = match(scaled, ir::Op::Ishl);
  if (shift.is_none() || !can_fuse(shift, inst)) return false;
  const ir::Type t = type(scaled);
  const auto amount = constant(func().arg_b(shift));
  if (!amount || *amount % t.bits() == 0 || *amount % t.bits() > 3) return false;
  Address sum;
  sum.kind = codegen::AddrKind::BaseIndex;
  sum.scale = static_cast<std::uint8_t>(*amount % t.bits());
  sum.base = low(base, t.bits());
  sum.index = low(func().arg_a(shift), t.bits());
  load_into(Op::LeaRM, op_width(t), result(inst), sum);
  return true;
}

void Lowering::lower_add(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Type t = type(func().result(inst));
  const unsigned width = op_width(t);
  ir::Value x = resolve(func().arg_a(inst));
  ir::Value y = resolve(func().arg_b(inst));
  if (constant(x) && !constant(y)) std::swap(x, y);
  if (must_set_flags(inst)) return lower_alu(inst, Op::AddRR, true);
  if (const auto imm = immediate(y, width)) {
    emit(mi(Pseudo::AddImm, width, static_cast<std::int32_t>(*imm)),
         {codegen::def(d), codegen::use(low(x, t.bits()))});
    return;
  }
  Address memory;
  if (t.bytes() >= 4) {
    if (lower_scaled_add(inst, x, y) || lower_scaled_add(inst, y, x)) return;
    if (fold_load(y, inst, memory)) return rm(Op::AddRM, width, d, low(x, t.bits()), memory);
    if (fold_load(x, inst, memory)) return rm(Op::AddRM, width, d, low(y, t.bits()), memory);
  }
  const VReg first = low(x, t.bits());
  emit(mi(Pseudo::AddRegs, width),
       {codegen::def(d), codegen::use(first), codegen::use(low(y, t.bits()))});
}

void Lowering::lower_sub(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const unsigned width = op_width(t);
  const ir::Value x = func().arg_a(inst);
  const ir::Value y = func().arg_b(inst);
  if (constant(x) == std::uint64_t{0}) {
    return r(Op::NegR, width, result(inst), low(y, t.bits()));
  }
  if (const auto imm = immediate(y, width); imm && fits_imm32(-*imm) && !must_set_flags(inst)) {
    emit(mi(Pseudo::AddImm, width, -*imm),
         {codegen::def(result(inst)), codegen::use(low(x, t.bits()))});
    return;
  }
  lower_alu(inst, Op::SubRR, false);
}

void Lowering::lower_mul(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Type t = type(func().result(inst));
  const unsigned width = op_width(t);
  const unsigned bits = t.bits();
  ir::Value x = resolve(func().arg_a(inst));
  ir::Value y = resolve(func().arg_b(inst));
  if (constant(x) && !constant(y)) std::swap(x, y);
  Address memory;
  if (const auto imm = immediate(y, width)) {
    if (*imm == 3 || *imm == 5 || *imm == 9) {
      Address sum;
      sum.kind = codegen::AddrKind::BaseIndex;
      sum.scale = *imm == 3 ? 1 : *imm == 5 ? 2 : 3;
      sum.base = sum.index = low(x, bits);
      return load_into(Op::LeaRM, width, d, sum);
    }
    if (*imm > 0 && std::has_single_bit(static_cast<std::uint64_t>(*imm))) {
      const int log2 = std::countr_zero(static_cast<std::uint64_t>(*imm));
      return ri(Op::ShlRI, width, d, low(x, bits), log2);
    }
    if (t.bytes() >= 4 && fold_load(x, inst, memory)) {
      emit(mi(Op::ImulRMI, width, *imm), {codegen::def(d)}, memory);
      return;
    }
    emit(mi(Op::ImulRRI, width, *imm), {codegen::def(d), codegen::use_any(low(x, bits))});
    return;
  }
  if (t.bytes() >= 4) {
    if (fold_load(y, inst, memory)) return rm(Op::ImulRM, width, d, low(x, bits), memory);
    if (fold_load(x, inst, memory)) return rm(Op::ImulRM, width, d, low(y, bits), memory);
  }
  if (!is_single_use(x) && is_single_use(y)) std::swap(x, y);
  const VReg first = low(x, bits);
  rr(Op::ImulRR, width, d, first, low(y, bits));
}

VReg Lowering::multiply_high(VReg x, std::uint64_t factor, bool is_signed) {
  const VReg other = make_int(factor);
  const VReg low_half = new_int();
  const VReg high = new_int();
  emit(mi(is_signed ? Op::ImulR : Op::MulR, 8),
       {codegen::def_fixed(low_half, preg(Gpr::Rax)), codegen::def_fixed(high, preg(Gpr::Rdx)),
        codegen::use_fixed(other, preg(Gpr::Rax)), codegen::use_any(x)});
  return high;
}

void Lowering::lower_mul_high(ir::Inst inst, bool is_signed) {
  const VReg d = result(inst);
  const unsigned bits = type(func().result(inst)).bits();
  const ir::Value x = func().arg_a(inst);
  const ir::Value y = func().arg_b(inst);
  if (bits == 64) {
    const VReg first = reg(x);
    emit(mi(is_signed ? Op::ImulR : Op::MulR, 8),
         {codegen::def_fixed(new_int(), preg(Gpr::Rax)), codegen::def_fixed(d, preg(Gpr::Rdx)),
          codegen::use_fixed(first, preg(Gpr::Rax)), codegen::use_any(reg(y))});
    return;
  }
  // The product fits a register.
  VReg a = extended(x, is_signed);
  VReg b = extended(y, is_signed);
  if (bits == 32) {
    if (is_signed) {
      a = mov(Op::MovsxdRR, 8, a);
      b = mov(Op::MovsxdRR, 8, b);
    }
    const VReg product = rr(Op::ImulRR, 8, a, b);
    return ri(Op::ShrRI, 8, d, product, 32);
  }
  const VReg product = rr(Op::ImulRR, 4, a, b);
  ri(Op::ShrRI, 4, d, product, bits);
}

void Lowering::lower_and(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Type t = type(func().result(inst));
  ir::Value x = resolve(func().arg_a(inst));
  ir::Value y = resolve(func().arg_b(inst));
  if (t.is_float()) return lower_logic(inst, Op::AndRR, Op::AndpsRR);
  if (constant(x) && !constant(y)) std::swap(x, y);
  const unsigned bits = t.bits();
  const auto mask = constant(y);
  if (mask && bits == 64 && *mask <= 0xffff'ffff && must_set_flags(inst)) {
    return ri(Op::AndRI, 4, d, low(x, 32), static_cast<std::int32_t>(*mask));
  }
  if (mask && bits >= 32 && !must_set_flags(inst)) {
    // Moves that extend need no copy.
    if (*mask == 0xff) return mov(Op::Movzx8RR, 4, d, low(x, 8));
    if (*mask == 0xffff) return mov(Op::Movzx16RR, 4, d, low(x, 16));
    if (*mask == 0xffff'ffff && bits == 64) {
      emit(mi(Op::MovRR, 4), {codegen::def(d), codegen::use_any(low(x, 32))});
      return;
    }
    // Bits 0 to 31 only: the 32-bit form clears the rest.
    if (bits == 64 && *mask <= 0xffff'ffff) {
      return ri(Op::AndRI, 4, d, low(x, 32), static_cast<std::int32_t>(*mask));
    }
  }
  if (has(Feature::Bmi1) && bits >= 32) {
    for (const bool second : {true, false}) {
      const ir::Value inverted = second ? y : x;
      const ir::Value other = second ? x : y;
      const ir::Inst bnot = match(inverted, ir::Op::Bnot);
      if (bnot.is_none() || !is_single_use(inverted)) continue;
      const VReg a = low(func().arg_a(bnot), bits);
      emit(mi(Op::AndnRRR, op_width(t)),
           {codegen::def(d), codegen::use(a), codegen::use(low(other, bits))});
      return;
    }
  }
  lower_alu(inst, Op::AndRR, true);
}

void Lowering::lower_bnot(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  if (t.is_float()) {
    const VReg x = reg(func().arg_a(inst));
    return rm(Op::XorpsRM, 16, result(inst), x,
              constant_address(16, ~std::uint64_t{0}, ~std::uint64_t{0}));
  }
  r(Op::NotR, op_width(t), result(inst), low(func().arg_a(inst), t.bits()));
}

void Lowering::lower_abs(ir::Inst inst) {
  const unsigned width = op_width(type(func().result(inst)));
  const VReg x = extended(func().arg_a(inst), true);
  const VReg negated = new_int();
  r(Op::NegR, width, negated, x);
  cmov(Cc::S, width, result(inst), negated, x);
}

void Lowering::lower_min_max(ir::Inst inst, Cc cc, bool is_signed) {
  const unsigned width = op_width(type(func().result(inst)));
  const VReg x = extended(func().arg_a(inst), is_signed);
  const VReg y = extended(func().arg_b(inst), is_signed);
  emit(mi(Op::CmpRR, width), {codegen::use(x), codegen::use_any(y)});
  cmov(cc, width, result(inst), y, x);
}

void Lowering::lower_overflow(ir::Inst inst, Op rr_form, Cc cc) {
  const ir::Type t = type(func().results(inst)[0]);
  const ir::Value y = func().arg_b(inst);
  const VReg x = reg(func().arg_a(inst));
  if (const auto imm = immediate(y, t.bytes())) {
    ri(next(rr_form, 3), t.bytes(), result(inst, 0), x, *imm);
  } else {
    rr(rr_form, t.bytes(), result(inst, 0), x, reg(y));
  }
  if (is_used(func().results(inst)[1])) setcc(cc, result(inst, 1), false);
}

void Lowering::lower_mul_overflow(ir::Inst inst, bool is_signed) {
  const unsigned bytes = type(func().results(inst)[0]).bytes();
  const ir::Value x = func().arg_a(inst);
  const ir::Value y = func().arg_b(inst);
  const VReg d = result(inst, 0);
  const VReg flag = result(inst, 1);
  if (bytes == 1) {
    // The exact product fits; it overflows if it is not what its low byte extends to.
    const VReg a = extended(x, is_signed);
    const VReg b = extended(y, is_signed);
    rr(Op::ImulRR, 4, d, a, b);
    const VReg again = mov(is_signed ? Op::Movsx8RR : Op::Movzx8RR, 4, d);
    emit(mi(Op::CmpRR, 4), {codegen::use(again), codegen::use(d)});
    return setcc(Cc::Ne, flag, false);
  }
  const VReg a = reg(x);
  const VReg b = reg(y);
  if (is_signed) {
    rr(Op::ImulRR, bytes, d, a, b);
  } else {
    emit(mi(Op::MulR, bytes),
         {codegen::def_fixed(d, preg(Gpr::Rax)), codegen::def_fixed(new_int(), preg(Gpr::Rdx)),
          codegen::use_fixed(a, preg(Gpr::Rax)), codegen::use_any(b)});
  }
  setcc(Cc::O, flag, false);
}

void Lowering::lower_add_trap(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const ir::Value y = func().arg_b(inst);
  const VReg x = reg(func().arg_a(inst));
  if (const auto imm = immediate(y, t.bytes())) {
    ri(Op::AddRI, t.bytes(), result(inst), x, *imm);
  } else {
    rr(Op::AddRR, t.bytes(), result(inst), x, reg(y));
  }
  trap_if(Cc::B, func().trap_code(inst));
}

/// `by_cl` is the two-address form; the amount is taken modulo the width by the processor.
void Lowering::shift_by_register(Op by_cl, Op bmi2, unsigned width, VReg d, VReg x, VReg amount) {
  if (has(Feature::Bmi2)) {
    emit(mi(bmi2, width), {codegen::def(d), codegen::use(x), codegen::use(amount)});
    return;
  }
  emit(mi(by_cl, width),
       {codegen::def_same(d, 1), codegen::use(x), codegen::use_fixed(amount, preg(Gpr::Rcx))});
}

void Lowering::lower_shift(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const VReg d = result(inst);
  const ir::Type t = type(func().result(inst));
  const unsigned bits = t.bits();
  const unsigned width = op_width(t);
  const ir::Value x = func().arg_a(inst);
  const ir::Value y = func().arg_b(inst);
  const bool is_left = op == ir::Op::Ishl;
  // A right shift of a narrow value looks at its upper bits.
  const auto shifted = [&] { return is_left ? low(x, bits) : extended(x, op == ir::Op::Sshr); };
  const Op by_imm = is_left ? Op::ShlRI : op == ir::Op::Ushr ? Op::ShrRI : Op::SarRI;
  if (const auto imm = constant(y)) {
    const auto amount = static_cast<std::int64_t>(*imm % bits);
    if (is_left && amount >= 1 && amount <= 3) {
      emit(mi(Pseudo::ShlSmall, width, amount), {codegen::def(d), codegen::use(low(x, bits))});
      return;
    }
    if (is_left && amount == 0) {
      // Two-address with no effect but the copy; keeps an i32 zero-extended.
      emit(mi(Op::MovRR, width), {codegen::def(d), codegen::use_any(low(x, bits))});
      return;
    }
    return ri(by_imm, width, d, shifted(), amount);
  }
  VReg amount;
  if (bits >= 32) {
    amount = low(y, bits == 64 ? 6 : 5);
  } else {
    amount = ri(Op::AndRI, 4, low(y, bits == 16 ? 4 : 3), bits - 1);
  }
  const Op by_cl = next(by_imm, 2);
  const Op bmi2 = is_left ? Op::ShlxRRR : op == ir::Op::Ushr ? Op::ShrxRRR : Op::SarxRRR;
  shift_by_register(by_cl, bmi2, width, d, shifted(), amount);
}

void Lowering::lower_rotate(ir::Inst inst, Op by_imm) {
  const VReg d = result(inst);
  const unsigned bytes = type(func().result(inst)).bytes();
  const unsigned bits = bytes * 8;
  const VReg x = low(func().arg_a(inst), bits);
  const ir::Value y = func().arg_b(inst);
  if (const auto imm = constant(y)) {
    const auto amount = static_cast<std::int64_t>(*imm % bits);
    if (has(Feature::Bmi2) && bytes >= 4) {
      const bool is_left = by_imm == Op::RolRI;
      emit(mi(Op::RorxRRI, bytes, is_left ? (bits - amount) % bits : amount),
           {codegen::def(d), codegen::use(x)});
      return;
    }
    if (amount == 0) {
      emit(mi(Op::MovRR, bytes < 4 ? 4 : bytes), {codegen::def(d), codegen::use_any(x)});
      return;
    }
    return ri(by_imm, bytes, d, x, amount);
  }
  // The processor masks the amount to 5 bits; that of a narrow rotation to fewer does not matter,
  // since rotating by the width changes nothing.
  const VReg amount = low(y, bytes == 8 ? 6 : 5);
  emit(mi(next(by_imm, 2), bytes),
       {codegen::def_same(d, 1), codegen::use(x), codegen::use_fixed(amount, preg(Gpr::Rcx))});
}

/// ((x ^ y) & c) ^ y
void Lowering::lower_bitselect(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  if (t.is_float()) {
    const VReg mask = reg(func().arg_a(inst));
    const VReg if_one = reg(func().arg_b(inst));
    const VReg if_zero = reg(func().arg_c(inst));
    const auto packed = [&](Op op, VReg d, VReg a, VReg b) {
      emit(mi(op, 16), {codegen::def_same(d, 1), codegen::use(a), codegen::use(b)});
    };
    const VReg ones = new_float();
    const VReg zeros = new_float();
    packed(Op::AndpsRR, ones, if_one, mask);
    packed(Op::AndnpsRR, zeros, mask, if_zero);
    return packed(Op::OrpsRR, result(inst), ones, zeros);
  }
  const unsigned width = op_width(t);
  const VReg c = low(func().arg_a(inst), t.bits());
  const VReg x = low(func().arg_b(inst), t.bits());
  const VReg y = low(func().arg_c(inst), t.bits());
  const VReg differing = rr(Op::XorRR, width, x, y);
  const VReg chosen = rr(Op::AndRR, width, differing, c);
  rr(Op::XorRR, width, result(inst), chosen, y);
}

}  // namespace hoist::isa::x64
