// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What filetests cannot say: limits, traps by code, memory of the host.
#include "ir/interp/interpreter.hpp"

#include <gtest/gtest.h>

#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {
namespace {

using Kind = Interpreter::Outcome::Kind;

class InterpreterTest : public testing::Test {
 protected:
  void read(std::string_view text) {
    Result<ParsedFile> file = parse_file(text);
    ASSERT_TRUE(file) << file.error().message();
    file_ = *std::move(file);
    for (const ParsedFunction& f : file_.functions) {
      ASSERT_TRUE(verify(f.func)) << verify(f.func).error().message();
      interpreter_.add_function(f.func);
    }
  }
  Result<Interpreter::Outcome> run(std::vector<DataValue> args, std::size_t function = 0) {
    return interpreter_.run(file_.functions[function].func, args);
  }
  ParsedFile file_;
  Interpreter interpreter_{{.fuel = 1'000'000, .call_depth = 1000}};
};

TEST_F(InterpreterTest, Traps) {
  read(R"(
function %div(i32, i32) -> i32 {
block0(v0: i32, v1: i32):
    v2 = sdiv v0, v1
    return v2
}
function %to_int(f64) -> i8 {
block0(v0: f64):
    v1 = fcvt_to_sint.i8 v0
    return v1
}
function %code() {
block0:
    trap user17
}
)");
  const auto trap = [&](std::vector<DataValue> args, std::size_t function) {
    const auto outcome = run(std::move(args), function);
    return outcome && outcome->kind == Kind::Trapped ? outcome->trap : TrapCode::None;
  };
  EXPECT_EQ(trap({{I32, 1, 0}, {I32, 0, 0}}, 0), TrapCode::IntegerDivideByZero);
  EXPECT_EQ(trap({{I32, 0x80000000, 0}, {I32, 0xffffffff, 0}}, 0), TrapCode::IntegerOverflow);
  EXPECT_EQ(trap({{F64, 0x7ff8000000000000, 0}}, 1), TrapCode::BadConversion);
  EXPECT_EQ(trap({{F64, 0x4060000000000000, 0}}, 1), TrapCode::IntegerOverflow);  // 128
  EXPECT_EQ(run({{F64, 0x405fffffffffffff, 0}}, 1)->values[0].lo, 127u);          // below 128
  EXPECT_EQ(run({{F64, 0xc0601fffffffffff, 0}}, 1)->values[0].lo, 128u);          // above -129
  EXPECT_EQ(trap({{F64, 0xc060200000000000, 0}}, 1), TrapCode::IntegerOverflow);  // -129
  EXPECT_EQ(trap({}, 2), static_cast<TrapCode>(17));
}

TEST_F(InterpreterTest, FuelAndDepth) {
  read(R"(
function %loop() {
block0:
    jump block0
}
function %deep() {
    fn0 = %deep()
block0:
    call fn0()
    return
}
function %tail(i32) tail {
    fn0 = %tail(i32) tail
block0(v0: i32):
    brif v0, block1, block2
block1:
    v1 = iconst.i32 1
    v2 = isub v0, v1
    return_call fn0(v2)
block2:
    return
}
)");
  EXPECT_EQ(run({}, 0)->kind, Kind::OutOfFuel);
  EXPECT_EQ(run({}, 1)->kind, Kind::Trapped);
  EXPECT_EQ(run({}, 1)->trap, TrapCode::StackOverflow);
  EXPECT_EQ(run({{I32, 100'000, 0}}, 2)->kind, Kind::Returned);
}

TEST_F(InterpreterTest, MemoryIsChecked) {
  read(R"(
function %slot(i64) -> i32 {
    ss0 = explicit_slot 8
    ss1 = explicit_slot 8
block0(v0: i64):
    v1 = stack_addr.i64 ss0
    v2 = iadd v1, v0
    v3 = load.i32 user9 v2
    return v3
}
function %wild(i64) -> i32 {
block0(v0: i64):
    v1 = load.i32 notrap v0
    return v1
}
function %host(i64) -> i64 {
block0(v0: i64):
    v1 = load.i64 big v0+8
    store v1, v0
    return v1
}
)");
  EXPECT_EQ(run({{I64, 4, 0}}, 0)->kind, Kind::Returned);
  for (const std::uint64_t offset : {std::uint64_t{5}, std::uint64_t{8}, ~std::uint64_t{0}}) {
    const auto outcome = run({{I64, offset, 0}}, 0);
    EXPECT_EQ(outcome->kind, Kind::Trapped);
    EXPECT_EQ(outcome->trap, TrapCode::OutOfFuel);  // user9
  }
  EXPECT_FALSE(run({{I64, 0, 0}}, 1));
  std::uint8_t memory[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
  interpreter_.map_memory(0x5000, memory);
  EXPECT_EQ(run({{I64, 0x5000, 0}}, 2)->values[0].lo, 0x0102030405060708u);
  EXPECT_EQ(memory[0], 8);
  EXPECT_EQ(run({{I64, 0x5001, 0}}, 2)->kind, Kind::Trapped);
}

TEST_F(InterpreterTest, WrongUse) {
  read(R"(
function %f(i32) -> i32 {
    fn0 = %nowhere(i32) -> i32
block0(v0: i32):
    v1 = call fn0(v0)
    return v1
}
function %g(i64) {
    sig0 = ()
block0(v0: i64):
    call_indirect sig0, v0()
    return
}
)");
  EXPECT_FALSE(run({}));
  EXPECT_FALSE(run({{I64, 0, 0}}));
  const auto outcome = run({{I32, 0, 0}});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message(), "unknown function %nowhere");
  EXPECT_FALSE(run({{I64, 0xe0000000 + 4, 0}}, 1));
  EXPECT_FALSE(run({{I64, 0xe0000000, 0}}, 1));  // %f has another signature
}

}  // namespace
}  // namespace hoist::ir
