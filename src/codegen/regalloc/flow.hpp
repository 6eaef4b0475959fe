// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Control flow as the allocators see it: reverse postorder, loop forest, execution frequencies.
///
/// Cost: near-linear. Loops come from one depth-first search (Tarjan's intervals as in P. Havlak,
/// "Nesting of Reducible and Irreducible Loops", 1997); in an irreducible function the forest is
/// only a guess, good enough for heuristics, and `irreducible` is set.

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/mach/machine.hpp"

namespace hoist::codegen {

class Flow {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  /// Frequency of the entry block. Others follow from guesses: branches go everywhere with the same
  /// probability, except that cold blocks are rare and calls less likely; loops iterate 8 times.
  static constexpr std::uint32_t kEntryFrequency = 1024;

  struct Loop {
    std::uint32_t header = kNone;
    std::uint32_t parent = kNone;  ///< the next outer loop
    std::uint32_t depth = 0;       ///< 1 for an outermost loop
  };

  void compute(const MachFunction& func);

  /// Block numbers in reverse postorder.
  std::span<const std::uint32_t> order() const { return {order_.data(), order_.size()}; }
  std::uint32_t position(std::uint32_t block) const { return position_[block]; }
  /// The innermost loop of a block, or kNone.
  std::uint32_t loop_of(std::uint32_t block) const { return loop_of_[block]; }
  /// Inner loops come after the loops around them.
  std::span<const Loop> loops() const { return {loops_.data(), loops_.size()}; }
  std::uint32_t depth(std::uint32_t block) const {
    return loop_of_[block] == kNone ? 0 : loops_[loop_of_[block]].depth;
  }
  bool is_header(std::uint32_t block) const {
    return loop_of_[block] != kNone && loops_[loop_of_[block]].header == block;
  }
  std::uint32_t frequency(std::uint32_t block) const { return frequency_[block]; }
  /// Loops that the edge leaves.
  std::uint32_t loops_left(std::uint32_t from, std::uint32_t to) const;
  bool irreducible() const { return irreducible_; }

 private:
  void search(const MachFunction& func);
  void find_loops(const MachFunction& func);
  void build_forest();
  void guess_frequencies(const MachFunction& func);
  std::uint32_t representative(std::uint32_t block);
  bool is_ancestor(std::uint32_t above, std::uint32_t below) const {
    return preorder_[above] <= preorder_[below] && preorder_[below] <= last_below_[above];
  }

  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> loop_of_;
  std::vector<std::uint32_t> frequency_;
  std::vector<Loop> loops_;
  bool irreducible_ = false;

  // Scratch.
  struct Visit {
    std::uint32_t block;
    std::uint32_t next_succ;
  };
  std::vector<Visit> stack_;
  std::vector<std::uint32_t> preorder_;    // block -> number of its first visit
  std::vector<std::uint32_t> last_below_;  // block -> last number in its subtree
  std::vector<std::uint32_t> by_preorder_;
  std::vector<std::uint32_t> union_;
  std::vector<std::uint32_t>
      header_of_;  // block -> header of the innermost loop that it is inside of
  std::vector<std::uint32_t> body_;
  std::vector<std::uint32_t> loop_exits_;  // edges out of each loop
  std::vector<std::uint8_t> calls_;        // whether a block has one
  std::vector<double> flow_in_;
  std::vector<std::uint8_t> is_header_;
};

}  // namespace hoist::codegen
