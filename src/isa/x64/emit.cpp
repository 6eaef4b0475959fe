// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over the blocks, and the result.
#include "isa/x64/emit.hpp"

#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using codegen::CompiledCode;
using codegen::MachBlock;
using codegen::MachBlockData;

EmitScratch::EmitScratch() : state_(std::make_unique<State>()) {}
EmitScratch::~EmitScratch() = default;

Result<void> emit_function(const codegen::MachFunction& func, const codegen::Allocation& alloc,
                           EmitScratch& scratch, CompiledCode& out) {
  Emitter emitter(func, alloc, scratch.state());
  return emitter.run(out);
}

Result<void> Emitter::run(CompiledCode& out) {
  out.clear();
  buffer_.clear();
  state_.traps.clear();
  state_.cold.clear();
  state_.pool.clear();
  state_.calls.clear();
  HOIST_TRY_VOID(layout_frame(func_, alloc_, frame_));
  for (const codegen::MachFunction::PoolEntry& entry : func_.pool) {
    state_.pool.push_back(buffer_.add_constant({entry.bytes, entry.size}));
  }
  const auto count = static_cast<std::uint32_t>(func_.blocks.size());
  buffer_.make_labels(count);
  find_forwarded_blocks();
  emit_prologue();
  for (std::uint32_t b = 0; b < count;) {
    std::uint32_t next = b + 1;
    while (next < count && state_.forward[next].index() != next) ++next;
    next_label_ = next < count ? Label(next) : Label::none();
    emit_block(MachBlock(b));
    b = next;
  }
  emit_out_of_line();
  HOIST_TRY_VOID(buffer_.finish());
  fill(out);
  return {};
}

/// Nothing but a jump and no moves. Walks `next_move` past the block's moves.
bool Emitter::is_only_jump(MachBlock block, std::size_t& next_move) const {
  const MachBlockData& data = func_.blocks[block];
  const std::size_t first_move = next_move;
  while (next_move < alloc_.moves.size() && alloc_.moves[next_move].before < data.end_inst) {
    ++next_move;
  }
  return next_move == first_move && data.end_inst == data.first_inst + 1 &&
         func_.insts[data.first_inst].op == raw(Pseudo::Jump);
}

/// `forward[b]` is where a jump to b may go at once: b itself if it is emitted. A block that jumps
/// backwards to another such block stays, so that the relation has no cycle.
void Emitter::find_forwarded_blocks() {
  const auto count = static_cast<std::uint32_t>(func_.blocks.size());
  std::vector<MachBlock>& forward = state_.forward;
  forward.resize(count);
  std::size_t next_move = 0;
  for (std::uint32_t b = 0; b < count; ++b) {
    // First only: none for a block that is nothing but a jump.
    forward[b] = is_only_jump(MachBlock(b), next_move) && b != 0 ? MachBlock::none() : MachBlock(b);
  }
  for (std::uint32_t b = count; b-- != 0;) {
    if (forward[b].is_some()) continue;
    const MachBlock target = func_.succs_of(func_.blocks[MachBlock(b)])[0].target;
    if (target.index() > b) {
      forward[b] = forward[target.index()];
    } else {
      forward[b] = forward[target.index()].is_some() ? target : MachBlock(b);
    }
  }
}

void Emitter::emit_moves_before(std::uint32_t inst) {
  const std::vector<codegen::AllocMove>& moves = alloc_.moves;
  for (; next_move_ < moves.size() && moves[next_move_].before <= inst; ++next_move_) {
    emit_move(moves[next_move_]);
  }
}

void Emitter::emit_block(MachBlock block) {
  block_ = block;
  const MachBlockData& data = func_.blocks[block];
  buffer_.bind(Label(block.index()));
  for (std::uint32_t i = data.first_inst; i < data.end_inst; ++i) {
    loc_ = func_.locs[i];
    buffer_.add_source(loc_.bits);
    next_inst_ = i;
    emit_moves_before(i);
    next_inst_ = i + 1;
    const Allocs ops = allocs_of(func_.insts[i]);
    // A value that is made again wherever it is needed has no register of its own.
    if ((func_.insts[i].flags & codegen::kRemat) != 0 && ops.size() == 1 &&
        ops[0].kind == codegen::Alloc::Kind::None) {
      continue;
    }
    emit_inst(i, ops);
  }
}

void Emitter::emit_inst(std::uint32_t index, Allocs ops) {
  const MachInst& inst = func_.insts[index];
  if (is_pseudo(inst.op)) {
    emit_pseudo(index, inst, ops);
  } else {
    emit_plain(inst, ops);
  }
}

void Emitter::emit_out_of_line() {
  // Cold parts may ask for traps, not for more cold parts.
  for (const ColdPart& part : state_.cold) {
    const MachInst& inst = func_.insts[part.inst];
    loc_ = func_.locs[part.inst];
    buffer_.add_source(loc_.bits);
    buffer_.bind(part.entry);
    const auto kind = static_cast<Pseudo>(inst.op);
    if (kind == Pseudo::Srem) {
      emit_remainder_cold(part);
    } else if (kind == Pseudo::FMinMax) {
      emit_fminmax_cold(part);
    } else if (kind == Pseudo::U64ToFloat) {
      emit_u64_to_float_cold(part);
    } else {
      emit_trunc_cold(part, kind);
    }
  }
  for (const OutOfLineTrap& trap : state_.traps) {
    buffer_.add_source(trap.loc.bits);
    buffer_.bind(trap.label);
    trap_here(trap.code);
  }
}

static CompiledCode::RelocKind reloc_kind(masm::RelocKind kind) {
  switch (kind) {
    case masm::RelocKind::PcRel32: return CompiledCode::RelocKind::PcRel32;
    case masm::RelocKind::Abs64: return CompiledCode::RelocKind::Abs64;
    case masm::RelocKind::TlsIndex32: return CompiledCode::RelocKind::TlsIndex32;
  }
  HOIST_UNREACHABLE("a kind of relocation");
}

void Emitter::fill(CompiledCode& out) const {
  const std::span<const std::uint8_t> bytes = buffer_.bytes();
  out.bytes.assign(bytes.begin(), bytes.end());
  out.code_size = buffer_.code_size();
  out.align = buffer_.alignment();
  out.prologue_end = buffer_.label_offset(prologue_end_);
  out.frame_bytes = frame_.frame_bytes;
  out.has_frame = frame_.has_frame;
  out.symbols.assign(func_.symbols.begin(), func_.symbols.end());
  for (const masm::Reloc& reloc : buffer_.relocs()) {
    out.relocs.push_back(
        {reloc.offset, reloc_kind(reloc.kind), reloc.symbol.index(), reloc.addend});
  }
  for (const masm::TrapRecord& trap : buffer_.traps()) {
    out.traps.push_back({trap.offset, static_cast<image::TrapCode>(trap.code)});
  }
  for (const masm::SourceRecord& source : buffer_.sources()) {
    out.locs.push_back({source.offset, source.loc});
  }
  fill_tables(out);
}

}  // namespace hoist::isa::x64
