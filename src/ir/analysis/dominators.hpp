// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Dominator tree of the reachable blocks (Lengauer and Tarjan, 1979, with path compression:
/// O(edges × log blocks) for any graph). Reusable; stale once the graph changes.

#include <cstdint>
#include <span>
#include <vector>

#include "ir/analysis/control_flow.hpp"

namespace hoist::ir {

class DominatorTree {
 public:
  void compute(const Function& func, const ControlFlow& flow);

  bool is_reachable(Block block) const { return number(block) != kNone; }
  /// Immediate dominator; none for the entry block and unreachable blocks.
  Block idom(Block block) const {
    return block.index() < idoms_.size() ? idoms_[block.index()] : Block::none();
  }
  /// Does every path from the entry to `b` pass through `a`? A block dominates itself; nothing
  /// dominates an unreachable block but itself.
  bool dominates(Block a, Block b) const {
    if (a == b) return true;
    const std::uint32_t at = number(a), of = number(b);
    return at != kNone && of != kNone && at <= of && of <= last_in_subtree_[at];
  }
  /// Preorder: every block after its dominator; children in reverse postorder of the flow graph.
  std::span<const Block> preorder() const { return {preorder_.data(), preorder_.size()}; }
  std::uint32_t number(Block block) const {
    return block.index() < numbers_.size() ? numbers_[block.index()] : kNone;
  }
  /// Children in reverse postorder, for walks: first child, then siblings.
  Block first_child(Block block) const { return first_children_[block.index()]; }
  Block next_sibling(Block block) const { return next_siblings_[block.index()]; }
  static constexpr std::uint32_t kNone = 0xffff'ffff;

 private:
  void find_semidominators(const Function& func, const ControlFlow& flow);
  std::uint32_t evaluate(std::uint32_t v);
  void make_tree(const Function& func, const ControlFlow& flow);

  std::vector<Block> idoms_;            // by block
  std::vector<std::uint32_t> numbers_;  // by block: position in preorder_
  std::vector<Block> preorder_;
  std::vector<std::uint32_t> last_in_subtree_;  // by preorder number
  std::vector<Block> first_children_, next_siblings_;
  // Scratch, by number in the depth-first walk (1-based; 0 is none).
  std::vector<Block> vertices_;
  std::vector<std::uint32_t> dfs_numbers_;  // by block
  std::vector<std::uint32_t> parents_, semis_, labels_, ancestors_, buckets_, bucket_next_, doms_;
  std::vector<std::uint32_t> path_;
};

}  // namespace hoist::ir
