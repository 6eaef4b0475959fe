// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/reference_slots.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace hoist::opt {

using ir::Block;
using ir::BlockCall;
using ir::Inst;
using ir::Op;
using ir::Value;

namespace {
/// Values live into blocks, or at calls, that every function may have, and more per instruction.
constexpr std::uint64_t kFewEntries = std::uint64_t{1} << 20;
constexpr std::uint64_t kEntriesPerInst = 64;

/// A call that comes back while the frame is there.
bool is_safepoint(Op op) {
  return ir::is_call(op) && (!ir::is_terminator(op) || ir::is_try(op));
}

Error too_complex() {
  return {ErrorKind::Limit,
          "function is too complex: too many references are live across its calls"};
}
}  // namespace

template <typename F>
void ReferenceSlots::for_each_use(const ir::Function& func, Inst inst, F&& visit) {
  func.for_each_arg(inst, [&](Value v) { visit(v); });
}

Result<void> ReferenceSlots::run(ir::Function& func) {
  if (!func.has_references() || func.entry_block().is_none()) return {};
  flow_.compute(func);
  spread_marks(func);
  find_definitions(func);
  if (references_.empty()) return {};
  find_uses(func);
  const std::uint64_t budget = kFewEntries + kEntriesPerInst * func.inst_count();
  if (!find_live_blocks(budget) || !find_live_at_calls(func, budget)) return too_complex();
  assign_slots();
  if (slots_ == 0) return {};
  ir::StackSlotData area;
  area.bytes = 8 * slots_;
  area.align_log2 = 3;
  const ir::StackSlot slot = func.stack_slots.push(area);
  insert_stores(func, slot);
  std::vector<ir::StackMapEntry> map;
  for (const Call& call : calls_) {
    const auto before = func.stack_map(call.inst);
    map.assign(before.begin(), before.end());
    for (std::uint32_t i = call.first; i < call.end; ++i) {
      map.push_back({ir::I64, slot, 8 * references_[live_at_calls_[i]].slot});
    }
    func.set_stack_map(call.inst, map);
  }
  return {};
}

// A mark holds for what an alias stands for, and goes where the value goes unchanged.
void ReferenceSlots::spread_marks(ir::Function& func) {
  marked_.assign(func.value_count(), 0);
  work_.clear();
  const auto mark = [&](Value v) {
    if (marked_[v.index()] != 0 || func.type(v) != ir::I64) return;
    // Null needs no slot.
    if (const Inst def = func.def_inst(v); def.is_some() && func.op(def) == Op::Iconst) return;
    marked_[v.index()] = 1;
    work_.push_back(v.index());
  };
  for (std::size_t i = 0; i < func.value_count(); ++i) {
    if (func.is_reference(Value(i))) mark(func.resolve(Value(i)));
  }
  if (work_.empty()) return;
  flows_.clear();
  const auto flows = [&](Value from, Value to) {
    if (func.type(to) == ir::I64) flows_.push_back({func.resolve(from).index(), to.index()});
  };
  for (const Block block : flow_.postorder()) {
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      const Op op = func.op(inst);
      if (op == Op::Select || op == Op::SelectSpectreGuard) {
        const Value result = func.result(inst);
        flows(func.arg_b(inst), result);
        flows(func.arg_c(inst), result);
      } else if (ir::is_terminator(op)) {
        func.for_each_target(inst, [&](BlockCall call) {
          const auto args = std::as_const(func).call_args(call);
          const auto params = std::as_const(func).block_params(func.call_target(call));
          for (std::size_t i = 0; i < args.size(); ++i) flows(args[i], params[i]);
        });
      }
    }
  }
  std::sort(flows_.begin(), flows_.end());
  while (!work_.empty()) {
    const std::uint32_t from = work_.back();
    work_.pop_back();
    for (auto at = std::lower_bound(flows_.begin(), flows_.end(), Pair{from, 0});
         at != flows_.end() && at->first == from; ++at) {
      mark(Value(at->second));
    }
  }
}

// Numbers the references and gives every instruction a position.
void ReferenceSlots::find_definitions(const ir::Function& func) {
  numbers_.assign(func.value_count(), kNone);
  block_first_.assign(func.block_count(), 0);
  block_end_.assign(func.block_count(), 0);
  references_.clear();
  std::uint32_t position = 0;
  const auto define = [&](Value v, Block block) {
    if (marked_[v.index()] == 0) return;
    numbers_[v.index()] = static_cast<std::uint32_t>(references_.size());
    references_.push_back({v, block, position, position, kNone, false});
  };
  const auto postorder = flow_.postorder();
  for (std::size_t i = postorder.size(); i-- > 0;) {
    const Block block = postorder[i];
    block_first_[block.index()] = position;
    for (const Value param : func.block_params(block)) define(param, block);
    ++position;
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      for (const Value result : func.results(inst)) {
        if (func.value(result).kind == ir::ValueKind::Result) define(result, block);
      }
      ++position;
    }
    block_end_[block.index()] = position;
  }
}

void ReferenceSlots::find_uses(const ir::Function& func) {
  exposed_.clear();
  stamps_.assign(references_.size(), kNone);
  for (const Block block : flow_.postorder()) {
    std::uint32_t position = block_first_[block.index()];
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      ++position;
      for_each_use(func, inst, [&](Value v) {
        const std::uint32_t n = number(func, v);
        if (n == kNone) return;
        Reference& reference = references_[n];
        reference.last = std::max(reference.last, position);
        if (reference.block == block || stamps_[n] == block.index()) return;
        stamps_[n] = block.index();
        exposed_.push_back({n, block.index()});
      });
    }
  }
  std::sort(exposed_.begin(), exposed_.end());
}

// For each reference, from its uses up to its definition.
bool ReferenceSlots::find_live_blocks(std::uint64_t budget) {
  live_in_.clear();
  stamps_.assign(block_first_.size(), kNone);
  std::size_t next = 0;
  for (std::uint32_t n = 0; n < references_.size(); ++n) {
    Reference& reference = references_[n];
    work_.clear();
    for (; next < exposed_.size() && exposed_[next].first == n; ++next) {
      work_.push_back(exposed_[next].second);
    }
    while (!work_.empty()) {
      const std::uint32_t block = work_.back();
      work_.pop_back();
      if (stamps_[block] == n) continue;
      stamps_[block] = n;
      live_in_.push_back({block, n});
      if (live_in_.size() > budget) return false;
      reference.first = std::min(reference.first, block_first_[block]);
      reference.last = std::max(reference.last, block_first_[block]);
      for (const ir::Predecessor& pred : flow_.predecessors(Block(block))) {
        if (!flow_.is_reachable(pred.block)) continue;
        const std::uint32_t from = pred.block.index();
        reference.last = std::max(reference.last, block_end_[from]);
        reference.first = std::min(reference.first, block_end_[from]);
        if (pred.block != reference.block) work_.push_back(from);
      }
    }
  }
  std::sort(live_in_.begin(), live_in_.end());
  live_in_first_.assign(block_first_.size() + 1, 0);
  for (const Pair& pair : live_in_) ++live_in_first_[pair.first + 1];
  for (std::size_t b = 1; b < live_in_first_.size(); ++b)
    live_in_first_[b] += live_in_first_[b - 1];
  return true;
}

bool ReferenceSlots::find_live_at_calls(const ir::Function& func, std::uint64_t budget) {
  calls_.clear();
  live_at_calls_.clear();
  place_.assign(references_.size(), kNone);
  live_.clear();
  const auto add = [&](std::uint32_t n) {
    if (n == kNone || place_[n] != kNone) return;
    place_[n] = static_cast<std::uint32_t>(live_.size());
    live_.push_back(n);
  };
  const auto remove = [&](std::uint32_t n) {
    if (n == kNone || place_[n] == kNone) return;
    const std::uint32_t last = live_.back();
    live_[place_[n]] = last;
    place_[last] = place_[n];
    live_.pop_back();
    place_[n] = kNone;
  };
  for (const Block block : flow_.postorder()) {
    for (const std::uint32_t n : live_) place_[n] = kNone;
    live_.clear();
    for (const Block successor : flow_.successors(block)) {
      for (std::uint32_t i = live_in_first_[successor.index()];
           i < live_in_first_[successor.index() + 1]; ++i) {
        add(live_in_[i].second);
      }
    }
    for (Inst inst = func.last_inst(block); inst.is_some(); inst = func.prev_inst(inst)) {
      const Op op = func.op(inst);
      if (ir::is_terminator(op)) {
        // Read behind a try_call, as far as the call is concerned.
        func.for_each_target(inst, [&](BlockCall call) {
          for (const Value arg : func.call_args(call)) add(number(func, arg));
        });
      }
      for (const Value result : func.results(inst)) remove(number(func, result));
      if (is_safepoint(op) && !live_.empty()) {
        const auto first = static_cast<std::uint32_t>(live_at_calls_.size());
        if (first + live_.size() > budget) return false;
        live_at_calls_.insert(live_at_calls_.end(), live_.begin(), live_.end());
        std::sort(live_at_calls_.begin() + first, live_at_calls_.end());
        for (const std::uint32_t n : live_) references_[n].crosses = true;
        calls_.push_back({inst, first, static_cast<std::uint32_t>(live_at_calls_.size())});
      }
      func.for_each_operand(inst, [&](Value v) { add(number(func, v)); });
    }
  }
  return true;
}

// References whose lives do not overlap, as positions see it, share a slot.
void ReferenceSlots::assign_slots() {
  slots_ = 0;
  order_.clear();
  for (std::uint32_t n = 0; n < references_.size(); ++n) {
    if (references_[n].crosses) order_.push_back(n);
  }
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return references_[a].first != references_[b].first
               ? references_[a].first < references_[b].first
               : a < b;
  });
  busy_.clear();  // end of a life, slot
  const auto later = [](const Pair& a, const Pair& b) { return a > b; };
  for (const std::uint32_t n : order_) {
    Reference& reference = references_[n];
    if (!busy_.empty() && busy_.front().first < reference.first) {
      std::pop_heap(busy_.begin(), busy_.end(), later);
      reference.slot = busy_.back().second;
      busy_.pop_back();
    } else {
      reference.slot = slots_++;
    }
    busy_.push_back({reference.last, reference.slot});
    std::push_heap(busy_.begin(), busy_.end(), later);
  }
}

void ReferenceSlots::insert_stores(ir::Function& func, ir::StackSlot slot) {
  const auto flags = static_cast<std::uint16_t>(func.intern(ir::MemFlags::trusted()).index());
  for (const std::uint32_t n : order_) {
    const Reference& reference = references_[n];
    const Inst def = func.def_inst(reference.value);
    const Inst before = def.is_some() ? func.next_inst(def) : func.first_inst(reference.block);
    HOIST_CHECK(before.is_some(), "a reference is defined in front of the end of its block");
    const ir::SourceLoc loc = func.loc(def.is_some() ? def : before);
    const Inst address =
        func.make_inst({Op::StackAddr, 0, slot.index(), 8 * reference.slot, 0}, loc);
    const Value place = func.append_result(address, ir::I64);
    func.insert_inst_before(address, before);
    const Inst store =
        func.make_inst({Op::Store, flags, reference.value.index(), place.index(), 0}, loc);
    func.insert_inst_before(store, before);
  }
}

}  // namespace hoist::opt
