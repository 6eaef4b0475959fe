// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/engine/type_registry.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "wasm/decode/decoder.hpp"
#include "wasm/text/wat_parser.hpp"

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

// ---- Rec groups.

wasm::Module decode(std::string_view text) {
  auto bytes = wasm::assemble_wat(text);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message();
  auto module = wasm::decode(wasm::ModuleBytes::own(*std::move(bytes)));
  EXPECT_TRUE(module.has_value()) << module.error().message();
  return *std::move(module);
}

std::vector<std::uint32_t> acquire(TypeRegistry& types, std::string_view text) {
  auto ids = types.acquire(decode(text));
  EXPECT_TRUE(ids.has_value());
  return *std::move(ids);
}

TEST(TypeRegistry, RecGroupsAreEqualByStructure) {
  TypeRegistry types;
  const auto a = acquire(types, R"((module
    (rec (type $x (func (param (ref null $y)))) (type $y (func (result (ref $x)))))
    (type (func (param (ref $y))))))");
  const auto b = acquire(types, R"((module
    (type (func))
    (rec (type $q (func (param (ref null $p)))) (type $p (func (result (ref $q)))))
    (type (func (param (ref $p))))))");
  EXPECT_EQ(a[0], b[1]);
  EXPECT_EQ(a[1], b[2]);
  EXPECT_EQ(a[2], b[3]);
  // Alone, in another order, or with one type more, it is another group.
  const auto c = acquire(types, R"((module
    (rec (type $y (func (result (ref $x)))) (type $x (func (param (ref null $y)))))
    (rec (type $u (func (param (ref null $v)))) (type $v (func (result (ref $u)))) (type (func)))))");
  for (const std::uint32_t id : c) {
    EXPECT_NE(id, a[0]);
    EXPECT_NE(id, a[1]);
  }
  EXPECT_NE(c[4], b[0]);
  types.release(a);
  types.release(b);
  types.release(c);
}

TEST(TypeRegistry, EqualGroupsOfOneModule) {
  TypeRegistry types;
  const auto ids = acquire(types, R"((module
    (rec (type $a (func (param (ref null $a)))))
    (rec (type $b (func (param (ref null $b)))))
    (rec (type $c (func (param (ref null $b)))))))");
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_NE(ids[0], ids[2]);
  types.release(ids);
}

TEST(TypeRegistry, Supertypes) {
  TypeRegistry types;
  std::string text = "(module (type $t0 (sub (func)))";
  for (int i = 1; i < 12; ++i) {
    text += "(type $t" + std::to_string(i) + " (sub $t" + std::to_string(i - 1) + " (func)))";
  }
  const auto ids = acquire(types, text + "(type $other (sub final $t0 (func))))");
  for (std::size_t i = 0; i < 12; ++i) {
    const std::uint32_t* supers = types.supertypes(ids[i]);
    EXPECT_EQ(supers[0], i < 8 ? 8u : i + 1);
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_EQ(types.is_below(ids[i], ids[k]), k <= i);
      if (k < supers[0]) {
        EXPECT_EQ(supers[1 + k] == ids[k], k <= i);
      }
    }
  }
  EXPECT_TRUE(types.is_below(ids[12], ids[0]));
  EXPECT_FALSE(types.is_below(ids[12], ids[1]));
  types.release(ids);
}

TEST(TypeRegistry, Matching) {
  TypeRegistry types;
  const auto ids = acquire(types, R"((module
    (type $f (sub (func))) (type $g (sub $f (func))) (type $s (struct))))");
  using wasm::HeapType;
  using wasm::ValType;
  const auto ref = [](HeapType heap, bool nullable = true) { return ValType::ref(heap, nullable); };
  const auto f = HeapType::concrete(ids[0]);
  const auto g = HeapType::concrete(ids[1]);
  const auto s = HeapType::concrete(ids[2]);
  EXPECT_TRUE(types.matches(ref(g), ref(f)));
  EXPECT_FALSE(types.matches(ref(f), ref(g)));
  EXPECT_TRUE(types.matches(ref(g, false), ref(f)));
  EXPECT_FALSE(types.matches(ref(g), ref(f, false)));
  EXPECT_TRUE(types.matches(ref(g, false), TypeKind::FuncRef));
  EXPECT_FALSE(types.matches(ref(s), TypeKind::FuncRef));
  EXPECT_TRUE(types.matches(ref(s), ref(HeapType(HeapType::Eq))));
  EXPECT_TRUE(types.matches(ref(HeapType(HeapType::NoFunc)), ref(g)));
  EXPECT_TRUE(types.matches(ref(HeapType(HeapType::None)), ref(s)));
  EXPECT_FALSE(types.matches(ref(HeapType(HeapType::None)), ref(g)));
  EXPECT_FALSE(types.matches(TypeKind::ExternRef, TypeKind::FuncRef));
  EXPECT_FALSE(types.matches(TypeKind::I32, TypeKind::I64));
  types.release(ids);
}

// A group holds what it names, along a chain as long as a module can make one.
TEST(TypeRegistry, ChainsOfGroups) {
  TypeRegistry types;
  std::string text = "(module (type $t0 (func))";
  for (int i = 1; i < 20'000; ++i) {
    text +=
        "(type $t" + std::to_string(i) + " (func (param (ref $t" + std::to_string(i - 1) + "))))";
  }
  const auto ids = acquire(types, text + ")");
  types.hold(ids.back());
  types.release(ids);
  EXPECT_EQ(types.get(ids.back()).params()[0].heap().type_index(), ids[ids.size() - 2]);
  EXPECT_TRUE(types.is_func(ids[0]));
  types.release(ids.back());
  const std::uint32_t next = types.acquire(FuncType({TypeKind::F64}, {TypeKind::F64}));
  EXPECT_LT(next, 20'000u);
  types.release(next);
}

}  // namespace
}  // namespace hoist::runtime
