// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The proof of reference_slots.hpp, by plain iteration over sets: slow, and shares no code with
// what it checks.
#include <algorithm>
#include <optional>

#include "base/text/printer.hpp"
#include "opt/passes/reference_slots.hpp"

namespace hoist::opt {

using ir::Block;
using ir::BlockCall;
using ir::Inst;
using ir::Op;
using ir::Value;

namespace {

class Checker {
 public:
  explicit Checker(const ir::Function& func) : func_(func) {}

  std::string run() {
    flow_.compute(func_);
    find_marks();
    find_live();
    for (const Block block : flow_.postorder()) {
      for (Inst inst = func_.first_inst(block); inst.is_some(); inst = func_.next_inst(inst)) {
        for (const ir::StackMapEntry& entry : func_.stack_map(inst)) {
          const auto place = std::pair(entry.slot, entry.offset);
          if (std::find(places_.begin(), places_.end(), place) == places_.end())
            places_.push_back(place);
        }
      }
    }
    find_contents();
    for (const Block block : flow_.postorder()) check(block);
    return problem_;
  }

 private:
  /// What the places hold: a value, none for "differs", nothing for "not reached yet".
  using Contents = std::vector<std::optional<Value>>;

  bool is_null(Value v) const {
    const Inst def = func_.def_inst(v);
    return def.is_some() && func_.op(def) == Op::Iconst;
  }

  void find_marks() {
    marked_.assign(func_.value_count(), false);
    for (std::size_t i = 0; i < func_.value_count(); ++i) {
      if (func_.is_reference(Value(i))) set_mark(Value(i));
    }
    for (bool again = true; again;) {
      again = false;
      for (const Block block : flow_.postorder()) {
        for (Inst inst = func_.first_inst(block); inst.is_some(); inst = func_.next_inst(inst)) {
          const Op op = func_.op(inst);
          if (op == Op::Select || op == Op::SelectSpectreGuard) {
            again |= pass_mark(func_.arg_b(inst), func_.result(inst));
            again |= pass_mark(func_.arg_c(inst), func_.result(inst));
          }
          if (!ir::is_terminator(op)) continue;
          func_.for_each_target(inst, [&](BlockCall call) {
            const auto args = func_.call_args(call);
            const auto params = func_.block_params(func_.call_target(call));
            for (std::size_t i = 0; i < args.size(); ++i) again |= pass_mark(args[i], params[i]);
          });
        }
      }
    }
  }
  bool set_mark(Value v) {
    v = func_.resolve(v);
    if (marked_[v.index()] || func_.type(v) != ir::I64 || is_null(v)) return false;
    marked_[v.index()] = true;
    return true;
  }
  bool pass_mark(Value from, Value to) {
    return marked_[func_.resolve(from).index()] && set_mark(to);
  }

  // ---- Liveness of marked values.
  using Set = std::vector<bool>;
  /// Goes backwards through a block; `visit(inst, set)` sees what is live behind each instruction.
  template <typename F>
  Set walk_up(Block block, F&& visit) {
    Set live(func_.value_count(), false);
    for (const Block successor : flow_.successors(block)) {
      const Set& in = live_in_[successor.index()];
      for (std::size_t i = 0; i < in.size(); ++i) live[i] = live[i] || in[i];
    }
    for (Inst inst = func_.last_inst(block); inst.is_some(); inst = func_.prev_inst(inst)) {
      if (ir::is_terminator(func_.op(inst))) {
        func_.for_each_target(inst, [&](BlockCall call) {
          for (const Value arg : func_.call_args(call)) live[func_.resolve(arg).index()] = true;
        });
      }
      for (const Value result : func_.results(inst)) live[result.index()] = false;
      visit(inst, live);
      func_.for_each_operand(inst, [&](Value v) { live[func_.resolve(v).index()] = true; });
    }
    for (const Value param : func_.block_params(block)) live[param.index()] = false;
    return live;
  }
  void find_live() {
    live_in_.assign(func_.block_count(), Set(func_.value_count(), false));
    for (bool again = true; again;) {
      again = false;
      for (const Block block : flow_.postorder()) {
        Set live = walk_up(block, [](Inst, const Set&) {});
        if (live == live_in_[block.index()]) continue;
        live_in_[block.index()] = std::move(live);
        again = true;
      }
    }
  }

  // ---- What the slots hold.
  void step(Inst inst, Contents& contents) const {
    if (func_.op(inst) != Op::Store) return;
    const Inst address = func_.def_inst(func_.arg_b(inst));
    if (address.is_none() || func_.op(address) != Op::StackAddr) return;
    const auto offset =
        static_cast<std::uint32_t>(func_.store_offset(inst)) + func_.data(address).b;
    const auto place = std::pair(ir::StackSlot(func_.data(address).a), offset);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] == place) contents[i] = func_.resolve(func_.arg_a(inst));
    }
  }
  void find_contents() {
    contents_.assign(func_.block_count(), Contents(places_.size()));
    contents_[func_.entry_block().index()].assign(places_.size(), Value::none());
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = flow_.postorder().size(); i-- > 0;) {
        const Block block = flow_.postorder()[i];
        Contents contents = contents_[block.index()];
        for (Inst inst = func_.first_inst(block); inst.is_some(); inst = func_.next_inst(inst)) {
          step(inst, contents);
        }
        for (const Block successor : flow_.successors(block)) {
          Contents& in = contents_[successor.index()];
          for (std::size_t p = 0; p < places_.size(); ++p) {
            if (!contents[p] || in[p] == contents[p] || in[p] == Value::none()) continue;
            in[p] = in[p] ? Value::none() : *contents[p];
            again = true;
          }
        }
      }
    }
  }

  void check(Block block) {
    // Forwards for the contents, backwards for what is live: the contents at each call first.
    std::vector<std::pair<Inst, Contents>> calls;
    Contents contents = contents_[block.index()];
    for (Inst inst = func_.first_inst(block); inst.is_some(); inst = func_.next_inst(inst)) {
      const Op op = func_.op(inst);
      if (ir::is_call(op) && (!ir::is_terminator(op) || ir::is_try(op)))
        calls.push_back({inst, contents});
      step(inst, contents);
    }
    walk_up(block, [&](Inst inst, const Set& live) {
      if (calls.empty() || calls.back().first != inst) return;
      check_call(inst, live, calls.back().second);
      calls.pop_back();
    });
  }
  void check_call(Inst inst, const Set& live, const Contents& contents) {
    std::vector<Value> listed;
    for (const ir::StackMapEntry& entry : func_.stack_map(inst)) {
      const auto place = std::pair(entry.slot, entry.offset);
      const auto at = std::find(places_.begin(), places_.end(), place) - places_.begin();
      const std::optional<Value> held = contents[static_cast<std::size_t>(at)];
      if (!held || held->is_none() || (!marked_[held->index()] && !is_null(*held))) {
        return report(inst, "its stack map names a slot that may hold no reference");
      }
      listed.push_back(*held);
    }
    for (std::size_t i = 0; i < live.size(); ++i) {
      if (!live[i] || !marked_[i]) continue;
      if (std::find(listed.begin(), listed.end(), Value(i)) != listed.end()) continue;
      base::Printer name;
      name << "the reference " << Value(i) << " is live across it in no slot of its stack map";
      return report(inst, name.take());
    }
  }
  void report(Inst inst, std::string what) {
    if (!problem_.empty()) return;
    base::Printer out;
    out << func_.inst_block(inst) << ", " << inst << ": " << what;
    problem_ = out.take();
  }

  const ir::Function& func_;
  ir::ControlFlow flow_;
  Set marked_;
  std::vector<Set> live_in_;
  std::vector<std::pair<ir::StackSlot, std::uint32_t>> places_;
  std::vector<Contents> contents_;
  std::string problem_;
};

}  // namespace

std::string check_reference_slots(const ir::Function& func) {
  if (!func.has_references() || func.entry_block().is_none()) return {};
  return Checker(func).run();
}

}  // namespace hoist::opt
