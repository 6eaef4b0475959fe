// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pipeline on CLIF text: what each pass does to control flow, traps, block parameters.
#include "opt/passes/passes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/printer.hpp"
#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"

namespace hoist::opt {
namespace {

/// Blocks and instructions of the optimised function, one per line, without indentation and
/// comments.
std::string optimised(std::string_view text) {
  auto func = ir::parse_function(text);
  if (!func) return func.error().message();
  OptContext context;
  optimise(*func, context);
  const auto fine = ir::verify(*func);
  if (!fine) return fine.error().message() + ir::to_string(*func);
  std::string out = "\n";
  for (ir::Block block = func->first_block(); block.is_some(); block = func->next_block(block)) {
    base::Printer header;
    ir::print_block_header(header, *func, block);
    out += header.take();
    if (out.back() != '\n') out += '\n';
    for (ir::Inst inst = func->first_inst(block); inst.is_some(); inst = func->next_inst(inst)) {
      out += "  " + ir::to_string(*func, inst) + '\n';
    }
  }
  return out;
}

TEST(Passes, ConstantBranchRemovesBlocks) {
  EXPECT_EQ(optimised(R"(function %f(i32) -> i32 {
block0(v0: i32):
    v1 = iconst.i32 0
    brif v1, block1, block2
block1:
    jump block3(v0)
block2:
    v9 = iconst.i32 1
    v2 = iadd v0, v9
    jump block3(v2)
block3(v3: i32):
    return v3
})"),
            R"(
block0(v0: i32):
  jump block2
block2:
  v9 = iconst.i32 1
  v2 = iadd.i32 v0, v9
  jump block3
block3:
  return v2
)");
}

TEST(Passes, EqualBranchesBecomeAJump) {
  EXPECT_EQ(optimised(R"(function %f(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    brif v0, block1(v1), block1(v1)
block1(v2: i32):
    return v2
})"),
            R"(
block0(v0: i32, v1: i32):
  jump block1
block1:
  return v1
)");
}

TEST(Passes, ConditionsAreStripped) {
  EXPECT_EQ(optimised(R"(function %f(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    v2 = icmp slt v0, v1
    v3 = uextend.i32 v2
    v4 = iconst.i32 0
    v5 = icmp eq v3, v4
    v6 = uextend.i64 v5
    brif v6, block1, block2
block1:
    return v0
block2:
    return v1
})"),
            R"(
block0(v0: i32, v1: i32):
  v5 = icmp sge v0, v1
  brif v5, block1, block2
block1:
  return v0
block2:
  return v1
)");
}

TEST(Passes, ZeroTestOfAValueBecomesTheValue) {
  EXPECT_EQ(optimised(R"(function %f(i64) -> i64 {
block0(v0: i64):
    v1 = iconst.i64 0
    v2 = icmp eq v0, v1
    trapnz v2, user1
    brif v2, block1, block2
block1:
    return v1
block2:
    return v0
})"),
            R"(
block0(v0: i64):
  v1 = iconst.i64 0
  trapz v0, user1
  brif v0, block2, block1
block1:
  return v1
block2:
  return v0
)");
}

TEST(Passes, DominatedTrapIsRedundant) {
  EXPECT_EQ(optimised(R"(function %f(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    trapz v0, user1
    v2 = udiv v1, v0
    brif v1, block1, block2
block1:
    trapz v0, user1
    v3 = udiv v1, v0
    v4 = iadd v2, v3
    return v4
block2:
    trapz v0, user2
    return v2
})"),
            R"(
block0(v0: i32, v1: i32):
  trapz v0, user1
  v2 = udiv v1, v0
  brif v1, block1, block2
block1:
  v4 = iadd.i32 v2, v2
  return v4
block2:
  trapz.i32 v0, user2
  return v2
)");
}

TEST(Passes, TrapOfOneBranchSaysNothingAboutTheOther) {
  EXPECT_EQ(optimised(R"(function %f(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    brif v1, block1, block2
block1:
    v2 = udiv v1, v0
    return v2
block2:
    v3 = udiv v1, v0
    return v3
})"),
            R"(
block0(v0: i32, v1: i32):
  brif v1, block1, block2
block1:
  v2 = udiv.i32 v1, v0
  return v2
block2:
  v3 = udiv.i32 v1, v0
  return v3
)");
}

TEST(Passes, CertainTrapEndsTheBlock) {
  EXPECT_EQ(optimised(R"(function %f(i32) -> i32 {
block0(v0: i32):
    v1 = iconst.i32 1
    trapz v1, user1
    trapnz v1, user2
    jump block1(v0)
block1(v2: i32):
    v3 = udiv v1, v2
    return v3
})"),
            R"(
block0(v0: i32):
  trap user2
)");
}

TEST(Passes, UnusedTrapsStay) {
  EXPECT_EQ(optimised(R"(function %f(i32, i64) {
block0(v0: i32, v1: i64):
    v2 = udiv v0, v0
    v3 = load.i32 v1
    v4 = load.i32 notrap v1
    v5 = fcvt_from_uint.f32 v0
    v6 = fcvt_to_uint.i32 v5
    return
})"),
            R"(
block0(v0: i32, v1: i64):
  v2 = udiv v0, v0
  v3 = load.i32 v1
  v5 = fcvt_from_uint.f32 v0
  v6 = fcvt_to_uint.i32 v5
  return
)");
}

TEST(Passes, ReadonlyLoadsAreShared) {
  EXPECT_EQ(optimised(R"(function %f(i64, i32) -> i64 {
block0(v0: i64, v1: i32):
    v2 = load.i64 notrap aligned readonly can_move v0+8
    v3 = load.i64 notrap aligned v0+8
    store v3, v2
    brif v1, block1, block2
block1:
    v4 = load.i64 notrap aligned readonly can_move v0+8
    v5 = load.i64 notrap aligned v0+8
    v6 = iadd v4, v5
    return v6
block2:
    return v2
})"),
            R"(
block0(v0: i64, v1: i32):
  v2 = load.i64 notrap aligned readonly can_move v0+8
  v3 = load.i64 notrap aligned v0+8
  store v3, v2
  brif v1, block1, block2
block1:
  v5 = load.i64 notrap aligned v0+8
  v6 = iadd.i64 v2, v5
  return v6
block2:
  return v2
)");
}

TEST(Passes, DeadLoopVariablesGo) {
  EXPECT_EQ(optimised(R"(function %f(i32) -> i32 {
block0(v0: i32):
    v1 = iconst.i32 0
    jump block1(v0, v1, v1)
block1(v2: i32, v3: i32, v4: i32):
    v5 = iconst.i32 1
    v6 = isub v2, v5
    v7 = iadd v3, v4
    v8 = iadd v4, v5
    brif v6, block1(v6, v7, v8), block2
block2:
    return v6
})"),
            R"(
block0(v0: i32):
  jump block1(v0)
block1(v2: i32):
  v9 = iconst.i32 -1
  v6 = iadd v2, v9
  brif v6, block1(v6), block2
block2:
  return v6
)");
}

TEST(Passes, ParameterWithOneValueGoes) {
  EXPECT_EQ(optimised(R"(function %f(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    jump block1(v0, v1)
block1(v2: i32, v3: i32):
    v4 = iconst.i32 1
    v5 = isub v3, v4
    brif v5, block1(v2, v5), block2(v2)
block2(v6: i32):
    return v6
})"),
            R"(
block0(v0: i32, v1: i32):
  jump block1(v1)
block1(v3: i32):
  v7 = iconst.i32 -1
  v5 = iadd v3, v7
  brif v5, block1(v5), block2
block2:
  return v0
)");
}

TEST(Passes, ComparisonsAreMadeAgainPerBlock) {
  EXPECT_EQ(optimised(R"(function %f(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    v2 = icmp slt v0, v1
    brif v2, block1, block2
block1:
    v3 = icmp slt v0, v1
    v4 = select v3, v0, v1
    return v4
block2:
    return v0
})"),
            R"(
block0(v0: i32, v1: i32):
  v2 = icmp slt v0, v1
  brif v2, block1, block2
block1:
  v3 = icmp.i32 slt v0, v1
  v4 = select.i32 v3, v0, v1
  return v4
block2:
  return v0
)");
}

TEST(Passes, BrTableOnAConstant) {
  EXPECT_EQ(optimised(R"(function %f(i32) -> i32 {
block0(v0: i32):
    v1 = iconst.i32 1
    br_table v1, block1, [block1, block2]
block1:
    return v1
block2:
    return v0
})"),
            R"(
block0(v0: i32):
  jump block2
block2:
  return v0
)");
}

TEST(Passes, SwitchedOffPassesDoNothing) {
  auto func = ir::parse_function(R"(function %f(i32) -> i32 {
block0(v0: i32):
    v1 = iconst.i32 0
    v2 = iadd v0, v1
    return v2
})");
  ASSERT_TRUE(func.has_value());
  OptContext context;
  for (unsigned i = 0; i < kPassCount; ++i) context.disable(static_cast<Pass>(i));
  EXPECT_FALSE(optimise(*func, context));
  EXPECT_EQ(context.changes(Pass::Simplify), 0u);
}

}  // namespace
}  // namespace hoist::opt
