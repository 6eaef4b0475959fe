// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain instructions: rows of asm/x64/insts.def with registers, addresses and immediates filled in.
#include <algorithm>
#include <iterator>

#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;
using masm::x64::kShapeCc;
using masm::x64::kShapeImm;
using masm::x64::kShapeIs4;
using masm::x64::kShapeMem;
using masm::x64::OpInfo;

static unsigned address_registers(AddrKind kind) {
  switch (kind) {
    case AddrKind::None:
    case AddrKind::StackSlot:
    case AddrKind::IncomingArg:
    case AddrKind::OutgoingArg:
    case AddrKind::Constant: return 0;
    case AddrKind::Base:
    case AddrKind::Index: return 1;
    case AddrKind::BaseIndex: return 2;
  }
  HOIST_UNREACHABLE("every address kind is listed");
}

Mem Emitter::mem_of(const MachInst& inst, Allocs ops) const {
  const auto gpr_at = [&](std::size_t from_end) {
    return static_cast<Gpr>(reg(ops[ops.size() - from_end]).number);
  };
  switch (inst.addr) {
    case AddrKind::Base: return Mem::at(gpr_at(1), inst.disp);
    case AddrKind::BaseIndex: return Mem::at(gpr_at(2), gpr_at(1), inst.scale, inst.disp);
    case AddrKind::Index: return Mem::index_only(gpr_at(1), inst.scale, inst.disp);
    case AddrKind::StackSlot: return Mem::at(Gpr::Rbp, frame_.stack_slots[inst.aux] + inst.disp);
    case AddrKind::IncomingArg: return Mem::at(Gpr::Rbp, 16 + inst.disp);
    case AddrKind::OutgoingArg: return Mem::at(Gpr::Rsp, inst.disp);
    case AddrKind::Constant: return Mem::constant(state_.pool[inst.aux], inst.disp);
    case AddrKind::None: break;
  }
  HOIST_UNREACHABLE("the instruction has an address");
}

/// Whether the flags before the next instruction are never read: it, or one soon after, overwrites
/// them all. Flags do not live across blocks.
bool Emitter::flags_are_dead() const {
  constexpr std::uint32_t kLookAhead = 6;
  const std::uint32_t end = func_.blocks[block_].end_inst;
  for (std::uint32_t i = next_inst_; i < end && i < next_inst_ + kLookAhead; ++i) {
    const std::uint16_t op = func_.insts[i].op;
    if (is_pseudo(op)) {
      const PseudoInfo& pseudo = info(static_cast<Pseudo>(op));
      if (pseudo.reads_flags) return false;
      if (pseudo.writes_flags || op == raw(Pseudo::Jump)) return true;
    } else {
      constexpr unsigned kAll = 63;
      const OpInfo& row = masm::x64::info(static_cast<Op>(op));
      if (row.flags_read != 0) return false;
      if ((row.flags_written & kAll) == kAll || op == raw(Op::Ud2)) return true;
    }
  }
  return false;
}

void Emitter::emit_mov_immediate(const MachInst& inst, Reg dst) {
  if (inst.imm == 0 && flags_are_dead()) {
    enc_.rr(Op::XorRR, 4, dst, dst);
  } else {
    enc_.ri(Op::MovRI, inst.width, dst, inst.imm);
  }
}

void Emitter::emit_call(const MachInst& inst, Allocs ops) {
  const auto op = static_cast<Op>(inst.op);
  if (op == Op::Call) {
    enc_.call(masm::Symbol(inst.aux));
  } else if (op == Op::CallM) {
    enc_.m(Op::CallM, 8, mem_of(inst, ops));
  } else {
    // The target is the first Use; results are Defs before it.
    const std::span<const codegen::Operand> operands = func_.operands_of(inst);
    std::size_t target = 0;
    while (operands[target].role != codegen::Role::Use &&
           operands[target].role != codegen::Role::LateUse) {
      ++target;
    }
    if (ops[target].is_slot()) {
      enc_.m(Op::CallM, 8, slot_mem(ops[target]));
    } else {
      enc_.r(Op::CallR, 8, reg(ops[target]));
    }
  }
  record_call(inst);
}

/// A float in a slot, for a form whose memory operand would read 16 bytes.
void Emitter::emit_through_scratch(const MachInst& inst, unsigned operand, Allocs ops) {
  Alloc filled[OpInfo::kMaxOperands] = {};
  const masm::x64::Place last = masm::x64::info(static_cast<Op>(inst.op)).operand[1].place;
  HOIST_CHECK(ops.size() <= std::size(filled) &&
                  (last == masm::x64::Place::Xrm || last == masm::x64::Place::XReg),
              "the operand may be in a spill slot");
  std::copy(ops.begin(), ops.end(), filled);
  filled[operand] = Alloc::of(kFloatScratch);
  enc_.rm(Op::MovsdRM, 0, Reg(kFloatScratch.number()), slot_mem(ops[operand]));
  emit_plain(inst, Allocs(filled, ops.size()));
}

/// One register operand was left in its spill slot: the form with memory in its place. `at` says
/// where the row's registers are in `ops`.
void Emitter::emit_with_slot(const MachInst& inst, const unsigned* at, Allocs ops) {
  const auto op = static_cast<Op>(inst.op);
  const OpInfo& row = masm::x64::info(op);
  const unsigned regs = row.shape & 3u;
  const bool has_imm = (row.shape & kShapeImm) != 0;
  const Alloc last = ops[at[regs - 1]];
  if (last.is_slot()) {
    const Mem slot = slot_mem(last);
    const bool first_only = regs == 1 && masm::x64::with_memory_source(op) == masm::x64::kNoOp;
    Op form = first_only ? masm::x64::with_memory_first(op) : masm::x64::with_memory_source(op);
    if (form == masm::x64::kNoOp && is_wide(func_.operands_of(inst)[at[regs - 1]].vreg)) {
      form = masm::x64::with_memory_source_16(op);
    }
    if (form == masm::x64::kNoOp) return emit_through_scratch(inst, at[regs - 1], ops);
    if (regs == 1)
      return has_imm ? enc_.mi(form, inst.width, slot, inst.imm) : enc_.m(form, inst.width, slot);
    const Reg first = reg(ops[at[0]]);
    if ((row.shape & kShapeCc) != 0)
      return enc_.cmovcc(static_cast<Cc>(inst.cc), inst.width, first, slot);
    if (regs == 3) {
      const Reg second = reg(ops[at[1]]);
      if ((row.shape & kShapeIs4) != 0)
        return enc_.rrmr(form, first, second, slot, reg(ops[at[3]]));
      if (has_imm) return enc_.rrmi(form, inst.width, first, second, slot, inst.imm);
      return enc_.rrm(form, inst.width, first, second, slot);
    }
    if (has_imm) return enc_.rmi(form, inst.width, first, slot, inst.imm);
    return enc_.rm(form, inst.width, first, slot);
  }
  const Op form = masm::x64::with_memory_first(op);
  HOIST_CHECK(regs == 2 && ops[at[0]].is_slot() && form != masm::x64::kNoOp,
              "the operand may be in a spill slot");
  enc_.mr(form, inst.width, slot_mem(ops[at[0]]), reg(last));
}

void Emitter::emit_plain(const MachInst& inst, Allocs ops) {
  const auto op = static_cast<Op>(inst.op);
  if ((inst.flags & codegen::kCall) != 0) return emit_call(inst, ops);
  if (op == Op::Ud2) return trap_here(inst.trap);
  mark_trap(inst);
  const OpInfo& row = masm::x64::info(op);
  const std::size_t count = ops.size() - address_registers(inst.addr);
  const unsigned regs = row.shape & 3u;
  unsigned at[4] = {0, 0, 0, 0};
  std::uint8_t number[3] = {0, 0, 0};
  if ((row.shape & kShapeIs4) != 0) at[3] = static_cast<unsigned>(count - 1);
  for (unsigned i = 0; i < regs; ++i) {
    const int place = row.mach_operand[i];
    at[i] = static_cast<unsigned>(place >= 0 ? place : static_cast<int>(count) + place);
    if (!ops[at[i]].is_reg()) [[unlikely]]
      return emit_with_slot(inst, at, ops);
    number[i] = static_cast<std::uint8_t>(ops[at[i]].reg.number());
  }
  const Reg a(number[0]);
  const Reg b(number[1]);
  const Reg c(number[2]);
  switch (row.shape) {
    case 0: return enc_.none(op);
    case 1: return enc_.r(op, inst.width, a);
    case 2:
      // A copy to itself; a 32-bit one still clears the upper half.
      if (a == b && (op == Op::MovapsRR || (op == Op::MovRR && inst.width == 8))) return;
      return enc_.rr(op, inst.width, a, b);
    case 3: return enc_.rrr(op, inst.width, a, b, c);
    case 3 | kShapeImm: return enc_.rrri(op, inst.width, a, b, c, inst.imm);
    case 3 | kShapeIs4: return enc_.rrrr(op, a, b, c, reg(ops[at[3]]));
    case kShapeMem | 2 | kShapeImm:
      return enc_.rrmi(op, inst.width, a, b, mem_of(inst, ops), inst.imm);
    case kShapeMem | 2 | kShapeIs4: return enc_.rrmr(op, a, b, mem_of(inst, ops), reg(ops[at[3]]));
    case kShapeMem: return enc_.m(op, inst.width, mem_of(inst, ops));
    case kShapeMem | 1: return enc_.rm(op, inst.width, a, mem_of(inst, ops));
    case kShapeMem | 2: return enc_.rmr(op, inst.width, a, mem_of(inst, ops), b);
    case kShapeImm: return enc_.i(op, inst.imm);
    case kShapeImm | 1:
      if (op == Op::MovRI) return emit_mov_immediate(inst, a);
      return enc_.ri(op, inst.width, a, inst.imm);
    case kShapeImm | 2: return enc_.rri(op, inst.width, a, b, inst.imm);
    case kShapeImm | kShapeMem: return enc_.mi(op, inst.width, mem_of(inst, ops), inst.imm);
    case kShapeImm | kShapeMem | 1: return enc_.rmi(op, inst.width, a, mem_of(inst, ops), inst.imm);
    case kShapeCc | 1: return enc_.setcc(static_cast<Cc>(inst.cc), a);
    case kShapeCc | 2: return enc_.cmovcc(static_cast<Cc>(inst.cc), inst.width, a, b);
    case kShapeCc | kShapeMem: return enc_.setcc(static_cast<Cc>(inst.cc), mem_of(inst, ops));
    case kShapeCc | kShapeMem | 1:
      return enc_.cmovcc(static_cast<Cc>(inst.cc), inst.width, a, mem_of(inst, ops));
    default: break;  // shapes are sums, not a closed enum
  }
  HOIST_UNREACHABLE("branches are pseudo instructions");
}

}  // namespace hoist::isa::x64
