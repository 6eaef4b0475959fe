// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Conversions between integers, and between integers and floats.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

void Lowering::lower_extend(ir::Inst inst, bool is_signed) {
  const VReg d = result(inst);
  const ir::Value x = resolve(func().arg_a(inst));
  const unsigned from = type(x).bits();
  const unsigned width = is_signed ? op_width(type(func().result(inst))) : 4;
  Address memory;
  if (!is_signed && from == 8) {
    // A comparison gives 0 or 1 with a clean upper part at once.
    const ir::Inst compare = def_of(x);
    if (compare.is_some() && can_fuse(compare, inst)) {
      if (func().op(compare) == ir::Op::Icmp) {
        return materialize(compare_ints(compare, inst, is_single_use(x)), d, true);
      }
      if (func().op(compare) == ir::Op::Fcmp && is_comparable_float(type(func().arg_a(compare)))) {
        return materialize(compare_floats(compare, inst, is_single_use(x)), d, true);
      }
    }
  }
  if (from == 8 || from == 16) {
    const Op form = from == 8 ? (is_signed ? Op::Movsx8RR : Op::Movzx8RR)
                              : (is_signed ? Op::Movsx16RR : Op::Movzx16RR);
    if (fold_load(x, inst, memory)) return load_into(next(form), width, d, memory);
    return mov(form, width, d, low(x, from));
  }
  // 32 to 64 bits; unsigned ones have no register of their own.
  if (!is_signed) return move(d, reg(x));
  if (fold_load(x, inst, memory)) return load_into(Op::MovsxdRM, 8, d, memory);
  mov(Op::MovsxdRR, 8, d, low(x, 32));
}

void Lowering::lower_bitcast(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Type to = type(func().result(inst));
  const ir::Value x = func().arg_a(inst);
  const ir::Type from = type(x);
  if (to.bits() != from.bits()) return unsupported(inst);
  const unsigned width = to.bytes();
  if (to.is_int() && from.is_int()) return move(d, reg(x));
  if (to.is_float() && from.is_float()) return move(d, reg(x), codegen::RegClass::Float);
  Address memory;
  const bool loaded = fold_load(x, inst, memory);
  if (to.is_float()) {
    if (loaded) return load_into(width == 4 ? Op::MovssRM : Op::MovsdRM, width, d, memory);
    emit(mi(width == 4 ? Op::MovdXR : Op::MovqXR, width), {codegen::def(d), codegen::use(reg(x))});
    return;
  }
  if (loaded) return load_into(Op::MovRM, width, d, memory);
  emit(mi(width == 4 ? Op::MovdRX : Op::MovqRX, width), {codegen::def(d), codegen::use(reg(x))});
}

void Lowering::lower_to_float(ir::Inst inst, bool is_signed) {
  const VReg d = result(inst);
  const auto float_bytes = static_cast<std::uint8_t>(type(func().result(inst)).bytes());
  const ir::Value x = func().arg_a(inst);
  const unsigned bits = type(x).bits();
  if (!is_signed && bits == 64) {
    emit(mi(Pseudo::U64ToFloat, 8),
         {codegen::early_def(d), codegen::early_def(new_int()), codegen::late_use(reg(x))})
        .cc = float_bytes;
    return;
  }
  // An unsigned 32-bit value is a positive 64-bit one.
  const unsigned width = bits == 64 || (!is_signed && bits == 32) ? 8 : 4;
  emit(mi(Pseudo::IntToFloat, width), {codegen::def(d), codegen::use_any(extended(x, is_signed))})
      .cc = float_bytes;
}

void Lowering::lower_to_int(ir::Inst inst, bool is_signed, bool saturate) {
  const VReg d = result(inst);
  const ir::Value x = func().arg_a(inst);
  const auto float_bytes = static_cast<std::uint8_t>(type(x).bytes());
  const unsigned bits = type(func().result(inst)).bits();
  const VReg from = reg(x);
  // Narrow results come from a signed conversion to 32 bits.
  const VReg full = bits < 32 ? new_int() : d;
  if (is_signed || bits < 32) {
    emit(mi(saturate ? Pseudo::TruncSatS : Pseudo::TruncS, bits == 64 ? 8 : 4),
         {codegen::early_def(full), codegen::late_use(from)})
        .cc = float_bytes;
  } else if (bits == 32) {
    emit(mi(saturate ? Pseudo::TruncSatU32 : Pseudo::TruncU32, 4),
         {codegen::early_def(full), codegen::early_def(new_int()), codegen::late_use(from)})
        .cc = float_bytes;
  } else {
    emit(mi(saturate ? Pseudo::TruncSatU64 : Pseudo::TruncU64, 8),
         {codegen::early_def(full), codegen::early_def(new_int()), codegen::early_def(new_float()),
          codegen::late_use(from)})
        .cc = float_bytes;
  }
  if (bits >= 32) return;
  const std::int64_t smallest = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t largest = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (!saturate) {
    // Distance from the smallest, unsigned, is at most largest - smallest.
    const VReg distance = new_int();
    emit(mi(Pseudo::AddImm, 4, -smallest), {codegen::def(distance), codegen::use(full)});
    emit(mi(Op::CmpRI, 4, largest - smallest), {codegen::use(distance)});
    trap_if(Cc::A, image::TrapCode::IntegerOverflow);
    return move(d, full);
  }
  const VReg low_limit = make_int(static_cast<std::uint32_t>(smallest));
  const VReg high_limit = make_int(static_cast<std::uint32_t>(largest));
  const VReg at_least = new_int();
  emit(mi(Op::CmpRR, 4), {codegen::use(full), codegen::use(low_limit)});
  cmov(Cc::L, 4, at_least, full, low_limit);
  emit(mi(Op::CmpRR, 4), {codegen::use(at_least), codegen::use(high_limit)});
  cmov(Cc::G, 4, d, at_least, high_limit);
}

/// 0 or 1, negated.
void Lowering::lower_bmask(ir::Inst inst) {
  const unsigned width = op_width(type(func().result(inst)));
  const VReg bit = new_int();
  materialize(condition(func().arg_a(inst), inst), bit, true);
  r(Op::NegR, width, result(inst), bit);
}

}  // namespace hoist::isa::x64
