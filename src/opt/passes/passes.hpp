// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The passes that pipeline.cpp strings together. Each is a free function over a function and the
/// memory that it reuses, and returns how many things it changed. Arguments of instructions may be
/// aliases between passes; `remove_dead` replaces them all.

#include <cstdint>
#include <vector>

#include "base/containers/bit_set.hpp"
#include "ir/analysis/control_flow.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/function.hpp"

namespace hoist::opt {

/// Removes the blocks that `flow` does not reach. `flow` stays right for all others, but for the
/// unreachable predecessors that it may still list.
std::uint64_t remove_unreachable(ir::Function& func, const ir::ControlFlow& flow);

/// Removes block parameters that always have one value (itself aside): the parameter becomes an
/// alias of it. Requires: no unreachable blocks. Keeps: the graph. Ends: each round removes a
/// parameter; a few rounds at most. Cost: O(edges × parameters) per round.
struct BlockParamsScratch {
  std::vector<ir::Value> args;
  std::vector<bool> redundant;
};
std::uint64_t remove_redundant_params(ir::Function& func, const ir::ControlFlow& flow,
                                      BlockParamsScratch& scratch);

/// Removes what has neither effects nor uses, block parameters (with their arguments) included,
/// also if they only use each other around a loop. Requires: no unreachable blocks. Replaces
/// aliases in all arguments that stay. Cost: O(instructions + arguments).
struct DeadCodeScratch {
  std::vector<std::uint8_t> live;  // by value
  std::vector<ir::Value> work;
  std::vector<ir::Value> args;
  std::vector<ir::BlockCall> calls;
};
std::uint64_t remove_dead(ir::Function& func, const ir::ControlFlow& flow,
                          DeadCodeScratch& scratch);

/// Puts the arguments `args` instead of those of `call`, which `branch` must then hold.
ir::BlockCall with_args(ir::Function& func, ir::BlockCall call, std::vector<ir::Value>& args);

/// Calls `change(BlockCall) -> BlockCall` for each target of a branch and stores the answers.
template <typename F>
void map_targets(ir::Function& func, ir::Inst branch, F&& change) {
  func.map_targets(branch, change);
}

}  // namespace hoist::opt
