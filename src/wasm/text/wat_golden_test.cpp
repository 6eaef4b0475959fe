// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text to bytes, construct by construct. The bytes were made with an independent assembler, except
// where a comment says so; they begin behind the header of the module. Of the forms of an element
// segment that mean the same we write the shortest: InlineElem and InlineElemExpressions differ
// from the other assembler in that.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {
namespace {

struct Golden {
  const char* name;
  const char* text;
  const char* hex;
};

constexpr Golden kGoldens[] = {
    {"EmptyModule", "(module)", ""},
    {"BareFields", "(func) (func)", "01040160000003030200000a070202000b02000b"},
    {"FlatBody", "(module (func (param i32 i32) (result i32) local.get 0 local.get 1 i32.add))",
     "01070160027f7f017f030201000a09010700200020016a0b"},
    {"FoldedBody",
     "(module (func (param $a i32) (param $b i32) (result i32) (i32.add (local.get $a) (i3"
     "2.mul (local.get $b) (i32.const -1)))))",
     "01070160027f7f017f030201000a0c010a0020002001417f6c6a0b"},
    {"LocalRuns", "(module (func (local i32 i32 i64) (local $x i64) (local f32)))",
     "010401600000030201000a0a010803027f027e017d0b"},
    {"TypeUse",
     "(module (type $t (func (param i32) (result i32))) (func (type $t) (local $l i64) loc"
     "al.get 0) (func (type 0) (param $p i32) (result i32) (local.get $p)))",
     "01060160017f017f03030200000a0d020601017e20000b040020000b"},
    {"ImplicitTypes",
     "(module (func (param i64)) (type $t (func)) (func) (func (param i64)) (func (result "
     "f32) (f32.const 1)))",
     "010c0360000060017e006000017d030504010001020a120402000b02000b02000b0700430000803f0b"},
    {"FlatIf",
     "(module (func (result i32) i32.const 1 if $l (result i32) i32.const 2 else $l i32.co"
     "nst 3 end $l))",
     "0105016000017f030201000a0e010c004101047f41020541030b0b"},
    {"FoldedIf",
     "(module (func (result i32) (if (result i32) (i32.const 1) (then (i32.const 2)) (else"
     " (i32.const 3)))))",
     "0105016000017f030201000a0e010c004101047f41020541030b0b"},
    {"FoldedIfWithoutElse", "(module (func (if (i32.const 1) (then (nop)))))",
     "010401600000030201000a0a01080041010440010b0b"},
    {"Blocks",
     "(module (func (block $a (loop $b (br $a) (br $b) (br_if 1 (i32.const 0)) (br_table $"
     "a $b 2 (i32.const 1))))))",
     "010401600000030201000a19011700024003400c010c0041000d0141010e020100020b0b0b"},
    {"ShadowedLabels", "(module (func block $a block $a br $a end br $a end))",
     "010401600000030201000a0e010c00024002400c000b0c000b0b"},
    {"BlockParams",
     "(module (func (i32.const 1) (block (param i32) (result i32 i32) (i32.const 2)) drop "
     "drop))",
     "010a0260000060017f027f7f030201000a0d010b004101020141020b1a1a0b"},
    {"Calls",
     "(module (type $t (func (param i32))) (table 1 funcref) (func $f) (func (call $f) (ca"
     "ll_indirect (type $t) (i32.const 0) (i32.const 1)) (call_indirect (param i32) (resul"
     "t i64) (i32.const 0) (i32.const 1)) drop))",
     "010d0360017f0060000060017f017e03030201010404017000010a180202000b13001000410041011100"
     "00410041011102001a0b"},
    {"CallIndirectTable",
     "(module (table $a 1 funcref) (table $b 1 funcref) (func (call_indirect $b (i32.const"
     " 0))))",
     "010401600000030201000407027000017000010a0901070041001100010b"},
    {"Memory",
     "(module (memory 1 2) (func (i32.store offset=4 align=2 (i32.const 0) (i32.load8_u (i"
     "32.const 1))) (drop (memory.size)) (drop (memory.grow (i32.const 1)))))",
     "010401600000030201000504010101020a16011400410041012d00003601043f001a410140001a0b"},
    {"BulkMemory",
     "(module (memory 1) (data $d \"ab\") (func (memory.init $d (i32.const 0) (i32.const 0"
     ") (i32.const 1)) (data.drop $d) (memory.copy (i32.const 0) (i32.const 1) (i32.const "
     "2)) (memory.fill (i32.const 0) (i32.const 1) (i32.const 2))))",
     "0104016000000302010005030100010c01010a24012200410041004101fc080000fc0900410041014102"
     "fc0a0000410041014102fc0b000b0b050101026162"},
    {"Tables",
     "(module (table $t 1 funcref) (table $u 2 3 externref) (elem $e func) (func (param ex"
     "ternref) (table.init $t $e (i32.const 0) (i32.const 0) (i32.const 0)) (table.copy $t"
     " $t (i32.const 0) (i32.const 0) (i32.const 0)) (elem.drop $e) (drop (table.grow $u ("
     "local.get 0) (i32.const 1))) (drop (table.size $u)) (table.fill $u (i32.const 0) (lo"
     "cal.get 0) (i32.const 1)) (table.set $u (i32.const 0) (table.get $u (i32.const 1))))"
     ")",
     "01050160016f00030201000408027000016f0102030904010100000a38013600410041004100fc0c0000"
     "410041004100fc0e0000fc0d0020004101fc0f011afc10011a410020004101fc11014100410125012601"
     "0b"},
    {"References",
     "(module (func $f (drop (ref.null func)) (drop (ref.null extern)) (drop (ref.is_null "
     "(ref.func $f)))) (elem declare func $f))",
     "01040160000003020100090501030001000a0e010c00d0701ad06f1ad200d11a0b"},
    {"SelectTyped",
     "(module (func (drop (select (i32.const 1) (i32.const 2) (i32.const 3))) (drop (selec"
     "t (result externref) (ref.null extern) (ref.null extern) (i32.const 1)))))",
     "010401600000030201000a160114004101410241031b1ad06fd06f41011c016f1a0b"},
    {"Saturating", "(module (func (drop (i64.trunc_sat_f64_u (f64.const 1)))))",
     "010401600000030201000a10010e0044000000000000f03ffc071a0b"},
    {"SignExtension", "(module (func (drop (i32.extend8_s (i32.const 255)))))",
     "010401600000030201000a0901070041ff01c01a0b"},
    {"Imports",
     "(module (import \"m\" \"f\" (func $f (param i32))) (import \"m\" \"t\" (table 1 2 fu"
     "ncref)) (import \"m\" \"m\" (memory 1)) (import \"m\" \"g\" (global $g (mut i64))))",
     "01050160017f00021e04016d01660000016d01740170010102016d016d020001016d0167037e01"},
    {"InlineImports",
     "(module (func $f (export \"f\") (import \"m\" \"f\") (param i32)) (table (import \"m"
     "\" \"t\") 1 funcref) (memory (export \"a\") (export \"b\") (import \"m\" \"m\") 1 2)"
     " (global (import \"m\" \"g\") i32))",
     "01050160017f00021e04016d01660000016d017401700001016d016d02010102016d0167037f00070d03"
     "016600000161020001620200"},
    {"Exports",
     "(module (func $f) (table $t 1 funcref) (memory 1) (global $g i32 (i32.const 1)) (exp"
     "ort \"f\" (func $f)) (export \"t\" (table $t)) (export \"m\" (memory 0)) (export \"g"
     "\" (global $g)))",
     "0104016000000302010004040170000105030100010606017f0041010b0711040166000001740100016d"
     "0200016703000a040102000b"},
    {"ExtendedConst",
     "(module (import \"m\" \"g\" (global $b i32)) (global (mut i32) (i32.add (global.get "
     "$b) (i32.const 2))))",
     "020801016d0167037f000609017f01230041026a0b"},
    {"Start", "(module (func $s) (start $s))", "010401600000030201000801000a040102000b"},
    {"InlineElem", "(module (table $t funcref (elem $f $f)) (func $f))",
     "01040160000003020100040501700102020908010041000b0200000a040102000b"},
    {"InlineElemExpressions",
     "(module (func $f) (table funcref (elem (ref.func $f) (item ref.null func))))",
     "0104016000000302010004050170010202090c010441000b02d2000bd0700b0a040102000b"},
    {"InlineData", "(module (memory (data \"a\" \"\\62\\u{63}\\n\")))",
     "0504010101010b0a010041000b046162630a"},
    {"ActiveElem",
     "(module (table 3 funcref) (func $f) (elem (i32.const 1) $f $f) (elem (offset (i32.co"
     "nst 2)) func $f))",
     "01040160000003020100040401700003090e020041010b0200000041020b01000a040102000b"},
    {"ElemKinds",
     "(module (table $a 3 funcref) (table $b 3 externref) (func $f) (elem (table $b) (i32."
     "const 0) externref (ref.null extern)) (elem funcref (ref.func $f) (item (ref.null fu"
     "nc))) (elem declare func $f) (elem declare funcref (ref.func $f)))",
     "010401600000030201000407027000036f0003091e04060141000b6f01d06f0b057002d2000bd0700b03"
     "000100077001d2000b0a040102000b"},
    {"DataSegments",
     "(module (memory 1) (data (i32.const 8) \"x\") (data (memory 0) (offset i32.const 9) "
     "\"y\" \"z\") (data \"p\"))",
     "05030100010b11030041080b01780041090b02797a010170"},
    {"FloatConstants",
     "(module (func (drop (f32.const nan:0x200000)) (drop (f64.const -inf)) (drop (f64.con"
     "st 0x1.8p1)) (drop (f32.const 1e10))))",
     "010401600000030201000a24012200430000a07f1a44000000000000f0ff1a4400000000000008401a43"
     "f90215501a0b"},
    {"IntegerConstants",
     "(module (func (drop (i32.const 0x80000000)) (drop (i32.const -2147483648)) (drop (i6"
     "4.const 0xffff_ffff_ffff_ffff)) (drop (i32.const 64))))",
     "010401600000030201000a190117004180808080781a4180808080781a427f1a41c0001a0b"},
    {"Simd",
     "(module (memory 1) (func (drop (v128.const i32x4 1 -2 3 0xffffffff)) (drop (v128.con"
     "st f64x2 1.5 -nan)) (drop (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 31 (v128"
     ".load offset=1 (i32.const 0)) (v128.const i64x2 1 2))) (drop (i8x16.extract_lane_s 3"
     " (v128.load8_lane 0 (i32.const 0) (v128.const i8x16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 "
     "14 -1)))) (drop (i32x4.relaxed_dot_i8x16_i7x16_add_s (v128.const i64x2 1 2) (v128.co"
     "nst i64x2 1 2) (v128.const i64x2 1 2)))))",
     "0104016000000302010005030100010aad0101aa0100fd0c01000000feffffff03000000ffffffff1afd"
     "0c000000000000f83f000000000000f8ff1a4100fd000401fd0c01000000000000000200000000000000"
     "fd0d000102030405060708090a0b0c0d0e1f1a4100fd0c000102030405060708090a0b0c0d0efffd5400"
     "0000fd15031afd0c01000000000000000200000000000000fd0c01000000000000000200000000000000"
     "fd0c01000000000000000200000000000000fd93021a0b"},
    {"TailCalls",
     "(module (type $t (func)) (table 1 funcref) (func $f (return_call $f)) (func (return_"
     "call_indirect (type $t) (i32.const 0))))",
     "01040160000003030200000404017000010a0e02040012000b070041001300000b"},
    {"Exceptions",
     "(module (tag $e (param i32)) (func (block $h (result i32) (try_table $t (catch $e $h"
     ") (catch_all 1) (throw $e (i32.const 1))) (i32.const 0)) drop (block $r (result exnr"
     "ef) (try_table (catch_all_ref $r)) (unreachable)) throw_ref))",
     "01080260017f00600000030201010d030100000a22012000027f1f40020000000201410108000b41000b"
     "1a02691f400103000b000b0a0b"},
    {"FunctionReferences",
     "(module (type $t (func)) (func (param (ref $t)) (param (ref null $t)) (call_ref $t ("
     "local.get 0)) (block $b (br_on_null $b (local.get 1)) (return)) (drop (ref.as_non_nu"
     "ll (local.get 1)))))",
     "010b0260000060026400630000030201010a140112002000140002402001d5000f0b2001d41a0b"},
    {"Gc",
     "(module (rec (type $p (sub (struct (field $x (mut i32)) (field i8)))) (type $q (sub "
     "final $p (struct (field (mut i32)) (field i8) (field (ref null $p)))))) (type $a (ar"
     "ray (mut i16))) (func (param (ref $p)) (struct.set $p $x (local.get 0) (i32.const 1)"
     ") (drop (struct.get_s $p 1 (local.get 0))) (drop (array.new_fixed $a 2 (i32.const 1)"
     " (i32.const 2))) (drop (ref.test (ref null $q) (local.get 0))) (drop (ref.cast (ref "
     "$q) (local.get 0))) (block $l (result (ref $q)) (br_on_cast $l anyref (ref $q) (loca"
     "l.get 0)) unreachable) drop (drop (ref.i31 (i32.const 1)))))",
     "011f034e0250005f027f0178004f01005f037f0178006300005e77016001640000030201030a3b013900"
     "20004101fb0500002000fb0300011a41014102fb0802021a2000fb15011a2000fb16011a0264012000fb"
     "1801006e01000b1a4101fb1c1a0b"},
    {"MultiMemory",
     "(module (memory $a 1) (memory $b 1) (data $d \"x\") (data (memory $b) (i32.const 0) "
     "\"y\") (func (i32.store $b offset=1 (i32.const 0) (i32.load 1 (i32.const 0))) (memor"
     "y.copy $a $b (i32.const 0) (i32.const 0) (i32.const 0)) (memory.init $b $d (i32.cons"
     "t 0) (i32.const 0) (i32.const 0)) (drop (memory.size $b))))",
     "01040160000003020100050502000100010c01020a270125004100410028420100364201014100410041"
     "00fc0a0001410041004100fc0800013f011a0b0b0b02010178020141000b0179"},
    {"Memory64",
     "(module (memory i64 1 2) (table i64 1 funcref) (func (drop (i32.load offset=0x1_0000"
     "_0000 (i64.const 0)))))",
     "010401600000030201000404017004010504010501020a0e010c004200280280808080101a0b"},
    {"Threads",
     "(module (memory 1 2 shared) (func (drop (i32.atomic.rmw8.add_u (i32.const 0) (i32.co"
     "nst 1))) atomic.fence (drop (memory.atomic.notify (i32.const 0) (i32.const 0)))))",
     "010401600000030201000504010301020a1901170041004101fe2000001afe030041004100fe0002001a"
     "0b"},
    {"TableInitialiser", "(module (func $f) (table 2 (ref func) (ref.func $f)))",
     "01040160000003020100040a01400064700002d2000b0a040102000b"},
    {"WideArithmetic",
     "(module (func (param i64 i64) (result i64 i64) (i64.mul_wide_u (local.get 0) (local."
     "get 1))))",
     "01080160027e7e027e7e030201000a0a01080020002001fc160b"},
    {"PageSize", "(module (memory 1 (pagesize 1)))", "050401080100"},
    {"CustomSections", "(module (@custom \"a\" (before func) \"xy\") (@custom \"b\" \"z\") (func))",
     "010401600000000401617879030201000a040102000b000301627a"},
    {"BranchHint",
     "(module (func (@metadata.code.branch_hint \"\\01\") (if (i32.const 1) (then)) (block"
     " (br_if 0 (i32.const 0)) i32.const 1 (@metadata.code.branch_hint \"\\00\") br_if 0))"
     ")",
     "010401600000030201000023196d657461646174612e636f64652e6272616e63685f68696e7401000203"
     "01010e01000a14011200410104400b024041000d0041010d000b0b"},
    {"AnnotationsAndComments",
     "((@a b) module (; (; nested ;) ;) (func ;; line\n (@x (\"y\" $z) 1.5 ,) nop))",
     "010401600000030201000a05010300010b"},
    {"QuotedIdentifiers", "(module (func $\"a b\" (call $\"a\\20b\")) (func (call $\"a b\")))",
     "01040160000003030200000a0b02040010000b040010000b"},
    // Not made with another assembler: checked by hand against the legacy proposal.
    {"LegacyExceptions",
     "(module (tag $e) (func (try $l (do (throw $e)) (catch $e (rethrow $l)) (catch_all)) (block "
     "$b (try (do) (delegate $b))) try catch $e catch_all end))",
     "010401600000030201000d030100000a1b011900064008000700090019"
     "0b0240064018000b06400700190b0b"},
};

std::string hex_of(const std::vector<std::uint8_t>& bytes) {
  std::string out;
  char buffer[4];
  for (std::size_t i = 8; i < bytes.size(); ++i) {
    std::snprintf(buffer, sizeof buffer, "%02x", bytes[i]);
    out += buffer;
  }
  return out;
}

TEST(WatGolden, Constructs) {
  TextOptions options;
  options.names = false;
  for (const Golden& golden : kGoldens) {
    const auto bytes = assemble_wat(golden.text, options);
    ASSERT_TRUE(bytes) << golden.name << ": " << bytes.error().message();
    EXPECT_EQ(hex_of(*bytes), golden.hex) << golden.name;
  }
}

TEST(WatGolden, HeaderAndOtherForms) {
  const auto empty = assemble_wat("");
  ASSERT_TRUE(empty);
  EXPECT_EQ(*empty, (std::vector<std::uint8_t>{0, 'a', 's', 'm', 1, 0, 0, 0}));
  const auto binary = assemble_wat("(module binary \"\\00asm\" \"\\01\\00\\00\\00\")");
  ASSERT_TRUE(binary);
  EXPECT_EQ(*binary, *empty);
  const auto quoted = assemble_wat("(module $m quote \"(func\" \")\")");
  ASSERT_TRUE(quoted);
  EXPECT_EQ(hex_of(*quoted), "010401600000030201000a040102000b");
}

TEST(WatGolden, NameSection) {
  const auto bytes = assemble_wat(
      "(module $m (type $t (func (param i32))) (func $f (param $p i32) (local i32) (local $l i32))"
      "(global $g i32 (i32.const 0)) (memory $mem 1) (table $tab 1 funcref) (data $d \"\")"
      "(elem $e func) (func (@name \"given\")) (tag $x))");
  ASSERT_TRUE(bytes) << bytes.error().message();
  const std::string hex = hex_of(*bytes);
  // Behind the last other section (data).
  const std::string names =
      "005e046e616d65"              // custom section "name"
      "0002016d"                    // module
      "010b020001660105676976656e"  // functions: 0 "f", 1 "given"
      "02090100020001700201"        // locals of 0: 0 "p", 2
      "6c"                          // "l"
      "0404010001"
      "74"  // types
      "050601000374"
      "6162"  // tables
      "0606010003"
      "6d656d"  // memories
      "0704010001"
      "67"  // globals
      "0804010001"
      "65"  // elements
      "0904010001"
      "64"  // data
      "0b04010001"
      "78";  // tags
  const std::size_t at = hex.find("046e616d65");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(hex.substr(at), names.substr(4));
}

}  // namespace
}  // namespace hoist::wasm
