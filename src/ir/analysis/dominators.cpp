// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/analysis/dominators.hpp"

#include <algorithm>

namespace hoist::ir {

void DominatorTree::compute(const Function& func, const ControlFlow& flow) {
  idoms_.assign(func.block_count(), Block::none());
  numbers_.assign(func.block_count(), kNone);
  preorder_.clear();
  if (func.entry_block().is_none()) return;
  find_semidominators(func, flow);
  make_tree(func, flow);
}

/// Numbers the blocks depth-first, then computes immediate dominators as numbers in doms_.
void DominatorTree::find_semidominators(const Function& func, const ControlFlow& flow) {
  const std::size_t count = flow.postorder().size();
  vertices_.assign(1, Block::none());
  parents_.assign(count + 1, 0);
  dfs_numbers_.assign(func.block_count(), 0);
  // A preorder: pushing successors and numbering at the pop keeps the depth-first property, as a
  // block takes the parent that pushed it last.
  path_.assign(1, func.entry_block().index());
  semis_.assign(func.block_count(), 0);  // for now: the parent that pushed the block last
  while (!path_.empty()) {
    const Block block(path_.back());
    path_.pop_back();
    if (dfs_numbers_[block.index()] != 0) continue;
    const auto number = static_cast<std::uint32_t>(vertices_.size());
    dfs_numbers_[block.index()] = number;
    parents_[number] = semis_[block.index()];
    vertices_.push_back(block);
    for (const Block next : flow.successors(block)) {
      if (!flow.is_reachable(next) || dfs_numbers_[next.index()] != 0) continue;
      semis_[next.index()] = number;
      path_.push_back(next.index());
    }
  }

  semis_.resize(count + 1);
  labels_.resize(count + 1);
  for (std::uint32_t v = 0; v <= count; ++v) semis_[v] = labels_[v] = v;
  ancestors_.assign(count + 1, 0);
  buckets_.assign(count + 1, 0);
  bucket_next_.assign(count + 1, 0);
  doms_.assign(count + 1, 0);
  for (auto w = static_cast<std::uint32_t>(count); w >= 2; --w) {
    for (const Predecessor& pred : flow.predecessors(vertices_[w])) {
      const std::uint32_t v = dfs_numbers_[pred.block.index()];
      if (v == 0) continue;
      semis_[w] = std::min(semis_[w], semis_[evaluate(v)]);
    }
    bucket_next_[w] = buckets_[semis_[w]];
    buckets_[semis_[w]] = w;
    const std::uint32_t parent = parents_[w];
    ancestors_[w] = parent;
    for (std::uint32_t v = buckets_[parent]; v != 0; v = bucket_next_[v]) {
      const std::uint32_t u = evaluate(v);
      doms_[v] = semis_[u] < semis_[v] ? u : parent;
    }
    buckets_[parent] = 0;
  }
  for (std::uint32_t w = 2; w <= count; ++w) {
    if (doms_[w] != semis_[w]) doms_[w] = doms_[doms_[w]];
    idoms_[vertices_[w].index()] = vertices_[doms_[w]];
  }
}

/// The vertex of least semidominator on the path from `v` up to the root of its tree in the forest.
std::uint32_t DominatorTree::evaluate(std::uint32_t v) {
  if (ancestors_[v] == 0) return labels_[v];
  path_.clear();
  for (std::uint32_t u = v; ancestors_[ancestors_[u]] != 0; u = ancestors_[u]) path_.push_back(u);
  while (!path_.empty()) {
    const std::uint32_t u = path_.back();
    path_.pop_back();
    const std::uint32_t above = ancestors_[u];
    if (semis_[labels_[above]] < semis_[labels_[u]]) labels_[u] = labels_[above];
    ancestors_[u] = ancestors_[above];
  }
  return labels_[v];
}

void DominatorTree::make_tree(const Function& func, const ControlFlow& flow) {
  first_children_.assign(func.block_count(), Block::none());
  next_siblings_.assign(func.block_count(), Block::none());
  // Postorder and pushing to the front give lists in reverse postorder.
  for (const Block block : flow.postorder()) {
    const Block parent = idoms_[block.index()];
    if (parent.is_none()) continue;
    next_siblings_[block.index()] = first_children_[parent.index()];
    first_children_[parent.index()] = block;
  }
  last_in_subtree_.assign(flow.postorder().size(), 0);
  Block block = func.entry_block();
  for (;;) {
    numbers_[block.index()] = static_cast<std::uint32_t>(preorder_.size());
    preorder_.push_back(block);
    if (first_children_[block.index()].is_some()) {
      block = first_children_[block.index()];
      continue;
    }
    for (;;) {
      last_in_subtree_[numbers_[block.index()]] = static_cast<std::uint32_t>(preorder_.size() - 1);
      if (next_siblings_[block.index()].is_some()) break;
      block = idoms_[block.index()];
      if (block.is_none()) return;
    }
    block = next_siblings_[block.index()];
  }
}

}  // namespace hoist::ir
