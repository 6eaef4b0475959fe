// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Addressing modes, loads, stores, read-modify-write.
#include <bit>

#include "base/bits.hpp"
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;

/// An upper bound of an i32 value, from how it is computed.
std::uint64_t Lowering::largest_i32(ir::Value v, unsigned depth) const {
  constexpr std::uint64_t kAny = 0xffff'ffff;
  const ir::Inst inst = def_of(v);
  if (inst.is_none() || type(v) != ir::I32 || depth == 0) return kAny;
  const ir::InstData& data = func().data(inst);
  const ir::Value x(data.a);
  switch (data.op) {
    case ir::Op::Iconst: return *constant(v);
    case ir::Op::Uload8: return 0xff;
    case ir::Op::Uload16: return 0xffff;
    case ir::Op::Uextend: return type(x) == ir::I8 ? 0xff : 0xffff;
    case ir::Op::Band:
      return std::min(largest_i32(x, depth - 1), largest_i32(ir::Value(data.b), depth - 1));
    case ir::Op::Ushr: {
      const auto amount = constant(ir::Value(data.b));
      return amount ? largest_i32(x, depth - 1) >> (*amount % 32) : kAny;
    }
    case ir::Op::Ishl: {
      const auto amount = constant(ir::Value(data.b));
      return amount ? std::min(largest_i32(x, depth - 1) << (*amount % 32), kAny) : kAny;
    }
    case ir::Op::Iadd:
      return std::min(largest_i32(x, depth - 1) + largest_i32(ir::Value(data.b), depth - 1), kAny);
    default: return kAny;  // nothing is known of the others
  }
}

/// Looks through the zero-extension of a 32-bit sum with a constant, a shift, or a sum of a shift,
/// if they cannot wrap. `index` becomes what is left, an i32, which is zero-extended in its
/// register; the sum's constant goes to `offset`, the shift's amount is the answer.
unsigned Lowering::strip_narrow_index(ir::Value& index, std::int64_t& offset) const {
  constexpr unsigned kDepth = 3;
  const ir::Inst extend = match(index, ir::Op::Uextend);
  if (extend.is_none() || type(func().arg_a(extend)) != ir::I32) return 0;
  ir::Value narrow = resolve(func().arg_a(extend));
  if (const ir::Inst add = match(narrow, ir::Op::Iadd); add.is_some()) {
    const auto imm = constant(func().arg_b(add));
    if (!imm || largest_i32(func().arg_a(add), kDepth) + *imm > 0xffff'ffff) return 0;
    const std::int64_t sum = offset + static_cast<std::int64_t>(*imm);
    if (!fits_imm32(sum)) return 0;
    offset = sum;
    index = narrow = resolve(func().arg_a(add));
  }
  const ir::Inst shift = match(narrow, ir::Op::Ishl);
  if (shift.is_none()) return 0;
  const auto amount = constant(func().arg_b(shift));
  if (!amount || *amount == 0 || *amount > 3) return 0;
  if (largest_i32(func().arg_a(shift), kDepth) << *amount > 0xffff'ffff) return 0;
  index = resolve(func().arg_a(shift));
  return static_cast<unsigned>(*amount);
}

/// [base + index << scale + disp] out of sums of pointers, shifts by up to 3 and constants. Sums
/// are 64 bits wide and wrap like the processor's; a 32-bit sum below a uextend stays what it is.
Address Lowering::address(ir::Value pointer, std::int64_t offset, image::TrapCode trap) {
  Address out;
  out.trap = trap;
  ir::Value base = resolve(pointer);
  std::optional<ir::Value> index;
  // Bounded: a long chain of sums, each used in an address, must not cost quadratic time.
  const auto strip_constants = [&](ir::Value& v) {
    for (unsigned steps = 0; steps < 4; ++steps) {
      const ir::Inst add = match(v, ir::Op::Iadd);
      if (add.is_none()) return;
      for (const bool second : {true, false}) {
        const auto imm = constant(second ? func().arg_b(add) : func().arg_a(add));
        if (!imm) continue;
        const auto sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + *imm);
        if (!fits_imm32(sum)) return;
        offset = sum;
        v = resolve(second ? func().arg_a(add) : func().arg_b(add));
        goto next;
      }
      return;
    next:;
    }
  };
  if (type(base) != ir::I64) {
    out.kind = AddrKind::Base;
    out.base = reg(base);
    out.disp = static_cast<std::int32_t>(offset);
    return out;
  }
  strip_constants(base);
  if (const ir::Inst slot = match(base, ir::Op::StackAddr); slot.is_some()) {
    const auto disp = offset + static_cast<std::int32_t>(func().data(slot).b);
    if (fits_imm32(disp)) {
      out.kind = AddrKind::StackSlot;
      out.aux = func().data(slot).a;
      out.disp = static_cast<std::int32_t>(disp);
      return out;
    }
  }
  if (const ir::Inst add = match(base, ir::Op::Iadd); add.is_some()) {
    base = resolve(func().arg_a(add));
    index = resolve(func().arg_b(add));
    strip_constants(base);
    strip_constants(*index);
    if ((match(base, ir::Op::Ishl).is_some() && match(*index, ir::Op::Ishl).is_none()) ||
        (match(base, ir::Op::Uextend).is_some() && match(*index, ir::Op::Uextend).is_none())) {
      std::swap(base, *index);
    }
  }
  const auto strip_shift = [&](ir::Value& v) {
    const ir::Inst shift = match(v, ir::Op::Ishl);
    if (shift.is_none()) return false;
    const auto amount = constant(func().arg_b(shift));
    if (!amount || *amount % 64 == 0 || *amount % 64 > 3) return false;
    out.scale = static_cast<std::uint8_t>(*amount % 64);
    v = resolve(func().arg_a(shift));
    return true;
  };
  if (index && !strip_shift(*index)) {
    out.scale = static_cast<std::uint8_t>(strip_narrow_index(*index, offset));
  }
  out.disp = static_cast<std::int32_t>(offset);
  if (index) {
    out.kind = AddrKind::BaseIndex;
    out.base = reg(base);
    out.index = reg(*index);
  } else if (strip_shift(base)) {
    out.kind = AddrKind::Index;
    out.index = reg(base);
  } else {
    out.kind = AddrKind::Base;
    out.base = reg(base);
  }
  return out;
}

Address Lowering::constant_address(unsigned bytes, std::uint64_t low_half,
                                   std::uint64_t high_half) {
  const std::uint64_t halves[2] = {low_half, high_half};
  Address out;
  out.kind = AddrKind::Constant;
  out.aux = add_pool(halves, static_cast<std::uint8_t>(bytes));
  return out;
}

bool Lowering::fold_load(ir::Value v, ir::Inst root, Address& out) {
  return fold_load(v, ir::Op::Load, root, out);
}

bool Lowering::fold_load(ir::Value v, ir::Op op, ir::Inst root, Address& out) {
  const ir::Inst load = match(v, op);
  if (load.is_none() || !can_sink_load(load, root)) return false;
  const ir::MemFlags& flags = func().mem_flags(load);
  if (flags.endian == 2) return false;
  sink(load);
  out = address(func().arg_a(load), func().load_offset(load), flags.trap);
  out.loc = func().loc(load);
  return true;
}

void Lowering::lower_load(ir::Inst inst) {
  const ir::Value value = func().result(inst);
  const ir::Type t = type(value);
  const ir::MemFlags& flags = func().mem_flags(inst);
  const Address from = address(func().arg_a(inst), func().load_offset(inst), flags.trap);
  const VReg d = result(inst);
  if (flags.endian == 2) return lower_big_endian_load(inst, d, from);
  const unsigned width = op_width(t);
  switch (func().op(inst)) {
    case ir::Op::Uload8: return load_into(Op::Movzx8RM, 4, d, from);
    case ir::Op::Sload8: return load_into(Op::Movsx8RM, width, d, from);
    case ir::Op::Uload16: return load_into(Op::Movzx16RM, 4, d, from);
    case ir::Op::Sload16: return load_into(Op::Movsx16RM, width, d, from);
    case ir::Op::Uload32: return load_into(Op::MovRM, 4, d, from);
    case ir::Op::Sload32: return load_into(Op::MovsxdRM, 8, d, from);
    default: break;  // Load
  }
  if (t == ir::I8) return load_into(Op::Movzx8RM, 4, d, from);
  if (t == ir::I16) return load_into(Op::Movzx16RM, 4, d, from);
  if (t == ir::F32) return load_into(Op::MovssRM, 4, d, from);
  if (t == ir::F64) return load_into(Op::MovsdRM, 8, d, from);
  load_into(Op::MovRM, width, d, from);
}

/// Bytes that a load or store of this operation accesses.
static unsigned access_bytes(ir::Op op, ir::Type t) {
  switch (op) {
    case ir::Op::Uload8:
    case ir::Op::Sload8:
    case ir::Op::Istore8: return 1;
    case ir::Op::Uload16:
    case ir::Op::Sload16:
    case ir::Op::Istore16: return 2;
    case ir::Op::Uload32:
    case ir::Op::Sload32:
    case ir::Op::Istore32: return 4;
    default: return t.bytes();  // load, store
  }
}

void Lowering::lower_big_endian_load(ir::Inst inst, VReg d, const Address& from) {
  const ir::Type t = type(func().result(inst));
  const ir::Op op = func().op(inst);
  const unsigned bytes = access_bytes(op, t);
  if (bytes == 1) {
    const bool is_signed = op == ir::Op::Sload8;
    return load_into(is_signed ? Op::Movsx8RM : Op::Movzx8RM, is_signed ? op_width(t) : 4, d, from);
  }
  const VReg raw_bits = new_int();
  load_into(bytes == 2 ? Op::Movzx16RM : Op::MovRM, bytes == 8 ? 8 : 4, raw_bits, from);
  const bool is_signed = op == ir::Op::Sload16 || op == ir::Op::Sload32;
  const bool last = t.is_int() && !is_signed;
  const VReg swapped = last ? d : new_int();
  if (bytes == 2) {
    ri(Op::RolRI, 2, swapped, raw_bits, 8);
  } else {
    r(Op::BswapR, bytes, swapped, raw_bits);
  }
  if (t == ir::F32) return mov(Op::MovdXR, 4, d, swapped);
  if (t == ir::F64) return mov(Op::MovqXR, 8, d, swapped);
  if (op == ir::Op::Sload16) mov(Op::Movsx16RR, op_width(t), d, swapped);
  if (op == ir::Op::Sload32) mov(Op::MovsxdRR, 8, d, swapped);
}

void Lowering::lower_big_endian_store(ir::Inst inst, ir::Value v, unsigned bytes,
                                      const Address& to) {
  static_cast<void>(inst);
  VReg x;
  if (type(v).is_float()) {
    x = mov(bytes == 4 ? Op::MovdRX : Op::MovqRX, bytes, reg(v));
  } else {
    x = low(v, bytes * 8);
  }
  if (bytes == 2) {
    x = ri(Op::RolRI, 2, x, 8);
  } else if (bytes > 2) {
    const VReg swapped = new_int();
    r(Op::BswapR, bytes, swapped, x);
    x = swapped;
  }
  emit(mi(Op::MovMR, bytes), {codegen::use(x)}, to);
}

/// Stores constants that fit a sign-extended 32-bit immediate; floats as the integers they look
/// like.
bool Lowering::store_constant(ir::Value v, unsigned bytes, const Address& to) {
  std::uint64_t bits = 0;
  if (const auto imm = constant(v)) {
    bits = *imm;
  } else if (const ir::Inst f32 = match(v, ir::Op::F32const); f32.is_some()) {
    bits = func().data(f32).b;
  } else if (const ir::Inst f64 = match(v, ir::Op::F64const); f64.is_some()) {
    bits = func().data(f64).imm64();
  } else {
    return false;
  }
  const std::int64_t imm = base::sign_extend(bits, bytes * 8);
  if (!fits_imm32(imm)) return false;
  emit(mi(Op::MovMI, bytes, imm), {}, to);
  return true;
}

/// The lane of a vector, or its low bits, straight from the vector register.
bool Lowering::store_of_lane(ir::Inst store, ir::Value v, unsigned bytes, const Address& to) {
  ir::Inst extract = def_of(v);
  // Narrower stores of what was extended.
  while (extract.is_some() &&
         (func().op(extract) == ir::Op::Uextend || func().op(extract) == ir::Op::Sextend ||
          func().op(extract) == ir::Op::Ireduce) &&
         type(func().result(extract)).bits() <= 64 && can_fuse(extract, store)) {
    extract = def_of(func().arg_a(extract));
  }
  if (extract.is_none() || func().op(extract) != ir::Op::Extractlane) return false;
  const ir::Value value = func().result(extract);
  const ir::Type t = type(value);
  // What is wanted in another register besides is stored from there.
  if (t.bytes() != bytes || !is_single_use(value) || is_used(value) ||
      type(func().arg_a(extract)).bits() != 128) {
    return false;
  }
  const unsigned lane = func().lane(extract);
  const bool vex = has(Feature::Avx);
  const VReg x = reg(func().arg_a(extract));
  const auto emit_store = [&](Op form, unsigned width, std::int64_t imm) {
    const Op with = vex ? masm::x64::with_vex(form) : form;
    emit(mi(with == masm::x64::kNoOp ? form : with, width, imm), {codegen::use(x)}, to);
    return true;
  };
  switch (bytes) {
    case 1: return emit_store(Op::PextrbMXI, 4, lane);
    case 2: return emit_store(Op::PextrwMXI, 4, lane);
    case 4: return lane == 0 ? emit_store(Op::MovssMR, 4, 0) : emit_store(Op::PextrdMXI, 4, lane);
    default: return emit_store(lane == 0 ? Op::MovsdMR : Op::MovhpdMR, 8, 0);
  }
}

void Lowering::lower_store(ir::Inst inst) {
  ir::Value v = resolve(func().arg_a(inst));
  const unsigned bytes = access_bytes(func().op(inst), type(v));
  const ir::MemFlags& flags = func().mem_flags(inst);
  if (flags.endian != 2 && lower_read_modify_write(inst, v, bytes)) return;
  const auto to = [&] {
    return address(func().arg_b(inst), func().store_offset(inst), flags.trap);
  };
  if (flags.endian == 2) return lower_big_endian_store(inst, v, bytes, to());
  const Address target = to();
  if (store_constant(v, bytes, target) || store_of_lane(inst, v, bytes, target)) return;
  if (type(v) == ir::F32) {
    emit(mi(Op::MovssMR, 4), {codegen::use(reg(v))}, target);
  } else if (type(v) == ir::F64) {
    emit(mi(Op::MovsdMR, 8), {codegen::use(reg(v))}, target);
  } else {
    emit(mi(Op::MovMR, bytes), {codegen::use(low(v, bytes * 8))}, target);
  }
}

/// store(op(load(p), x), p), where the load and the operation have no other use and nothing with an
/// effect stands between.
bool Lowering::lower_read_modify_write(ir::Inst store, ir::Value v, unsigned bytes) {
  const ir::Inst op_inst = def_of(v);
  if (op_inst.is_none() || !is_single_use(v) || is_used(v)) return false;
  Op form;
  bool commutes = true;
  switch (func().op(op_inst)) {
    case ir::Op::Iadd: form = Op::AddMR; break;
    case ir::Op::Isub:
      form = Op::SubMR;
      commutes = false;
      break;
    case ir::Op::Band: form = Op::AndMR; break;
    case ir::Op::Bor: form = Op::OrMR; break;
    case ir::Op::Bxor: form = Op::XorMR; break;
    default: return false;  // no such form, or not worth it
  }
  const auto is_the_load = [&](ir::Value candidate) {
    const ir::Inst load = def_of(candidate);
    if (load.is_none() || !ir::has_effect(func().op(load), ir::effect::Load) ||
        ir::is_call(func().op(load))) {
      return false;
    }
    return access_bytes(func().op(load), type(candidate)) == bytes && type(candidate).is_int() &&
           resolve(func().arg_a(load)) == resolve(func().arg_b(store)) &&
           func().load_offset(load) == func().store_offset(store) &&
           func().mem_flags(load).endian != 2 && can_sink_load(load, store);
  };
  ir::Value loaded = func().arg_a(op_inst);
  ir::Value other = func().arg_b(op_inst);
  if (!is_the_load(loaded)) {
    if (!commutes || !is_the_load(other)) return false;
    std::swap(loaded, other);
  }
  sink(def_of(loaded));
  const ir::MemFlags& flags = func().mem_flags(store);
  const auto imm = constant(other);
  const auto signed_imm = imm ? std::optional(base::sign_extend(*imm, bytes * 8)) : std::nullopt;
  if (signed_imm && fits_imm32(*signed_imm)) {
    const Address at = address(func().arg_b(store), func().store_offset(store), flags.trap);
    emit(mi(next(form, 2), bytes, *signed_imm), {}, at);
    return true;
  }
  const VReg x = low(other, bytes * 8);
  const Address at = address(func().arg_b(store), func().store_offset(store), flags.trap);
  emit(mi(form, bytes), {codegen::use(x)}, at);
  return true;
}

}  // namespace hoist::isa::x64
