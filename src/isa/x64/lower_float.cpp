// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Floating-point arithmetic.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

/// Only scalar operations read a folded load: they access 4 or 8 bytes, whatever the alignment.
bool Lowering::float_operand(ir::Value v, ir::Inst root, Address& out) {
  if (const ir::Inst f32 = match(v, ir::Op::F32const); f32.is_some()) {
    if (func().data(f32).b == 0) return false;  // xorps is better
    out = constant_address(4, func().data(f32).b);
    return true;
  }
  if (const ir::Inst f64 = match(v, ir::Op::F64const); f64.is_some()) {
    if (func().data(f64).imm64() == 0) return false;
    out = constant_address(8, func().data(f64).imm64());
    return true;
  }
  return fold_load(v, root, out);
}

void Lowering::lower_float_binary(ir::Inst inst, Op f32_rr, Op f64_rr, bool commutes) {
  const VReg d = result(inst);
  const bool is_f32 = type(func().result(inst)) == ir::F32;
  const Op form = is_f32 ? f32_rr : f64_rr;
  const unsigned width = is_f32 ? 4 : 8;
  ir::Value x = resolve(func().arg_a(inst));
  ir::Value y = resolve(func().arg_b(inst));
  Address memory;
  const bool vex = has(Feature::Avx);
  const auto with_memory = [&](ir::Value other) {
    const VReg first = reg(other);
    if (!vex) return rm(next(form), width, d, first, memory);
    emit(mi(masm::x64::with_vex(next(form)), width), {codegen::def(d), codegen::use(first)},
         memory);
  };
  // A NaN operand may come out in either order: its payload is not determined.
  if (float_operand(y, inst, memory)) return with_memory(x);
  if (commutes && float_operand(x, inst, memory)) return with_memory(y);
  if (commutes && !is_single_use(x) && is_single_use(y)) std::swap(x, y);
  const VReg first = reg(x);
  const VReg second = reg(y);
  if (!vex) return rr(form, width, d, first, second);
  emit(mi(masm::x64::with_vex(form), width),
       {codegen::def(d), codegen::use(first), codegen::use_any(second)});
}

/// The operand's type chooses the form.
void Lowering::lower_float_unary(ir::Inst inst, Op f32_rr, Op f64_rr, std::int64_t imm) {
  const VReg d = result(inst);
  const ir::Value x = func().arg_a(inst);
  const bool from_f32 = type(x) == ir::F32;
  const Op form = from_f32 ? f32_rr : f64_rr;
  const unsigned width = from_f32 ? 4 : 8;
  Address memory;
  const bool in_memory = float_operand(x, inst, memory);
  if (has(Feature::Avx)) {
    // The instruction keeps the upper lanes of a register: with VEX of the operand itself, so that
    // it waits for nothing else. From memory it would have to be another one's.
    VReg from;
    if (in_memory) {
      from = new_float();
      load_into(from_f32 ? Op::MovssRM : Op::MovsdRM, width, from, memory);
    } else {
      from = reg(x);
    }
    emit(mi(masm::x64::with_vex(form), width, imm),
         {codegen::def(d), codegen::use(from), codegen::use(from)});
    return;
  }
  if (in_memory) {
    emit(mi(next(form), width, imm), {codegen::def(d)}, memory);
    return;
  }
  emit(mi(form, width, imm), {codegen::def(d), codegen::use_any(reg(x))});
}

static std::uint64_t sign_mask(unsigned bytes) {
  return bytes == 4 ? 0x8000'0000 : 0x8000'0000'0000'0000;
}

/// Flips or clears the sign: a packed operation with a 16-byte constant.
void Lowering::lower_float_sign(ir::Inst inst, Op packed_rm, bool set_mask) {
  const unsigned bytes = type(func().result(inst)).bytes();
  const std::uint64_t sign = sign_mask(bytes);
  const std::uint64_t all = bytes == 4 ? 0xffff'ffff : ~std::uint64_t{0};
  const VReg x = reg(func().arg_a(inst));
  rm(packed_rm, 16, result(inst), x, constant_address(16, set_mask ? sign : all & ~sign));
}

void Lowering::lower_copysign(ir::Inst inst) {
  const unsigned bytes = type(func().result(inst)).bytes();
  const std::uint64_t sign = sign_mask(bytes);
  const std::uint64_t all = bytes == 4 ? 0xffff'ffff : ~std::uint64_t{0};
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  const VReg magnitude = new_float();
  const VReg y_sign = new_float();
  rm(Op::AndpsRM, 16, magnitude, x, constant_address(16, all & ~sign));
  rm(Op::AndpsRM, 16, y_sign, y, constant_address(16, sign));
  emit(mi(Op::OrpsRR, 16),
       {codegen::def_same(result(inst), 1), codegen::use(magnitude), codegen::use(y_sign)});
}

void Lowering::lower_float_min_max(ir::Inst inst, bool maximum) {
  const VReg x = reg(func().arg_a(inst));
  const VReg y = reg(func().arg_b(inst));
  emit(mi(Pseudo::FMinMax, type(func().result(inst)).bytes()),
       {codegen::def_same(result(inst), 1), codegen::use(x), codegen::use(y)})
      .cc = maximum ? 1 : 0;
}

/// Without FMA a library call: the rounding of a fused operation cannot be had from separate ones.
void Lowering::lower_fma(ir::Inst inst) {
  if (fused_multiply_add(inst)) return;
  const bool is_f32 = type(func().result(inst)) == ir::F32;
  const ir::Type t = type(func().result(inst));
  ir::Signature sig;
  sig.call_conv = ir::CallConv::SystemV;
  sig.params.assign(3, ir::AbiParam{t, {}, {}, 0});
  sig.returns.assign(1, ir::AbiParam{t, {}, {}, 0});
  SignatureLayout layout;
  HOIST_CHECK(assign_signature(sig, layout).has_value(), "three floats can be passed");
  const ir::Value args[] = {func().arg_a(inst), func().arg_b(inst), func().arg_c(inst)};
  const VReg target =
      make_symbol(ir::ExternalName::testcase(is_f32 ? "FmaF32" : "FmaF64"), false, 0);
  emit_call(sig, layout, args, func().results(inst), mi(Op::CallR, 8), codegen::use(target), {});
}

}  // namespace hoist::isa::x64
