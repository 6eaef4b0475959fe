// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Lanes: splat, extraction, insertion, narrowing, widening, sums of neighbours, tests.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

using codegen::RegClass;

namespace {

constexpr Op kWidenSigned[] = {Op::PmovsxbwRR, Op::PmovsxwdRR, Op::PmovsxdqRR};
constexpr Op kWidenUnsigned[] = {Op::PmovzxbwRR, Op::PmovzxwdRR, Op::PmovzxdqRR};
constexpr Op kUnpackHigh[] = {Op::PunpckhbwRR, Op::PunpckhwdRR, Op::PunpckhdqRR};

}  // namespace

bool Lowering::lower_vector_lanes(ir::Inst inst) {
  switch (func().op(inst)) {
    case ir::Op::Splat: lower_splat(inst); return true;
    case ir::Op::Extractlane: lower_extractlane(inst); return true;
    case ir::Op::Insertlane: lower_insertlane(inst); return true;
    case ir::Op::ScalarToVector: lower_scalar_to_vector(inst); return true;
    case ir::Op::Shuffle: lower_shuffle(inst); return true;
    case ir::Op::Swizzle: lower_swizzle(inst); return true;
    case ir::Op::X86Pshufb: vbinary(inst, Op::PshufbRR, false); return true;
    case ir::Op::Snarrow:
    case ir::Op::Unarrow:
    case ir::Op::Uunarrow: lower_narrow(inst); return true;
    case ir::Op::SwidenLow: lower_widen(inst, true, false); return true;
    case ir::Op::SwidenHigh: lower_widen(inst, true, true); return true;
    case ir::Op::UwidenLow: lower_widen(inst, false, false); return true;
    case ir::Op::UwidenHigh: lower_widen(inst, false, true); return true;
    case ir::Op::IaddPairwise: lower_pairwise(inst); return true;
    case ir::Op::X86Pmaddubsw: {
      // The instruction's first operand is the unsigned one.
      const VReg d = result(inst);
      const VReg x = reg(func().arg_a(inst));
      const VReg y = reg(func().arg_b(inst));
      vv(Op::PmaddubswRR, d, y, x);
      return true;
    }
    case ir::Op::Blendv: {
      const VReg d = result(inst);
      const VReg mask = reg(func().arg_a(inst));
      const VReg x = reg(func().arg_b(inst));
      const VReg y = reg(func().arg_c(inst));
      blend(type(func().result(inst)).lane_bits(), d, y, x, mask);
      return true;
    }
    case ir::Op::VanyTrue:
    case ir::Op::VallTrue: {
      const VReg d = result(inst);
      setcc(vector_test(inst), d, false);
      return true;
    }
    case ir::Op::VhighBits: lower_vhigh_bits(inst); return true;
    case ir::Op::ExtractVector:
      // A dynamic vector is its fixed part, number 0.
      if (func().lane(inst) != 0) return false;
      move(result(inst), reg(func().arg_a(inst)), codegen::RegClass::Float);
      return true;
    case ir::Op::Uload8x8: lower_extending_load(inst, Op::PmovzxbwRM, Op::PmovzxbwRR); return true;
    case ir::Op::Sload8x8: lower_extending_load(inst, Op::PmovsxbwRM, Op::PmovsxbwRR); return true;
    case ir::Op::Uload16x4: lower_extending_load(inst, Op::PmovzxwdRM, Op::PmovzxwdRR); return true;
    case ir::Op::Sload16x4: lower_extending_load(inst, Op::PmovsxwdRM, Op::PmovsxwdRR); return true;
    case ir::Op::Uload32x2: lower_extending_load(inst, Op::PmovzxdqRM, Op::PmovzxdqRR); return true;
    case ir::Op::Sload32x2: lower_extending_load(inst, Op::PmovsxdqRM, Op::PmovsxdqRR); return true;
    default: return false;  // other families
  }
}

// ---- Between scalars and vectors.

void Lowering::int_to_vector(VReg d, VReg x, unsigned bytes) {
  emit(mi(bytes == 8 ? Op::MovqXR : Op::MovdXR, bytes == 8 ? 8 : 4),
       {codegen::def(d), codegen::use(x)});
}

void Lowering::vector_to_int(VReg d, VReg x, unsigned bytes) {
  emit(mi(bytes == 8 ? Op::MovqRX : Op::MovdRX, bytes == 8 ? 8 : 4),
       {codegen::def(d), codegen::use(x)});
}

void Lowering::lower_splat(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Value x = resolve(func().arg_a(inst));
  const ir::Type t = type(x);
  const unsigned bytes = t.bytes();
  if (const auto imm = constant(x)) {
    return move(d, make_vector(bytes * 8, *imm), RegClass::Float);
  }
  const bool avx2 = has(Feature::Avx2);
  Address memory;
  const bool by_memory = bytes == 8 || (bytes == 4 && has(Feature::Avx)) || avx2;
  if (by_memory && fold_load(x, inst, memory)) {
    const Op form = bytes == 8   ? Op::MovddupRM
                    : bytes == 4 ? Op::VbroadcastssRM
                    : bytes == 2 ? Op::VpbroadcastwRM
                                 : Op::VpbroadcastbRM;
    const Op vex = bytes == 8 && has(Feature::Avx) ? Op::VmovddupRM : form;
    emit(mi(vex, 16), {codegen::def(d)}, memory);
    return;
  }
  VReg from = reg(x);
  if (t.is_int()) {
    const VReg scalar = new_vec();
    int_to_vector(scalar, from, bytes);
    from = scalar;
  }
  if (bytes == 8) return v1(t.is_int() ? Op::PshufdRRI : Op::MovddupRR, d, from, 0x44);
  if (bytes == 4) {
    if (avx2) return v1(t.is_int() ? Op::VpbroadcastdRR : Op::VbroadcastssRR, d, from);
    if (t.is_int()) return v1(Op::PshufdRRI, d, from, 0);
    return vvi(Op::ShufpsRRI, d, from, from, 0);
  }
  if (avx2) return v1(bytes == 1 ? Op::VpbroadcastbRR : Op::VpbroadcastwRR, d, from);
  if (bytes == 2) return v1(Op::PshufdRRI, d, v1(Op::PshuflwRRI, from, 0), 0);
  const VReg zero = make_vector(Bits128{});
  vv(Op::PshufbRR, d, from, zero);
}

void Lowering::lower_extractlane(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Type t = type(func().result(inst));
  const unsigned lane = func().lane(inst);
  const VReg x = reg(func().arg_a(inst));
  if (t.is_float()) {
    if (lane == 0) return move(d, x, RegClass::Float);
    if (t == ir::F64) return v1(Op::PshufdRRI, d, x, 0xee);
    return v1(lane == 1 ? Op::MovshdupRR : Op::PshufdRRI, d, x, lane == 1 ? 0 : lane);
  }
  if (lane == 0 && t.bits() >= 32) return vector_to_int(d, x, t.bytes());
  const Op form = t == ir::I8    ? Op::PextrbRXI
                  : t == ir::I16 ? Op::PextrwRXI
                  : t == ir::I32 ? Op::PextrdRXI
                                 : Op::PextrqRXI;
  emit(mi(form, t == ir::I64 ? 8 : 4, lane), {codegen::def(d), codegen::use(x)});
}

void Lowering::lower_insertlane(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Value scalar = resolve(func().arg_b(inst));
  const ir::Type t = type(scalar);
  const unsigned lane = func().lane(inst);
  const VReg x = reg(func().arg_a(inst));
  Address memory;
  const bool loaded = fold_load(scalar, inst, memory);
  if (t.is_float()) {
    if (loaded && t == ir::F32) {
      const Op form = has(Feature::Avx) ? Op::VinsertpsRRMI : Op::InsertpsRMI;
      const codegen::Operand to = has(Feature::Avx) ? codegen::def(d) : codegen::def_same(d, 1);
      emit(mi(form, 16, lane << 4), {to, codegen::use(x)}, memory);
      return;
    }
    if (loaded) return vm(lane == 0 ? Op::MovlpdRM : Op::MovhpdRM, d, x, memory);
    const VReg y = reg(scalar);
    if (t == ir::F32) return vvi(Op::InsertpsRRI, d, x, y, lane << 4);
    return vv(lane == 0 ? Op::MovsdRR : Op::UnpcklpdRR, d, x, y);
  }
  Op form = t == ir::I8    ? Op::PinsrbXRI
            : t == ir::I16 ? Op::PinsrwXRI
            : t == ir::I32 ? Op::PinsrdXRI
                           : Op::PinsrqXRI;
  const unsigned width = t == ir::I64 ? 8 : 4;
  if (loaded) form = next(form);
  const bool vex = has(Feature::Avx);
  if (vex) form = masm::x64::with_vex(form);
  const codegen::Operand to = vex ? codegen::def(d) : codegen::def_same(d, 1);
  if (loaded) {
    emit(mi(form, width, lane), {to, codegen::use(x)}, memory);
  } else {
    emit(mi(form, width, lane), {to, codegen::use(x), codegen::use(low(scalar, t.bits()))});
  }
}

/// The other lanes are zero.
void Lowering::lower_scalar_to_vector(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Value scalar = resolve(func().arg_a(inst));
  const ir::Type t = type(scalar);
  Address memory;
  if (t.bits() >= 32 && fold_load(scalar, inst, memory)) {
    return load_into(t.bits() == 32 ? Op::MovssRM : Op::MovsdRM, 16, d, memory);
  }
  if (t == ir::F32) return vvi(Op::InsertpsRRI, d, reg(scalar), reg(scalar), 0x0e);
  if (t == ir::F64) return v1(Op::MovqXX, d, reg(scalar));
  int_to_vector(d, extended(scalar, false), t.bytes());
}

// ---- Narrowing and widening.

/// Conversions of doubles to 32-bit integers whose upper lanes are zero.
bool Lowering::narrow_conversion(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const auto upper = vector_constant(func().arg_b(inst));
  if (!upper || *upper != Bits128{}) return false;
  const bool is_signed = op == ir::Op::Snarrow;
  if (!is_signed && op != ir::Op::Uunarrow) return false;
  const ir::Inst convert =
      match(func().arg_a(inst), is_signed ? ir::Op::FcvtToSintSat : ir::Op::FcvtToUintSat);
  if (convert.is_none() || type(func().result(convert)) != ir::I64x2 || !can_fuse(convert, inst)) {
    return false;
  }
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(convert));
  if (is_signed) {
    // The second operand of minimum is the answer for NaN: 0 there. Too small gives the minimum.
    const VReg ordered = vvi(Op::CmppdRRI, x, x, 0);
    const VReg limit = vm(Op::AndpsRM, ordered, repeat(64, 0x41df'ffff'ffc0'0000));
    const VReg number = vv(Op::MinpdRR, x, limit);
    v1(Op::Cvttpd2dqRR, d, number);
    return true;
  }
  const VReg zero = make_vector(Bits128{});
  const VReg positive = vv(Op::MaxpdRR, x, zero);
  if (has_avx512(Feature::Avx512f)) {
    v1(Op::Vcvttpd2udqRR, d, positive);
    return true;
  }
  const VReg number = vm(Op::MinpdRM, positive, repeat(64, 0x41ef'ffff'ffe0'0000));
  const VReg whole = v1(Op::RoundpdRRI, number, 8 | 3);
  const VReg large = vm(Op::AddpdRM, whole, repeat(64, 0x4330'0000'0000'0000));
  vvi(Op::ShufpsRRI, d, large, zero, 0x88);
  return true;
}

/// Two vectors of 2, 4 or 8 bytes in the low part of one register; a result of both is there too.
VReg Lowering::join_narrow(ir::Type t, VReg x, VReg y) {
  const Op op = t.bits() == 64   ? Op::PunpcklqdqRR
                : t.bits() == 32 ? Op::PunpckldqRR
                                 : Op::PunpcklwdRR;
  return vv(op, x, y);
}

void Lowering::lower_narrow(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const ir::Type t = type(func().arg_a(inst));
  if (t.lane_bits() == 64 && narrow_conversion(inst)) return;
  const VReg d = result(inst);
  VReg x = reg(func().arg_a(inst));
  VReg y = reg(func().arg_b(inst));
  if (t.bits() < 128) x = y = join_narrow(t, x, y);
  const bool is_signed = op == ir::Op::Snarrow;
  if (t.lane_bits() == 64) {
    const std::uint64_t largest = is_signed ? 0x7fff'ffff : 0xffff'ffff;
    const auto clamp = [&](VReg v) {
      VReg out = v;
      if (op != ir::Op::Uunarrow) {
        const VReg smallest =
            is_signed ? make_vector(64, 0xffff'ffff'8000'0000) : make_vector(Bits128{});
        out = min_max_64(out, smallest, true, true);
      }
      return min_max_64(out, make_vector(64, largest), op != ir::Op::Uunarrow, false);
    };
    const VReg low = clamp(x);
    const VReg high = y == x ? low : clamp(y);
    return vvi(Op::ShufpsRRI, d, low, high, 0x88);
  }
  const bool words = t.lane_bits() == 16;
  if (op == ir::Op::Uunarrow) {
    const Address limit = vector_address(repeat(t.lane_bits(), words ? 0xff : 0xffff));
    const bool same = x == y;
    x = vm(words ? Op::PminuwRM : Op::PminudRM, x, limit);
    y = same ? x : vm(words ? Op::PminuwRM : Op::PminudRM, y, limit);
  }
  const Op form = is_signed ? (words ? Op::PacksswbRR : Op::PackssdwRR)
                            : (words ? Op::PackuswbRR : Op::PackusdwRR);
  vv(form, d, x, y);
}

void Lowering::lower_widen(ir::Inst inst, bool is_signed, bool high) {
  const VReg d = result(inst);
  const ir::Value from = func().arg_a(inst);
  const ir::Type t = type(from);
  const unsigned lane = lane_number(t);
  const Op form = is_signed ? kWidenSigned[lane] : kWidenUnsigned[lane];
  const VReg x = reg(from);
  if (!high) return v1(form, d, x);
  if (t.bits() < 128) return v1(form, d, vi(Op::PsrldqRI, x, t.bits() / 16));
  if (is_signed) return v1(form, d, v1(Op::PshufdRRI, x, 0xee));
  const VReg zero = make_vector(Bits128{});
  vv(kUnpackHigh[lane], d, x, zero);
}

// ---- Sums of neighbours.

/// Of widened lanes, or of products of widened ones: one multiplication with addition.
bool Lowering::pairwise_of_widened(ir::Inst inst) {
  const ir::Inst a = def_of(func().arg_a(inst));
  const ir::Inst b = def_of(func().arg_b(inst));
  if (a.is_none() || b.is_none() || !can_fuse(a, inst) || !can_fuse(b, inst)) return false;
  const ir::Type t = type(func().result(inst));
  if (func().results(a).size() != 1 || type(func().result(a)) != t ||
      func().results(b).size() != 1 || type(func().result(b)) != t) {
    return false;
  }
  const auto widened = [&](ir::Value v, ir::Op op) {
    const ir::Inst widen = match(v, op);
    return widen.is_some() && type(func().result(widen)) == t ? resolve(func().arg_a(widen))
                                                              : ir::Value::none();
  };
  const bool from_bytes = t.lane_bits() == 16;
  if (func().op(a) == ir::Op::Imul && func().op(b) == ir::Op::Imul && !from_bytes) {
    const ir::Value x = widened(func().arg_a(a), ir::Op::SwidenLow);
    const ir::Value y = widened(func().arg_b(a), ir::Op::SwidenLow);
    if (x.is_none() || y.is_none() || x != widened(func().arg_a(b), ir::Op::SwidenHigh) ||
        y != widened(func().arg_b(b), ir::Op::SwidenHigh) || type(x).bits() != 128) {
      return false;
    }
    const VReg d = result(inst);
    const VReg first = reg(x);
    vv(Op::PmaddwdRR, d, first, reg(y));
    return true;
  }
  const ir::Op op = func().op(a);
  const bool is_signed = op == ir::Op::SwidenLow;
  if (!is_signed && op != ir::Op::UwidenLow) return false;
  const ir::Value v = resolve(func().arg_a(a));
  if (widened(func().arg_b(inst), is_signed ? ir::Op::SwidenHigh : ir::Op::UwidenHigh) != v ||
      type(v).bits() != 128) {
    return false;
  }
  const VReg d = result(inst);
  const VReg x = reg(v);
  if (from_bytes) {
    if (!is_signed) {
      vm(Op::PmaddubswRM, d, x, vector_address(repeat(8, 1)));
    } else {
      const VReg ones = make_vector(8, 1);
      vv(Op::PmaddubswRR, d, ones, x);
    }
    return true;
  }
  const Address ones = vector_address(repeat(16, 1));
  if (is_signed) {
    vm(Op::PmaddwdRM, d, x, ones);
    return true;
  }
  const VReg lowered = vm(Op::PxorRM, x, repeat(16, 0x8000));
  const VReg sums = vm(Op::PmaddwdRM, lowered, ones);
  vm(Op::PadddRM, d, sums, vector_address(repeat(32, 0x1'0000)));
  return true;
}

void Lowering::lower_pairwise(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  if (t.bits() == 128 && (t.lane_bits() == 16 || t.lane_bits() == 32) &&
      pairwise_of_widened(inst)) {
    return;
  }
  const VReg d = result(inst);
  VReg x = reg(func().arg_a(inst));
  VReg y = reg(func().arg_b(inst));
  if (t.bits() < 128) x = y = join_narrow(t, x, y);
  switch (t.lane_bits()) {
    case 16: return vv(Op::PhaddwRR, d, x, y);
    case 32: return vv(Op::PhadddRR, d, x, y);
    case 64: {
      const VReg even = vv(Op::PunpcklqdqRR, x, y);
      const VReg odd = vv(Op::PunpckhqdqRR, x, y);
      return vv(Op::PaddqRR, d, even, odd);
    }
    default: break;
  }
  // Bytes: the sums in words, packed.
  const auto sums = [&](VReg v) {
    const VReg sum = vv(Op::PaddbRR, v, vi(Op::PsrlwRI, v, 8));
    return vm(Op::PandRM, sum, repeat(16, 0xff));
  };
  const VReg low = sums(x);
  const VReg high = x == y ? low : sums(y);
  vv(Op::PackuswbRR, d, low, high);
}

// ---- Tests.

/// The test of a comparison or of a conjunction by one instruction that takes both operands: ptest
/// says whether x & y is zero (ZF), and whether ~x & y is (CF).
std::optional<Cc> Lowering::test_of_operation(ir::Inst inst, bool all) {
  const ir::Inst def = def_of(func().arg_a(inst));
  if (def.is_none() || !can_fuse(def, inst)) return std::nullopt;
  const ir::Op op = func().op(def);
  const auto test = [&](VReg x, VReg y) {
    emit(mi(has(Feature::Avx) ? Op::VptestRR : Op::PtestRR, 16),
         {codegen::use(x), codegen::use(y)});
  };
  if (!all && op == ir::Op::Band) {
    for (const bool second : {true, false}) {
      const ir::Inst complement =
          match(second ? func().arg_b(def) : func().arg_a(def), ir::Op::Bnot);
      if (complement.is_none() || !can_fuse(complement, inst)) continue;
      const VReg x = reg(func().arg_a(complement));
      test(x, reg(second ? func().arg_a(def) : func().arg_b(def)));
      return Cc::Ae;
    }
    const VReg x = reg(func().arg_a(def));
    test(x, reg(func().arg_b(def)));
    return Cc::Ne;
  }
  if (op != ir::Op::Icmp && op != ir::Op::Fcmp) return std::nullopt;
  // Lanes of the comparison that are all ones or zero: those of the test must not be larger.
  const ir::Type compared = type(func().result(def));
  if (!compared.is_vector() ||
      (all && compared.lane_bits() < type(func().arg_a(inst)).lane_bits())) {
    return std::nullopt;
  }
  if (op == ir::Op::Icmp && func().int_cc(def) == (all ? ir::IntCC::Eq : ir::IntCC::Ne)) {
    const VReg x = reg(func().arg_a(def));
    const VReg difference = vv(Op::PxorRR, x, reg(func().arg_b(def)));
    test(difference, difference);
    return all ? Cc::E : Cc::Ne;
  }
  if (!all) return std::nullopt;
  const VReg mask = reg(func().arg_a(inst));
  test(mask, make_vector(Bits128{~std::uint64_t{0}, ~std::uint64_t{0}}));
  return Cc::B;
}

/// Sets the flags for vany_true or vall_true; the condition that then holds if it is so.
Cc Lowering::vector_test(ir::Inst inst) {
  const ir::Value v = func().arg_a(inst);
  const ir::Type t = type(v);
  const bool all = func().op(inst) == ir::Op::VallTrue;
  if (t.bits() == 128) {
    if (const std::optional<Cc> cc = test_of_operation(inst, all)) return *cc;
  }
  VReg x = reg(v);
  if (all) {
    const VReg zero = make_vector(Bits128{});
    x = vv(equal_lanes(t), x, zero);
  }
  if (t.bits() == 128) {
    emit(mi(has(Feature::Avx) ? Op::VptestRR : Op::PtestRR, 16),
         {codegen::use(x), codegen::use(x)});
  } else {
    const VReg bits = new_int();
    vector_to_int(bits, x, t.bytes());
    emit(mi(Op::TestRR, t.bytes()), {codegen::use(bits), codegen::use(bits)});
  }
  return all ? Cc::E : Cc::Ne;
}

void Lowering::lower_vhigh_bits(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Type t = type(func().arg_a(inst));
  const unsigned lanes = t.lane_count();
  VReg x = reg(func().arg_a(inst));
  Op form = Op::PmovmskbRR;
  unsigned valid = 16;
  switch (t.lane_bits()) {
    case 8: break;
    case 16: x = vv(Op::PacksswbRR, x, x); break;
    case 32:
      form = Op::MovmskpsRR;
      valid = 4;
      break;
    default:
      form = Op::MovmskpdRR;
      valid = 2;
      break;
  }
  if (has(Feature::Avx)) form = masm::x64::with_vex(form);
  const bool clear = lanes < valid;
  const VReg bits = clear ? new_int() : d;
  emit(mi(form, 4), {codegen::def(bits), codegen::use(x)});
  if (clear) ri(Op::AndRI, 4, d, bits, (std::int64_t{1} << lanes) - 1);
}

// ---- Memory and bits.

/// `x` with the bytes of each lane in the opposite order.
VReg Lowering::swap_lane_bytes(VReg x, unsigned lane_bytes) {
  if (lane_bytes == 1) return x;
  std::array<std::uint8_t, 16> numbers;
  for (unsigned i = 0; i < 16; ++i) {
    numbers[i] =
        static_cast<std::uint8_t>(i / lane_bytes * lane_bytes + (lane_bytes - 1 - i % lane_bytes));
  }
  return vm(Op::PshufbRM, x, pack(numbers));
}

/// What is read as lanes of `to_bytes` where `x` was written as lanes of `from_bytes`, big-endian.
VReg Lowering::in_other_lanes(VReg x, unsigned from_bytes, unsigned to_bytes) {
  return swap_lane_bytes(swap_lane_bytes(x, from_bytes), to_bytes);
}

void Lowering::lower_vector_load(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const ir::MemFlags& flags = func().mem_flags(inst);
  const Address from = address(func().arg_a(inst), func().load_offset(inst), flags.trap);
  const bool is_big = flags.endian == 2 && t.lane_bits() > 8;
  const VReg d = is_big ? new_vec() : result(inst);
  load_vector(inst, d, t.bytes(), from);
  if (is_big) move(result(inst), swap_lane_bytes(d, t.lane_bits() / 8), RegClass::Float);
}

void Lowering::load_vector(ir::Inst inst, VReg d, unsigned bytes, const Address& from) {
  const bool vex = has(Feature::Avx);
  switch (bytes) {
    case 16: return load_into(vex ? Op::VmovupsRM : Op::MovupsRM, 16, d, from);
    case 8: return load_into(vex ? Op::VmovsdRM : Op::MovsdRM, 8, d, from);
    case 4: return load_into(vex ? Op::VmovssRM : Op::MovssRM, 4, d, from);
    case 2: {
      const VReg bits = new_int();
      load_into(Op::Movzx16RM, 4, bits, from);
      return int_to_vector(d, bits, 4);
    }
    default: return unsupported(inst);
  }
}

void Lowering::lower_vector_store(ir::Inst inst) {
  const ir::Value v = func().arg_a(inst);
  const ir::MemFlags& flags = func().mem_flags(inst);
  const unsigned bytes = type(v).bytes();
  VReg x = reg(v);
  if (flags.endian == 2) x = swap_lane_bytes(x, type(v).lane_bits() / 8);
  const Address to = address(func().arg_b(inst), func().store_offset(inst), flags.trap);
  const bool vex = has(Feature::Avx);
  switch (bytes) {
    case 16: emit(mi(vex ? Op::VmovupsMR : Op::MovupsMR, 16), {codegen::use(x)}, to); return;
    case 8: emit(mi(vex ? Op::VmovsdMR : Op::MovsdMR, 8), {codegen::use(x)}, to); return;
    case 4: emit(mi(vex ? Op::VmovssMR : Op::MovssMR, 4), {codegen::use(x)}, to); return;
    case 2: emit(mi(vex ? Op::VpextrwMXI : Op::PextrwMXI, 4), {codegen::use(x)}, to); return;
    default: return unsupported(inst);
  }
}

void Lowering::lower_extending_load(ir::Inst inst, Op memory_form, Op register_form) {
  const ir::MemFlags& flags = func().mem_flags(inst);
  const Address from = address(func().arg_a(inst), func().load_offset(inst), flags.trap);
  const VReg d = result(inst);
  const bool vex = has(Feature::Avx);
  const unsigned lane_bytes = type(func().result(inst)).lane_bits() / 16;
  if (flags.endian == 2 && lane_bytes > 1) {
    const VReg raw_bits = new_vec();
    load_into(vex ? Op::VmovsdRM : Op::MovsdRM, 8, raw_bits, from);
    return v1(register_form, d, swap_lane_bytes(raw_bits, lane_bytes));
  }
  load_into(vex ? masm::x64::with_vex(memory_form) : memory_form, 16, d, from);
}

void Lowering::lower_vector_bitcast(ir::Inst inst) {
  const ir::Value x = func().arg_a(inst);
  const ir::Type to = type(func().result(inst));
  const ir::Type from = type(x);
  const VReg d = result(inst);
  // Another order of lanes in memory is another order of them here.
  if (func().mem_flags(inst).endian == 2 && to.lane_count() != from.lane_count()) {
    VReg lanes = reg(x);
    if (from.is_int()) {
      const VReg bits = new_vec();
      int_to_vector(bits, lanes, from.bytes());
      lanes = bits;
    }
    lanes = in_other_lanes(lanes, from.lane_bits() / 8, to.lane_bits() / 8);
    return to.is_int() ? vector_to_int(d, lanes, to.bytes()) : move(d, lanes, RegClass::Float);
  }
  if (to.is_int()) return vector_to_int(d, reg(x), to.bytes());
  if (from.is_int()) return int_to_vector(d, reg(x), from.bytes());
  move(d, reg(x), RegClass::Float);
}

}  // namespace hoist::isa::x64
