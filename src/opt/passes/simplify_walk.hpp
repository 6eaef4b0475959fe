// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The mid-end's walk: blocks in dominator preorder; each pure instruction meets the rewrite rules
/// and then scoped value numbering; conditions are stripped and branches on constants folded; traps
/// that a dominating equal trap makes redundant go.
///
/// Requires: dominators of the function as it is. Keeps: SSA; dominance (edges only disappear);
/// order of effects and traps. May leave unreachable blocks, dead code and aliases behind. Ends:
/// one visit per instruction; rules end by themselves. Cost: near-linear.

#include <cstdint>
#include <vector>

#include "ir/analysis/dominators.hpp"
#include "ir/function.hpp"
#include "opt/passes/memory_state.hpp"
#include "opt/passes/value_table.hpp"

namespace hoist::opt {

struct SimplifyScratch {
  ValueTable table;
  MemoryTable memory;
  std::vector<MemoryState::Token> tokens;
  struct Scope {
    ir::Block block;
    std::uint32_t mark;
    std::uint32_t memory_mark;
  };
  std::vector<Scope> scopes;
};

struct SimplifyResult {
  std::uint64_t changes = 0;
  std::uint64_t loads = 0;     ///< replaced by what memory is known to hold
  std::uint64_t checks = 0;    ///< comparisons found that trap as out of bounds of a heap
  bool graph_changed = false;  ///< control flow analyses are stale
};

/// `memory` is of the function as it is, or null. Each change takes one of `rewrites_left`, a
/// number too large to matter except in bisection.
SimplifyResult simplify_walk(ir::Function& func, const ir::DominatorTree& dominators,
                             const MemoryState* memory, SimplifyScratch& scratch,
                             std::uint64_t& rewrites_left);

}  // namespace hoist::opt
