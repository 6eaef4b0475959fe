// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Exceptions through compiled frames: what handlers see, which handler is chosen, what survives.
/// What can be said in text is in tests/filetests/exceptions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/text/reader.hpp"
#include "jit/trap_handler.hpp"
#include "jit/unwinder.hpp"
#include "native/jit_test_support.hpp"
#include "platform/machine_context.hpp"

namespace hoist::native {
namespace {

using ir::DataValue;
using ir::ExternalName;
using ir::F64;
using ir::I64;

/// What the last throw asked for.
struct Asked {
  std::uint32_t tag;
  std::optional<std::uint64_t> context;
};
std::vector<Asked>& asked() {
  static auto* const list = new std::vector<Asked>;
  return *list;
}
/// The context under which a tag matches; nothing: any.
std::optional<std::uint64_t> wanted_context;

/// `fp` is that of the compiled function that calls this.
__attribute__((no_sanitize("address"))) void host_throw(const std::uintptr_t* fp, std::uint32_t tag,
                                                        std::uint64_t word0, std::uint64_t word1) {
  asked().clear();
  const auto handler = jit::find_handler(
      fp[1], fp[0], jit::current_activation()->context->entry_fp,
      [tag](std::uint32_t candidate, const std::optional<std::uint64_t>& context) {
        asked().push_back({candidate, context});
        return candidate == tag && (!wanted_context || context == wanted_context);
      });
  if (handler) platform::resume_at(handler->sp, handler->fp, handler->pc, word0, word1);
}

/// %throw(tag, word0, word1) in each module.
constexpr const char* kThrow = R"(
function %throw(i32, i64, i64) tail {
    fn0 = %host_throw(i64, i32, i64, i64) system_v
block0(v0: i32, v1: i64, v2: i64):
    v3 = get_frame_pointer.i64
    call fn0(v3, v0, v1, v2)
    return
}
)";

class Exceptions : public JitModuleTest {
 protected:
  void SetUp() override {
    wanted_context.reset();
    start("host_throw", host_throw);
  }
  void build(const std::string& text) { JitModuleTest::build(kThrow + text); }
};

TEST_P(Exceptions, HandlersAreTriedInOrderUnderTheirContexts) {
  build(R"(
function %main(i32, i64, i64) -> i64 system_v {
    sig0 = (i32, i64, i64) tail
    fn0 = %throw sig0
block0(v0: i32, v1: i64, v2: i64):
    v3 = iconst.i64 7
    v4 = iadd v1, v2
    try_call fn0(v0, v1, v2), sig0, block1, [ tag3: block2(exn0), context v4, tag5: block3(exn1, v4), context v3, tag5: block4, default: block5(exn0, exn1) ]
block1:
    v10 = iconst.i64 1000
    return v10
block2(v11: i64):
    return v11
block3(v12: i64, v13: i64):
    v14 = isub v12, v13
    return v14
block4:
    v15 = iconst.i64 4000
    return v15
block5(v16: i64, v17: i64):
    v18 = imul v16, v17
    return v18
}
)");
  const auto run = [&](std::uint32_t tag) {
    return call("main", {{ir::I32, tag, 0}, {I64, 20, 0}, {I64, 30, 0}});
  };
  EXPECT_EQ(run(3), 20u);
  EXPECT_EQ(run(5), static_cast<std::uint64_t>(30 - 50));
  ASSERT_EQ(asked().size(), 2u);
  EXPECT_FALSE(asked()[0].context);
  EXPECT_EQ(asked()[1].context, 50u);
  wanted_context = 7;
  EXPECT_EQ(run(5), 4000u);
  ASSERT_EQ(asked().size(), 3u);
  EXPECT_EQ(asked()[2].context, 7u);
  EXPECT_EQ(run(6), 600u);
  EXPECT_EQ(run(3), 600u);  // its handler has no context
}

TEST_P(Exceptions, WithoutHandlerTheCallReturns) {
  build(R"(
function %main(i32) -> i64 system_v {
    sig0 = (i32, i64, i64) tail
    fn0 = %throw sig0
block0(v0: i32):
    v1 = iconst.i64 1
    try_call fn0(v0, v1, v1), sig0, block1, [ tag3: block2 ]
block1:
    v10 = iconst.i64 1000
    return v10
block2:
    v11 = iconst.i64 2000
    return v11
}
)");
  EXPECT_EQ(call("main", {{ir::I32, 3, 0}}), 2000u);
  EXPECT_EQ(call("main", {{ir::I32, 4, 0}}), 1000u);
}

// More values live across the call than there are registers, integers and floats, on both ways; a
// handler that is reached from two calls and from a plain branch; callee-saved registers of
// callers.
TEST_P(Exceptions, ValuesSurviveOnBothWays) {
  std::string text = R"(
function %middle(i32, i64) -> i64 tail {
    sig0 = (i32, i64, i64) tail
    fn0 = %throw sig0
block0(v0: i32, v1: i64):
)";
  const auto v = [](int n) { return "v" + std::to_string(n); };
  for (int i = 0; i < 20; ++i) {
    text += "    " + v(100 + i) + " = iconst.i64 " + std::to_string(i + 3) + "\n";
    text += "    " + v(10 + i) + " = imul v1, " + v(100 + i) + "\n";
    text += "    " + v(40 + i) + " = fcvt_from_sint.f64 " + v(10 + i) + "\n";
  }
  text += R"(    try_call fn0(v0, v1, v10), sig0, block1, [ tag1: block2(exn0), tag2: block3 ]
block1:
    v200 = iconst.i64 1
    try_call fn0(v0, v1, v11), sig0, block4, [ tag3: block2(exn1) ]
block4:
    v201 = iconst.i64 2
    brif v0, block2(v201), block2(v200)
block3:
    jump block2(v29)
block2(v2: i64):
)";
  int last = 2;
  for (int i = 0; i < 20; ++i) {
    const int base = 300 + 3 * i;
    text += "    " + v(base) + " = fcvt_to_sint.i64 " + v(40 + i) + "\n";
    text += "    " + v(base + 1) + " = iadd " + v(last) + ", " + v(base) + "\n";
    text += "    " + v(base + 2) + " = iadd " + v(base + 1) + ", " + v(10 + i) + "\n";
    last = base + 2;
  }
  text += "    return " + v(last) + "\n}\n";
  text += R"(
function %main(i32, i64) -> i64 system_v {
    fn0 = %middle(i32, i64) -> i64 tail
block0(v0: i32, v1: i64):
    v901 = iconst.i64 1
    v2 = iadd v1, v901
    v902 = iconst.i64 2
    v3 = iadd v1, v902
    v903 = iconst.i64 3
    v4 = iadd v1, v903
    v904 = iconst.i64 4
    v5 = iadd v1, v904
    v905 = iconst.i64 5
    v6 = iadd v1, v905
    v7 = call fn0(v0, v1)
    v8 = imul v2, v3
    v9 = imul v8, v4
    v10 = imul v9, v5
    v11 = imul v10, v6
    v12 = bxor v11, v7
    return v12
}
)";
  build(text);
  const std::uint64_t x = 11;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 20; ++i) sum += 2 * x * (i + 3);
  const std::uint64_t product = (x + 1) * (x + 2) * (x + 3) * (x + 4) * (x + 5);
  const auto run = [&](std::uint32_t tag) {
    return call("main", {{ir::I32, tag, 0}, {I64, x, 0}}) ^ product;
  };
  EXPECT_EQ(run(1), sum + x);
  EXPECT_EQ(run(2), sum + x * 22);
  EXPECT_EQ(run(3), sum + x * 4);
  EXPECT_EQ(run(4), sum + 2);
  EXPECT_EQ(run(0), sum + 1);
}

TEST_P(Exceptions, ResultsOnTheStackAndIndirectCalls) {
  build(R"(
function %many(i32, i64) -> i64, i32, i64, i64, i64, i64, i64, i32, f64 system_v {
    sig0 = (i32, i64, i64) tail
    fn0 = %throw sig0
block0(v0: i32, v1: i64):
    brif v0, block1, block2
block1:
    call fn0(v0, v1, v1)
    trap user1
block2:
    v906 = iconst.i64 1
    v2 = iadd v1, v906
    v907 = iconst.i64 2
    v3 = iadd v1, v907
    v908 = iconst.i64 3
    v4 = iadd v1, v908
    v5 = ireduce.i32 v1
    v6 = fcvt_from_sint.f64 v1
    return v1, v5, v2, v3, v4, v2, v3, v5, v6
}
function %main(i32, i64) -> i64 system_v {
    sig0 = (i32, i64) -> i64, i32, i64, i64, i64, i64, i64, i32, f64 system_v
    fn0 = %many sig0
block0(v0: i32, v1: i64):
    v2 = func_addr.i64 fn0
    try_call_indirect v2(v0, v1), sig0, block1(ret0, ret7, ret3, ret1, ret8, ret6), [ default: block2(exn0, exn0) ]
block1(v3: i64, v4: i32, v5: i64, v6: i32, v7: f64, v8: i64):
    v9 = uextend.i64 v4
    v10 = uextend.i64 v6
    v11 = fcvt_to_sint.i64 v7
    v12 = iadd v3, v9
    v13 = iadd v12, v5
    v14 = iadd v13, v10
    v15 = iadd v14, v11
    v16 = iadd v15, v8
    return v16
block2(v20: i64, v21: i64):
    v22 = iadd v20, v21
    return v22
}
)");
  EXPECT_EQ(call("main", {{ir::I32, 0, 0}, {I64, 100, 0}}), 6 * 100u + 2 + 2);
  EXPECT_EQ(call("main", {{ir::I32, 9, 0}, {I64, 100, 0}}), 200u);
}

// Not through the throw function, but as a stored resume point.
void host_resume(std::uint64_t pc, std::uint64_t sp_below, const std::uintptr_t* fp) {
  static_cast<void>(sp_below);
  const auto handler =
      jit::find_handler(fp[1], fp[0], jit::current_activation()->context->entry_fp,
                        [](std::uint32_t, const std::optional<std::uint64_t>&) { return true; });
  ASSERT_TRUE(handler);
  EXPECT_NE(handler->pc, pc);  // that is the first one
  platform::resume_at(handler->sp, handler->fp, pc, 5, 6);
}

TEST_P(Exceptions, HandlerAddresses) {
  module_->define_host_symbol(
      "host_resume", reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&host_resume)));
  build(R"(
function %leave(i64) tail {
    fn0 = %host_resume(i64, i64, i64) system_v
block0(v0: i64):
    v1 = get_frame_pointer.i64
    call fn0(v0, v0, v1)
    return
}
function %main(i64) -> i64 system_v {
    sig0 = (i64) tail
    fn0 = %leave sig0
block0(v0: i64):
    v1 = get_exception_handler_address.i64 block0, 1
    try_call fn0(v1), sig0, block1, [ tag1: block2(exn0), tag2: block3(exn0, exn1) ]
block1:
    v10 = iconst.i64 1000
    return v10
block2(v11: i64):
    return v11
block3(v12: i64, v13: i64):
    v909 = iconst.i64 8
    v14 = ishl v12, v909
    v15 = iadd v14, v13
    v16 = iadd v15, v0
    return v16
}
)");
  EXPECT_EQ(call("main", {{I64, 0x10000, 0}}), 0x10506u);
}

TEST_P(Exceptions, ThousandsOfThrowsInALoop) {
  build(R"(
function %main(i64) -> i64 system_v {
    sig0 = (i32, i64, i64) tail
    fn0 = %throw sig0
block0(v0: i64):
    v1 = iconst.i64 0
    jump block1(v0, v1)
block1(v2: i64, v3: i64):
    v4 = iconst.i32 1
    v5 = iadd v2, v3
    try_call fn0(v4, v5, v2), sig0, block2, [ context v0, tag1: block3(exn0, exn1) ]
block2:
    trap user1
block3(v6: i64, v7: i64):
    v910 = iconst.i64 -1
    v8 = iadd v7, v910
    brif v8, block1(v8, v6), block4
block4:
    v9 = iadd v6, v0
    return v9
}
)");
  const std::uint64_t n = 5000;
  EXPECT_EQ(call("main", {{I64, n, 0}}), n * (n + 1) / 2 + n);
}

TEST_P(Exceptions, ContextsThatAreConstantsAndAddresses) {
  build(R"(
function %main(i32, f64) -> i64 system_v {
    ss0 = explicit_slot 8
    sig0 = (i32, i64, i64) tail
    fn0 = %throw sig0
block0(v0: i32, v9: f64):
    v1 = stack_addr.i64 ss0
    v2 = iconst.i32 -1
    v3 = uextend.i64 v0
    try_call fn0(v0, v1, v1), sig0, block1, [ context v1, tag1: block2(exn0), context v2, tag2: block2(exn1), context v9, tag3: block2(exn0), context v3, tag4: block2(v3) ]
block1:
    v10 = iconst.i64 1000
    return v10
block2(v11: i64):
    v12 = isub v11, v1
    return v12
}
)");
  EXPECT_EQ(call("main", {{ir::I32, 1, 0}, {F64, 3, 0}}), 0u);
  EXPECT_EQ(call("main", {{ir::I32, 2, 0}, {F64, 3, 0}}), 0u);
  EXPECT_EQ(call("main", {{ir::I32, 5, 0}, {F64, 0x4008'0000'0000'0000, 0}}), 1000u);
  ASSERT_EQ(asked().size(), 4u);
  EXPECT_EQ(asked()[1].context, 0xffff'ffffu);
  EXPECT_EQ(asked()[2].context, 0x4008'0000'0000'0000u);
  EXPECT_EQ(asked()[3].context, 5u);
}

INSTANTIATE_TEST_SUITE_P(Levels, Exceptions, testing::Values(0u, 1u, 2u));

}  // namespace
}  // namespace hoist::native
