// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The few bodies of machine.hpp.

#include "codegen/mach/machine.hpp"

namespace hoist::codegen {

void MachFunction::clear() {
  insts.clear();
  locs.clear();
  operands.clear();
  vregs.clear();
  blocks.clear();
  block_params.clear();
  succs.clear();
  preds.clear();
  edge_args.clear();
  clobber_sets.assign(1, RegMask{});
  symbols.clear();
  pool.clear();
  stack_slots.clear();
  outgoing_arg_bytes = 0;
  incoming_arg_bytes = 0;
  popped_arg_bytes = 0;
  call_conv = ir::CallConv::Fast;
  has_calls = false;
  stack_limit_offset = -1;
  stack_limit_offset2 = -1;
  stack_limit_base = {};
  pins_register = false;
  trap_symbol = -1;
  jump_tables.clear();
  notes.clear();
  handlers.clear();
  debug_tags.clear();
  stack_map.clear();
}

void MachFunction::find_preds() {
  for (MachBlockData& block : blocks) block.pred_count = 0;
  for (const MachEdge& edge : succs) ++blocks[edge.target].pred_count;
  std::uint32_t next = 0;
  for (MachBlockData& block : blocks) {
    block.first_pred = next;
    next += block.pred_count;
    block.pred_count = 0;
  }
  preds.resize(next);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const MachBlock from(i);
    for (const MachEdge& edge : succs_of(blocks[from])) {
      MachBlockData& target = blocks[edge.target];
      preds[target.first_pred + target.pred_count++] = from;
    }
  }
}

}  // namespace hoist::codegen
