// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, traps, and which function emits which pseudo instruction.
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using codegen::MachEdge;

Label Emitter::successor(std::uint32_t number) const {
  const std::span<const MachEdge> succs = func_.succs_of(func_.blocks[block_]);
  return block_label(succs[number].target);
}

void Emitter::emit_branch(Cc cc) {
  const Label taken = successor(0);
  const Label other = successor(1);
  if (taken == other) {
    if (!is_next(other)) enc_.jmp(other);
  } else if (is_next(taken)) {
    enc_.jcc(invert(cc), other);
  } else {
    enc_.jcc(cc, taken);
    if (!is_next(other)) enc_.jmp(other);
  }
}

void Emitter::emit_branch_fne() {
  const Label taken = successor(0);
  const Label other = successor(1);
  if (taken == other) {
    if (!is_next(other)) enc_.jmp(other);
    return;
  }
  if (is_next(taken)) {
    enc_.jcc(Cc::P, taken);
    enc_.jcc(Cc::E, other);
    return;
  }
  enc_.jcc(Cc::Ne, taken);
  enc_.jcc(Cc::P, taken);
  if (!is_next(other)) enc_.jmp(other);
}

void Emitter::emit_jump_table(const MachInst& inst, Allocs ops) {
  const Label otherwise = successor(0);
  if (inst.aux == 0) return enc_.jmp(otherwise);
  const Reg address = reg(ops[0]);
  const Reg offset = reg(ops[1]);
  const Reg index = reg(ops[2]);
  enc_.ri(Op::CmpRI, 4, index, inst.aux);
  enc_.jcc(Cc::Ae, otherwise);
  std::vector<Label>& targets = state_.table_targets;
  targets.clear();
  for (std::uint32_t i = 0; i < inst.aux; ++i) {
    const std::size_t entry = static_cast<std::size_t>(inst.imm) + i;
    targets.push_back(successor(func_.jump_tables[entry]));
  }
  const Label table = buffer_.add_jump_table(targets);
  enc_.rm(Op::LeaRM, 8, address, Mem::label(table));
  enc_.rm(Op::MovsxdRM, 8, offset,
          Mem::at(static_cast<Gpr>(address.number), static_cast<Gpr>(index.number), 2));
  enc_.rr(Op::AddRR, 8, address, offset);
  enc_.r(Op::JmpR, 8, address);
}

void Emitter::trap_here(image::TrapCode code) {
  buffer_.add_trap(static_cast<std::uint32_t>(code));
  if (func_.trap_symbol >= 0) {
    enc_.call(masm::Symbol(static_cast<std::uint32_t>(func_.trap_symbol)));
  } else {
    enc_.none(Op::Ud2);
  }
}

Label Emitter::trap_label(image::TrapCode code) {
  if (!state_.traps.empty()) {
    const OutOfLineTrap& last = state_.traps.back();
    if (last.code == code && last.loc == loc_) return last.label;
  }
  const Label label = buffer_.new_label();
  state_.traps.push_back({label, code, loc_});
  return label;
}

void Emitter::trap_if(Cc cc, image::TrapCode code) {
  enc_.jcc(cc, trap_label(code));
}

Label Emitter::begin_cold(std::uint32_t index) {
  const Label entry = buffer_.new_label();
  state_.cold.push_back({index, entry, Label::none()});
  return entry;
}

void Emitter::bind_resume() {
  state_.cold.back().resume = buffer_.new_label();
  buffer_.bind(state_.cold.back().resume);
}

/// Whoever switches back to this context finds its stack pointer, frame pointer and address in
/// three words. Both contexts may be the same.
void Emitter::emit_stack_switch() {
  const Label back = buffer_.new_label();
  enc_.rm(Op::LeaRM, 8, Gpr::Rax, Mem::label(back));
  enc_.rm(Op::MovRM, 8, Gpr::Rcx, Mem::at(Gpr::Rdx, 0));
  enc_.rm(Op::MovRM, 8, Gpr::R8, Mem::at(Gpr::Rdx, 8));
  enc_.rm(Op::MovRM, 8, Gpr::R9, Mem::at(Gpr::Rdx, 16));
  enc_.mr(Op::MovMR, 8, Mem::at(Gpr::Rsi, 0), Gpr::Rsp);
  enc_.mr(Op::MovMR, 8, Mem::at(Gpr::Rsi, 8), Gpr::Rbp);
  enc_.mr(Op::MovMR, 8, Mem::at(Gpr::Rsi, 16), Gpr::Rax);
  enc_.rr(Op::MovRR, 8, Gpr::Rsp, Gpr::Rcx);
  enc_.rr(Op::MovRR, 8, Gpr::Rbp, Gpr::R8);
  enc_.r(Op::JmpR, 8, Gpr::R9);
  buffer_.bind(back);
}

/// With prefixes that do nothing: linkers know these 16 bytes.
void Emitter::emit_tls_address(const MachInst& inst) {
  constexpr std::uint8_t kLeaRdi[] = {0x66, 0x48, 0x8d, 0x3d, 0, 0, 0, 0};
  constexpr std::uint8_t kCallPadding[] = {0x66, 0x66, 0x48};
  buffer_.add_reloc(masm::RelocKind::TlsIndex32, buffer_.offset() + 4, masm::Symbol(inst.aux), -4);
  buffer_.put(kLeaRdi);
  buffer_.put(kCallPadding);
  enc_.call(masm::Symbol(static_cast<std::uint32_t>(inst.imm)));
  mark(Mark::Call);
}

void Emitter::emit_copy_block(const MachInst& inst, Allocs ops) {
  const Reg left = reg(ops[0]);
  const Reg data = reg(ops[1]);
  const Gpr from = static_cast<Gpr>(reg(ops[2]).number);
  const Gpr at = static_cast<Gpr>(left.number);
  const Label again = buffer_.new_label();
  enc_.ri(Op::MovRI, 4, left, inst.imm);
  buffer_.bind(again);
  enc_.rm(Op::MovupsRM, 0, data, Mem::at(from, at, 0, -16));
  enc_.mr(Op::MovupsMR, 0, Mem::at(Gpr::Rsp, at, 0, inst.disp - 16), data);
  enc_.ri(Op::SubRI, 4, left, 16);
  enc_.jcc(Cc::Ne, again);
}

void Emitter::emit_pseudo(std::uint32_t index, const MachInst& inst, Allocs ops) {
  const auto kind = static_cast<Pseudo>(inst.op);
  switch (kind) {
    case Pseudo::Args: return;
    case Pseudo::Return:
      emit_epilogue();
      emit_return();
      return end_epilogue();
    case Pseudo::TakeBack: return enc_.ri(Op::SubRI, 8, Gpr::Rsp, inst.imm);
    case Pseudo::TailCall:
      emit_tail_epilogue(inst);
      enc_.jmp(masm::Symbol(inst.aux));
      return end_epilogue();
    case Pseudo::TailCallReg:
      emit_tail_epilogue(inst);
      enc_.r(Op::JmpR, 8, Gpr::R11);
      return end_epilogue();
    case Pseudo::Landing: return;
    case Pseudo::SequencePoint:
      if (inst.imm != 0) mark(Mark::SequencePoint, static_cast<std::uint32_t>(inst.imm));
      return;
    case Pseudo::GetPinned: return enc_.rr(Op::MovRR, 8, reg(ops[0]), Reg(kPinnedReg.number()));
    case Pseudo::SetPinned: return enc_.rr(Op::MovRR, 8, Reg(kPinnedReg.number()), reg(ops[0]));
    case Pseudo::StackSwitch: return emit_stack_switch();
    case Pseudo::TlsAddress: return emit_tls_address(inst);
    case Pseudo::CopyBlock: return emit_copy_block(inst, ops);
    case Pseudo::HandlerAddress:
      return enc_.rm(Op::LeaRM, 8, reg(ops[0]),
                     Mem::label(block_label(codegen::MachBlock(inst.aux))));
    case Pseudo::TryBranch:
    case Pseudo::Jump:
      if (!is_next(successor(0))) enc_.jmp(successor(0));
      return;
    case Pseudo::Branch: return emit_branch(static_cast<Cc>(inst.cc));
    case Pseudo::BranchFne: return emit_branch_fne();
    case Pseudo::JumpTable: return emit_jump_table(inst, ops);
    case Pseudo::TrapIf: return trap_if(static_cast<Cc>(inst.cc), inst.trap);
    case Pseudo::SetccZx:
      enc_.setcc(static_cast<Cc>(inst.cc), reg(ops[0]));
      return enc_.rr(Op::Movzx8RR, 4, reg(ops[0]), reg(ops[0]));
    case Pseudo::AddRegs: return emit_add_regs(inst, ops);
    case Pseudo::AddImm: return emit_add_imm(inst, ops);
    case Pseudo::ShlSmall: return emit_shl_small(inst, ops);
    case Pseudo::Udiv:
    case Pseudo::Sdiv:
    case Pseudo::Srem: return emit_division(index, inst, ops, kind);
    case Pseudo::SymbolNear:
      return enc_.rm(Op::LeaRM, 8, reg(ops[0]),
                     Mem::symbol(masm::Symbol(inst.aux), static_cast<std::int32_t>(inst.imm)));
    case Pseudo::SymbolFar:
      enc_.ri(Op::MovRI64, 8, reg(ops[0]), 0);
      return buffer_.add_reloc(masm::RelocKind::Abs64, buffer_.offset() - 8, masm::Symbol(inst.aux),
                               inst.imm);
    case Pseudo::FramePointer: return enc_.rr(Op::MovRR, 8, reg(ops[0]), Gpr::Rbp);
    case Pseudo::AtomicLoop: return emit_atomic_loop(inst, ops);
    case Pseudo::AtomicLoop16: return emit_atomic_loop_16(inst, ops);
    case Pseudo::StackPointer: return enc_.rr(Op::MovRR, 8, reg(ops[0]), Gpr::Rsp);
    case Pseudo::ReturnAddress: return enc_.rm(Op::MovRM, 8, reg(ops[0]), Mem::at(Gpr::Rbp, 8));
    case Pseudo::VOnes: return enc_.rr(Op::PcmpeqdRR, 0, reg(ops[0]), reg(ops[0]));
    case Pseudo::FZero: return enc_.rr(Op::XorpsRR, 0, reg(ops[0]), reg(ops[0]));
    case Pseudo::FSelect: return emit_fselect(inst, ops);
    case Pseudo::FMinMax: return emit_fminmax(index, inst, ops);
    case Pseudo::IntToFloat: return emit_int_to_float(inst, ops);
    case Pseudo::U64ToFloat: return emit_u64_to_float(index, inst, ops);
    case Pseudo::TruncS:
    case Pseudo::TruncU32:
    case Pseudo::TruncU64:
    case Pseudo::TruncSatS:
    case Pseudo::TruncSatU32:
    case Pseudo::TruncSatU64: return emit_trunc(index, inst, ops, kind);
    case Pseudo::BeforeFirst:
    case Pseudo::End: break;
  }
  HOIST_UNREACHABLE("the instruction has an opcode");
}

}  // namespace hoist::isa::x64
