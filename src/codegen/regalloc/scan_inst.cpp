// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scan at one instruction without fixed registers, and what all instructions share. See
// scan.hpp.

#include "codegen/regalloc/scan.hpp"

namespace hoist::codegen {

void Scan::visit_plain() {
  plain_uses();
  early_defs();
  finish_uses();
  late_defs();
  finish_defs();
}

Scan::Current& Scan::mark_use(std::uint32_t number) {
  const Operand& op = func_->operands[number];
  Current& now = current_[op.vreg.index()];
  if (now.stamp != epoch_) {
    now.stamp = epoch_;
    now.source = now.home;
    now.marks = kUsed;
    now.next = notes_->next()[number];
    if (now.next != kDead) now.marks |= kSurvives;
  }
  if (op.role == Role::LateUse) now.marks |= kLate;
  if (op.constraint != Constraint::Fixed && op.constraint != Constraint::Slot) {
    now.marks |= kPlainUse;
  }
  if ((now.marks & (kPlainUse | kLate)) != 0 && now.home != kNoReg) pinned_ |= bit(now.home);
  return now;
}

void Scan::plain_uses() {
  bool missing = false;
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    if (!is_use(func_->operands[o])) continue;
    const Current& now = mark_use(o);
    if (now.home != kNoReg) {
      assign(o, now.home);
    } else {
      missing = true;
    }
  }
  if (!missing) return;
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    if (!is_use(func_->operands[o])) continue;
    const std::uint32_t v = func_->operands[o].vreg.index();
    if (current_[v].home == kNoReg) {
      if (reads_slot(o)) {
        read_slot(o);
        continue;
      }
      const unsigned reg = allocate(v, class_of(v), reload_horizon(o));
      load(v, reg);
      set_home(v, reg);
      pinned_ |= bit(reg);
    }
    assign(o, current_[v].home);
  }
}

std::uint32_t Scan::reload_horizon(std::uint32_t number) const {
  const std::uint32_t next = notes_->next()[number];
  return next == kDead ? inst_ + 1 : next < end_ ? next + 1 : end_;
}

bool Scan::is_same_source(std::uint32_t number) const {
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    if (op.constraint == Constraint::Same && first_operand_ + op.same_as == number) return true;
  }
  return false;
}

// A value that is in memory and may be read there is loaded only for the sake of a use soon after.
bool Scan::reads_slot(std::uint32_t number) const {
  const Operand& op = func_->operands[number];
  if (op.constraint != Constraint::RegOrSlot || (*values_)[op.vreg.index()].remat) return false;
  if (is_same_source(number)) return false;
  if (notes_->next()[number] >= end_) return true;
  return (class_of(op.vreg.index()) & ~occupied_ & ~early_ & ~early_blocked_ & ~late_blocked_) == 0;
}

void Scan::read_slot(std::uint32_t number) {
  result_.slot_operands.push_back(number);
  (*values_)[func_->operands[number].vreg.index()].in_memory = true;
}

void Scan::load(std::uint32_t vreg, unsigned reg) {
  loads_.push_back({inst_, vreg, ScanResult::Kind::Load, static_cast<std::uint8_t>(reg), kNoReg});
  used_ |= bit(reg);
  if (!(*values_)[vreg].remat) {
    (*values_)[vreg].in_memory = true;
    current_[vreg].stored = true;
  }
}

void Scan::early_defs() {
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    const std::uint32_t v = op.vreg.index();
    if (op.constraint == Constraint::Same) {
      same_def(o);
    } else if (op.role == Role::EarlyDef && op.constraint != Constraint::Fixed) {
      const bool dead = notes_->next()[o] == kDead;
      const std::uint64_t blocked =
          early_blocked_ | early_defs_ | (dead ? fixed_defs_ : late_blocked_);
      const unsigned reg = allocate(v, class_of(v) & ~blocked, def_horizon(v));
      assign(o, reg);
      define(o, reg);
      pinned_ |= bit(reg);
    }
  }
}

void Scan::same_def(std::uint32_t number) {
  const Operand& def = func_->operands[number];
  const std::uint32_t source_number = first_operand_ + def.same_as;
  const Operand& source = func_->operands[source_number];
  if (source.constraint == Constraint::Fixed) {
    assign(number, source.fixed.index);
    return;
  }
  const unsigned from = out_->allocs[source_number].reg.index;
  Current& now = current_[source.vreg.index()];
  const std::uint64_t blocked = early_blocked_ | late_blocked_;
  const bool dies = (now.marks & (kSurvives | kLate)) == 0 && now.home == from;
  if (dies && ((taken_ | blocked) & bit(from)) == 0) {
    taken_ |= bit(from);
    assign(number, from);
    return;
  }
  if (now.source == kNoReg && ((taken_ | blocked) & bit(from)) == 0 && (now.marks & kLate) == 0) {
    // It was loaded for this instruction: the definition takes the register, the value stays in
    // memory.
    if (now.home == from) release(source.vreg.index());
    early_ |= bit(from);
    taken_ |= bit(from);
    assign(number, from);
    return;
  }
  const unsigned reg = same_register(number, source_number);
  assign(source_number, reg);
  assign(number, reg);
}

// A register for a Same definition whose operand lives on: filled with a copy before the
// instruction.
unsigned Scan::same_register(std::uint32_t number, std::uint32_t source_number) {
  const std::uint32_t v = func_->operands[number].vreg.index();
  const std::uint32_t a = func_->operands[source_number].vreg.index();
  Current& now = current_[a];
  const std::uint64_t blocked = early_blocked_ | late_blocked_;
  const std::uint64_t allowed = class_of(v) & ~blocked;
  const std::uint64_t free = allowed & ~occupied_ & ~early_;
  const bool keeps_register = now.home == kNoReg || now.home != now.source ||
                              (blocked & bit(now.home)) != 0 || (taken_ & bit(now.home)) != 0 ||
                              (now.marks & kLate) != 0 || (now.marks & kSurvives) == 0;
  if (free == 0 && !keeps_register) {
    // Rather than push out a value that is used sooner, the operand's value itself goes to memory.
    const unsigned other = victim(allowed & occupied_ & ~pinned_ & ~early_);
    if (other == kNoReg || urgency(content_[other]) < urgency(a)) {
      const unsigned reg = now.home;
      evict(a);
      early_ |= bit(reg);
      taken_ |= bit(reg);
      return reg;
    }
  }
  unsigned reg = allocate(v, allowed, def_horizon(v));
  early_ |= bit(reg);
  if (now.source == kNoReg) {
    load(a, reg);
    return reg;
  }
  copies_.push_back({inst_, a, ScanResult::Kind::Copy, static_cast<std::uint8_t>(reg), now.source});
  used_ |= bit(reg);
  if (keeps_register || wished_register(v) != now.home) return reg;
  // The result wants the register that the operand is in: the operand moves instead.
  const unsigned old = now.home;
  release(a);
  early_ &= ~bit(reg);
  set_home(a, reg);
  pinned_ |= bit(reg);
  early_ |= bit(old);
  taken_ |= bit(old);
  return old;
}

void Scan::define(std::uint32_t number, unsigned reg) {
  const std::uint32_t v = func_->operands[number].vreg.index();
  ValueInfo& value = (*values_)[v];
  Current& now = current_[v];
  set_home(v, reg);
  now.next = notes_->next()[number];
  now.stored = false;
  now.stamp = 0;
  value.def_reg = static_cast<std::uint8_t>(reg);
  if (simple()) {
    if (value.global == ValueInfo::kLocal || value.remat) return;
    now.stored = true;
    value.in_memory = value.store_at_def = true;
    return;
  }
  if (value.affinity.is_some()) {
    ValueInfo& param = (*values_)[value.affinity.index()];
    // The other values that become this parameter follow.
    if (param.def_reg == kNoReg && !result_.blocks[param.def_block].done)
      param.def_reg = value.def_reg;
  }
}

// Uses end; Same definitions begin.
void Scan::finish_uses() {
  std::uint64_t late_pins = 0;
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    if (!is_use(op)) {
      if (op.role == Role::EarlyDef && op.constraint != Constraint::Fixed) {
        late_pins |= bit(out_->allocs[o].reg.index);
      }
      continue;
    }
    const Current& now = current_[op.vreg.index()];
    if ((now.marks & kLate) != 0) {
      if (now.home != kNoReg) late_pins |= bit(now.home);
    } else if (now.next == kDead && now.home != kNoReg) {
      release(op.vreg.index());
    }
  }
  early_ = 0;
  pinned_ = late_pins;
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    if (func_->operands[o].constraint != Constraint::Same) continue;
    const unsigned reg = out_->allocs[o].reg.index;
    define(o, reg);
    pinned_ |= bit(reg);
  }
}

void Scan::late_defs() {
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    if (is_use(op) || op.constraint != Constraint::Fixed) continue;
    assign(o, op.fixed.index);
    define(o, op.fixed.index);
    pinned_ |= bit(op.fixed.index);
  }
  const bool move = (func_->insts[inst_].flags & kMove) != 0;
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const Operand& op = func_->operands[o];
    if (op.role != Role::Def || op.constraint != Constraint::Reg) continue;
    const std::uint32_t v = op.vreg.index();
    if ((*values_)[v].remat && notes_->next()[o] >= end_) {
      // Made where it is needed; see Alloc.
      current_[v].next = notes_->next()[o];
      continue;
    }
    unsigned wish = kNoReg;
    if (move && out_->allocs[first_operand_ + 1].is_reg()) {
      wish = out_->allocs[first_operand_ + 1].reg.index;
    }
    const unsigned reg =
        allocate(v, class_of(v) & ~(late_blocked_ | early_defs_ | held_), def_horizon(v), wish);
    assign(o, reg);
    define(o, reg);
    pinned_ |= bit(reg);
  }
}

void Scan::finish_defs() {
  for (std::uint32_t o = first_operand_; o < end_operand_; ++o) {
    const std::uint32_t v = func_->operands[o].vreg.index();
    if (current_[v].next == kDead && current_[v].home != kNoReg) release(v);
  }
}

}  // namespace hoist::codegen
