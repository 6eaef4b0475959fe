// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The order of blocks for lowering (reverse postorder: definitions before uses in every block) and
/// for the final layout: loops contiguous, cold blocks last, critical edges split into blocks of
/// their own.
///
/// Loops are found in the same depth-first walk (Wei, Mao, Zou, Chen: "A New Algorithm for
/// Identifying Loops in Decompilation", 2007), which also works for irreducible control flow; there
/// the layout is plain reverse postorder, as it is for loops nested deeper than any compiler nests
/// them (hostile input), whose placement would cost a factor of the depth. Unreachable blocks do
/// not take part. No recursion; near-linear.
///
/// An item is what becomes one machine block: a block, a split edge, or the extra entry block that
/// is needed when branches lead to the function's first block.

#include <cstdint>
#include <span>
#include <vector>

#include "ir/function.hpp"

namespace hoist::codegen {

class BlockOrder {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  /// One way from a block to another. Entries of a br_table with the same target and arguments are
  /// one edge.
  struct Edge {
    ir::Block from;
    ir::Block to;
    ir::BlockCall call;
    std::uint32_t item = kNone;  ///< of the split edge; kNone if it is not split
    bool exceptional = false;    ///< from a try_call to one of its handlers; counts as cold
  };
  struct Item {
    ir::Block block;             ///< none: a split edge or the extra entry block
    std::uint32_t edge = kNone;  ///< of a split edge
    std::uint16_t loop_depth = 0;
    bool loop_header = false;
    bool cold = false;
  };

  void compute(const ir::Function& func);

  /// Reachable blocks, each before all that it dominates; the first is the function's entry.
  std::span<const ir::Block> reverse_postorder() const { return {rpo_.data(), rpo_.size()}; }
  std::span<const Item> items() const { return {items_.data(), items_.size()}; }
  std::uint32_t item_of(ir::Block block) const { return blocks_[block.index()].item; }
  bool is_reachable(ir::Block block) const { return blocks_[block.index()].item != kNone; }
  /// Items in the final order.
  std::span<const std::uint32_t> layout() const { return {layout_.data(), layout_.size()}; }
  /// Position of an item in the final order.
  std::uint32_t position(std::uint32_t item) const { return position_[item]; }
  std::span<const Edge> edges_from(ir::Block block) const {
    const BlockInfo& info = blocks_[block.index()];
    return {edges_.data() + info.first_edge, info.edge_count};
  }
  const Edge& edge(std::uint32_t index) const { return edges_[index]; }
  /// The item that control goes to over this edge.
  std::uint32_t target_item(const Edge& edge) const {
    return edge.item != kNone ? edge.item : item_of(edge.to);
  }
  /// Number of edges into a block; the entry of the function counts as one.
  std::uint32_t edge_count_into(ir::Block block) const { return blocks_[block.index()].in_count; }
  /// A block with one edge into it: its parameters are the arguments of that edge.
  bool has_single_edge(ir::Block block) const {
    return blocks_[block.index()].in_count == 1 && block != rpo_.front();
  }
  const Edge& single_edge_into(ir::Block block) const {
    return edges_[blocks_[block.index()].last_in_edge];
  }
  /// For the terminator of a block with a br_table: the edge (counted within the block) of each
  /// table entry; edge 0 is the default's.
  std::span<const std::uint32_t> table_edges(ir::Block block) const {
    const BlockInfo& info = blocks_[block.index()];
    return {table_edges_.data() + info.first_table_edge, info.table_edge_count};
  }
  /// The extra entry item, or kNone.
  std::uint32_t entry_item() const { return entry_item_; }
  /// Whether there are exceptional edges.
  bool has_handlers() const { return has_handlers_; }
  /// A block that is entered only by one exceptional edge, which is not split.
  bool is_landing_pad(ir::Block block) const {
    return has_handlers_ && has_single_edge(block) && single_edge_into(block).exceptional;
  }

 private:
  struct BlockInfo {
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    std::uint32_t in_count = 0;
    std::uint32_t last_in_edge = kNone;
    std::uint32_t first_table_edge = 0;
    std::uint32_t table_edge_count = 0;
    std::uint32_t item = kNone;
    std::uint32_t path_position = 0;  // on the path of the walk, from 1; 0: not on it
    ir::Block loop;                   // innermost loop header other than itself
    std::uint32_t loop_last = kNone;  // of a loop header: last item of the loop in the layout
    std::uint32_t seen_edge = kNone;  // last edge into it from the table being looked at
    std::uint16_t depth = 0;
    bool visited = false;
    bool header = false;
    bool cold = false;
    bool unlikely = false;
  };
  struct Frame {
    ir::Block block;
    std::uint32_t next_edge;  // counts down
  };

  static constexpr unsigned kMaxNestedLayout = 1000;

  void add_edges(const ir::Function& func, ir::Block block);
  void add_edge(ir::Block from, ir::BlockCall call, ir::Block to);
  void walk(const ir::Function& func);
  void tag_loop(ir::Block block, ir::Block header);
  void visit_known(ir::Block from, ir::Block to);
  bool has_call(const ir::Function& func, ir::Block block) const;
  void mark_unlikely_successor(const ir::Function& func, ir::Block block);
  void mark_cold_and_depth(const ir::Function& func);
  void place_blocks();
  void place_edges();
  void place_edge(std::uint32_t edge_index);
  void insert_after(std::uint32_t item, std::uint32_t at, ir::Block loop);
  void number_items();
  ir::Block common_loop(ir::Block a, ir::Block b) const;
  /// The innermost loop that a block is in (it may be the header).
  ir::Block loop_around(ir::Block block) const {
    return blocks_[block.index()].header ? block : blocks_[block.index()].loop;
  }
  bool is_pred(std::uint32_t item, ir::Block to) const;
  std::uint32_t make_item(ir::Block block, std::uint32_t edge);

  std::vector<BlockInfo> blocks_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> table_edges_;
  std::vector<ir::Block> rpo_;
  std::vector<Frame> stack_;
  std::vector<Item> items_;
  std::vector<std::uint32_t> next_, prev_;  // of items in the layout; kNone at the ends
  std::vector<std::uint32_t> layout_, position_;
  std::uint32_t entry_item_ = kNone;
  std::uint32_t first_ = kNone;     // of the layout
  std::uint32_t last_hot_ = kNone;  // last item that is not cold
  std::uint32_t last_ = kNone;      // last item of all
  bool plain_ = false;              // the layout is reverse postorder, loops need not be contiguous
  bool irreducible_ = false;
  bool has_handlers_ = false;
};

}  // namespace hoist::codegen
