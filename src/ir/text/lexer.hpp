// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Tokens of CLIF text. Any byte sequence lexes; what makes no sense is a Punct for the parser to
/// refuse. Comments are set aside for the entity that precedes them.

#include <cstdint>
#include <string_view>
#include <vector>

namespace hoist::ir::text_detail {

enum class TokenKind : std::uint8_t {
  Eof,
  Word,    // block0, i32, iadd
  Name,    // %name; the text is without '%'
  Number,  // 12, -0x1.8p3, +NaN:0x1
  String,  // "text"; the text is without quotes
  Arrow,   // ->
  Punct    // any other single byte
};

struct Token {
  TokenKind kind = TokenKind::Eof;
  std::string_view text;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  bool is(char punct) const { return kind == TokenKind::Punct && text[0] == punct; }
  bool is_word(std::string_view word) const { return kind == TokenKind::Word && text == word; }
};

struct LexedComment {
  std::string_view text;  // from ';' to the end of the line
  std::uint32_t line;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  /// The current token.
  const Token& peek() const { return token_; }
  void advance();
  /// The rest of the current token's line, comments excluded; the token after it becomes current.
  std::string_view take_line();
  /// At '@': the hexadecimal digits after it, whatever they would lex as; then advances.
  std::string_view take_hex_run();

  /// Comments passed since the last call.
  std::vector<LexedComment>& comments() { return comments_; }

 private:
  void skip_space_and_comments();
  std::string_view take_while(bool (*accept)(char));

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_start_ = 0;
  Token token_;
  std::vector<LexedComment> comments_;
};

}  // namespace hoist::ir::text_detail
