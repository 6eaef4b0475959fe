// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/memory_state.hpp"

#include <algorithm>

namespace hoist::opt {

using ir::Block;
using ir::Inst;

namespace {

/// Visits per block, on average, before the analysis gives up.
constexpr std::size_t kMaxVisits = 16;

}  // namespace

void MemoryState::write(const ir::Function& func, Inst inst, Token* tokens) const {
  if (ir::format(func.op(inst)) == ir::Format::Store) {
    const ir::AliasRegion region = func.mem_flags(inst).region;
    if (region.is_some()) {
      tokens[slot(region)] = token(inst);
      if (has_whole_) tokens[slots_ - 1] = token(inst);
      return;
    }
  }
  std::fill_n(tokens, slots_, token(inst));
}

/// Recomputes the state at the start of a block; true if it changed.
bool MemoryState::meet(const ir::Function& func, const ir::ControlFlow& flow, Block block) {
  Token* in = &in_[std::size_t{block.index()} * slots_];
  bool changed = false;
  for (std::uint32_t s = 0; s < slots_; ++s) {
    if (in[s] == token(block)) continue;
    Token met = 0;
    for (const ir::Predecessor& pred : flow.predecessors(block)) {
      if (!flow.is_reachable(pred.block) || !func.is_in_layout(pred.block)) continue;
      const std::size_t at = std::size_t{pred.block.index()} * slots_ + s;
      const Token out = gen_[at] != 0 ? gen_[at] : in_[at];
      if (out == 0 || out == met) continue;
      if (met != 0) {
        met = token(block);
        break;
      }
      met = out;
    }
    changed |= met != in[s];
    in[s] = met;
  }
  return changed;
}

/// What each block writes. False: a load without a region, and there is no slot for it.
bool MemoryState::collect(const ir::Function& func, const ir::ControlFlow& flow) {
  slots_ = std::min(static_cast<std::uint32_t>(func.alias_regions.size()), kMaxSlots) +
           (has_whole_ ? 1 : 0);
  in_.assign(func.block_count() * slots_, 0);
  gen_.assign(func.block_count() * slots_, 0);
  queued_.assign(func.block_count(), true);
  queue_.assign(flow.postorder().rbegin(), flow.postorder().rend());
  for (const Block block : queue_) {
    Token* gen = &gen_[std::size_t{block.index()} * slots_];
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      apply(func, inst, gen);
      if (!has_whole_ && ir::format(func.op(inst)) == ir::Format::Load &&
          func.mem_flags(inst).region.is_none()) {
        return false;
      }
    }
  }
  return true;
}

void MemoryState::compute(const ir::Function& func, const ir::ControlFlow& flow) {
  has_whole_ = func.alias_regions.empty();
  if (!collect(func, flow)) {
    has_whole_ = true;
    static_cast<void>(collect(func, flow));
  }
  const Block entry = func.entry_block();
  std::fill_n(&in_[std::size_t{entry.index()} * slots_], slots_, token(entry));
  const std::size_t limit = queue_.size() * kMaxVisits;
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    if (next == limit) {
      for (const Block block : flow.postorder()) {
        std::fill_n(&in_[std::size_t{block.index()} * slots_], slots_, token(block));
      }
      return;
    }
    const Block block = queue_[next];
    queued_[block.index()] = false;
    const bool changed = block != entry && meet(func, flow, block);
    if (!changed) continue;
    for (const Block successor : flow.successors(block)) {
      if (queued_[successor.index()]) continue;
      queued_[successor.index()] = true;
      queue_.push_back(successor);
    }
  }
}

}  // namespace hoist::opt
