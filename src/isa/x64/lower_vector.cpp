// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Vectors: dispatch, constants, and the shapes of instructions, with VEX where the target has AVX.
///
/// Memory operands of 16 bytes: constants of the pool are aligned. A load takes part in another
/// instruction only if that is encoded with VEX, or the load is said to be aligned; it reads the 16
/// bytes that the load would have read.
#include <algorithm>

#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

using codegen::RegClass;
using masm::x64::kNoOp;
using masm::x64::with_vex;

// ---- Constants.

Lowering::Bits128 Lowering::repeat(unsigned lane_bits, std::uint64_t lane) {
  if (lane_bits < 64) lane &= (std::uint64_t{1} << lane_bits) - 1;
  for (unsigned bits = lane_bits; bits < 64; bits *= 2) lane |= lane << bits;
  return {lane, lane};
}

Lowering::Bits128 Lowering::pack(std::span<const std::uint8_t> bytes) {
  Bits128 out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    (i < 8 ? out.low : out.high) |= std::uint64_t{bytes[i]} << (i % 8 * 8);
  }
  return out;
}

Lowering::Bits128 Lowering::lane_signs(unsigned lane_bits) {
  if (lane_bits == 128) return {0, std::uint64_t{1} << 63};
  return repeat(lane_bits, std::uint64_t{1} << (lane_bits - 1));
}

std::optional<Lowering::Bits128> Lowering::vector_constant(ir::Value v) const {
  const ir::Inst inst = def_of(v);
  if (inst.is_none()) return std::nullopt;
  const ir::InstData& data = func().data(inst);
  if (data.op == ir::Op::F128const) return pack(func().immediates[ir::Immediate(data.a)]);
  if (data.op != ir::Op::Vconst) return std::nullopt;
  const std::span<const std::uint8_t> bytes = func().constants[ir::Constant(data.a)];
  return pack(bytes.first(std::min<std::size_t>(bytes.size(), 16)));
}

VReg Lowering::make_vector(Bits128 bits) {
  const VReg d = new_vec();
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  if (bits == Bits128{}) {
    emit(mi(Pseudo::FZero), {codegen::def(d)}).flags |= codegen::kRemat;
  } else if (bits == Bits128{kOnes, kOnes}) {
    emit(mi(Pseudo::VOnes), {codegen::def(d)}).flags |= codegen::kRemat;
  } else {
    emit(mi(Op::MovapsRM, 16), {codegen::def(d)}, vector_address(bits)).flags |= codegen::kRemat;
  }
  return d;
}

bool Lowering::vector_operand(ir::Value v, ir::Inst root, Address& out) {
  if (type(v).bits() != 128) return false;
  if (const auto bits = vector_constant(v)) {
    constexpr std::uint64_t kOnes = ~std::uint64_t{0};
    if (*bits == Bits128{} || *bits == Bits128{kOnes, kOnes}) return false;
    out = vector_address(*bits);
    return true;
  }
  const ir::Inst load = match(v, ir::Op::Load);
  if (load.is_none()) return false;
  return (has(Feature::Avx) || func().mem_flags(load).aligned) && fold_load(v, root, out);
}

// ---- Shapes.

/// With VEX a value of 16 bytes may stay in its spill slot.
codegen::Operand Lowering::vex_source(VReg v) {
  return out().vregs[v].bytes == 16 ? codegen::use_any(v) : codegen::use(v);
}

void Lowering::vv(Op op, VReg d, VReg a, VReg b) {
  if (has(Feature::Avx) && with_vex(op) != kNoOp) {
    emit(mi(with_vex(op), 16), {codegen::def(d), codegen::use(a), vex_source(b)});
    return;
  }
  emit(mi(op, 16), {codegen::def_same(d, 1), codegen::use(a), codegen::use(b)});
}

void Lowering::vm(Op op, VReg d, VReg a, const Address& b) {
  if (has(Feature::Avx) && with_vex(op) != kNoOp) {
    emit(mi(with_vex(op), 16), {codegen::def(d), codegen::use(a)}, b);
    return;
  }
  emit(mi(op, 16), {codegen::def_same(d, 1), codegen::use(a)}, b);
}

void Lowering::vvi(Op op, VReg d, VReg a, VReg b, std::int64_t imm) {
  if (has(Feature::Avx) && with_vex(op) != kNoOp) {
    emit(mi(with_vex(op), 16, imm), {codegen::def(d), codegen::use(a), vex_source(b)});
    return;
  }
  emit(mi(op, 16, imm), {codegen::def_same(d, 1), codegen::use(a), codegen::use(b)});
}

void Lowering::v1(Op op, VReg d, VReg a, std::int64_t imm) {
  const Op form = has(Feature::Avx) && with_vex(op) != kNoOp ? with_vex(op) : op;
  emit(mi(form, 16, imm), {codegen::def(d), codegen::use(a)});
}

void Lowering::vi(Op op, VReg d, VReg a, std::int64_t imm) {
  if (has(Feature::Avx)) {
    emit(mi(with_vex(op), 16, imm), {codegen::def(d), codegen::use(a)});
    return;
  }
  emit(mi(op, 16, imm), {codegen::def_same(d, 1), codegen::use(a)});
}

VReg Lowering::vv(Op op, VReg a, VReg b) {
  const VReg d = new_vec();
  vv(op, d, a, b);
  return d;
}
VReg Lowering::vm(Op op, VReg a, const Address& b) {
  const VReg d = new_vec();
  vm(op, d, a, b);
  return d;
}
VReg Lowering::vvi(Op op, VReg a, VReg b, std::int64_t imm) {
  const VReg d = new_vec();
  vvi(op, d, a, b, imm);
  return d;
}
VReg Lowering::v1(Op op, VReg a, std::int64_t imm) {
  const VReg d = new_vec();
  v1(op, d, a, imm);
  return d;
}
VReg Lowering::vi(Op op, VReg a, std::int64_t imm) {
  const VReg d = new_vec();
  vi(op, d, a, imm);
  return d;
}

void Lowering::v512(Op op, VReg d, VReg a, VReg b) {
  emit(mi(op, 16), {codegen::def(d), codegen::use(a), codegen::use(b)});
}

/// Bit n of `table` is the answer where the bits of a, b, c are those of n, a highest.
void Lowering::ternary_logic(VReg d, VReg a, VReg b, VReg c, std::int64_t table) {
  emit(mi(Op::VpternlogqRRRI, 16, table),
       {codegen::def_same(d, 1), codegen::use(a), codegen::use(b), codegen::use(c)});
}

void Lowering::vnot(VReg d, VReg a) {
  const VReg ones = make_vector({~std::uint64_t{0}, ~std::uint64_t{0}});
  vv(Op::PxorRR, d, a, ones);
}
VReg Lowering::vnot(VReg a) {
  const VReg d = new_vec();
  vnot(d, a);
  return d;
}

void Lowering::vbinary(ir::Inst inst, Op op, bool commutes) {
  const VReg d = result(inst);
  ir::Value x = resolve(func().arg_a(inst));
  ir::Value y = resolve(func().arg_b(inst));
  Address memory;
  if (vector_operand(y, inst, memory)) return vm(next(op), d, reg(x), memory);
  if (commutes && vector_operand(x, inst, memory)) return vm(next(op), d, reg(y), memory);
  if (commutes && !is_single_use(x) && is_single_use(y)) std::swap(x, y);
  const VReg first = reg(x);
  const VReg second = reg(y);
  vv(op, d, first, second);
}

/// and, or, xor; x & ~y is one instruction.
void Lowering::vlogic(ir::Inst inst, Op op) {
  if (op == Op::PandRR) {
    for (const bool second : {true, false}) {
      const ir::Value inverse = second ? func().arg_b(inst) : func().arg_a(inst);
      const ir::Inst complement = match(inverse, ir::Op::Bnot);
      if (complement.is_none() || !can_fuse(complement, inst)) continue;
      const VReg d = result(inst);
      const VReg x = reg(func().arg_a(complement));
      const VReg y = reg(second ? func().arg_a(inst) : func().arg_b(inst));
      return vv(Op::PandnRR, d, x, y);
    }
  }
  vbinary(inst, op, true);
}

/// Lanes of `mask` are all ones or zero; of lanes of 32 and 64 bits only the sign counts.
void Lowering::blend(unsigned lane_bits, VReg d, VReg if_not, VReg if_so, VReg mask) {
  struct Forms {
    Op sse, vex;
  };
  constexpr Forms kBytes = {Op::PblendvbRR, Op::VpblendvbRRRR};
  constexpr Forms kSingles = {Op::BlendvpsRR, Op::VblendvpsRRRR};
  constexpr Forms kDoubles = {Op::BlendvpdRR, Op::VblendvpdRRRR};
  const Forms forms = lane_bits == 32 ? kSingles : lane_bits == 64 ? kDoubles : kBytes;
  if (has(Feature::Avx)) {
    emit(mi(forms.vex, 16),
         {codegen::def(d), codegen::use(if_not), codegen::use(if_so), codegen::use(mask)});
    return;
  }
  emit(mi(forms.sse, 16), {codegen::def_same(d, 1), codegen::use(if_not), codegen::use(if_so),
                           codegen::use_fixed(mask, preg(Xmm::Xmm0))});
}
VReg Lowering::blend(unsigned lane_bits, VReg if_not, VReg if_so, VReg mask) {
  const VReg d = new_vec();
  blend(lane_bits, d, if_not, if_so, mask);
  return d;
}

// ---- Dispatch.

void Lowering::lower_vector(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  const auto results = func().results(inst);
  const bool is_shift = op == ir::Op::Ishl || op == ir::Op::Ushr || op == ir::Op::Sshr;
  if (op == ir::Op::Bitcast &&
      (type(results[0]) == ir::I128 || type(func().arg_a(inst)) == ir::I128)) {
    return lower_wide_bitcast(inst);
  }
  for (const ir::Value v : results) {
    const ir::Type t = type(v);
    // Lanes that only move have no operations either.
    if (!fits_vector_register(t)) return unsupported(inst);
  }
  bool fits = true;
  func().for_each_operand(inst, [&](ir::Value v) {
    const ir::Type t = type(v);
    fits = fits && fits_vector_register(t) &&
           (t != ir::I128 || is_shift || ir::is_call(op) || op == ir::Op::Select);
  });
  if (!fits) return unsupported(inst);
  switch (op) {
    case ir::Op::Call:
    case ir::Op::CallIndirect: return lower_call(inst, results, call_note(inst), nullptr);
    case ir::Op::Select:
    case ir::Op::SelectSpectreGuard: return lower_select(inst);
    case ir::Op::Load: return lower_vector_load(inst);
    case ir::Op::Store: return lower_vector_store(inst);
    case ir::Op::Bitcast: return lower_vector_bitcast(inst);
    case ir::Op::Fneg: return lower_vector_sign(inst, true);
    case ir::Op::Fabs: return lower_vector_sign(inst, false);
    case ir::Op::Fcopysign: return lower_vector_copysign(inst);
    case ir::Op::Band: return vlogic(inst, Op::PandRR);
    case ir::Op::Bor: return vlogic(inst, Op::PorRR);
    case ir::Op::Bxor: return vlogic(inst, Op::PxorRR);
    case ir::Op::Bnot: {
      const VReg d = result(inst);
      return vnot(d, reg(func().arg_a(inst)));
    }
    case ir::Op::Bitselect: return lower_vector_bitselect(inst);
    default: break;  // by family, below
  }
  bool has_lanes = true;
  const auto look = [&](ir::Value v) {
    const ir::Type::Lane lane = type(v).lane();
    has_lanes = has_lanes && lane != ir::Type::Lane::F16 && lane != ir::Type::Lane::F128 &&
                (lane != ir::Type::Lane::I128 || is_shift);
  };
  for (const ir::Value v : results) look(v);
  func().for_each_operand(inst, look);
  if (has_lanes &&
      (lower_vector_int(inst) || lower_vector_lanes(inst) || lower_vector_float(inst))) {
    return;
  }
  unsupported(inst);
}

}  // namespace hoist::isa::x64
