// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/lexer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "wasm/text/numbers.hpp"

namespace hoist::wasm {

namespace {

enum CharClass : std::uint8_t { kIllegal, kSpace, kIdChar, kPunctuation, kQuote, kLeft, kRight };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (const char c : std::string_view(" \t\n\r")) classes[static_cast<unsigned char>(c)] = kSpace;
  for (unsigned c = 0x21; c < 0x7f; ++c) classes[c] = kIdChar;
  for (const char c : std::string_view(",;[]{}"))
    classes[static_cast<unsigned char>(c)] = kPunctuation;
  classes['"'] = kQuote;
  classes['('] = kLeft;
  classes[')'] = kRight;
  return classes;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

std::uint8_t class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Length of the UTF-8 sequence at `at`, or 0 if it is malformed.
std::size_t utf8_length(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < s.size() ? static_cast<unsigned>(static_cast<unsigned char>(s[i])) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(at + 1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned second = byte(at + 1);
    if (first == 0xe0 && second < 0xa0) return 0;  // overlong
    if (first == 0xed && second > 0x9f) return 0;  // surrogate
    return continues(at + 1) && continues(at + 2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned second = byte(at + 1);
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second > 0x8f) return 0;  // above U+10FFFF
    return continues(at + 1) && continues(at + 2) && continues(at + 3) ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) { stream_.source = source; }

  TokenStream run() {
    if (source_.size() >= std::numeric_limits<std::uint32_t>::max()) {
      stream_.source = {};
      push(0, 0, TokenKind::Error, LexError::SourceTooLarge);
      push(0, 0, TokenKind::End);
      return std::move(stream_);
    }
    note_lines();
    stream_.tokens.reserve(source_.size() / 5 + 4);
    while (at_ < source_.size()) step();
    push(source_.size(), source_.size(), TokenKind::End);
    // Whatever is still open closes at the end.
    const auto end = static_cast<std::uint32_t>(stream_.tokens.size() - 1);
    for (const std::uint32_t open : open_) stream_.tokens[open].match = end;
    return std::move(stream_);
  }

 private:
  void note_lines() {
    stream_.line_starts.push_back(0);
    for (std::size_t i = source_.find('\n'); i != std::string_view::npos;
         i = source_.find('\n', i + 1)) {
      stream_.line_starts.push_back(static_cast<std::uint32_t>(i + 1));
    }
  }

  char peek(std::size_t ahead) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void push(std::size_t begin, std::size_t end, TokenKind kind, LexError error = LexError::None,
            bool escaped = false) {
    stream_.tokens.push_back(Token{static_cast<std::uint32_t>(begin),
                                   static_cast<std::uint32_t>(end - begin), 0, kind, error,
                                   escaped});
  }
  void push_error(std::size_t begin, LexError error) {
    push(begin, std::max(at_, begin), TokenKind::Error, error);
  }

  void step() {
    const char c = source_[at_];
    switch (class_of(c)) {
      case kSpace: ++at_; return;
      case kLeft:
        if (peek(1) == ';') return block_comment();
        if (peek(1) == '@') return annotation();
        open_.push_back(static_cast<std::uint32_t>(stream_.tokens.size()));
        push(at_, at_ + 1, TokenKind::LParen);
        ++at_;
        return;
      case kRight:
        if (!open_.empty()) {
          stream_.tokens[open_.back()].match = static_cast<std::uint32_t>(stream_.tokens.size());
          open_.pop_back();
        }
        push(at_, at_ + 1, TokenKind::RParen);
        ++at_;
        return;
      case kPunctuation:
        if (c == ';' && peek(1) == ';') return line_comment();
        [[fallthrough]];
      case kIdChar:
      case kQuote: return word();
      default: return illegal_character();
    }
  }

  void illegal_character() {
    const std::size_t begin = at_;
    const std::size_t length = utf8_length(source_, at_);
    at_ += std::max<std::size_t>(length, 1);
    if (begin == 0 && source_.starts_with("\xef\xbb\xbf")) {
      push_error(begin, LexError::ByteOrderMark);
    } else {
      push_error(begin, length == 0 ? LexError::MalformedUtf8 : LexError::IllegalCharacter);
    }
  }

  /// Passes one character of a comment; false (with an error token) if it is not UTF-8.
  bool comment_character() {
    const std::size_t length = utf8_length(source_, at_);
    if (length == 0) {
      push(at_, at_ + 1, TokenKind::Error, LexError::MalformedUtf8);
      ++at_;
      return false;
    }
    at_ += length;
    return true;
  }

  void line_comment() {
    while (at_ < source_.size() && source_[at_] != '\n' && source_[at_] != '\r') {
      if (!comment_character()) return;
    }
  }

  void block_comment() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
      if (at_ >= source_.size()) {
        push(begin, begin + 2, TokenKind::Error, LexError::UnclosedComment);
        return;
      }
      if (peek(0) == '(' && peek(1) == ';') {
        ++depth;
        at_ += 2;
      } else if (peek(0) == ';' && peek(1) == ')') {
        --depth;
        at_ += 2;
      } else if (!comment_character()) {
        return;
      }
    } while (depth != 0);
  }

  /// Whether a string ends before its quote.
  static bool is_cut(LexError error) {
    return error == LexError::UnclosedString || error == LexError::ControlInString;
  }

  /// Annotations are skipped wherever white space may be, whatever tokens they hold; only their
  /// parentheses must balance. Nested ones count as parentheses.
  void annotation() {
    const std::size_t begin = at_;
    Annotation note;
    note.before = static_cast<std::uint32_t>(stream_.tokens.size());
    note.offset = static_cast<std::uint32_t>(begin);
    at_ += 2;
    if (class_of(peek(0)) == kIdChar) {
      const std::size_t id = at_;
      while (class_of(peek(0)) == kIdChar) ++at_;
      note.id = source_.substr(id, at_ - id);
    } else if (peek(0) == '"') {
      bool escaped = false;
      const std::size_t id = at_;
      if (const LexError error = string(escaped); error != LexError::None) {
        return push_error(begin, is_cut(error) ? LexError::BrokenAnnotationId : error);
      }
      decode_string(source_.substr(id, at_ - id), note.id);
      if (!is_valid_utf8(note.id)) return push_error(begin, LexError::MalformedUtf8);
    }
    if (note.id.empty()) return push_error(begin, LexError::EmptyAnnotation);
    note.content = static_cast<std::uint32_t>(at_);
    if (!annotation_content(begin)) return;
    note.end = static_cast<std::uint32_t>(at_ - 1);
    stream_.annotations.push_back(std::move(note));
  }

  /// Up to and including the annotation's ")"; false with an error token where it goes wrong.
  bool annotation_content(std::size_t begin) {
    std::size_t depth = 1;
    const std::size_t first = stream_.tokens.size();
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '(' && peek(1) != ';') {
        ++depth;
        ++at_;
      } else if (c == ')') {
        ++at_;
        if (--depth == 0) return true;
      } else {
        step();
        if (stream_.tokens.size() > first) {
          if (stream_.tokens.back().kind == TokenKind::Error) return false;
          stream_.tokens.pop_back();
        }
      }
    }
    push(begin, begin + 2, TokenKind::Error, LexError::UnclosedAnnotation);
    return false;
  }

  /// A maximal run of identifier characters, strings and punctuation: one token, whatever it is.
  void word() {
    const std::size_t begin = at_;
    std::size_t strings = 0;
    bool punctuation = false;
    bool escaped = false;
    std::size_t string_at = 0;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      const std::uint8_t kind = class_of(c);
      if (kind == kQuote) {
        string_at = at_;
        ++strings;
        if (const LexError error = string(escaped); error != LexError::None) {
          const bool is_id = string_at == begin + 1 && source_[begin] == '$';
          return push_error(begin, is_id && is_cut(error) ? LexError::BrokenIdentifier : error);
        }
      } else if (kind == kIdChar || (kind == kPunctuation && !(c == ';' && peek(1) == ';'))) {
        punctuation |= kind == kPunctuation;
        ++at_;
      } else {
        break;
      }
    }
    const std::string_view text = source_.substr(begin, at_ - begin);
    if (strings == 1 && !punctuation && text.back() == '"') {
      if (string_at == begin) return push(begin, at_, TokenKind::String, LexError::None, escaped);
      if (string_at == begin + 1 && text[0] == '$') return quoted_identifier(begin, text);
    }
    if (strings != 0 || punctuation) return push(begin, at_, TokenKind::Reserved);
    plain_word(begin, text);
  }

  void quoted_identifier(std::size_t begin, std::string_view text) {
    const std::string name = identifier_name(text);
    if (name.empty()) return push_error(begin, LexError::EmptyIdentifier);
    if (!is_valid_utf8(name)) return push_error(begin, LexError::MalformedUtf8);
    push(begin, at_, TokenKind::Id, LexError::None, true);
  }

  void plain_word(std::size_t begin, std::string_view text) {
    const char first = text[0];
    if (first == '$') {
      if (text.size() == 1) return push_error(begin, LexError::EmptyIdentifier);
      return push(begin, at_, TokenKind::Id);
    }
    if (first >= 'a' && first <= 'z') return push(begin, at_, TokenKind::Keyword);
    if ((first >= '0' && first <= '9') || first == '+' || first == '-') {
      return push(begin, at_, classify_number(text));
    }
    push(begin, at_, TokenKind::Reserved);
  }

  /// Passes a string that starts here. On an error the position is behind what could be read.
  LexError string(bool& escaped) {
    ++at_;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '"') {
        ++at_;
        return LexError::None;
      }
      if (c == '\\') {
        escaped = true;
        if (!escape()) return LexError::IllegalEscape;
        continue;
      }
      if (c == '\n' || c == '\r') return LexError::UnclosedString;
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        ++at_;
        return LexError::ControlInString;
      }
      const std::size_t length = utf8_length(source_, at_);
      if (length == 0) {
        ++at_;
        return LexError::MalformedUtf8;
      }
      at_ += length;
    }
    return LexError::UnclosedString;
  }

  bool escape() {
    const char c = peek(1);
    at_ += 1;
    switch (c) {
      case 't':
      case 'n':
      case 'r':
      case '"':
      case '\'':
      case '\\': ++at_; return true;
      case 'u': ++at_; return unicode_escape();
      default: break;
    }
    if (hex_value(c) < 0 || hex_value(peek(1)) < 0) return false;
    at_ += 2;
    return true;
  }

  bool unicode_escape() {
    if (peek(0) != '{') return false;
    ++at_;
    std::uint32_t code = 0;
    bool after_digit = false;
    for (;; ++at_) {
      const int digit = hex_value(peek(0));
      if (digit >= 0) {
        code = code * 16 + static_cast<std::uint32_t>(digit);
        if (code > 0x10ffff) return false;
        after_digit = true;
      } else if (peek(0) == '_' && after_digit) {
        after_digit = false;
      } else {
        break;
      }
    }
    if (!after_digit || peek(0) != '}') return false;
    ++at_;
    return code < 0xd800 || code >= 0xe000;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::vector<std::uint32_t> open_;
  TokenStream stream_;
};

}  // namespace

TokenStream lex(std::string_view source) {
  return Lexer(source).run();
}

void decode_string(std::string_view quoted, std::string& out) {
  std::size_t i = 1;
  while (i + 1 < quoted.size()) {
    const char c = quoted[i++];
    if (c != '\\') {
      out.push_back(c);
      continue;
    }
    const char e = quoted[i++];
    switch (e) {
      case 't': out.push_back('\t'); continue;
      case 'n': out.push_back('\n'); continue;
      case 'r': out.push_back('\r'); continue;
      case '"':
      case '\'':
      case '\\': out.push_back(e); continue;
      case 'u': {
        std::uint32_t code = 0;
        for (++i; quoted[i] != '}'; ++i) {
          if (quoted[i] != '_') code = code * 16 + static_cast<std::uint32_t>(hex_value(quoted[i]));
        }
        ++i;
        append_utf8(out, code);
        continue;
      }
      default: break;
    }
    out.push_back(static_cast<char>(hex_value(e) * 16 + hex_value(quoted[i++])));
  }
}

std::string identifier_name(std::string_view text) {
  if (text.size() > 1 && text[1] == '"') {
    std::string name;
    decode_string(text.substr(1), name);
    return name;
  }
  return std::string(text.substr(1));
}

bool is_valid_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_length(bytes, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

const char* to_string(LexError error) {
  switch (error) {
    case LexError::None: return "no error";
    case LexError::IllegalCharacter: return "illegal character";
    case LexError::ByteOrderMark:
      return "illegal character: a text must not begin with a byte order mark (the bytes ef bb bf)";
    case LexError::MalformedUtf8: return "malformed UTF-8 encoding";
    case LexError::UnclosedComment: return "unclosed comment";
    case LexError::UnclosedString: return "unclosed string";
    case LexError::IllegalEscape: return "illegal escape in string";
    case LexError::ControlInString: return "illegal control character in string";
    case LexError::EmptyIdentifier: return "empty identifier";
    case LexError::EmptyAnnotation: return "empty annotation id";
    case LexError::BrokenIdentifier: return "empty identifier: its string is not closed";
    case LexError::BrokenAnnotationId: return "empty annotation id: its string is not closed";
    case LexError::UnclosedAnnotation: return "unclosed annotation";
    case LexError::SourceTooLarge: return "text of 4 GiB or more";
  }
  return "unknown error";
}

TextPosition TokenStream::position(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  if (after == line_starts.begin()) return {};
  const auto line = static_cast<std::uint32_t>(after - line_starts.begin());
  return {line, offset - *(after - 1) + 1};
}

std::string TokenStream::shown(const Token& token) const {
  if (token.kind == TokenKind::End) return "end of text";
  constexpr std::size_t kLongest = 40;
  std::string out = "\"";
  const std::string_view all = text(token);
  for (const char c : all.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
  if (all.size() > kLongest) {
    // Not in the middle of a character.
    while (!is_valid_utf8(out) && out.size() > 1) out.pop_back();
    out += "...";
  }
  out.push_back('"');
  return out;
}

Error TokenStream::error_at(const Token& token, std::string message) const {
  if (token.kind == TokenKind::Error) message = to_string(token.error);
  const ErrorKind kind =
      token.error == LexError::SourceTooLarge ? ErrorKind::Limit : ErrorKind::Malformed;
  Error error(kind, std::move(message), token.offset);
  const TextPosition at = position(token.offset);
  error.at_line(at.line, at.column);
  return error;
}

Error TokenStream::unknown_operator(const Token& token) const {
  const std::string quoted = shown(token);
  return error_at(token, "unknown operator " + quoted.substr(1, quoted.size() - 2));
}

Error TokenStream::unexpected(const Token& token, std::string_view wanted) const {
  if (token.kind == TokenKind::Reserved) return unknown_operator(token);
  return error_at(token, fmt::format("unexpected token {}, expected {}", shown(token), wanted));
}

}  // namespace hoist::wasm
