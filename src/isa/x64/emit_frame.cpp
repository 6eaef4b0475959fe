// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frame layout, prologue and epilogue.
#include "isa/x64/emit_frame.hpp"

#include <string>

#include "base/bits.hpp"
#include "image/tables/eh_frame.hpp"
#include "isa/x64/abi.hpp"
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;
using codegen::MachFunction;
using codegen::MachInst;
using masm::x64::Op;

/// Whether anything but the stack of bytes itself needs a frame pointer: calls and traps do, for
/// backtraces, and so does whatever is addressed through it.
static bool needs_frame(const MachFunction& func) {
  if (func.has_calls) return true;
  for (const MachInst& inst : func.insts) {
    if (inst.trap != image::TrapCode::None || inst.addr == AddrKind::IncomingArg) return true;
    if ((inst.flags & codegen::kCall) != 0 || inst.op == raw(Op::Ud2)) return true;
    if (!is_pseudo(inst.op)) continue;
    const auto kind = static_cast<Pseudo>(inst.op);
    const bool may_trap = kind == Pseudo::TrapIf || kind == Pseudo::TruncS ||
                          kind == Pseudo::TruncU32 || kind == Pseudo::TruncU64;
    const bool looks = kind == Pseudo::FramePointer || kind == Pseudo::ReturnAddress;
    const bool moves = (kind == Pseudo::TailCall || kind == Pseudo::TailCallReg) && inst.width != 0;
    const bool atomic = kind == Pseudo::AtomicLoop || kind == Pseudo::AtomicLoop16;
    if (may_trap || looks || moves || atomic) return true;
  }
  return false;
}

/// Every register that the function or a call in it changes.
static RegMask written_registers(const MachFunction& func, const codegen::Allocation& alloc) {
  RegMask written = alloc.used;
  for (const RegMask& clobbers : func.clobber_sets) written = written | clobbers;
  if (!callee_saved(func.call_conv).contains(kFloatScratch)) return written;
  // Besides what is allocated: what the prologue and fixed sequences use.
  const bool any = written.bits != 0 || alloc.spill_slots != 0 || !func.stack_slots.empty();
  if (any) {
    written.add(kEntryScratch);
    written.add(kFloatScratch);
  }
  return written;
}

std::int32_t saved_xmm_at(const FrameLayout& frame, std::size_t index) {
  const std::size_t above = base::align_up(frame.context_bytes + 8 * frame.saved.size(), 16);
  return -static_cast<std::int32_t>(above + 16 * (index + 1));
}

void describe_frame(const FrameLayout& frame, std::uint32_t prologue_end, std::uint32_t code_size,
                    std::span<const EpilogueRange> epilogues, std::vector<image::UnwindOp>& out) {
  using Kind = image::UnwindOp::Kind;
  if (!frame.has_frame) return;
  constexpr std::uint32_t kAfterPush = 1;
  constexpr std::uint32_t kAfterMov = 4;
  constexpr std::uint32_t kCfa = 16;  // above rbp
  out.push_back({kAfterPush, Kind::DefCfaOffset, 0, kCfa});
  out.push_back({kAfterPush, Kind::Saved, image::kDwarfRbp, kCfa});
  out.push_back({kAfterMov, Kind::DefCfaRegister, image::kDwarfRbp, 0});
  const auto saved_number = [](Gpr reg) { return image::dwarf_gpr(static_cast<unsigned>(reg)); };
  const auto xmm_number = [](Xmm reg) { return image::dwarf_xmm(static_cast<unsigned>(reg)); };
  std::uint32_t at = kCfa + frame.context_bytes;
  for (const Gpr reg : frame.saved) {
    out.push_back({prologue_end, Kind::Saved, saved_number(reg), at += 8});
  }
  for (std::size_t i = 0; i < frame.saved_xmm.size(); ++i) {
    const auto distance = static_cast<std::uint32_t>(16 - saved_xmm_at(frame, i));
    out.push_back({prologue_end, Kind::Saved, xmm_number(frame.saved_xmm[i]), distance});
  }
  for (const EpilogueRange& range : epilogues) {
    const bool more = range.end < code_size;
    if (more) out.push_back({range.begin, Kind::RememberState, 0, 0});
    out.push_back({range.begin, Kind::DefCfa, image::kDwarfRsp, 8});
    out.push_back({range.begin, Kind::Restore, image::kDwarfRbp, 0});
    for (const Gpr reg : frame.saved) {
      out.push_back({range.begin, Kind::Restore, saved_number(reg), 0});
    }
    for (const Xmm reg : frame.saved_xmm) {
      out.push_back({range.begin, Kind::Restore, xmm_number(reg), 0});
    }
    if (more) out.push_back({range.end, Kind::RestoreState, 0, 0});
  }
}

Result<void> layout_frame(const MachFunction& func, const codegen::Allocation& alloc,
                          FrameLayout& out) {
  out.saved.clear();
  out.saved_xmm.clear();
  out.stack_slots.clear();
  RegMask keep = callee_saved(func.call_conv) & written_registers(func, alloc);
  if (func.pins_register) keep.remove(kPinnedReg);
  for (unsigned n = 0; n < 16; ++n) {
    if (keep.contains(PReg::gpr(n))) out.saved.push_back(static_cast<Gpr>(n));
    if (keep.contains(PReg::fpr(n))) out.saved_xmm.push_back(static_cast<Xmm>(n));
  }
  // All sums in 64 bits: sizes of stack slots come from the input.
  out.context_bytes = 0;
  if (func.trap_symbol >= 0 && needs_frame(func)) {
    // Traps are calls: the stack is aligned for them from here on.
    out.context_bytes = out.saved.size() % 2 != 0 ? 8 : 16;
  }
  std::uint64_t depth = out.context_bytes + 8 * out.saved.size();
  if (!out.saved_xmm.empty()) depth = base::align_up(depth, 16) + 16 * out.saved_xmm.size();
  depth += 8 * std::uint64_t{alloc.spill_slots};
  if (alloc.spill_slots != 0) depth = base::align_up(depth, 16);
  out.spill_base = -static_cast<std::int32_t>(depth);
  for (const ir::StackSlotData& slot : func.stack_slots) {
    if (slot.align_log2 > 4) {
      return Error(ErrorKind::Unsupported, "stack slot with an alignment of 2^" +
                                               std::to_string(slot.align_log2) +
                                               " bytes on x86_64 (at most 2^4)");
    }
    // Atomic accesses of 16 bytes fault elsewhere.
    const unsigned least = slot.bytes != 0 && slot.bytes % 16 == 0 ? 4 : 3;
    const unsigned align_log2 = slot.align_log2 < least ? least : slot.align_log2;
    depth = base::align_up(depth + slot.bytes, std::uint64_t{1} << align_log2);
    if (depth > kMaxFrameBytes) break;
    out.stack_slots.push_back(-static_cast<std::int32_t>(depth));
  }
  depth = base::align_up(depth + func.outgoing_arg_bytes, 16);
  if (depth > kMaxFrameBytes) {
    return Error(ErrorKind::Limit, "stack frame of a function is larger than the limit of " +
                                       std::to_string(kMaxFrameBytes) + " bytes");
  }
  out.frame_bytes = static_cast<std::uint32_t>(depth);
  out.below_saved =
      out.frame_bytes - out.context_bytes - 8 * static_cast<std::uint32_t>(out.saved.size());
  out.has_frame = depth != 0 || needs_frame(func);
  return {};
}

void Emitter::emit_stack_check() {
  const bool leaf = !func_.has_calls;
  if (func_.stack_limit_offset < 0 || (leaf && frame_.frame_bytes <= kUncheckedFrameBytes)) return;
  const bool two_loads = func_.stack_limit_offset2 >= 0;
  const Mem first =
      Mem::at(static_cast<Gpr>(func_.stack_limit_base.number()), func_.stack_limit_offset);
  if (two_loads) enc_.rm(Op::MovRM, 8, Gpr::R11, first);
  const Mem limit = two_loads ? Mem::at(Gpr::R11, func_.stack_limit_offset2) : first;
  if (frame_.frame_bytes <= kUncheckedFrameBytes) {
    enc_.rm(Op::CmpRM, 8, Gpr::Rsp, limit);
  } else {
    // limit + frame against rsp; a limit so high that the sum wraps is one that nothing satisfies.
    enc_.rm(Op::MovRM, 8, Gpr::R11, limit);
    enc_.ri(Op::AddRI, 8, Gpr::R11, frame_.frame_bytes);
    trap_if(Cc::B, image::TrapCode::StackOverflow);
    enc_.rr(Op::CmpRR, 8, Gpr::Rsp, Gpr::R11);
  }
  trap_if(Cc::B, image::TrapCode::StackOverflow);
}

/// A large frame without a check touches each page, so that it meets the guard page of the stack.
void Emitter::emit_stack_probe() {
  constexpr std::uint32_t kPage = 4096;
  const Label again = buffer_.new_label();
  enc_.ri(Op::MovRI, 4, Gpr::R11, frame_.below_saved / kPage);
  buffer_.bind(again);
  enc_.ri(Op::SubRI, 8, Gpr::Rsp, kPage);
  enc_.mi(Op::OrMI, 4, Mem::at(Gpr::Rsp), 0);
  enc_.r(Op::DecR, 4, Gpr::R11);
  enc_.jcc(Cc::Ne, again);
  if (frame_.below_saved % kPage != 0) {
    enc_.ri(Op::SubRI, 8, Gpr::Rsp, frame_.below_saved % kPage);
  }
}

void Emitter::emit_prologue() {
  if (frame_.has_frame) {
    enc_.r(Op::PushR, 8, Gpr::Rbp);
    enc_.rr(Op::MovRR, 8, Gpr::Rbp, Gpr::Rsp);
    for (std::uint32_t n = 0; n < frame_.context_bytes; n += 8) enc_.r(Op::PushR, 8, Gpr::Rdi);
    // The check may trap: by then the registers are where the description of the frame says.
    for (const Gpr reg : frame_.saved) enc_.r(Op::PushR, 8, reg);
    emit_stack_check();
    if (func_.stack_limit_offset < 0 && frame_.below_saved > kUncheckedFrameBytes) {
      emit_stack_probe();
    } else if (frame_.below_saved != 0) {
      enc_.ri(Op::SubRI, 8, Gpr::Rsp, frame_.below_saved);
    }
    for (std::size_t i = 0; i < frame_.saved_xmm.size(); ++i) {
      enc_.mr(Op::MovupsMR, 0, Mem::at(Gpr::Rbp, saved_xmm_at(frame_, i)),
              Reg(static_cast<unsigned>(frame_.saved_xmm[i])));
    }
  }
  prologue_end_ = buffer_.new_label();
  buffer_.bind(prologue_end_);
}

void Emitter::emit_epilogue() {
  if (!frame_.has_frame) return;
  for (std::size_t i = 0; i < frame_.saved_xmm.size(); ++i) {
    enc_.rm(Op::MovupsRM, 0, Reg(static_cast<unsigned>(frame_.saved_xmm[i])),
            Mem::at(Gpr::Rbp, saved_xmm_at(frame_, i)));
  }
  if (frame_.saved.empty()) {
    if (frame_.frame_bytes != 0) {
      enc_.none(Op::Leave);
    } else {
      enc_.r(Op::PopR, 8, Gpr::Rbp);
    }
    mark(Mark::EpilogueBegin);
    return;
  }
  if (frame_.below_saved != 0) enc_.ri(Op::AddRI, 8, Gpr::Rsp, frame_.below_saved);
  for (std::size_t i = frame_.saved.size(); i-- != 0;) enc_.r(Op::PopR, 8, frame_.saved[i]);
  if (frame_.context_bytes != 0) {
    enc_.none(Op::Leave);
  } else {
    enc_.r(Op::PopR, 8, Gpr::Rbp);
  }
  mark(Mark::EpilogueBegin);
}

/// From [rsp] to [rbp + to], from the highest word down. Changes no register: all of them may hold
/// arguments.
void Emitter::move_arguments_up(std::int32_t bytes, std::int32_t to) {
  constexpr std::int32_t kUnrolledBytes = 128;
  if (bytes <= kUnrolledBytes) {
    for (std::int32_t word = bytes - 8; word >= 0; word -= 8) {
      enc_.m(Op::PushM, 8, Mem::at(Gpr::Rsp, word));
      enc_.m(Op::PopM, 8, Mem::at(Gpr::Rbp, to + word));
    }
    return;
  }
  // The conventions whose frames move have no arguments above xmm7.
  const Reg kept(static_cast<unsigned>(Xmm::Xmm14));
  const Label again = buffer_.new_label();
  enc_.rr(Op::MovqXR, 8, kept, Gpr::Rcx);
  enc_.ri(Op::MovRI, 4, Gpr::Rcx, bytes / 8);
  buffer_.bind(again);
  enc_.m(Op::PushM, 8, Mem::at(Gpr::Rsp, Gpr::Rcx, 3, -8));
  enc_.m(Op::PopM, 8, Mem::at(Gpr::Rbp, Gpr::Rcx, 3, to - 8));
  enc_.r(Op::DecR, 4, Gpr::Rcx);
  enc_.jcc(Cc::Ne, again);
  enc_.rr(Op::MovqRX, 8, Gpr::Rcx, kept);
}

/// A tail call whose arguments need another amount of stack than the function's own: return address
/// and caller's rbp move to where the callee's frame begins, the arguments with them, from the
/// highest down, since both are above the place they come from.
void Emitter::emit_tail_epilogue(const MachInst& inst) {
  if (inst.width == 0) return emit_epilogue();
  const auto bytes = static_cast<std::int32_t>(inst.imm);
  const std::int32_t up = static_cast<std::int32_t>(func_.popped_arg_bytes) - bytes;
  for (std::size_t i = 0; i < frame_.saved_xmm.size(); ++i) {
    enc_.rm(Op::MovupsRM, 0, Reg(static_cast<unsigned>(frame_.saved_xmm[i])),
            Mem::at(Gpr::Rbp, saved_xmm_at(frame_, i)));
  }
  std::int32_t at = -static_cast<std::int32_t>(frame_.context_bytes);
  for (const Gpr saved : frame_.saved) {
    at -= 8;
    enc_.rm(Op::MovRM, 8, saved, Mem::at(Gpr::Rbp, at));
  }
  const Reg scratch(kFloatScratch.number());
  enc_.rm(Op::MovupsRM, 0, scratch, Mem::at(Gpr::Rbp, 0));
  move_arguments_up(bytes, 16 + up);
  enc_.mr(Op::MovupsMR, 0, Mem::at(Gpr::Rbp, up), scratch);
  enc_.rm(Op::LeaRM, 8, Gpr::Rsp, Mem::at(Gpr::Rbp, up));
  enc_.r(Op::PopR, 8, Gpr::Rbp);
  mark(Mark::EpilogueBegin);
}

void Emitter::emit_return() {
  const std::uint32_t popped = func_.popped_arg_bytes;
  if (popped == 0) return enc_.none(Op::Ret);
  if (popped <= 0xffff) return enc_.i(Op::RetI, popped);
  enc_.r(Op::PopR, 8, Gpr::R11);
  enc_.ri(Op::AddRI, 8, Gpr::Rsp, popped);
  enc_.r(Op::JmpR, 8, Gpr::R11);
}

}  // namespace hoist::isa::x64
