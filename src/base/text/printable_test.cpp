// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text/printable.hpp"

#include <gtest/gtest.h>

namespace hoist::base {
namespace {

TEST(Printable, PlainTextStays) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("a.wasm: 'x' \\n"), "a.wasm: 'x' \\n");
  EXPECT_EQ(printable("h\xc3\xa4\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80"),
            "h\xc3\xa4\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(Printable, ControlsAreShown) {
  EXPECT_EQ(printable("a\n\x1b[31m\x7f"), "a\\x0a\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\x85"),
            "\\u{9b}31m\\u{85}")
      << "C1";
  EXPECT_EQ(printable("\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6"), "\\u{202e}\\u{2028}\\u{2066}");
}

TEST(Printable, SpacesWithoutWidthAreShown) {
  EXPECT_EQ(printable("a\u200bb"), "a\\u{200b}b");
  EXPECT_EQ(printable("\ufeff"), "\\u{feff}");
}

TEST(Printable, BytesThatAreNotUtf8AreShown) {
  EXPECT_EQ(printable("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "surrogate";
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut";
}

TEST(Printable, LongTextIsCut) {
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("\xe2\x82\xac\xe2\x82\xac", 1), "\xe2\x82\xac...");
}

}  // namespace
}  // namespace hoist::base
