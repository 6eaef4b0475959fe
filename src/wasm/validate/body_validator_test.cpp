// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "wasm/decode/test_module.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {
namespace {

using test::Bytes;
using test::hex;

/// Verdict on a body in the module of test::function.
std::string body(std::string_view type, std::string_view text) {
  return test::verdict(test::function(type, text));
}
std::string body(std::string_view text) {
  return body("60 00 00", text);
}

TEST(BodyValidator, Types) {
  EXPECT_EQ(body("00 0b"), "ok");
  EXPECT_EQ(body("00 41 00 42 00 6a 1a 0b"),
            "invalid: type mismatch: i32.add expects i32, found i64");
  EXPECT_EQ(body("00 41 00 6a 1a 0b"),
            "invalid: type mismatch: i32.add expects i32, but the block's stack is empty");
  EXPECT_EQ(body("00 1a 0b"),
            "invalid: type mismatch: drop expects a value, but the block's stack is empty");
  EXPECT_EQ(body("00 41 00 0b"),
            "invalid: type mismatch: block requires [] but stack has [i32] at end");
  EXPECT_EQ(body("60 00 01 7f", "00 0b"),
            "invalid: type mismatch: instruction requires [i32] but stack has [] at end");
  EXPECT_EQ(body("60 00 01 7f", "00 42 00 0b"),
            "invalid: type mismatch: instruction requires [i32] but stack has [i64] at end");
  EXPECT_EQ(body("00 41 00 02 40 1a 0b 0b"),
            "invalid: type mismatch: drop expects a value, but the block's stack is empty");
  EXPECT_EQ(body("00 41 00 d1 1a 0b"),
            "invalid: type mismatch: ref.is_null expects a reference, found i32");
}

TEST(BodyValidator, Control) {
  EXPECT_EQ(body("00 41 00 04 7f 41 01 0b 1a 0b"),
            "invalid: type mismatch: an if without else has [] as parameters and [i32] as results");
  // Two else parts; an else without if.
  EXPECT_EQ(body("00 41 00 04 40 05 01 05 0b 0b"),
            "malformed: unexpected else: END opcode expected");
  EXPECT_EQ(body("00 05 0b"), "malformed: unexpected else: END opcode expected");
  EXPECT_EQ(body("00 0c 01 0b"), "invalid: unknown label 1: there are 1");
  EXPECT_EQ(body("00 02 7f 02 40 41 00 41 00 0e 01 00 01 0b 41 00 0b 1a 0b"),
            "invalid: type mismatch: labels of a br_table carry [] and [i32]");
  EXPECT_EQ(
      body("00 01"),
      "malformed: unexpected end of section or function: END opcode expected (or section size "
      "mismatch)");
  EXPECT_EQ(body("00 0b 01"),
            "malformed: section size mismatch: operators remaining after end of function");
}

TEST(BodyValidator, DeadCodeIsTyped) {
  EXPECT_EQ(body("00 00 6a 1a 0b"), "ok");
  EXPECT_EQ(body("00 00 42 00 6a 1a 0b"), "invalid: type mismatch: i32.add expects i32, found i64");
  EXPECT_EQ(body("60 00 01 7f", "00 00 41 00 41 00 0b"),
            "invalid: type mismatch: block requires [i32] but stack has [i32 i32] at end");
  EXPECT_EQ(body("00 00 1b 1a 0b"), "ok");
  EXPECT_EQ(body("00 00 d0 70 41 00 1b 1a 0b"),
            "invalid: type mismatch: select without a type expects numbers, found funcref");
  EXPECT_EQ(body("00 00 20 09 1a 0b"), "invalid: unknown local 9: there is none");
  // Labels of different types agree on an unknown value, not on a known one.
  EXPECT_EQ(body("00 02 7f 02 7e 00 41 00 0e 01 00 01 0b 1a 41 00 0b 1a 0b"), "ok");
  EXPECT_EQ(body("00 02 7f 02 7e 00 42 00 41 00 0e 01 00 01 0b 1a 41 00 0b 1a 0b"),
            "invalid: type mismatch: instruction requires [i32] but stack has [i64] at br_table");
  // Behind a loop without end the code is dead, but the stack is not polymorphic.
  EXPECT_EQ(body("00 03 40 0c 00 0b 1a 0b"),
            "invalid: type mismatch: drop expects a value, but the block's stack is empty");
}

TEST(BodyValidator, Indexes) {
  EXPECT_EQ(body("00 20 00 1a 0b"), "invalid: unknown local 0: there is none");
  EXPECT_EQ(body("00 23 02 1a 0b"), "invalid: unknown global 2: there are 2");
  EXPECT_EQ(body("00 42 00 24 01 0b"), "invalid: immutable global: global.set of global 1");
  EXPECT_EQ(body("00 10 02 0b"), "invalid: unknown function 2: there are 2");
  EXPECT_EQ(body("00 41 00 11 04 00 0b"), "invalid: unknown type 4: there are 4");
  EXPECT_EQ(body("00 41 00 11 01 01 0b"), "invalid: unknown table 1: there are 1");
  EXPECT_EQ(body("00 02 04 0b 0b"), "invalid: unknown type 4: there are 4");
  EXPECT_EQ(body("00 3f 01 1a 0b"), "invalid: unknown memory 1: there are 1");
  EXPECT_EQ(body("00 fc 09 01 0b"), "invalid: unknown data segment 1: there are 1");
  EXPECT_EQ(body("00 fc 0d 00 0b"), "invalid: unknown elem segment 0: there is none");
  EXPECT_EQ(body("00 d2 00 1a 0b"),
            "invalid: undeclared function reference: function 0 is in no export, global or element "
            "segment");
}

TEST(BodyValidator, MemoryArguments) {
  EXPECT_EQ(body("00 41 00 28 03 00 1a 0b"),
            "invalid: alignment must not be larger than natural: i32.load has 2**2, found 2**3");
  EXPECT_EQ(body("00 41 00 28 80 01 00 1a 0b"), "malformed: malformed memop flags 0x80");
  EXPECT_EQ(body("00 41 00 28 42 00 00 1a 0b"), "ok");
  EXPECT_EQ(body("00 41 00 28 42 01 00 1a 0b"), "invalid: unknown memory 1: there are 1");
  EXPECT_EQ(body("00 41 00 28 02 ff ff ff ff 0f 1a 0b"), "ok");
  EXPECT_EQ(body("00 41 00 28 02 80 80 80 80 10 1a 0b"),
            "invalid: offset out of range: 4294967296 in a memory with 32-bit addresses");
}

TEST(BodyValidator, Locals) {
  EXPECT_EQ(body("02 ff ff ff ff 0f 7f ff ff ff ff 0f 7e 0b"), "malformed: too many locals");
  EXPECT_EQ(body("01 d0 86 03 7f 0b"), "ok");
  EXPECT_EQ(body("01 d1 86 03 7f 0b"),
            "limit: too many locals: 50001, at most 50000 are supported");
  EXPECT_EQ(body("01 01 40 0b"), "malformed: malformed value type of a local 0x40");
  // Beyond the locals that are kept one by one: 1,100 of i32, none of f32, one of i64, one of f64.
  const std::string many = "04 cc 08 7f 00 7d 01 7e 01 7c ";
  EXPECT_EQ(body(many + "20 cb 08 45 1a 20 cc 08 50 1a 20 cd 08 99 1a 0b"), "ok");
  EXPECT_EQ(body(many + "20 cc 08 45 1a 0b"),
            "invalid: type mismatch: i32.eqz expects i32, found i64");
  EXPECT_EQ(body(many + "20 ce 08 1a 0b"), "invalid: unknown local 1102: there are 1102");
}

TEST(BodyValidator, BlockTypes) {
  EXPECT_EQ(body("00 02 40 0b 0b"), "ok");
  // The empty type is the byte 0x40 alone, not -64 in more bytes.
  EXPECT_EQ(body("00 02 c0 7f 0b 0b"), "malformed: malformed block type");
  EXPECT_EQ(body("00 02 c0 ff 7f 0b 0b"), "malformed: malformed block type");
  EXPECT_EQ(body("00 02 81 00 0b 0b"), "ok");
  EXPECT_EQ(body("00 02 41 0b 0b"), "malformed: malformed block type 0x41");
}

TEST(BodyValidator, Opcodes) {
  EXPECT_EQ(body("00 ff 0b"), "malformed: illegal opcode ff");
  EXPECT_EQ(body("00 27 0b"), "malformed: illegal opcode 27");
  EXPECT_EQ(body("00 fc 7f 0b"), "malformed: illegal opcode fc 7f");
  EXPECT_EQ(body("00 fc 12 0b"), "malformed: illegal opcode fc 12");
  EXPECT_EQ(body("00 fd a5 01 0b"), "malformed: illegal opcode fd a5");
  EXPECT_EQ(body("00 fd 8c fd 9d 01 0b"), "malformed: illegal opcode fd 277e8c");
  // Prefixed opcodes may be padded: 8 in two bytes.
  EXPECT_EQ(body("00 41 00 41 00 41 00 fc 88 00 00 00 0b"), "ok");
  EXPECT_EQ(body("00 41 80 80 80 80 80 00 1a 0b"), "malformed: integer representation too long");
  EXPECT_EQ(body("00 41 80 80 80 80 10 1a 0b"), "malformed: integer too large");
}

TEST(BodyValidator, FeaturesThatAreOffAreNamed) {
  const auto without = [](Feature feature, std::string_view text) {
    const Bytes bytes = test::function("60 00 00", text);
    return test::verdict(bytes, Features().without(feature));
  };
  EXPECT_EQ(without(Feature::Simd, "00 fd 0c 00 0b"),
            "unsupported: unsupported feature: simd (v128.const)");
  EXPECT_EQ(without(Feature::TailCalls, "00 12 00 0b"),
            "unsupported: unsupported feature: tail-calls (return_call)");
  EXPECT_EQ(without(Feature::Exceptions, "00 1f 40 00 0b 0b"),
            "unsupported: unsupported feature: exceptions (try_table)");
  EXPECT_EQ(body("00 06 40 0b 0b"), "unsupported: unsupported feature: legacy-exceptions (try)");
  EXPECT_EQ(without(Feature::Gc, "00 fb 00 00 0b"),
            "unsupported: unsupported feature: gc (struct.new)");
  EXPECT_EQ(without(Feature::Threads, "00 fe 03 00 0b"),
            "unsupported: unsupported feature: threads (atomic.fence)");
  EXPECT_EQ(without(Feature::FunctionReferences, "00 14 00 0b"),
            "unsupported: unsupported feature: function-references (call_ref)");
  EXPECT_EQ(without(Feature::Gc, "00 d0 6e 1a 0b"),
            "unsupported: unsupported feature: gc (type (ref null any))");
  EXPECT_EQ(without(Feature::Simd, "01 01 7b 0b"),
            "unsupported: unsupported feature: simd (type v128)");
  EXPECT_EQ(without(Feature::SignExtension, "00 41 00 c0 1a 0b"),
            "unsupported: unsupported feature: sign-extension (i32.extend8_s)");
  // Without several memories the flag in an alignment is a wrong alignment.
  EXPECT_EQ(without(Feature::MultiMemory, "00 41 00 28 42 00 00 1a 0b"),
            "malformed: malformed memop flags 0x42");
}

TEST(BodyValidator, Select) {
  EXPECT_EQ(body("00 d0 70 d0 70 41 00 1c 01 70 1a 0b"), "ok");
  EXPECT_EQ(body("00 d0 70 d0 70 41 00 1b 1a 0b"),
            "invalid: type mismatch: select without a type expects numbers, found funcref");
  EXPECT_EQ(body("00 41 00 42 00 41 00 1b 1a 0b"),
            "invalid: type mismatch: select expects i32, found i64");
  EXPECT_EQ(body("00 41 00 41 00 41 00 1c 00 1a 0b"),
            "invalid: invalid result arity: select has 0, not 1");
  EXPECT_EQ(body("00 41 00 41 00 41 00 1c 02 7f 7f 1a 0b"),
            "invalid: invalid result arity: select has 2, not 1");
}

TEST(BodyValidator, ErrorsNameTheFunction) {
  const Bytes bytes = test::function("60 00 00", "00 1a 0b");
  EXPECT_EQ(bytes[81], 0x1a);
  EXPECT_EQ(test::check(bytes),
            "invalid @81: type mismatch: drop expects a value, but the block's stack is empty, in "
            "function 1 \"f\"");
}

TEST(BodyValidator, DeepNestingAndWideStacksAreLimited) {
  std::string deep = "00";
  for (int i = 0; i < 100'000; ++i) deep += " 02 40";
  for (int i = 0; i < 100'001; ++i) deep += " 0b";
  EXPECT_EQ(body(deep), "ok");

  // Each call gives 1,000 values: a short body asks for more than the limit.
  Bytes type = hex("60 00 e8 07");
  type.insert(type.end(), 1000, 0x7f);
  Bytes types = hex("02 60 00 00");
  test::append(types, type);
  Bytes code = hex("00");
  for (std::uint32_t i = 0; i <= kMaxOperands / 1000; ++i) test::append(code, hex("10 00"));
  test::append(code, hex("00 0b"));
  Bytes section = hex("01");
  base::write_uleb(section, code.size());
  test::append(section, code);
  EXPECT_EQ(test::verdict(test::module({test::section(1, types), test::section(2, "01 00 00 00 01"),
                                        test::section(3, "01 00"), test::section(10, section)})),
            "limit: too many values on the operand stack");
}

}  // namespace
}  // namespace hoist::wasm
