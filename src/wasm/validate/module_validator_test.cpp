// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "wasm/decode/test_module.hpp"

namespace hoist::wasm {
namespace {

using test::Bytes;
using test::check;
using test::code;
using test::module;
using test::section;

const auto type_section = [](std::string_view content) { return section(1, content); };

TEST(ModuleValidator, TypeIndexes) {
  EXPECT_EQ(check(module({section(2, "01 00 00 00 03")})),
            "invalid @14: unknown type 3: there is none");
  EXPECT_EQ(check(module({type_section("01 60 00 00"), section(3, "01 01"), code({"00 0b"})})),
            "invalid @17: unknown type 1: there are 1");
}

TEST(ModuleValidator, Limits) {
  EXPECT_EQ(check(module({section(5, "01 01 02 01")})),
            "invalid @11: size minimum must not be greater than maximum: 2 and 1");
  EXPECT_EQ(check(module({section(5, "01 00 80 80 04")})), "ok");
  EXPECT_EQ(check(module({section(5, "01 00 81 80 04")})),
            "invalid @11: memory size must be at most 65536 pages (4GiB), found 65537");
  EXPECT_EQ(check(module({section(2, "01 00 00 02 01 00 81 80 04")})),
            "invalid @14: memory size must be at most 65536 pages (4GiB), found 65537");
  EXPECT_EQ(check(module({section(4, "01 70 00 ff ff ff ff 0f")})), "ok");
  EXPECT_EQ(check(module({section(4, "01 70 00 80 80 80 80 10")})),
            "invalid @11: table size must be at most 4294967295 elements, found 4294967296");
}

TEST(ModuleValidator, ConstantExpressions) {
  const auto global = [](std::string_view text) {
    return test::verdict(module({section(6, text)}));
  };
  EXPECT_EQ(global("01 7f 00 41 01 41 02 6a 41 03 6c 0b"), "ok");
  EXPECT_EQ(global("01 7e 00 42 01 42 02 7d 0b"), "ok");
  EXPECT_EQ(global("01 7f 00 42 01 0b"),
            "invalid: type mismatch: initializer of global 0 must be [i32], found [i64]");
  EXPECT_EQ(global("01 7f 00 0b"),
            "invalid: type mismatch: initializer of global 0 must be [i32], found []");
  EXPECT_EQ(global("01 7f 00 41 01 41 01 0b"),
            "invalid: type mismatch: initializer of global 0 must be [i32], found [i32 i32]");
  EXPECT_EQ(global("01 7f 00 41 01 6a 0b"),
            "invalid: type mismatch: i32.add expects [i32 i32], found [i32]");
  EXPECT_EQ(global("01 7f 00 41 01 67 0b"), "invalid: constant expression required: found i32.clz");
  EXPECT_EQ(global("01 7f 00 02 40 0b 0b"), "invalid: constant expression required: found block");
  EXPECT_EQ(global("01 7f 00 01 41 00 0b"), "invalid: constant expression required: found nop");
  EXPECT_EQ(global("02 7f 00 41 00 0b 7f 00 23 00 0b"), "ok");
  EXPECT_EQ(global("02 7f 00 23 01 0b 7f 00 41 00 0b"),
            "invalid: unknown global 1: 0 can be used here");
  EXPECT_EQ(global("02 7f 01 41 00 0b 7f 00 23 00 0b"),
            "invalid: constant expression required: global 0 is mutable");
  EXPECT_EQ(global("01 70 00 d2 00 0b"), "invalid: unknown function 0: there are 0");
  EXPECT_EQ(global("01 70 00 d0 6f 0b"),
            "invalid: type mismatch: initializer of global 0 must be [funcref], found [externref]");
}

TEST(ModuleValidator, Exports) {
  const Bytes memory = section(5, "01 00 01");
  EXPECT_EQ(check(module({memory, section(7, "02 01 'a' 02 00 01 'b' 02 00")})), "ok");
  EXPECT_EQ(check(module({memory, section(7, "03 01 'a' 02 00 01 'b' 02 00 01 'a' 02 00")})),
            "invalid @24: duplicate export name \"a\"");
  EXPECT_EQ(check(module({memory, section(7, "01 01 'a' 00 05")})),
            "invalid @16: unknown function 5: there is none");
  EXPECT_EQ(check(module({memory, section(7, "01 01 'a' 02 01")})),
            "invalid @16: unknown memory 1: there are 1");
}

TEST(ModuleValidator, Start) {
  const Bytes types = type_section("02 60 00 00 60 01 7f 00");
  const Bytes functions = section(3, "02 00 01");
  const Bytes bodies = code({"00 0b", "00 0b"});
  EXPECT_EQ(test::verdict(module({types, functions, section(8, "00"), bodies})), "ok");
  EXPECT_EQ(test::verdict(module({types, functions, section(8, "01"), bodies})),
            "invalid: start function must have type [] -> [], found [i32] -> []");
  EXPECT_EQ(test::verdict(module({types, functions, section(8, "02"), bodies})),
            "invalid: unknown function 2: there are 2");
}

TEST(ModuleValidator, Segments) {
  const Bytes table = section(4, "02 70 00 01 6f 00 01");
  const auto elem = [&](std::string_view text) {
    return test::verdict(module({table, section(9, text)}));
  };
  EXPECT_EQ(elem("01 00 41 00 0b 00"), "ok");
  EXPECT_EQ(elem("01 02 05 41 00 0b 00 00"), "invalid: unknown table 5: there are 2");
  EXPECT_EQ(
      elem("01 02 01 41 00 0b 00 00"),
      "invalid: type mismatch: element segment 0 of type (ref func) for a table of externref");
  EXPECT_EQ(elem("01 00 42 00 0b 00"),
            "invalid: type mismatch: offset of element segment 0 must be [i32], found [i64]");
  EXPECT_EQ(elem("01 00 41 00 0b 01 00"), "invalid: unknown function 0: there is none");
  EXPECT_EQ(elem("01 05 6f 01 d0 6f 0b"), "ok");
  EXPECT_EQ(
      elem("01 05 6f 01 d0 70 0b"),
      "invalid: type mismatch: an item of element segment 0 must be [externref], found [funcref]");
  EXPECT_EQ(elem("01 05 70 01 41 00 0b"),
            "invalid: type mismatch: an item of element segment 0 must be [funcref], found [i32]");
  EXPECT_EQ(test::verdict(module({section(11, "01 00 41 00 0b 00")})),
            "invalid: unknown memory 0: there is none");
  EXPECT_EQ(test::verdict(module({section(11, "01 01 01 aa")})), "ok");
}

// Section order decides: what is wrong in the data section comes after what is wrong in a body.
TEST(ModuleValidator, TheLowestOffsetIsReported) {
  const Bytes bytes = module({type_section("01 60 00 00"), section(3, "01 00"), code({"00 1a 0b"}),
                              section(11, "01 00 41 00 0b 00")});
  EXPECT_EQ(check(bytes).substr(0, 24), "invalid @23: type mismat");
}

TEST(ModuleValidator, TheNumberOfThreadsDoesNotShow) {
  constexpr std::uint32_t kFunctions = 2000;
  Bytes functions;
  base::write_uleb(functions, kFunctions);
  functions.insert(functions.end(), kFunctions, 0);
  Bytes bodies;
  base::write_uleb(bodies, kFunctions);
  for (std::uint32_t i = 0; i < kFunctions; ++i) {
    const bool bad = i >= 700 && i % 3 == 1;
    test::append(bodies, test::hex(bad ? "03 00 1a 0b" : "03 00 01 0b"));
  }
  const Bytes bytes =
      module({type_section("01 60 00 00"), section(3, functions), section(10, bodies)});
  const std::string expected = check(bytes, 1);
  EXPECT_NE(expected.find("in function 700"), std::string::npos) << expected;
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(check(bytes, 4), expected);
    EXPECT_EQ(check(bytes, 0), expected);
  }
}

}  // namespace
}  // namespace hoist::wasm
