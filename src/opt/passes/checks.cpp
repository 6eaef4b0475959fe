// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/checks.hpp"

#include <algorithm>
#include <utility>

namespace hoist::opt {

using ir::Block;
using ir::Inst;
using ir::InstData;
using ir::IntCC;
using ir::Loop;
using ir::Op;
using ir::Value;

namespace {

/// Instructions that make an address or a condition, from the first to the last.
constexpr unsigned kMaxDepth = 6;
/// Loops that one load leaves.
constexpr std::size_t kMaxNest = 16;
/// Loads moved and facts known that are looked at, latest first.
constexpr std::size_t kMaxCandidates = 32;

class Checks {
 public:
  Checks(ir::Function& func, const ir::DominatorTree& dominators, const MemoryState& memory,
         ChecksScratch& scratch, std::uint64_t& rewrites_left)
      : func_(func),
        dominators_(dominators),
        memory_(memory),
        scratch_(scratch),
        loops_(scratch.loops),
        left_(rewrites_left) {}

  std::uint64_t run(const ir::ControlFlow& flow) {
    loops_.compute(func_, flow, dominators_);
    if (loops_.loop_count() != 0) {
      find_places();
      move_loads();
      // Inner loops have the lower numbers: what leaves them may go on outwards.
      for (std::uint32_t i = 0; i < loops_.loop_count(); ++i) move_first_checks(Loop(i));
    }
    remove_implied();
    return changes_;
  }

 private:
  bool take() {
    if (left_ == 0) return false;
    --left_;
    ++changes_;
    return true;
  }

  // ---- In front of loops.

  /// For each loop the last block that dominates it and is in no loop that it is not in; or none.
  void find_places() {
    scratch_.places.assign(loops_.loop_count(), Block::none());
    // Headers that dominate others have higher numbers.
    for (std::uint32_t i = static_cast<std::uint32_t>(loops_.loop_count()); i-- > 0;) {
      const Block header = loops_.header(Loop(i));
      Block at = dominators_.idom(header);
      if (at.is_none()) continue;
      // In front of a loop that comes before this one.
      const Loop left = outermost_left(loops_.loop_of(at), loops_.loop_of(header));
      if (left.is_some()) at = place(left);
      // What ends a block and has effects besides may have them before the block is left.
      if (at.is_some() && !ir::is_call(func_.op(func_.last_inst(at)))) scratch_.places[i] = at;
    }
  }
  /// The outermost of `from` and the loops around it that is not `to` or around it; or none.
  Loop outermost_left(Loop from, Loop to) const {
    Loop left;
    while (from != to) {
      if (to.is_none() || (from.is_some() && loops_.depth(from) >= loops_.depth(to))) {
        left = from;
        from = loops_.parent(from);
      } else {
        to = loops_.parent(to);
      }
    }
    return left;
  }
  Block place(Loop loop) const { return scratch_.places[loop.index()]; }

  /// Is `v` there at the end of `place`?
  bool is_available(Value v, Block place) const {
    const ir::ValueData& data = func_.value(v);
    if (data.kind == ir::ValueKind::Param) return dominators_.dominates(Block(data.source), place);
    if (data.kind != ir::ValueKind::Result) return false;
    return dominators_.dominates(func_.inst_block(Inst(data.source)), place);
  }

  /// Operations that cost about as much as keeping their results.
  static bool is_cheap(Op op) {
    return op == Op::Iconst || op == Op::Iadd || op == Op::Isub || op == Op::Icmp ||
           op == Op::Uextend || op == Op::Ishl || op == Op::Select;
  }

  bool may_move(Inst inst) const {
    const Op op = func_.op(inst);
    if (is_cheap(op)) return func_.type(func_.result(inst)).is_int();
    if (op != Op::Load) return false;
    const ir::MemFlags& flags = func_.mem_flags(inst);
    return flags.notrap() && flags.can_move && flags.readonly && !is_reference(inst);
  }
  bool is_reference(Inst inst) const {
    return func_.has_references() && func_.is_reference(func_.result(inst));
  }

  /// Can `v` be computed at the end of `place`?
  bool can_move(Value v, Block place, unsigned depth = kMaxDepth) const {
    v = func_.resolve(v);
    if (is_available(v, place)) return true;
    const Inst inst = func_.def_inst(v);
    return inst.is_some() && depth != 0 && may_move(inst) && operands_can_move(inst, place, depth);
  }
  bool operands_can_move(Inst inst, Block place, unsigned depth = kMaxDepth) const {
    bool all = true;
    std::as_const(func_).for_each_operand(
        inst, [&](Value v) { all = all && can_move(v, place, depth - 1); });
    return all;
  }

  void move_value(Value v, Block place) {
    v = func_.resolve(v);
    if (!is_available(v, place)) move_inst(func_.def_inst(v), place);
  }
  void move_inst(Inst inst, Block place) {
    std::as_const(func_).for_each_operand(inst, [&](Value v) { move_value(v, place); });
    func_.remove_inst(inst);
    func_.insert_inst_before(inst, func_.last_inst(place));
  }

  // ---- Loads.

  void move_loads() {
    scratch_.moved.clear();
    scratch_.tokens.resize(memory_.slots());
    for (const Block block : dominators_.preorder()) {
      if (loops_.loop_of(block).is_none()) continue;
      std::copy_n(memory_.at_entry(block), memory_.slots(), scratch_.tokens.begin());
      scratch_.nest.clear();
      for (Loop loop = loops_.loop_of(block); loop.is_some(); loop = loops_.parent(loop)) {
        if (scratch_.nest.size() == kMaxNest) break;
        scratch_.nest.push_back(loop);
      }
      for (Inst inst = func_.first_inst(block); inst.is_some();) {
        const Inst next = func_.next_inst(inst);
        if (func_.op(inst) == Op::Load) {
          move_load(inst);
        } else {
          memory_.apply(func_, inst, scratch_.tokens.data());
        }
        inst = next;
      }
    }
  }

  void move_load(Inst inst) {
    const ir::MemFlags& flags = func_.mem_flags(inst);
    // What never changes moves only for something else that does: it is cheap to load again.
    if (!flags.notrap() || !flags.can_move || flags.readonly || is_reference(inst)) return;
    const std::uint32_t slot = memory_.slot(flags.region);
    const MemoryState::Token token = scratch_.tokens[slot];
    for (std::size_t i = scratch_.nest.size(); i-- > 0;) {
      const Block to = place(scratch_.nest[i]);
      if (to.is_none() || memory_.at_exit(to, slot) != token) continue;
      if (!operands_can_move(inst, to)) continue;
      if (!take()) return;
      move_or_reuse(inst, to, token);
      return;
    }
  }

  void move_or_reuse(Inst inst, Block to, MemoryState::Token token) {
    const Value value = func_.result(inst);
    InstData data = func_.data(inst);
    data.a = func_.resolve(Value(data.a)).index();
    const auto& moved = scratch_.moved;
    const std::size_t looked_at = std::min(moved.size(), kMaxCandidates);
    for (std::size_t i = moved.size(); i-- > moved.size() - looked_at;) {
      const ChecksScratch::Moved& other = moved[i];
      if (other.token != token || !(other.data == data)) continue;
      if (func_.type(other.value) != func_.type(value)) continue;
      if (other.place != to && !dominators_.dominates(other.place, to)) continue;
      func_.make_alias(value, other.value);
      func_.remove_inst(inst);
      return;
    }
    move_inst(inst, to);
    scratch_.moved.push_back({to, data, token, value});
  }

  // ---- Checks.

  static bool is_check(Op op) { return op == Op::Trapnz || op == Op::Trapz; }

  void move_first_checks(Loop loop) {
    const Block to = place(loop);
    const Block header = loops_.header(loop);
    if (to.is_none() || func_.op(func_.last_inst(to)) != Op::Jump) return;
    if (func_.call_target(ir::BlockCall(func_.data(func_.last_inst(to)).a)) != header) return;
    for (Inst inst = func_.first_inst(header); inst.is_some();) {
      const Inst next = func_.next_inst(inst);
      const Op op = func_.op(inst);
      if (is_check(op)) {
        const Value condition = func_.arg_a(inst);
        if (!can_move(condition, to) || !take()) return;
        move_value(condition, to);
        func_.remove_inst(inst);
        func_.insert_inst_before(inst, func_.last_inst(to));
      } else if (!ir::is_pure(op)) {
        const bool is_load = ir::info(op).effects == (ir::effect::Load | ir::effect::Trap);
        if (!is_load || !func_.mem_flags(inst).notrap()) return;
      }
      inst = next;
    }
  }

  /// Passing the check means x + extent <= length.
  struct Bound {
    Value x;
    Value length;
    std::uint64_t extent = 0;
  };

  bool bound_of(Inst check, Bound& out) const {
    if (func_.op(check) != Op::Trapnz) return false;
    const Inst compare = func_.def_inst(func_.arg_a(check));
    if (compare.is_none() || func_.op(compare) != Op::Icmp) return false;
    IntCC cc = func_.int_cc(compare);
    Value large = func_.resolve(func_.arg_a(compare));
    Value small = func_.resolve(func_.arg_b(compare));
    if (func_.type(large) != ir::I64) return false;
    if (cc == IntCC::Ult || cc == IntCC::Ule) {
      cc = ir::swapped(cc);
      std::swap(large, small);
    }
    if (cc != IntCC::Ugt && cc != IntCC::Uge) return false;
    out = {large, small, cc == IntCC::Uge ? std::uint64_t{1} : 0};
    add_constant(out);
    return true;
  }

  /// Looks through the sum of a zero-extended i32 and a constant that cannot wrap.
  void add_constant(Bound& bound) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
    const Inst sum = func_.def_inst(bound.x);
    if (sum.is_none() || func_.op(sum) != Op::Iadd) return;
    const Inst index = func_.def_inst(func_.arg_a(sum));
    const Inst constant = func_.def_inst(func_.arg_b(sum));
    if (index.is_none() || func_.op(index) != Op::Uextend) return;
    if (constant.is_none() || func_.op(constant) != Op::Iconst) return;
    const std::uint64_t addend = func_.data(constant).imm64();
    if (addend > kMost) return;
    bound.extent += addend;
    bound.x = func_.resolve(func_.arg_a(sum));
  }

  bool is_implied(const Bound& bound) const {
    const auto& facts = scratch_.facts;
    const std::size_t looked_at = std::min(facts.size(), kMaxCandidates);
    for (std::size_t i = facts.size(); i-- > facts.size() - looked_at;) {
      const ChecksScratch::Fact& fact = facts[i];
      if (fact.x == bound.x && fact.length == bound.length && fact.extent >= bound.extent) {
        return true;
      }
    }
    return false;
  }

  void remove_implied() {
    auto& facts = scratch_.facts;
    facts.clear();
    for (const Block block : dominators_.preorder()) {
      while (!facts.empty() && !dominators_.dominates(facts.back().block, block)) facts.pop_back();
      for (Inst inst = func_.first_inst(block); inst.is_some();) {
        const Inst next = func_.next_inst(inst);
        Bound bound;
        if (bound_of(inst, bound)) {
          if (is_implied(bound)) {
            if (!take()) return;
            func_.remove_inst(inst);
          } else {
            facts.push_back({bound.x, bound.length, bound.extent, block});
          }
        }
        inst = next;
      }
    }
  }

  ir::Function& func_;
  const ir::DominatorTree& dominators_;
  const MemoryState& memory_;
  ChecksScratch& scratch_;
  ir::LoopForest& loops_;
  std::uint64_t& left_;  // rewrites
  std::uint64_t changes_ = 0;
};

}  // namespace

std::uint64_t move_checks(ir::Function& func, const ir::ControlFlow& flow,
                          const ir::DominatorTree& dominators, const MemoryState& memory,
                          ChecksScratch& scratch, std::uint64_t& rewrites_left) {
  return Checks(func, dominators, memory, scratch, rewrites_left).run(flow);
}

}  // namespace hoist::opt
