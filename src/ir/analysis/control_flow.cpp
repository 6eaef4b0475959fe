// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/analysis/control_flow.hpp"

namespace hoist::ir {

void ControlFlow::compute(const Function& func) {
  collect_edges(func);
  walk(func);
}

void ControlFlow::collect_edges(const Function& func) {
  const std::size_t count = func.block_count();
  successors_.clear();
  successor_starts_.assign(count + 1, 0);
  predecessor_starts_.assign(count + 1, 0);
  marks_.assign(count, Block::none());
  // First in layout order, then sorted by block: the edges of a block are contiguous in both.
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    const Inst branch = func.last_inst(block);
    if (branch.is_none()) continue;
    func.for_each_target(branch, [&](BlockCall call) {
      const Block target = func.call_target(call);
      // A text may name a block that does not exist; the verifier reports it.
      if (target.index() >= count || marks_[target.index()] == block) return;
      marks_[target.index()] = block;
      ++successor_starts_[block.index() + 1];
      ++predecessor_starts_[target.index() + 1];
    });
  }
  for (std::size_t i = 0; i < count; ++i) {
    successor_starts_[i + 1] += successor_starts_[i];
    predecessor_starts_[i + 1] += predecessor_starts_[i];
  }
  successors_.resize(successor_starts_[count]);
  predecessors_.resize(predecessor_starts_[count]);
  marks_.assign(count, Block::none());
  // Fills each slice from its start, moving the start to the end of the slice, then moves all back.
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    const Inst branch = func.last_inst(block);
    if (branch.is_none()) continue;
    func.for_each_target(branch, [&](BlockCall call) {
      const Block target = func.call_target(call);
      if (target.index() >= count || marks_[target.index()] == block) return;
      marks_[target.index()] = block;
      successors_[successor_starts_[block.index()]++] = target;
      predecessors_[predecessor_starts_[target.index()]++] = {block, branch};
    });
  }
  for (std::size_t i = count; i > 0; --i) {
    successor_starts_[i] = successor_starts_[i - 1];
    predecessor_starts_[i] = predecessor_starts_[i - 1];
  }
  successor_starts_[0] = predecessor_starts_[0] = 0;
}

void ControlFlow::walk(const Function& func) {
  constexpr std::uint32_t kOpen = kUnreachable - 1;
  postorder_.clear();
  numbers_.assign(func.block_count(), kUnreachable);
  stack_.clear();
  if (func.entry_block().is_none()) return;
  stack_.push_back({func.entry_block(), 0});
  numbers_[func.entry_block().index()] = kOpen;
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    const std::span<const Block> next = successors(frame.block);
    if (frame.next < next.size()) {
      const Block target = next[frame.next++];
      if (numbers_[target.index()] != kUnreachable || !func.is_in_layout(target)) continue;
      numbers_[target.index()] = kOpen;
      stack_.push_back({target, 0});
    } else {
      numbers_[frame.block.index()] = static_cast<std::uint32_t>(postorder_.size());
      postorder_.push_back(frame.block);
      stack_.pop_back();
    }
  }
}

}  // namespace hoist::ir
