// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equality of types, subtyping, and type sections made to take long.
#include <gtest/gtest.h>

#include <chrono>

#include "wasm/decode/test_module.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/format/subtyping.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {
namespace {

using test::Bytes;
using test::hex;
using test::section;

struct Types {
  Bytes bytes;
  Module module;
};

Types types_of(std::string_view text) {
  Types out;
  Result<Bytes> bytes = assemble_wat(text);
  EXPECT_TRUE(bytes) << bytes.error().message();
  if (!bytes) return out;
  out.bytes = *std::move(bytes);
  Result<Module> decoded = decode(ModuleBytes::borrow(out.bytes));
  EXPECT_TRUE(decoded) << decoded.error().message();
  if (decoded) out.module = *std::move(decoded);
  return out;
}

using Canonical = std::vector<std::uint32_t>;

TEST(TypeGroups, EqualTypesHaveOneIndex) {
  EXPECT_EQ(types_of("(type (func)) (type (func (param i32))) (type (func))"
                     "(rec (type (func))) (type (sub (func)))")
                .module.canonical_types,
            (Canonical{0, 1, 0, 0, 4}));
  // The place in a group counts, and so does the group.
  EXPECT_EQ(types_of("(rec (type (func)) (type (struct))) (rec (type (func)) (type (struct)))"
                     "(rec (type (struct)) (type (func))) (type (struct))")
                .module.canonical_types,
            (Canonical{0, 1, 0, 1, 4, 5, 6}));
  // References within a group are by place, those to outside by type.
  EXPECT_EQ(types_of("(rec (type $a (struct (field (ref $a))))) (rec (type $b (struct (field (ref "
                     "$b))))) (type $c (func (param (ref $a)))) (type $d (func (param (ref $b))))"
                     "(rec (type (struct (field (ref $a)))))")
                .module.canonical_types,
            (Canonical{0, 0, 2, 2, 4}));
}

TEST(TypeGroups, IndexesInTypesAreCanonical) {
  const Types good = types_of(
      "(type $a (sub (struct))) (type $b (sub (struct)))"
      "(type $c (sub $b (struct (field (ref null $b)))))"
      "(global (ref null $b) (ref.null $b))");
  const ValType a = ValType::ref(HeapType::concrete(0), true);
  EXPECT_EQ(good.module.globals[0].type.type, a);
  EXPECT_EQ(good.module.fields_of(2)[0].type, a);
  EXPECT_EQ(good.module.type_defs[2].super, 0u);
  EXPECT_EQ(good.module.type_defs[2].depth, 1);
}

TEST(Subtyping, FollowsTheDeclarations) {
  const Types types = types_of(
      "(type $a (sub (struct))) (type $b (sub $a (struct (field i32))))"
      "(type $c (sub $b (struct (field i32) (field i64))))"
      "(type $d (sub (struct))) (type $f (func)) (type $r (array i8))");
  const Module& m = types.module;
  const auto ref = [](std::uint32_t type, bool nullable) {
    return ValType::ref(HeapType::concrete(type), nullable);
  };
  const auto abstract = [](HeapType::Abstract type) { return ValType::ref(HeapType(type), true); };
  EXPECT_TRUE(is_subtype(m, ref(2, false), ref(0, true)));
  EXPECT_FALSE(is_subtype(m, ref(2, true), ref(0, false)));
  EXPECT_FALSE(is_subtype(m, ref(0, true), ref(2, true)));
  EXPECT_TRUE(is_subtype(m, ref(3, true), ref(0, true)));  // the same type twice
  EXPECT_TRUE(is_subtype(m, ref(2, true), abstract(HeapType::Struct)));
  EXPECT_TRUE(is_subtype(m, ref(2, true), abstract(HeapType::Eq)));
  EXPECT_FALSE(is_subtype(m, ref(2, true), abstract(HeapType::Array)));
  EXPECT_FALSE(is_subtype(m, ref(4, true), abstract(HeapType::Any)));
  EXPECT_TRUE(is_subtype(m, ref(4, true), TypeKind::FuncRef));
  EXPECT_TRUE(is_subtype(m, ref(5, true), abstract(HeapType::Array)));
  EXPECT_TRUE(is_subtype(m, abstract(HeapType::None), ref(5, true)));
  EXPECT_TRUE(is_subtype(m, abstract(HeapType::NoFunc), ref(4, true)));
  EXPECT_FALSE(is_subtype(m, abstract(HeapType::None), ref(4, true)));
  EXPECT_FALSE(is_subtype(m, abstract(HeapType::NoExtern), abstract(HeapType::Any)));
  EXPECT_TRUE(is_subtype(m, abstract(HeapType::NoExn), abstract(HeapType::Exn)));
  EXPECT_TRUE(is_subtype(m, ValType(), TypeKind::I32));
  EXPECT_FALSE(is_subtype(m, ValType::ref(HeapType(HeapType::Bot), false), TypeKind::I32));
  EXPECT_TRUE(is_subtype(m, ValType::ref(HeapType(HeapType::Bot), false), ref(4, false)));
  EXPECT_EQ(top_of(m, HeapType::concrete(4)), HeapType(HeapType::Func));
  EXPECT_EQ(top_of(m, HeapType::concrete(5)), HeapType(HeapType::Any));
  EXPECT_EQ(top_of(m, HeapType(HeapType::NoExn)), HeapType(HeapType::Exn));
}

std::string verdict(std::string_view text) {
  const Result<Bytes> bytes = assemble_wat(text);
  return bytes ? test::verdict(*bytes) : test::outcome(bytes.error());
}

TEST(Subtyping, DeclarationsAreChecked) {
  EXPECT_EQ(verdict("(type (func)) (type (sub 0 (func)))"),
            "invalid: sub type 1 does not match super type 0, which is final");
  EXPECT_EQ(verdict("(type (sub (struct (field i32)))) (type (sub 0 (struct)))"),
            "invalid: sub type 1 does not match super type 0");
  EXPECT_EQ(verdict("(type (sub (struct (field (mut eqref)))))"
                    "(type (sub 0 (struct (field (mut i31ref)))))"),
            "invalid: sub type 1 does not match super type 0");
  EXPECT_EQ(verdict("(type (sub (func (param i31ref) (result eqref))))"
                    "(type (sub 0 (func (param eqref) (result i31ref))))"),
            "ok");
  EXPECT_EQ(verdict("(type (sub 0 (struct)))"),
            "invalid: unknown type 0: sub type 0 can only have one before it as super type");
  EXPECT_EQ(verdict("(type (struct (field (ref 1)))) (type (struct))"),
            "invalid: unknown type 1 in type 0: there are 1 up to here");
  EXPECT_EQ(verdict("(global (ref null 3) (ref.null func))"),
            "invalid: unknown type 3: there are 0");
}

// Type confusion otherwise: a table of structs has no functions to call.
TEST(Subtyping, TablesOfOtherThingsAreNotCalled) {
  EXPECT_EQ(verdict("(type $s (struct (field i64))) (type $f (func)) (table 1 (ref null $s))"
                    "(func (call_indirect (type $f) (i32.const 0)))"),
            "invalid: type mismatch: call_indirect needs a table of functions, found (ref null 0)");
  EXPECT_EQ(verdict("(type $f (func)) (table 1 (ref null $f))"
                    "(func (call_indirect (type $f) (i32.const 0)))"),
            "ok");
}

/// `count` types in a chain, each with the one before as its super type.
Bytes chain(std::uint32_t count) {
  Bytes types;
  base::write_uleb(types, count);
  test::append(types, hex("50 00 5f 00"));
  for (std::uint32_t i = 1; i < count; ++i) {
    test::append(types, hex("50 01"));
    base::write_uleb(types, i - 1);
    test::append(types, hex("5f 00"));
  }
  return test::module({section(1, types)});
}

TEST(TypeLimits, DepthAndFields) {
  EXPECT_EQ(test::verdict(chain(64)), "ok");
  EXPECT_EQ(test::verdict(chain(65)),
            "limit: type 64 has more than 63 super types above each other");
  Bytes fields = hex("01 5f");
  base::write_uleb(fields, kMaxFields);
  for (std::uint32_t i = 0; i < kMaxFields; ++i) test::append(fields, hex("7f 00"));
  EXPECT_EQ(test::verdict(test::module({section(1, fields)})), "ok");
  Bytes more = hex("01 5f");
  base::write_uleb(more, kMaxFields + 1);
  for (std::uint32_t i = 0; i <= kMaxFields; ++i) test::append(more, hex("7f 00"));
  EXPECT_EQ(test::verdict(test::module({section(1, more)})),
            "limit: too many fields: 10001, at most 10000 are supported");
}

/// Each type refers twice to the one before: written out, the last has 2^n references. In two
/// copies, so that each is compared.
TEST(TypeLimits, TypesThatGrowExponentiallyAreComparedByIndex) {
  constexpr std::uint32_t kCount = 100'000;
  Bytes types;
  base::write_uleb(types, 2 * kCount);
  for (std::uint32_t copy = 0; copy < 2; ++copy) {
    test::append(types, hex("5f 00"));
    for (std::uint32_t i = 1; i < kCount; ++i) {
      test::append(types, hex("5f 02 64"));
      base::write_sleb(types, copy * kCount + i - 1);
      test::append(types, hex("00 64"));
      base::write_sleb(types, copy * kCount + i - 1);
      test::append(types, hex("00"));
    }
  }
  const Bytes bytes = test::module({section(1, types)});
  const auto start = std::chrono::steady_clock::now();
  const Result<Module> decoded = decode(ModuleBytes::borrow(bytes));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(decoded->canonical_type(2 * kCount - 1), kCount - 1);
  EXPECT_TRUE(validate_module(*decoded));
}

/// Long groups that differ in their last word.
TEST(TypeLimits, LongEqualGroups) {
  constexpr std::uint32_t kGroups = 200;
  constexpr std::uint32_t kMembers = 1000;
  Bytes types;
  base::write_uleb(types, kGroups);
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    test::append(types, hex("4e"));
    base::write_uleb(types, kMembers);
    for (std::uint32_t i = 0; i + 1 < kMembers; ++i) test::append(types, hex("60 00 00"));
    test::append(types, group % 2 == 0 ? hex("60 01 7f 00") : hex("60 01 7e 00"));
  }
  const Bytes bytes = test::module({section(1, types)});
  const Result<Module> decoded = decode(ModuleBytes::borrow(bytes));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(decoded->canonical_type(kGroups * kMembers - 1), 2 * kMembers - 1);
}

TEST(TypeLimits, Catches) {
  Bytes body = hex("00 1f 40");
  base::write_uleb(body, kMaxCatches + 1);
  for (std::uint32_t i = 0; i <= kMaxCatches; ++i) test::append(body, hex("02 00"));
  test::append(body, hex("0b 0b"));
  Bytes code = hex("01");
  base::write_uleb(code, body.size());
  test::append(code, body);
  EXPECT_EQ(test::verdict(
                test::module({section(1, "01 60 00 00"), section(3, "01 00"), section(10, code)})),
            "limit: try_table has 10001 catch clauses, at most 10000 are supported");
}

}  // namespace
}  // namespace hoist::wasm
