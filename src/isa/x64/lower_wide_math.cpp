// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// i128: immediates, products of 256 bits, and what takes a helper function: division and
/// conversions from and to floats.
///
/// The helpers are library functions of the system's convention (native/libcalls.hpp names them).
/// They never trap: whatever can is checked before the call.
#include "base/bits.hpp"
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

// ---- Immediates.

/// The halves of a constant that `add`, `cmp` and the like can encode.
std::optional<std::array<std::int64_t, 2>> Lowering::wide_immediate(ir::Value v) const {
  const ir::Inst inst = def_of(v);
  if (inst.is_none()) return std::nullopt;
  std::array<std::int64_t, 2> halves{};
  const ir::Op op = func().op(inst);
  if (op != ir::Op::Iconcat && op != ir::Op::Uextend && op != ir::Op::Sextend) return std::nullopt;
  const ir::Value low_part = func().arg_a(inst);
  if (op == ir::Op::Uextend) {
    const std::optional<std::uint64_t> bits = constant(low_part);
    if (!bits) return std::nullopt;
    halves[0] = static_cast<std::int64_t>(*bits);
  } else {
    const std::optional<std::int64_t> low_half = signed_constant(low_part);
    if (!low_half) return std::nullopt;
    halves[0] = *low_half;
    halves[1] = *low_half < 0 ? -1 : 0;
  }
  if (op == ir::Op::Iconcat) {
    const std::optional<std::int64_t> high_half = signed_constant(func().arg_b(inst));
    if (!high_half) return std::nullopt;
    halves[1] = *high_half;
  }
  if (!fits_imm32(halves[0]) || !fits_imm32(halves[1])) return std::nullopt;
  return halves;
}

/// wide_pair, if `y` is such a constant. The form with an immediate is the fourth of each
/// operation.
bool Lowering::wide_pair_with_immediate(Op low_rr, Op high_rr, Halves d, ir::Value x, ir::Value y) {
  const auto imm = wide_immediate(y);
  if (!imm) return false;
  const Halves from = wide(x);
  ri(next(low_rr, 3), 8, d.lo, from.lo, (*imm)[0]);
  ri(next(high_rr, 3), 8, d.hi, from.hi, (*imm)[1]);
  return true;
}

// ---- Products.

Lowering::Halves Lowering::full_product(VReg x, VReg y) {
  const Halves d = new_wide();
  emit(mi(Op::MulR, 8),
       {codegen::def_fixed(d.lo, preg(Gpr::Rax)), codegen::def_fixed(d.hi, preg(Gpr::Rdx)),
        codegen::use_fixed(x, preg(Gpr::Rax)), codegen::use_any(y)});
  return d;
}

/// All 256 bits of the unsigned product: its low and its high half.
std::array<Lowering::Halves, 2> Lowering::wide_product(Halves x, Halves y) {
  const Halves low_low = full_product(x.lo, y.lo);
  const Halves low_high = full_product(x.lo, y.hi);
  const Halves high_low = full_product(x.hi, y.lo);
  const Halves high_high = full_product(x.hi, y.hi);
  // Each carry goes into the upper half of the product that was added, which has room for it.
  const VReg second = rr(Op::AddRR, 8, low_high.lo, low_low.hi);
  const VReg carried = ri(Op::AdcRI, 8, low_high.hi, 0);
  const VReg word1 = rr(Op::AddRR, 8, high_low.lo, second);
  const VReg carried_too = ri(Op::AdcRI, 8, high_low.hi, 0);
  const VReg third = rr(Op::AddRR, 8, carried, carried_too);
  const VReg fourth = ri(Op::AdcRI, 8, high_high.hi, 0);
  const VReg word2 = rr(Op::AddRR, 8, third, high_high.lo);
  const VReg word3 = ri(Op::AdcRI, 8, fourth, 0);
  return {Halves{low_low.lo, word1}, Halves{word2, word3}};
}

/// A negative factor counted as itself plus 2^128: that much of the other factor is taken away.
Lowering::Halves Lowering::signed_high_half(Halves x, Halves y, Halves unsigned_high) {
  Halves high = unsigned_high;
  const auto take = [&](Halves negative, Halves other) {
    const VReg sign = wide_sign(negative);
    const Halves excess = new_wide();
    wide_pair(Op::AndRR, Op::AndRR, excess, other, {sign, sign});
    const Halves rest = new_wide();
    wide_pair(Op::SubRR, Op::SbbRR, rest, high, excess);
    high = rest;
  };
  take(x, y);
  take(y, x);
  return high;
}

void Lowering::lower_wide_mul_high(ir::Inst inst, bool is_signed) {
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const Halves y = wide(func().arg_b(inst));
  const Halves high = wide_product(x, y)[1];
  move_wide(d, is_signed ? signed_high_half(x, y, high) : high);
}

void Lowering::lower_wide_mul_overflow(ir::Inst inst, bool is_signed) {
  const auto results = func().results(inst);
  if (!is_used(results[1])) return lower_wide_mul(inst);
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const Halves y = wide(func().arg_b(inst));
  const auto [low_half, unsigned_high] = wide_product(x, y);
  Halves high = unsigned_high;
  if (is_signed) {
    // What is above the product must repeat its sign.
    const VReg sign = wide_sign(low_half);
    const Halves differing = new_wide();
    wide_pair(Op::XorRR, Op::XorRR, differing, signed_high_half(x, y, high), {sign, sign});
    high = differing;
  }
  move_wide(d, low_half);
  static_cast<void>(rr(Op::OrRR, 8, high.lo, high.hi));
  setcc(Cc::Ne, vreg_of(results[1]), false);
}

// ---- Helpers.

void Lowering::call_helper(const char* name, std::initializer_list<Operand> defs,
                           std::initializer_list<Operand> uses) {
  out().has_calls = true;
  const VReg target = make_symbol(ir::ExternalName::testcase(name), false, 0);
  RegMask clobbers = not_pinned(call_clobbers(ir::CallConv::SystemV));
  for (const Operand& def : defs) clobbers.remove(def.fixed);
  std::vector<Operand>& list = operand_list();
  list.assign(defs);
  list.push_back(codegen::use(target));
  list.insert(list.end(), uses);
  MachInst call = mi(Op::CallR, 8);
  call.flags |= codegen::kCall;
  call.clobbers = static_cast<std::uint16_t>(add_clobbers(clobbers));
  emit_list(call);
}

void Lowering::lower_wide_divide(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const Halves d = wide_result(inst);
  const Halves x = wide(func().arg_a(inst));
  const Halves y = wide(func().arg_b(inst));
  static_cast<void>(rr(Op::OrRR, 8, y.lo, y.hi));
  trap_if(Cc::E, image::TrapCode::IntegerDivideByZero);
  if (op == ir::Op::Sdiv) {
    // Zero for the minimum, and for -1.
    const VReg sign_bit = make_int(std::uint64_t{1} << 63);
    const VReg no_minimum = rr(Op::XorRR, 8, x.hi, sign_bit);
    const VReg is_not_minimum = rr(Op::OrRR, 8, no_minimum, x.lo);
    const VReg ones = rr(Op::AndRR, 8, y.lo, y.hi);
    const VReg is_not_ones = new_int();
    r(Op::NotR, 8, is_not_ones, ones);
    static_cast<void>(rr(Op::OrRR, 8, is_not_minimum, is_not_ones));
    trap_if(Cc::E, image::TrapCode::IntegerOverflow);
  }
  const char* const name = op == ir::Op::Udiv   ? "UdivI128"
                           : op == ir::Op::Sdiv ? "SdivI128"
                           : op == ir::Op::Urem ? "UremI128"
                                                : "SremI128";
  call_helper(name,
              {codegen::def_fixed(d.lo, preg(Gpr::Rax)), codegen::def_fixed(d.hi, preg(Gpr::Rdx))},
              {codegen::use_fixed(x.lo, preg(Gpr::Rdi)), codegen::use_fixed(x.hi, preg(Gpr::Rsi)),
               codegen::use_fixed(y.lo, preg(Gpr::Rdx)), codegen::use_fixed(y.hi, preg(Gpr::Rcx))});
}

void Lowering::lower_wide_from_float(ir::Inst inst, bool is_signed, bool saturate) {
  const Halves d = wide_result(inst);
  const VReg x = reg(func().arg_a(inst));
  const bool is_f32 = type(func().arg_a(inst)) == ir::F32;
  const unsigned bytes = is_f32 ? 4 : 8;
  if (!saturate) {
    emit(mi(is_f32 ? Op::UcomissRR : Op::UcomisdRR, bytes), {codegen::use(x), codegen::use(x)});
    trap_if(Cc::P, image::TrapCode::BadConversion);
    const auto compare = [&](double limit) {
      const auto single = static_cast<float>(limit);
      const std::uint64_t bits =
          is_f32 ? base::load_le<std::uint32_t>(&single) : base::load_le<std::uint64_t>(&limit);
      emit(mi(is_f32 ? Op::UcomissRM : Op::UcomisdRM, bytes), {codegen::use(x)},
           constant_address(bytes, bits));
    };
    // Above the range there is no trap, as the field's tests have it: the helper saturates.
    compare(is_signed ? -0x1p127 : -1.0);
    trap_if(is_signed ? Cc::B : Cc::Be, image::TrapCode::IntegerOverflow);
  }
  const char* const name =
      is_f32 ? (is_signed ? "F32ToS128" : "F32ToU128") : (is_signed ? "F64ToS128" : "F64ToU128");
  call_helper(name,
              {codegen::def_fixed(d.lo, preg(Gpr::Rax)), codegen::def_fixed(d.hi, preg(Gpr::Rdx))},
              {codegen::use_fixed(x, preg(Xmm::Xmm0))});
}

void Lowering::lower_wide_to_float(ir::Inst inst, bool is_signed) {
  const VReg d = result(inst);
  const Halves x = wide(func().arg_a(inst));
  const bool is_f32 = type(func().result(inst)) == ir::F32;
  const char* const name =
      is_f32 ? (is_signed ? "S128ToF32" : "U128ToF32") : (is_signed ? "S128ToF64" : "U128ToF64");
  call_helper(name, {codegen::def_fixed(d, preg(Xmm::Xmm0))},
              {codegen::use_fixed(x.lo, preg(Gpr::Rdi)), codegen::use_fixed(x.hi, preg(Gpr::Rsi))});
}

}  // namespace hoist::isa::x64
