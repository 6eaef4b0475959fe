// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "translate/calls/trampolines.hpp"

#include "translate/translate_test_support.hpp"

namespace hoist::translate::testing {
namespace {

using wasm::TypeKind;

std::string exit_ir(const wasm::FuncType& type) {
  ir::Function func;
  ir::FunctionBuilder builder(func);
  exit_trampoline(type, 3, builder, func);
  const auto fine = ir::verify(func);
  EXPECT_TRUE(fine.has_value()) << (fine ? "" : fine.error().message());
  return ir::to_string(func);
}

TEST(Trampolines, ExitStoresArgumentsAndLoadsResults) {
  const std::string text =
      exit_ir({{TypeKind::I32, TypeKind::F64}, {TypeKind::I64, TypeKind::F32}});
  EXPECT_EQ('\n' + reduced(text), R"(
block0(v0: i64, v1: i32, v2: f64):
v3 = stack_addr.i64 ss0
v4 = uextend.i64 v1
store notrap aligned v4, v3
store notrap aligned v2, v3+16
v5 = load.i64 notrap aligned v0+8
v6 = get_frame_pointer.i64
v7 = get_return_address.i64
v8 = load.i64 notrap aligned v6
store notrap aligned v8, v5+32
store notrap aligned v7, v5+40
store notrap aligned v0, v5+48
v9 = load.i64 notrap aligned v0+16
v10 = call_indirect sig0, v9(v0, v3)
v11 = load.i64 notrap aligned v0+24
brif v10, block1, block2
block1 cold:
v12 = load.i64 notrap aligned v11+104
call_indirect sig1, v12(v0)
trap user1
block2:
v13 = load.i64 notrap aligned v3
v14 = load.f32 notrap aligned v3+16
return v13, v14
)");
}

TEST(Trampolines, LargeExitChecksTheStack) {
  const std::vector<wasm::ValType> many(65, TypeKind::I64);
  EXPECT_NE(exit_ir({many, {}}).find("stack_limit = gv2"), std::string::npos);
  EXPECT_EQ(exit_ir({{}, {TypeKind::I64}}).find("stack_limit"), std::string::npos);
}

TEST(Trampolines, BuiltinsAreValidIr) {
  ir::Function func;
  ir::FunctionBuilder builder(func);
  for (std::uint32_t i = 0; i < image::kBuiltinCount; ++i) {
    builtin_trampoline(static_cast<image::Builtin>(i), builder, func);
    const auto fine = ir::verify(func);
    EXPECT_TRUE(fine.has_value()) << (fine ? "" : fine.error().message());
  }
}

TEST(Trampolines, StatusBuiltinRaises) {
  ir::Function func;
  ir::FunctionBuilder builder(func);
  builtin_trampoline(image::Builtin::memory_fill, builder, func);
  EXPECT_EQ('\n' + reduced(ir::to_string(func)), R"(
block0(v0: i64, v1: i32, v2: i64, v3: i32, v4: i64):
v5 = load.i64 notrap aligned v0+8
v6 = get_frame_pointer.i64
v7 = get_return_address.i64
v8 = load.i64 notrap aligned v6
store notrap aligned v8, v5+32
store notrap aligned v7, v5+40
store notrap aligned v0, v5+48
v9 = load.i64 notrap aligned v0+16
v10 = load.i64 notrap aligned v9+8
v11 = call_indirect sig0, v10(v0, v1, v2, v3, v4)
brif v11, block1, block2
block1 cold:
v12 = load.i64 notrap aligned v9+104
call_indirect sig1, v12(v0)
trap user1
block2:
return
)");
}

TEST(Trampolines, ValueBuiltinReturnsIt) {
  ir::Function func;
  ir::FunctionBuilder builder(func);
  builtin_trampoline(image::Builtin::memory_grow, builder, func);
  EXPECT_EQ('\n' + reduced(ir::to_string(func)), R"(
block0(v0: i64, v1: i32, v2: i64):
v3 = load.i64 notrap aligned v0+8
v4 = get_frame_pointer.i64
v5 = get_return_address.i64
v6 = load.i64 notrap aligned v4
store notrap aligned v6, v3+32
store notrap aligned v5, v3+40
store notrap aligned v0, v3+48
v7 = load.i64 notrap aligned v0+16
v8 = load.i64 notrap aligned v7
v9 = call_indirect sig0, v8(v0, v1, v2)
return v9
)");
}

}  // namespace
}  // namespace hoist::translate::testing
