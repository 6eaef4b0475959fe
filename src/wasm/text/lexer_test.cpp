// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/lexer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hoist::wasm {
namespace {

/// Kinds of the tokens of `text`, one letter each.
std::string kinds(std::string_view text) {
  std::string out;
  for (const Token& token : lex(text).tokens)
    out.push_back("()knifs$re."[static_cast<int>(token.kind)]);
  return out;
}

TEST(Lexer, TokensAreTheLongestRuns) {
  EXPECT_EQ(kinds("(module)"), "(k).");
  EXPECT_EQ(kinds("a b"), "kk.");
  EXPECT_EQ(kinds("1 -1 1.5 inf +inf nan:0x1 -nan:0x1"), "nifkfkf.");
  EXPECT_EQ(kinds("$a $\"b c\" \"d\""), "$$s.");
  EXPECT_EQ(kinds("\"a\"\"b\""), "r.");
  EXPECT_EQ(kinds("a\"b\""), "r.");
  EXPECT_EQ(kinds("$a\"b\""), "r.");
  EXPECT_EQ(kinds("a,b ; ]"), "rrr.");
  EXPECT_EQ(kinds("0x 1_ Abc #"), "rrrr.");
  EXPECT_EQ(kinds("a;;b\nc"), "kk.");
  EXPECT_EQ(kinds("a(;b;)c"), "kk.");
  EXPECT_EQ(kinds("a(@b (c) \")\" ;; )\n)d"), "kk.");
  EXPECT_EQ(kinds("offset=1"), "k.");
}

TEST(Lexer, ErrorsAreTokens) {
  EXPECT_EQ(kinds("a \x01 b"), "kek.");
  EXPECT_EQ(kinds("a \xc3\xa4 b"), "kek.");
  EXPECT_EQ(kinds("\"a\n b"), "ek.");
  EXPECT_EQ(kinds("(; a"), "e.");
  EXPECT_EQ(kinds("$ a"), "ek.");
  EXPECT_EQ(lex("\xc3\xa4").tokens[0].error, LexError::IllegalCharacter);
  EXPECT_EQ(lex("\xc3").tokens[0].error, LexError::MalformedUtf8);
  EXPECT_EQ(lex("\"\xed\xa0\x80\"").tokens[0].error, LexError::MalformedUtf8);
  EXPECT_EQ(lex("\"\xf0\x9f\x98\x80\"").tokens[0].kind, TokenKind::String);
}

TEST(Lexer, ParenthesesKnowTheirPartner) {
  const TokenStream stream = lex("(a (b) (c");
  EXPECT_EQ(stream.tokens[2].match, 4u);
  EXPECT_EQ(stream.tokens[0].match, 7u);  // the end
  EXPECT_EQ(stream.tokens[5].match, 7u);
}

TEST(Lexer, AnnotationsAreNoted) {
  const TokenStream stream = lex("(@a x) b (@\"c d\" (e)) f");
  ASSERT_EQ(stream.annotations.size(), 2u);
  EXPECT_EQ(stream.annotations[0].id, "a");
  EXPECT_EQ(stream.annotations[0].before, 0u);
  EXPECT_EQ(stream.annotations[1].id, "c d");
  EXPECT_EQ(stream.annotations[1].before, 1u);
  EXPECT_EQ(stream.source.substr(stream.annotations[1].content,
                                 stream.annotations[1].end - stream.annotations[1].content),
            " (e)");
}

TEST(Lexer, PositionsCountFromOne) {
  const TokenStream stream = lex("a\n  b\r\nc");
  EXPECT_EQ(stream.position(stream.tokens[1].offset).line, 2u);
  EXPECT_EQ(stream.position(stream.tokens[1].offset).column, 3u);
  EXPECT_EQ(stream.position(stream.tokens[2].offset).line, 3u);
}

TEST(Lexer, StringsAreDecoded) {
  std::string out;
  decode_string(R"("\t\n\r\"\'\\\00\fF\u{1F_600}x")", out);
  EXPECT_EQ(out, std::string("\t\n\r\"'\\\0\xff\xf0\x9f\x98\x80x", 13));
  EXPECT_EQ(identifier_name("$ab"), "ab");
  EXPECT_EQ(identifier_name(R"($"a\20b")"), "a b");
}

}  // namespace
}  // namespace hoist::wasm
