// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scan at an instruction that fixes or clobbers registers: calls, returns, divisions, shifts by
// a variable. See scan.hpp.

#include <algorithm>
#include <bit>

#include "codegen/regalloc/scan.hpp"

namespace hoist::codegen {

void Scan::visit_event(const Annotations::Event& event) {
  gather_event();
  make_way(event);
  fixed_uses();
  event_plain_uses();
  early_defs();
  finish_uses();
  late_defs();
  finish_defs();
}

void Scan::gather_event() {
  late_blocked_ = func_->clobber_sets[func_->insts[inst_].clobbers].bits;
  fixed_done_ = held_ = 0;
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    const std::uint64_t fixed =
        op.constraint == Constraint::Fixed ? bit(op.fixed.index) : std::uint64_t{0};
    switch (op.role) {
      case Role::Use:
      case Role::LateUse:
        mark_use(o);
        early_blocked_ |= fixed;
        if (fixed != 0) fixed_content_[op.fixed.index] = op.vreg.index();
        if (op.role == Role::LateUse) held_ |= fixed;
        break;
      case Role::EarlyDef:
        early_blocked_ |= fixed;
        early_defs_ |= fixed;
        break;
      case Role::Def: fixed_defs_ |= fixed; break;
    }
    if (op.constraint != Constraint::Same) continue;
    const Operand& source = func_->operands[first_operand_ + op.same_as];
    if (source.constraint == Constraint::Fixed) fixed_defs_ |= bit(source.fixed.index);
  }
  late_blocked_ |= fixed_defs_;
  slot_uses();
  // What only fixed operands want and what then dies leaves its own register with the copies.
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    if (!is_use(func_->operands[o])) continue;
    const std::uint32_t v = func_->operands[o].vreg.index();
    if (current_[v].marks == kUsed && current_[v].home != kNoReg) release(v);
  }
}

// Operands that are read from their slots: their values are stored by now, wherever else they are.
void Scan::slot_uses() {
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    if (op.constraint != Constraint::Slot) continue;
    const std::uint32_t v = op.vreg.index();
    if ((*values_)[v].remat) return fail("an operand in a slot that is never stored");
    Current& now = current_[v];
    if (now.home != kNoReg) store(v);
    read_slot(o);
  }
}

// Values that live on leave the registers that this instruction needs for itself.
void Scan::make_way(const Annotations::Event& event) {
  displaced_.clear();
  const std::uint64_t blocked = early_blocked_ | late_blocked_;
  for (std::uint64_t regs = occupied_ & blocked; regs != 0; regs &= regs - 1) {
    const auto reg = static_cast<unsigned>(std::countr_zero(regs));
    const std::uint32_t v = content_[reg];
    Current& now = current_[v];
    if (now.stamp != epoch_) {
      now.stamp = epoch_;
      now.source = static_cast<std::uint8_t>(reg);
      now.marks = kSurvives;
    }
    if ((now.marks & (kSurvives | kLate)) == 0) continue;
    const bool own = (early_blocked_ & ~early_defs_ & bit(reg)) != 0 && fixed_content_[reg] == v;
    if (own && (late_blocked_ & bit(reg)) == 0) continue;
    displaced_.push_back(v);
  }
  if (displaced_.size() > 1) {
    std::sort(displaced_.begin(), displaced_.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (deserves_more(a, b)) return true;
      return !deserves_more(b, a) && a < b;
    });
  }
  for (const std::uint32_t v : displaced_) move_away(v, event.call);
}

void Scan::move_away(std::uint32_t v, bool call) {
  Current& now = current_[v];
  const std::uint64_t allowed = class_of(v) & ~(early_blocked_ | late_blocked_);
  std::uint64_t free = allowed & ~occupied_ & ~early_;
  const bool must_stay = (now.marks & kLate) != 0;
  const bool fresh_pays =
      !call || frequency_ > Flow::kEntryFrequency || worth_callee_saved(v) || must_stay;
  if (!fresh_pays) free &= ~(callee_saved_ & ~used_);
  unsigned reg = kNoReg;
  const std::uint32_t horizon = now.next < end_ ? now.next + 1 : end_;
  if (free != 0) {
    reg = pick(v, free, horizon, kNoReg, 0);
  } else {
    // Both would be reloaded before long: that pays only for a value that is used more often.
    const unsigned other = least_deserving(allowed & occupied_ & ~pinned_);
    if (other != kNoReg && (must_stay || deserves_more(v, content_[other]))) {
      evict(content_[other]);
      reg = other;
    }
  }
  if (reg == kNoReg) {
    if (must_stay) fail("the late operands need more registers than there are");
    if ((now.marks & kPlainUse) != 0) early_ |= bit(now.home);
    evict(v);
    return;
  }
  release(v);
  set_home(v, reg);
  if ((now.marks & (kPlainUse | kLate)) != 0) pinned_ |= bit(reg);
  copies_.push_back({inst_, v, ScanResult::Kind::Copy, static_cast<std::uint8_t>(reg), now.source});
}

void Scan::fixed_uses() {
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    if (!is_use(op) || op.constraint != Constraint::Fixed) continue;
    const unsigned reg = op.fixed.index;
    assign(o, reg);
    early_ |= bit(reg);
    used_ |= bit(reg);
    if ((fixed_done_ & bit(reg)) != 0) continue;
    fixed_done_ |= bit(reg);
    const std::uint32_t v = op.vreg.index();
    Current& now = current_[v];
    if (now.source == reg) continue;
    if (now.source != kNoReg) {
      copies_.push_back(
          {inst_, v, ScanResult::Kind::Copy, static_cast<std::uint8_t>(reg), now.source});
      continue;
    }
    load(v, reg);
    const bool can_stay = (now.marks & kSurvives) != 0 && now.home == kNoReg &&
                          (late_blocked_ & bit(reg)) == 0 && (occupied_ & bit(reg)) == 0;
    if (can_stay) set_home(v, reg);
  }
}

void Scan::event_plain_uses() {
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    if (!is_use(op) || op.constraint == Constraint::Fixed || op.constraint == Constraint::Slot) {
      continue;
    }
    const std::uint32_t v = op.vreg.index();
    const Current& now = current_[v];
    const auto holds_early = [&](unsigned reg) {
      if (reg == kNoReg) return false;
      if ((early_blocked_ & bit(reg)) == 0) return true;
      return (early_defs_ & bit(reg)) == 0 && fixed_content_[reg] == v;
    };
    if (holds_early(now.home)) {
      assign(o, now.home);
    } else if (now.home == kNoReg && holds_early(now.source)) {
      assign(o, now.source);  // it was evicted and is still there
      early_ |= bit(now.source);
    } else if (const unsigned copy = fixed_copy(v); copy != kNoReg && (now.marks & kLate) == 0) {
      assign(o, copy);
    } else {
      event_missing_use(o);
    }
  }
}

// A register that holds the value early because a fixed use wants it there.
unsigned Scan::fixed_copy(std::uint32_t vreg) const {
  for (std::uint64_t regs = fixed_done_; regs != 0; regs &= regs - 1) {
    const auto reg = static_cast<unsigned>(std::countr_zero(regs));
    if (fixed_content_[reg] == vreg) return reg;
  }
  return kNoReg;
}

// The value is in memory, or in a register that the instruction needs early for something else.
void Scan::event_missing_use(std::uint32_t number) {
  const Operand& op = func_->operands[number];
  const std::uint32_t v = op.vreg.index();
  Current& now = current_[v];
  const bool late = (now.marks & kLate) != 0;
  if (now.source == kNoReg && reads_slot(number)) return read_slot(number);
  const std::uint64_t early_allowed = class_of(v) & ~early_blocked_;
  const std::uint64_t all_through = early_allowed & ~late_blocked_;
  const bool lives_on = (now.marks & kSurvives) != 0;
  const bool room = (all_through & ~occupied_ & ~early_) != 0;
  if (now.source == kNoReg && (late || (lives_on && room))) {
    const unsigned reg = allocate(v, all_through, reload_horizon(number));
    load(v, reg);
    set_home(v, reg);
    pinned_ |= bit(reg);
    return assign(number, reg);
  }
  // A late use in a register was moved to where it can stay.
  HOIST_DCHECK(!late, "late uses have a home");
  const unsigned reg = allocate(v, early_allowed, inst_ + 1);
  early_ |= bit(reg);
  used_ |= bit(reg);
  if (now.source == kNoReg) {
    load(v, reg);
  } else {
    copies_.push_back(
        {inst_, v, ScanResult::Kind::Copy, static_cast<std::uint8_t>(reg), now.source});
  }
  assign(number, reg);
}

}  // namespace hoist::codegen
