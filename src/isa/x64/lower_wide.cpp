// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// i128: pairs of 64-bit registers, halves of constants and extensions taken where they are.
///
/// Carries live in the flags between two neighbours of a sequence: what register allocation may put
/// between them (moves, loads of constants) leaves the flags alone.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

// ---- Halves.

Lowering::Halves Lowering::wide(ir::Value value) {
  const ir::Value v = resolve(value);
  const ir::Inst inst = def_of(v);
  if (inst.is_some()) {
    const ir::Op op = func().op(inst);
    if (op == ir::Op::Iconcat) {
      const VReg lo = reg(func().arg_a(inst));
      return {lo, reg(func().arg_b(inst))};
    }
    // An i32 is zero-extended in its register.
    if (op == ir::Op::Uextend && type(func().arg_a(inst)).bits() >= 32) {
      const VReg lo = reg(func().arg_a(inst));
      return {lo, make_int(0)};
    }
  }
  const VReg lo = vreg_of(v);
  return {lo, high_of(v)};
}

Lowering::Halves Lowering::wide_result(ir::Inst inst) {
  const ir::Value v = func().results(inst)[0];
  const VReg lo = vreg_of(v);
  return {lo, high_of(v)};
}

void Lowering::push_registers(ir::Value v, std::vector<VReg>& out) {
  if (type(v) != ir::I128) {
    out.push_back(reg(v));
    return;
  }
  const Halves x = wide(v);
  out.push_back(x.lo);
  out.push_back(x.hi);
}

void Lowering::move_wide(Halves d, Halves x) {
  move(d.lo, x.lo);
  move(d.hi, x.hi);
}

void Lowering::wide_pair(Op low_rr, Op high_rr, Halves d, Halves x, Halves y) {
  rr(low_rr, 8, d.lo, x.lo, y.lo);
  rr(high_rr, 8, d.hi, x.hi, y.hi);
}

Lowering::Halves Lowering::new_wide() {
  const VReg lo = new_int();
  return {lo, new_int()};
}

/// d = cc ? then : otherwise
void Lowering::wide_select(Cc cc, Halves d, Halves otherwise, Halves then) {
  cmov(cc, 8, d.lo, otherwise.lo, then.lo);
  cmov(cc, 8, d.hi, otherwise.hi, then.hi);
}

// ---- Comparison.

/// The flags of a comparison of two i128.
Condition Lowering::compare_wide(ir::IntCC cc, ir::Value a, ir::Value b) {
  Condition out;
  bool swap = false;
  switch (cc) {
    case ir::IntCC::Eq: out.cc = Cc::E; break;
    case ir::IntCC::Ne: out.cc = Cc::Ne; break;
    case ir::IntCC::Slt: out.cc = Cc::L; break;
    case ir::IntCC::Sge: out.cc = Cc::Ge; break;
    case ir::IntCC::Ult: out.cc = Cc::B; break;
    case ir::IntCC::Uge: out.cc = Cc::Ae; break;
    case ir::IntCC::Sgt:
      out.cc = Cc::L;
      swap = true;
      break;
    case ir::IntCC::Sle:
      out.cc = Cc::Ge;
      swap = true;
      break;
    case ir::IntCC::Ugt:
      out.cc = Cc::B;
      swap = true;
      break;
    case ir::IntCC::Ule:
      out.cc = Cc::Ae;
      swap = true;
      break;
  }
  if (swap) std::swap(a, b);
  const Halves x = wide(a);
  const bool is_equality = out.cc == Cc::E || out.cc == Cc::Ne;
  if (const auto imm = wide_immediate(b)) {
    if (is_equality) {
      const bool is_zero = (*imm)[0] == 0 && (*imm)[1] == 0;
      const VReg low_bits = is_zero ? x.lo : ri(Op::XorRI, 8, x.lo, (*imm)[0]);
      const VReg high_bits = is_zero ? x.hi : ri(Op::XorRI, 8, x.hi, (*imm)[1]);
      static_cast<void>(rr(Op::OrRR, 8, low_bits, high_bits));
    } else {
      emit(mi(Op::CmpRI, 8, (*imm)[0]), {codegen::use(x.lo)});
      static_cast<void>(ri(Op::SbbRI, 8, x.hi, (*imm)[1]));
    }
    return out;
  }
  const Halves y = wide(b);
  if (is_equality) {
    const VReg low_bits = rr(Op::XorRR, 8, x.lo, y.lo);
    const VReg high_bits = rr(Op::XorRR, 8, x.hi, y.hi);
    static_cast<void>(rr(Op::OrRR, 8, low_bits, high_bits));
    return out;
  }
  emit(mi(Op::CmpRR, 8), {codegen::use(x.lo), codegen::use_any(y.lo)});
  static_cast<void>(rr(Op::SbbRR, 8, x.hi, y.hi));
  return out;
}

/// Sets ZF for the value being 0.
Condition Lowering::wide_condition(ir::Value v) {
  const Halves x = wide(v);
  static_cast<void>(rr(Op::OrRR, 8, x.lo, x.hi));
  return {Condition::Kind::One, Cc::Ne};
}

void Lowering::lower_wide_select(ir::Inst inst) {
  const Halves d = wide_result(inst);
  Halves then = wide(func().arg_b(inst));
  Halves otherwise = wide(func().arg_c(inst));
  Condition c = condition(func().arg_a(inst), inst);
  if (c.kind == Condition::Kind::Feq) {
    c = c.inverted();
    std::swap(then, otherwise);
  }
  if (c.kind == Condition::Kind::One) return wide_select(c.cc, d, otherwise, then);
  const Halves step = new_wide();
  wide_select(Cc::Ne, step, otherwise, then);
  wide_select(Cc::P, d, step, then);
}

void Lowering::lower_wide_min_max(ir::Inst inst, ir::IntCC cc) {
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const Halves y = wide(func().arg_b(inst));
  const Condition c = compare_wide(cc, func().arg_a(inst), func().arg_b(inst));
  wide_select(c.cc, d, y, x);
}

// ---- Arithmetic.

/// All bits like the sign.
VReg Lowering::wide_sign(Halves x) {
  return ri(Op::SarRI, 8, x.hi, 63);
}

void Lowering::lower_wide_abs(ir::Inst inst) {
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const VReg sign = wide_sign(x);
  const Halves signs = {sign, sign};
  const Halves flipped = new_wide();
  wide_pair(Op::XorRR, Op::XorRR, flipped, x, signs);
  wide_pair(Op::SubRR, Op::SbbRR, d, flipped, signs);
}

/// A product of two values that were extended from 64 bits: one instruction.
bool Lowering::wide_mul_of_extended(ir::Inst inst) {
  const ir::Inst x = def_of(func().arg_a(inst));
  const ir::Inst y = def_of(func().arg_b(inst));
  if (x.is_none() || y.is_none() || func().op(x) != func().op(y)) return false;
  const ir::Op op = func().op(x);
  if (op != ir::Op::Sextend && op != ir::Op::Uextend) return false;
  if (type(func().arg_a(x)) != ir::I64 || type(func().arg_a(y)) != ir::I64) return false;
  const Halves d = wide_result(inst);
  const VReg a = reg(func().arg_a(x));
  const VReg b = reg(func().arg_a(y));
  emit(mi(op == ir::Op::Sextend ? Op::ImulR : Op::MulR, 8),
       {codegen::def_fixed(d.lo, preg(Gpr::Rax)), codegen::def_fixed(d.hi, preg(Gpr::Rdx)),
        codegen::use_fixed(a, preg(Gpr::Rax)), codegen::use_any(b)});
  return true;
}

void Lowering::lower_wide_mul(ir::Inst inst) {
  if (wide_mul_of_extended(inst)) return;
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const Halves y = wide(func().arg_b(inst));
  const VReg cross = rr(Op::ImulRR, 8, x.hi, y.lo);
  const VReg other_cross = rr(Op::ImulRR, 8, y.hi, x.lo);
  const VReg crosses = rr(Op::AddRR, 8, cross, other_cross);
  const VReg high = new_int();
  emit(mi(Op::MulR, 8),
       {codegen::def_fixed(d.lo, preg(Gpr::Rax)), codegen::def_fixed(high, preg(Gpr::Rdx)),
        codegen::use_fixed(x.lo, preg(Gpr::Rax)), codegen::use_any(y.lo)});
  rr(Op::AddRR, 8, d.hi, high, crosses);
}

void Lowering::lower_wide_overflow(ir::Inst inst, Op low_rr, Op high_rr, Cc cc) {
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const Halves y = wide(func().arg_b(inst));
  wide_pair(low_rr, high_rr, d, x, y);
  if (is_used(func().results(inst)[1])) setcc(cc, result(inst, 1), false);
}

/// Sums and differences with a carry in: of every width.
void Lowering::lower_carry(ir::Inst inst, Op op, Cc cc) {
  const ir::Type t = type(func().results(inst)[0]);
  const ir::Value x = func().arg_a(inst);
  const ir::Value y = func().arg_b(inst);
  // Negating anything but 0 sets the carry.
  const auto set_carry = [&] {
    const VReg carry = low(func().arg_c(inst), 8);
    const VReg negated = new_int();
    r(Op::NegR, 1, negated, carry);
  };
  if (t == ir::I128) {
    const Halves d = wide_result(inst);
    const Halves a = wide(x);
    const Halves b = wide(y);
    set_carry();
    wide_pair(op, op, d, a, b);
  } else {
    const VReg d = result(inst);
    const VReg a = reg(x);
    const VReg b = reg(y);
    set_carry();
    rr(op, t.bytes(), d, a, b);
  }
  if (is_used(func().results(inst)[1])) setcc(cc, result(inst, 1), false);
}

// ---- Shifts.

/// `n` from 0 to 127.
void Lowering::wide_shift_by(ir::Op op, Halves d, Halves x, std::int64_t n) {
  if (n == 0) return move_wide(d, x);
  const bool is_left = op == ir::Op::Ishl;
  const VReg from = is_left ? x.lo : x.hi;
  const VReg onto = is_left ? x.hi : x.lo;
  const VReg near = is_left ? d.lo : d.hi;
  const VReg far = is_left ? d.hi : d.lo;
  const Op single = is_left ? Op::ShlRI : op == ir::Op::Ushr ? Op::ShrRI : Op::SarRI;
  if (n < 64) {
    emit(mi(is_left ? Op::ShldRRI : Op::ShrdRRI, 8, n),
         {codegen::def_same(far, 1), codegen::use(onto), codegen::use(from)});
    return ri(single, 8, near, from, n);
  }
  if (n == 64) {
    move(far, from);
  } else {
    ri(single, 8, far, from, n - 64);
  }
  if (op == ir::Op::Sshr) return ri(Op::SarRI, 8, near, from, 63);
  emit(mi(Op::MovRI, 4, 0), {codegen::def(near)});
}

/// The processor takes amounts modulo 64; bit 6 then decides between halves.
void Lowering::lower_wide_shift(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  if (const auto imm = constant(func().arg_b(inst))) {
    return wide_shift_by(op, d, x, static_cast<std::int64_t>(*imm % 128));
  }
  const bool is_left = op == ir::Op::Ishl;
  const VReg amount = low(func().arg_b(inst), 7);
  const VReg from = is_left ? x.lo : x.hi;
  const VReg onto = is_left ? x.hi : x.lo;
  const VReg both = new_int();
  emit(mi(is_left ? Op::ShldRRC : Op::ShrdRRC, 8),
       {codegen::def_same(both, 1), codegen::use(onto), codegen::use(from),
        codegen::use_fixed(amount, preg(Gpr::Rcx))});
  const VReg single = new_int();
  const Op by_cl = is_left ? Op::ShlRC : op == ir::Op::Ushr ? Op::ShrRC : Op::SarRC;
  const Op bmi2 = is_left ? Op::ShlxRRR : op == ir::Op::Ushr ? Op::ShrxRRR : Op::SarxRRR;
  shift_by_register(by_cl, bmi2, 8, single, from, amount);
  const VReg filler = op == ir::Op::Sshr ? wide_sign(x) : make_int(0);
  emit(mi(Op::TestRI, 1, 64), {codegen::use(amount)});
  cmov(Cc::Ne, 8, is_left ? d.hi : d.lo, both, single);
  cmov(Cc::Ne, 8, is_left ? d.lo : d.hi, single, filler);
}

void Lowering::lower_wide_rotate(ir::Inst inst) {
  const bool is_left = func().op(inst) == ir::Op::Rotl;
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const auto rotate = [&](Halves v, auto&& half) {
    half(d.lo, v.lo, v.hi);
    half(d.hi, v.hi, v.lo);
  };
  if (const auto imm = constant(func().arg_b(inst))) {
    const auto n = static_cast<std::int64_t>(*imm % 128);
    const Halves v = n >= 64 ? Halves{x.hi, x.lo} : x;
    if (n % 64 == 0) return move_wide(d, v);
    return rotate(v, [&](VReg to, VReg onto, VReg from) {
      emit(mi(is_left ? Op::ShldRRI : Op::ShrdRRI, 8, n % 64),
           {codegen::def_same(to, 1), codegen::use(onto), codegen::use(from)});
    });
  }
  const VReg amount = low(func().arg_b(inst), 7);
  emit(mi(Op::TestRI, 1, 64), {codegen::use(amount)});
  const Halves v = new_wide();
  wide_select(Cc::Ne, v, x, {x.hi, x.lo});
  rotate(v, [&](VReg to, VReg onto, VReg from) {
    emit(mi(is_left ? Op::ShldRRC : Op::ShrdRRC, 8),
         {codegen::def_same(to, 1), codegen::use(onto), codegen::use(from),
          codegen::use_fixed(amount, preg(Gpr::Rcx))});
  });
}

// ---- Bits.

/// 64 more than the count of the half that is looked at second, if the first is 0.
void Lowering::wide_count(VReg d, VReg first, VReg first_count, VReg second_count) {
  const VReg beyond = ri(Op::AddRI, 8, second_count, 64);
  emit(mi(Op::TestRR, 8), {codegen::use(first), codegen::use(first)});
  cmov(Cc::E, 8, d, first_count, beyond);
}

void Lowering::wide_leading_zeros(VReg d, Halves x) {
  const VReg high_count = new_int();
  const VReg low_count = new_int();
  count_leading_zeros(8, high_count, x.hi);
  count_leading_zeros(8, low_count, x.lo);
  wide_count(d, x.hi, high_count, low_count);
}

void Lowering::lower_wide_bits(ir::Inst inst) {
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const VReg a = new_int();
  const VReg b = new_int();
  switch (func().op(inst)) {
    case ir::Op::Bswap: r(Op::BswapR, 8, d.lo, x.hi); return r(Op::BswapR, 8, d.hi, x.lo);
    case ir::Op::Bitrev: reverse_bits(64, d.lo, x.hi); return reverse_bits(64, d.hi, x.lo);
    case ir::Op::Popcnt:
      count_ones(8, a, x.lo);
      count_ones(8, b, x.hi);
      rr(Op::AddRR, 8, d.lo, a, b);
      break;
    case ir::Op::Clz: wide_leading_zeros(d.lo, x); break;
    case ir::Op::Ctz:
      count_trailing_zeros(8, a, x.lo);
      count_trailing_zeros(8, b, x.hi);
      wide_count(d.lo, x.lo, a, b);
      break;
    default: {  // Cls
      const VReg sign = wide_sign(x);
      const Halves differing = new_wide();
      wide_pair(Op::XorRR, Op::XorRR, differing, x, {sign, sign});
      wide_leading_zeros(a, differing);
      ri(Op::SubRI, 8, d.lo, a, 1);
      break;
    }
  }
  emit(mi(Op::MovRI, 4, 0), {codegen::def(d.hi)});
}

// ---- Conversion.

void Lowering::lower_wide_extend(ir::Inst inst, bool is_signed) {
  const Halves d = wide_result(inst);
  const ir::Value x = func().arg_a(inst);
  const unsigned bits = type(x).bits();
  if (!is_signed) {
    emit(mi(Op::MovRR, 8), {codegen::def(d.lo), codegen::use_any(extended(x, false))});
    emit(mi(Op::MovRI, 4, 0), {codegen::def(d.hi)});
    return;
  }
  VReg from = low(x, bits);
  if (bits < 64) {
    from = mov(bits == 8 ? Op::Movsx8RR : bits == 16 ? Op::Movsx16RR : Op::MovsxdRR, 8, from);
  }
  move(d.lo, from);
  ri(Op::SarRI, 8, d.hi, from, 63);
}

void Lowering::lower_wide_bmask(ir::Inst inst) {
  const ir::Value x = func().arg_a(inst);
  VReg any;
  if (type(x) == ir::I128) {
    const Halves halves = wide(x);
    any = rr(Op::OrRR, 8, halves.lo, halves.hi);
  } else {
    any = extended(x, false);
  }
  // The carry is set unless all bits are 0.
  const VReg negated = new_int();
  r(Op::NegR, type(x).bits() <= 32 ? 4 : 8, negated, any);
  const VReg mask = new_int();
  rr(Op::SbbRR, 8, mask, negated, negated);
  if (type(func().results(inst)[0]) == ir::I128) return move_wide(wide_result(inst), {mask, mask});
  const bool is_i32 = type(func().results(inst)[0]) == ir::I32;
  emit(mi(Op::MovRR, is_i32 ? 4 : 8), {codegen::def(result(inst)), codegen::use_any(mask)});
}

void Lowering::lower_wide_bitcast(ir::Inst inst) {
  const bool is_big = func().mem_flags(inst).endian == 2;
  if (type(func().results(inst)[0]) == ir::I128) {
    const Halves d = wide_result(inst);
    const ir::Value from = func().arg_a(inst);
    if (type(from) == ir::I128) return move_wide(d, wide(from));
    VReg x = reg(from);
    if (is_big) x = in_other_lanes(x, type(from).lane_bits() / 8, 16);
    mov(Op::MovqRX, 8, d.lo, x);
    emit(mi(Op::PextrqRXI, 8, 1), {codegen::def(d.hi), codegen::use(x)});
    return;
  }
  const VReg d = result(inst);
  const ir::Type to = type(func().result(inst));
  VReg x = joined(wide(func().arg_a(inst)));
  if (is_big) x = in_other_lanes(x, 16, to.lane_bits() / 8);
  move(d, x, codegen::RegClass::Float);
}

/// Both halves in one register of 16 bytes.
VReg Lowering::joined(Halves x) {
  const VReg lower = new_vec();
  const VReg d = new_vec();
  mov(Op::MovqXR, 8, lower, x.lo);
  emit(mi(Op::PinsrqXRI, 8, 1), {codegen::def_same(d, 1), codegen::use(lower), codegen::use(x.hi)});
  return d;
}

// ---- Memory.

/// The address of the upper half.
Address Lowering::upper_half(const Address& address) {
  Address out = address;
  if (out.disp <= 0x7fff'fff7) {
    out.disp += 8;
    return out;
  }
  const VReg base = new_int();
  Address whole = address;
  whole.trap = image::TrapCode::None;
  load_into(Op::LeaRM, 8, base, whole);
  out = {};
  out.kind = codegen::AddrKind::Base;
  out.trap = address.trap;
  out.loc = address.loc;
  out.base = base;
  out.disp = 8;
  return out;
}

void Lowering::lower_wide_load(ir::Inst inst) {
  const ir::MemFlags& flags = func().mem_flags(inst);
  const Halves d = wide_result(inst);
  const Address from = address(func().arg_a(inst), func().load_offset(inst), flags.trap);
  const Address upper = upper_half(from);
  if (flags.endian != 2) {
    load_into(Op::MovRM, 8, d.lo, from);
    return load_into(Op::MovRM, 8, d.hi, upper);
  }
  const Halves raw_bits = new_wide();
  load_into(Op::MovRM, 8, raw_bits.lo, from);
  load_into(Op::MovRM, 8, raw_bits.hi, upper);
  r(Op::BswapR, 8, d.lo, raw_bits.hi);
  r(Op::BswapR, 8, d.hi, raw_bits.lo);
}

void Lowering::lower_wide_store(ir::Inst inst) {
  const ir::MemFlags& flags = func().mem_flags(inst);
  Halves x = wide(func().arg_a(inst));
  const Address to = address(func().arg_b(inst), func().store_offset(inst), flags.trap);
  const Address upper = upper_half(to);
  if (flags.endian == 2) {
    x = swap_bytes(x);
  }
  emit(mi(Op::MovMR, 8), {codegen::use(x.lo)}, to);
  emit(mi(Op::MovMR, 8), {codegen::use(x.hi)}, upper);
}

// ---- Dispatch.

/// Operations with an i128 among results or operands; false: there is no such one here.
bool Lowering::lower_wide(ir::Inst inst) {
  const ir::Function& f = func();
  const ir::Op op = f.op(inst);
  const auto results = f.results(inst);
  const bool gives_wide = !results.empty() && type(results[0]) == ir::I128;
  const auto pair = [&](Op low_rr, Op high_rr) {
    const Halves d = wide_result(inst);
    if (wide_pair_with_immediate(low_rr, high_rr, d, f.arg_a(inst), f.arg_b(inst))) return true;
    const Halves x = wide(f.arg_a(inst));
    wide_pair(low_rr, high_rr, d, x, wide(f.arg_b(inst)));
    return true;
  };
  switch (op) {
    case ir::Op::Call:
    case ir::Op::CallIndirect: lower_call(inst, results, call_note(inst), nullptr); return true;
    case ir::Op::Iconcat: {
      const Halves d = wide_result(inst);
      const VReg lo = reg(f.arg_a(inst));
      move_wide(d, {lo, reg(f.arg_b(inst))});
      return true;
    }
    case ir::Op::Isplit: {
      const Halves x = wide(f.arg_a(inst));
      if (is_used(results[0])) move(vreg_of(results[0]), x.lo);
      if (is_used(results[1])) move(vreg_of(results[1]), x.hi);
      return true;
    }
    case ir::Op::Iadd: return pair(Op::AddRR, Op::AdcRR);
    case ir::Op::Isub: return pair(Op::SubRR, Op::SbbRR);
    case ir::Op::Band: return pair(Op::AndRR, Op::AndRR);
    case ir::Op::Bor: return pair(Op::OrRR, Op::OrRR);
    case ir::Op::Bxor: return pair(Op::XorRR, Op::XorRR);
    case ir::Op::Bnot: {
      const Halves d = wide_result(inst);
      const Halves x = wide(f.arg_a(inst));
      r(Op::NotR, 8, d.lo, x.lo);
      r(Op::NotR, 8, d.hi, x.hi);
      return true;
    }
    case ir::Op::Ineg: {
      const Halves d = wide_result(inst);
      const Halves x = wide(f.arg_a(inst));
      const VReg zero = make_int(0);
      r(Op::NegR, 8, d.lo, x.lo);
      rr(Op::SbbRR, 8, d.hi, zero, x.hi);
      return true;
    }
    case ir::Op::Bitselect: {
      const Halves d = wide_result(inst);
      const Halves c = wide(f.arg_a(inst));
      const Halves x = wide(f.arg_b(inst));
      const Halves y = wide(f.arg_c(inst));
      const Halves differing = new_wide();
      wide_pair(Op::XorRR, Op::XorRR, differing, x, y);
      const Halves chosen = new_wide();
      wide_pair(Op::AndRR, Op::AndRR, chosen, differing, c);
      wide_pair(Op::XorRR, Op::XorRR, d, chosen, y);
      return true;
    }
    case ir::Op::Imul: lower_wide_mul(inst); return true;
    case ir::Op::Iabs: lower_wide_abs(inst); return true;
    case ir::Op::Smin: lower_wide_min_max(inst, ir::IntCC::Slt); return true;
    case ir::Op::Smax: lower_wide_min_max(inst, ir::IntCC::Sge); return true;
    case ir::Op::Umin: lower_wide_min_max(inst, ir::IntCC::Ult); return true;
    case ir::Op::Umax: lower_wide_min_max(inst, ir::IntCC::Uge); return true;
    case ir::Op::UaddOverflow: lower_wide_overflow(inst, Op::AddRR, Op::AdcRR, Cc::B); return true;
    case ir::Op::SaddOverflow: lower_wide_overflow(inst, Op::AddRR, Op::AdcRR, Cc::O); return true;
    case ir::Op::UsubOverflow: lower_wide_overflow(inst, Op::SubRR, Op::SbbRR, Cc::B); return true;
    case ir::Op::SsubOverflow: lower_wide_overflow(inst, Op::SubRR, Op::SbbRR, Cc::O); return true;
    case ir::Op::Ishl:
    case ir::Op::Ushr:
    case ir::Op::Sshr:
      if (gives_wide) {
        lower_wide_shift(inst);
      } else {
        lower_shift(inst);
      }
      return true;
    case ir::Op::Rotl:
    case ir::Op::Rotr:
      if (gives_wide) {
        lower_wide_rotate(inst);
      } else {
        lower_rotate(inst, op == ir::Op::Rotl ? Op::RolRI : Op::RorRI);
      }
      return true;
    case ir::Op::Bswap:
    case ir::Op::Bitrev:
    case ir::Op::Popcnt:
    case ir::Op::Clz:
    case ir::Op::Ctz:
    case ir::Op::Cls: lower_wide_bits(inst); return true;
    case ir::Op::Icmp: {
      const Condition c = compare_wide(f.int_cc(inst), f.arg_a(inst), f.arg_b(inst));
      materialize(c, result(inst), false);
      return true;
    }
    case ir::Op::Select:
    case ir::Op::SelectSpectreGuard:
      if (gives_wide) {
        lower_wide_select(inst);
      } else {
        lower_select(inst);
      }
      return true;
    case ir::Op::Trapz:
      trap_on(wide_condition(f.arg_a(inst)).inverted(), f.trap_code(inst));
      return true;
    case ir::Op::Trapnz: trap_on(wide_condition(f.arg_a(inst)), f.trap_code(inst)); return true;
    case ir::Op::Uextend: lower_wide_extend(inst, false); return true;
    case ir::Op::Sextend: lower_wide_extend(inst, true); return true;
    case ir::Op::Ireduce: {
      const VReg x = wide(f.arg_a(inst)).lo;
      const unsigned width = type(results[0]) == ir::I32 ? 4 : 8;
      emit(mi(Op::MovRR, width), {codegen::def(result(inst)), codegen::use_any(x)});
      return true;
    }
    case ir::Op::Bmask: lower_wide_bmask(inst); return true;
    case ir::Op::Bitcast: lower_wide_bitcast(inst); return true;
    case ir::Op::Load: lower_wide_load(inst); return true;
    case ir::Op::Store: lower_wide_store(inst); return true;
    case ir::Op::UaddOverflowCin: lower_carry(inst, Op::AdcRR, Cc::B); return true;
    case ir::Op::SaddOverflowCin: lower_carry(inst, Op::AdcRR, Cc::O); return true;
    case ir::Op::UsubOverflowBin: lower_carry(inst, Op::SbbRR, Cc::B); return true;
    case ir::Op::SsubOverflowBin: lower_carry(inst, Op::SbbRR, Cc::O); return true;
    case ir::Op::AtomicLoad:
    case ir::Op::AtomicStore:
    case ir::Op::AtomicRmw:
    case ir::Op::AtomicCas: return lower_wide_atomic(inst);
    case ir::Op::Umulhi: lower_wide_mul_high(inst, false); return true;
    case ir::Op::Smulhi: lower_wide_mul_high(inst, true); return true;
    case ir::Op::UmulOverflow: lower_wide_mul_overflow(inst, false); return true;
    case ir::Op::SmulOverflow: lower_wide_mul_overflow(inst, true); return true;
    case ir::Op::Udiv:
    case ir::Op::Sdiv:
    case ir::Op::Urem:
    case ir::Op::Srem: lower_wide_divide(inst); return true;
    case ir::Op::FcvtFromUint: lower_wide_to_float(inst, false); return true;
    case ir::Op::FcvtFromSint: lower_wide_to_float(inst, true); return true;
    case ir::Op::FcvtToUint: lower_wide_from_float(inst, false, false); return true;
    case ir::Op::FcvtToSint: lower_wide_from_float(inst, true, false); return true;
    case ir::Op::FcvtToUintSat: lower_wide_from_float(inst, false, true); return true;
    case ir::Op::FcvtToSintSat: lower_wide_from_float(inst, true, true); return true;
    default: return false;  // every other operation of the open set
  }
}

}  // namespace hoist::isa::x64
