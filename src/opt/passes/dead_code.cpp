// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks the values that matter, from instructions with effects backwards, and sweeps the rest. A
// block parameter that matters makes the arguments for it matter.
#include "opt/passes/passes.hpp"

namespace hoist::opt {

using ir::Block;
using ir::BlockCall;
using ir::Inst;
using ir::Op;
using ir::Value;

namespace {

/// Must stay even if nobody uses its results?
bool has_effect(const ir::Function& func, Inst inst) {
  const std::uint16_t effects = ir::info(func.op(inst)).effects;
  if (effects == 0) return false;
  // A load that cannot trap is only its result.
  if (effects == (ir::effect::Load | ir::effect::Trap)) return !func.mem_flags(inst).notrap();
  return true;
}

class Marker {
 public:
  Marker(ir::Function& func, const ir::ControlFlow& flow, DeadCodeScratch& scratch)
      : func_(func), flow_(flow), scratch_(scratch) {
    scratch_.live.assign(func.value_count(), 0);
    scratch_.work.clear();
  }

  void run() {
    for (const Block block : flow_.postorder()) {
      if (!func_.is_in_layout(block)) continue;
      for (Inst inst = func_.last_inst(block); inst.is_some(); inst = func_.prev_inst(inst)) {
        if (has_effect(func_, inst)) mark_operands(inst);
      }
    }
    for (const Value param : func_.block_params(func_.entry_block())) mark(param);
    while (!scratch_.work.empty()) {
      const Value v = scratch_.work.back();
      scratch_.work.pop_back();
      const ir::ValueData data = func_.value(v);
      if (data.kind == ir::ValueKind::Result) {
        const Inst inst(data.source);
        if (!has_effect(func_, inst)) mark_operands(inst);
      } else if (data.kind == ir::ValueKind::Param) {
        mark_arguments(Block(data.source), data.number);
      }
    }
  }

  bool is_live(Value v) const { return scratch_.live[v.index()] != 0; }

 private:
  void mark(Value v) {
    std::uint8_t& live = scratch_.live[v.index()];
    if (live != 0) return;
    live = 1;
    scratch_.work.push_back(v);
  }
  /// Operands of the instruction itself; arguments of its targets wait for their parameters.
  void mark_operands(Inst inst) {
    func_.for_each_operand(inst, [&](Value& v) {
      v = func_.resolve_and_compress(v);
      mark(v);
    });
  }
  void mark_arguments(Block block, std::uint32_t number) {
    for (const ir::Predecessor& pred : flow_.predecessors(block)) {
      if (!func_.is_in_layout(pred.block)) continue;
      func_.for_each_target(pred.branch, [&](BlockCall call) {
        if (func_.call_target(call) != block) return;
        Value& arg = func_.call_args(call)[number];
        arg = func_.resolve_and_compress(arg);
        mark(arg);
      });
    }
  }

  ir::Function& func_;
  const ir::ControlFlow& flow_;
  DeadCodeScratch& scratch_;
};

/// Removes the arguments of a branch for parameters that are not live, by the flags of their
/// blocks.
void drop_dead_arguments(ir::Function& func, Inst branch, const Marker& marker,
                         DeadCodeScratch& scratch) {
  map_targets(func, branch, [&](BlockCall call) {
    const std::span<const Value> params = func.block_params(func.call_target(call));
    const std::span<const Value> args = std::as_const(func).call_args(call);
    scratch.args.clear();
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (marker.is_live(params[i])) scratch.args.push_back(args[i]);
    }
    if (scratch.args.size() == args.size()) return call;
    return with_args(func, call, scratch.args);
  });
}

}  // namespace

std::uint64_t remove_dead(ir::Function& func, const ir::ControlFlow& flow,
                          DeadCodeScratch& scratch) {
  Marker marker(func, flow, scratch);
  marker.run();
  std::uint64_t removed = 0;
  bool dead_params = false;
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    if (block != func.entry_block()) {
      for (const Value param : func.block_params(block)) dead_params |= !marker.is_live(param);
    }
    for (Inst inst = func.first_inst(block); inst.is_some();) {
      const Inst next = func.next_inst(inst);
      if (!has_effect(func, inst)) {
        bool live = false;
        for (const Value result : func.results(inst)) live |= marker.is_live(result);
        if (!live) {
          func.remove_inst(inst);
          ++removed;
        }
      }
      inst = next;
    }
  }
  if (!dead_params) return removed;
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    drop_dead_arguments(func, func.last_inst(block), marker, scratch);
  }
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    if (block == func.entry_block()) continue;
    for (std::size_t i = func.block_params(block).size(); i-- > 0;) {
      if (marker.is_live(func.block_params(block)[i])) continue;
      func.remove_block_param(block, static_cast<std::uint32_t>(i));
      ++removed;
    }
  }
  return removed;
}

}  // namespace hoist::opt
