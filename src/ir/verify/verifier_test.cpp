// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Violations that text cannot express; the others are filetests (tests/filetests/verifier).
#include "ir/verify/verifier.hpp"

#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ir/text/reader.hpp"

namespace hoist::ir {
namespace {

Function sample() {
  Result<Function> func = parse_function(
      "function %f(i32) -> i32 {\n"
      "block0(v0: i32):\n v1 = iconst.i32 1\n v2 = iadd v0, v1\n brif v2, block1(v2), block1(v1)\n"
      "block1(v3: i32):\n return v3\n}\n");
  return *std::move(func);
}

std::string first_error(const Function& func) {
  const Result<void> result = verify(func);
  return result ? "" : result.error().message();
}

TEST(Verifier, SampleIsValid) {
  EXPECT_EQ(first_error(sample()), "");
}

TEST(Verifier, BrokenPlaces) {
  Function func = sample();
  func.set_value(Value(2u), {I32, ValueKind::Result, 0, 0});
  EXPECT_EQ(first_error(func), "inst1: result v2 does not know its place in `v2 = iadd v0, v1`");
  func = sample();
  func.set_value(Value(3u), {I32, ValueKind::Param, 0, 0});
  EXPECT_EQ(first_error(func), "block1: parameter v3 does not know its place");
}

TEST(Verifier, RemovedDefinition) {
  Function func = sample();
  func.remove_inst(Inst(0u));
  EXPECT_EQ(first_error(func),
            "inst1: v1 is the result of no instruction in the layout in `v2 = iadd v0, v1`");
}

TEST(Verifier, Aliases) {
  Function func = sample();
  func.make_alias(Value(2u), Value(0u));
  func.remove_inst(Inst(1u));
  EXPECT_EQ(first_error(func), "");
  func.set_value(Value(2u), {I32, ValueKind::Alias, 2, 0});
  EXPECT_NE(first_error(func).find("does not end at a value"), std::string::npos);
  func.set_value(Value(2u), {I64, ValueKind::Alias, 0, 0});
  EXPECT_NE(first_error(func).find("has type i64"), std::string::npos);
}

TEST(Verifier, ReferencesOutOfRange) {
  Function func = sample();
  func.data(Inst(1u)).b = 77;
  EXPECT_NE(first_error(func).find("undefined value v77"), std::string::npos);
  func = sample();
  func.data(Inst(0u)) = {.op = Op::StackAddr, .a = 3};
  EXPECT_NE(first_error(func).find("undeclared reference ss3"), std::string::npos);
  func = sample();
  func.data(Inst(2u)) = {.op = Op::BrTable, .a = 0, .b = 0};
  EXPECT_NE(first_error(func).find("undeclared reference jt0"), std::string::npos);
}

TEST(Verifier, SharedJumpTable) {
  Function func;
  func.signature.params.push_back({I32, {}, {}, 0});
  FunctionBuilder b(func);
  const Block entry = b.make_block(), next = b.make_block();
  b.switch_to(entry);
  b.append_params_for_signature(entry);
  b.br_table(func.block_params(entry)[0], {next, {}}, {});
  b.switch_to(next);
  b.br_table(func.block_params(entry)[0], {next, {}}, {});
  b.finish();
  EXPECT_EQ(first_error(func), "");
  func.data(func.last_inst(next)).b = 0;
  EXPECT_NE(first_error(func).find("jt0 belongs to more than one"), std::string::npos);
}

TEST(Verifier, ConstantBeyondItsType) {
  Function func = sample();
  func.data(Inst(0u)) = InstData::imm(Op::Iconst, std::uint64_t{1} << 32);
  EXPECT_NE(first_error(func).find("out of bounds"), std::string::npos);
}

}  // namespace
}  // namespace hoist::ir
