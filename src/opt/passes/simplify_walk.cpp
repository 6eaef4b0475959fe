// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/simplify_walk.hpp"

#include <algorithm>
#include <utility>

#include "opt/rules/rules.hpp"

namespace hoist::opt {

using ir::Block;
using ir::BlockCall;
using ir::Inst;

namespace {

/// Rules that make instructions simplify those in turn; deeper than this they are made as asked.
constexpr int kMaxDepth = 12;

class Walk {
 public:
  Walk(ir::Function& func, const ir::DominatorTree& dominators, const MemoryState* memory,
       SimplifyScratch& scratch, std::uint64_t& rewrites_left)
      : func_(func),
        dominators_(dominators),
        memory_(memory),
        table_(scratch.table),
        memory_table_(scratch.memory),
        tokens_(scratch.tokens),
        scopes_(scratch.scopes),
        left_(rewrites_left) {
    table_.reset(func.inst_count());
    memory_table_.reset(memory == nullptr ? 0 : func.inst_count() / 4);
    tokens_.assign(memory == nullptr ? 0 : memory->slots(), 0);
    scopes_.clear();
  }

  SimplifyResult run() {
    for (const Block block : dominators_.preorder()) {
      const Block parent = dominators_.idom(block);
      while (!scopes_.empty() && scopes_.back().block != parent) {
        table_.leave(scopes_.back().mark);
        memory_table_.leave(scopes_.back().memory_mark);
        scopes_.pop_back();
      }
      scopes_.push_back({block, table_.enter(), memory_table_.enter()});
      if (memory_ != nullptr) {
        std::copy_n(memory_->at_entry(block), tokens_.size(), tokens_.begin());
      }
      block_ = block;
      for (Inst inst = func_.first_inst(block); inst.is_some(); inst = next_) {
        next_ = func_.next_inst(inst);
        visit(inst);
      }
    }
    return result_;
  }

 private:
  void visit(Inst inst) {
    const Op op = func_.op(inst);
    const std::uint16_t effects = ir::info(op).effects;
    func_.for_each_arg(inst, [this](Value& v) { v = func_.resolve_and_compress(v); });
    if (effects == 0 || (effects & ir::effect::Idem) != 0) {
      if (func_.results(inst).size() == 1) {
        value(inst);
      } else if (op == Op::Trapz || op == Op::Trapnz) {
        conditional_trap(inst);
      } else {
        reuse(inst, Type());  // several results
      }
    } else if ((effects & ir::effect::Load) != 0 && (effects & ir::effect::Store) == 0) {
      const ir::MemFlags& flags = func_.mem_flags(inst);
      if (flags.readonly && flags.notrap()) {
        reuse(inst, func_.type(func_.result(inst)));
      } else if (memory_ != nullptr) {
        load(inst, flags.region);
      }
    } else if (memory_ != nullptr && (effects & (ir::effect::Store | ir::effect::Call)) != 0) {
      memory_->apply(func_, inst, tokens_.data());
      if (op == Op::Store) remember_stored(inst);
    } else if (op == Op::Brif) {
      brif(inst);
    } else if (op == Op::BrTable) {
      br_table(inst);
    }
  }

  /// An instruction with one result and no effect that an equal dominating one does not have.
  void value(Inst inst) {
    const Value result = func_.result(inst);
    const Type type = func_.type(result);
    ir::InstData data = func_.data(inst);
    place_ = inst;
    const Value simpler = simplified(data, type);
    if (simpler.is_some()) {
      replace(inst, result, func_.resolve_and_compress(simpler));
      return;
    }
    if (!(func_.data(inst) == data)) {
      func_.data(inst) = data;
      ++result_.changes;
    }
    reuse(inst, type);
  }

  // ---- Memory.

  void load(Inst inst, ir::AliasRegion region) {
    InstData key = func_.data(inst);
    key.c = tokens_[memory_->slot(region)];
    const Value result = func_.result(inst);
    const Type type = func_.type(result);
    const Value held = memory_table_.find(key, type);
    if (held.is_none()) {
      memory_table_.insert(key, type, result);
      return;
    }
    if (!take()) return;
    // What was read or written there once did not trap, and memory does not shrink.
    func_.make_alias(result, func_.resolve_and_compress(held));
    func_.remove_inst(inst);
    ++result_.loads;
  }

  /// A load of the same type from the same place will find what was stored.
  void remember_stored(Inst inst) {
    const InstData& store = func_.data(inst);
    const ir::AliasRegion region = func_.mem_flags(inst).region;
    const Value stored(store.a);
    const InstData key{Op::Load, store.aux, store.b, store.c, tokens_[memory_->slot(region)]};
    memory_table_.insert(key, func_.type(stored), stored);
  }

  void replace(Inst inst, Value result, Value by) {
    func_.make_alias(result, by);
    func_.remove_inst(inst);
    ++result_.changes;
  }

  /// Removes `inst` if an equal instruction dominates it, else remembers it.
  void reuse(Inst inst, Type type) {
    const ir::InstData data = func_.data(inst);
    const std::uint32_t hash = ValueTable::hash(data, type);
    const Inst equal = table_.find(func_, data, type, hash);
    if (equal.is_none()) {
      table_.insert(inst, hash);
      return;
    }
    if (!worth_sharing(data.op, equal)) {
      table_.insert(inst, hash);  // nearer to what follows
      return;
    }
    if (!take()) return;
    const std::size_t count = func_.results(inst).size();
    for (std::size_t i = 0; i < count; ++i) {
      func_.make_alias(func_.results(inst)[i], func_.resolve_and_compress(func_.results(equal)[i]));
    }
    func_.remove_inst(inst);
    ++result_.changes;
  }

  /// A comparison next to its branch costs one instruction and no register; kept from another block
  /// it costs more.
  bool worth_sharing(Op op, Inst equal) const {
    return (op != Op::Icmp && op != Op::Fcmp) || func_.inst_block(equal) == block_;
  }

  /// simplify() within the limit of rewrites.
  Value simplified(InstData& data, Type type) {
    if (left_ == 0) return Value::none();
    const InstData before = data;
    Rewriter rw(func_, this, make);
    const Value simpler = simplify(rw, data, type);
    // Making instructions on the way may have used up what was left.
    if (left_ != 0 && (simpler.is_some() || !(data == before))) --left_;
    return simpler;
  }
  bool take() {
    if (left_ == 0) return false;
    --left_;
    return true;
  }

  static Value make(void* self, const InstData& data, Type type) {
    return static_cast<Walk*>(self)->make_value(data, type);
  }
  Value make_value(InstData data, Type type) {
    if (depth_ < kMaxDepth && ir::format(data.op) != ir::Format::UnaryImm) {
      ++depth_;
      const Value simpler = simplified(data, type);
      --depth_;
      if (simpler.is_some()) return func_.resolve_and_compress(simpler);
    }
    const std::uint32_t hash = ValueTable::hash(data, type);
    const Inst equal = table_.find(func_, data, type, hash);
    if (equal.is_some() && worth_sharing(data.op, equal)) {
      return func_.resolve_and_compress(func_.result(equal));
    }
    const Inst inst = func_.make_inst(data, func_.loc(place_));
    const Value result = func_.append_result(inst, type);
    func_.insert_inst_before(inst, place_);
    table_.insert(inst, hash);
    return result;
  }

  // ---- Conditions and branches.

  /// Truth of a constant condition: -1 unknown, else 0 or 1.
  int known(Value c) const {
    const Inst inst = func_.def_inst(c);
    if (inst.is_none() || func_.op(inst) != Op::Iconst) return -1;
    return base::zero_extend(func_.data(inst).imm64(), func_.type(c).bits()) != 0 ? 1 : 0;
  }

  Value strip(Value c, bool& inverted) {
    Rewriter rw(func_, this, make);
    return func_.resolve_and_compress(strip_condition(rw, c, inverted));
  }

  void conditional_trap(Inst inst) {
    if (func_.trap_code(inst) == ir::TrapCode::HeapOutOfBounds) ++result_.checks;
    if (left_ == 0) return;
    bool inverted = false;
    const Value c = strip(func_.arg_a(inst), inverted);
    ir::InstData& data = func_.data(inst);
    if (c != Value(data.a)) {
      data.a = c.index();
      if (inverted) data.op = data.op == Op::Trapz ? Op::Trapnz : Op::Trapz;
      --left_;
      ++result_.changes;
    }
    const int truth = known(c);
    if (truth < 0) {
      reuse(inst, Type());
    } else if (!take()) {
      return;
    } else if ((truth == 1) == (data.op == Op::Trapnz)) {
      always_trap(inst);
    } else {
      func_.remove_inst(inst);
      ++result_.changes;
    }
  }

  /// The trap always happens: what follows in the block does not.
  void always_trap(Inst inst) {
    for (Inst after = func_.next_inst(inst); after.is_some();) {
      const Inst following = func_.next_inst(after);
      func_.remove_inst(after);
      after = following;
    }
    ir::InstData& data = func_.data(inst);
    data.op = Op::Trap;
    data.a = 0;
    next_ = Inst::none();
    ++result_.changes;
    result_.graph_changed = true;
  }

  void brif(Inst inst) {
    if (left_ == 0) return;
    bool inverted = false;
    const Value c = strip(func_.arg_a(inst), inverted);
    ir::InstData& data = func_.data(inst);
    if (c != Value(data.a)) {
      data.a = c.index();
      if (inverted) std::swap(data.b, data.c);
      --left_;
      ++result_.changes;
    }
    if (left_ == 0) return;
    const int truth = known(c);
    if (truth >= 0) {
      jump(inst, BlockCall(truth == 1 ? data.b : data.c));
    } else if (same_call(BlockCall(data.b), BlockCall(data.c))) {
      jump(inst, BlockCall(data.b));
    }
  }

  void br_table(Inst inst) {
    if (left_ == 0) return;
    std::uint64_t index = 0;
    Rewriter rw(func_, this, make);
    if (!rw.constant(func_.arg_a(inst), index)) return;
    const ir::JumpTableData& table = func_.jump_tables[ir::JumpTable(func_.data(inst).b)];
    const std::span<const BlockCall> targets = std::as_const(func_).call_list(table.targets);
    jump(inst, index < targets.size() ? targets[index] : table.default_call);
  }

  bool same_call(BlockCall a, BlockCall b) {
    if (func_.call_target(a) != func_.call_target(b)) return false;
    const std::span<const Value> x = std::as_const(func_).call_args(a);
    const std::span<const Value> y = std::as_const(func_).call_args(b);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (func_.resolve(x[i]) != func_.resolve(y[i])) return false;
    }
    return true;
  }

  void jump(Inst inst, BlockCall target) {
    --left_;
    func_.data(inst) = {Op::Jump, 0, target.index(), 0, 0};
    ++result_.changes;
    result_.graph_changed = true;
  }

  ir::Function& func_;
  const ir::DominatorTree& dominators_;
  const MemoryState* memory_;
  ValueTable& table_;
  MemoryTable& memory_table_;
  std::vector<MemoryState::Token>& tokens_;  // at the instruction being visited
  std::vector<SimplifyScratch::Scope>& scopes_;
  Block block_;
  Inst next_;
  Inst place_;
  int depth_ = 0;
  std::uint64_t& left_;  // rewrites
  SimplifyResult result_;
};

}  // namespace

SimplifyResult simplify_walk(ir::Function& func, const ir::DominatorTree& dominators,
                             const MemoryState* memory, SimplifyScratch& scratch,
                             std::uint64_t& rewrites_left) {
  return Walk(func, dominators, memory, scratch, rewrites_left).run();
}

}  // namespace hoist::opt
