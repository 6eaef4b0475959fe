// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/numbers.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace hoist::wasm {
namespace {

std::string f32_hex(std::string_view text) {
  const auto number = parse_f32(text);
  if (number.status == NumberStatus::Malformed) return "malformed";
  if (number.status == NumberStatus::OutOfRange) return "range";
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%08x", number.bits);
  return buffer;
}

std::string f64_hex(std::string_view text) {
  const auto number = parse_f64(text);
  if (number.status == NumberStatus::Malformed) return "malformed";
  if (number.status == NumberStatus::OutOfRange) return "range";
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(number.bits));
  return buffer;
}

TEST(Numbers, ClassifyFollowsTheGrammar) {
  for (const char* text : {"0", "1_000", "0x1_f", "123"}) {
    EXPECT_EQ(classify_number(text), TokenKind::Nat) << text;
  }
  for (const char* text : {"+0", "-1", "+0xff"}) {
    EXPECT_EQ(classify_number(text), TokenKind::Int) << text;
  }
  for (const char* text : {"1.", "1.5", "1e5", "1.e+5", "0x1p3", "0x1.8p-3", "0x.", "+inf", "-nan",
                           "nan:0x1", "-nan:0x1_2", "1_0.0_1e1_0"}) {
    const bool bad = std::string_view(text) == "0x.";
    EXPECT_EQ(classify_number(text), bad ? TokenKind::Reserved : TokenKind::Float) << text;
  }
  for (const char* text : {"0x", "_1", "1_", "1__0", "1_.0", "1._0", "1e", "1e+", "1e_1", "0x1p",
                           "0xg", "1a", "+", "-", "1.5p3", "nan:1", "nan:0x", "0x1p0x1", "1e1_"}) {
    EXPECT_EQ(classify_number(text), TokenKind::Reserved) << text;
  }
}

TEST(Numbers, IntegersWithinTheirWidth) {
  EXPECT_EQ(parse_int("0xffff_ffff", 32).bits, 0xffffffffu);
  EXPECT_EQ(parse_int("-1", 32).bits, 0xffffffffu);
  EXPECT_EQ(parse_int("-0x8000_0000", 32).bits, 0x80000000u);
  EXPECT_EQ(parse_int("-2147483649", 32).status, NumberStatus::OutOfRange);
  EXPECT_EQ(parse_int("4294967296", 32).status, NumberStatus::OutOfRange);
  EXPECT_EQ(parse_int("18446744073709551615", 64).bits, ~std::uint64_t{0});
  EXPECT_EQ(parse_int("18446744073709551616", 64).status, NumberStatus::OutOfRange);
  EXPECT_EQ(parse_int("-9223372036854775808", 64).bits, std::uint64_t{1} << 63);
  EXPECT_EQ(parse_int("-9223372036854775809", 64).status, NumberStatus::OutOfRange);
  EXPECT_EQ(parse_int("255", 8).bits, 255u);
  EXPECT_EQ(parse_int("-128", 8).bits, 0x80u);
  EXPECT_EQ(parse_int("256", 8).status, NumberStatus::OutOfRange);
  EXPECT_EQ(parse_int("-32769", 16).status, NumberStatus::OutOfRange);
  EXPECT_EQ(parse_nat("+1").status, NumberStatus::Malformed);
}

TEST(Numbers, SpecialFloats) {
  EXPECT_EQ(f32_hex("inf"), "7f800000");
  EXPECT_EQ(f32_hex("-inf"), "ff800000");
  EXPECT_EQ(f32_hex("nan"), "7fc00000");
  EXPECT_EQ(f32_hex("-nan"), "ffc00000");
  EXPECT_EQ(f32_hex("nan:0x7f_ffff"), "7fffffff");
  EXPECT_EQ(f32_hex("nan:0x20_0000"), "7fa00000");
  EXPECT_EQ(f32_hex("nan:0x80_0000"), "range");
  EXPECT_EQ(f32_hex("nan:0x0"), "range");
  EXPECT_EQ(f64_hex("nan:0xf_ffff_ffff_ffff"), "7fffffffffffffff");
  EXPECT_EQ(f64_hex("nan:0x10_0000_0000_0000"), "range");
  EXPECT_EQ(f64_hex("-0"), "8000000000000000");
  EXPECT_EQ(f32_hex("-0x0p-99999999999999999999"), "80000000");
}

TEST(Numbers, RoundsToNearestEvenInItsOwnWidth) {
  EXPECT_EQ(f32_hex("0x1.000001p0"), "3f800000");             // tie to even
  EXPECT_EQ(f32_hex("0x1.000003p0"), "3f800002");             // tie to even, up
  EXPECT_EQ(f32_hex("0x1.00000100000000001p0"), "3f800001");  // sticky
  EXPECT_EQ(f32_hex("0x1.fffffep127"), "7f7fffff");
  EXPECT_EQ(f32_hex("0x1.ffffff0p127"), "range");
  EXPECT_EQ(f32_hex("0x1.fffffefffffff8p127"), "7f7fffff");
  EXPECT_EQ(f32_hex("0x1p-149"), "00000001");
  EXPECT_EQ(f32_hex("0x1p-150"), "00000000");
  EXPECT_EQ(f32_hex("0x1.00000000000000000001p-150"), "00000001");
  EXPECT_EQ(f32_hex("0x0.fffffffp-126"), "00800000");  // rounds up into the normal numbers
  EXPECT_EQ(f32_hex("0x3p-150"), "00000002");
  EXPECT_EQ(f64_hex("0x1.00000000000008p0"), "3ff0000000000000");
  EXPECT_EQ(f64_hex("0x1.000000000000080001p0"), "3ff0000000000001");
  EXPECT_EQ(f64_hex("0x1p-1074"), "0000000000000001");
  EXPECT_EQ(f64_hex("0x1p-1075"), "0000000000000000");
  EXPECT_EQ(f64_hex("0x1p1024"), "range");
  // Through double this one would round twice.
  EXPECT_EQ(f32_hex("1.00000017881393432617187499"), "3f800001");
  EXPECT_EQ(f32_hex("1.000000178813934326171875"), "3f800002");
  EXPECT_EQ(f32_hex("1.00000017881393432617187501"), "3f800002");
}

TEST(Numbers, DecimalEdges) {
  EXPECT_EQ(f32_hex("3.4028234663852886e38"), "7f7fffff");
  EXPECT_EQ(f32_hex("3.4028235677973367e38"), "range");
  EXPECT_EQ(f32_hex("340282356779733661637539395458142568447"), "7f7fffff");
  EXPECT_EQ(f32_hex("340282356779733661637539395458142568448"), "range");
  EXPECT_EQ(f32_hex("1e-46"), "00000000");
  EXPECT_EQ(f32_hex("7.006492321624085e-46"), "00000000");
  EXPECT_EQ(f32_hex("7.006492321624086e-46"), "00000001");
  EXPECT_EQ(f64_hex("4.9e-324"), "0000000000000001");
  EXPECT_EQ(f64_hex("2.4703282292062327e-324"), "0000000000000000");
  EXPECT_EQ(f64_hex("2.4703282292062328e-324"), "0000000000000001");
  EXPECT_EQ(f64_hex("1e-400"), "0000000000000000");
  EXPECT_EQ(f64_hex("-1e-99999999999999999999"), "8000000000000000");
  EXPECT_EQ(f64_hex("1e400"), "range");
  EXPECT_EQ(f64_hex("1e99999999999999999999"), "range");
  EXPECT_EQ(f64_hex("0e99999999999999999999"), "0000000000000000");
  EXPECT_EQ(f64_hex("2.2250738585072012e-308"), "0010000000000000");
  EXPECT_EQ(f64_hex("2.2250738585072011e-308"), "000fffffffffffff");
  EXPECT_EQ(f64_hex("1_0.0_1e1"), "4059066666666666");
  EXPECT_EQ(f64_hex("0." + std::string(400, '0') + "1e400"), "3fb999999999999a");
  EXPECT_EQ(f64_hex("1" + std::string(400, '0') + "e-400"), "3ff0000000000000");
  EXPECT_EQ(f64_hex("0x" + std::string(400, '0') + ".8p0"), "3fe0000000000000");
}

TEST(Numbers, AgreesWithTheLibraryOnManyHexFloats) {
  std::uint64_t state = 88172645463325252u;
  for (int i = 0; i < 20000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    char text[64];
    std::snprintf(text, sizeof text, "0x%llx.%llxp%d", static_cast<unsigned long long>(state >> 40),
                  static_cast<unsigned long long>(state & 0xffffffffff),
                  static_cast<int>(state % 240) - 190);
    EXPECT_EQ(parse_f64(text).bits, std::bit_cast<std::uint64_t>(std::strtod(text, nullptr)))
        << text;
    const float narrow = std::strtof(text, nullptr);
    if (std::bit_cast<std::uint32_t>(narrow) == 0x7f800000) continue;
    EXPECT_EQ(parse_f32(text).bits, std::bit_cast<std::uint32_t>(narrow)) << text;
  }
}

}  // namespace
}  // namespace hoist::wasm
