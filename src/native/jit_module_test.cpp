// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Linking, host symbols, traps and errors. What code computes is a filetest (tests/filetests/run).
#include "native/jit_module.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "native/jit_test_support.hpp"

namespace hoist::native {
namespace {

using ir::DataValue;
using ir::ExternalName;
using ir::I32;

class JitModules : public JitModuleTest {
 protected:
  void SetUp() override { start(); }
  Result<CallOutcome> call(std::string name, std::vector<DataValue> args) {
    return module_->call(ExternalName::testcase(std::move(name)), args);
  }
};

int add_seven(int x) {
  return x + 7;
}

TEST_P(JitModules, FunctionsAndHostSymbols) {
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

TEST_P(JitModules, TrapsAreValues) {
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

thread_local std::uint64_t before_it = 1;
thread_local std::uint64_t counters[2] = {100, 200};

TEST_P(JitModules, ThreadLocalVariables) {
  EXPECT_TRUE(define(R"(function %bump(i64, f64) -> i64, f64 {
    gv0 = symbol tls %counters
    gv1 = symbol tls %counters+8
block0(v0: i64, v1: f64):
    v2 = tls_value.i64 gv0
    v3 = load.i64 v2
    v4 = iadd v3, v0
    store v4, v2
    v5 = tls_value.i64 gv1
    v6 = load.i64 v5
    v7 = iadd v6, v4
    return v7, v1
})"));
  EXPECT_TRUE(module_->define_thread_local("counters", &counters[0]));
  static std::uint64_t no_thread_local;
  const Result<void> wrong = module_->define_thread_local("no", &no_thread_local);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind(), ErrorKind::BadArgument);
  ASSERT_TRUE(module_->finalise());
  counters[0] = 100;
  const auto bump = [&] { return call("bump", {{ir::I64, 5, 0}, {ir::F64, 0x4000, 0}}); };
  EXPECT_EQ(bump()->values[0].lo, 305u);
  EXPECT_EQ(bump()->values[0].lo, 310u);
  EXPECT_EQ(bump()->values[1].lo, 0x4000u);
  std::thread other([&] { EXPECT_EQ(bump()->values[0].lo, 305u); });
  other.join();
  EXPECT_EQ(counters[0], 115u);
  EXPECT_EQ(before_it, 1u);
}

TEST_P(JitModules, UnknownThreadLocalVariable) {
  EXPECT_TRUE(
      define("function %f() -> i64 {\n gv0 = symbol tls %x\nblock0:\n"
             " v0 = tls_value.i64 gv0\n return v0\n}\n"));
  const Result<void> link = module_->finalise();
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().message(), "unknown thread-local variable %x");
}

TEST_P(JitModules, Errors) {
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

INSTANTIATE_TEST_SUITE_P(Levels, JitModules, testing::Values(0u, 1u, 2u));

}  // namespace
}  // namespace hoist::native
