// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scan at block borders: which values are in which registers where a block begins. See
// scan.hpp.

#include <algorithm>
#include <bit>

#include "codegen/regalloc/scan.hpp"

namespace hoist::codegen {

namespace {
/// A jump table may lead to one block several times.
bool same_pred(std::span<const MachBlock> preds) {
  return std::all_of(preds.begin(), preds.end(), [&](MachBlock p) { return p == preds[0]; });
}
}  // namespace

void Scan::enter(std::uint32_t block) {
  for (std::uint64_t regs = occupied_; regs != 0; regs &= regs - 1) {
    current_[content_[std::countr_zero(regs)]].home = kNoReg;
  }
  occupied_ = 0;
  pinned_ = early_ = 0;
  const MachBlockData& data = func_->blocks[MachBlock(block)];
  const auto preds = func_->preds_of(data);
  if (simple() || preds.empty()) {
    enter_empty(block);
  } else if (data.param_count == 0 && same_pred(preds)) {
    enter_inherited(block, preds[0].index());
  } else {
    enter_joined(block);
  }
  result_.blocks[block].done = true;
}

void Scan::enter_empty(std::uint32_t block) {
  const MachBlockData& data = func_->blocks[MachBlock(block)];
  for (std::uint32_t p = 0; p < data.param_count; ++p) {
    ValueInfo& value = (*values_)[func_->block_params[data.first_param + p].index()];
    value.in_memory = notes_->param_next(data.first_param + p) != kDead;
    value.def_reg = kNoReg;
  }
  record_entry(block);
}

void Scan::enter_inherited(std::uint32_t block, std::uint32_t pred) {
  for (const ScanResult::Entry& entry : result_.exit(pred)) {
    if (!live_->live_in(block, (*values_)[entry.vreg])) continue;
    set_home(entry.vreg, entry.reg);
    current_[entry.vreg].stored = entry.stored;
    current_[entry.vreg].next = kFar;
  }
  for (const Liveness::Distance& entry : live_->nearest(block)) {
    current_[entry.vreg].next = add_distance(inst_, entry.distance);
  }
  result_.blocks[block].inherits = true;
}

void Scan::enter_joined(std::uint32_t block) {
  collect(block);
  drop_unneeded(block);
  limit_to_registers();
  if (flow_->is_header(block)) place_in_loop(block);
  place_candidates(block);
  record_entry(block);
  for (const MachBlock pred : func_->preds_of(func_->blocks[MachBlock(block)])) {
    if (result_.blocks[pred.index()].done) account_edge(pred.index(), block);
  }
}

// What the predecessors have in registers, what the loop wants, and the parameters.
void Scan::collect(std::uint32_t block) {
  candidates_.clear();
  ++border_epoch_;
  total_weight_ = 0;
  std::uint32_t main_pred = Flow::kNone;
  const auto preds = func_->preds_of(func_->blocks[MachBlock(block)]);
  bool all_done = true;
  for (const MachBlock pred : preds) {
    const std::uint32_t p = pred.index();
    if (!result_.blocks[p].done) {
      all_done = false;
      continue;
    }
    total_weight_ += flow_->frequency(p);
    if (main_pred == Flow::kNone || flow_->frequency(p) > flow_->frequency(main_pred))
      main_pred = p;
  }
  // A predecessor that comes later may reach a block that it is not dominated by only in an
  // irreducible function: then nothing is known about what it has stored.
  const bool stored_known = all_done || !flow_->irreducible();
  for (const MachBlock pred : preds) {
    const std::uint32_t p = pred.index();
    if (!result_.blocks[p].done) continue;
    for (const ScanResult::Entry& entry : result_.exit(p)) {
      if (!live_->live_in(block, (*values_)[entry.vreg])) continue;
      Mark& mark = border_marks_[entry.vreg];
      if (mark.stamp != border_epoch_) {
        mark = {border_epoch_, static_cast<std::uint32_t>(candidates_.size())};
        candidates_.push_back({entry.vreg, 0, kFar, entry.reg, stored_known, false, false});
      }
      Candidate& candidate = candidates_[mark.index];
      candidate.weight += flow_->frequency(p);
      candidate.stored = candidate.stored && entry.stored;
      if (p == main_pred) candidate.reg = entry.reg;
    }
  }
  const bool header = flow_->is_header(block);
  for (const Liveness::Distance& entry : live_->nearest(block)) {
    Mark& mark = border_marks_[entry.vreg];
    if (mark.stamp == border_epoch_) {
      candidates_[mark.index].distance = entry.distance;
    } else if (header && entry.distance < kUnneeded) {
      mark = {border_epoch_, static_cast<std::uint32_t>(candidates_.size())};
      candidates_.push_back({entry.vreg, 0, entry.distance, kNoReg, stored_known, false, false});
    }
  }
  collect_params(block, main_pred);
}

void Scan::collect_params(std::uint32_t block, std::uint32_t main_pred) {
  const MachBlockData& data = func_->blocks[MachBlock(block)];
  if (data.param_count == 0) return;
  std::span<const VReg> args;
  if (main_pred != Flow::kNone) {
    for (const MachEdge& edge : func_->succs_of(func_->blocks[MachBlock(main_pred)])) {
      if (edge.target.index() == block) args = func_->args_of(edge);
    }
    ++epoch_;
    for (const ScanResult::Entry& entry : result_.exit(main_pred)) {
      current_[entry.vreg].source = entry.reg;
      current_[entry.vreg].stamp = epoch_;
    }
  }
  for (std::uint32_t p = 0; p < data.param_count; ++p) {
    const std::uint32_t next = notes_->param_next(data.first_param + p);
    if (next == kDead) continue;
    const std::uint32_t v = func_->block_params[data.first_param + p].index();
    std::uint8_t reg = kNoReg;
    if (p < args.size() && current_[args[p].index()].stamp == epoch_) {
      reg = current_[args[p].index()].source;
    }
    border_marks_[v] = {border_epoch_, static_cast<std::uint32_t>(candidates_.size())};
    candidates_.push_back(
        {v, total_weight_, next >= kFar ? kFar : next - data.first_inst, reg, false, true, false});
  }
}

// Not worth a register here: what most paths have in memory, and in a loop with too few registers
// for its body what the body does not use.
void Scan::drop_unneeded(std::uint32_t block) {
  const bool header = flow_->is_header(block);
  std::uint32_t excess[2] = {0, 0};
  std::uint32_t excess_cross[2] = {0, 0};
  if (header) {
    const Annotations::LoopNeeds& needs = notes_->needs(flow_->loop_of(block));
    std::uint32_t kept[2] = {0, 0};
    for (const Candidate& candidate : candidates_) {
      if (!candidate.param) ++kept[static_cast<std::size_t>((*values_)[candidate.vreg].cls)];
    }
    for (std::size_t c = 0; c < 2; ++c) {
      const auto cls = static_cast<RegClass>(c);
      const std::uint32_t in_memory =
          live_->count_live_in(block, cls) - std::min(kept[c], live_->count_live_in(block, cls));
      const auto room = [&](std::uint64_t regs, std::uint32_t wanted) {
        const auto have = static_cast<std::uint32_t>(std::popcount(regs));
        return wanted > have + in_memory ? wanted - have - in_memory : 0;
      };
      excess[c] = room(class_regs_[c], needs.max_live[c]);
      excess_cross[c] = room(class_regs_[c] & ~needs.clobbered.bits, needs.max_cross[c]);
    }
  }
  sorted_.assign(candidates_.begin(), candidates_.end());
  std::sort(sorted_.begin(), sorted_.end(), [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.vreg < b.vreg;
  });
  candidates_.clear();
  // From the farthest to the nearest, so that the farthest are dropped first.
  for (std::size_t i = sorted_.size(); i-- > 0;) {
    const Candidate& candidate = sorted_[i];
    const auto c = static_cast<std::size_t>((*values_)[candidate.vreg].cls);
    const bool needed = candidate.distance < kUnneeded;
    bool keep = true;
    if (!candidate.param) {
      if (header) {
        keep =
            needed || (candidate.weight == total_weight_ && excess[c] == 0 && excess_cross[c] == 0);
      } else {
        keep = candidate.weight == total_weight_ ||
               (needed && candidate.weight >= total_weight_ - candidate.weight);
      }
    }
    if (keep) {
      candidates_.push_back(candidate);
    } else {
      if (excess[c] > 0) --excess[c];
      if (excess_cross[c] > 0) --excess_cross[c];
    }
  }
  std::reverse(candidates_.begin(), candidates_.end());
}

// `candidates_` is sorted, nearest use first.
void Scan::limit_to_registers() {
  std::uint32_t room[2] = {order_count_[0], order_count_[1]};
  std::size_t kept = 0;
  for (const Candidate& candidate : candidates_) {
    std::uint32_t& left = room[static_cast<std::size_t>((*values_)[candidate.vreg].cls)];
    if (left == 0) continue;
    --left;
    candidates_[kept++] = candidate;
  }
  candidates_.resize(kept);
}

// In a loop the most used values come first and get registers that nothing in the loop needs for
// itself. A value that is in a register which calls clobber does not enter the loop in it unless it
// is used before a call.
void Scan::place_in_loop(std::uint32_t block) {
  const Annotations::LoopNeeds& needs = notes_->needs(flow_->loop_of(block));
  const std::uint64_t busy = needs.busy.bits;
  if (busy == 0) return;
  const std::uint64_t clobbered = needs.clobbered.bits;
  std::uint64_t claimed = 0;
  sorted_.clear();
  for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
    sorted_.push_back(candidates_[i]);
    sorted_.back().weight = i;  // where it is
  }
  std::sort(sorted_.begin(), sorted_.end(), [&](const Candidate& a, const Candidate& b) {
    const bool needed = a.distance < kUnneeded;
    if (needed != (b.distance < kUnneeded)) return needed;
    const std::uint32_t wa = (*values_)[a.vreg].use_weight;
    const std::uint32_t wb = (*values_)[b.vreg].use_weight;
    return wa != wb ? wa > wb : a.vreg < b.vreg;
  });
  const std::uint32_t call_distance = live_->call_distance(block);
  for (const Candidate& entry : sorted_) {
    Candidate& candidate = candidates_[entry.weight];
    const ValueInfo& value = (*values_)[candidate.vreg];
    const bool crosses = !candidate.param || value.cross_weight != 0;
    const std::uint64_t avoid = crosses ? busy : busy & ~clobbered;
    std::uint64_t free = class_of(candidate.vreg) & ~claimed & ~avoid;
    if (crosses && !worth_callee_saved(candidate.vreg)) free &= ~(callee_saved_ & ~used_);
    if (free == 0) {
      const bool lost = !candidate.param && candidate.distance >= call_distance &&
                        (class_of(candidate.vreg) & ~claimed & ~clobbered) == 0;
      if (lost) candidate.distance = kDead;
      continue;
    }
    const std::uint64_t used_saved = free & callee_saved_ & used_;
    const unsigned wish = wished_register(candidate.vreg);
    unsigned reg = candidate.reg;
    if (reg == kNoReg || (free & bit(reg)) == 0) reg = wish;
    if (reg == kNoReg || (free & bit(reg)) == 0) {
      reg = first_in_order(!crosses || clobbered == 0 || used_saved == 0 ? free : used_saved);
    }
    claimed |= bit(reg);
    candidate.reg = static_cast<std::uint8_t>(reg);
    candidate.placed = true;
  }
}

// Gives registers to the candidates and fills the register file.
void Scan::place_candidates(std::uint32_t block) {
  const auto settle = [&](Candidate& candidate, unsigned reg) {
    set_home(candidate.vreg, reg);
    Current& now = current_[candidate.vreg];
    now.stored = candidate.stored;
    now.next = add_distance(inst_, candidate.distance);
    candidate.placed = true;
    candidate.reg = static_cast<std::uint8_t>(reg);
  };
  for (Candidate& candidate : candidates_) {
    if (candidate.placed) settle(candidate, candidate.reg);
  }
  const auto open = [](const Candidate& c) { return !c.placed && c.distance != kDead; };
  for (Candidate& candidate : candidates_) {
    if (!open(candidate) || candidate.param || candidate.reg == kNoReg) continue;
    if ((occupied_ & bit(candidate.reg)) == 0) settle(candidate, candidate.reg);
  }
  const std::uint64_t busy =
      flow_->is_header(block) ? notes_->needs(flow_->loop_of(block)).busy.bits : 0;
  for (Candidate& candidate : candidates_) {
    if (!open(candidate)) continue;
    const std::uint64_t free = class_of(candidate.vreg) & ~occupied_;
    if (free == 0) continue;  // a register outside of the class is in the way
    const ValueInfo& value = (*values_)[candidate.vreg];
    const std::uint32_t horizon = value.def_block == block ? value.local_end : end_;
    settle(candidate, pick(candidate.vreg, free, horizon, candidate.reg, busy));
  }
  const MachBlockData& data = func_->blocks[MachBlock(block)];
  for (std::uint32_t p = 0; p < data.param_count; ++p) {
    const std::uint32_t v = func_->block_params[data.first_param + p].index();
    ValueInfo& value = (*values_)[v];
    value.def_reg = current_[v].home;
    value.in_memory = value.def_reg == kNoReg && notes_->param_next(data.first_param + p) != kDead;
  }
}

void Scan::record_entry(std::uint32_t block) {
  ScanResult::Block& record = result_.blocks[block];
  record.entry_first = static_cast<std::uint32_t>(result_.entries.size());
  for (std::uint64_t regs = occupied_; regs != 0; regs &= regs - 1) {
    const auto reg = static_cast<unsigned>(std::countr_zero(regs));
    const std::uint32_t v = content_[reg];
    result_.entries.push_back({v, static_cast<std::uint8_t>(reg), current_[v].stored});
  }
  record.entry_end = static_cast<std::uint32_t>(result_.entries.size());
}

void Scan::leave(std::uint32_t block) {
  ScanResult::Block& record = result_.blocks[block];
  record.exit_first = static_cast<std::uint32_t>(result_.entries.size());
  for (std::uint64_t regs = occupied_; regs != 0; regs &= regs - 1) {
    const auto reg = static_cast<unsigned>(std::countr_zero(regs));
    const std::uint32_t v = content_[reg];
    result_.entries.push_back({v, static_cast<std::uint8_t>(reg), current_[v].stored});
  }
  record.exit_end = static_cast<std::uint32_t>(result_.entries.size());
  if (simple()) return;
  for (const MachEdge& edge : func_->succs_of(func_->blocks[MachBlock(block)])) {
    const std::uint32_t succ = edge.target.index();
    if (flow_->position(succ) <= flow_->position(block)) account_edge(block, succ);
  }
}

// Notes which values the edge stores or loads.
void Scan::account_edge(std::uint32_t pred, std::uint32_t succ) {
  if (result_.blocks[succ].inherits) return;
  ++border_epoch_;
  for (const ScanResult::Entry& entry : result_.entry(succ)) {
    border_marks_[entry.vreg].stamp = border_epoch_;
  }
  const std::uint32_t frequency = std::min(flow_->frequency(pred), flow_->frequency(succ));
  for (const ScanResult::Entry& entry : result_.exit(pred)) {
    ValueInfo& value = (*values_)[entry.vreg];
    if (border_marks_[entry.vreg].stamp == border_epoch_ || value.remat) continue;
    if (!live_->live_in(succ, value)) continue;
    value.in_memory = true;
    if (!entry.stored) saturating_add(value.store_weight, frequency);
  }
}

}  // namespace hoist::codegen
