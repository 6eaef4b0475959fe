// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Liveness against its definition, in both forms, and the loop forest and frequencies of Flow.

#include "codegen/regalloc/liveness.hpp"

#include <gtest/gtest.h>

#include <string>

#include "codegen/mach/print.hpp"
#include "codegen/regalloc/flow.hpp"
#include "codegen/regalloc/random_function.hpp"

namespace hoist::codegen {

namespace {

using testing::random_function;
using testing::RandomOptions;

/// Live-in sets as the least solution of the equations, one value and block at a time.
std::vector<std::vector<bool>> naive_live_in(const MachFunction& func) {
  const std::size_t blocks = func.blocks.size();
  std::vector<std::vector<bool>> live(blocks, std::vector<bool>(func.vregs.size(), false));
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const MachBlockData& data = func.blocks[MachBlock(b)];
      std::vector<bool> now(func.vregs.size(), false);
      for (const MachEdge& edge : func.succs_of(data)) {
        for (std::size_t v = 0; v < now.size(); ++v)
          now[v] = now[v] || live[edge.target.index()][v];
      }
      for (const MachEdge& edge : func.succs_of(data)) {
        for (const VReg arg : func.args_of(edge)) now[arg.index()] = true;
      }
      for (std::uint32_t i = data.end_inst; i-- > data.first_inst;) {
        for (const Operand& op : func.operands_of(func.insts[i])) {
          if (op.role == Role::Def || op.role == Role::EarlyDef) now[op.vreg.index()] = false;
        }
        for (const Operand& op : func.operands_of(func.insts[i])) {
          if (op.role == Role::Use || op.role == Role::LateUse) now[op.vreg.index()] = true;
        }
      }
      for (const VReg param : func.params_of(data)) now[param.index()] = false;
      again = again || now != live[b];
      live[b] = now;
    }
  }
  return live;
}

TEST(Liveness, IsTheLeastSolutionInBothForms) {
  RandomOptions options;
  options.blocks = 20;
  ValueTable values;
  Flow flow;
  Liveness live;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const MachFunction func = random_function(seed, options);
    const auto expected = naive_live_in(func);
    flow.compute(func);
    for (const Liveness::Form form : {Liveness::Form::Rows, Liveness::Form::Lists}) {
      live.scan(func, values);
      ASSERT_TRUE(live.solve(func, flow, values, form));
      for (std::uint32_t b = 0; b < func.blocks.size(); ++b) {
        std::uint32_t count[2] = {0, 0};
        for (std::uint32_t v = 0; v < values.size(); ++v) {
          ASSERT_EQ(live.live_in(b, values[v]), expected[b][v])
              << "seed " << seed << " block " << b << " value " << v;
          if (expected[b][v]) ++count[static_cast<std::size_t>(values[v].cls)];
        }
        EXPECT_EQ(live.count_live_in(b, RegClass::Int), count[0]);
        EXPECT_EQ(live.count_live_in(b, RegClass::Float), count[1]);
        live.load_out(func, flow, b);
        for (std::uint32_t v = 0; v < values.size(); ++v) {
          bool out = false;
          for (const MachEdge& edge : func.succs_of(func.blocks[MachBlock(b)])) {
            out = out || expected[edge.target.index()][v];
          }
          ASSERT_EQ(live.live_out(values[v]), out);
        }
        for (const Liveness::Distance& entry : live.nearest(b)) {
          ASSERT_TRUE(expected[b][entry.vreg]);
        }
      }
    }
  }
}

MachFunction parse(std::string_view text) {
  MachFunction func;
  const auto parsed = parse_function(text, func);
  EXPECT_TRUE(parsed) << parsed.error().message();
  return func;
}

constexpr const char* kNest = R"(
mb0:
  op1 def %v0:i
  op2 -> mb1
mb1:
  op3 -> mb2
mb2:
  op4 use %v0 -> mb3, mb4
mb3:
  op5 -> mb2
mb4:
  op6 -> mb5, mb6
mb5:
  op7 -> mb1
mb6:
  op8 use %v0 end
)";

TEST(Flow, FindsNestedLoops) {
  Flow flow;
  flow.compute(parse(kNest));
  ASSERT_EQ(flow.loops().size(), 2u);
  EXPECT_FALSE(flow.irreducible());
  EXPECT_EQ(flow.depth(0), 0u);
  EXPECT_EQ(flow.depth(1), 1u);
  EXPECT_EQ(flow.depth(2), 2u);
  EXPECT_EQ(flow.depth(3), 2u);
  EXPECT_EQ(flow.depth(4), 1u);
  EXPECT_EQ(flow.depth(6), 0u);
  EXPECT_TRUE(flow.is_header(1));
  EXPECT_TRUE(flow.is_header(2));
  EXPECT_EQ(flow.loops_left(2, 4), 1u);
  EXPECT_EQ(flow.loops_left(2, 6), 2u);
  EXPECT_EQ(flow.loops_left(1, 2), 0u);
  EXPECT_GT(flow.frequency(2), flow.frequency(1));
  EXPECT_GT(flow.frequency(1), flow.frequency(0));
  EXPECT_LE(flow.frequency(6), flow.frequency(0));
}

TEST(Flow, NoticesIrreducibleControlFlow) {
  Flow flow;
  flow.compute(parse(R"(
mb0:
  op1 -> mb1, mb2
mb1:
  op2 -> mb3
mb2:
  op3 -> mb4
mb3:
  op4 -> mb4, mb5
mb4:
  op5 -> mb3
mb5:
  op6 end
)"));
  EXPECT_TRUE(flow.irreducible());
}

TEST(Liveness, UsesBehindALoopAreFar) {
  const MachFunction func = parse(kNest);
  Flow flow;
  Liveness live;
  ValueTable values;
  flow.compute(func);
  live.scan(func, values);
  ASSERT_TRUE(live.solve(func, flow, values));
  const auto distance = [&](std::uint32_t block) {
    for (const Liveness::Distance& entry : live.nearest(block)) {
      if (entry.vreg == 0) return entry.distance;
    }
    return kDead;
  };
  EXPECT_EQ(distance(2), 0u);
  EXPECT_EQ(distance(3), 1u);
  EXPECT_EQ(distance(6), 0u);
  EXPECT_EQ(distance(1), 1u);
  // Around the outer loop it is near, only out of it far.
  EXPECT_LT(distance(4), kUnneeded);
}

}  // namespace

}  // namespace hoist::codegen
