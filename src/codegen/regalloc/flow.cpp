// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See flow.hpp.

#include "codegen/regalloc/flow.hpp"

#include <algorithm>

namespace hoist::codegen {

void Flow::compute(const MachFunction& func) {
  search(func);
  find_loops(func);
  build_forest();
  guess_frequencies(func);
}

// Depth-first, successors last to first, so that the first successor follows its block in reverse
// postorder.
void Flow::search(const MachFunction& func) {
  const std::size_t count = func.blocks.size();
  order_.clear();
  by_preorder_.clear();
  stack_.clear();
  preorder_.assign(count, kNone);
  last_below_.assign(count, 0);
  position_.assign(count, 0);
  const auto enter = [&](std::uint32_t block) {
    preorder_[block] = static_cast<std::uint32_t>(by_preorder_.size());
    by_preorder_.push_back(block);
    stack_.push_back({block, func.blocks[MachBlock(block)].succ_count});
  };
  enter(0);
  while (!stack_.empty()) {
    Visit& top = stack_.back();
    const MachBlockData& data = func.blocks[MachBlock(top.block)];
    if (top.next_succ == 0) {
      last_below_[top.block] = static_cast<std::uint32_t>(by_preorder_.size() - 1);
      order_.push_back(top.block);
      stack_.pop_back();
      continue;
    }
    const std::uint32_t succ = func.succs[data.first_succ + --top.next_succ].target.index();
    if (preorder_[succ] == kNone) enter(succ);
  }
  HOIST_DCHECK(order_.size() == count, "every block is reachable");
  std::reverse(order_.begin(), order_.end());
  for (std::uint32_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
}

std::uint32_t Flow::representative(std::uint32_t block) {
  while (union_[block] != block) {
    union_[block] = union_[union_[block]];
    block = union_[block];
  }
  return block;
}

// From the innermost headers outwards: the body of a loop is what reaches its back edges without
// passing the header; a body that was collected is represented by its header from then on.
void Flow::find_loops(const MachFunction& func) {
  const std::size_t count = func.blocks.size();
  union_.resize(count);
  for (std::uint32_t b = 0; b < count; ++b) union_[b] = b;
  header_of_.assign(count, kNone);
  is_header_.assign(count, 0);
  irreducible_ = false;
  for (std::size_t i = by_preorder_.size(); i-- > 0;) {
    const std::uint32_t header = by_preorder_[i];
    body_.clear();
    const auto add = [&](std::uint32_t block) {
      const std::uint32_t rep = representative(block);
      if (rep == header || header_of_[rep] == header) return;
      header_of_[rep] = header;
      body_.push_back(rep);
    };
    for (const MachBlock pred : func.preds_of(func.blocks[MachBlock(header)])) {
      if (!is_ancestor(header, pred.index())) continue;
      is_header_[header] = 1;
      add(pred.index());
    }
    for (std::size_t next = 0; next < body_.size(); ++next) {
      for (const MachBlock pred : func.preds_of(func.blocks[MachBlock(body_[next])])) {
        if (is_ancestor(body_[next], pred.index())) continue;  // its own back edge
        const std::uint32_t rep = representative(pred.index());
        if (is_ancestor(header, rep)) {
          add(rep);
        } else {
          irreducible_ = true;  // an entry beside the header
        }
      }
    }
    for (const std::uint32_t block : body_) union_[block] = header;
  }
}

void Flow::build_forest() {
  loops_.clear();
  loop_of_.assign(by_preorder_.size(), kNone);
  for (const std::uint32_t block : by_preorder_) {
    const std::uint32_t outer = header_of_[block] == kNone ? kNone : loop_of_[header_of_[block]];
    if (is_header_[block] == 0) {
      loop_of_[block] = outer;
      continue;
    }
    loop_of_[block] = static_cast<std::uint32_t>(loops_.size());
    loops_.push_back({block, outer, outer == kNone ? 1 : loops_[outer].depth + 1});
  }
}

std::uint32_t Flow::loops_left(std::uint32_t from, std::uint32_t to) const {
  std::uint32_t source = loop_of_[from];
  std::uint32_t target = loop_of_[to];
  std::uint32_t count = 0;
  while (source != target && source != kNone) {
    while (target != kNone && loops_[target].depth > loops_[source].depth) {
      target = loops_[target].parent;
    }
    if (source == target) break;
    source = loops_[source].parent;
    ++count;
  }
  return count;
}

// What flows into a block along forward edges, times the iterations where it heads a loop.
void Flow::guess_frequencies(const MachFunction& func) {
  constexpr double kIterations = 8;
  constexpr double kColdWeight = 1.0 / 64;
  constexpr double kCallWeight = 0.3;  // calls are more often on the rare path
  constexpr double kMost = 1 << 24;
  loop_exits_.assign(loops_.size(), 0);
  calls_.assign(func.blocks.size(), 0);
  for (std::uint32_t block = 0; func.has_calls && block < func.blocks.size(); ++block) {
    const MachBlockData& data = func.blocks[MachBlock(block)];
    for (std::uint32_t i = data.first_inst; i < data.end_inst && calls_[block] == 0; ++i) {
      calls_[block] = (func.insts[i].flags & kCall) != 0 ? 1 : 0;
    }
  }
  for (const std::uint32_t block : order_) {
    if (loop_of_[block] == kNone) continue;
    for (const MachEdge& edge : func.succs_of(func.blocks[MachBlock(block)])) {
      if (loops_left(block, edge.target.index()) != 0) ++loop_exits_[loop_of_[block]];
    }
  }
  flow_in_.assign(func.blocks.size(), 0);
  frequency_.resize(func.blocks.size());
  flow_in_[0] = 1;
  for (const std::uint32_t block : order_) {
    const MachBlockData& data = func.blocks[MachBlock(block)];
    double flow = flow_in_[block];
    if (is_header(block)) flow *= kIterations;
    frequency_[block] = static_cast<std::uint32_t>(std::clamp(flow * kEntryFrequency, 1.0, kMost));
    const auto weight = [&](MachBlock target) {
      double result = func.blocks[target].cold && !data.cold ? kColdWeight : 1;
      if (calls_[target.index()] != 0) result *= kCallWeight;
      if (loop_of_[block] != kNone && loops_left(block, target.index()) != 0) {
        result /= kIterations * loop_exits_[loop_of_[block]];
      }
      return result;
    };
    double total = 0;
    for (const MachEdge& edge : func.succs_of(data)) total += weight(edge.target);
    for (const MachEdge& edge : func.succs_of(data)) {
      const std::uint32_t succ = edge.target.index();
      if (position_[succ] > position_[block]) flow_in_[succ] += flow * weight(edge.target) / total;
    }
  }
}

}  // namespace hoist::codegen
