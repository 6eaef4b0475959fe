// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The lowering driver: instantiated once per target, in one .cpp file.

#include "codegen/lower/lower_base.hpp"

namespace hoist::codegen {

/// `Rules` derives from LowerBase, names this template a friend and has:
///   void lower_entry(bool)   at the start of the function: the register parameters; if the
///   argument is
///                            true, then jump to the function's first block (its parameters are
///                            arguments)
///   void lower_inst(Inst)    any instruction but terminators; its results are wanted, or it has
///   effects void lower_end(Inst)     a terminator; adds the block's successors void
///   lower_edge(Edge)    the jump of a split edge, or of a block with one successor Result<void>
///   void lower_landing_pad(Block)  the start of a handler: payload words
///   lower_signature()  before everything else
template <typename Rules>
Result<void> lower_function(Rules& rules, const ir::Function& func, MachFunction& out) {
  rules.begin(func, out);
  HOIST_TRY_VOID(rules.lower_signature());
  const BlockOrder& order = rules.order();
  const auto blocks = order.reverse_postorder();
  for (std::size_t i = blocks.size(); i-- > 0;) {
    const ir::Block block = blocks[i];
    const ir::Inst end = func.last_inst(block);
    for (const BlockOrder::Edge& edge : order.edges_from(block)) {
      if (edge.item == BlockOrder::kNone) continue;
      rules.start_item(edge.item);
      rules.start_root(func.loc(end));
      rules.lower_edge(edge);
      rules.end_root();
      rules.end_item(edge.item);
    }
    const std::uint32_t item = order.item_of(block);
    rules.start_item(item);
    rules.start_root(func.loc(end));
    rules.lower_end(end);
    rules.end_root();
    for (ir::Inst inst = func.prev_inst(end); inst.is_some(); inst = func.prev_inst(inst)) {
      if (!rules.must_emit(inst)) continue;
      rules.start_root(func.loc(inst));
      rules.lower_inst(inst);
      rules.end_root();
    }
    if (order.is_landing_pad(block)) {
      rules.start_root({});
      rules.lower_landing_pad(block);
      rules.end_root();
    }
    if (i == 0 && order.entry_item() == BlockOrder::kNone) {
      rules.start_root({});
      rules.lower_entry(false);
      rules.end_root();
    }
    rules.end_item(item);
    if (rules.error()) return *rules.error();
  }
  if (order.entry_item() != BlockOrder::kNone) {
    rules.start_item(order.entry_item());
    rules.start_root({});
    rules.lower_entry(true);
    rules.end_root();
    rules.end_item(order.entry_item());
  }
  if (rules.error()) return *rules.error();
  rules.finish();
  return {};
}

}  // namespace hoist::codegen
