// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small functions whose good allocation is known: where there must be no copies, and how many at
// most.

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/mach/print.hpp"
#include "codegen/regalloc/allocation.hpp"

namespace hoist::codegen {

namespace {

// r0..r3 are caller-saved, r4 and r5 callee-saved; f0..f2.
RegisterFile registers() {
  RegisterFile regs;
  for (unsigned i = 0; i < 6; ++i) regs.int_order.push_back(PReg::gpr(i));
  for (unsigned i = 0; i < 3; ++i) regs.float_order.push_back(PReg::fpr(i));
  regs.callee_saved.add(PReg::gpr(4));
  regs.callee_saved.add(PReg::gpr(5));
  regs.float_scratch = PReg::fpr(31);
  return regs;
}

class Quality : public ::testing::Test {
 protected:
  void allocate(std::string_view text, AllocatorKind kind = AllocatorKind::LinearScan) {
    const auto parsed = parse_function(text, func_);
    ASSERT_TRUE(parsed) << parsed.error().message() << " at line " << parsed.error().line();
    const auto result = make_allocator(kind)->run(func_, registers(), alloc_);
    ASSERT_TRUE(result) << result.error().message();
    ASSERT_EQ(check_allocation(func_, registers(), alloc_), "") << text_of();
  }
  std::string text_of() {
    base::Printer out;
    print_function(out, func_, &alloc_);
    return out.take();
  }
  /// Copies in a block.
  std::ptrdiff_t copies(std::uint32_t block) {
    const MachBlockData& data = func_.blocks[MachBlock(block)];
    return std::count_if(alloc_.moves.begin(), alloc_.moves.end(), [&](const AllocMove& move) {
      return move.before >= data.first_inst && move.before < data.end_inst;
    });
  }
  std::ptrdiff_t all_copies() { return static_cast<std::ptrdiff_t>(alloc_.moves.size()); }
  std::ptrdiff_t stores() {
    return std::count_if(alloc_.moves.begin(), alloc_.moves.end(),
                         [](const AllocMove& move) { return move.to.is_slot(); });
  }

  MachFunction func_;
  Allocation alloc_;
};

TEST_F(Quality, CountingLoopNeedsNoCopies) {
  allocate(R"(
mb0:
  op1 def %v0:i=r0, def %v1:i=r1
  op2 def %v2:i remat
  op3 -> mb1(%v2, %v0)
mb1(%v3:i, %v4:i) depth 1 loop:
  op4 def %v5:i~1, use %v4, use %v3
  op5 def %v6:i~1, use %v3
  op6 use %v6, use %v1 -> mb2, mb3
mb2 depth 1:
  op7 -> mb1(%v6, %v5)
mb3:
  op8 use %v5=r0 end
)");
  EXPECT_EQ(copies(1) + copies(2), 0) << text_of();
  EXPECT_LE(all_copies(), 1) << text_of();
}

TEST_F(Quality, FixedUseGivesAHint) {
  allocate(R"(
mb0:
  op1 def %v0:i=r0
  op2 def %v1:i, use %v0
  op3 def %v2:i~1, use %v0, use %v1=r1
  op4 use %v2=r0 end
)");
  EXPECT_EQ(all_copies(), 0) << text_of();
}

TEST_F(Quality, HintsPassThroughTwoAddressForms) {
  allocate(R"(
mb0:
  op1 def %v0:i=r0
  op2 def %v1:i, use %v0
  op3 def %v2:i~1, use %v1
  op4 def %v3:i~1, use %v2
  op5 use %v3=r3, use %v0=r0 end
)");
  EXPECT_EQ(all_copies(), 0) << text_of();
}

TEST_F(Quality, CopiesVanish) {
  allocate(R"(
mb0:
  op1 def %v0:i=r2
  op2 def %v1:i, use %v0 move
  op3 def %v2:i, use %v1 move
  op4 use %v2=r2 end
)");
  EXPECT_EQ(all_copies(), 0) << text_of();
  EXPECT_EQ(alloc_.allocs[1], alloc_.allocs[2]) << text_of();
}

TEST_F(Quality, LoopWithCallKeepsItsValuesInCalleeSavedRegisters) {
  allocate(R"(
mb0:
  op1 def %v0:i=r0, def %v1:i=r1
  op2 -> mb1(%v0)
mb1(%v2:i) depth 1 loop:
  op3 use %v2=r0, use %v1=r1 clobber r0 r1 r2 r3 f0 f1 f2 call
  op4 def %v3:i~1, use %v2
  op5 use %v3 -> mb2, mb3
mb2 depth 1:
  op6 -> mb1(%v3)
mb3:
  op7 end
)");
  // Two copies for the arguments.
  EXPECT_EQ(copies(1), 2) << text_of();
  EXPECT_EQ(copies(2), 0) << text_of();
  EXPECT_EQ(stores(), 0) << text_of();
}

TEST_F(Quality, ValuesNotUsedInALoopDoNotDisturbIt) {
  // Six values live through a loop that needs four registers for itself.
  allocate(R"(
mb0:
  op1 def %v0:i, def %v1:i
  op1 def %v2:i, def %v3:i
  op1 def %v4:i, def %v5:i
  op2 -> mb1(%v0)
mb1(%v6:i) depth 1 loop:
  op3 def %v7:i, use %v6
  op3 def %v8:i, use %v7, use %v6
  op3 def %v9:i, use %v8, use %v7, use %v6
  op4 def %v10:i~1, use %v6, use %v9
  op5 use %v10, use %v8 -> mb2, mb3
mb2 depth 1:
  op6 -> mb1(%v10)
mb3:
  op7 use %v1, use %v2
  op7 use %v3, use %v4
  op7 use %v5, use %v10 end
)");
  EXPECT_EQ(copies(1) + copies(2), 0) << text_of();
}

TEST_F(Quality, SpilledOperandsAreReadFromTheirSlots) {
  allocate(R"(
mb0:
  op1 def %v0:f=f0
  op2 clobber r0 r1 r2 r3 f0 f1 f2 call
  op3 def %v1:f
  op4 def %v2:f~1, use %v1, any %v0
  op5 use %v2=f0 end
)");
  EXPECT_EQ(all_copies(), 1) << text_of();
  EXPECT_EQ(stores(), 1) << text_of();
}

TEST_F(Quality, ConstantsAreMadeAgain) {
  allocate(R"(
mb0:
  op1 def %v0:f remat
  op2 use %v0
  op3 clobber r0 r1 r2 r3 f0 f1 f2 call
  op4 use %v0
  op5 end
)");
  EXPECT_EQ(stores(), 0) << text_of();
  EXPECT_EQ(all_copies(), 1) << text_of();
}

TEST_F(Quality, ColdCallsLeaveTheHotPathAlone) {
  allocate(R"(
mb0:
  op1 def %v0:i=r0, def %v1:i=r1, def %v2:i=r2
  op2 -> mb1(%v0)
mb1(%v3:i) depth 1 loop:
  op3 use %v3, use %v1 -> mb2, mb5
mb2 depth 1:
  op4 -> mb3
mb3 depth 1:
  op5 def %v4:i~1, use %v3, use %v2
  op6 use %v4, use %v1 -> mb4, mb6
mb4 depth 1:
  op7 -> mb1(%v4)
mb5 depth 1 cold:
  op8 clobber r0 r1 r2 r3 f0 f1 f2 call
  op9 -> mb3
mb6:
  op10 use %v4=r0 end
)");
  EXPECT_EQ(copies(1) + copies(2) + copies(3) + copies(4), 0) << text_of();
}

TEST_F(Quality, OneStoreForManyReloads) {
  allocate(R"(
mb0:
  op1 def %v0:f=f0
  op2 clobber f0 f1 f2 call
  op3 use %v0
  op2 clobber f0 f1 f2 call
  op3 use %v0
  op2 clobber f0 f1 f2 call
  op3 use %v0 end
)");
  EXPECT_EQ(stores(), 1) << text_of();
  EXPECT_EQ(all_copies(), 4) << text_of();
}

TEST_F(Quality, SlotsAreShared) {
  allocate(R"(
mb0:
  op1 def %v0:f
  op2 clobber f0 f1 f2 call
  op3 use %v0
  op1 def %v1:f
  op2 clobber f0 f1 f2 call
  op3 use %v1 end
)");
  EXPECT_EQ(alloc_.spill_slots, 1u) << text_of();
}

TEST_F(Quality, SwappedParametersAreExchanged) {
  allocate(R"(
mb0:
  op1 def %v0:i=r0, def %v1:i=r1
  op2 -> mb1(%v0, %v1)
mb1(%v2:i, %v3:i) depth 1 loop:
  op3 use %v2, use %v3 -> mb2, mb3
mb2 depth 1:
  op4 -> mb1(%v3, %v2)
mb3:
  op5 use %v2=r0, use %v3=r1 end
)");
  EXPECT_EQ(all_copies(), 1) << text_of();
}

TEST_F(Quality, TooManyFixedOperandsAreAnError) {
  const auto parsed = parse_function(R"(
mb0:
  op1 def %v0:i, def %v1:i, def %v2:i, def %v3:i
  op2 use %v0=r0, use %v1=r1, use %v2=r2, use %v3=r3, early %v4:i=r4, early %v5:i=r5, early %v6:i end
)",
                                     func_);
  ASSERT_TRUE(parsed);
  for (const AllocatorKind kind : {AllocatorKind::LinearScan, AllocatorKind::Simple}) {
    const auto result = make_allocator(kind)->run(func_, registers(), alloc_);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::Limit);
    EXPECT_EQ(result.error().message(),
              "the operands need more registers than there are at machine instruction 1");
  }
}

}  // namespace

}  // namespace hoist::codegen
