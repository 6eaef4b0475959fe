// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops around compare-and-exchange.
#include "ir/opcode.hpp"
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using ir::AtomicOp;

/// The condition under which the old value stays, after comparing old with new.
static Cc keeps_old(AtomicOp op) {
  switch (op) {
    case AtomicOp::Umin: return Cc::B;
    case AtomicOp::Umax: return Cc::A;
    case AtomicOp::Smin: return Cc::L;
    case AtomicOp::Smax: return Cc::G;
    case AtomicOp::Add:
    case AtomicOp::Sub:
    case AtomicOp::And:
    case AtomicOp::Nand:
    case AtomicOp::Or:
    case AtomicOp::Xor:
    case AtomicOp::Xchg: break;
  }
  HOIST_UNREACHABLE("only minimum and maximum compare");
}

void Emitter::mark_trap(const MachInst& inst) {
  if (inst.trap != image::TrapCode::None) buffer_.add_trap(static_cast<std::uint32_t>(inst.trap));
}

/// Operands: rax (old), a temporary, the address, the operand.
void Emitter::emit_atomic_loop(const MachInst& inst, Allocs ops) {
  const auto op = static_cast<AtomicOp>(inst.imm);
  const unsigned bytes = inst.width;
  const unsigned width = bytes == 8 ? 8 : 4;
  const Reg temp = reg(ops[1]);
  const Mem at = Mem::at(static_cast<Gpr>(reg(ops[2]).number), 0);
  const Reg x = reg(ops[3]);
  mark_trap(inst);
  enc_.rm(bytes == 1 ? Op::Movzx8RM : bytes == 2 ? Op::Movzx16RM : Op::MovRM, width, Gpr::Rax, at);
  const Label again = buffer_.new_label();
  buffer_.bind(again);
  const bool swaps = inst.cc != 0;
  const auto swap_bytes = [&] {
    if (bytes == 2) {
      enc_.ri(Op::RolRI, 2, temp, 8);
    } else if (bytes != 1) {
      enc_.r(Op::BswapR, width, temp);
    }
  };
  const auto combine = [&](Op form) {
    enc_.rr(Op::MovRR, width, temp, Gpr::Rax);
    if (swaps) swap_bytes();
    enc_.rr(form, width, temp, x);
  };
  switch (op) {
    case AtomicOp::Add: combine(Op::AddRR); break;
    case AtomicOp::Sub: combine(Op::SubRR); break;
    case AtomicOp::And: combine(Op::AndRR); break;
    case AtomicOp::Or: combine(Op::OrRR); break;
    case AtomicOp::Xor: combine(Op::XorRR); break;
    case AtomicOp::Nand:
      combine(Op::AndRR);
      enc_.r(Op::NotR, width, temp);
      break;
    case AtomicOp::Xchg: enc_.rr(Op::MovRR, width, temp, x); break;
    case AtomicOp::Umin:
    case AtomicOp::Umax:
    case AtomicOp::Smin:
    case AtomicOp::Smax:
      if (swaps) {
        enc_.rr(Op::MovRR, width, temp, Gpr::Rax);
        swap_bytes();
        enc_.rr(Op::CmpRR, bytes, temp, x);
        enc_.cmovcc(invert(keeps_old(op)), width, temp, x);
        break;
      }
      enc_.rr(Op::MovRR, width, temp, x);
      enc_.rr(Op::CmpRR, bytes, Gpr::Rax, x);
      enc_.cmovcc(keeps_old(op), width, temp, Gpr::Rax);
      break;
  }
  if (swaps) swap_bytes();
  mark_trap(inst);
  enc_.mr(Op::LockCmpxchgMR, bytes, at, temp);
  enc_.jcc(Cc::Ne, again);
}

/// Operands: rax and rdx (old), rbx and rcx (new), the address, the operand's halves.
void Emitter::emit_atomic_loop_16(const MachInst& inst, Allocs ops) {
  const auto op = static_cast<AtomicOp>(inst.imm);
  const Gpr base = static_cast<Gpr>(reg(ops[4]).number);
  const Reg lo = reg(ops[5]);
  const Reg hi = reg(ops[6]);
  mark_trap(inst);
  enc_.rm(Op::MovRM, 8, Gpr::Rax, Mem::at(base, 0));
  mark_trap(inst);
  enc_.rm(Op::MovRM, 8, Gpr::Rdx, Mem::at(base, 8));
  const Label again = buffer_.new_label();
  buffer_.bind(again);
  const bool swaps = inst.cc != 0;
  // The upper half of the old value as a number; no flags change.
  const auto old_high = [&] {
    enc_.rr(Op::MovRR, 8, Gpr::Rcx, swaps ? Gpr::Rax : Gpr::Rdx);
    if (swaps) enc_.r(Op::BswapR, 8, Gpr::Rcx);
  };
  const auto old_halves = [&] {
    enc_.rr(Op::MovRR, 8, Gpr::Rbx, swaps ? Gpr::Rdx : Gpr::Rax);
    if (swaps) enc_.r(Op::BswapR, 8, Gpr::Rbx);
    old_high();
  };
  const auto combine = [&](Op low_form, Op high_form) {
    old_halves();
    enc_.rr(low_form, 8, Gpr::Rbx, lo);
    enc_.rr(high_form, 8, Gpr::Rcx, hi);
  };
  switch (op) {
    case AtomicOp::Add: combine(Op::AddRR, Op::AdcRR); break;
    case AtomicOp::Sub: combine(Op::SubRR, Op::SbbRR); break;
    case AtomicOp::And: combine(Op::AndRR, Op::AndRR); break;
    case AtomicOp::Or: combine(Op::OrRR, Op::OrRR); break;
    case AtomicOp::Xor: combine(Op::XorRR, Op::XorRR); break;
    case AtomicOp::Nand:
      combine(Op::AndRR, Op::AndRR);
      enc_.r(Op::NotR, 8, Gpr::Rbx);
      enc_.r(Op::NotR, 8, Gpr::Rcx);
      break;
    case AtomicOp::Xchg:
      enc_.rr(Op::MovRR, 8, Gpr::Rbx, lo);
      enc_.rr(Op::MovRR, 8, Gpr::Rcx, hi);
      break;
    case AtomicOp::Umin:
    case AtomicOp::Smin:
    case AtomicOp::Umax:
    case AtomicOp::Smax: {
      // old - new in rbx, rcx for its flags; for a maximum new - old, so that both say "less".
      const bool is_min = op == AtomicOp::Umin || op == AtomicOp::Smin;
      const bool is_signed = op == AtomicOp::Smin || op == AtomicOp::Smax;
      if (swaps) {
        // The difference destroys the upper half, which is made once more.
        old_halves();
        enc_.rr(Op::CmpRR, 8, Gpr::Rbx, lo);
        enc_.rr(Op::SbbRR, 8, Gpr::Rcx, hi);
        old_high();
        const Cc less = is_signed ? Cc::L : Cc::B;
        const Cc take = is_min ? invert(less) : less;
        enc_.cmovcc(take, 8, Gpr::Rbx, lo);
        enc_.cmovcc(take, 8, Gpr::Rcx, hi);
        break;
      }
      if (is_min) {
        enc_.rr(Op::MovRR, 8, Gpr::Rcx, Gpr::Rdx);
        enc_.rr(Op::CmpRR, 8, Gpr::Rax, lo);
        enc_.rr(Op::SbbRR, 8, Gpr::Rcx, hi);
      } else {
        enc_.rr(Op::MovRR, 8, Gpr::Rcx, hi);
        enc_.rr(Op::CmpRR, 8, lo, Gpr::Rax);
        enc_.rr(Op::SbbRR, 8, Gpr::Rcx, Gpr::Rdx);
      }
      enc_.rr(Op::MovRR, 8, Gpr::Rbx, lo);
      enc_.rr(Op::MovRR, 8, Gpr::Rcx, hi);
      const Cc keep = is_signed ? Cc::L : Cc::B;
      enc_.cmovcc(keep, 8, Gpr::Rbx, Gpr::Rax);
      enc_.cmovcc(keep, 8, Gpr::Rcx, Gpr::Rdx);
      break;
    }
  }
  if (swaps) {
    enc_.r(Op::BswapR, 8, Gpr::Rbx);
    enc_.r(Op::BswapR, 8, Gpr::Rcx);
    enc_.rr(Op::XchgRR, 8, Gpr::Rbx, Gpr::Rcx);
  }
  mark_trap(inst);
  enc_.m(Op::LockCmpxchg16bM, 8, Mem::at(base, 0));
  enc_.jcc(Cc::Ne, again);
}

}  // namespace hoist::isa::x64
