// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Linking, host symbols, traps and errors. What code computes is a filetest (tests/filetests/run).
#include "native/jit_module.hpp"

#include <gtest/gtest.h>

#include "ir/text/reader.hpp"

namespace hoist::native {
namespace {

using ir::DataValue;
using ir::ExternalName;
using ir::I32;

class JitModuleTest : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    JitOptions options;
    options.opt_level = GetParam();
    options.check_allocation = true;
    auto module = JitModule::create(options);
    ASSERT_TRUE(module) << module.error().message();
    module_ = *std::move(module);
  }
  Result<void> define(std::string_view text) {
    HOIST_TRY(const ir::ParsedFile file, ir::parse_file(text));
    for (const ir::ParsedFunction& f : file.functions) HOIST_TRY_VOID(module_->define(f.func));
    return {};
  }
  Result<CallOutcome> call(std::string name, std::vector<DataValue> args) {
    return module_->call(ExternalName::testcase(std::move(name)), args);
  }
  std::unique_ptr<JitModule> module_;
};

int add_seven(int x) {
  return x + 7;
}

TEST_P(JitModuleTest, FunctionsAndHostSymbols) {
  module_->define_host_symbol(
      "add_seven", reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&add_seven)));
  const Result<void> defined = define(R"(
function %main(i32) -> i32, f32 system_v {
    sig0 = (i32) -> i32 fast
    fn0 = %twice sig0
    fn1 = %add_seven(i32) -> i32 system_v
    fn2 = %CeilF32(f32) -> f32 system_v
block0(v0: i32):
    v1 = call fn0(v0)
    v2 = call fn1(v1)
    v3 = func_addr.i64 fn0
    v4 = call_indirect sig0, v3(v2)
    v5 = f32const 0x1.8p0
    v6 = call fn2(v5)
    return v4, v6
}
function %twice(i32) -> i32 fast {
block0(v0: i32):
    v1 = iadd v0, v0
    return v1
}
)");
  ASSERT_TRUE(defined) << defined.error().message();
  EXPECT_FALSE(call("main", {{I32, 5, 0}}));  // not finalised
  ASSERT_TRUE(module_->finalise());
  const auto outcome = call("main", {{I32, 5, 0}});
  ASSERT_TRUE(outcome) << outcome.error().message();
  EXPECT_EQ(outcome->values, (std::vector<DataValue>{{I32, 34, 0}, {ir::F32, 0x40000000, 0}}));
  EXPECT_NE(module_->address(ExternalName::testcase("twice")), nullptr);
  EXPECT_EQ(module_->address(ExternalName::testcase("thrice")), nullptr);
  EXPECT_FALSE(call("main", {}));
  EXPECT_FALSE(call("main", {{ir::I64, 5, 0}}));
  EXPECT_FALSE(call("nothing", {}));
}

TEST_P(JitModuleTest, TrapsAreValues) {
  const Result<void> defined = define(R"(
function %div(i32, i32) -> i32 system_v {
block0(v0: i32, v1: i32):
    v2 = sdiv v0, v1
    return v2
}
function %load(i64) -> i32 system_v {
block0(v0: i64):
    v1 = load.i32 user9 v0
    return v1
}
function %stop() system_v {
block0:
    trap user200
}
)");
  ASSERT_TRUE(defined) << defined.error().message();
  ASSERT_TRUE(module_->finalise());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(call("div", {{I32, 7, 0}, {I32, 0, 0}})->trap, image::TrapCode::IntegerDivideByZero);
    EXPECT_EQ(call("div", {{I32, 0x80000000, 0}, {I32, 0xffffffff, 0}})->trap,
              image::TrapCode::IntegerOverflow);
    EXPECT_EQ(call("div", {{I32, 7, 0}, {I32, 2, 0}})->values[0].lo, 3u);
    EXPECT_EQ(call("load", {{ir::I64, 8, 0}})->trap, static_cast<image::TrapCode>(9));
    EXPECT_EQ(call("stop", {})->trap, static_cast<image::TrapCode>(200));
  }
}

TEST_P(JitModuleTest, Errors) {
  EXPECT_TRUE(define("function %f() {\n fn0 = %g()\nblock0:\n call fn0()\n return\n}\n"));
  const Result<void> twice = define("function %f() {\nblock0:\n return\n}\n");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message(), "a second function %f");
  const Result<void> libcall = define("function %CeilF32() {\nblock0:\n return\n}\n");
  ASSERT_FALSE(libcall);
  EXPECT_EQ(libcall.error().kind(), ErrorKind::BadArgument);
  const Result<void> invalid = define("function %h() -> i32 {\nblock0:\n return\n}\n");
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().kind(), ErrorKind::Invalid);
  const Result<void> link = module_->finalise();
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().kind(), ErrorKind::Link);
  EXPECT_EQ(link.error().message(), "unknown function %g");
}

INSTANTIATE_TEST_SUITE_P(Levels, JitModuleTest, testing::Values(0u, 1u, 2u));

}  // namespace
}  // namespace hoist::native
