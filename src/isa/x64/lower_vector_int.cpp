// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Integer vectors: arithmetic, comparison, minimum and maximum, saturation.
#include <array>

#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

namespace {

/// Forms by lane: i8, i16, i32, i64; kNoOp where there is none.
using LaneOps = std::array<Op, 4>;
constexpr Op kNone = masm::x64::kNoOp;
constexpr LaneOps kAdd = {Op::PaddbRR, Op::PaddwRR, Op::PadddRR, Op::PaddqRR};
constexpr LaneOps kSub = {Op::PsubbRR, Op::PsubwRR, Op::PsubdRR, Op::PsubqRR};
constexpr LaneOps kEqual = {Op::PcmpeqbRR, Op::PcmpeqwRR, Op::PcmpeqdRR, Op::PcmpeqqRR};
constexpr LaneOps kGreater = {Op::PcmpgtbRR, Op::PcmpgtwRR, Op::PcmpgtdRR, kNone};
constexpr LaneOps kAbs = {Op::PabsbRR, Op::PabswRR, Op::PabsdRR, kNone};
constexpr LaneOps kSmin = {Op::PminsbRR, Op::PminswRR, Op::PminsdRR, kNone};
constexpr LaneOps kSmax = {Op::PmaxsbRR, Op::PmaxswRR, Op::PmaxsdRR, kNone};
constexpr LaneOps kUmin = {Op::PminubRR, Op::PminuwRR, Op::PminudRR, kNone};
constexpr LaneOps kUmax = {Op::PmaxubRR, Op::PmaxuwRR, Op::PmaxudRR, kNone};

constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;

}  // namespace

Op Lowering::equal_lanes(ir::Type type) {
  return kEqual[lane_number(type)];
}

bool Lowering::lower_vector_int(ir::Inst inst) {
  const auto results = func().results(inst);
  if (results.empty()) return false;
  const ir::Type t = type(results[0]);
  if (!t.is_vector() || !t.lane_is_int()) return false;
  const unsigned lane = lane_number(t);
  switch (func().op(inst)) {
    case ir::Op::Iadd: vbinary(inst, kAdd[lane], true); return true;
    case ir::Op::Isub: vbinary(inst, kSub[lane], false); return true;
    case ir::Op::Ineg: {
      const VReg d = result(inst);
      const VReg x = reg(func().arg_a(inst));
      const VReg zero = make_vector(Bits128{});
      vv(kSub[lane], d, zero, x);
      return true;
    }
    case ir::Op::Iabs: lower_vector_abs(inst); return true;
    case ir::Op::Imul: lower_vector_mul(inst); return true;
    case ir::Op::Umulhi: lower_vector_mul_high(inst, false); return true;
    case ir::Op::Smulhi: lower_vector_mul_high(inst, true); return true;
    case ir::Op::Smin: lower_vector_min_max(inst, true, false); return true;
    case ir::Op::Smax: lower_vector_min_max(inst, true, true); return true;
    case ir::Op::Umin: lower_vector_min_max(inst, false, false); return true;
    case ir::Op::Umax: lower_vector_min_max(inst, false, true); return true;
    case ir::Op::AvgRound: lower_vector_avg(inst); return true;
    case ir::Op::UaddSat:
    case ir::Op::SaddSat:
    case ir::Op::UsubSat:
    case ir::Op::SsubSat: lower_vector_saturating(inst); return true;
    case ir::Op::SqmulRoundSat: lower_vector_sqmul(inst); return true;
    case ir::Op::X86Pmulhrsw:
      if (lane != 1) return false;
      vbinary(inst, Op::PmulhrswRR, true);
      return true;
    case ir::Op::Ishl:
    case ir::Op::Ushr:
    case ir::Op::Sshr: lower_vector_shift(inst); return true;
    case ir::Op::Rotl:
    case ir::Op::Rotr: lower_vector_rotate(inst); return true;
    case ir::Op::Popcnt: lower_vector_popcnt(inst); return true;
    case ir::Op::Icmp: lower_vector_icmp(inst); return true;
    case ir::Op::Fcmp: lower_vector_fcmp(inst); return true;
    default: return false;  // other families
  }
}

/// x < y ? x : y and x < y ? y : x, bit for bit what the processor's minimum and maximum give.
bool Lowering::pseudo_min_max(ir::Inst select, ir::Inst compare) {
  if (func().op(compare) != ir::Op::Fcmp || !can_fuse(compare, select)) return false;
  const ir::FloatCC cc = func().float_cc(compare);
  if (cc != ir::FloatCC::Lt && cc != ir::FloatCC::Gt) return false;
  ir::Value less = func().arg_a(compare);
  ir::Value more = func().arg_b(compare);
  const bool singles = type(less).lane_bits() == 32;
  if (cc == ir::FloatCC::Gt) std::swap(less, more);
  const ir::Value if_so = resolve(func().arg_b(select));
  const ir::Value if_not = resolve(func().arg_c(select));
  const bool minimum = if_so == resolve(less) && if_not == resolve(more);
  if (!minimum && (if_so != resolve(more) || if_not != resolve(less))) return false;
  const VReg d = result(select);
  const VReg x = reg(if_so);
  const VReg y = reg(if_not);
  if (minimum) {
    vv(singles ? Op::MinpsRR : Op::MinpdRR, d, x, y);
  } else {
    vv(singles ? Op::MaxpsRR : Op::MaxpdRR, d, x, y);
  }
  return true;
}

/// Whether the inverse of a comparison of integers takes fewer instructions.
bool Lowering::has_inverse(ir::Inst compare) const {
  if (func().op(compare) != ir::Op::Icmp) return false;
  const bool quads = type(func().arg_a(compare)).lane_bits() == 64;
  switch (func().int_cc(compare)) {
    case ir::IntCC::Ne: return true;
    case ir::IntCC::Ugt:
    case ir::IntCC::Ult: return !quads;
    case ir::IntCC::Sge:
    case ir::IntCC::Sle:
    case ir::IntCC::Uge:
    case ir::IntCC::Ule: return quads;
    case ir::IntCC::Eq:
    case ir::IntCC::Sgt:
    case ir::IntCC::Slt: return false;
  }
  return false;
}

/// A choice by the lanes of a comparison is a blend.
void Lowering::lower_vector_bitselect(ir::Inst inst) {
  const ir::Value c = resolve(func().arg_a(inst));
  const ir::Inst compare = def_of(c);
  const bool by_lane = compare.is_some() && type(func().arg_a(inst)).bits() == 128 &&
                       (func().op(compare) == ir::Op::Icmp || func().op(compare) == ir::Op::Fcmp) &&
                       type(func().result(compare)).is_vector();
  if (by_lane && pseudo_min_max(inst, compare)) return;
  const VReg d = result(inst);
  if (by_lane && can_fuse(compare, inst) && has_inverse(compare)) {
    const VReg mask = new_vec();
    icmp_lanes(mask, compare, ir::inverse(func().int_cc(compare)));
    const VReg x = reg(func().arg_b(inst));
    return blend(8, d, x, reg(func().arg_c(inst)), mask);
  }
  const VReg mask = reg(c);
  const VReg x = reg(func().arg_b(inst));
  const VReg y = reg(func().arg_c(inst));
  if (by_lane) return blend(8, d, y, x, mask);
  if (has_avx512(Feature::Avx512f)) return ternary_logic(d, mask, x, y, 0xca);
  const VReg from_x = vv(Op::PandRR, x, mask);
  const VReg from_y = vv(Op::PandnRR, mask, y);
  vv(Op::PorRR, d, from_x, from_y);
}

void Lowering::lower_vector_abs(ir::Inst inst) {
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const unsigned lane = lane_number(type(func().result(inst)));
  if (kAbs[lane] != kNone) return v1(kAbs[lane], d, x);
  if (has_avx512(Feature::Avx512f)) return v1(Op::VpabsqRR, d, x);
  const VReg high = v1(Op::PshufdRRI, x, 0xf5);
  const VReg sign = vi(Op::PsradRI, high, 31);
  const VReg flipped = vv(Op::PxorRR, x, sign);
  vv(Op::PsubqRR, d, flipped, sign);
}

// ---- Products.

/// Products of lanes that were widened alike, from the narrow lanes: the halves of 16-bit products
/// are interleaved; of 32-bit lanes the processor multiplies every other one.
bool Lowering::mul_widened(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const ir::Inst a = def_of(func().arg_a(inst));
  const ir::Inst b = def_of(func().arg_b(inst));
  if (t.bits() != 128 || a.is_none() || b.is_none() || func().op(a) != func().op(b)) return false;
  const ir::Op op = func().op(a);
  const bool is_signed = op == ir::Op::SwidenLow || op == ir::Op::SwidenHigh;
  const bool high = op == ir::Op::SwidenHigh || op == ir::Op::UwidenHigh;
  if (!is_signed && !high && op != ir::Op::UwidenLow) return false;
  if (type(func().result(a)) != t || type(func().result(b)) != t || !can_fuse(a, inst) ||
      !can_fuse(b, inst)) {
    return false;
  }
  const ir::Value narrow_x = func().arg_a(a);
  const ir::Value narrow_y = func().arg_a(b);
  if (type(narrow_x).bits() != 128) return false;
  const VReg d = result(inst);
  const VReg x = reg(narrow_x);
  const VReg y = reg(narrow_y);
  if (t.lane_bits() == 32) {
    const VReg low = vv(Op::PmullwRR, x, y);
    const VReg upper = vv(is_signed ? Op::PmulhwRR : Op::PmulhuwRR, x, y);
    vv(high ? Op::PunpckhwdRR : Op::PunpcklwdRR, d, low, upper);
    return true;
  }
  const unsigned spread = high ? 0xfa : 0x50;
  const VReg even_x = v1(Op::PshufdRRI, x, spread);
  const VReg even_y = x == y ? even_x : v1(Op::PshufdRRI, y, spread);
  vv(is_signed ? Op::PmuldqRR : Op::PmuludqRR, d, even_x, even_y);
  return true;
}

void Lowering::lower_vector_mul(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  if (t.lane_bits() == 16) return vbinary(inst, Op::PmullwRR, true);
  if (mul_widened(inst)) return;
  if (t.lane_bits() == 32) return vbinary(inst, Op::PmulldRR, true);
  const ir::Value x = resolve(func().arg_a(inst));
  const ir::Value y = resolve(func().arg_b(inst));
  const auto both = [&](ir::Op low, ir::Op high) {
    const ir::Inst a = def_of(x);
    const ir::Inst b = def_of(y);
    return a.is_some() && b.is_some() && (func().op(a) == low || func().op(a) == high) &&
           (func().op(b) == low || func().op(b) == high) && type(func().result(a)) == t &&
           type(func().result(b)) == t;
  };
  if (t.lane_bits() == 64) {
    // What was widened has its value in the low half of each lane.
    if (both(ir::Op::SwidenLow, ir::Op::SwidenHigh)) return vbinary(inst, Op::PmuldqRR, true);
    if (both(ir::Op::UwidenLow, ir::Op::UwidenHigh)) return vbinary(inst, Op::PmuludqRR, true);
  }
  const VReg d = result(inst);
  const VReg first = reg(x);
  const VReg second = reg(y);
  if (t.lane_bits() == 8) return mul_i8(d, first, second);
  mul_i64(d, first, second);
}

/// Even and odd bytes in 16-bit lanes.
void Lowering::mul_i8(VReg d, VReg x, VReg y) {
  const VReg product = vv(Op::PmullwRR, x, y);
  const VReg even = vm(Op::PandRM, product, repeat(16, 0xff));
  const VReg odd_x = vi(Op::PsrlwRI, x, 8);
  const VReg odd_y = vi(Op::PsrlwRI, y, 8);
  const VReg odd_product = vv(Op::PmullwRR, odd_x, odd_y);
  const VReg odd = vi(Op::PsllwRI, odd_product, 8);
  vv(Op::PorRR, d, even, odd);
}

void Lowering::mul_i64(VReg d, VReg x, VReg y) {
  if (has_avx512(Feature::Avx512dq)) return v512(Op::VpmullqRRR, d, x, y);
  const VReg high_x = vi(Op::PsrlqRI, x, 32);
  const VReg high_y = vi(Op::PsrlqRI, y, 32);
  const VReg cross_1 = vv(Op::PmuludqRR, high_x, y);
  const VReg cross_2 = vv(Op::PmuludqRR, high_y, x);
  const VReg cross = vv(Op::PaddqRR, cross_1, cross_2);
  const VReg upper = vi(Op::PsllqRI, cross, 32);
  const VReg low = vv(Op::PmuludqRR, x, y);
  vv(Op::PaddqRR, d, low, upper);
}

void Lowering::lower_vector_mul_high(ir::Inst inst, bool is_signed) {
  const ir::Type t = type(func().result(inst));
  if (t.lane_bits() == 16) return vbinary(inst, is_signed ? Op::PmulhwRR : Op::PmulhuwRR, true);
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  if (t.lane_bits() == 8) {
    // Each byte in a lane of its own: the even ones moved up, so that shifting extends them.
    const Op shift = is_signed ? Op::PsrawRI : Op::PsrlwRI;
    const auto parts = [&](VReg v, bool odd) {
      return vi(shift, odd ? v : vi(Op::PsllwRI, v, 8), 8);
    };
    const VReg even_x = parts(x, false);
    const VReg even_y = parts(y, false);
    const VReg odd_x = parts(x, true);
    const VReg odd_y = parts(y, true);
    const VReg even = vi(Op::PsrlwRI, vv(Op::PmullwRR, even_x, even_y), 8);
    const VReg odd = vm(Op::PandRM, vv(Op::PmullwRR, odd_x, odd_y), repeat(16, 0xff00));
    return vv(Op::PorRR, d, even, odd);
  }
  if (t.lane_bits() == 32) {
    const Op product = is_signed ? Op::PmuldqRR : Op::PmuludqRR;
    const VReg odd_x = vi(Op::PsrlqRI, x, 32);
    const VReg odd_y = vi(Op::PsrlqRI, y, 32);
    const VReg even = vi(Op::PsrlqRI, vv(product, x, y), 32);
    const VReg odd = vv(product, odd_x, odd_y);
    return vvi(Op::PblendwRRI, d, even, odd, 0xcc);
  }
  // 64 bits: there is nothing but the scalar product.
  VReg half[2];
  for (const unsigned n : {0u, 1u}) {
    const VReg a = new_int();
    const VReg b = new_int();
    emit(mi(Op::PextrqRXI, 8, n), {codegen::def(a), codegen::use(x)});
    emit(mi(Op::PextrqRXI, 8, n), {codegen::def(b), codegen::use(y)});
    half[n] = new_int();
    emit(
        mi(is_signed ? Op::ImulR : Op::MulR, 8),
        {codegen::def_fixed(new_int(), preg(Gpr::Rax)), codegen::def_fixed(half[n], preg(Gpr::Rdx)),
         codegen::use_fixed(a, preg(Gpr::Rax)), codegen::use(b)});
  }
  const VReg low = new_vec();
  emit(mi(Op::MovqXR, 8), {codegen::def(low), codegen::use(half[0])});
  emit(mi(Op::PinsrqXRI, 8, 1),
       {codegen::def_same(d, 1), codegen::use(low), codegen::use(half[1])});
}

/// Fixed point, rounded; only minimum times minimum is out of range.
void Lowering::lower_vector_sqmul(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  if (t.lane_bits() == 16) {
    const VReg product = vv(Op::PmulhrswRR, x, y);
    const VReg out_of_range = vm(Op::PcmpeqwRM, product, repeat(16, 0x8000));
    return vv(Op::PxorRR, d, product, out_of_range);
  }
  if (t.lane_bits() != 32) return unsupported(inst);
  const VReg odd_x = vi(Op::PsrlqRI, x, 32);
  const VReg odd_y = vi(Op::PsrlqRI, y, 32);
  const auto rounded = [&](VReg a, VReg b) {
    const VReg product = vv(Op::PmuldqRR, a, b);
    return vm(Op::PaddqRM, product, repeat(64, std::uint64_t{1} << 30));
  };
  const VReg even = vi(Op::PsrlqRI, rounded(x, y), 31);
  const VReg odd = vi(Op::PsllqRI, rounded(odd_x, odd_y), 1);
  const VReg both = vvi(Op::PblendwRRI, even, odd, 0xcc);
  const VReg out_of_range = vm(Op::PcmpeqdRM, both, repeat(32, 0x8000'0000));
  vv(Op::PxorRR, d, both, out_of_range);
}

// ---- Order.

/// Signed x > y of 64-bit lanes.
VReg Lowering::greater_64(VReg x, VReg y) {
  if (has(Feature::Sse42)) return vv(Op::PcmpgtqRR, x, y);
  // By the upper halves; where they are equal, the borrow of y - x.
  const VReg difference = vv(Op::PsubqRR, y, x);
  const VReg equal = vv(Op::PcmpeqdRR, x, y);
  const VReg by_low = vv(Op::PandRR, difference, equal);
  const VReg by_high = vv(Op::PcmpgtdRR, x, y);
  const VReg either = vv(Op::PorRR, by_low, by_high);
  return v1(Op::PshufdRRI, either, 0xf5);
}

VReg Lowering::min_max_64(VReg x, VReg y, bool is_signed, bool maximum) {
  if (has_avx512(Feature::Avx512f)) {
    const VReg d = new_vec();
    v512(is_signed ? (maximum ? Op::VpmaxsqRRR : Op::VpminsqRRR)
                   : (maximum ? Op::VpmaxuqRRR : Op::VpminuqRRR),
         d, x, y);
    return d;
  }
  const VReg a = is_signed ? x : vm(Op::PxorRM, x, repeat(64, kSign64));
  const VReg b = is_signed ? y : vm(Op::PxorRM, y, repeat(64, kSign64));
  const VReg greater = greater_64(a, b);
  return maximum ? blend(64, y, x, greater) : blend(64, x, y, greater);
}

void Lowering::lower_vector_min_max(ir::Inst inst, bool is_signed, bool maximum) {
  const LaneOps& ops = is_signed ? (maximum ? kSmax : kSmin) : (maximum ? kUmax : kUmin);
  const Op op = ops[lane_number(type(func().result(inst)))];
  if (op != kNone) return vbinary(inst, op, true);
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  move(d, min_max_64(x, y, is_signed, maximum), codegen::RegClass::Float);
}

void Lowering::lower_vector_icmp(ir::Inst inst) {
  const unsigned lane = lane_number(type(func().arg_a(inst)));
  const ir::IntCC cc = func().int_cc(inst);
  if (cc == ir::IntCC::Eq) return vbinary(inst, kEqual[lane], true);
  if (cc == ir::IntCC::Sgt && lane < 3) return vbinary(inst, kGreater[lane], false);
  icmp_lanes(result(inst), inst, cc);
}

/// Each lane plus one or minus one; nothing if a lane is `limit`, which has no such neighbour.
std::optional<Lowering::Bits128> Lowering::next_lanes(Bits128 bits, unsigned lane_bits, bool up,
                                                      std::uint64_t limit) {
  const std::uint64_t mask =
      lane_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lane_bits) - 1;
  for (std::uint64_t* half : {&bits.low, &bits.high}) {
    std::uint64_t out = 0;
    for (unsigned at = 0; at < 64; at += lane_bits) {
      const std::uint64_t lane = (*half >> at) & mask;
      if (lane == limit) return std::nullopt;
      out |= ((up ? lane + 1 : lane - 1) & mask) << at;
    }
    *half = out;
  }
  return bits;
}

/// Comparison of lanes up to 32 bits with a constant by two instructions at most: an order that
/// there is no instruction for is the other one with the next number.
bool Lowering::icmp_constant(VReg d, ir::Inst inst, ir::IntCC cc) {
  const unsigned lane = lane_number(type(func().arg_a(inst)));
  if (lane > 2 || type(func().arg_a(inst)).bits() != 128) return false;
  ir::Value x = func().arg_a(inst);
  ir::Value y = func().arg_b(inst);
  if (vector_constant(x)) {
    std::swap(x, y);
    cc = ir::swapped(cc);
  }
  const std::optional<Bits128> constant = vector_constant(y);
  if (!constant) return false;
  const unsigned bits = 8u << lane;
  const std::uint64_t ones = (std::uint64_t{1} << bits) - 1;
  const std::uint64_t smallest = std::uint64_t{1} << (bits - 1);
  std::optional<Bits128> limit = constant;
  Op extreme = kNone;
  switch (cc) {
    case ir::IntCC::Ugt:
      limit = next_lanes(*constant, bits, true, ones);
      extreme = kUmax[lane];
      break;
    case ir::IntCC::Uge: extreme = kUmax[lane]; break;
    case ir::IntCC::Ult:
      limit = next_lanes(*constant, bits, false, 0);
      extreme = kUmin[lane];
      break;
    case ir::IntCC::Ule: extreme = kUmin[lane]; break;
    case ir::IntCC::Sge: limit = next_lanes(*constant, bits, false, smallest); break;
    case ir::IntCC::Sle: extreme = kSmin[lane]; break;
    case ir::IntCC::Eq:
    case ir::IntCC::Ne:
    case ir::IntCC::Sgt:
    case ir::IntCC::Slt: return false;
  }
  if (!limit) return false;
  const VReg a = reg(x);
  if (extreme == kNone) {
    vm(next(kGreater[lane]), d, a, vector_address(*limit));
  } else {
    const VReg clamped = vm(next(extreme), a, vector_address(*limit));
    vv(kEqual[lane], d, clamped, a);
  }
  return true;
}

/// The operands of `inst` compared by `cc`.
void Lowering::icmp_lanes(VReg d, ir::Inst inst, ir::IntCC cc) {
  if (icmp_constant(d, inst, cc)) return;
  const unsigned lane = lane_number(type(func().arg_a(inst)));
  VReg x = reg(func().arg_a(inst));
  VReg y = reg(func().arg_b(inst));
  if (cc == ir::IntCC::Eq) return vv(kEqual[lane], d, x, y);
  if (cc == ir::IntCC::Ne) return vnot(d, vv(kEqual[lane], x, y));
  if (cc == ir::IntCC::Slt || cc == ir::IntCC::Sle || cc == ir::IntCC::Ult ||
      cc == ir::IntCC::Ule) {
    cc = ir::swapped(cc);
    std::swap(x, y);
  }
  if (lane == 3) {
    const bool is_signed = cc == ir::IntCC::Sgt || cc == ir::IntCC::Sge;
    const VReg a = is_signed ? x : vm(Op::PxorRM, x, repeat(64, kSign64));
    const VReg b = is_signed ? y : vm(Op::PxorRM, y, repeat(64, kSign64));
    if (cc == ir::IntCC::Sge || cc == ir::IntCC::Uge) return vnot(d, greater_64(b, a));
    return move(d, greater_64(a, b), codegen::RegClass::Float);
  }
  if (cc == ir::IntCC::Sgt) return vv(kGreater[lane], d, x, y);
  // x >= y where x is the greater one; x > y where not y >= x.
  if (cc == ir::IntCC::Sge) return vv(kEqual[lane], d, vv(kSmax[lane], x, y), x);
  if (cc == ir::IntCC::Uge) return vv(kEqual[lane], d, vv(kUmax[lane], x, y), x);
  vnot(d, vv(kEqual[lane], vv(kUmax[lane], y, x), y));
}

// ---- Averages and saturation.

void Lowering::lower_vector_avg(ir::Inst inst) {
  const unsigned lane = lane_number(type(func().result(inst)));
  if (lane < 2) return vbinary(inst, lane == 0 ? Op::PavgbRR : Op::PavgwRR, true);
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  // (x | y) - (x ^ y) / 2
  const VReg either = vv(Op::PorRR, x, y);
  const VReg half = vi(lane == 2 ? Op::PsrldRI : Op::PsrlqRI, vv(Op::PxorRR, x, y), 1);
  vv(kSub[lane], d, either, half);
}

void Lowering::lower_vector_saturating(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const unsigned bits = type(func().result(inst)).lane_bits();
  const bool add = op == ir::Op::UaddSat || op == ir::Op::SaddSat;
  const bool is_signed = op == ir::Op::SaddSat || op == ir::Op::SsubSat;
  if (bits <= 16) {
    static constexpr Op kForms[2][2][2] = {
        {{Op::PsubusbRR, Op::PsubuswRR}, {Op::PsubsbRR, Op::PsubswRR}},
        {{Op::PaddusbRR, Op::PadduswRR}, {Op::PaddsbRR, Op::PaddswRR}}};
    return vbinary(inst, kForms[add][is_signed][bits == 16], add);
  }
  const unsigned lane = bits == 32 ? 2 : 3;
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  const auto extreme = [&](VReg a, VReg b, bool maximum) {
    return bits == 32 ? vv(maximum ? Op::PmaxudRR : Op::PminudRR, a, b)
                      : min_max_64(a, b, false, maximum);
  };
  // min(x, ~y) + y cannot wrap, nor can max(x, y) - y.
  if (!is_signed && add) return vv(kAdd[lane], d, extreme(x, vnot(y), false), y);
  if (!is_signed) return vv(kSub[lane], d, extreme(x, y, true), y);
  // Overflow: x and the result differ in sign, and x and y are equal (add) or differ (sub) in it.
  const VReg sum = vv(add ? kAdd[lane] : kSub[lane], x, y);
  const VReg changed = vv(Op::PxorRR, x, sum);
  const VReg apart = vv(Op::PxorRR, x, y);
  const VReg overflow = add ? vv(Op::PandnRR, apart, changed) : vv(Op::PandRR, apart, changed);
  const VReg sign = new_vec();
  shift_by_constant(ir::Op::Sshr, bits, sign, x, bits - 1);
  const std::uint64_t largest = (std::uint64_t{1} << (bits - 1)) - 1;
  const VReg limit = vm(Op::PxorRM, sign, repeat(bits, largest));
  blend(bits, d, sum, limit, overflow);
}

}  // namespace hoist::isa::x64
