// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The tokens of WebAssembly text (modules and scripts).
///
/// Assumes nothing about its input: any bytes give a token stream. What is not a token becomes a
/// token of kind Error, so that a script can go on behind it; the parsers report it when they reach
/// it. Comments and annotations are white space; annotations are noted beside the stream.
/// Source: WebAssembly core specification 3.0, section 6.3 "Lexical Format".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hoist::wasm {

enum class TokenKind : std::uint8_t {
  LParen,
  RParen,
  Keyword,   ///< starts with a lower-case letter; includes inf, nan and nan:0x1
  Nat,       ///< an unsigned integer
  Int,       ///< an integer with a sign
  Float,     ///< any other number
  String,    ///< with its quotes
  Id,        ///< $name or $"name"
  Reserved,  ///< the shape of a token, but none that the grammar uses
  Error,     ///< not a token: `Token::error` says why
  End,       ///< one at the end of the stream
};

enum class LexError : std::uint8_t {
  None,
  IllegalCharacter,
  ByteOrderMark,  ///< an illegal character that editors of some systems put in front
  MalformedUtf8,
  UnclosedComment,
  UnclosedString,
  IllegalEscape,
  ControlInString,
  EmptyIdentifier,
  EmptyAnnotation,
  BrokenIdentifier,  ///< the string of $"…" is not closed
  BrokenAnnotationId,
  UnclosedAnnotation,
  SourceTooLarge,
};
const char* to_string(LexError error);

struct Token {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  /// LParen: index of its RParen, or of the End token where that is missing.
  std::uint32_t match = 0;
  TokenKind kind = TokenKind::End;
  LexError error = LexError::None;
  bool escaped = false;  ///< String, Id: contains escapes or quotes, so the value is not the text
};

/// `(@id ...)` in front of token `before`.
struct Annotation {
  std::uint32_t before = 0;   ///< index of the next token
  std::uint32_t offset = 0;   ///< of its "("
  std::uint32_t content = 0;  ///< offset behind the id
  std::uint32_t end = 0;      ///< offset of its ")"
  std::string id;
};

struct TextPosition {
  std::uint32_t line = 1;
  std::uint32_t column = 1;  ///< in bytes
};

/// The tokens of one text. Keeps a view of the source, which must outlive it.
class TokenStream {
 public:
  std::string_view source;
  std::vector<Token> tokens;  ///< the last one is End
  std::vector<Annotation> annotations;
  std::vector<std::uint32_t> line_starts;

  std::string_view text(const Token& token) const {
    return source.substr(token.offset, token.length);
  }
  TextPosition position(std::uint32_t offset) const;
  /// An Error of kind Malformed at `token`; the message of an Error token is the lexer's.
  Error error_at(const Token& token, std::string message) const;
  /// "unknown operator X": it is no word of the language.
  Error unknown_operator(const Token& token) const;
  /// "unexpected token", naming what was found and what was wanted.
  Error unexpected(const Token& token, std::string_view wanted) const;
  /// The token as a message shows it: shortened, printable.
  std::string shown(const Token& token) const;
};

/// Splits `source` into tokens. Never fails: see TokenStream.
TokenStream lex(std::string_view source);

/// Appends the bytes that a String token (with quotes) or the string of an Id means.
void decode_string(std::string_view quoted, std::string& out);
/// The name of an Id token without "$".
std::string identifier_name(std::string_view text);

/// Whether `bytes` is UTF-8 without surrogates and overlong forms.
bool is_valid_utf8(std::string_view bytes);

}  // namespace hoist::wasm
