// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Natural loops and their nesting. A cycle that can be entered in more than one place
/// (irreducible) is no loop here: its blocks have the depth of what is around them. Loops with the
/// same header are one. Reusable; stale once the graph changes. Cost: near-linear.

#include <cstdint>
#include <span>
#include <vector>

#include "ir/analysis/dominators.hpp"

namespace hoist::ir {

HOIST_ENTITY(Loop, "loop");

class LoopForest {
 public:
  void compute(const Function& func, const ControlFlow& flow, const DominatorTree& dominators);

  std::size_t loop_count() const { return loops_.size(); }
  /// Innermost loop of a block, or none.
  Loop loop_of(Block block) const {
    return block.index() < loop_of_.size() ? loop_of_[block.index()] : Loop::none();
  }
  /// 0 outside of loops.
  std::uint32_t depth(Block block) const {
    const Loop loop = loop_of(block);
    return loop.is_none() ? 0 : loops_[loop.index()].depth;
  }
  Block header(Loop loop) const { return loops_[loop.index()].header; }
  Loop parent(Loop loop) const { return loops_[loop.index()].parent; }
  std::uint32_t depth(Loop loop) const { return loops_[loop.index()].depth; }
  bool is_header(Block block) const {
    const Loop loop = loop_of(block);
    return loop.is_some() && header(loop) == block;
  }
  /// Is `block` in `loop` or in a loop inside it?
  bool contains(Loop loop, Block block) const;

 private:
  struct Data {
    Block header;
    Loop parent;
    Loop outermost;  // so far, with path compression: used while loops are found
    std::uint32_t depth = 0;
  };
  Loop outermost(Loop loop);

  std::vector<Data> loops_;  // inner loops before outer ones
  std::vector<Loop> loop_of_;
  std::vector<Block> work_;
};

}  // namespace hoist::ir
