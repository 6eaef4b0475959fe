// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See annotate.hpp.

#include "codegen/regalloc/annotate.hpp"

#include <algorithm>

namespace hoist::codegen {

void Annotations::start(const MachFunction& func, const ValueTable& values) {
  next_.resize(func.operands.size());
  param_next_.resize(func.block_params.size());
  events_.clear();
  event_first_.resize(func.blocks.size());
  event_end_.resize(func.blocks.size());
  ahead_.assign(values.size(), Ahead{});
  stamp_ = 0;
}

void Annotations::compute(const MachFunction& func, const Flow& flow, Liveness& live,
                          ValueTable& values) {
  flow_ = &flow;
  live_ = &live;
  start(func, values);
  needs_.assign(flow.loops().size(), LoopNeeds{});
  const auto order = flow.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    live.load_out(func, flow, order[i]);
    frequency_ = flow.frequency(order[i]);
    walk(func, values, order[i]);
    record_loop(func);
  }
  // Inner loops come after outer ones.
  for (std::size_t l = needs_.size(); l-- > 0;) {
    const std::uint32_t parent = flow.loops()[l].parent;
    if (parent == Flow::kNone) continue;
    const MachBlock header(flow.loops()[l].header);
    const MachBlock outer(flow.loops()[parent].header);
    if (func.blocks[header].cold && !func.blocks[outer].cold) continue;
    needs_[parent].busy = needs_[parent].busy | needs_[l].busy;
    needs_[parent].clobbered = needs_[parent].clobbered | needs_[l].clobbered;
    for (std::size_t c = 0; c < 2; ++c) {
      needs_[parent].max_live[c] = std::max(needs_[parent].max_live[c], needs_[l].max_live[c]);
      needs_[parent].max_cross[c] = std::max(needs_[parent].max_cross[c], needs_[l].max_cross[c]);
    }
  }
}

void Annotations::compute_local(const MachFunction& func, ValueTable& values) {
  flow_ = nullptr;
  live_ = nullptr;
  start(func, values);
  frequency_ = Flow::kEntryFrequency;
  for (std::size_t b = func.blocks.size(); b-- > 0;) {
    walk(func, values, static_cast<std::uint32_t>(b));
  }
}

void Annotations::walk(const MachFunction& func, ValueTable& values, std::uint32_t block) {
  const MachBlockData& data = func.blocks[MachBlock(block)];
  block_ = block;
  ++stamp_;
  end_ = data.end_inst;
  calls_ = 0;
  busy_ = {};
  clobbered_ = {};
  pressure_ = {};
  if (live_ != nullptr) {
    pressure_.live[0] = live_->count_live_out(RegClass::Int);
    pressure_.live[1] = live_->count_live_out(RegClass::Float);
  }
  event_first_[block] = static_cast<std::uint32_t>(events_.size());
  visit_edges(func, values);
  for (std::uint32_t i = data.end_inst; i-- > data.first_inst;) {
    visit_defs(func, values, i);
    if ((func.insts[i].flags & kCall) != 0) {
      for (std::size_t c = 0; c < 2; ++c) {
        pressure_.max_cross[c] = std::max(pressure_.max_cross[c], pressure_.live[c]);
      }
      ++calls_;
    }
    visit_uses(func, values, i);
    pass_hints(func, values, i);
    for (std::size_t c = 0; c < 2; ++c) {
      pressure_.max_live[c] =
          std::max(pressure_.max_live[c], pressure_.live[c] + pressure_.early_defs[c]);
    }
  }
  event_end_[block] = static_cast<std::uint32_t>(events_.size());
  std::reverse(events_.begin() + event_first_[block], events_.end());

  for (std::uint32_t p = 0; p < data.param_count; ++p) {
    const VReg param = func.block_params[data.first_param + p];
    ValueInfo& value = values[param.index()];
    const Ahead& ahead = ahead_[param.index()];
    if (ahead.stamp == stamp_) {
      param_next_[data.first_param + p] = ahead.next;
      cross_through(values, param.index(), calls_ - ahead.calls);
    } else {
      const bool out =
          live_ != nullptr ? live_->live_out(value) : value.global != ValueInfo::kLocal;
      param_next_[data.first_param + p] =
          !out               ? kDead
          : live_ == nullptr ? kFar
                             : add_distance(end_, live_->out_distance(param.index()));
      value.local_end = out ? end_ : data.first_inst;
      if (out) cross_through(values, param.index(), calls_);
    }
  }
  if (live_ == nullptr || calls_ == 0) return;
  for (const std::uint32_t v : live_->nearest_out()) {
    if (ahead_[v].stamp != stamp_ && values[v].def_block != block) cross_through(values, v, calls_);
  }
  for (const Liveness::Distance& entry : live_->nearest(block)) {
    if (ahead_[entry.vreg].stamp != stamp_) continue;
    cross_through(values, entry.vreg, calls_ - ahead_[entry.vreg].calls);
  }
}

void Annotations::cross_through(ValueTable& values, std::uint32_t vreg, std::uint32_t calls) {
  const std::uint64_t weight = std::uint64_t{frequency_} * calls;
  saturating_add(values[vreg].cross_weight,
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(weight, 0x7fff'ffff)));
}

// The last use in the block of a value, seen first in this direction.
void Annotations::see_last(const MachFunction& func, ValueTable& values, std::uint32_t vreg,
                           std::uint32_t at) {
  ValueInfo& value = values[vreg];
  Ahead& ahead = ahead_[vreg];
  ahead.stamp = stamp_;
  const bool out = live_ != nullptr ? live_->live_out(value) : value.global != ValueInfo::kLocal;
  if (out) {
    ahead.next = live_ == nullptr ? kFar : add_distance(end_, live_->out_distance(vreg));
    ahead.calls = 0;
  } else {
    ahead.next = kDead;
    ahead.calls = calls_;
    ++pressure_.live[static_cast<std::size_t>(value.cls)];
  }
  if (value.def_block == block_) value.local_end = out ? end_ : at;
  static_cast<void>(func);
}

void Annotations::visit_edges(const MachFunction& func, ValueTable& values) {
  for (const MachEdge& edge : func.succs_of(func.blocks[MachBlock(block_)])) {
    const auto args = func.args_of(edge);
    if (args.empty()) continue;
    const auto params = func.params_of(func.blocks[edge.target]);
    for (std::size_t i = 0; i < args.size(); ++i) {
      ValueInfo& value = values[args[i].index()];
      saturating_add(value.use_weight, frequency_);
      if (value.affinity_weight <= frequency_) {
        value.affinity_weight = frequency_;
        value.affinity = params[i];
      }
      const ValueInfo& param = values[params[i].index()];
      if (param.hint != kNoReg && value.hint_weight <= param.hint_weight / 2) {
        value.hint = param.hint;
        value.hint_weight = param.hint_weight / 2;
      }
      Ahead& ahead = ahead_[args[i].index()];
      if (ahead.stamp != stamp_) see_last(func, values, args[i].index(), end_ - 1);
      ahead.next = end_ - 1;
    }
  }
}

void Annotations::visit_defs(const MachFunction& func, ValueTable& values, std::uint32_t i) {
  const MachInst& inst = func.insts[i];
  bool event = inst.clobbers != 0;
  pressure_.early_defs[0] = pressure_.early_defs[1] = 0;
  for (std::uint32_t o = inst.first_operand; o < inst.first_operand + inst.operand_count; ++o) {
    const Operand& op = func.operands[o];
    event = event || op.constraint == Constraint::Fixed || op.constraint == Constraint::Slot;
    if (is_use(op)) continue;
    const std::uint32_t v = op.vreg.index();
    ValueInfo& value = values[v];
    Ahead& ahead = ahead_[v];
    if (op.role == Role::EarlyDef) ++pressure_.early_defs[static_cast<std::size_t>(value.cls)];
    if (ahead.stamp != stamp_) {
      const bool out =
          live_ != nullptr ? live_->live_out(value) : value.global != ValueInfo::kLocal;
      value.local_end = out ? end_ : i;
      next_[o] = !out               ? kDead
                 : live_ == nullptr ? kFar
                                    : add_distance(end_, live_->out_distance(v));
      if (!out) continue;
      ahead.calls = 0;
    } else {
      next_[o] = ahead.next;
    }
    cross_through(values, v, calls_ - ahead.calls);
    std::uint32_t& live = pressure_.live[static_cast<std::size_t>(value.cls)];
    if (live > 0) --live;
  }
  if (event) add_event(func, i);
}

void Annotations::add_event(const MachFunction& func, std::uint32_t i) {
  const MachInst& inst = func.insts[i];
  RegMask regs = func.clobber_sets[inst.clobbers];
  for (const Operand& op : func.operands_of(inst)) {
    if (op.constraint == Constraint::Fixed) regs.add(op.fixed);
  }
  events_.push_back({i, (inst.flags & kCall) != 0, regs});
  busy_ = busy_ | regs;
  if ((inst.flags & kCall) != 0) clobbered_ = clobbered_ | func.clobber_sets[inst.clobbers];
}

void Annotations::visit_uses(const MachFunction& func, ValueTable& values, std::uint32_t i) {
  const MachInst& inst = func.insts[i];
  const std::uint32_t end = inst.first_operand + inst.operand_count;
  for (std::uint32_t o = inst.first_operand; o < end; ++o) {
    const Operand& op = func.operands[o];
    if (!is_use(op)) continue;
    const std::uint32_t v = op.vreg.index();
    ValueInfo& value = values[v];
    saturating_add(value.use_weight, frequency_);
    if (op.constraint == Constraint::Fixed && value.hint_weight <= frequency_) {
      value.hint = op.fixed.index;
      value.hint_weight = frequency_;
    }
    if (ahead_[v].stamp != stamp_) see_last(func, values, v, i);
    next_[o] = ahead_[v].next;
  }
  for (std::uint32_t o = inst.first_operand; o < end; ++o) {
    if (is_use(func.operands[o])) ahead_[func.operands[o].vreg.index()].next = i;
  }
}

// A definition in the register of a dying operand, or a copy: what the result wants, the operand
// wants.
void Annotations::pass_hints(const MachFunction& func, ValueTable& values, std::uint32_t i) {
  const MachInst& inst = func.insts[i];
  const auto pass = [&](std::uint32_t def, std::uint32_t use) {
    if (next_[use] != kDead) return;
    const ValueInfo& from = values[func.operands[def].vreg.index()];
    ValueInfo& to = values[func.operands[use].vreg.index()];
    if (from.hint != kNoReg && to.hint_weight < from.hint_weight) {
      to.hint = from.hint;
      to.hint_weight = from.hint_weight;
    }
    if (from.affinity.is_some() && to.affinity_weight < from.affinity_weight) {
      to.affinity = from.affinity;
      to.affinity_weight = from.affinity_weight;
    }
  };
  if ((inst.flags & kMove) != 0) pass(inst.first_operand, inst.first_operand + 1u);
  for (std::uint32_t o = inst.first_operand; o < inst.first_operand + inst.operand_count; ++o) {
    if (func.operands[o].constraint == Constraint::Same) {
      pass(o, inst.first_operand + func.operands[o].same_as);
    }
  }
}

void Annotations::record_loop(const MachFunction& func) {
  const std::uint32_t loop = flow_->loop_of(block_);
  if (loop == Flow::kNone) return;
  const MachBlock header(flow_->loops()[loop].header);
  if (func.blocks[MachBlock(block_)].cold && !func.blocks[header].cold) return;
  LoopNeeds& needs = needs_[loop];
  needs.busy = needs.busy | busy_;
  needs.clobbered = needs.clobbered | clobbered_;
  for (std::size_t c = 0; c < 2; ++c) {
    needs.max_live[c] = std::max(needs.max_live[c], pressure_.max_live[c]);
    needs.max_cross[c] = std::max(needs.max_cross[c], pressure_.max_cross[c]);
  }
}

}  // namespace hoist::codegen
