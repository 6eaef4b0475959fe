// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Comparisons with lengths, as they guard accesses of memories and tables: what they read goes out
/// of loops, those that do not change in a loop go in front of it, and those that an earlier one
/// implies go away.
///
/// - A load that may move (`notrap can_move`) goes to the end of the block in front of the
///   outermost loop in which neither its address nor what it reads changes, with the instructions
///   that make its address.
/// - A check at the beginning of a loop, in front of everything that has an effect or may trap,
///   goes in front of the loop if its condition does not change in it and nothing but the loop
///   follows there. It keeps its location.
/// - `x + 16 > length` having been checked, `x + 8 > length` needs no check if the sums cannot
///   wrap.
///
/// Requires: `flow` and `dominators` of the function as it is, `memory` of it as it was before
/// edges and pure instructions disappeared. Keeps: the graph; which trap happens, where, and after
/// which effects. Cost: near-linear; nothing for functions without such comparisons, which the
/// pipeline passes over.

#include <cstdint>
#include <vector>

#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/function.hpp"
#include "opt/passes/memory_state.hpp"

namespace hoist::opt {

struct ChecksScratch {
  ir::LoopForest loops;
  std::vector<ir::Block> places;  // by loop: the block in front of it, or none
  std::vector<ir::Loop> nest;     // of a block, from the innermost outwards
  std::vector<MemoryState::Token> tokens;
  /// A load that went out of a loop.
  struct Moved {
    ir::Block place;
    ir::InstData data;
    MemoryState::Token token;
    ir::Value value;
  };
  std::vector<Moved> moved;
  /// x + extent <= length holds in the blocks that `block` dominates.
  struct Fact {
    ir::Value x;
    ir::Value length;
    std::uint64_t extent;
    ir::Block block;
  };
  std::vector<Fact> facts;
};

/// Each change takes one of `rewrites_left`. Returns how many there were.
std::uint64_t move_checks(ir::Function& func, const ir::ControlFlow& flow,
                          const ir::DominatorTree& dominators, const MemoryState& memory,
                          ChecksScratch& scratch, std::uint64_t& rewrites_left);

}  // namespace hoist::opt
