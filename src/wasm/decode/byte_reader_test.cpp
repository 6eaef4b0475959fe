// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/byte_reader.hpp"

#include <gtest/gtest.h>

#include "wasm/decode/test_module.hpp"

namespace hoist::wasm {
namespace {

using test::hex;

enum class Kind { U32, U64, S32, S33, S64 };

/// The value in decimal, or the error's message.
std::string read(Kind kind, std::string_view text) {
  const test::Bytes bytes = hex(text);
  ByteReader in(bytes);
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  std::int32_t s32 = 0;
  std::int64_t s64 = 0;
  switch (kind) {
    case Kind::U32: return in.u32(u32) ? std::to_string(u32) : in.error().message();
    case Kind::U64: return in.u64(u64) ? std::to_string(u64) : in.error().message();
    case Kind::S32: return in.s32(s32) ? std::to_string(s32) : in.error().message();
    case Kind::S33: return in.s33(s64) ? std::to_string(s64) : in.error().message();
    case Kind::S64: return in.s64(s64) ? std::to_string(s64) : in.error().message();
  }
  return "";
}

TEST(ByteReader, Unsigned32) {
  EXPECT_EQ(read(Kind::U32, "00"), "0");
  EXPECT_EQ(read(Kind::U32, "7f"), "127");
  EXPECT_EQ(read(Kind::U32, "80 01"), "128");
  EXPECT_EQ(read(Kind::U32, "ff ff ff ff 0f"), "4294967295");
  EXPECT_EQ(read(Kind::U32, "83 80 80 80 00"), "3");
  EXPECT_EQ(read(Kind::U32, "83 80 80 80 80 00"), "integer representation too long");
  EXPECT_EQ(read(Kind::U32, "83 80 80 80 10"), "integer too large");
  EXPECT_EQ(read(Kind::U32, "83 80 80 80 70"), "integer too large");
  EXPECT_EQ(read(Kind::U32, "83 80"), "unexpected end");
  EXPECT_EQ(read(Kind::U32, ""), "unexpected end");
}

TEST(ByteReader, Unsigned64) {
  EXPECT_EQ(read(Kind::U64, "ff ff ff ff ff ff ff ff ff 01"), "18446744073709551615");
  EXPECT_EQ(read(Kind::U64, "ff ff ff ff ff ff ff ff ff 02"), "integer too large");
  EXPECT_EQ(read(Kind::U64, "82 80 80 80 80 80 80 80 80 80 00"), "integer representation too long");
}

TEST(ByteReader, Signed32) {
  EXPECT_EQ(read(Kind::S32, "7f"), "-1");
  EXPECT_EQ(read(Kind::S32, "3f"), "63");
  EXPECT_EQ(read(Kind::S32, "80 80 80 80 78"), "-2147483648");
  EXPECT_EQ(read(Kind::S32, "ff ff ff ff 07"), "2147483647");
  EXPECT_EQ(read(Kind::S32, "ff ff ff ff 7f"), "-1");
  EXPECT_EQ(read(Kind::S32, "ff ff ff ff 0f"), "integer too large");
  EXPECT_EQ(read(Kind::S32, "80 80 80 80 70"), "integer too large");
  EXPECT_EQ(read(Kind::S32, "80 80 80 80 10"), "integer too large");
  EXPECT_EQ(read(Kind::S32, "80 80 80 80 80 00"), "integer representation too long");
}

TEST(ByteReader, Signed33And64) {
  EXPECT_EQ(read(Kind::S33, "40"), "-64");
  EXPECT_EQ(read(Kind::S33, "ff ff ff ff 0f"), "4294967295");
  EXPECT_EQ(read(Kind::S33, "ff ff ff ff 1f"), "integer too large");
  EXPECT_EQ(read(Kind::S33, "80 80 80 80 70"), "-4294967296");
  EXPECT_EQ(read(Kind::S64, "80 80 80 80 80 80 80 80 80 7f"), "-9223372036854775808");
  EXPECT_EQ(read(Kind::S64, "ff ff ff ff ff ff ff ff ff 00"), "9223372036854775807");
  EXPECT_EQ(read(Kind::S64, "ff ff ff ff ff ff ff ff ff 01"), "integer too large");
  EXPECT_EQ(read(Kind::S64, "80 80 80 80 80 80 80 80 80 80 00"), "integer representation too long");
}

TEST(ByteReader, FaultsNameTheStartOfTheField) {
  const test::Bytes bytes = hex("01 80 80 80 80 80 00");
  ByteReader in(bytes);
  std::uint32_t value = 0;
  ASSERT_TRUE(in.u32(value));
  ASSERT_FALSE(in.u32(value));
  EXPECT_EQ(in.error().offset(), 1u);
}

TEST(ByteReader, PartsEndWithTheirOwnMessage) {
  const test::Bytes bytes = hex("01 02 03 04");
  ByteReader in(bytes, 1, 2);
  std::uint8_t byte = 0;
  ASSERT_TRUE(in.u8(byte));
  EXPECT_EQ(byte, 2);
  ASSERT_FALSE(in.u8(byte));
  EXPECT_EQ(in.error().message(), "unexpected end of section or function");
  EXPECT_EQ(in.error().offset(), 2u);
}

TEST(ByteReader, Names) {
  const test::Bytes good = hex("03 e2 82 ac");
  ByteReader in(good);
  std::string_view name;
  ASSERT_TRUE(in.name(name));
  EXPECT_EQ(name, "\xe2\x82\xac");
  const test::Bytes bad = hex("02 c0 80");
  ByteReader in_bad(bad);
  ASSERT_FALSE(in_bad.name(name));
  EXPECT_EQ(in_bad.error().message(), "malformed UTF-8 encoding");
  const test::Bytes cut = hex("05 'abc'");
  ByteReader in_cut(cut);
  ASSERT_FALSE(in_cut.name(name));
  EXPECT_EQ(in_cut.error().message(), "length out of bounds");
}

TEST(ByteReader, Utf8) {
  for (const char* good : {"", "'abc'", "c2 80", "df bf", "e0 a0 80", "ed 9f bf", "ee 80 80",
                           "f0 90 80 80", "f4 8f bf bf"}) {
    EXPECT_TRUE(is_utf8(hex(good))) << good;
  }
  for (const char* bad :
       {"80", "bf", "c1 bf", "c2", "c2 00", "e0 9f bf", "e0 a0", "ed a0 80", "ed bf bf",
        "f0 8f bf bf", "f0 90 80", "f4 90 80 80", "f5 80 80 80", "fe", "e1 80 c0", "f1 80 80 00"}) {
    EXPECT_FALSE(is_utf8(hex(bad))) << bad;
  }
}

}  // namespace
}  // namespace hoist::wasm
