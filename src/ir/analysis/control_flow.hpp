// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Predecessors, successors and postorder of the blocks in the layout.
///
/// A snapshot: it is stale once a branch or a block changes. The object is meant to be reused, it
/// keeps its memory. Cost: O(blocks + branch targets).

#include <cstdint>
#include <span>
#include <vector>

#include "ir/function.hpp"

namespace hoist::ir {

/// One branch instruction that goes to a block (once, however many of its targets name the block).
struct Predecessor {
  Block block;
  Inst branch;
};

class ControlFlow {
 public:
  void compute(const Function& func);

  std::span<const Block> successors(Block block) const {
    return slice(successors_, successor_starts_, block);
  }
  /// In layout order of the predecessors; unreachable ones are included.
  std::span<const Predecessor> predecessors(Block block) const {
    return slice(predecessors_, predecessor_starts_, block);
  }
  /// Reachable blocks: every block after those that a depth-first walk (successors in order)
  /// finishes before it. The entry block is last.
  std::span<const Block> postorder() const { return {postorder_.data(), postorder_.size()}; }
  bool is_reachable(Block block) const { return postorder_number(block) != kUnreachable; }
  /// Position in `postorder`.
  std::uint32_t postorder_number(Block block) const {
    return block.index() < numbers_.size() ? numbers_[block.index()] : kUnreachable;
  }
  static constexpr std::uint32_t kUnreachable = 0xffff'ffff;

 private:
  template <typename T>
  static std::span<const T> slice(const std::vector<T>& items,
                                  const std::vector<std::uint32_t>& starts, Block block) {
    if (block.index() + std::size_t{1} >= starts.size()) return {};
    return std::span(items).subspan(starts[block.index()],
                                    starts[block.index() + 1] - starts[block.index()]);
  }
  void collect_edges(const Function& func);
  void walk(const Function& func);

  std::vector<Block> successors_;
  std::vector<std::uint32_t> successor_starts_;
  std::vector<Predecessor> predecessors_;
  std::vector<std::uint32_t> predecessor_starts_;
  std::vector<Block> postorder_;
  std::vector<std::uint32_t> numbers_;
  // Scratch.
  std::vector<Block> marks_;  // of a target: the block whose successors are being listed
  struct Frame {
    Block block;
    std::uint32_t next;
  };
  std::vector<Frame> stack_;
};

}  // namespace hoist::ir
