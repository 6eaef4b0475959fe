// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/analysis/loops.hpp"

namespace hoist::ir {

void LoopForest::compute(const Function& func, const ControlFlow& flow,
                         const DominatorTree& dominators) {
  loops_.clear();
  loop_of_.assign(func.block_count(), Loop::none());
  // Inner headers come after the outer ones that dominate them: backwards, inner loops are found
  // first and are then passed over as a whole.
  const std::span<const Block> preorder = dominators.preorder();
  for (std::size_t i = preorder.size(); i-- > 0;) {
    const Block header = preorder[i];
    work_.clear();
    for (const Predecessor& pred : flow.predecessors(header)) {
      if (dominators.is_reachable(pred.block) && dominators.dominates(header, pred.block)) {
        work_.push_back(pred.block);
      }
    }
    if (work_.empty()) continue;
    const Loop loop(loops_.size());
    loops_.push_back({header, Loop::none(), loop, 0});
    while (!work_.empty()) {
      const Block block = work_.back();
      work_.pop_back();
      Block entered_through = block;
      if (const Loop inner = loop_of_[block.index()]; inner.is_none()) {
        loop_of_[block.index()] = loop;
      } else {
        const Loop outer = outermost(inner);
        if (outer == loop) continue;
        loops_[outer.index()].parent = loop;
        loops_[outer.index()].outermost = loop;
        entered_through = loops_[outer.index()].header;
      }
      if (entered_through == header) continue;
      for (const Predecessor& pred : flow.predecessors(entered_through)) {
        if (dominators.is_reachable(pred.block)) work_.push_back(pred.block);
      }
    }
    // A header that is only reached around the back edge of its own loop is in it.
    if (loop_of_[header.index()].is_none()) loop_of_[header.index()] = loop;
  }
  for (std::size_t i = loops_.size(); i-- > 0;) {
    const Loop parent = loops_[i].parent;
    loops_[i].depth = parent.is_none() ? 1 : loops_[parent.index()].depth + 1;
  }
}

Loop LoopForest::outermost(Loop loop) {
  Loop root = loop;
  while (loops_[root.index()].outermost != root) root = loops_[root.index()].outermost;
  while (loop != root) {
    const Loop next = loops_[loop.index()].outermost;
    loops_[loop.index()].outermost = root;
    loop = next;
  }
  return root;
}

bool LoopForest::contains(Loop loop, Block block) const {
  for (Loop at = loop_of(block); at.is_some(); at = parent(at)) {
    if (at == loop) return true;
  }
  return false;
}

}  // namespace hoist::ir
