// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Float vectors: arithmetic, comparison, conversion.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

namespace {

/// The register form for lanes of 32 or 64 bits.
Op by_lane(unsigned lane_bits, Op singles, Op doubles) {
  return lane_bits == 32 ? singles : doubles;
}

constexpr std::uint64_t kTwo31Single = 0x4f00'0000;
constexpr std::uint64_t kTwo52 = 0x4330'0000'0000'0000;
constexpr std::uint64_t kTwo63 = 0x43e0'0000'0000'0000;
constexpr std::uint64_t kTwo84 = 0x4530'0000'0000'0000;
constexpr std::uint64_t kTwo84And52 = 0x4530'0000'0010'0000;
constexpr std::uint64_t kTwo84And63And52 = 0x4530'0000'8010'0000;

/// Predicates of cmpps; `vex` ones are known to its VEX form only.
struct Predicate {
  std::uint8_t code;
  bool swap;
};

Predicate predicate_of(ir::FloatCC cc) {
  switch (cc) {
    case ir::FloatCC::Eq: return {0, false};
    case ir::FloatCC::Lt: return {1, false};
    case ir::FloatCC::Le: return {2, false};
    case ir::FloatCC::Uno: return {3, false};
    case ir::FloatCC::Ne: return {4, false};
    case ir::FloatCC::Uge: return {5, false};
    case ir::FloatCC::Ugt: return {6, false};
    case ir::FloatCC::Ord: return {7, false};
    case ir::FloatCC::Gt: return {1, true};
    case ir::FloatCC::Ge: return {2, true};
    case ir::FloatCC::Ule: return {5, true};
    case ir::FloatCC::Ult: return {6, true};
    case ir::FloatCC::Ueq: return {8, false};
    case ir::FloatCC::One: return {12, false};
  }
  return {0, false};
}

}  // namespace

bool Lowering::lower_vector_float(ir::Inst inst) {
  const auto results = func().results(inst);
  if (results.empty() || !type(results[0]).is_vector()) return false;
  switch (func().op(inst)) {
    case ir::Op::Fadd: vfloat(inst, Op::AddpsRR, Op::AddpdRR, true); return true;
    case ir::Op::Fsub: vfloat(inst, Op::SubpsRR, Op::SubpdRR, false); return true;
    case ir::Op::Fmul: vfloat(inst, Op::MulpsRR, Op::MulpdRR, true); return true;
    case ir::Op::Fdiv: vfloat(inst, Op::DivpsRR, Op::DivpdRR, false); return true;
    case ir::Op::Sqrt: {
      const VReg d = result(inst);
      const VReg x = reg(func().arg_a(inst));
      v1(by_lane(type(results[0]).lane_bits(), Op::SqrtpsRR, Op::SqrtpdRR), d, x);
      return true;
    }
    case ir::Op::Nearest: vround(inst, 8 | 0); return true;
    case ir::Op::Floor: vround(inst, 8 | 1); return true;
    case ir::Op::Ceil: vround(inst, 8 | 2); return true;
    case ir::Op::Trunc: vround(inst, 8 | 3); return true;
    case ir::Op::Fmin: lower_vector_fmin_fmax(inst, false); return true;
    case ir::Op::Fmax: lower_vector_fmin_fmax(inst, true); return true;
    case ir::Op::Fma: lower_vector_fma(inst); return true;
    case ir::Op::FcvtFromSint: lower_vector_from_int(inst, true); return true;
    case ir::Op::FcvtFromUint: lower_vector_from_int(inst, false); return true;
    case ir::Op::FcvtToSintSat: lower_vector_to_int(inst, true); return true;
    case ir::Op::FcvtToUintSat: lower_vector_to_int(inst, false); return true;
    case ir::Op::X86Cvtt2dq: {
      const ir::Value x = func().arg_a(inst);
      const VReg d = result(inst);
      if (type(x) == ir::F64x2 && type(results[0]) == ir::I32x4) {
        v1(Op::Cvttpd2dqRR, d, reg(x));
        return true;
      }
      if (type(x).lane_bits() != 32) return false;
      v1(Op::Cvttps2dqRR, d, reg(x));
      return true;
    }
    case ir::Op::Fvdemote: {
      const VReg d = result(inst);
      v1(Op::Cvtpd2psRR, d, reg(func().arg_a(inst)));
      return true;
    }
    case ir::Op::FvpromoteLow: {
      const VReg d = result(inst);
      v1(Op::Cvtps2pdRR, d, reg(func().arg_a(inst)));
      return true;
    }
    default: return false;  // other families
  }
}

void Lowering::vfloat(ir::Inst inst, Op ps, Op pd, bool commutes) {
  vbinary(inst, by_lane(type(func().result(inst)).lane_bits(), ps, pd), commutes);
}

void Lowering::vround(ir::Inst inst, std::int64_t mode) {
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const unsigned bits = type(func().result(inst)).lane_bits();
  v1(by_lane(bits, Op::RoundpsRRI, Op::RoundpdRRI), d, x, mode);
}

/// Flips or clears the sign of each lane (f16 and f128 too).
void Lowering::lower_vector_sign(ir::Inst inst, bool flip) {
  const ir::Type t = type(func().result(inst));
  const unsigned bits = t.lane_bits();
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  Bits128 signs = lane_signs(bits);
  if (!flip) signs = {~signs.low, ~signs.high};
  vm(flip ? Op::XorpsRM : Op::AndpsRM, d, x, vector_address(signs));
}

void Lowering::lower_vector_copysign(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).lane_bits();
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  const Bits128 signs = lane_signs(bits);
  if (has_avx512(Feature::Avx512f)) {
    const VReg mask = make_vector(signs);
    return ternary_logic(d, mask, y, x, 0xca);
  }
  const VReg magnitude = vm(Op::AndpsRM, x, Bits128{~signs.low, ~signs.high});
  const VReg sign = vm(Op::AndpsRM, y, signs);
  vv(Op::OrpsRR, d, magnitude, sign);
}

void Lowering::lower_vector_fcmp(ir::Inst inst) {
  const unsigned bits = type(func().arg_a(inst)).lane_bits();
  const Predicate p = predicate_of(func().float_cc(inst));
  const Op form = by_lane(bits, Op::CmppsRRI, Op::CmppdRRI);
  const VReg d = result(inst);
  ir::Value first = func().arg_a(inst);
  ir::Value second = func().arg_b(inst);
  if (p.swap) std::swap(first, second);
  Address memory;
  if ((p.code < 8 || has(Feature::Avx)) && vector_operand(second, inst, memory)) {
    const bool vex = has(Feature::Avx);
    emit(mi(vex ? masm::x64::with_vex(next(form)) : next(form), 16, p.code),
         {vex ? codegen::def(d) : codegen::def_same(d, 1), codegen::use(reg(first))}, memory);
    return;
  }
  const VReg x = reg(first);
  const VReg y = reg(second);
  if (p.code < 8 || has(Feature::Avx)) return vvi(form, d, x, y, p.code);
  // Unordered or equal; ordered and not equal.
  const bool ueq = p.code == 8;
  const VReg order = vvi(form, x, y, ueq ? 3 : 7);
  const VReg equality = vvi(form, x, y, ueq ? 0 : 4);
  vv(ueq ? Op::OrpsRR : Op::AndpsRR, d, order, equality);
}

/// min(x, y) and min(y, x) are different where an operand is NaN or both are zeros. NaN becomes the
/// canonical one.
void Lowering::lower_vector_fmin_fmax(ir::Inst inst, bool maximum) {
  const unsigned bits = type(func().result(inst)).lane_bits();
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  const Op extreme =
      maximum ? by_lane(bits, Op::MaxpsRR, Op::MaxpdRR) : by_lane(bits, Op::MinpsRR, Op::MinpdRR);
  const Op compare = by_lane(bits, Op::CmppsRRI, Op::CmppdRRI);
  const Op shift = by_lane(bits, Op::PsrldRI, Op::PsrlqRI);
  constexpr std::int64_t kUnordered = 3;
  const unsigned payload_shift = bits == 32 ? 10 : 13;  // sign, exponent and the first bit stay
  const VReg one = vv(extreme, x, y);
  const VReg other = vv(extreme, y, x);
  VReg both;
  if (maximum) {
    // -0 only if both are: the difference, a sign bit, is taken away from the sum of both.
    const VReg difference = vv(Op::XorpsRR, one, other);
    const VReg either = vv(Op::OrpsRR, one, difference);
    both = vv(by_lane(bits, Op::SubpsRR, Op::SubpdRR), either, difference);
  } else {
    both = vv(Op::OrpsRR, one, other);
  }
  const VReg nan = vvi(compare, both, both, kUnordered);
  const VReg filled = maximum ? both : vv(Op::OrpsRR, both, nan);
  const VReg payload = vi(shift, nan, payload_shift);
  vv(Op::AndnpsRR, d, payload, filled);
}

// ---- Fused multiply-add.

/// x * y + z by the processor, with the signs of the operands in the form. False without FMA.
bool Lowering::fused_multiply_add(ir::Inst inst) {
  if (!has(Feature::Fma)) return false;
  const ir::Type t = type(func().result(inst));
  bool negate_product = false;
  bool negate_sum = false;
  const auto strip = [&](ir::Value v, bool& negated) {
    v = resolve(v);
    while (true) {
      const ir::Inst neg = match(v, ir::Op::Fneg);
      // The sign of other lanes is another bit.
      if (neg.is_none() || type(func().result(neg)) != t || !can_fuse(neg, inst)) return v;
      negated = !negated;
      v = resolve(func().arg_a(neg));
    }
  };
  const ir::Value x = strip(func().arg_a(inst), negate_product);
  const ir::Value y = strip(func().arg_b(inst), negate_product);
  const ir::Value z = strip(func().arg_c(inst), negate_sum);
  struct Forms {
    Op ps, pd, ss, sd;
  };
  static constexpr Forms kForms[2][2] = {
      {{Op::Vfmadd213psRRR, Op::Vfmadd213pdRRR, Op::Vfmadd213ssRRR, Op::Vfmadd213sdRRR},
       {Op::Vfmsub213psRRR, Op::Vfmsub213pdRRR, Op::Vfmsub213ssRRR, Op::Vfmsub213sdRRR}},
      {{Op::Vfnmadd213psRRR, Op::Vfnmadd213pdRRR, Op::Vfnmadd213ssRRR, Op::Vfnmadd213sdRRR},
       {Op::Vfnmsub213psRRR, Op::Vfnmsub213pdRRR, Op::Vfnmsub213ssRRR, Op::Vfnmsub213sdRRR}}};
  const Forms& f = kForms[negate_product][negate_sum];
  const Op form =
      t.is_vector() ? by_lane(t.lane_bits(), f.ps, f.pd) : by_lane(t.lane_bits(), f.ss, f.sd);
  const VReg d = result(inst);
  const VReg a = reg(x);
  const VReg b = reg(y);
  Address memory;
  if (t.is_vector() ? vector_operand(z, inst, memory) : float_operand(z, inst, memory)) {
    emit(mi(next(form), 16), {codegen::def_same(d, 1), codegen::use(a), codegen::use(b)}, memory);
    return true;
  }
  emit(mi(form, 16),
       {codegen::def_same(d, 1), codegen::use(a), codegen::use(b), codegen::use(reg(z))});
  return true;
}

/// Without FMA lane by lane in the library.
void Lowering::lower_vector_fma(ir::Inst inst) {
  if (fused_multiply_add(inst)) return;
  const ir::Type t = type(func().result(inst));
  const unsigned lanes = t.lane_count();
  const bool singles = t.lane_bits() == 32;
  const VReg d = result(inst);
  const VReg operands[] = {reg(func().arg_a(inst)), reg(func().arg_b(inst)),
                           reg(func().arg_c(inst))};
  VReg sum = make_vector(Bits128{});
  for (unsigned lane = 0; lane < lanes; ++lane) {
    VReg args[3];
    for (unsigned i = 0; i < 3; ++i) {
      args[i] = new_float();
      // Lane to the front.
      v1(Op::PshufdRRI, args[i], operands[i], singles ? lane : lane * 0x0a + 4);
    }
    const VReg target =
        make_symbol(ir::ExternalName::testcase(singles ? "FmaF32" : "FmaF64"), false, 0);
    const VReg product = new_float();
    call_library(target, args, product);
    const VReg to = lane + 1 == lanes ? d : new_vec();
    if (singles) {
      vvi(Op::InsertpsRRI, to, sum, product, lane << 4);
    } else if (lane == 0) {
      vv(Op::MovsdRR, to, sum, product);
    } else {
      vv(Op::UnpcklpdRR, to, sum, product);
    }
    sum = to;
  }
}

// ---- From integers.

void Lowering::lower_vector_from_int(ir::Inst inst, bool is_signed) {
  const ir::Type t = type(func().result(inst));
  const ir::Value from = func().arg_a(inst);
  if (type(from).lane_bits() != t.lane_bits()) return unsupported(inst);
  const VReg d = result(inst);
  if (t.lane_bits() == 32) {
    const VReg x = reg(from);
    if (is_signed) return v1(Op::Cvtdq2psRR, d, x);
    if (has_avx512(Feature::Avx512f)) return v1(Op::Vcvtudq2psRR, d, x);
    // The low 16 bits and the rest, both exact; the sum is rounded once.
    const VReg low = vm(Op::PandRM, x, repeat(32, 0xffff));
    const VReg rest = vv(Op::PsubdRR, x, low);
    const VReg half = v1(Op::Cvtdq2psRR, vi(Op::PsrldRI, rest, 1));
    const VReg high = vv(Op::AddpsRR, half, half);
    return vv(Op::AddpsRR, d, high, v1(Op::Cvtdq2psRR, low));
  }
  const ir::Inst widen = def_of(from);
  if (widen.is_some() && type(func().result(widen)) == type(from) && can_fuse(widen, inst) &&
      type(func().arg_a(widen)).bits() == 128) {
    const ir::Op op = func().op(widen);
    if (op == ir::Op::SwidenLow) return v1(Op::Cvtdq2pdRR, d, reg(func().arg_a(widen)));
    if (op == ir::Op::UwidenLow && has_avx512(Feature::Avx512f)) {
      return v1(Op::Vcvtudq2pdRR, d, reg(func().arg_a(widen)));
    }
    if (op == ir::Op::UwidenLow) {
      // As the low bits of a double of 2^52.
      const VReg exponent = make_vector(32, kTwo52 >> 32);
      const VReg large = vv(Op::UnpcklpsRR, reg(func().arg_a(widen)), exponent);
      return vm(Op::SubpdRM, d, large, vector_address(repeat(64, kTwo52)));
    }
  }
  const VReg x = reg(from);
  if (has_avx512(Feature::Avx512dq)) {
    return v1(is_signed ? Op::Vcvtqq2pdRR : Op::Vcvtuqq2pdRR, d, x);
  }
  // The halves as low bits of doubles of 2^52 and 2^84; what is too much is taken off the upper
  // one (exact), then the sum is rounded once. A sign is 2^63 more.
  const VReg exponent = make_vector(64, kTwo52);
  const VReg low = vvi(Op::PblendwRRI, x, exponent, 0xcc);
  const VReg upper = vi(Op::PsrlqRI, x, 32);
  const VReg high = vm(Op::PxorRM, upper, repeat(64, is_signed ? kTwo84 | 0x8000'0000 : kTwo84));
  const VReg part = vm(Op::SubpdRM, high, repeat(64, is_signed ? kTwo84And63And52 : kTwo84And52));
  vv(Op::AddpdRR, d, part, low);
}

// ---- To integers, saturating; NaN gives 0.

void Lowering::lower_vector_to_int(ir::Inst inst, bool is_signed) {
  const ir::Type t = type(func().result(inst));
  const ir::Value from = func().arg_a(inst);
  if (type(from).lane_bits() != t.lane_bits()) return unsupported(inst);
  const VReg d = result(inst);
  const VReg x = reg(from);
  if (t.lane_bits() == 32) return to_i32x4(d, x, is_signed);
  to_i64x2(d, x, is_signed);
}

void Lowering::to_i32x4(VReg d, VReg x, bool is_signed) {
  constexpr std::int64_t kLessOrEqual = 2;
  if (is_signed) {
    const VReg ordered = vvi(Op::CmppsRRI, x, x, 0);
    const VReg number = vv(Op::AndpsRR, x, ordered);
    const VReg limit = make_vector(32, kTwo31Single);
    const VReg too_large = vvi(Op::CmppsRRI, limit, number, kLessOrEqual);
    const VReg converted = v1(Op::Cvttps2dqRR, number);  // the minimum where it does not fit
    return vv(Op::PxorRR, d, converted, too_large);
  }
  const VReg zero = make_vector(Bits128{});
  const VReg number = vv(Op::MaxpsRR, x, zero);  // the second for NaN
  if (has_avx512(Feature::Avx512f)) return v1(Op::Vcvttps2udqRR, d, number);
  // What is above 2^31 is converted apart; it is negative, and counts 0, if there is none.
  const VReg limit = make_vector(32, kTwo31Single);
  const VReg low = v1(Op::Cvttps2dqRR, number);
  const VReg rest = vv(Op::SubpsRR, number, limit);
  const VReg too_large = vvi(Op::CmppsRRI, limit, rest, kLessOrEqual);
  const VReg rest_converted = v1(Op::Cvttps2dqRR, rest);
  const VReg saturated = vv(Op::PxorRR, rest_converted, too_large);
  const VReg above = vv(Op::PmaxsdRR, saturated, zero);
  vv(Op::PadddRR, d, low, above);
}

void Lowering::to_i64x2(VReg d, VReg x, bool is_signed) {
  if (has_avx512(Feature::Avx512dq)) {
    if (!is_signed) {
      const VReg zero = make_vector(Bits128{});
      return v1(Op::Vcvttpd2uqqRR, d, vv(Op::MaxpdRR, x, zero));
    }
    const VReg ordered = vvi(Op::CmppdRRI, x, x, 0);
    const VReg number = vv(Op::AndpsRR, x, ordered);
    const VReg limit = make_vector(64, kTwo63);
    const VReg too_large = vvi(Op::CmppdRRI, limit, number, 2);
    const VReg converted = v1(Op::Vcvttpd2qqRR, number);
    return vv(Op::PxorRR, d, converted, too_large);
  }
  VReg lane[2];
  for (const unsigned n : {0u, 1u}) {
    VReg from = x;
    if (n == 1) from = v1(Op::PshufdRRI, x, 0xee);
    lane[n] = new_int();
    if (is_signed) {
      emit(mi(Pseudo::TruncSatS, 8), {codegen::early_def(lane[n]), codegen::late_use(from)}).cc = 8;
    } else {
      emit(mi(Pseudo::TruncSatU64, 8), {codegen::early_def(lane[n]), codegen::early_def(new_int()),
                                        codegen::early_def(new_float()), codegen::late_use(from)})
          .cc = 8;
    }
  }
  const VReg low = new_vec();
  emit(mi(Op::MovqXR, 8), {codegen::def(low), codegen::use(lane[0])});
  emit(mi(Op::PinsrqXRI, 8, 1),
       {codegen::def_same(d, 1), codegen::use(low), codegen::use(lane[1])});
}

}  // namespace hoist::isa::x64
