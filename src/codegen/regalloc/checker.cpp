// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_allocation: a symbolic execution of the allocated function, which shares no code with the
// allocators.
//
// The state maps each register and spill slot to the set of virtual registers whose current value
// it is known to hold. Instructions and copies change it, where control flow meets the sets are
// intersected, and once nothing changes any more each use must find its register in the set of its
// location. A definition takes its register out of all other sets: what they hold is the value of
// an earlier loop iteration.
//
// Checked besides: constraints, conflicts between the operands of one instruction, registers that
// may not be allocated, order and shape of the copies, slot bounds, `Allocation::used`. Not
// checked: that the code is good, that the flags survive the copies.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/mach/print.hpp"
#include "codegen/regalloc/allocation.hpp"

namespace hoist::codegen {

namespace {

/// Interned sets of virtual registers; 0 is the empty set.
class SetPool {
 public:
  SetPool() { intern({}); }
  using Set = std::vector<std::uint32_t>;  // sorted

  std::uint32_t intern(Set set) {
    const auto [at, fresh] =
        ids_.try_emplace(std::move(set), static_cast<std::uint32_t>(sets_.size()));
    if (fresh) sets_.push_back(&at->first);
    return at->second;
  }
  const Set& get(std::uint32_t id) const { return *sets_[id]; }
  bool contains(std::uint32_t id, std::uint32_t v) const {
    return std::binary_search(get(id).begin(), get(id).end(), v);
  }
  std::uint32_t without(std::uint32_t id, std::uint32_t v) {
    if (id == 0 || !contains(id, v)) return id;
    Set set = get(id);
    set.erase(std::lower_bound(set.begin(), set.end(), v));
    return intern(std::move(set));
  }
  std::uint32_t intersect(std::uint32_t a, std::uint32_t b) {
    if (a == b) return a;
    if (a == 0 || b == 0) return 0;
    Set set;
    std::set_intersection(get(a).begin(), get(a).end(), get(b).begin(), get(b).end(),
                          std::back_inserter(set));
    return intern(std::move(set));
  }

 private:
  std::map<Set, std::uint32_t> ids_;
  std::vector<const Set*> sets_;
};

class Checker {
 public:
  Checker(const MachFunction& func, const RegisterFile& regs, const Allocation& alloc)
      : func_(func), regs_(regs), alloc_(alloc) {
    for (const PReg reg : regs.int_order) allocatable_.add(reg);
    for (const PReg reg : regs.float_order) allocatable_.add(reg);
  }
  std::string run();

 private:
  using State = std::vector<std::uint32_t>;
  static constexpr std::uint32_t kUnvisited = 0xffff'ffff;

  bool check_shape();
  void flow(std::uint32_t block);
  void execute(std::uint32_t block);
  void apply(const AllocMove& move);
  void visit(std::uint32_t inst);
  void check_use(std::uint32_t inst, std::uint32_t number);
  void check_conflicts(std::uint32_t inst);
  void define(std::uint32_t number);
  void write(Alloc to, std::uint32_t set, unsigned bytes);
  void meet(const MachEdge& edge, const State& from);
  bool ends_in_try(std::uint32_t block) const {
    return (func_.insts[func_.blocks[MachBlock(block)].end_inst - 1].flags & kTry) != 0;
  }
  std::uint32_t fitting(std::uint32_t set, RegClass cls, unsigned bytes);

  void error(const std::string& text) {
    if (message_.empty()) message_ = text;
  }
  void error_at(std::uint32_t inst, std::uint32_t operand, const std::string& text);
  std::string name(Alloc alloc) const {
    base::Printer out;
    print(out, alloc);
    return out.take();
  }
  std::size_t place(Alloc alloc) const {
    return alloc.is_reg() ? alloc.reg.index : std::size_t{64} + alloc.slot;
  }
  bool valid_place(Alloc alloc) const {
    if (alloc.is_reg()) return alloc.reg.index < 64;
    return alloc.is_slot() && alloc.slot < alloc_.spill_slots;
  }

  const MachFunction& func_;
  const RegisterFile& regs_;
  const Allocation& alloc_;
  RegMask allocatable_;
  SetPool sets_;
  std::vector<State> entry_;
  State state_;
  State thrown_;  ///< what a handler of the last call finds
  std::vector<std::uint32_t> todo_;
  std::vector<std::uint8_t> queued_;
  std::uint32_t block_ = 0;
  bool report_ = false;
  std::string message_;
};

void Checker::error_at(std::uint32_t inst, std::uint32_t operand, const std::string& text) {
  if (!message_.empty()) return;
  message_ = "mb" + std::to_string(block_) + " inst " + std::to_string(inst);
  if (operand != kUnvisited) {
    message_ += " operand " + std::to_string(operand - func_.insts[inst].first_operand) + " (";
    base::Printer out;
    print_operand(out, func_, operand, &alloc_);
    message_ += out.take() + ")";
  }
  message_ += ": " + text;
}

std::string Checker::run() {
  if (!check_shape()) return message_;
  entry_.assign(func_.blocks.size(), State{});
  queued_.assign(func_.blocks.size(), 0);
  entry_[0].assign(std::size_t{64} + alloc_.spill_slots, 0);
  todo_ = {0};
  for (std::size_t next = 0; next < todo_.size(); ++next) {
    queued_[todo_[next]] = 0;
    flow(todo_[next]);
  }
  report_ = true;
  for (std::uint32_t b = 0; b < func_.blocks.size() && message_.empty(); ++b) {
    if (entry_[b].empty()) continue;  // not reachable
    state_ = entry_[b];
    execute(b);
  }
  return message_;
}

// What holds without knowing the values.
bool Checker::check_shape() {
  if (alloc_.allocs.size() != func_.operands.size()) {
    error("the allocation has " + std::to_string(alloc_.allocs.size()) + " locations for " +
          std::to_string(func_.operands.size()) + " operands");
  }
  RegMask written = alloc_.used;
  written.add(regs_.float_scratch);
  std::uint32_t last = 0;
  for (std::size_t m = 0; m < alloc_.moves.size() && message_.empty(); ++m) {
    const AllocMove& move = alloc_.moves[m];
    const std::string where = "copy " + std::to_string(m) + ": ";
    if (move.before < last) error(where + "not in the order of the instructions");
    if (move.before >= func_.insts.size()) error(where + "behind the last instruction");
    last = move.before;
    const bool remat = move.remat_inst != AllocMove::kNoRemat;
    if (!valid_place(move.to) || (!remat && !valid_place(move.from)))
      error(where + "no such place");
    if (!message_.empty()) break;
    for (const Alloc a : {move.to, remat ? move.to : move.from}) {
      if (!a.is_reg()) continue;
      const bool known = allocatable_.contains(a.reg) || a.reg == regs_.float_scratch;
      if (!known && a == move.to) error(where + name(a) + " may not be written");
      if (a.reg.cls() != move.cls) error(where + name(a) + " is of the other class");
    }
    if (move.to.is_reg() && !written.contains(move.to.reg)) {
      error(where + name(move.to) + " is not in the set of used registers");
    }
    if (move.bytes == 16 && move.to.is_slot() &&
        (move.to.slot % 2 != 0 || move.to.slot + 1u >= alloc_.spill_slots)) {
      error(where + "a 16-byte slot that is not aligned");
    }
    if (remat) {
      const bool ok = move.remat_inst < func_.insts.size() &&
                      (func_.insts[move.remat_inst].flags & kRemat) != 0 &&
                      func_.insts[move.remat_inst].operand_count == 1 && move.to.is_reg();
      if (!ok) error(where + "not an instruction to be made again");
    } else if (move.kind == AllocMove::Kind::Exchange) {
      const bool ints = move.to.is_reg() && move.from.is_reg() && move.cls == RegClass::Int;
      if (!ints) error(where + "only integer registers are exchanged");
    }
  }
  return message_.empty();
}

void Checker::flow(std::uint32_t block) {
  state_ = entry_[block];
  execute(block);
  bool is_handler = false;
  for (const MachEdge& edge : func_.succs_of(func_.blocks[MachBlock(block)])) {
    meet(edge, is_handler ? thrown_ : state_);
    is_handler = ends_in_try(block);
  }
}

void Checker::execute(std::uint32_t block) {
  block_ = block;
  const MachBlockData& data = func_.blocks[MachBlock(block)];
  auto move =
      std::lower_bound(alloc_.moves.begin(), alloc_.moves.end(), data.first_inst,
                       [](const AllocMove& m, std::uint32_t inst) { return m.before < inst; });
  for (std::uint32_t i = data.first_inst; i < data.end_inst; ++i) {
    for (; move != alloc_.moves.end() && move->before == i; ++move) apply(*move);
    visit(i);
  }
}

std::uint32_t Checker::fitting(std::uint32_t set, RegClass cls, unsigned bytes) {
  const auto fits = [&](std::uint32_t v) {
    const VRegData& data = func_.vregs[VReg(v)];
    return data.cls == cls && data.bytes <= bytes;
  };
  if (std::all_of(sets_.get(set).begin(), sets_.get(set).end(), fits)) return set;
  SetPool::Set kept;
  std::copy_if(sets_.get(set).begin(), sets_.get(set).end(), std::back_inserter(kept), fits);
  return sets_.intern(std::move(kept));
}

void Checker::write(Alloc to, std::uint32_t set, unsigned bytes) {
  const std::size_t at = place(to);
  if (to.is_slot()) {
    // A 16-byte value that starts one slot before loses its upper half.
    if (to.slot > 0) {
      SetPool::Set narrow;
      for (const std::uint32_t v : sets_.get(state_[at - 1])) {
        if (func_.vregs[VReg(v)].bytes <= 8) narrow.push_back(v);
      }
      state_[at - 1] = sets_.intern(std::move(narrow));
    }
    if (bytes == 16) state_[at + 1] = 0;
  }
  state_[at] = set;
}

void Checker::apply(const AllocMove& move) {
  if (move.remat_inst != AllocMove::kNoRemat) {
    const Operand& def = func_.operands[func_.insts[move.remat_inst].first_operand];
    write(move.to, fitting(sets_.intern({def.vreg.index()}), move.cls, move.bytes), move.bytes);
    return;
  }
  if (move.kind == AllocMove::Kind::Exchange) {
    std::swap(state_[place(move.to)], state_[place(move.from)]);
    return;
  }
  if (move.to.is_slot() && move.from.is_slot()) state_[regs_.float_scratch.index] = 0;
  write(move.to, fitting(state_[place(move.from)], move.cls, move.bytes), move.bytes);
}

void Checker::visit(std::uint32_t i) {
  const MachInst& inst = func_.insts[i];
  const std::uint32_t end = inst.first_operand + inst.operand_count;
  if (report_) {
    for (std::uint32_t o = inst.first_operand; o < end; ++o) {
      const Role role = func_.operands[o].role;
      if (role == Role::Use || role == Role::LateUse) check_use(i, o);
    }
    check_conflicts(i);
    if (!message_.empty()) return;
  }
  for (std::uint32_t o = inst.first_operand; o < end; ++o) {
    if (func_.operands[o].role == Role::EarlyDef) define(o);
  }
  const RegMask clobbers = func_.clobber_sets[inst.clobbers];
  for (unsigned r = 0; r < 64; ++r) {
    if (clobbers.contains(PReg{static_cast<std::uint8_t>(r)})) state_[r] = 0;
  }
  // An exception arrives after whatever the callee clobbered and without results.
  if ((inst.flags & kCall) != 0 && ends_in_try(block_)) {
    thrown_ = state_;
    std::fill(thrown_.begin(), thrown_.begin() + 64, 0);
  }
  for (std::uint32_t o = inst.first_operand; o < end; ++o) {
    if (func_.operands[o].role == Role::Def) define(o);
  }
}

void Checker::check_use(std::uint32_t inst, std::uint32_t number) {
  const Operand& op = func_.operands[number];
  const Alloc at = alloc_.allocs[number];
  if (!valid_place(at)) return error_at(inst, number, "has no location");
  const bool may_be_slot =
      op.constraint == Constraint::RegOrSlot || op.constraint == Constraint::Slot;
  if (at.is_slot() && !may_be_slot) return error_at(inst, number, "must be in a register");
  if (at.is_reg() && op.constraint == Constraint::Slot) {
    return error_at(inst, number, "must be in a slot");
  }
  const RegClass cls = func_.vregs[op.vreg].cls;
  if (at.is_reg() && at.reg.cls() != cls)
    return error_at(inst, number, "register of the other class");
  if (op.constraint == Constraint::Fixed && !(at == Alloc::of(op.fixed))) {
    return error_at(inst, number, "must be in the register that it is fixed to");
  }
  if (sets_.contains(state_[place(at)], op.vreg.index())) return;
  base::Printer out;
  out << name(at) << " does not hold " << op.vreg << ", it holds {";
  for (const std::uint32_t v : sets_.get(state_[place(at)])) out << ' ' << VReg(v);
  out << " }";
  error_at(inst, number, out.take());
}

void Checker::check_conflicts(std::uint32_t i) {
  const MachInst& inst = func_.insts[i];
  const RegMask clobbers = func_.clobber_sets[inst.clobbers];
  RegMask early_uses;
  RegMask late_uses;
  RegMask early_defs;
  RegMask late_defs;
  for (std::uint32_t o = inst.first_operand; o < inst.first_operand + inst.operand_count; ++o) {
    const Operand& op = func_.operands[o];
    const Alloc at = alloc_.allocs[o];
    if (op.role == Role::Use || op.role == Role::LateUse) {
      if (!at.is_reg()) continue;
      (op.role == Role::Use ? early_uses : late_uses).add(at.reg);
      continue;
    }
    const bool not_made = at.kind == Alloc::Kind::None && (inst.flags & kRemat) != 0 &&
                          inst.operand_count == 1 && op.role == Role::Def;
    if (not_made) continue;
    if (!at.is_reg()) return error_at(i, o, "a definition must be in a register");
    if (at.reg.cls() != func_.vregs[op.vreg].cls)
      return error_at(i, o, "register of the other class");
    if (!alloc_.used.contains(at.reg)) return error_at(i, o, "not in the set of used registers");
    if (op.constraint == Constraint::Fixed) {
      if (!(at.reg == op.fixed))
        return error_at(i, o, "must be in the register that it is fixed to");
    } else if (!allocatable_.contains(at.reg)) {
      return error_at(i, o, "not a register to be allocated");
    }
    if (op.constraint == Constraint::Same &&
        !(at == alloc_.allocs[inst.first_operand + op.same_as])) {
      return error_at(i, o, "must be in the register of the operand that it is the same as");
    }
    if ((early_defs | late_defs).contains(at.reg)) return error_at(i, o, "register defined twice");
    const bool fixed = op.constraint == Constraint::Fixed;
    if (op.role == Role::Def && !fixed && clobbers.contains(at.reg)) {
      return error_at(i, o, "register clobbered by the instruction");
    }
    (op.role == Role::EarlyDef ? early_defs : late_defs).add(at.reg);
  }
  for (std::uint32_t o = inst.first_operand; o < inst.first_operand + inst.operand_count; ++o) {
    const Operand& op = func_.operands[o];
    const Alloc at = alloc_.allocs[o];
    if (!at.is_reg()) continue;
    if (op.role == Role::EarlyDef && (early_uses | late_uses).contains(at.reg)) {
      return error_at(i, o, "early definition in the register of a use");
    }
    if (op.role == Role::LateUse && (early_defs | late_defs | clobbers).contains(at.reg)) {
      return error_at(i, o, "late use in a register that the instruction writes");
    }
  }
}

void Checker::define(std::uint32_t number) {
  const Alloc at = alloc_.allocs[number];
  const std::uint32_t v = func_.operands[number].vreg.index();
  if (!at.is_reg()) return;
  for (std::uint32_t& set : state_) set = sets_.without(set, v);
  state_[at.reg.index] = sets_.intern({v});
}

// The successor's parameters are new names for the arguments.
void Checker::meet(const MachEdge& edge, const State& from) {
  const auto args = func_.args_of(edge);
  const auto params = func_.params_of(func_.blocks[edge.target]);
  State state = from;
  if (!args.empty()) {
    for (std::uint32_t& id : state) {
      if (id == 0) continue;
      SetPool::Set set = sets_.get(id);
      SetPool::Set named;
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (sets_.contains(id, args[i].index())) named.push_back(params[i].index());
      }
      for (const VReg param : params) std::erase(set, param.index());
      set.insert(set.end(), named.begin(), named.end());
      std::sort(set.begin(), set.end());
      id = sets_.intern(std::move(set));
    }
  }
  State& entry = entry_[edge.target.index()];
  bool changed = entry.empty();
  if (changed) {
    entry = std::move(state);
  } else {
    for (std::size_t i = 0; i < entry.size(); ++i) {
      const std::uint32_t both = sets_.intersect(entry[i], state[i]);
      changed = changed || both != entry[i];
      entry[i] = both;
    }
  }
  if (!changed || queued_[edge.target.index()] != 0) return;
  queued_[edge.target.index()] = 1;
  todo_.push_back(edge.target.index());
}

}  // namespace

std::string check_allocation(const MachFunction& func, const RegisterFile& regs,
                             const Allocation& alloc) {
  return Checker(func, regs, alloc).run();
}

}  // namespace hoist::codegen
