// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the register allocator inserted: copies, exchanges, values made again. Nothing here changes
// the condition flags.
#include "base/bits.hpp"
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using codegen::AllocMove;
using codegen::RegClass;

static constexpr Reg kScratch{kFloatScratch.number()};

void Emitter::emit_move(const AllocMove& move) {
  if (move.remat_inst != AllocMove::kNoRemat) return emit_remat(move);
  if (move.kind == AllocMove::Kind::Exchange) return emit_exchange(move);
  if (move.from == move.to) return;
  const bool wide = move.bytes == 16;
  if (move.from.is_reg() && move.to.is_reg()) {
    if (move.cls == RegClass::Int) {
      enc_.rr(Op::MovRR, 8, reg(move.to), reg(move.from));
    } else {
      enc_.rr(Op::MovapsRR, 0, reg(move.to), reg(move.from));
    }
    return;
  }
  const bool is_int = move.cls == RegClass::Int;
  if (move.from.is_slot() && move.to.is_slot()) {
    enc_.rm(wide ? Op::MovupsRM : Op::MovsdRM, 0, kScratch, slot_mem(move.from));
    enc_.mr(wide ? Op::MovupsMR : Op::MovsdMR, 0, slot_mem(move.to), kScratch);
  } else if (move.from.is_slot()) {
    if (is_int) {
      enc_.rm(Op::MovRM, 8, reg(move.to), slot_mem(move.from));
    } else {
      enc_.rm(wide ? Op::MovupsRM : Op::MovsdRM, 0, reg(move.to), slot_mem(move.from));
    }
  } else {
    HOIST_DCHECK(move.from.is_reg() && move.to.is_slot(), "a move has two places");
    if (is_int) {
      enc_.mr(Op::MovMR, 8, slot_mem(move.to), reg(move.from));
    } else {
      enc_.mr(wide ? Op::MovupsMR : Op::MovsdMR, 0, slot_mem(move.to), reg(move.from));
    }
  }
}

void Emitter::emit_exchange(const AllocMove& move) {
  HOIST_DCHECK(move.from.is_reg() && move.to.is_reg() && move.cls == RegClass::Int,
               "only integer registers are exchanged");
  enc_.rr(Op::XchgRR, 8, reg(move.to), reg(move.from));
}

void Emitter::emit_remat(const AllocMove& move) {
  const MachInst& inst = inst_at(move.remat_inst);
  if (move.to.is_reg()) {
    emit_inst(move.remat_inst, Allocs(&move.to, 1));
    return;
  }
  // Into a spill slot: directly if it is a small constant, else through a register that is put
  // back.
  const Mem slot = slot_mem(move.to);
  if (inst.op == raw(Pseudo::FZero)) {
    enc_.mi(Op::MovMI, 8, slot, 0);
    if (move.bytes == 16) {
      Mem upper = slot;
      upper.disp += 8;
      enc_.mi(Op::MovMI, 8, upper, 0);
    }
  } else if (inst.op == raw(Op::MovRI) && inst.width == 8 && base::fits_i32(inst.imm)) {
    enc_.mi(Op::MovMI, 8, slot, inst.imm);
  } else if (move.cls == RegClass::Int) {
    const Alloc through = Alloc::of(preg(Gpr::Rax));
    enc_.mr(Op::MovMR, 8, slot, Gpr::Rax);
    emit_inst(move.remat_inst, Allocs(&through, 1));
    enc_.mr(Op::XchgMR, 8, slot, Gpr::Rax);
  } else {
    const Alloc through = Alloc::of(kFloatScratch);
    emit_inst(move.remat_inst, Allocs(&through, 1));
    enc_.mr(move.bytes == 16 ? Op::MovupsMR : Op::MovsdMR, 0, slot, kScratch);
  }
}

}  // namespace hoist::isa::x64
