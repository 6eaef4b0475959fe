// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/passes.hpp"

namespace hoist::opt {

using ir::Block;
using ir::BlockCall;
using ir::Inst;
using ir::Value;

namespace {

/// Parameters that lose their only varying argument may follow; more rounds than this find nothing
/// in practice.
constexpr int kMaxRounds = 4;

/// The one value that all branches pass for parameter `number`, or none.
Value single_argument(ir::Function& func, const ir::ControlFlow& flow, Block block,
                      std::size_t number, Value param) {
  Value single;
  bool differs = false;
  for (const ir::Predecessor& pred : flow.predecessors(block)) {
    if (!func.is_in_layout(pred.block)) continue;
    func.for_each_target(pred.branch, [&](BlockCall call) {
      if (differs || func.call_target(call) != block) return;
      const Value arg = func.resolve_and_compress(func.call_args(call)[number]);
      if (arg == param || arg == single) return;
      if (single.is_some()) {
        differs = true;
      } else {
        single = arg;
      }
    });
    if (differs) return Value::none();
  }
  // What a try_call passes exists only on its edges: the parameter is its name elsewhere.
  if (single.is_some() && func.value(single).is_try_value()) return Value::none();
  return single;
}

void drop_arguments(ir::Function& func, const ir::ControlFlow& flow, Block block,
                    BlockParamsScratch& scratch) {
  for (const ir::Predecessor& pred : flow.predecessors(block)) {
    if (!func.is_in_layout(pred.block)) continue;
    map_targets(func, pred.branch, [&](BlockCall call) {
      if (func.call_target(call) != block) return call;
      scratch.args.clear();
      const auto args = std::as_const(func).call_args(call);
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (!scratch.redundant[i]) scratch.args.push_back(args[i]);
      }
      return with_args(func, call, scratch.args);
    });
  }
}

std::uint64_t visit(ir::Function& func, const ir::ControlFlow& flow, Block block,
                    BlockParamsScratch& scratch) {
  const std::size_t count = func.block_params(block).size();
  scratch.redundant.assign(count, false);
  std::uint64_t removed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Value param = func.block_params(block)[i];
    const Value single = single_argument(func, flow, block, i, param);
    if (single.is_none()) continue;
    func.make_alias(param, single);
    scratch.redundant[i] = true;
    ++removed;
  }
  if (removed == 0) return 0;
  drop_arguments(func, flow, block, scratch);
  for (std::size_t i = count; i-- > 0;) {
    if (scratch.redundant[i]) func.remove_block_param(block, static_cast<std::uint32_t>(i));
  }
  return removed;
}

}  // namespace

BlockCall with_args(ir::Function& func, BlockCall call, std::vector<Value>& args) {
  return func.make_block_call(func.call_target(call), args);
}

std::uint64_t remove_redundant_params(ir::Function& func, const ir::ControlFlow& flow,
                                      BlockParamsScratch& scratch) {
  std::uint64_t total = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    std::uint64_t removed = 0;
    // Reverse postorder: most arguments are settled before their block.
    const std::span<const Block> order = flow.postorder();
    for (std::size_t i = order.size() - 1; i-- > 0;) {  // without the entry block
      const Block block = order[i];
      if (!func.is_in_layout(block) || func.block_params(block).empty()) continue;
      removed += visit(func, flow, block, scratch);
    }
    total += removed;
    if (removed == 0) break;
  }
  return total;
}

}  // namespace hoist::opt
