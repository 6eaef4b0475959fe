// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Division and remainder: by constants through multiplication, else with checks.
///
/// Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994);
/// Warren, "Hacker's Delight" (2nd edition), chapter 10.
#include <bit>

#include "base/bits.hpp"
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

namespace {

// gcc and clang have it on every 64-bit target.
__extension__ using Wide = unsigned __int128;

/// For divisors that are no powers of two: floor(x / d) = (x * factor) >> (bits + shift), where the
/// factor has one bit more than `bits` if `add` is set (its low `bits` bits are given).
struct UnsignedMagic {
  std::uint64_t factor;
  unsigned shift;
  bool add;
};

UnsignedMagic unsigned_magic(unsigned bits, std::uint64_t divisor) {
  // The smallest shift for which rounding the factor up is exact enough for all x.
  const unsigned log2 = 64 - static_cast<unsigned>(std::countl_zero(divisor - 1));  // ceil
  for (unsigned shift = 0; shift <= log2; ++shift) {
    // The power would be 2^128 if both are 64, which a 64-bit divisor's log2 allows.
    if (bits + shift >= 128) break;
    const Wide power = Wide{1} << (bits + shift);
    const Wide factor = power / divisor + 1;
    const Wide error = factor * divisor - power;  // 1 ... divisor
    if (error > (Wide{1} << shift)) continue;
    const bool add = (factor >> bits) != 0;
    return {static_cast<std::uint64_t>(base::zero_extend(static_cast<std::uint64_t>(factor), bits)),
            shift, add};
  }
  // shift = log2 = 64: 2^64 < factor <= 2^65; computed without the bit that does not fit.
  const Wide low = (~Wide{0}) / divisor + 1;
  return {static_cast<std::uint64_t>(low), log2, true};
}

/// For |d| >= 2: x / d = (high half of x * factor (signed) [+- x]) >> shift, plus 1 if that is
/// negative.
struct SignedMagic {
  std::int64_t factor;
  unsigned shift;
};

SignedMagic signed_magic(unsigned bits, std::int64_t divisor) {
  // Hacker's Delight, 10-6, with 128-bit arithmetic instead of its incremental quotients.
  const Wide half = Wide{1} << (bits - 1);
  const auto magnitude = static_cast<Wide>(divisor < 0 ? -static_cast<std::uint64_t>(divisor)
                                                       : static_cast<std::uint64_t>(divisor));
  const Wide t = half + (divisor < 0 ? 1 : 0);
  const Wide limit = t - 1 - t % magnitude;  // largest |x| with x mod |d| = |d| - 1
  unsigned power = bits - 1;
  do {
    ++power;
  } while ((Wide{1} << power) <= limit * (magnitude - (Wide{1} << power) % magnitude));
  const Wide factor = ((Wide{1} << power) + magnitude - (Wide{1} << power) % magnitude) / magnitude;
  auto result = base::sign_extend(static_cast<std::uint64_t>(factor), bits);
  if (divisor < 0) result = base::sign_extend(-static_cast<std::uint64_t>(result), bits);
  return {result, power - bits};
}

}  // namespace

/// `x` holds a zero-extended value; so will the result.
VReg Lowering::unsigned_quotient(unsigned bits, VReg x, std::uint64_t divisor) {
  const unsigned width = bits == 64 ? 8 : 4;
  if (std::has_single_bit(divisor)) return ri(Op::ShrRI, width, x, std::countr_zero(divisor));
  if (bits < 64) {
    const UnsignedMagic magic = unsigned_magic(bits, divisor);
    if (!magic.add) {
      // Factor and value have at most 32 bits each.
      const VReg factor = make_int(magic.factor);
      const VReg product = rr(Op::ImulRR, 8, factor, x);
      return ri(Op::ShrRI, 8, product, bits + magic.shift);
    }
    // 2^64 / d rounded up: exact for all values and divisors below 2^32 (error < d, x * d < 2^64).
    return multiply_high(x, ~std::uint64_t{0} / divisor + 1, false);
  }
  // An even divisor leaves room by shifting first.
  const UnsignedMagic magic = unsigned_magic(64, divisor);
  if (!magic.add) {
    const VReg high = multiply_high(x, magic.factor, false);
    return magic.shift == 0 ? high : ri(Op::ShrRI, 8, high, magic.shift);
  }
  if (const int zeros = std::countr_zero(divisor); zeros > 0) {
    // x >> zeros has fewer bits; 63 bits always do without the additional one.
    const UnsignedMagic small = unsigned_magic(64 - static_cast<unsigned>(zeros), divisor >> zeros);
    const unsigned total = 64 - static_cast<unsigned>(zeros) + small.shift;
    const Wide factor = (Wide{small.add ? 1u : 0u} << (64 - zeros)) | small.factor;
    if (total >= 64 && (factor >> 64) == 0) {
      const VReg shifted = ri(Op::ShrRI, 8, x, zeros);
      const VReg high = multiply_high(shifted, static_cast<std::uint64_t>(factor), false);
      return total == 64 ? high : ri(Op::ShrRI, 8, high, total - 64);
    }
  }
  // (((x - high) >> 1) + high) >> (shift - 1) without overflow.
  const VReg high = multiply_high(x, magic.factor, false);
  const VReg rest = rr(Op::SubRR, 8, x, high);
  const VReg half = ri(Op::ShrRI, 8, rest, 1);
  const VReg sum = rr(Op::AddRR, 8, half, high);
  return ri(Op::ShrRI, 8, sum, magic.shift - 1);
}

/// x / 2^log2 rounded towards zero; log2 >= 1. Negative values are biased by 2^log2 - 1 first.
VReg Lowering::signed_quotient_by_power(unsigned bits, VReg x, unsigned log2) {
  const unsigned width = bits == 64 ? 8 : 4;
  const unsigned all = width * 8;
  const VReg sign = log2 == 1 ? x : ri(Op::SarRI, width, x, all - 1);
  const VReg bias = ri(Op::ShrRI, width, sign, all - log2);
  const VReg sum = new_int();
  emit(mi(Pseudo::AddRegs, width), {codegen::def(sum), codegen::use(bias), codegen::use(x)});
  return ri(Op::SarRI, width, sum, log2);
}

/// `x` holds a value sign-extended to 32 bits, or all 64; the divisor is not 0, 1, -1.
VReg Lowering::signed_quotient(unsigned bits, VReg x, std::int64_t divisor) {
  const unsigned width = bits == 64 ? 8 : 4;
  const std::uint64_t magnitude =
      divisor < 0 ? -static_cast<std::uint64_t>(divisor) : static_cast<std::uint64_t>(divisor);
  if (std::has_single_bit(magnitude)) {
    const VReg q =
        signed_quotient_by_power(bits, x, static_cast<unsigned>(std::countr_zero(magnitude)));
    if (divisor > 0) return q;
    const VReg negated = new_int();
    r(Op::NegR, width, negated, q);
    return negated;
  }
  VReg q;
  if (bits < 64) {
    // 32-bit magic for every narrow value; the factor as an unsigned number of 32 bits needs no
    // correction, since the product of the 64-bit values is exact.
    const SignedMagic magic = signed_magic(32, static_cast<std::int64_t>(magnitude));
    const VReg wide = mov(Op::MovsxdRR, 8, x);
    const auto factor = static_cast<std::uint32_t>(magic.factor);
    VReg product;
    if (factor <= 0x7fff'ffff) {
      product = new_int();
      emit(mi(Op::ImulRRI, 8, factor), {codegen::def(product), codegen::use(wide)});
    } else {
      product = rr(Op::ImulRR, 8, make_int(factor), wide);
    }
    const VReg high = ri(Op::SarRI, 8, product, 32 + magic.shift);
    const VReg sign = ri(Op::SarRI, 4, x, 31);
    // high rounds down; a negative x needs one more. Its low 32 bits are the quotient.
    return divisor > 0 ? rr(Op::SubRR, 4, high, sign) : rr(Op::SubRR, 4, sign, high);
  }
  const SignedMagic magic = signed_magic(64, divisor);
  q = multiply_high(x, static_cast<std::uint64_t>(magic.factor), true);
  if (divisor > 0 && magic.factor < 0) q = rr(Op::AddRR, 8, q, x);
  if (divisor < 0 && magic.factor > 0) q = rr(Op::SubRR, 8, q, x);
  if (magic.shift != 0) q = ri(Op::SarRI, 8, q, magic.shift);
  const VReg sign = ri(Op::ShrRI, 8, q, 63);
  const VReg sum = new_int();
  emit(mi(Pseudo::AddRegs, 8), {codegen::def(sum), codegen::use(q), codegen::use(sign)});
  return sum;
}

bool Lowering::lower_unsigned_divide_by(ir::Inst inst, std::uint64_t divisor) {
  const bool remainder = func().op(inst) == ir::Op::Urem;
  const ir::Type t = type(func().result(inst));
  const unsigned bits = t.bits();
  const unsigned width = op_width(t);
  const VReg d = result(inst);
  const ir::Value x = func().arg_a(inst);
  if (remainder && std::has_single_bit(divisor)) {
    const std::uint64_t mask = divisor - 1;
    if (mask <= 0x7fff'ffff) {
      ri(Op::AndRI, 4, d, low(x, 32 < bits ? 32 : bits), static_cast<std::int64_t>(mask));
    } else if (width == 4) {
      ri(Op::AndRI, 4, d, low(x, bits), static_cast<std::int32_t>(mask));
    } else {
      rr(Op::AndRR, 8, d, make_int(mask), reg(x));
    }
    return true;
  }
  const VReg value = extended(x, false);
  const VReg q = divisor == 1 ? value : unsigned_quotient(bits, value, divisor);
  if (!remainder) {
    move(d, q);
    return true;
  }
  const VReg back = times(width, q, divisor);
  rr(Op::SubRR, width, d, value, back);
  return true;
}

VReg Lowering::times(unsigned width, VReg x, std::uint64_t factor) {
  const auto imm =
      width == 8 ? static_cast<std::int64_t>(factor) : static_cast<std::int32_t>(factor);
  if (!fits_imm32(imm)) return rr(Op::ImulRR, 8, make_int(factor), x);
  const VReg d = new_int();
  emit(mi(Op::ImulRRI, width, imm), {codegen::def(d), codegen::use_any(x)});
  return d;
}

bool Lowering::lower_signed_divide_by(ir::Inst inst, std::int64_t divisor) {
  const bool remainder = func().op(inst) == ir::Op::Srem;
  const ir::Type t = type(func().result(inst));
  const unsigned bits = t.bits();
  const unsigned width = op_width(t);
  if (divisor == -1 && !remainder) return false;  // the minimum traps
  const VReg d = result(inst);
  const ir::Value x = func().arg_a(inst);
  if (divisor == 1 || divisor == -1) {
    if (remainder) {
      emit(mi(Op::MovRI, 4), {codegen::def(d)});
    } else {
      move(d, reg(x));
    }
    return true;
  }
  const VReg value = extended(x, true);
  const VReg q = signed_quotient(bits, value, divisor);
  if (!remainder) {
    move(d, q);
    return true;
  }
  const VReg back = times(width, q, static_cast<std::uint64_t>(divisor));
  rr(Op::SubRR, width, d, value, back);
  return true;
}

void Lowering::lower_divide(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const bool is_signed = op == ir::Op::Sdiv || op == ir::Op::Srem;
  const bool remainder = op == ir::Op::Urem || op == ir::Op::Srem;
  const ir::Type t = type(func().result(inst));
  const unsigned bits = t.bits();
  const ir::Value x = func().arg_a(inst);
  const ir::Value y = func().arg_b(inst);
  const std::optional<std::uint64_t> divisor = constant(y);
  if (divisor && *divisor != 0) {
    if (is_signed ? lower_signed_divide_by(inst, *signed_constant(y))
                  : lower_unsigned_divide_by(inst, *divisor)) {
      return;
    }
  }
  const unsigned width = op_width(t);
  const VReg dividend = extended(x, is_signed);
  const VReg by = extended(y, is_signed);
  // An unsigned division faults for a zero divisor only, so the fault is the check. A signed one
  // faults for the minimum divided by -1 too.
  if (is_signed && !divisor) {
    emit(mi(Op::TestRR, width), {codegen::use(by), codegen::use(by)});
    trap_if(Cc::E, image::TrapCode::IntegerDivideByZero);
  } else if (is_signed && *divisor == 0) {
    emit(mi(Op::TestRR, width), {codegen::use(by), codegen::use(by)});
    trap_if(Cc::E, image::TrapCode::IntegerDivideByZero);
  }
  const VReg d = result(inst);
  const VReg unused = new_int();
  const VReg quotient = remainder ? unused : d;
  const VReg rest = remainder ? d : unused;
  MachInst divide = mi(is_signed ? (remainder ? Pseudo::Srem : Pseudo::Sdiv) : Pseudo::Udiv, width);
  divide.trap = is_signed ? image::TrapCode::IntegerOverflow : image::TrapCode::IntegerDivideByZero;
  emit(divide,
       {codegen::def_fixed(quotient, preg(Gpr::Rax)), codegen::def_fixed(rest, preg(Gpr::Rdx)),
        codegen::use_fixed(dividend, preg(Gpr::Rax)),
        op == ir::Op::Srem ? codegen::late_use(by) : codegen::late_use_any(by)});
  if (op == ir::Op::Sdiv && bits < 32) {
    // At 32 bits only -2^(n-1) / -1 gives 2^(n-1).
    emit(mi(Op::CmpRI, 4, std::int64_t{1} << (bits - 1)), {codegen::use(d)});
    trap_if(Cc::E, image::TrapCode::IntegerOverflow);
  }
}

}  // namespace hoist::isa::x64
