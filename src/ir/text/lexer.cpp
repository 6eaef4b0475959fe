// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/text/lexer.hpp"

namespace hoist::ir::text_detail {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

std::string_view Lexer::take_while(bool (*accept)(char)) {
  const std::size_t start = at_;
  while (at_ < text_.size() && accept(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

void Lexer::skip_space_and_comments() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    } else if (c == ';') {
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      comments_.push_back({text_.substr(start, at_ - start), line_});
      --at_;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

void Lexer::advance() {
  skip_space_and_comments();
  token_.line = line_;
  token_.column = static_cast<std::uint32_t>(at_ - line_start_ + 1);
  if (at_ == text_.size()) {
    token_.kind = TokenKind::Eof;
    token_.text = {};
    return;
  }
  const std::size_t start = at_;
  const char c = text_[at_];
  const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (is_digit(c) || ((c == '-' || c == '+') && is_word_char(next))) {
    ++at_;
    take_while([](char d) { return is_word_char(d) || d == '.'; });
    if (text_.substr(start, at_ - start).ends_with("NaN") && at_ < text_.size() &&
        text_[at_] == ':') {
      ++at_;
      take_while(is_word_char);
    }
    token_.kind = TokenKind::Number;
    token_.text = text_.substr(start, at_ - start);
    // An exponent's sign: "0x1.8p-3".
    if (token_.text.ends_with('p') && at_ < text_.size() &&
        (text_[at_] == '-' || text_[at_] == '+')) {
      ++at_;
      take_while(is_digit);
      token_.text = text_.substr(start, at_ - start);
    }
    return;
  }
  if (is_word_char(c)) {
    token_.kind = TokenKind::Word;
    token_.text = take_while(is_word_char);
    return;
  }
  if (c == '%') {
    ++at_;
    token_.kind = TokenKind::Name;
    token_.text = take_while(is_word_char);
    return;
  }
  if (c == '"') {
    ++at_;
    token_.text = take_while([](char d) { return d != '"' && d != '\n'; });
    if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
      token_.kind = TokenKind::String;
    } else {
      token_.kind = TokenKind::Punct;
      token_.text = text_.substr(start, 1);
    }
    return;
  }
  if (c == '-' && next == '>') {
    at_ += 2;
    token_.kind = TokenKind::Arrow;
  } else {
    ++at_;
    token_.kind = TokenKind::Punct;
  }
  token_.text = text_.substr(start, at_ - start);
}

std::string_view Lexer::take_line() {
  // The current token is already consumed: start over at its beginning.
  const std::size_t start = line_start_ + token_.column - 1;
  std::size_t end = start;
  if (token_.kind == TokenKind::Eof || token_.line != line_) return {};
  while (end < text_.size() && text_[end] != '\n' && text_[end] != ';') ++end;
  at_ = end;
  advance();
  std::string_view line = text_.substr(start, end - start);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  return line;
}

std::string_view Lexer::take_hex_run() {
  at_ = line_start_ + token_.column;  // after '@', which is one byte
  const std::string_view run = take_while(is_word_char);
  advance();
  return run;
}

}  // namespace hoist::ir::text_detail
