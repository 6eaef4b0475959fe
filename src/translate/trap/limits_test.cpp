// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What settings add to the code.
#include "translate/translate_test_support.hpp"

namespace hoist::translate::testing {
namespace {

std::string with(void (*change)(image::CodeSettings&), std::string_view wat) {
  image::CodeSettings settings;
  change(settings);
  const auto module = module_of(wat, settings);
  return module ? '\n' + reduced(ir_of(*module, 0)) : "";
}

/// How often `what` is in `text`.
std::size_t count(const std::string& text, std::string_view what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++out;
  return out;
}

TEST(Limits, NothingIsAddedByDefault) {
  const std::string text = with([](image::CodeSettings&) {}, "(module (func (loop (br 0))))");
  EXPECT_EQ(text, "\nblock0(v0: i64):\njump block1\nblock1:\njump block1\n");
}

TEST(Limits, FuelIsTakenOffWhereControlFlowParts) {
  const std::string text = with([](image::CodeSettings& s) { s.fuel = true; },
                                "(module (func (param i32) (loop (br_if 0 (local.get 0))) (if "
                                "(local.get 0) (then (nop) (nop)))))");
  // Function and loop: two checks, each with a call that is rare.
  EXPECT_EQ(count(text, "icmp sle"), 2U);
  EXPECT_EQ(count(text, " cold:"), 2U);
  EXPECT_EQ(count(text, "call fn0"), 2U);
  // The loop's turn (2), the condition of the if (2), its body (2); stored before leaving.
  EXPECT_EQ(count(text, "iconst.i64 2"), 3U);
  EXPECT_EQ(count(text, "isub"), 3U);
  EXPECT_EQ(count(text, "store"), 3U);
}

TEST(Limits, FuelIsStoredAroundCalls) {
  const std::string text =
      with([](image::CodeSettings& s) { s.fuel = true; }, "(module (func (call 0) (call 0)))");
  EXPECT_EQ(count(text, "store"), 4U);
  EXPECT_EQ(count(text, "iconst.i64 1"), 2U);
}

TEST(Limits, InterruptsAreLookedForWhereNothingElseLooks) {
  const auto checks = [](std::string_view wat, bool epoch = false) {
    image::CodeSettings settings;
    settings.interrupts = true;
    settings.epoch = epoch;
    const auto module = module_of(wat, settings);
    return module ? count(reduced(ir_of(*module, 0)), " cold:") : 99;
  };
  EXPECT_EQ(checks("(module (func (drop (i32.const 1))))"), 0U);
  EXPECT_EQ(checks("(module (func (call 0)))"), 0U);  // the stack check does
  EXPECT_EQ(checks("(module (func (loop (br 0))))"), 1U);
  EXPECT_EQ(checks("(module (func (loop (loop (br 1)))))"), 2U);
  EXPECT_EQ(checks("(module (func (return_call 0)))"), 1U);
  EXPECT_EQ(checks("(module (table 1 funcref) (func (return_call_indirect (i32.const 0))))"), 1U);
  // Epochs look at more, in each function and loop, and not twice.
  EXPECT_EQ(checks("(module (func (loop (br 0))))", true), 2U);
  EXPECT_EQ(checks("(module (func (return_call 0)))", true), 1U);
}

TEST(Limits, EpochIsReadAgainEachTime) {
  EXPECT_EQ(with([](image::CodeSettings& s) { s.epoch = true; }, "(module (func (loop (br 0))))"),
            R"(
fn0 = colocated u50331648:15 sig0
block0(v0: i64):
v1 = load.i64 notrap aligned readonly can_move v0+8
v2 = load.i64 notrap aligned readonly can_move v1+72
v3 = load.i64 notrap aligned v2
v4 = load.i64 notrap aligned v1+80
v5 = icmp uge v3, v4
brif v5, block1, block2
block1 cold:
call fn0(v0)
jump block2
block2:
jump block3
block3:
v6 = load.i64 notrap aligned readonly can_move v0+8
v7 = load.i64 notrap aligned readonly can_move v6+72
v8 = load.i64 notrap aligned v7
v9 = load.i64 notrap aligned v6+80
v10 = icmp uge v8, v9
brif v10, block4, block5
block4 cold:
call fn0(v0)
jump block5
block5:
jump block3
)");
}

TEST(Limits, ExplicitBoundsCompareEachAddress) {
  const std::string text = with([](image::CodeSettings& s) { s.explicit_bounds = true; },
                                R"((module (memory 1) (func (param i32) (result i32)
                    (i32.store offset=8 (i32.const 0) (i32.load (local.get 0)))
                    (i32.load offset=65533 (i32.const 0)))))");
  // The store lies within the minimum; the others need a comparison.
  EXPECT_EQ(count(text, "trapnz"), 2U);
  EXPECT_EQ(count(text, "iconst.i64 4\n"), 1U);
  EXPECT_EQ(count(text, "iconst.i64 0x0001_0001\n"), 1U);
}

TEST(Limits, DivisionsAreCheckedWithoutSignals) {
  EXPECT_EQ(with([](image::CodeSettings& s) { s.signals = false; },
                 R"((module (func (param i32 i32) (result i32)
                    (i32.rem_u (i32.div_s (local.get 0) (local.get 1)) (i32.const 3)))))"),
            R"(
fn0 = colocated u50331648:14 sig0
block0(v0: i64, v1: i32, v2: i32):
trapz v2, int_divz
v3 = iconst.i32 -1
v4 = icmp eq v2, v3
v5 = iconst.i32 -2147483648
v6 = icmp eq v1, v5
v7 = band v4, v6
trapnz v7, int_ovf
v8 = sdiv v1, v2
v9 = iconst.i32 3
v10 = urem v8, v9
return v10
)");
}

}  // namespace
}  // namespace hoist::translate::testing
