// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the assembler says about wrong text, and that no text brings it down.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {
namespace {

struct Wrong {
  const char* text;
  const char* message;  ///< its beginning
  std::uint32_t line;
  std::uint32_t column;
};

constexpr Wrong kWrong[] = {
    // Lexical.
    {"(module) \x01", "illegal character", 1, 10},
    {"\xef\xbb\xbf(module)",
     "illegal character: a text must not begin with a byte order mark (the bytes ef bb bf)", 1, 1},
    {"(func $a) ;; \xff", "malformed UTF-8 encoding", 1, 14},
    {"(func) (; (; ;)", "unclosed comment", 1, 8},
    {"(data \"ab", "unclosed string", 1, 7},
    {"(data \"a\nb\")", "unclosed string", 1, 7},
    {"(data \"\\d\")", "illegal escape", 1, 7},
    {"(data \"\\u{d800}\")", "illegal escape", 1, 7},
    {"(data \"\\u{110000}\")", "illegal escape", 1, 7},
    {"(data \"\x7f\")", "illegal control character", 1, 7},
    {"(func $)", "empty identifier", 1, 7},
    {"(func $\"\")", "empty identifier", 1, 7},
    {"(@)", "empty annotation id", 1, 1},
    {"(@x (y)", "unclosed annotation", 1, 1},
    {"(func br 0drop)", "unknown operator 0drop", 1, 10},
    {"(func (i32.const 0$x))", "unknown operator", 1, 18},
    {"(import \"a\"\"b\" (func))", "unknown operator \"a\"\"b\"", 1, 9},
    // Structure.
    {"(func", "unexpected token end of text", 1, 6},
    {"(func))", "unexpected token \")\", expected a module field", 1, 7},
    {"(module) (module)", "unexpected token", 1, 10},
    {"(module (func)", "unexpected token end of text", 1, 15},
    {"(fun)", "unexpected token \"fun\"", 1, 2},
    {"(func\n  nop\n  i32.ad)", "unknown operator i32.ad", 3, 3},
    {"(func block)", "unexpected token \")\", expected an instruction or end", 1, 12},
    {"(func end)", "unexpected token \"end\"", 1, 7},
    {"(func (block end))", "unexpected token \"end\"", 1, 14},
    {"(func else)", "unexpected token \"else\"", 1, 7},
    {"(func block else end)", "unexpected token \"else\"", 1, 13},
    {"(func (if (i32.const 0)))", "unexpected token \")\"", 1, 24},
    {"(func (if (i32.const 0) (else)))", "unexpected token", 1, 25},
    {"(func (if (then) (then)))", "unexpected token", 1, 18},
    {"(func (i32.add i32.const 0))", "unexpected token \"i32.const\"", 1, 16},
    {"(func (then))", "unexpected token", 1, 7},
    {"(func ())", "unexpected token \")\", expected an instruction", 1, 8},
    {"(func (result i32) (param i32))", "unexpected token", 1, 20},
    {"(func (local i32) (param i32))", "unexpected token", 1, 19},
    {"(func (block (param $x i32)))", "unexpected token", 1, 21},
    {"(func (call_indirect (param $x i32) (i32.const 0)))", "unexpected token", 1, 29},
    {"(global i32 i32.const 0 end)", "unexpected token \"end\"", 1, 25},
    // Names and indexes.
    {"(func call $f)", "unknown function $f", 1, 12},
    {"(func local.get $f)", "unknown local $f", 1, 17},
    {"(func br $f)", "unknown label $f", 1, 10},
    {"(func block $a end br $a)", "unknown label $a", 1, 23},
    {"(func (block $a) (try_table $b (catch_all $b)))", "unknown label $b", 1, 43},
    {"(func (type $t))", "unknown type $t", 1, 13},
    {"(func (type 1) (param i32))", "unknown type 1", 1, 7},
    {"(start $f)", "unknown function $f", 1, 8},
    {"(func global.get $g)", "unknown global $g", 1, 18},
    {"(func $a) (func $a)", "duplicate func $a", 1, 17},
    {"(global $a i32 (i32.const 0)) (global $a i32 (i32.const 0))", "duplicate global $a", 1, 39},
    {"(func $f (param $a i32) (local $a i32))", "duplicate local $a", 1, 25},
    {"(type (struct (field $a i32) (field $a i32)))", "duplicate field $a", 1, 37},
    {"(func block $a end $b)", "mismatching label $b", 1, 20},
    {"(func i32.const 0 if $a else $b end)", "mismatching label $b", 1, 30},
    {"(func block end $a)", "mismatching label $a", 1, 17},
    {"(func) (import \"\" \"\" (func))", "import after function", 1, 16},
    {"(memory 1) (func (import \"\" \"\"))", "import after memory", 1, 18},
    {"(func $a) (start $a) (start $a)", "multiple start sections", 1, 29},
    {"(type $t (func (param i32))) (func (type $t) (param i64))", "inline function type", 1, 36},
    // Numbers.
    {"(func i32.const 4294967296)", "i32 constant out of range", 1, 17},
    {"(func i32.const -2147483649)", "i32 constant out of range", 1, 17},
    {"(func i64.const 18446744073709551616)", "i64 constant out of range", 1, 17},
    {"(func f32.const 0x1p128)", "f32 constant out of range", 1, 17},
    {"(func f64.const nan:0x0)", "f64 constant out of range", 1, 17},
    {"(func f64.const 1e)", "unknown operator", 1, 17},
    {"(func i32.const 1.0)", "unexpected token", 1, 17},
    {"(func i32.const)", "unexpected token \")\", expected an i32 constant", 1, 16},
    {"(func br 4294967296)", "i32 constant", 1, 10},
    {"(memory 0x1_0000_0000_0000_0000)", "i64 constant out of range: size", 1, 9},
    {"(func i32.load align=3)", "alignment must be a power of two", 1, 16},
    {"(func i32.load align=0)", "alignment must be a power of two", 1, 16},
    {"(func i32.load offset=)", "unknown operator", 1, 16},
    {"(func i32.load offset=0x1_0000_0000_0000_0000)", "\"offset=", 1, 16},
    {"(func i32.load align=4 offset=4)", "unknown operator", 1, 24},
    {"(memory 0 (pagesize 3))", "invalid custom page size 3", 1, 21},
    {"(func v128.const i8x16 256 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0)", "i8 constant out of range", 1,
     24},
    {"(func v128.const i16x8 -32769 0 0 0 0 0 0 0)", "i16 constant out of range", 1, 24},
    {"(func v128.const i32x4 1 2 3)", "wrong number of lane literals: 3, expected 4", 1, 24},
    {"(func v128.const i32x4 1 2 3 4 5)", "wrong number of lane literals: 5", 1, 24},
    {"(func v128.const i32x4 1 0x 3 4)", "unknown operator 0x", 1, 26},
    {"(func v128.const f32x4 1 nan:1 3 4)", "unknown operator nan:1", 1, 26},
    {"(func f32.const nan:canonical)", "unexpected token \"nan:canonical\"", 1, 17},
    {"(func (result anyfunc))", "unexpected token, unknown operator anyfunc", 1, 15},
    {"(func $\"a)", "empty identifier", 1, 7},
    {"(@\"a)", "empty annotation id", 1, 1},
    {"(func (try (do) (catch 0) (delegate 0)))", "unexpected token", 1, 27},
    {"(func i8x16.extract_lane_s 256)", "i8 constant out of range: lane index", 1, 28},
    {"(func i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 1.5)", "i8 constant out of range", 1,
     56},
    {"(func v128.const i31x4 1 2 3 4)", "unexpected token \"i31x4\"", 1, 18},
    {"(func i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14)", "invalid lane length: 15", 1, 21},
    {"(export \"\\ff\" (func 0))", "malformed UTF-8 encoding", 1, 9},
    // Annotations.
    {"(func (@custom \"a\"))", "misplaced @custom annotation", 1, 7},
    {"(@custom)", "@custom annotation: missing section name", 1, 1},
    {"(module (@name \"a\") (@name \"b\"))", "@name annotation: multiple module", 1, 21},
    {"(func (@metadata.code.branch_hint \"\\01\") nop)",
     "@metadata.code.branch_hint annotation: invalid target", 1, 42},
    {"(@metadata.code.branch_hint \"\\01\") (func)",
     "@metadata.code.branch_hint annotation: not in a function", 1, 36},
};

TEST(WatErrors, MessageAndPlace) {
  for (const Wrong& wrong : kWrong) {
    const auto bytes = assemble_wat(wrong.text);
    ASSERT_FALSE(bytes) << wrong.text;
    const Error& error = bytes.error();
    EXPECT_EQ(error.kind(), ErrorKind::Malformed) << wrong.text;
    EXPECT_TRUE(error.message().starts_with(wrong.message))
        << wrong.text << ": " << error.message();
    EXPECT_EQ(error.line(), wrong.line) << wrong.text;
    EXPECT_EQ(error.column(), wrong.column) << wrong.text;
  }
}

TEST(WatErrors, UnknownFeaturesAreNamed) {
  const Wrong later[] = {
      {"(component)", "unsupported feature: component-model", 1, 2},
      {"(func resume 0)", "unsupported feature: stack-switching", 1, 7},
      {"(type (cont 0))", "unsupported feature: stack-switching", 1, 7},
      {"(func (param (ref (shared any))))", "unsupported feature: shared-everything", 1, 19},
  };
  for (const Wrong& wrong : later) {
    const auto bytes = assemble_wat(wrong.text);
    ASSERT_FALSE(bytes) << wrong.text;
    EXPECT_EQ(bytes.error().kind(), ErrorKind::Unsupported) << wrong.text;
    EXPECT_TRUE(bytes.error().message().starts_with(wrong.message)) << bytes.error().message();
    EXPECT_EQ(bytes.error().column(), wrong.column) << wrong.text;
  }
}

TEST(WatErrors, AcceptsWhatLooksWrong) {
  for (const char* text : {
           "(module binary)",
           "(module quote)",
           "(func $foo) (global $foo i32 (i32.const 0)) (table $foo 1 funcref) (memory $foo 1)"
           "(data $foo \"\") (elem $foo func) (tag $foo) (type $foo (func))",
           "(func (type 7))",       // for validation
           "(func (local.get 9))",  // for validation
           "(func br 100)",         // for validation
           "(func (param $x i32) (block $x (br $x)))",
           "(func v128.const i8x16 -1 255 0 0 0 0 0 0 0 0 0 0 0 0 0 0)",
           "(func (f32.const nan:0x7f_ffff) drop)",
           "(@custom-thing (a \"b\") $c 1.5 ,) (func (@x) nop)",
           "(func(nop)(nop))",
           ";; comment at the end",
       }) {
    const auto bytes = assemble_wat(text);
    EXPECT_TRUE(bytes) << text << ": " << bytes.error().message();
  }
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += piece;
  return out;
}

TEST(WatErrors, DeepNestingUsesNoStack) {
  constexpr std::size_t kDeep = 200'000;
  const std::string open = repeated("(", kDeep);
  EXPECT_FALSE(assemble_wat(open));
  EXPECT_FALSE(assemble_wat("(func " + open));
  EXPECT_FALSE(assemble_wat(repeated("(module ", kDeep)));
  EXPECT_FALSE(assemble_wat(repeated("(;", kDeep)));
  EXPECT_FALSE(assemble_wat("(@a " + open));
  EXPECT_FALSE(assemble_wat(repeated("(@a ", kDeep)));
  EXPECT_FALSE(assemble_wat(repeated("(ref ", kDeep)));
  EXPECT_FALSE(assemble_wat("(func " + repeated("(i32.eqz ", kDeep)));
  EXPECT_FALSE(assemble_wat("(func (param " + repeated("(ref null ", kDeep)));
  EXPECT_TRUE(assemble_wat("(func " + repeated("(i32.eqz ", kDeep) + repeated(")", kDeep) + ")"));
  EXPECT_TRUE(
      assemble_wat("(func " + repeated("(block $a (br $a) ", kDeep) + repeated(")", kDeep) + ")"));
  EXPECT_TRUE(
      assemble_wat("(func " + repeated("block $a br $a ", kDeep) + repeated("end ", kDeep) + ")"));
  EXPECT_TRUE(assemble_wat("(func " + repeated("(if (i32.const 0) (then ", kDeep) +
                           repeated("))", kDeep) + ")"));
  EXPECT_TRUE(assemble_wat(repeated("(@a ", 1) + repeated("(", kDeep) + repeated(")", kDeep + 1)));
}

/// A text with a bit of everything, for the tests that damage it.
constexpr const char* kSample =
    "(module $m (@custom \"c\" (after func) \"x\") (type $t (func (param i32) (result i32)))\n"
    "(rec (type $s (sub (struct (field $x (mut i8)) (field (ref null $s))))))\n"
    "(import \"a\" \"b\" (func $i (param i32))) (import \"a\" \"g\" (global $h i32))\n"
    "(table $tab 1 2 funcref) (table funcref (elem $f)) (memory 1) (memory $n (data \"a\\62\"))\n"
    "(global $g (export \"g\") (mut f64) (f64.const 0x1.8p-3)) (tag $e (param i32))\n"
    "(func $f (export \"f\") (type $t) (local $l v128) ;; comment\n"
    " (block $b (result i32) (if $c (result i32) (local.get 0) (then (i32.const 1))\n"
    " (else (br $b (call_indirect $tab (type $t) (i32.const -1) (i32.const 0))))))\n"
    " loop $q local.get 0 br_if $q end try_table (catch $e 0) end (try (do) (catch_all))\n"
    " (v128.const i32x4 1 2 3 4) (f32.const nan:0x123) drop drop (i32.load offset=3 align=2\n"
    " (i32.const 0)) (br_table 0 1 $zz) )\n"
    "(data $d (i32.const 0) \"\\u{1f600}\") (elem $el declare func $f) (start $f) (; (; ;) ;)\n"
    "(export \"x\" (func $i)))";

TEST(WatErrors, EveryPrefixGivesAnAnswer) {
  const std::string sample = kSample;
  for (std::size_t length = 0; length < sample.size(); ++length) {
    const auto bytes = assemble_wat(std::string_view(sample).substr(0, length));
    EXPECT_EQ(bytes.has_value(), length == 0) << length;
  }
}

TEST(WatErrors, DamagedTextGivesAnAnswer) {
  const std::string sample = kSample;
  std::uint64_t state = 0x9e3779b97f4a7c15;
  const auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  constexpr std::string_view kPieces[] = {"(",     ")",   "$",    "\"",    "\\",      "(@",
                                          "(;",    ";)",  "0x",   "-",     "_",       "(module",
                                          "quote", "end", "else", "(then", "(type 0)"};
  for (int round = 0; round < 4000; ++round) {
    std::string text = sample;
    for (std::uint64_t edits = 1 + next() % 4; edits > 0; --edits) {
      const std::size_t at = next() % text.size();
      switch (next() % 4) {
        case 0: text[at] = static_cast<char>(next()); break;
        case 1: text.erase(at, next() % 20); break;
        case 2: text.insert(at, kPieces[next() % std::size(kPieces)]); break;
        default: text.insert(at, sample.substr(next() % sample.size(), next() % 40)); break;
      }
      if (text.empty()) text = "(";
    }
    const auto bytes = assemble_wat(text);
    if (!bytes) {
      EXPECT_TRUE(bytes.error().kind() == ErrorKind::Malformed ||
                  bytes.error().kind() == ErrorKind::Unsupported);
      EXPECT_NE(bytes.error().line(), 0u);
    }
  }
}

}  // namespace
}  // namespace hoist::wasm
