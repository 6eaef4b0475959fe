// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/type_registry.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hoist::runtime {
namespace {

using wasm::FuncType;
using wasm::TypeKind;

TEST(TypeRegistry, EqualTypesHaveOneNumber) {
  TypeRegistry types;
  const std::uint32_t a = types.acquire(FuncType({TypeKind::I32}, {TypeKind::I64}));
  const std::uint32_t b = types.acquire(FuncType({TypeKind::I32, TypeKind::I64}, {}));
  EXPECT_NE(a, b);
  EXPECT_EQ(types.acquire(FuncType({TypeKind::I32}, {TypeKind::I64})), a);
  EXPECT_EQ(wasm::to_string(types.get(b)),
            wasm::to_string(FuncType({TypeKind::I32, TypeKind::I64}, {})));
}

TEST(TypeRegistry, NumbersAreFreeOnceNobodyHoldsThem) {
  TypeRegistry types;
  const FuncType first({TypeKind::I32}, {});
  const std::uint32_t a = types.acquire(first);
  types.acquire(first);
  types.release(a);
  EXPECT_EQ(types.acquire(first), a);
  types.release(a);
  types.release(a);
  EXPECT_EQ(types.acquire(FuncType({TypeKind::F64}, {})), a);
  EXPECT_NE(types.acquire(first), a);
}

TEST(TypeRegistry, ManyThreads) {
  TypeRegistry types;
  const FuncType kept({TypeKind::I64}, {TypeKind::I64});
  const std::uint32_t id = types.acquire(kept);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(types.acquire(kept), id);
        const std::uint32_t other = types.acquire(FuncType({TypeKind::F32}, {}));
        EXPECT_NE(other, id);
        types.release(other);
        types.release(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hoist::runtime
