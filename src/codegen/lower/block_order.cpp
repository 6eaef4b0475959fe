// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// See block_order.hpp.
#include "codegen/lower/block_order.hpp"

#include <algorithm>

namespace hoist::codegen {

void BlockOrder::compute(const ir::Function& func) {
  blocks_.assign(func.block_count(), {});
  edges_.clear();
  table_edges_.clear();
  rpo_.clear();
  items_.clear();
  next_.clear();
  prev_.clear();
  entry_item_ = first_ = last_hot_ = last_ = kNone;
  irreducible_ = false;
  plain_ = false;
  has_handlers_ = false;
  walk(func);
  plain_ = irreducible_;
  mark_cold_and_depth(func);
  place_blocks();
  place_edges();
  number_items();
}

void BlockOrder::add_edge(ir::Block from, ir::BlockCall call, ir::Block to) {
  BlockInfo& target = blocks_[to.index()];
  ++target.in_count;
  target.last_in_edge = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({from, to, call, kNone, false});
  ++blocks_[from.index()].edge_count;
}

void BlockOrder::add_edges(const ir::Function& func, ir::Block block) {
  BlockInfo& info = blocks_[block.index()];
  info.first_edge = static_cast<std::uint32_t>(edges_.size());
  const ir::Inst branch = func.last_inst(block);
  if (branch.is_none()) return;
  if (func.op(branch) != ir::Op::BrTable) {
    func.for_each_target(
        branch, [&](ir::BlockCall call) { add_edge(block, call, func.call_target(call)); });
    if (ir::is_try(func.op(branch)) && blocks_[block.index()].edge_count > 1) {
      for (std::size_t i = info.first_edge + 1; i < edges_.size(); ++i) {
        edges_[i].exceptional = true;
      }
      has_handlers_ = true;
    }
    return;
  }
  info.first_table_edge = static_cast<std::uint32_t>(table_edges_.size());
  bool is_default = true;
  func.for_each_target(branch, [&](ir::BlockCall call) {
    const ir::Block to = func.call_target(call);
    const std::uint32_t seen = blocks_[to.index()].seen_edge;
    const bool known = seen != kNone && seen >= info.first_edge && seen < edges_.size() &&
                       std::ranges::equal(func.call_args(edges_[seen].call), func.call_args(call));
    if (!known) {
      blocks_[to.index()].seen_edge = static_cast<std::uint32_t>(edges_.size());
      add_edge(block, call, to);
    }
    if (!is_default) {
      table_edges_.push_back(blocks_[to.index()].seen_edge - info.first_edge);
      ++info.table_edge_count;
    }
    is_default = false;
  });
}

/// `header` is the header of a loop around `block`, and on the path of the walk.
void BlockOrder::tag_loop(ir::Block block, ir::Block header) {
  if (header.is_none() || block == header) return;
  ir::Block inner = block;
  ir::Block outer = header;
  while (blocks_[inner.index()].loop.is_some()) {
    const ir::Block known = blocks_[inner.index()].loop;
    if (known == outer) return;
    if (blocks_[known.index()].path_position < blocks_[outer.index()].path_position) {
      blocks_[inner.index()].loop = outer;
      inner = outer;
      outer = known;
    } else {
      inner = known;
    }
  }
  blocks_[inner.index()].loop = outer;
}

/// Handles an edge to a block that the walk has seen before.
void BlockOrder::visit_known(ir::Block from, ir::Block to) {
  BlockInfo& target = blocks_[to.index()];
  if (target.path_position != 0) {
    target.header = true;
    tag_loop(from, to);
    return;
  }
  ir::Block header = target.loop;
  while (header.is_some()) {
    if (blocks_[header.index()].path_position != 0) {
      tag_loop(from, header);
      return;
    }
    irreducible_ = true;  // the edge enters a loop that is already left, not through its header
    header = blocks_[header.index()].loop;
  }
}

void BlockOrder::walk(const ir::Function& func) {
  const ir::Block entry = func.entry_block();
  const auto enter = [&](ir::Block block) {
    BlockInfo& info = blocks_[block.index()];
    info.visited = true;
    info.path_position = static_cast<std::uint32_t>(stack_.size()) + 1;
    add_edges(func, block);
    stack_.push_back({block, blocks_[block.index()].edge_count});
  };
  stack_.clear();
  enter(entry);
  while (!stack_.empty()) {
    Frame& top = stack_.back();
    const ir::Block block = top.block;
    if (top.next_edge == 0) {
      BlockInfo& info = blocks_[block.index()];
      info.path_position = 0;
      rpo_.push_back(block);
      stack_.pop_back();
      if (!stack_.empty()) tag_loop(stack_.back().block, info.loop);
      continue;
    }
    // Last successor first, so that the first comes next in reverse postorder.
    const ir::Block to = edges_[blocks_[block.index()].first_edge + --top.next_edge].to;
    if (blocks_[to.index()].visited) {
      visit_known(block, to);
    } else {
      enter(to);
    }
  }
  std::ranges::reverse(rpo_);
  ++blocks_[entry.index()].in_count;
}

std::uint32_t BlockOrder::make_item(ir::Block block, std::uint32_t edge) {
  const auto item = static_cast<std::uint32_t>(items_.size());
  items_.push_back({block, edge, 0, false, false});
  next_.push_back(kNone);
  prev_.push_back(kNone);
  return item;
}

bool BlockOrder::has_call(const ir::Function& func, ir::Block block) const {
  for (ir::Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
    if (ir::is_call(func.op(inst))) return true;
  }
  return false;
}

/// Of two ways, the one that calls is taken less often (Ball and Larus, "Branch Prediction for
/// Free", 1993: the call heuristic), unless the other one leaves the loop.
void BlockOrder::mark_unlikely_successor(const ir::Function& func, ir::Block block) {
  const auto edges = edges_from(block);
  if (edges.size() != 2 || edges[0].to == edges[1].to) return;
  const ir::Block targets[2] = {edges[0].to, edges[1].to};
  if (loop_around(targets[0]) != loop_around(targets[1])) return;
  bool calls[2];
  for (unsigned i = 0; i < 2; ++i) calls[i] = has_call(func, targets[i]);
  if (calls[0] == calls[1]) return;
  BlockInfo& unlikely = blocks_[targets[calls[0] ? 0 : 1].index()];
  if (unlikely.in_count == 1) unlikely.unlikely = true;
}

void BlockOrder::mark_cold_and_depth(const ir::Function& func) {
  // A block is cold if it is marked, ends in a trap, is unlikely, or can only be reached from cold
  // ones. `path_position` counts the edges from warm blocks.
  for (const ir::Block block : rpo_) {
    BlockInfo& info = blocks_[block.index()];
    const bool is_entry = block == rpo_.front();
    const ir::Inst end = func.last_inst(block);
    info.cold = !is_entry && (func.is_cold(block) || info.unlikely || info.path_position == 0 ||
                              (end.is_some() && func.op(end) == ir::Op::Trap));
    const unsigned depth =
        (info.loop.is_some() ? blocks_[info.loop.index()].depth : 0u) + (info.header ? 1u : 0u);
    info.depth = static_cast<std::uint16_t>(std::min(depth, 0xffffu));
    plain_ |= depth > kMaxNestedLayout;
    if (!info.cold) {
      for (const Edge& edge : edges_from(block)) {
        if (!edge.exceptional) ++blocks_[edge.to.index()].path_position;
      }
      mark_unlikely_successor(func, block);
    }
    info.item = make_item(block, kNone);
    items_.back().loop_depth = info.depth;
    items_.back().loop_header = info.header;
    items_.back().cold = info.cold;
  }
}

/// Puts `item` behind `at` (kNone: in front of all); it belongs to `loop` (none: to no loop).
void BlockOrder::insert_after(std::uint32_t item, std::uint32_t at, ir::Block loop) {
  const std::uint32_t next = at == kNone ? first_ : next_[at];
  prev_[item] = at;
  next_[item] = next;
  (at == kNone ? first_ : next_[at]) = item;
  if (next != kNone) prev_[next] = item;
  if (last_ == at) last_ = item;
  while (loop.is_some() && blocks_[loop.index()].loop_last == at) {
    blocks_[loop.index()].loop_last = item;
    loop = blocks_[loop.index()].loop;
  }
  if (last_hot_ == at && !items_[item].cold) last_hot_ = item;
}

void BlockOrder::place_blocks() {
  for (const bool cold : {false, true}) {
    for (const ir::Block block : rpo_) {
      BlockInfo& info = blocks_[block.index()];
      if (info.cold != cold) continue;
      // Cold blocks leave their loop, unless all of it is cold.
      ir::Block loop = plain_ ? ir::Block::none() : info.loop;
      while (loop.is_some() && blocks_[loop.index()].cold != cold)
        loop = blocks_[loop.index()].loop;
      if (info.header) info.loop_last = info.item;
      insert_after(info.item, loop.is_some() ? blocks_[loop.index()].loop_last : last_, loop);
    }
  }
  const ir::Block entry = rpo_.front();
  if (blocks_[entry.index()].in_count > 1) {
    entry_item_ = make_item(ir::Block::none(), kNone);
    insert_after(entry_item_, kNone, ir::Block::none());
  }
}

ir::Block BlockOrder::common_loop(ir::Block a, ir::Block b) const {
  ir::Block x = loop_around(a);
  ir::Block y = loop_around(b);
  while (x != y) {
    const unsigned x_depth = x.is_some() ? blocks_[x.index()].depth : 0;
    const unsigned y_depth = y.is_some() ? blocks_[y.index()].depth : 0;
    if (x_depth >= y_depth) {
      x = blocks_[x.index()].loop;
    } else {
      y = blocks_[y.index()].loop;
    }
  }
  return x;
}

bool BlockOrder::is_pred(std::uint32_t item, ir::Block to) const {
  if (items_[item].edge != kNone) return edges_[items_[item].edge].to == to;
  if (items_[item].block.is_none()) return to == rpo_.front();
  return std::ranges::any_of(edges_from(items_[item].block),
                             [&](const Edge& edge) { return edge.to == to; });
}

void BlockOrder::place_edge(std::uint32_t edge_index) {
  Edge& edge = edges_[edge_index];
  const BlockInfo& from = blocks_[edge.from.index()];
  const BlockInfo& to = blocks_[edge.to.index()];
  const ir::Block around = plain_ ? ir::Block::none() : common_loop(edge.from, edge.to);
  const std::uint32_t item = make_item(ir::Block::none(), edge_index);
  edge.item = item;
  items_[item].loop_depth = plain_             ? std::min(from.depth, to.depth)
                            : around.is_some() ? blocks_[around.index()].depth
                                               : std::uint16_t{0};
  items_[item].cold = from.cold || to.cold || edge.exceptional;
  if (items_[item].cold && !to.cold) {
    insert_after(item, last_, ir::Block::none());
    return;
  }
  ir::Block loop = around;
  while (to.cold && loop.is_some() && !blocks_[loop.index()].cold)
    loop = blocks_[loop.index()].loop;
  // Items of blocks are numbered in reverse postorder. A split edge must follow its source.
  const bool backwards = from.item >= to.item;
  if (backwards && (irreducible_ || loop_around(edge.from) == edge.to)) {
    insert_after(item, from.item, loop);
    return;
  }
  const std::uint32_t before = prev_[to.item];
  if (!backwards && before != kNone && (before == from.item || !is_pred(before, edge.to))) {
    // In front of its target. That place is within every loop that the target is in but does not
    // head.
    insert_after(item, before, loop);
    return;
  }
  if (loop.is_some()) {
    insert_after(item, blocks_[loop.index()].loop_last, loop);
  } else {
    insert_after(item, items_[item].cold ? last_ : last_hot_, ir::Block::none());
  }
}

void BlockOrder::place_edges() {
  // Those between neighbours first: they keep falling through.
  for (const bool neighbours : {true, false}) {
    for (std::uint32_t index = 0; index < edges_.size(); ++index) {
      const Edge& edge = edges_[index];
      const BlockInfo& from = blocks_[edge.from.index()];
      const BlockInfo& to = blocks_[edge.to.index()];
      if (edge.item != kNone || from.edge_count <= 1 || to.in_count <= 1) continue;
      if (neighbours && prev_[to.item] != from.item) continue;
      place_edge(index);
    }
  }
}

void BlockOrder::number_items() {
  layout_.clear();
  position_.assign(items_.size(), kNone);
  for (std::uint32_t item = first_; item != kNone; item = next_[item]) {
    position_[item] = static_cast<std::uint32_t>(layout_.size());
    layout_.push_back(item);
  }
}

}  // namespace hoist::codegen
