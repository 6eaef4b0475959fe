// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowering as text: what is folded, fused and left out. Results of running the code are tested
// elsewhere.
#include <gtest/gtest.h>

#include <string>

#include "codegen/mach/print.hpp"
#include "ir/text/reader.hpp"
#include "isa/registry.hpp"
#include "isa/x64/lower_function.hpp"
#include "isa/x64/print.hpp"

namespace hoist::isa::x64 {

/// The machine IR of one function.
static std::string lowered(std::string_view text,
                           masm::x64::FeatureSet features = baseline_features("x86_64")) {
  const Result<ir::Function> func = ir::parse_function(text);
  if (!func) return "parse: " + func.error().message();
  Lowering rules(features);
  codegen::MachFunction mach;
  if (const Result<void> done = lower_function(rules, *func, mach); !done) {
    return "error: " + done.error().message();
  }
  base::Printer out;
  codegen::print_function(out, mach, nullptr,
                          [&](base::Printer& to, const codegen::MachInst& inst) {
                            x64::print_inst(to, mach, inst, nullptr);
                          });
  return out.take();
}

static std::string lowered_error(std::string_view text) {
  const std::string result = lowered(text);
  return result.starts_with("error: ") ? result.substr(7) : "no error:\n" + result;
}

TEST(Lower, ShiftsByRegisterFollowTheFeatures) {
  constexpr std::string_view kShift =
      "function %f(i64, i32) -> i64 fast {\n"
      "block0(v0: i64, v1: i32):\n"
      "  v2 = ishl v0, v1\n"
      "  return v2\n"
      "}\n";
  EXPECT_EQ(lowered(kShift),
            "mb0:\n"
            "  args def %v2:i=r7, def %v1:i=r6\n"
            "  shl.8 def %v0:i~1, use %v2, use %v1=r1\n"
            "  ret use %v0=r0\n");
  EXPECT_EQ(lowered(kShift, baseline_features("x86_64") | feature_bit(masm::x64::Feature::Bmi2)),
            "mb0:\n"
            "  args def %v2:i=r7, def %v1:i=r6\n"
            "  shlx.8 def %v0:i, use %v2, use %v1\n"
            "  ret use %v0=r0\n");
}

TEST(Lower, RefusesWhatItLacks) {
  EXPECT_EQ(lowered_error("function %f(f128, f128) -> f128 fast {\n"
                          "block0(v0: f128, v1: f128):\n"
                          "  v2 = fadd v0, v1\n"
                          "  return v2\n"
                          "}\n"),
            "operation fadd giving f128 on x86_64");
  EXPECT_EQ(lowered_error("function %f(i64) -> i64 apple_aarch64 {\n"
                          "block0(v0: i64):\n"
                          "  return v0\n"
                          "}\n"),
            "calling convention apple_aarch64 on x86_64");
}

// What reads the flags of a comparison or test asks for its operands' type first.
TEST(Lower, RefusesTypesThatItLooksThrough) {
  const auto branch_on = [](std::string_view params, std::string_view condition) {
    return "function %f(" + std::string(params) +
           ") -> i8 fast {\nblock0(v0: " + std::string(params) + "):\n" + std::string(condition) +
           "  brif v2, block1, block2\n"
           "block1:\n  v3 = iconst.i8 1\n  return v3\n"
           "block2:\n  v4 = iconst.i8 2\n  return v4\n}\n";
  };
  EXPECT_EQ(lowered_error(branch_on("f128", "  v2 = fcmp lt v0, v0\n")),
            "operation fcmp giving i8 on x86_64");
  EXPECT_EQ(lowered_error(branch_on("f16", "  v1 = fcmp eq v0, v0\n  v2 = uextend.i32 v1\n")),
            "operation fcmp giving i8 on x86_64");
  EXPECT_EQ(lowered_error("function %f(f16) -> i32 fast {\n"
                          "block0(v0: f16):\n"
                          "  v1 = fcmp eq v0, v0\n"
                          "  v2 = uextend.i32 v1\n"
                          "  return v2\n"
                          "}\n"),
            "operation fcmp giving i8 on x86_64");
  for (const std::string_view test : {"vany_true", "vall_true"}) {
    const std::string condition =
        "  v1 = vconst.i64x4 [1 2 3 4]\n  v2 = " + std::string(test) + " v1\n";
    EXPECT_EQ(lowered_error(branch_on("i64", condition)),
              "operation " + std::string(test) + " giving i8 on x86_64");
  }
}

// A slow path behind a call is laid out last; the loop around it stays together.
TEST(Lower, BlocksThatCallComeLast) {
  const std::string text = lowered(
      "function %f(i64, i32) fast {\n"
      "  sig0 = () fast\n"
      "  fn0 = colocated %g sig0\n"
      "block0(v0: i64, v1: i32):\n"
      "  jump block1(v1)\n"
      "block1(v2: i32):\n"
      "  v3 = load.i32 v0\n"
      "  brif v3, block2, block3\n"
      "block2:\n"
      "  call fn0()\n"
      "  jump block3\n"
      "block3:\n"
      "  v4 = iconst.i32 1\n"
      "  v5 = isub v2, v4\n"
      "  brif v5, block1(v5), block4\n"
      "block4:\n"
      "  return\n"
      "}\n");
  const std::size_t call = text.find("call.8 %g");
  const std::size_t back = text.find("sub.4");
  const std::size_t leave = text.find("ret");
  ASSERT_NE(call, std::string::npos) << text;
  EXPECT_LT(back, leave) << text;
  EXPECT_LT(leave, call) << text;
}

TEST(Lower, TellsWhatItLacks) {
  EXPECT_EQ(lowered_error("function %f() -> i64 fast {\n"
                          "block0:\n"
                          "  v0 = get_pinned_reg.i64\n"
                          "  return v0\n"
                          "}\n"),
            "the pinned register on x86_64 without the setting enable_pinned_reg");
}

}  // namespace hoist::isa::x64
