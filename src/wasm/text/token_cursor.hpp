// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A place in a token stream, and the first error met. What the module and the script parser share.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wasm/text/lexer.hpp"

namespace hoist::wasm {

/// Parsing functions of its subclasses return false once `error` is set; only the first is kept.
class TokenCursor {
 public:
  TokenCursor(const TokenStream& stream, std::uint32_t begin, std::uint32_t end)
      : stream_(stream), at_(begin), end_(end) {}

  const TokenStream& stream() const { return stream_; }
  bool failed() const { return error_.has_value(); }
  Error take_error() { return std::move(*error_); }

 protected:
  const Token& peek(std::uint32_t ahead = 0) const {
    const std::size_t index = std::size_t{at_} + ahead;
    return index < stream_.tokens.size() ? stream_.tokens[index] : stream_.tokens.back();
  }
  const Token& next() {
    const Token& token = peek();
    if (at_ + 1 < stream_.tokens.size()) ++at_;
    return token;
  }
  bool at_kind(TokenKind kind) const { return peek().kind == kind; }
  std::string_view text_of(const Token& token) const { return stream_.text(token); }
  bool is_keyword(const Token& token, std::string_view word) const {
    return token.kind == TokenKind::Keyword && text_of(token) == word;
  }
  bool at_keyword(std::string_view word) const { return is_keyword(peek(), word); }
  /// At "(" `word`.
  bool at_list(std::string_view word) const {
    return at_kind(TokenKind::LParen) && is_keyword(peek(1), word);
  }
  bool accept_keyword(std::string_view word) {
    if (!at_keyword(word)) return false;
    next();
    return true;
  }
  bool accept_list(std::string_view word) {
    if (!at_list(word)) return false;
    next();
    next();
    return true;
  }
  bool expect_close() {
    if (!at_kind(TokenKind::RParen)) return fail_unexpected(")");
    next();
    return true;
  }
  /// Behind the ")" that belongs to the "(" here.
  void skip_list() {
    at_ = peek().match;
    next();
  }

  bool fail(const Token& token, std::string message) {
    if (!error_) error_ = stream_.error_at(token, std::move(message));
    return false;
  }
  bool fail_unknown(const Token& token) {
    if (!error_) error_ = stream_.unknown_operator(token);
    return false;
  }
  bool fail_unexpected(std::string_view wanted) {
    if (!error_) error_ = stream_.unexpected(peek(), wanted);
    return false;
  }
  /// The text is right, but uses what this build does not have.
  bool fail_unsupported(const Token& token, std::string_view feature) {
    if (error_) return false;
    const TextPosition at = stream_.position(token.offset);
    error_ =
        Error(ErrorKind::Unsupported, "unsupported feature: " + std::string(feature), token.offset);
    error_->at_line(at.line, at.column);
    return false;
  }

  const TokenStream& stream_;
  std::uint32_t at_;
  std::uint32_t end_;  ///< index of the token where the text of interest ends
  std::optional<Error> error_;
};

}  // namespace hoist::wasm
