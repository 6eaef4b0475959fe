// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See resolve.hpp.

#include "codegen/regalloc/resolve.hpp"

#include <algorithm>
#include <bit>

namespace hoist::codegen {

Result<void> Resolver::run(const MachFunction& func, const RegisterFile& regs, const Flow* flow,
                           const Liveness* live, const ScanResult& scan, ValueTable& values,
                           std::uint32_t slots, Allocation& out) {
  func_ = &func;
  flow_ = flow;
  live_ = live;
  scan_ = &scan;
  values_ = &values;
  out_ = &out;
  written_ = {scan.used};
  temp8_ = temp16_ = false;
  exits_.assign(values.size(), Exit{});
  stamp_ = 0;
  const std::uint32_t temp16 = (slots + 1) & ~std::uint32_t{1};
  temp8_place_ = kFirstSlotPlace + temp16 + 2;
  parallel_.start(kFirstSlotPlace + temp16 + 3, regs.float_scratch, temp8_place_,
                  kFirstSlotPlace + temp16);
  scratch_ = regs.float_scratch.index;
  callee_saved_ = regs.callee_saved;
  int_regs_ = {};
  for (const PReg reg : regs.int_order) int_regs_.add(reg);
  to_slots_.clear();
  choose_stores();
  collect_def_stores();
  for (const std::uint32_t number : scan.slot_operands) {
    const ValueInfo& value = values[func.operands[number].vreg.index()];
    out.allocs[number] = Alloc::of_slot(static_cast<std::uint16_t>(value.slot));
  }
  for (std::uint32_t b = 0; b < func.blocks.size(); ++b) emit_block(b);
  out.spill_slots = temp8_ ? temp16 + 3 : temp16_ ? temp16 + 2 : slots;
  out.used = written_;
  if (out.spill_slots <= 65'535) return {};
  return Error(ErrorKind::Limit, "the function needs more than 65,535 spill slots");
}

void Resolver::choose_stores() {
  for (ValueInfo& value : *values_) {
    if (!value.in_memory || value.store_at_def) continue;
    if (value.def_inst == kNoInst && value.def_reg == kNoReg) continue;  // edges write the slot
    value.store_at_def = flow_ == nullptr || value.store_weight > flow_->frequency(value.def_block);
  }
}

void Resolver::collect_def_stores() {
  def_stores_.clear();
  next_def_store_ = 0;
  for (std::uint32_t v = 0; v < values_->size(); ++v) {
    const ValueInfo& value = (*values_)[v];
    if (!value.in_memory || !value.store_at_def) continue;
    const MachBlockData& block = func_->blocks[MachBlock(value.def_block)];
    if (value.def_inst == kNoInst) {
      def_stores_.push_back({block.first_inst, v});
    } else if (value.def_inst + 1 < block.end_inst) {
      def_stores_.push_back({value.def_inst + 1, v});
    } else {
      // Defined by the terminator: every successor has this block as its only predecessor.
      for (const MachEdge& edge : func_->succs_of(block)) {
        def_stores_.push_back({func_->blocks[edge.target].first_inst, v});
      }
    }
  }
  std::sort(def_stores_.begin(), def_stores_.end(), [](const DefStore& a, const DefStore& b) {
    return a.before != b.before ? a.before < b.before : a.vreg < b.vreg;
  });
}

// What the scan put into the block with the stores after definitions, then the copies of the edge
// out of the block. Edges out of blocks with several successors need none: their targets inherit
// the state.
void Resolver::emit_block(std::uint32_t b) {
  const MachBlockData& block = func_->blocks[MachBlock(b)];
  const ScanResult::Block& record = scan_->blocks[b];
  std::uint32_t next = record.move_first;
  const auto scan_moves_before = [&](std::uint32_t inst) {
    for (; next < record.move_end && scan_->moves[next].before < inst; ++next) {
      emit_scan_move(scan_->moves[next]);
    }
  };
  for (;
       next_def_store_ < def_stores_.size() && def_stores_[next_def_store_].before < block.end_inst;
       ++next_def_store_) {
    scan_moves_before(def_stores_[next_def_store_].before);
    emit_def_store(def_stores_[next_def_store_]);
  }
  scan_moves_before(block.end_inst);
  if (block.succ_count != 1) return;
  const MachEdge& data = func_->succs_of(block)[0];
  if (!scan_->blocks[data.target.index()].inherits) {
    edge(b, data.target.index(), data, block.end_inst - 1);
  }
}

void Resolver::append(const ParallelMoves::Move& move, std::uint32_t before) {
  const auto place = [](std::uint32_t p) {
    if (p == kNoPlace) return Alloc{};
    return p < kFirstSlotPlace ? Alloc::of(PReg{static_cast<std::uint8_t>(p)})
                               : Alloc::of_slot(static_cast<std::uint16_t>(p - kFirstSlotPlace));
  };
  AllocMove& result = out_->moves.emplace_back();
  result.before = before;
  result.from = place(move.from);
  result.to = place(move.to);
  result.remat_inst = move.remat;
  result.cls = move.cls;
  result.bytes = move.bytes;
  result.kind = move.kind;
  if (result.to.is_reg()) written_.add(result.to.reg);
  if (move.kind == AllocMove::Kind::Exchange) written_.add(result.from.reg);
}

void Resolver::emit_scan_move(const ScanResult::Move& move) {
  const ValueInfo& value = (*values_)[move.vreg];
  switch (move.kind) {
    case ScanResult::Kind::Copy:
    case ScanResult::Kind::Exchange:
      append(
          {move.to, move.from, kNoInst, value.cls, value.bytes,
           move.kind == ScanResult::Kind::Copy ? AllocMove::Kind::Copy : AllocMove::Kind::Exchange},
          move.before);
      break;
    case ScanResult::Kind::Store:
      if (value.store_at_def) break;
      append({slot_place(move.vreg), move.from, kNoInst, value.cls, value.bytes}, move.before);
      break;
    case ScanResult::Kind::Load:
      if (value.remat) {
        append({move.to, kNoPlace, value.def_inst, value.cls, value.bytes}, move.before);
      } else {
        append({move.to, slot_place(move.vreg), kNoInst, value.cls, value.bytes}, move.before);
      }
      break;
  }
}

void Resolver::emit_def_store(const DefStore& store) {
  const ValueInfo& value = (*values_)[store.vreg];
  append({slot_place(store.vreg), value.def_reg, kNoInst, value.cls, value.bytes}, store.before);
}

void Resolver::add_load(std::uint32_t v, std::uint32_t to) {
  const ValueInfo& value = (*values_)[v];
  const Exit& exit = exits_[v];
  if (exit.stamp == stamp_) {
    parallel_.add({to, exit.reg, kNoInst, value.cls, value.bytes});
  } else if (value.remat && to >= kFirstSlotPlace) {
    to_slots_.push_back({to, kNoPlace, value.def_inst, value.cls, value.bytes});
  } else if (value.remat) {
    parallel_.add({to, kNoPlace, value.def_inst, value.cls, value.bytes});
  } else {
    parallel_.add({to, slot_place(v), kNoInst, value.cls, value.bytes});
  }
}

void Resolver::edge(std::uint32_t pred, std::uint32_t succ, const MachEdge& data,
                    std::uint32_t before) {
  ++stamp_;
  for (const ScanResult::Entry& entry : scan_->exit(pred)) {
    exits_[entry.vreg] = {stamp_, entry.reg, false};
  }
  const MachBlockData& target = func_->blocks[MachBlock(succ)];
  for (const ScanResult::Entry& entry : scan_->entry(succ)) {
    const ValueInfo& value = (*values_)[entry.vreg];
    if (value.def_block == succ && value.def_inst == kNoInst) continue;  // a parameter
    add_load(entry.vreg, entry.reg);
    exits_[entry.vreg].kept = true;
  }
  if (live_ != nullptr) {
    for (const ScanResult::Entry& entry : scan_->exit(pred)) {
      const ValueInfo& value = (*values_)[entry.vreg];
      if (exits_[entry.vreg].kept || entry.stored || !value.in_memory || value.store_at_def)
        continue;
      if (!live_->live_in(succ, value)) continue;
      parallel_.add({slot_place(entry.vreg), entry.reg, kNoInst, value.cls, value.bytes});
    }
  }
  const auto args = func_->args_of(data);
  const auto params = func_->params_of(target);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ValueInfo& param = (*values_)[params[i].index()];
    if (param.def_reg != kNoReg) {
      add_load(args[i].index(), param.def_reg);
    } else if (param.in_memory) {
      add_load(args[i].index(), slot_place(params[i].index()));
    }
  }
  for (const ParallelMoves::Move& step : parallel_.resolve()) append(step, before);
  remat_to_slots(succ, before);
  temp8_ = temp8_ || parallel_.used_temp8();
  temp16_ = temp16_ || parallel_.used_temp16();
}

// Values to be made again in a slot, after the other copies of the edge: through a register that
// the successor does not expect anything in, or else one that is saved meanwhile.
void Resolver::remat_to_slots(std::uint32_t succ, std::uint32_t before) {
  for (const ParallelMoves::Move& move : to_slots_) {
    std::uint32_t through = scratch_;
    bool save = false;
    if (move.cls == RegClass::Int) {
      RegMask taken;
      for (const ScanResult::Entry& entry : scan_->entry(succ)) taken.add(PReg{entry.reg});
      const RegMask free = int_regs_ & ~taken;
      const RegMask cheap = free & (written_ | ~callee_saved_);
      save = free.bits == 0;
      const std::uint64_t from = save ? int_regs_.bits : cheap.bits != 0 ? cheap.bits : free.bits;
      through = static_cast<std::uint32_t>(std::countr_zero(from));
    }
    if (save) append({temp8_place_, through, kNoInst, move.cls, move.bytes}, before);
    append({through, kNoPlace, move.remat, move.cls, move.bytes}, before);
    append({move.to, through, kNoInst, move.cls, move.bytes}, before);
    if (save) append({through, temp8_place_, kNoInst, move.cls, move.bytes}, before);
    temp8_ = temp8_ || save;
  }
  to_slots_.clear();
}

}  // namespace hoist::codegen
