// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Shifts and rotations of vectors, by one scalar amount modulo the lane's width; numbers of ones.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

namespace {

struct ShiftForms {
  Op by_imm;
  Op by_count;
};

/// Of 16, 32 and 64-bit lanes; there is no arithmetic one of 64 bits without AVX-512.
ShiftForms forms_of(ir::Op op, unsigned lane_bits) {
  static constexpr ShiftForms kLeft[] = {
      {Op::PsllwRI, Op::PsllwRR}, {Op::PslldRI, Op::PslldRR}, {Op::PsllqRI, Op::PsllqRR}};
  static constexpr ShiftForms kRight[] = {
      {Op::PsrlwRI, Op::PsrlwRR}, {Op::PsrldRI, Op::PsrldRR}, {Op::PsrlqRI, Op::PsrlqRR}};
  static constexpr ShiftForms kSigned[] = {
      {Op::PsrawRI, Op::PsrawRR}, {Op::PsradRI, Op::PsradRR}, {masm::x64::kNoOp, masm::x64::kNoOp}};
  const unsigned n = lane_bits == 16 ? 0 : lane_bits == 32 ? 1 : 2;
  return op == ir::Op::Ishl ? kLeft[n] : op == ir::Op::Ushr ? kRight[n] : kSigned[n];
}

constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;

}  // namespace

void Lowering::shift_by_constant(ir::Op op, unsigned lane_bits, VReg d, VReg x, unsigned amount) {
  if (amount == 0) return move(d, x, codegen::RegClass::Float);
  if (lane_bits == 8) {
    if (op == ir::Op::Sshr && amount == 7) {
      const VReg zero = make_vector(Bits128{});
      return vv(Op::PcmpgtbRR, d, zero, x);
    }
    if (op == ir::Op::Sshr) {
      // As for 64 bits below: (x >>> n ^ m) - m, where m is the sign bit's new place.
      const VReg words = vi(Op::PsrlwRI, x, amount);
      const VReg logical = vm(Op::PandRM, words, repeat(8, 0xffu >> amount));
      const Bits128 m = repeat(8, 0x80u >> amount);
      const VReg flipped = vm(Op::PxorRM, logical, m);
      return vm(Op::PsubbRM, d, flipped, vector_address(m));
    }
    const bool left = op == ir::Op::Ishl;
    if (left && amount == 1) return vv(Op::PaddbRR, d, x, x);
    const VReg words = vi(left ? Op::PsllwRI : Op::PsrlwRI, x, amount);
    const std::uint64_t keep = left ? 0xffu << amount : 0xffu >> amount;
    return vm(Op::PandRM, d, words, vector_address(repeat(8, keep)));
  }
  const Op form = forms_of(op, lane_bits).by_imm;
  if (form != masm::x64::kNoOp) return vi(form, d, x, amount);
  if (has_avx512(Feature::Avx512f)) {
    emit(mi(Op::VpsraqRRI, 16, amount), {codegen::def(d), codegen::use(x)});
    return;
  }
  if (amount == 63) {
    const VReg high = v1(Op::PshufdRRI, x, 0xf5);
    return vi(Op::PsradRI, d, high, 31);
  }
  // (x >>> n ^ m) - m, where m is the sign bit's new place.
  const VReg logical = vi(Op::PsrlqRI, x, amount);
  const Bits128 m = repeat(64, kSign64 >> amount);
  const VReg flipped = vm(Op::PxorRM, logical, m);
  vm(Op::PsubqRM, d, flipped, vector_address(m));
}

/// The amount modulo the lane's width, in the low half of a register.
VReg Lowering::shift_count(ir::Value amount, unsigned lane_bits) {
  const VReg masked = ri(Op::AndRI, 4, low(amount, 8), lane_bits - 1);
  const VReg count = new_vec();
  emit(mi(Op::MovdXR, 4), {codegen::def(count), codegen::use(masked)});
  return count;
}

/// `count` may be the lane's width too; then everything is shifted out (not for Sshr).
void Lowering::shift_by_count(ir::Op op, unsigned lane_bits, VReg d, VReg x, VReg count) {
  if (lane_bits == 8) return shift_bytes_by_count(op, d, x, count);
  const Op form = forms_of(op, lane_bits).by_count;
  if (form != masm::x64::kNoOp) return vv(form, d, x, count);
  if (has_avx512(Feature::Avx512f)) return v512(Op::VpsraqRRR, d, x, count);
  const VReg sign = make_vector(64, kSign64);
  const VReg m = vv(Op::PsrlqRR, sign, count);
  const VReg logical = vv(Op::PsrlqRR, x, count);
  const VReg flipped = vv(Op::PxorRR, logical, m);
  vv(Op::PsubqRR, d, flipped, m);
}

void Lowering::shift_bytes_by_count(ir::Op op, VReg d, VReg x, VReg count) {
  if (op == ir::Op::Sshr) {
    const VReg more = vm(Op::PaddqRM, count, Bits128{8, 0});
    const VReg low_words = vv(Op::PunpcklbwRR, x, x);
    const VReg low = vv(Op::PsrawRR, low_words, more);
    const VReg high_words = vv(Op::PunpckhbwRR, x, x);
    const VReg high = vv(Op::PsrawRR, high_words, more);
    return vv(Op::PacksswbRR, d, low, high);
  }
  // Words are shifted; a word of ones shifted alike has in one of its bytes the bits to keep.
  const bool left = op == ir::Op::Ishl;
  const Op form = left ? Op::PsllwRR : Op::PsrlwRR;
  const VReg ones = make_vector(64, ~std::uint64_t{0});
  const VReg words = vv(form, x, count);
  const VReg shifted_ones = vv(form, ones, count);
  const VReg byte = left ? make_vector(Bits128{}) : make_vector(8, 1);
  const VReg keep = vv(Op::PshufbRR, shifted_ones, byte);
  vv(Op::PandRR, d, words, keep);
}

void Lowering::lower_vector_shift(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const unsigned bits = type(func().result(inst)).lane_bits();
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const ir::Value amount = func().arg_b(inst);
  if (!type(amount).is_int()) return unsupported(inst);
  if (const auto n = constant(amount)) {
    return shift_by_constant(op, bits, d, x, static_cast<unsigned>(*n & (bits - 1)));
  }
  const VReg count = shift_count(amount, bits);
  shift_by_count(op, bits, d, x, count);
}

void Lowering::lower_vector_rotate(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).lane_bits();
  const bool left = func().op(inst) == ir::Op::Rotl;
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  const ir::Value amount = func().arg_b(inst);
  if (!type(amount).is_int()) return unsupported(inst);
  if (const auto n = constant(amount)) {
    const auto by = static_cast<unsigned>(*n & (bits - 1));
    const unsigned to_left = left ? by : (bits - by) & (bits - 1);
    if (bits >= 32 && has_avx512(Feature::Avx512f)) {
      emit(mi(bits == 32 ? Op::VproldRRI : Op::VprolqRRI, 16, to_left),
           {codegen::def(d), codegen::use(x)});
      return;
    }
    if (to_left == 0) return move(d, x, codegen::RegClass::Float);
    const VReg up = new_vec();
    const VReg down = new_vec();
    shift_by_constant(ir::Op::Ishl, bits, up, x, to_left);
    shift_by_constant(ir::Op::Ushr, bits, down, x, bits - to_left);
    return vv(Op::PorRR, d, up, down);
  }
  const VReg count = shift_count(amount, bits);
  const VReg width = make_vector(Bits128{bits, 0});
  const VReg rest = vv(Op::PsubqRR, width, count);
  const VReg up = new_vec();
  const VReg down = new_vec();
  shift_by_count(ir::Op::Ishl, bits, up, x, left ? count : rest);
  shift_by_count(ir::Op::Ushr, bits, down, x, left ? rest : count);
  vv(Op::PorRR, d, up, down);
}

/// By a table of 16 numbers for each half of a byte, then sums of bytes.
void Lowering::lower_vector_popcnt(ir::Inst inst) {
  const unsigned bits = type(func().result(inst)).lane_bits();
  const VReg d = result(inst);
  const VReg x = reg(func().arg_a(inst));
  if (bits <= 16 && has_avx512(Feature::Avx512bitalg)) {
    return v1(bits == 8 ? Op::VpopcntbRR : Op::VpopcntwRR, d, x);
  }
  if (bits >= 32 && has_avx512(Feature::Avx512vpopcntdq)) {
    return v1(bits == 32 ? Op::VpopcntdRR : Op::VpopcntqRR, d, x);
  }
  const Address nibbles = vector_address(repeat(8, 0x0f));
  const VReg low = vm(Op::PandRM, x, nibbles);
  const VReg high = vm(Op::PandRM, vi(Op::PsrlwRI, x, 4), nibbles);
  const VReg table = make_vector(Bits128{0x0302'0201'0201'0100, 0x0403'0302'0302'0201});
  const VReg of_low = vv(Op::PshufbRR, table, low);
  const VReg of_high = vv(Op::PshufbRR, table, high);
  if (bits == 8) return vv(Op::PaddbRR, d, of_low, of_high);
  const VReg bytes = vv(Op::PaddbRR, of_low, of_high);
  if (bits == 64) {
    const VReg zero = make_vector(Bits128{});
    return vv(Op::PsadbwRR, d, bytes, zero);
  }
  const Address ones = vector_address(repeat(8, 1));
  if (bits == 16) return vm(Op::PmaddubswRM, d, bytes, ones);
  const VReg words = vm(Op::PmaddubswRM, bytes, ones);
  vm(Op::PmaddwdRM, d, words, vector_address(repeat(16, 1)));
}

}  // namespace hoist::isa::x64
