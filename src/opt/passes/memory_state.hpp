// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Which write was the last one, per alias region: a number (token) for the state of each region at
/// the start of each block. Where two points have the same token for a region and one dominates the
/// other, nothing was written to the region in between.
///
/// A token is an instruction that may write the region, or a block where different states meet.
/// Calls and accesses without a region write all. Forward data flow to a fixed point. Cost: O(edges
/// × slots) in practice; with a bound, after which every block gets a state of its own (right, but
/// useless).

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/analysis/control_flow.hpp"
#include "ir/function.hpp"

namespace hoist::opt {

class MemoryState {
 public:
  using Token = std::uint32_t;
  /// Regions beyond the first ones share a slot. One more is for memory as a whole, where there are
  /// loads without a region.
  static constexpr std::uint32_t kMaxSlots = 16;

  void compute(const ir::Function& func, const ir::ControlFlow& flow);

  std::uint32_t slots() const { return slots_; }
  std::uint32_t slot(ir::AliasRegion region) const {
    if (region.is_none()) return slots_ - 1;
    return std::min(region.index(), slots_ - (has_whole_ ? 2 : 1));
  }
  /// The tokens at the start of a reachable block, by slot.
  const Token* at_entry(ir::Block block) const { return &in_[std::size_t{block.index()} * slots_]; }
  Token at_exit(ir::Block block, std::uint32_t slot) const {
    const std::size_t at = std::size_t{block.index()} * slots_ + slot;
    return gen_[at] != 0 ? gen_[at] : in_[at];
  }
  /// What `inst` does to the tokens.
  void apply(const ir::Function& func, ir::Inst inst, Token* tokens) const {
    const std::uint16_t effects = ir::info(func.op(inst)).effects;
    if ((effects & (ir::effect::Store | ir::effect::Call)) != 0) write(func, inst, tokens);
  }

 private:
  static Token token(ir::Inst inst) { return inst.index() * 2 + 2; }
  static Token token(ir::Block block) { return block.index() * 2 + 1; }
  void write(const ir::Function& func, ir::Inst inst, Token* tokens) const;
  bool collect(const ir::Function& func, const ir::ControlFlow& flow);
  bool meet(const ir::Function& func, const ir::ControlFlow& flow, ir::Block block);

  std::uint32_t slots_ = 0;
  bool has_whole_ = false;
  std::vector<Token> in_, gen_;  // by block and slot; 0 is not known yet, or nothing
  std::vector<ir::Block> queue_;
  std::vector<bool> queued_;
};

}  // namespace hoist::opt
