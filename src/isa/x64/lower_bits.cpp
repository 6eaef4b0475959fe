// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Counting and permuting bits, with and without BMI1, LZCNT and POPCNT.
///
/// Source of the sequences without them: Warren, "Hacker's Delight" (2nd edition), sections 5-1 and
/// 7-1.
#include "base/bits.hpp"
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

/// x & mask; 64-bit masks go through a register.
VReg Lowering::mask_with(unsigned width, VReg x, std::uint64_t mask) {
  if (width == 4) return ri(Op::AndRI, 4, x, static_cast<std::int32_t>(mask));
  if (fits_imm32(static_cast<std::int64_t>(mask))) {
    return ri(Op::AndRI, 8, x, static_cast<std::int64_t>(mask));
  }
  const VReg in_register = make_int(mask);
  return rr(Op::AndRR, 8, x, in_register);
}

/// Of all 32 or 64 bits; `width` is 4 or 8.
void Lowering::count_leading_zeros(unsigned width, VReg d, VReg x) {
  if (has(Feature::Lzcnt)) return mov(Op::LzcntRR, width, d, x);
  // bsr gives the number of the highest one, and for 0 only a flag: then 2 * bits - 1, which the
  // final exclusive-or turns into bits.
  const unsigned bits = width * 8;
  const VReg for_zero = make_int(2 * bits - 1);
  const VReg highest = new_int();
  emit(mi(Op::BsrRR, width), {codegen::def(highest), codegen::use(x)});
  const VReg number = new_int();
  cmov(Cc::E, width, number, highest, for_zero);
  ri(Op::XorRI, width, d, number, bits - 1);
}

void Lowering::lower_clz(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).bits();
  const VReg d = result(inst);
  const VReg x = extended(func().arg_a(inst), false);
  if (bits >= 32) return count_leading_zeros(bits / 8, d, x);
  const VReg in_32_bits = new_int();
  count_leading_zeros(4, in_32_bits, x);
  ri(Op::SubRI, 4, d, in_32_bits, 32 - bits);
}

/// Leading zeros of (x ^ sign) * 2 + 1, which is never 0 and starts one bit further up.
void Lowering::lower_cls(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).bits();
  const unsigned width = bits == 64 ? 8 : 4;
  const VReg x = extended(func().arg_a(inst), true);
  const VReg sign = ri(Op::SarRI, width, x, width * 8 - 1);
  const VReg differing = rr(Op::XorRR, width, sign, x);
  Address twice;
  twice.kind = codegen::AddrKind::BaseIndex;
  twice.base = twice.index = differing;
  twice.disp = 1;
  const VReg odd = new_int();
  load_into(Op::LeaRM, width, odd, twice);
  const VReg d = result(inst);
  const VReg count = bits >= 32 ? d : new_int();
  if (has(Feature::Lzcnt)) {
    mov(Op::LzcntRR, width, count, odd);
  } else {
    const VReg highest = new_int();
    emit(mi(Op::BsrRR, width), {codegen::def(highest), codegen::use(odd)});
    ri(Op::XorRI, width, count, highest, width * 8 - 1);
  }
  if (bits < 32) ri(Op::SubRI, 4, d, count, 32 - bits);
}

void Lowering::lower_ctz(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).bits();
  const unsigned width = bits == 64 ? 8 : 4;
  const VReg d = result(inst);
  VReg x = low(func().arg_a(inst), bits);
  if (bits < 32) {
    // A one just above the value answers the question for 0.
    x = ri(Op::OrRI, 4, x, std::int64_t{1} << bits);
    if (has(Feature::Bmi1)) return mov(Op::TzcntRR, 4, d, x);
    emit(mi(Op::BsfRR, 4), {codegen::def(d), codegen::use(x)});
    return;
  }
  count_trailing_zeros(width, d, x);
}

/// Of all 32 or 64 bits; `width` is 4 or 8.
void Lowering::count_trailing_zeros(unsigned width, VReg d, VReg x) {
  if (has(Feature::Bmi1)) return mov(Op::TzcntRR, width, d, x);
  const VReg for_zero = make_int(width * 8);
  const VReg lowest = new_int();
  emit(mi(Op::BsfRR, width), {codegen::def(lowest), codegen::use(x)});
  cmov(Cc::E, width, d, lowest, for_zero);
}

void Lowering::lower_popcnt(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).bits();
  const unsigned width = bits == 64 ? 8 : 4;
  const VReg d = result(inst);
  count_ones(width, d, extended(func().arg_a(inst), false));
}

/// Of all 32 or 64 bits; `width` is 4 or 8.
void Lowering::count_ones(unsigned width, VReg d, VReg x) {
  if (has(Feature::Popcnt)) return mov(Op::PopcntRR, width, d, x);
  // Sums of neighbours, twice as wide each time; the last ones by a multiplication.
  const std::uint64_t ones = width == 8 ? 0x0101'0101'0101'0101 : 0x0101'0101;
  const VReg odd = ri(Op::ShrRI, width, x, 1);
  const VReg in_pairs = rr(Op::SubRR, width, x, mask_with(width, odd, ones * 0x55));
  const VReg upper = mask_with(width, ri(Op::ShrRI, width, in_pairs, 2), ones * 0x33);
  const VReg in_fours = rr(Op::AddRR, width, mask_with(width, in_pairs, ones * 0x33), upper);
  const VReg shifted = ri(Op::ShrRI, width, in_fours, 4);
  const VReg in_bytes = mask_with(width, rr(Op::AddRR, width, shifted, in_fours), ones * 0x0f);
  VReg sum;
  if (width == 4) {
    sum = new_int();
    emit(mi(Op::ImulRRI, 4, static_cast<std::int32_t>(ones)),
         {codegen::def(sum), codegen::use_any(in_bytes)});
  } else {
    sum = rr(Op::ImulRR, 8, make_int(ones), in_bytes);
  }
  ri(Op::ShrRI, width, d, sum, width * 8 - 8);
}

void Lowering::lower_bitrev(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).bits();
  const VReg d = result(inst);
  reverse_bits(bits, d, low(func().arg_a(inst), bits));
}

/// Swaps neighbouring bits, pairs and fours, then the bytes.
void Lowering::reverse_bits(unsigned bits, VReg d, VReg x) {
  const unsigned width = bits == 64 ? 8 : 4;
  const std::uint64_t ones = width == 8 ? 0x0101'0101'0101'0101 : 0x0101'0101;
  struct Step {
    unsigned shift;
    std::uint64_t mask;
  };
  for (const Step step : {Step{1, 0x55}, Step{2, 0x33}, Step{4, 0x0f}}) {
    const std::uint64_t mask = ones * step.mask;
    const VReg down = mask_with(width, ri(Op::ShrRI, width, x, step.shift), mask);
    const VReg up = ri(Op::ShlRI, width, mask_with(width, x, mask), step.shift);
    x = rr(Op::OrRR, width, down, up);
  }
  if (bits == 8) return move(d, x);
  if (bits == 16) return ri(Op::RolRI, 2, d, x, 8);
  r(Op::BswapR, width, d, x);
}

void Lowering::lower_bswap(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).bits();
  const VReg d = result(inst);
  const VReg x = low(func().arg_a(inst), bits);
  if (bits == 16) return ri(Op::RolRI, 2, d, x, 8);
  r(Op::BswapR, bits / 8, d, x);
}

}  // namespace hoist::isa::x64
