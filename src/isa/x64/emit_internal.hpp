// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Emitter: the state of emitting one function, shared by the emit_*.cpp files.

#include <span>
#include <vector>

#include "asm/x64/encoder.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "isa/x64/abi.hpp"
#include "isa/x64/emit.hpp"
#include "isa/x64/emit_frame.hpp"
#include "isa/x64/pseudo.hpp"

namespace hoist::isa::x64 {

using codegen::Alloc;
using codegen::MachInst;
using masm::Label;
using masm::x64::Cc;
using masm::x64::Mem;
using masm::x64::Reg;

/// A part of instruction `inst` that follows the last block.
struct ColdPart {
  std::uint32_t inst;
  Label entry;
  Label resume;
};

struct OutOfLineTrap {
  Label label;
  image::TrapCode code;
  ir::SourceLoc loc;
};

/// What a record of the code buffer's list of calls says; `data` is the mark plus 4 times a number:
/// of calls one more than that in EmitScratch::State::calls (0: no note), of sequence points that
/// of the note plus 1.
enum class Mark : std::uint8_t { Call, SequencePoint, EpilogueBegin, EpilogueEnd };

/// A call with a note.
struct NotedCall {
  std::uint32_t inst;
  codegen::MachBlock block;
};

struct EmitScratch::State {
  masm::CodeBuffer buffer;
  FrameLayout frame;
  std::vector<codegen::MachBlock> forward;
  std::vector<masm::Constant> pool;
  std::vector<OutOfLineTrap> traps;
  std::vector<ColdPart> cold;
  std::vector<Label> table_targets;
  std::vector<NotedCall> calls;
  std::vector<EpilogueRange> epilogues;
};

class Emitter {
 public:
  Emitter(const codegen::MachFunction& func, const codegen::Allocation& alloc,
          EmitScratch::State& state)
      : func_(func),
        alloc_(alloc),
        state_(state),
        buffer_(state.buffer),
        frame_(state.frame),
        enc_(state.buffer) {}

  Result<void> run(codegen::CompiledCode& out);

 private:
  using Op = masm::x64::Op;
  using Allocs = std::span<const Alloc>;

  // emit.cpp
  void find_forwarded_blocks();
  bool is_only_jump(codegen::MachBlock block, std::size_t& next_move) const;
  void emit_block(codegen::MachBlock block);
  void emit_moves_before(std::uint32_t inst);
  void emit_inst(std::uint32_t index, Allocs ops);
  void emit_out_of_line();
  void fill(codegen::CompiledCode& out) const;

  // emit_tables.cpp
  void mark(Mark kind, std::uint32_t number = 0) {
    buffer_.add_call(number << 2 | static_cast<std::uint32_t>(kind));
  }
  void record_call(const MachInst& inst);
  void fill_tables(codegen::CompiledCode& out) const;
  void fill_slots(codegen::CompiledCode& out) const;
  void fill_call(std::uint32_t return_offset, const NotedCall& call,
                 codegen::CompiledCode& out) const;
  void fill_tags(const codegen::CallNote& note, std::uint32_t offset, bool before,
                 codegen::CompiledCode& out) const;
  void fill_handlers(const codegen::CallNote& note, const NotedCall& call,
                     codegen::CompiledCode& out) const;

  // emit_move.cpp
  void emit_move(const codegen::AllocMove& move);
  void emit_remat(const codegen::AllocMove& move);
  void emit_exchange(const codegen::AllocMove& move);
  Mem slot_mem(Alloc slot) const {
    return Mem::at(Gpr::Rbp, frame_.spill_base + 8 * std::int32_t{slot.slot});
  }

  // emit_plain.cpp
  void emit_plain(const MachInst& inst, Allocs ops);
  void emit_with_slot(const MachInst& inst, const unsigned* at, Allocs ops);
  void emit_through_scratch(const MachInst& inst, unsigned operand, Allocs ops);
  void emit_mov_immediate(const MachInst& inst, Reg dst);
  void emit_call(const MachInst& inst, Allocs ops);
  Mem mem_of(const MachInst& inst, Allocs ops) const;
  bool flags_are_dead() const;
  /// Does the value fill a spill slot of 16 bytes?
  bool is_wide(codegen::VReg v) const {
    return v.index() < func_.vregs.size() && func_.vregs[v].bytes == 16;
  }

  // emit_frame.cpp
  void emit_prologue();
  void emit_stack_check();
  void emit_stack_probe();
  void emit_epilogue();
  void emit_tail_epilogue(const MachInst& inst);
  void move_arguments_up(std::int32_t bytes, std::int32_t to);
  void emit_return();
  void end_epilogue() {
    if (frame_.has_frame) mark(Mark::EpilogueEnd);
  }

  // emit_control.cpp
  void emit_pseudo(std::uint32_t index, const MachInst& inst, Allocs ops);
  void emit_branch(Cc cc);
  void emit_branch_fne();
  void emit_jump_table(const MachInst& inst, Allocs ops);
  void emit_stack_switch();
  void emit_tls_address(const MachInst& inst);
  void emit_copy_block(const MachInst& inst, Allocs ops);
  void trap_if(Cc cc, image::TrapCode code);
  /// A label of an out-of-line ud2 with `code` at the current source location.
  Label trap_label(image::TrapCode code);
  void trap_here(image::TrapCode code);
  void jump_to(Label target) { enc_.jmp(target); }
  Label block_label(codegen::MachBlock block) const {
    return Label(state_.forward[block.index()].index());
  }
  Label successor(std::uint32_t number) const;
  bool is_next(Label label) const { return label == next_label_; }
  /// Starts a cold part of instruction `index` and returns it; `bind_resume` ends the hot part.
  Label begin_cold(std::uint32_t index);
  void bind_resume();

  // emit_int.cpp
  void emit_add_regs(const MachInst& inst, Allocs ops);
  void emit_add_imm(const MachInst& inst, Allocs ops);
  void emit_shl_small(const MachInst& inst, Allocs ops);
  void emit_division(std::uint32_t index, const MachInst& inst, Allocs ops, Pseudo kind);
  void emit_remainder_cold(const ColdPart& part);

  // emit_atomic.cpp
  void mark_trap(const MachInst& inst);
  void emit_atomic_loop(const MachInst& inst, Allocs ops);
  void emit_atomic_loop_16(const MachInst& inst, Allocs ops);

  // emit_float.cpp: bytes of the float in `float_bytes`
  void emit_fselect(const MachInst& inst, Allocs ops);
  void emit_fminmax(std::uint32_t index, const MachInst& inst, Allocs ops);
  void emit_fminmax_cold(const ColdPart& part);
  void emit_int_to_float(const MachInst& inst, Allocs ops);
  void emit_u64_to_float(std::uint32_t index, const MachInst& inst, Allocs ops);
  void emit_u64_to_float_cold(const ColdPart& part);

  // emit_trunc.cpp
  void emit_trunc(std::uint32_t index, const MachInst& inst, Allocs ops, Pseudo kind);
  void emit_trunc_cold(const ColdPart& part, Pseudo kind);
  void emit_trunc_s_cold(const ColdPart& part, const MachInst& inst, Allocs ops);
  void emit_trunc_sat_s_cold(const ColdPart& part, const MachInst& inst, Allocs ops);
  void emit_trunc_bad(const ColdPart& part, unsigned float_bytes, Reg dst, Reg x, bool saturate,
                      unsigned width);
  Mem float_constant(unsigned float_bytes, double value);

  const MachInst& inst_at(std::uint32_t index) const { return func_.insts[index]; }
  Allocs allocs_of(const MachInst& inst) const {
    return Allocs(alloc_.allocs).subspan(inst.first_operand, inst.operand_count);
  }
  /// The register of an operand that constraints keep out of spill slots.
  static Reg reg(Alloc alloc) {
    HOIST_DCHECK(alloc.is_reg(), "the operand is in a register");
    return Reg(alloc.reg.number());
  }

  const codegen::MachFunction& func_;
  const codegen::Allocation& alloc_;
  EmitScratch::State& state_;
  masm::CodeBuffer& buffer_;
  FrameLayout& frame_;
  masm::x64::Encoder enc_;
  std::size_t next_move_ = 0;
  codegen::MachBlock block_;     ///< being emitted
  std::uint32_t next_inst_ = 0;  ///< the instruction that runs after what is being emitted
  Label next_label_;             ///< of the block that is emitted next; none at the end
  Label prologue_end_;
  ir::SourceLoc loc_;
};

/// Instruction forms of the float width.
struct FloatOps {
  masm::x64::Op ucomis_rr, ucomis_rm, add_rr, sub_rm, min_rr, max_rr, cvt_si_rr, cvt_si_rm,
      cvt_to_si_rr;
};
const FloatOps& float_ops(unsigned float_bytes);

}  // namespace hoist::isa::x64
