// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scan's driver, the register file and the choice of registers and victims. See scan.hpp.

#include "codegen/regalloc/scan.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace hoist::codegen {

namespace {
/// How many fixed or clobbering instructions ahead the choice of a register looks.
constexpr std::size_t kEventsAhead = 16;
}  // namespace

Result<void> Scan::run(const MachFunction& func, const RegisterFile& regs, const Flow* flow,
                       const Liveness* live, const Annotations& notes, ValueTable& values,
                       Allocation& out) {
  func_ = &func;
  flow_ = flow;
  live_ = live;
  notes_ = &notes;
  values_ = &values;
  out_ = &out;
  prepare(regs);
  const auto block_count = static_cast<std::uint32_t>(func.blocks.size());
  if (flow != nullptr) {
    for (const std::uint32_t block : flow->order()) {
      if (failure_ == nullptr) scan_block(block);
    }
  } else {
    for (std::uint32_t block = 0; block < block_count && failure_ == nullptr; ++block) {
      scan_block(block);
    }
  }
  result_.used = used_;
  if (failure_ == nullptr) return {};
  return Error(ErrorKind::Limit,
               std::string(failure_) + " at machine instruction " + std::to_string(failed_inst_));
}

void Scan::prepare(const RegisterFile& regs) {
  result_.moves.clear();
  result_.entries.clear();
  result_.slot_operands.clear();
  result_.blocks.assign(func_->blocks.size(), ScanResult::Block{});
  current_.assign(values_->size(), Current{});
  border_marks_.assign(values_->size(), Mark{});
  border_epoch_ = 0;
  epoch_ = 0;
  used_ = 0;
  failure_ = nullptr;
  scratch_ = regs.float_scratch;
  callee_saved_ = regs.callee_saved.bits;
  const std::vector<PReg>* lists[2] = {&regs.int_order, &regs.float_order};
  for (std::size_t c = 0; c < 2; ++c) {
    class_regs_[c] = 0;
    order_count_[c] = 0;
    for (const PReg reg : *lists[c]) {
      order_[c][order_count_[c]++] = reg.index;
      class_regs_[c] |= bit(reg.index);
    }
  }
  parallel_.start(kFirstSlotPlace, scratch_, kNoPlace, kNoPlace);
}

void Scan::fail(const char* what) {
  if (failure_ != nullptr) return;
  failure_ = what;
  failed_inst_ = inst_;
}

void Scan::scan_block(std::uint32_t block) {
  block_ = block;
  const MachBlockData& data = func_->blocks[MachBlock(block)];
  end_ = data.end_inst;
  frequency_ = simple() ? Flow::kEntryFrequency : flow_->frequency(block);
  events_ = notes_->events(block);
  next_event_ = 0;
  inst_ = data.first_inst;
  enter(block);
  result_.blocks[block].move_first = static_cast<std::uint32_t>(result_.moves.size());
  for (std::uint32_t i = data.first_inst; i < data.end_inst; ++i) {
    begin_inst(i);
    if (next_event_ < events_.size() && events_[next_event_].inst == i) {
      visit_event(events_[next_event_++]);
    } else {
      visit_plain();
    }
    if (failure_ != nullptr) return;
    flush();
  }
  result_.blocks[block].move_end = static_cast<std::uint32_t>(result_.moves.size());
  leave(block);
}

void Scan::begin_inst(std::uint32_t inst) {
  inst_ = inst;
  ++epoch_;
  first_operand_ = func_->insts[inst].first_operand;
  end_operand_ = first_operand_ + func_->insts[inst].operand_count;
  pinned_ = early_ = taken_ = 0;
  early_blocked_ = early_defs_ = late_blocked_ = fixed_defs_ = held_ = 0;
  stores_.clear();
  copies_.clear();
  loads_.clear();
}

void Scan::flush() {
  for (const ScanResult::Move& store : stores_) result_.moves.push_back(store);
  if (copies_.size() == 1) {
    result_.moves.push_back(copies_[0]);
  } else if (!copies_.empty()) {
    for (const ScanResult::Move& copy : copies_) {
      const ValueInfo& value = (*values_)[copy.vreg];
      // The value's number travels in `remat`, which copies do not use.
      parallel_.add({copy.to, copy.from, copy.vreg, value.cls, value.bytes, AllocMove::Kind::Copy});
    }
    for (const ParallelMoves::Move& step : parallel_.resolve()) {
      const auto kind = step.kind == AllocMove::Kind::Exchange ? ScanResult::Kind::Exchange
                                                               : ScanResult::Kind::Copy;
      result_.moves.push_back({inst_, step.remat, kind, static_cast<std::uint8_t>(step.to),
                               static_cast<std::uint8_t>(step.from)});
    }
  }
  for (const ScanResult::Move& load : loads_) result_.moves.push_back(load);
}

void Scan::set_home(std::uint32_t vreg, unsigned reg) {
  HOIST_DCHECK((occupied_ & bit(reg)) == 0, "the register is free");
  content_[reg] = vreg;
  occupied_ |= bit(reg);
  used_ |= bit(reg);
  current_[vreg].home = static_cast<std::uint8_t>(reg);
}

void Scan::release(std::uint32_t vreg) {
  occupied_ &= ~bit(current_[vreg].home);
  current_[vreg].home = kNoReg;
}

// The store reads the register that holds the value before this instruction's copies; a copy that
// has moved the value for this instruction is taken back unless an operand needs it.
void Scan::evict(std::uint32_t vreg) {
  const Current& now = current_[vreg];
  if (now.stamp == epoch_ && now.home != now.source && (now.marks & (kPlainUse | kLate)) == 0) {
    std::erase_if(copies_, [&](const ScanResult::Move& copy) { return copy.to == now.home; });
  }
  if (!(*values_)[vreg].remat) store(vreg);
  release(vreg);
}

// Makes sure that the value in a register is in its slot too.
void Scan::store(std::uint32_t vreg) {
  Current& now = current_[vreg];
  ValueInfo& value = (*values_)[vreg];
  value.in_memory = true;
  if (now.stored) return;
  const std::uint8_t from = now.stamp == epoch_ && now.source != kNoReg ? now.source : now.home;
  stores_.push_back({inst_, vreg, ScanResult::Kind::Store, kNoReg, from});
  saturating_add(value.store_weight, frequency_);
  now.stored = true;
}

// Distance to the next use, weighed by what it costs to lose the register.
std::uint32_t Scan::urgency(std::uint32_t vreg) const {
  const Current& now = current_[vreg];
  const std::uint32_t distance = now.next > inst_ ? now.next - inst_ : 0;
  if ((*values_)[vreg].remat) return add_distance(distance, distance / 2);
  return now.stored ? distance : distance - distance / 4;
}

unsigned Scan::victim(std::uint64_t candidates) const {
  unsigned best = kNoReg;
  std::uint32_t best_distance = 0;
  for (; candidates != 0; candidates &= candidates - 1) {
    const auto reg = static_cast<unsigned>(std::countr_zero(candidates));
    const std::uint32_t distance = urgency(content_[reg]);
    if (best != kNoReg && distance <= best_distance) continue;
    best = reg;
    best_distance = distance;
  }
  return best;
}

unsigned Scan::first_in_order(std::uint64_t set) const {
  const std::size_t c = (set & class_regs_[0]) != 0 ? 0 : 1;
  for (std::size_t i = 0; i < order_count_[c]; ++i) {
    if ((set & bit(order_[c][i])) != 0) return order_[c][i];
  }
  return static_cast<unsigned>(std::countr_zero(set));
}

// A callee-saved register costs a save and a restore; without one the value is reloaded at most
// once for each call that it crosses and once for each use.
bool Scan::worth_callee_saved(std::uint32_t vreg) const {
  const ValueInfo& value = (*values_)[vreg];
  return std::min(value.cross_weight, value.use_weight) > Flow::kEntryFrequency;
}

// Whether `a` gains more from a register that survives calls than `b`.
bool Scan::deserves_more(std::uint32_t a, std::uint32_t b) const {
  const auto unneeded = [&](std::uint32_t v) {
    return current_[v].next >= add_distance(inst_, kUnneeded);
  };
  if (unneeded(a) != unneeded(b)) return unneeded(b);
  return (*values_)[a].use_weight > (*values_)[b].use_weight;
}

unsigned Scan::least_deserving(std::uint64_t candidates) const {
  unsigned least = kNoReg;
  for (; candidates != 0; candidates &= candidates - 1) {
    const auto reg = static_cast<unsigned>(std::countr_zero(candidates));
    if (least == kNoReg || deserves_more(content_[least], content_[reg])) least = reg;
  }
  return least;
}

unsigned Scan::wished_register(std::uint32_t vreg) const {
  const ValueInfo& value = (*values_)[vreg];
  if (value.affinity.is_some() && value.affinity_weight >= value.hint_weight) {
    return (*values_)[value.affinity.index()].def_reg;
  }
  return value.hint;
}

std::uint32_t Scan::def_horizon(std::uint32_t vreg) const {
  const ValueInfo& value = (*values_)[vreg];
  return value.def_block == block_ ? value.local_end : end_;
}

// `free` is not empty; `horizon` is where the value's stay in the register ends, as far as known;
// `avoid` are registers to take only if there are no others.
unsigned Scan::pick(std::uint32_t vreg, std::uint64_t free, std::uint32_t horizon, unsigned wish,
                    std::uint64_t avoid) {
  const ValueInfo& value = (*values_)[vreg];
  std::uint64_t conflict = avoid;
  for (std::size_t e = next_event_; e < events_.size() && events_[e].inst < horizon; ++e) {
    if (e - next_event_ == kEventsAhead) break;
    conflict |= events_[e].regs.bits;
  }
  const std::uint64_t all = class_of(vreg);
  const bool stays = horizon >= end_ && value.cross_weight != 0;
  const bool crosses = stays || ((all & ~callee_saved_ & ~conflict) == 0 && conflict != 0);
  if (stays && value.cross_weight >= frequency_) conflict |= all & ~callee_saved_;
  const std::uint64_t good = free & ~conflict;
  const auto wished = [&](std::uint64_t set) -> unsigned {
    for (const unsigned reg : {wish, wished_register(vreg), unsigned{value.hint}}) {
      if (reg != kNoReg && (set & bit(reg)) != 0) return reg;
    }
    return kNoReg;
  };
  if (const unsigned reg = wished(good); reg != kNoReg) return reg;
  const std::uint64_t fresh = callee_saved_ & ~used_;
  if (crosses) {
    const std::uint64_t kept = good & callee_saved_;
    if ((kept & ~fresh) != 0) return first_in_order(kept & ~fresh);
    if (kept != 0 && worth_callee_saved(vreg)) return first_in_order(kept);
  }
  if ((good & ~fresh) != 0) return first_in_order(good & ~fresh);
  if ((free & ~fresh) != 0 && (good == 0 || frequency_ <= 2 * Flow::kEntryFrequency)) {
    const unsigned reg = wished(free & ~fresh);
    return reg != kNoReg ? reg : first_in_order(free & ~fresh);
  }
  return first_in_order(good != 0 ? good : free);
}

unsigned Scan::allocate(std::uint32_t vreg, std::uint64_t allowed, std::uint32_t horizon,
                        unsigned wish) {
  const std::uint64_t free = allowed & ~occupied_ & ~early_;
  if (free != 0) return pick(vreg, free, horizon, wish, 0);
  const unsigned reg = victim(allowed & occupied_ & ~pinned_ & ~early_);
  if (reg == kNoReg) {
    fail("the operands need more registers than there are");
    // Any register keeps the walk going; the result is not used.
    const unsigned any = static_cast<unsigned>(std::countr_zero(class_of(vreg)));
    if ((occupied_ & bit(any)) != 0) release(content_[any]);
    return any;
  }
  evict(content_[reg]);
  return reg;
}

}  // namespace hoist::codegen
