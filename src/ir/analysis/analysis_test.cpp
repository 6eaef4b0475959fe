// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Dominators and loops: by example, and on random graphs against their definitions.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"
#include "ir/builder.hpp"
#include "ir/text/reader.hpp"

namespace hoist::ir {
namespace {

/// A function whose block i goes to the blocks of edges[i].
Function graph(const std::vector<std::vector<unsigned>>& edges) {
  Function func;
  func.signature.params.push_back({I32, {}, {}, 0});
  FunctionBuilder b(func);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < edges.size(); ++i) blocks.push_back(b.make_block());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    b.switch_to(blocks[i]);
    if (i == 0) b.append_params_for_signature(blocks[0]);
    const Value c = func.block_params(blocks[0])[0];
    if (edges[i].empty()) {
      b.ret({});
      continue;
    }
    std::vector<FunctionBuilder::Target> targets;
    for (const unsigned target : edges[i]) targets.push_back({blocks[target], {}});
    b.br_table(c, targets[0], std::span(targets).subspan(1));
  }
  b.finish();
  return func;
}

struct Analyses {
  explicit Analyses(const Function& func) {
    flow.compute(func);
    tree.compute(func, flow);
    loops.compute(func, flow, tree);
  }
  ControlFlow flow;
  DominatorTree tree;
  LoopForest loops;
};

/// Can `to` be reached from the entry without passing `avoided`?
bool reachable(const std::vector<std::vector<unsigned>>& edges, unsigned to, unsigned avoided) {
  std::vector<bool> seen(edges.size());
  std::vector<unsigned> work;
  if (avoided != 0) {
    work.push_back(0);
    seen[0] = true;
  }
  while (!work.empty()) {
    const unsigned at = work.back();
    work.pop_back();
    for (const unsigned next : edges[at]) {
      if (next == avoided || seen[next]) continue;
      seen[next] = true;
      work.push_back(next);
    }
  }
  return seen[to];
}

TEST(Analysis, DominatorsOfRandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const auto count = static_cast<unsigned>(1 + random() % 12);
    std::vector<std::vector<unsigned>> edges(count);
    for (auto& targets : edges) {
      for (auto n = random() % 4; n-- > 0;)
        targets.push_back(static_cast<unsigned>(random() % count));
    }
    const Function func = graph(edges);
    const Analyses a(func);
    const unsigned nothing = count;
    for (unsigned x = 0; x < count; ++x) {
      EXPECT_EQ(a.flow.is_reachable(Block(x)), reachable(edges, x, nothing));
      for (unsigned y = 0; y < count; ++y) {
        const bool expected = x == y || (a.flow.is_reachable(Block(x)) &&
                                         a.flow.is_reachable(Block(y)) && !reachable(edges, y, x));
        ASSERT_EQ(a.tree.dominates(Block(x), Block(y)), expected) << round << ": " << x << " " << y;
      }
      const Block idom = a.tree.idom(Block(x));
      if (!a.flow.is_reachable(Block(x)) || x == 0) {
        EXPECT_TRUE(idom.is_none());
        continue;
      }
      // Every other strict dominator dominates the immediate one.
      for (unsigned y = 0; y < count; ++y) {
        if (y != x && a.tree.dominates(Block(y), Block(x))) {
          ASSERT_TRUE(a.tree.dominates(Block(y), idom));
        }
      }
    }
  }
}

TEST(Analysis, LoopsOfRandomGraphs) {
  std::mt19937 random(2);
  for (int round = 0; round < 400; ++round) {
    const auto count = static_cast<unsigned>(2 + random() % 10);
    std::vector<std::vector<unsigned>> edges(count);
    for (auto& targets : edges) {
      for (auto n = random() % 3; n-- > 0;)
        targets.push_back(static_cast<unsigned>(random() % count));
    }
    const Function func = graph(edges);
    const Analyses a(func);
    // By definition: the natural loop of header h has the blocks that reach a latch of h inside of
    // what h dominates.
    std::vector<unsigned> depth(count, 0);
    for (unsigned h = 0; h < count; ++h) {
      std::vector<bool> in_loop(count);
      std::vector<unsigned> work;
      const auto add = [&](unsigned block) {
        if (in_loop[block]) return;
        in_loop[block] = true;
        if (block != h) work.push_back(block);
      };
      for (unsigned latch = 0; latch < count; ++latch) {
        for (const unsigned target : edges[latch]) {
          const bool back = target == h && a.flow.is_reachable(Block(latch)) &&
                            a.tree.dominates(Block(h), Block(latch));
          if (!back) continue;
          add(h);
          add(latch);
        }
      }
      while (!work.empty()) {
        const unsigned at = work.back();
        work.pop_back();
        for (unsigned pred = 0; pred < count; ++pred) {
          if (!a.flow.is_reachable(Block(pred))) continue;
          for (const unsigned target : edges[pred]) {
            if (target == at) add(pred);
          }
        }
      }
      for (unsigned block = 0; block < count; ++block) depth[block] += in_loop[block] ? 1U : 0U;
      EXPECT_EQ(a.loops.is_header(Block(h)), in_loop[h]);
    }
    for (unsigned block = 0; block < count; ++block) {
      ASSERT_EQ(a.loops.depth(Block(block)), depth[block]) << round << ": block" << block;
    }
  }
}

TEST(Analysis, IrreducibleCycleIsNoLoop) {
  // 0 -> 1, 2; 1 <-> 2; 1 -> 3.
  const Function func = graph({{1, 2}, {2, 3}, {1}, {}});
  const Analyses a(func);
  EXPECT_EQ(a.loops.loop_count(), 0u);
  EXPECT_EQ(a.loops.depth(Block(1u)), 0u);
  EXPECT_EQ(a.tree.idom(Block(1u)), Block(0u));
  EXPECT_EQ(a.tree.idom(Block(3u)), Block(1u));
}

TEST(Analysis, DeepNestsAndLadders) {
  // A chain of 200,000 blocks, each also branching to a join far down: walks along dominator chains
  // would be quadratic.
  const unsigned count = 200'000;
  std::vector<std::vector<unsigned>> edges(2 * count);
  for (unsigned i = 0; i < count; ++i) {
    if (i + 1 < count) edges[i] = {i + 1, 2 * count - 1 - i};
    if (i + 1 < count) edges[count + i] = {count + i + 1};
  }
  edges[count - 1] = {0 + count, 1};
  const auto start = std::chrono::steady_clock::now();
  const Function func = graph(edges);
  const Analyses a(func);
  EXPECT_EQ(a.loops.depth(Block(1u)), 1u);
  EXPECT_EQ(a.tree.idom(Block(2 * count - 1)), Block(0u));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace hoist::ir
