// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// CLIF text: literals, round trips, errors with their place, robustness.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "ir/text/literals.hpp"
#include "ir/text/printer.hpp"
#include "ir/text/reader.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {
namespace {

using namespace text_detail;  // NOLINT: the unit under test

std::string float_text(std::uint64_t bits, FloatFormat format) {
  base::Printer out;
  print_float(out, bits, format);
  return out.take();
}

TEST(Literals, Floats) {
  const std::pair<std::uint64_t, const char*> f32[] = {{0x00000000, "0.0"},
                                                       {0x80000000, "-0.0"},
                                                       {0x3f800000, "0x1.000000p0"},
                                                       {0xbfc00000, "-0x1.800000p0"},
                                                       {0x00000001, "0x0.000002p-126"},
                                                       {0x7f7fffff, "0x1.fffffep127"},
                                                       {0x7f800000, "+Inf"},
                                                       {0xff800000, "-Inf"},
                                                       {0x7fc00000, "+NaN"},
                                                       {0xffc00001, "-NaN:0x1"},
                                                       {0x7f800001, "+sNaN:0x1"}};
  for (const auto& [bits, text] : f32) {
    EXPECT_EQ(float_text(bits, kF32), text);
    EXPECT_EQ(parse_float(text, kF32), bits) << text;
  }
  EXPECT_EQ(float_text(0x4010000000000000, kF64), "0x1.0000000000000p2");
  EXPECT_EQ(parse_float("0x4.0p0", kF64), 0x4010000000000000u);
  EXPECT_EQ(parse_float("0x34.0p0", kF32), 0x42500000u);
  EXPECT_EQ(parse_float("0xf.f", kF32), 0x417f0000u);
  EXPECT_EQ(parse_float("0x1.0p-149", kF32), 1u);
  EXPECT_EQ(parse_float("0x0.00000000000000000000000000000000000008p0", kF32), 0x00000001u);
  for (const char* bad :
       {"", "1.5", "0x", "0x1.0000001p0", "0x1p128", "0x1p-150", "0x1.p", "NaN:0x400000",
        "sNaN:0x0", "0x1..0", "0x1p99999999999999999999", "-", "+"}) {
    EXPECT_FALSE(parse_float(bad, kF32)) << bad;
  }
}

TEST(Literals, RandomFloatsReadBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    ASSERT_EQ(parse_float(float_text(bits, kF64), kF64), bits);
    const std::uint64_t narrow = bits & 0xffff'ffff;
    ASSERT_EQ(parse_float(float_text(narrow, kF32), kF32), narrow);
    ASSERT_EQ(parse_float(float_text(bits & 0xffff, kF16), kF16), bits & 0xffff);
  }
}

TEST(Literals, Integers) {
  const auto text = [](std::int64_t value) {
    base::Printer out;
    print_imm64(out, value);
    return out.take();
  };
  EXPECT_EQ(text(9999), "9999");
  EXPECT_EQ(text(10000), "0x2710");
  EXPECT_EQ(text(-10001), "-10001");
  EXPECT_EQ(text(65536), "0x0001_0000");
  EXPECT_EQ(text(INT64_MAX), "0x7fff_ffff_ffff_ffff");
  EXPECT_EQ(parse_int("0x7fff_ffff_ffff_ffff")->in_bits(64), 0x7fffffffffffffffu);
  EXPECT_EQ(parse_int("-128")->in_bits(8), 0x80u);
  EXPECT_EQ(parse_int("255")->in_bits(8), 0xffu);
  EXPECT_FALSE(parse_int("256")->in_bits(8));
  EXPECT_FALSE(parse_int("-129")->in_bits(8));
  EXPECT_FALSE(parse_int("18446744073709551616"));
  EXPECT_FALSE(parse_int("0x"));
  EXPECT_FALSE(parse_int("12a"));
}

constexpr std::string_view kSample =
    R"(function u1:2(i64 vmctx, i32 sext, f32) -> i32 uext, f64 system_v {
    ss0 = explicit_slot 16, align = 8
    ss3 = explicit_slot 4, key = 99
    region0 = 7 "heap"
    gv0 = vmctx
    gv1 = load.i64 notrap aligned readonly region0 gv0+16
    gv2 = iadd_imm.i64 gv1, -32
    sig0 = (i64, i32) -> i32 fast
    sig1 = () tail
    fn0 = colocated u1:3 sig0
    fn2 = %CeilF32 sig1
    stack_limit = gv1

                                block0(v0: i64, v1: i32, v2: f32):
                                    v90 -> v1
@0010                               v3 = iconst.i32 -5
@0011                               v4, v5 = sadd_overflow v1, v3  ; v3 = -5
                                    v6 = load.i64 notrap aligned readonly can_move region0 v0+16
@1_0000                             store user3 little v4, v0-4
                                    brif v5, block1(v4, v2), block2

                                block1(v7: i32, v8: f32) cold:
                                    v9 = fcmp uge v8, v2
                                    trapnz v9, int_ovf
                                    v10 = f64const 0x1.8000000000000p1
                                    return v7, v10  ; v10 = 0x1.8000000000000p1

                                block2:
                                    v11 = func_addr.i64 fn0
                                    v12 = call_indirect sig0, v11(v6, v90)
                                    br_table v12, block2, [block2, block1(v12, v2)]
}
)";

TEST(Text, SampleReadsBackAsItself) {
  std::string sample(kSample);
  sample.replace(sample.find("@1_0000"), 7, "@10000 ");
  const Result<Function> func = parse_function(sample);
  ASSERT_TRUE(func) << func.error().message() << " at " << func.error().line() << ":"
                    << func.error().column();
  // Aliases print as what they stand for only once resolved; here they stay.
  EXPECT_EQ(to_string(*func), sample);
}

TEST(Text, Errors) {
  struct Case {
    const char* text;
    std::uint32_t line, column;
    const char* message;
  };
  const Case cases[] = {
      {"function %f() {\nblock0:\n  v0 = iadd v1, v1\n}", 3, 8, "the type of the operand"},
      {"function %f() {\nblock0:\n  v0 = iadd.i32 v1, v1\n}", 3, 17, "undefined value v1"},
      {"function %f() {\nblock0:\n  v0 = iconst.i8 256\n}", 3, 18, "expected an integer of 8 bits"},
      {"function %f() {\nblock0:\n  v0 = iconst 1\n}", 3, 8, "needs a type suffix"},
      {"function %f() {\nblock0:\n  jump.i32 block0\n}", 3, 3, "takes no type suffix"},
      {"function %f() {\nblock0:\n  foo v1\n}", 3, 3, "expected an opcode, found \"foo\""},
      {"function %f() {\nblock0:\nblock0:\n}", 3, 1, "duplicate block"},
      {"function %f(i32) {\nblock0(v0: i32):\n  v0 = iconst.i32 1\n}", 3, 3,
       "duplicate definition"},
      {"function %f() {\nblock100000:\n}", 2, 1, "below 100000"},
      {"function %f() {\nblock01:\n}", 2, 1, "expected a declaration or a block"},
      {"function %f() {\nblock0:\n  call fn0()\n}", 3, 8, "undeclared function fn0"},
      {"function %f() {\n  ss0 = explicit_slot 4, align = 3\n}", 2, 34, "power of two"},
      {"function %f() {\n  region1 = 1 \"x\"\n}", 2, 3, "declared in order"},
      {"function %f() {\nblock0:\n  v1 -> v2\n}", 3, 9, "defined before"},
      {"function %f() {\nblock0:\n  v1, v2 = iconst.i32 1\n}", 3, 12, "has 1 results, found 2"},
      {"function %f() {\nblock0:\n  store little big v0, v1\n}", 3, 16, "not both"},
      {"function %f", 1, 12, "expected \"(\""},
      {"function %f() {\nblock0:", 2, 8, "expected"},
      {"tests run", 1, 1, "expected a test"},
      {"test", 1, 1, "names its command"},
  };
  for (const Case& c : cases) {
    const Result<ParsedFile> file = parse_file(c.text);
    ASSERT_FALSE(file) << c.text;
    EXPECT_EQ(file.error().kind(), ErrorKind::Malformed) << c.text;
    EXPECT_NE(file.error().message().find(c.message), std::string::npos) << c.text << "\n"
                                                                         << file.error().message();
    EXPECT_EQ(file.error().line(), c.line) << c.text;
    EXPECT_EQ(file.error().column(), c.column) << c.text;
  }
}

TEST(Text, UnsupportedFunctionsAreSkipped) {
  const Result<ParsedFile> file = parse_file(
      "test cat\nfunction %a() {\nblock0:\n v0 = vconst.i32x4 [1 2 3 4]\n return\n}\n; run\n"
      "function %b() {\nblock0:\n return\n}\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->functions.size(), 2u);
  ASSERT_TRUE(file->functions[0].unsupported);
  EXPECT_EQ(file->functions[0].unsupported->message(), "unsupported: opcode vconst");
  EXPECT_EQ(file->functions[0].comments.back().text, "; run");
  EXPECT_FALSE(file->functions[1].unsupported);
}

/// Whatever the text, reading ends, and what reads also verifies or not, prints and reads again.
void survive(std::string_view text) {
  const Result<ParsedFile> file = parse_file(text);
  if (!file) return;
  Verifier verifier;
  for (const ParsedFunction& function : file->functions) {
    if (function.unsupported) continue;
    verifier.run(function.func);
    const std::string printed = to_string(function.func);
    const Result<Function> again = parse_function(printed);
    ASSERT_TRUE(again) << again.error().message() << "\n" << printed;
    ASSERT_EQ(to_string(*again), printed);
  }
}

TEST(Text, PrefixesAndMutations) {
  for (std::size_t length = 0; length <= kSample.size(); ++length)
    survive(kSample.substr(0, length));
  std::mt19937 random(4);
  constexpr std::string_view kBytes = "v0123456789,.()[]{}:=->+@;% \n\"abfinsx_";
  for (int round = 0; round < 3000; ++round) {
    std::string text(kSample);
    for (auto flips = 1 + random() % 3; flips-- > 0;) {
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    survive(text);
    if (HasFatalFailure()) return;
  }
}

TEST(Text, SuiteFilesReadBack) {
  // Beside the source tree: <root>/src/ir/text/text_test.cpp
  namespace fs = std::filesystem;
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  const char* given = std::getenv("HOIST_SUITES");
  const fs::path suites = given != nullptr ? fs::path(given) : root.parent_path() / "shared/suites";
  const fs::path suite = suites / "clif";
  if (!fs::is_directory(suite)) GTEST_SKIP() << "no files under " << suite << ": set HOIST_SUITES";
  std::size_t functions = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(suite)) {
    if (entry.path().extension() != ".clif") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    const Result<ParsedFile> file = parse_file(text.str());
    ASSERT_TRUE(file) << entry.path() << ": " << file.error().line() << ": "
                      << file.error().message();
    functions += file->functions.size();
    survive(text.str());
    ASSERT_FALSE(HasFatalFailure()) << entry.path();
  }
  EXPECT_GT(functions, 1000u);
}

}  // namespace
}  // namespace hoist::ir
