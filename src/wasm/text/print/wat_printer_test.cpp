// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/wat_printer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes assembled(std::string_view text) {
  Result<Bytes> bytes = assemble_wat(text);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message()) << "\n" << text;
  return bytes ? *bytes : Bytes();
}

std::string printed(const Bytes& bytes, const PrintOptions& options = {}) {
  Result<std::string> text = wat_text(bytes, options);
  return text ? *text : "error: " + text.error().message();
}

/// The text of the module that `source` describes; it must read back to the same bytes.
std::string round_trip(std::string_view source) {
  const Bytes bytes = assembled(source);
  const std::string text = printed(bytes);
  EXPECT_EQ(assembled(text), bytes) << text;
  return text;
}

/// What is between the parentheses of the module.
void expect_fields(std::string_view source, std::string_view fields) {
  EXPECT_EQ(round_trip(source), "(module\n" + std::string(fields) + ")\n");
}

Bytes module_of(std::initializer_list<Bytes> sections) {
  Bytes out{0, 'a', 's', 'm', 1, 0, 0, 0};
  for (const Bytes& section : sections) out.insert(out.end(), section.begin(), section.end());
  return out;
}

TEST(WatPrinter, EmptyModule) {
  EXPECT_EQ(round_trip("(module)"), "(module)\n");
  EXPECT_EQ(round_trip("(module $m)"), "(module $m)\n");
}

TEST(WatPrinter, NamesAndIndexes) {
  const std::string text = round_trip(R"((module
    (func $add (param $a i32) (param i32 i64) (param $b i32) (result i32) (local $x i32) (local f32 f32)
      local.get $a local.get 1 i32.add)
    (func call $add)
    (export "f" (func $add))))");
  EXPECT_EQ(text, R"((module
  (type (;0;) (func (param i32 i32 i64 i32) (result i32)))
  (type (;1;) (func))
  (export "f" (func $add))
  (func $add (;0;) (type 0) (param $a i32) (param i32 i64) (param $b i32) (result i32)
    (local $x i32)
    (local f32 f32)
    local.get $a
    local.get 1
    i32.add
  )
  (func (;1;) (type 1)
    call $add
  ))
)");
  // Without names there are numbers.
  const std::string plain = printed(assembled("(module (func $f call $f))"), {.names = false});
  EXPECT_EQ(plain.find("$f"), std::string::npos) << plain;
  EXPECT_NE(plain.find("call 0"), std::string::npos) << plain;
}

TEST(WatPrinter, NamesThatAreNoIdentifiers) {
  const std::string text = round_trip(R"((module
    (func $"a b" (param $p i32) (param (@name "p") i32))
    (func $"\u{202e}x")
    (func (@name ""))
    (func $c (@name "a b"))
    (func $"#func9")
    (type $s (struct (field $x i32) (field (@name "x") i64) (field $"y z" i8)))
    (func (param (ref $s)) (result i64) (local $l i32) (local (@name "l") i32)
      local.get 0 struct.get $s 1)))");
  for (const char* wanted :
       {"(func $\"a b\" (;0;)", "(param $p i32) (param $#local1 (@name \"p\") i32)",
        "(func $\"\\u{202e}x\" (;1;)", "(func $#func2 (@name \"\") (;2;)",
        "(func $#func3 (@name \"a b\") (;3;)", "(func $#func4 (@name \"#func9\") (;4;)",
        "(field $x i32) (field $#field1 (@name \"x\") i64) (field $\"y z\" i8)",
        "(local $#local2 (@name \"l\") i32)", "struct.get $s $#field1"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
  }
}

TEST(WatPrinter, Blocks) {
  expect_fields(R"((func $f (param i32) (result i32)
      (block $out (result i32)
        (loop $again (br_if $again (local.get 0)))
        (if (result i32) (local.get 0) (then (i32.const 1)) (else (br 1 (i32.const 2))))
        (br_table 0 1 $out 2 (i32.const 0) (local.get 0)))))",
                R"(  (type (;0;) (func (param i32) (result i32)))
  (func $f (;0;) (type 0) (param i32) (result i32)
    block $out (result i32)
      loop $again
        local.get 0
        br_if $again
      end
      local.get 0
      if (;@2;) (result i32)
        i32.const 1
      else
        i32.const 2
        br $out
      end
      i32.const 0
      local.get 0
      br_table $out 1 $out 2
    end
  ))");
}

TEST(WatPrinter, ShadowedLabels) {
  const std::string text =
      round_trip("(func (block $l (block $l (br $l) (br 1) (block (br 1) (br 2)))))");
  EXPECT_NE(text.find("br $l\n        br 1 (;@1;)"), std::string::npos) << text;
  EXPECT_NE(text.find("br $l\n          br 2 (;@1;)"), std::string::npos) << text;
}

TEST(WatPrinter, Exceptions) {
  const std::string text = round_trip(R"((module (tag $e (param i32)) (func
      (block $h (result i32 exnref)
        (try_table (catch_ref $e $h) (catch_all 1) (throw $e (i32.const 1)))
        return)
      throw_ref)
    (func
      (try $t (do (nop)) (catch $e drop rethrow 0) (catch_all))
      (try (do (try (do) (delegate 0)))(catch_all)))))");
  EXPECT_NE(text.find("try_table (;@2;) (catch_ref $e $h) (catch_all 1)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("    catch $e\n      drop\n      rethrow $t\n    catch_all\n    end"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("      try (;@2;)\n      delegate 0 (;@1;)\n"), std::string::npos) << text;
}

TEST(WatPrinter, Numbers) {
  const std::string text = round_trip(R"((func
      f32.const 0.1 f32.const -0 f32.const inf f32.const nan f32.const -nan:0x1 f32.const 0x1p-149
      f64.const 1e300 f64.const nan:0x4000000000000 f64.const -inf f64.const 5e-324
      i32.const 0x80000000 i64.const -1 v128.const f32x4 1 -0 nan:0x123 4 unreachable))");
  for (const char* wanted :
       {"f32.const 0.1\n", "f32.const -0\n", "f32.const inf\n", "f32.const nan\n",
        "f32.const -nan:0x1\n", "f32.const 1e-45\n", "f64.const 1e+300\n",
        "f64.const nan:0x4000000000000\n", "f64.const -inf\n", "f64.const 5e-324\n",
        "i32.const -2147483648\n", "i64.const -1\n",
        "v128.const i32x4 0x3f800000 0x80000000 0x7f800123 0x40800000\n"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
  }
}

TEST(WatPrinter, MemoryArguments) {
  const std::string text = round_trip(R"((module (memory 1) (memory $m i64 1 2) (data "x") (func
      (i32.load (i32.const 0)) (i64.load8_u $m offset=4294967296 (i64.const 0))
      (i32.load align=1 (i32.const 0)) drop drop drop
      (v128.load8_lane 1 0 (i64.const 0) (v128.const i64x2 0 0)) drop
      (memory.copy 1 0 (i64.const 0) (i32.const 0) (i32.const 0))
      (memory.copy (i32.const 0) (i32.const 0) (i32.const 0))
      (memory.init $m 0 (i64.const 0) (i32.const 0) (i32.const 0))
      (drop (memory.size $m)) (drop (memory.size)))))");
  EXPECT_NE(text.find("i64.load8_u $m offset=4294967296\n"), std::string::npos) << text;
}

TEST(WatPrinter, TypesOfEveryForm) {
  const std::string text = round_trip(R"((module
    (rec (type $a (sub (struct (field (ref null $b)) (field (mut i8)))))
         (type $b (sub final $a (struct (field (ref null $b)) (field (mut i8)) (field (ref i31))))))
    (rec)
    (type (array (mut v128)))
    (type $f (func (param anyref eqref) (result (ref func) (ref null $a) nullexternref exnref)))
    (import "m" "t" (table $t i64 1 2 (ref null extern)))
    (import "m" "g" (global (mut f64)))
    (import "m" "f" (func (type $f)))
    (table 0 funcref (ref.null func))
    (memory 1 2 shared) (memory 1 (pagesize 1))
    (global (ref i31) i32.const 1 i32.const 2 i32.add ref.i31)
    (func (param anyref) (result (ref i31))
      (block $l (result (ref i31))
        (br_on_cast $l anyref (ref i31) (local.get 0))
        (ref.cast (ref null struct)) (ref.test (ref $a)) drop
        (select (result i32) (i32.const 1) (i32.const 2) (i32.const 3)) drop
        unreachable))))");
  for (const char* wanted :
       {"(rec\n    (type $a (;0;) (sub (struct (field (ref null $b)) (field (mut i8)))))", "(rec)",
        "(result (ref func) (ref null $a) nullexternref exnref)",
        "(table $t (;0;) i64 1 2 externref)", "(global (;0;) (mut f64))",
        "funcref (ref.null func))", "(memory (;0;) 1 2 shared)", "(pagesize 1)",
        "(ref i31) i32.const 1 i32.const 2 i32.add ref.i31)", "br_on_cast $l anyref (ref i31)",
        "ref.cast structref", "ref.test (ref $a)", "select (result i32)"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
  }
}

TEST(WatPrinter, Segments) {
  const std::string text = round_trip(R"((module (table $t 10 funcref) (table $u 1 externref)
    (memory 1) (memory $m 1)
    (func $f)
    (elem (i32.const 0) $f 0) (elem (table $u) (i32.const 0) externref (ref.null extern))
    (elem funcref (ref.func $f) (item ref.null func)) (elem declare func $f)
    (elem $named func) (elem (offset i32.const 1 i32.const 2 i32.add) func)
    (data (i32.const 0) "a\00\ff\"\\") (data (memory $m) (offset (i32.const 1)) "") (data $d "x")))");
  for (const char* wanted :
       {"(elem (;0;) (i32.const 0) func $f $f)",
        "(elem (;1;) (table $u) (i32.const 0) externref (ref.null extern))",
        "(elem (;2;) funcref (ref.func $f) (ref.null func))", "(elem (;3;) declare func $f)",
        "(elem $named (;4;) func)", "(elem (;5;) (offset i32.const 1 i32.const 2 i32.add) func)",
        R"((data (;0;) (i32.const 0) "a\00\ff\"\\"))",
        "(data (;1;) (memory $m) (i32.const 1) \"\")", "(data $d (;2;) \"x\")"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
  }
}

TEST(WatPrinter, CustomSectionsKeepTheirPlaces) {
  const std::string text = round_trip(R"((module
    (@custom "first" (before first) "1") (@custom "a" (after type) "2")
    (@custom "b" (before memory) "3") (@custom "c" (after datacount) "4")
    (@custom "last" "5")
    (type (func)) (func $f (type 0)) (memory 1) (data $d "x")
    (func (type 0) data.drop $d)))");
  for (const char* wanted :
       {"(@custom \"first\" (before first) \"1\")", "(@custom \"a\" (after type) \"2\")",
        "(@custom \"b\" (after func) \"3\")", "(@custom \"c\" (after datacount) \"4\")",
        "(@custom \"last\" (after data) \"5\")"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
  }
}

TEST(WatPrinter, BranchHints) {
  const std::string text = round_trip(R"((func (param i32)
      (@metadata.code.branch_hint "\01") (if (local.get 0) (then nop))
      (block local.get 0 (@metadata.code.branch_hint "\00") br_if 0)))");
  EXPECT_NE(text.find("    (@metadata.code.branch_hint \"\\01\")\n    if"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("@custom"), std::string::npos) << text;
  // A hint at another instruction makes the section one like others.
  const std::string raw = round_trip(R"((module (func nop)
      (@custom "metadata.code.branch_hint" (after func) "\01\00\01\01\01\01")))");
  EXPECT_NE(raw.find("(@custom \"metadata.code.branch_hint\" (after func)"), std::string::npos)
      << raw;
  round_trip(R"((module (@custom "metadata.code.branch_hint" (before first) "\00") (func (param i32)
      local.get 0 (@metadata.code.branch_hint "\01") br_if 0)))");
}

TEST(WatPrinter, LongStringsAreSplit) {
  const std::string text =
      round_trip("(module (memory 1) (data (i32.const 0) \"line one\\nline two\\n" +
                 std::string(100, 'x') + "\"))");
  EXPECT_NE(text.find("(i32.const 0)\n    \"line one\\0a\"\n    \"line two\\0a\"\n    \"xxx"),
            std::string::npos)
      << text;
}

// ---- Bad input.

void expect_error(const Bytes& bytes, ErrorKind kind, std::string_view message) {
  Result<std::string> text = wat_text(bytes);
  ASSERT_FALSE(text) << *text;
  EXPECT_EQ(text.error().kind(), kind) << text.error().message();
  EXPECT_NE(text.error().message().find(message), std::string::npos) << text.error().message();
  EXPECT_TRUE(text.error().has_offset());
}

Bytes types_section() {
  return {1, 4, 1, 0x60, 0, 0};
}
Bytes two_functions() {
  return {3, 3, 2, 0, 0};
}

TEST(WatPrinter, MalformedModulesAreErrors) {
  expect_error({}, ErrorKind::Malformed, "unexpected end");
  expect_error({0, 'a', 's', 'x', 1, 0, 0, 0}, ErrorKind::Malformed, "magic header not detected");
  expect_error({0, 'a', 's', 'm', 2, 0, 0, 0}, ErrorKind::Malformed, "unknown binary version");
  expect_error({0, 'a', 's', 'm', 0x0d, 0, 1, 0}, ErrorKind::Unsupported, "component-model");
  expect_error(module_of({{14, 0}}), ErrorKind::Malformed, "malformed section id");
  expect_error(module_of({two_functions(), types_section()}), ErrorKind::Malformed,
               "unexpected content after last section");
  expect_error(module_of({types_section(), two_functions()}), ErrorKind::Malformed,
               "inconsistent lengths");
  expect_error(module_of({{1, 5, 1, 0x60, 0, 0, 0}}), ErrorKind::Malformed,
               "section size mismatch");
}

/// What came before the mistake is printed, and the mistake is no success.
TEST(WatPrinter, IllegalOpcodeInTheSecondFunction) {
  const Bytes bytes =
      module_of({types_section(), two_functions(), {10, 9, 2, 3, 0, 0x01, 0x0b, 3, 0, 0xff, 0x0b}});
  std::string text;
  const auto append = [&](std::string_view piece) { text += piece; };
  const Result<void> done = print_wat(bytes, {}, append);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), ErrorKind::Malformed);
  EXPECT_EQ(done.error().message(), "illegal opcode ff (function 1)");
  EXPECT_EQ(done.error().offset(), bytes.size() - 2);
  EXPECT_NE(text.find("(func (;0;) (type 0)\n    nop\n  )"), std::string::npos) << text;
}

/// Invalid, but printing says what is there, and says it the same way again.
TEST(WatPrinter, InitializersOfNoInstruction) {
  const Bytes bytes =
      module_of({{4, 8, 1, 0x40, 0, 0x64, 0x70, 0, 1, 0x0b}, {6, 4, 1, 0x7f, 0, 0x0b}});
  const std::string text = printed(bytes);
  EXPECT_EQ(text, "(module\n  (table (;0;) 1 (ref func))\n  (global (;0;) i32))\n");
  EXPECT_EQ(printed(assembled(text)), text);
}

TEST(WatPrinter, TextHasALimit) {
  // 200 functions of 50,000 locals each, in two kilobytes.
  Bytes funcs{3, 0xca, 1, 0xc8, 1};
  funcs.insert(funcs.end(), 200, 0);
  Bytes code{10, 0xb2, 11, 0xc8, 1};
  for (int i = 0; i < 200; ++i) code.insert(code.end(), {6, 1, 0xd0, 0x86, 3, 0x7f, 0x0b});
  code[1] = static_cast<std::uint8_t>(0x80 | ((2 + 1400) & 0x7f));
  code[2] = static_cast<std::uint8_t>((2 + 1400) >> 7);
  const Bytes bytes = module_of({types_section(), funcs, code});
  const Result<std::string> text = wat_text(bytes, {.max_bytes = 1 << 20});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind(), ErrorKind::Limit) << text.error().message();
}

/// Every cut and every changed byte of a module gives text or an error.
TEST(WatPrinter, DamagedModules) {
  const Bytes good = assembled(R"((module $m
    (type $s (struct (field $x i32))) (tag $e) (table 1 funcref) (memory 1) (global i32 i32.const 0)
    (func $f (param $p i32) (result i32) (local $l i64)
      (block $b (try_table (catch $e $b) (call_indirect (i32.const 0))))
      (@metadata.code.branch_hint "\01") (if (local.get $p) (then (br_table 0 0 (i32.const 1))))
      (f64.const 1) drop (i32.load offset=3 (i32.const 0)))
    (elem (i32.const 0) func $f) (data (i32.const 0) "abc") (export "f" (func $f))
    (@custom "c" "x")))");
  for (std::size_t i = 0; i < good.size(); ++i) {
    static_cast<void>(wat_text(std::span(good).first(i), {.max_bytes = 1 << 20}));
    for (const unsigned change : {0x01u, 0x40u, 0x80u, 0xffu}) {
      Bytes bad = good;
      bad[i] = static_cast<std::uint8_t>(bad[i] ^ change);
      const Result<std::string> text = wat_text(bad, {.max_bytes = 1 << 20});
      if (!text) continue;
      // What can be read again prints the same.
      const Result<Bytes> again = assemble_wat(*text);
      if (!again) continue;
      EXPECT_EQ(printed(*again), *text) << "byte " << i << " ^ " << change;
    }
  }
}

TEST(WatPrinter, DeepNesting) {
  std::string text = "(module (func ";
  for (int i = 0; i < 20000; ++i) text += "block ";
  for (int i = 0; i < 20000; ++i) text += "end ";
  round_trip(text + "))");
}

}  // namespace
}  // namespace hoist::wasm
