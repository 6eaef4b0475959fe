// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Atomics. Ordinary loads are atomic and ordered enough; a store that is must be an exchange.
///
/// What has no locked instruction is a loop around compare-and-exchange, one pseudo instruction
/// each. 16 bytes need cmpxchg16b, for loads too: without that feature they are an error.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;

/// The register of an integer whose upper bits are as the type wants them.
void Lowering::settle(VReg d, VReg raw_bits, ir::Type t) {
  emit(mi(Op::MovRR, t.bits() == 64 ? 8 : 4), {codegen::def(d), codegen::use_any(raw_bits)});
}

VReg Lowering::swap_bytes(VReg x, unsigned bytes) {
  if (bytes == 1) return x;
  if (bytes == 2) return ri(Op::RolRI, 2, x, 8);
  const VReg swapped = new_int();
  r(Op::BswapR, bytes, swapped, x);
  return swapped;
}

/// An i128 with its bytes in the opposite order.
Lowering::Halves Lowering::swap_bytes(Halves x) {
  const Halves swapped = new_wide();
  r(Op::BswapR, 8, swapped.lo, x.hi);
  r(Op::BswapR, 8, swapped.hi, x.lo);
  return swapped;
}

/// Bitwise operations do not care for the order of bytes.
static bool is_bitwise(ir::AtomicOp op) {
  return op == ir::AtomicOp::And || op == ir::AtomicOp::Nand || op == ir::AtomicOp::Or ||
         op == ir::AtomicOp::Xor || op == ir::AtomicOp::Xchg;
}

void Lowering::lower_atomic_load(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const ir::MemFlags& flags = func().mem_flags(inst);
  const Address from = address(func().arg_a(inst), 0, flags.trap);
  const VReg d = result(inst);
  const bool big = flags.endian == 2;
  const VReg raw_bits = big ? new_int() : d;
  const Op op = t == ir::I8 ? Op::Movzx8RM : t == ir::I16 ? Op::Movzx16RM : Op::MovRM;
  load_into(op, op_width(t), raw_bits, from);
  if (big) settle(d, swap_bytes(raw_bits, t.bytes()), t);
}

void Lowering::lower_atomic_store(ir::Inst inst) {
  const ir::Value v = func().arg_a(inst);
  const unsigned bytes = type(v).bytes();
  const ir::MemFlags& flags = func().mem_flags(inst);
  VReg x = low(v, bytes * 8);
  if (flags.endian == 2) x = swap_bytes(x, bytes);
  const Address to = address(func().arg_b(inst), 0, flags.trap);
  emit(mi(Op::XchgMR, bytes), {codegen::def_same(new_int(), 1), codegen::use(x)}, to);
}

void Lowering::lower_atomic_cas(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const ir::MemFlags& flags = func().mem_flags(inst);
  const bool big = flags.endian == 2;
  VReg expected = low(func().arg_b(inst), t.bits());
  VReg wanted = low(func().arg_c(inst), t.bits());
  if (big) {
    expected = swap_bytes(expected, t.bytes());
    wanted = swap_bytes(wanted, t.bytes());
  }
  const Address at = address(func().arg_a(inst), 0, flags.trap);
  VReg old = new_int();
  emit(mi(Op::LockCmpxchgMR, t.bytes()),
       {codegen::def_fixed(old, preg(Gpr::Rax)), codegen::use_fixed(expected, preg(Gpr::Rax)),
        codegen::use(wanted)},
       at);
  if (big) old = swap_bytes(old, t.bytes());
  settle(result(inst), old, t);
}

void Lowering::lower_atomic_rmw(ir::Inst inst) {
  const ir::Type t = type(func().result(inst));
  const ir::MemFlags& flags = func().mem_flags(inst);
  const ir::AtomicOp op = func().atomic_op(inst);
  const bool big = flags.endian == 2;
  const bool wanted = is_used(func().result(inst));
  const VReg d = wanted ? result(inst) : new_int();
  VReg x = low(func().arg_b(inst), t.bits());
  // Arithmetic cares for the order of bytes: it goes in a loop, with the bytes exchanged twice.
  const bool swaps_in_loop = big && !is_bitwise(op) && t != ir::I8;
  if (big && !swaps_in_loop) x = swap_bytes(x, t.bytes());
  const auto done = [&](VReg old) { settle(d, big ? swap_bytes(old, t.bytes()) : old, t); };
  if (!swaps_in_loop &&
      (op == ir::AtomicOp::Xchg || op == ir::AtomicOp::Add || op == ir::AtomicOp::Sub)) {
    if (op == ir::AtomicOp::Sub) {
      const VReg negated = new_int();
      r(Op::NegR, op_width(t), negated, x);
      x = negated;
    }
    const Address at = address(func().arg_a(inst), 0, flags.trap);
    const VReg old = new_int();
    emit(mi(op == ir::AtomicOp::Xchg ? Op::XchgMR : Op::LockXaddMR, t.bytes()),
         {codegen::def_same(old, 1), codegen::use(x)}, at);
    return done(old);
  }
  if (!wanted && is_bitwise(op) && op != ir::AtomicOp::Nand) {
    const Op form = op == ir::AtomicOp::And  ? Op::LockAndMR
                    : op == ir::AtomicOp::Or ? Op::LockOrMR
                                             : Op::LockXorMR;
    emit(mi(form, t.bytes()), {codegen::use(x)}, address(func().arg_a(inst), 0, flags.trap));
    return;
  }
  const VReg base = reg(func().arg_a(inst));
  const VReg old = new_int();
  MachInst loop = mi(Pseudo::AtomicLoop, t.bytes(), static_cast<std::int64_t>(op));
  loop.trap = flags.trap;
  loop.cc = swaps_in_loop ? 1 : 0;
  emit(loop, {codegen::def_fixed(old, preg(Gpr::Rax)), codegen::def(new_int()),
              codegen::late_use(base), codegen::late_use(x)});
  done(old);
}

// ---- 16 bytes.

/// The old value is in `d`.
void Lowering::compare_exchange_16(Halves d, Halves expected, Halves wanted, VReg base,
                                   image::TrapCode trap) {
  Address at;
  at.kind = AddrKind::Base;
  at.base = base;
  at.trap = trap;
  emit(mi(Op::LockCmpxchg16bM, 8),
       {codegen::def_fixed(d.lo, preg(Gpr::Rax)), codegen::def_fixed(d.hi, preg(Gpr::Rdx)),
        codegen::use_fixed(expected.lo, preg(Gpr::Rax)),
        codegen::use_fixed(expected.hi, preg(Gpr::Rdx)),
        codegen::use_fixed(wanted.lo, preg(Gpr::Rbx)),
        codegen::use_fixed(wanted.hi, preg(Gpr::Rcx))},
       at);
}

bool Lowering::lower_wide_atomic(ir::Inst inst) {
  const ir::Function& f = func();
  const ir::MemFlags& flags = f.mem_flags(inst);
  if (!has(Feature::Cmpxchg16b)) {
    fail(Error(ErrorKind::Unsupported, "atomic access of 16 bytes on x86_64 without cx16"));
    return false;
  }
  const bool is_big = flags.endian == 2;
  const auto in_memory = [&](Halves x) { return is_big ? swap_bytes(x) : x; };
  // What the instruction defines; the result is that with its bytes exchanged.
  const auto old_value = [&] { return is_big ? new_wide() : wide_result(inst); };
  const auto done = [&](Halves old) {
    if (is_big) move_wide(wide_result(inst), swap_bytes(old));
  };
  switch (f.op(inst)) {
    case ir::Op::AtomicLoad: {
      // Exchanges 0 for 0 if that is the value.
      const Halves d = old_value();
      const VReg zero = make_int(0);
      const VReg base = reg(f.arg_a(inst));
      compare_exchange_16(d, {zero, zero}, {zero, zero}, base, flags.trap);
      done(d);
      return true;
    }
    case ir::Op::AtomicCas: {
      const Halves d = old_value();
      const Halves expected = in_memory(wide(f.arg_b(inst)));
      const Halves wanted = in_memory(wide(f.arg_c(inst)));
      compare_exchange_16(d, expected, wanted, reg(f.arg_a(inst)), flags.trap);
      done(d);
      return true;
    }
    default: break;  // a loop
  }
  const bool is_store = f.op(inst) == ir::Op::AtomicStore;
  const ir::AtomicOp op = is_store ? ir::AtomicOp::Xchg : f.atomic_op(inst);
  const Halves d = is_store ? new_wide() : old_value();
  Halves x = wide(is_store ? f.arg_a(inst) : f.arg_b(inst));
  const bool swaps_in_loop = is_big && !is_bitwise(op);
  if (!swaps_in_loop) x = in_memory(x);
  const VReg base = reg(is_store ? f.arg_b(inst) : f.arg_a(inst));
  MachInst loop = mi(Pseudo::AtomicLoop16, 16, static_cast<std::int64_t>(op));
  loop.trap = flags.trap;
  loop.cc = swaps_in_loop ? 1 : 0;
  const VReg temp_lo = new_int();
  const VReg temp_hi = new_int();
  emit(loop,
       {codegen::def_fixed(d.lo, preg(Gpr::Rax)), codegen::def_fixed(d.hi, preg(Gpr::Rdx)),
        codegen::def_fixed(temp_lo, preg(Gpr::Rbx)), codegen::def_fixed(temp_hi, preg(Gpr::Rcx)),
        codegen::late_use(base), codegen::late_use(x.lo), codegen::late_use(x.hi)});
  if (!is_store) done(d);
  return true;
}

}  // namespace hoist::isa::x64
