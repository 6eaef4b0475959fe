// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// stack_switch: two stacks that run compiled code by turns. A context is three words: stack
/// pointer, frame pointer and address; the payload is in rdi, so that a stack starts at a function
/// of one parameter.
#include <array>
#include <cstdint>

#include "native/jit_test_support.hpp"

namespace hoist::native {
namespace {

using ir::I64;

void nothing() {}

class StackSwitch : public JitModuleTest {
 protected:
  void SetUp() override { start("nothing", nothing); }
};

TEST_P(StackSwitch, ValuesLiveAcrossAndPayloadsGoBothWays) {
  build(R"(
function %other(i64) system_v {
block0(v0: i64):
    v1 = iconst.i64 24
    v2 = iadd v0, v1
    v3 = iconst.i64 10
    jump block1(v3)
block1(v4: i64):
    v5 = stack_switch v2, v0, v4
    v6 = iadd v5, v4
    jump block1(v6)
}
function %main(i64, i64, f64) -> i64 system_v {
block0(v0: i64, v1: i64, v20: f64):
    v2 = iconst.i64 24
    v3 = iadd v0, v2
    v30 = imul v1, v1
    v31 = imul v30, v1
    v32 = imul v31, v1
    v33 = imul v32, v1
    v34 = imul v33, v1
    v21 = fadd v20, v20
    v4 = stack_switch v0, v3, v0
    v5 = stack_switch v0, v3, v1
    v6 = stack_switch v0, v3, v1
    v7 = iadd v4, v5
    v8 = iadd v7, v6
    v9 = iadd v8, v30
    v10 = iadd v9, v31
    v11 = iadd v10, v32
    v12 = iadd v11, v33
    v13 = iadd v12, v34
    v22 = fcvt_to_sint.i64 v21
    v14 = iadd v13, v22
    return v14
}
)");
  alignas(16) static std::array<std::uint64_t, 1024> stack;
  // Two contexts: the one that is left, and a new stack. A function begins with the stack pointer 8
  // bytes below a multiple of 16.
  std::array<std::uint64_t, 6> contexts{};
  contexts[3] = reinterpret_cast<std::uint64_t>(stack.data() + stack.size()) - 8;
  contexts[5] =
      reinterpret_cast<std::uint64_t>(module_->address(ir::ExternalName::testcase("other")));
  const std::uint64_t x = 3;
  const std::uint64_t powers = 9 + 27 + 81 + 243 + 729;
  EXPECT_EQ(call("main", {{I64, reinterpret_cast<std::uint64_t>(contexts.data()), 0},
                          {I64, x, 0},
                          {ir::F64, 0x4008'0000'0000'0000, 0}}),
            10 + (10 + x) + (10 + 2 * x) + powers + 6);
}

INSTANTIATE_TEST_SUITE_P(Levels, StackSwitch, testing::Values(0u, 1u, 2u));

}  // namespace
}  // namespace hoist::native
