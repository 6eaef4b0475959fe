// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/print/text_writer.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace hoist::wasm {

namespace {

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::uint32_t kMaxIndentation = 60;  ///< columns; deep nesting must not square the text
constexpr char kHexDigits[] = "0123456789abcdef";

/// Characters of identifiers. Source: core specification 3.0, section 6.3.5.
bool is_id_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-./:<=>?@\\^_`|~").find(c) != std::string_view::npos;
}

/// Code points that move the cursor or change the direction of what stands around them.
bool acts_on_terminal(std::uint32_t point) {
  return (point >= 0x80 && point < 0xa0) || point == 0x061c ||
         (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
}

/// The code point at the front of valid UTF-8 whose first byte is not ASCII, and its length.
std::uint32_t code_point(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  const std::uint8_t lead = byte(0);
  length = lead >= 0xf0 ? 4u : lead >= 0xe0 ? 3u : 2u;
  std::uint32_t point = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) point = (point << 6) | (byte(i) & 0x3fu);
  return point;
}

}  // namespace

void TextWriter::append(std::string_view text) {
  if (full_) return;
  if (text.size() > left_) {
    full_ = true;
    return;
  }
  left_ -= text.size();
  buffer_.append(text);
  if (buffer_.size() >= kPiece) flush();
}

void TextWriter::flush() {
  if (!buffer_.empty()) write_(buffer_);
  buffer_.clear();
}

void TextWriter::decimal(std::uint64_t value) {
  char buffer[24];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  *this << std::string_view(buffer, static_cast<std::size_t>(end - buffer));
}

void TextWriter::decimal_signed(std::int64_t value) {
  char buffer[24];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  *this << std::string_view(buffer, static_cast<std::size_t>(end - buffer));
}

void TextWriter::hex(std::uint64_t value, unsigned digits) {
  char buffer[18] = "0x";
  std::size_t size = 2;
  const auto needed = static_cast<unsigned>((std::bit_width(value) + 3) / 4);
  for (unsigned i = std::max(needed, digits); i-- > 0;) {
    buffer[size++] = kHexDigits[(value >> (4 * i)) & 0xf];
  }
  *this << std::string_view(buffer, size);
}

template <typename Float, typename Bits>
void TextWriter::floating(Bits bits, unsigned mantissa_bits) {
  const Bits mantissa_mask = (Bits{1} << mantissa_bits) - 1;
  const Bits mantissa = bits & mantissa_mask;
  const Bits exponent = static_cast<Bits>(bits << 1) >> (mantissa_bits + 1);
  const Bits all = static_cast<Bits>(~Bits{0} << 1) >> (mantissa_bits + 1);
  if (exponent == all) {
    if (bits >> (sizeof(Bits) * 8 - 1) != 0) *this << '-';
    if (mantissa == 0) {
      *this << "inf";
      return;
    }
    *this << "nan";
    if (mantissa == Bits{1} << (mantissa_bits - 1)) return;
    *this << ':';
    hex(mantissa, 1);
    return;
  }
  char buffer[40];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, std::bit_cast<Float>(bits)).ptr;
  *this << std::string_view(buffer, static_cast<std::size_t>(end - buffer));
}

void TextWriter::f32(std::uint32_t bits) {
  floating<float>(bits, 23);
}

void TextWriter::f64(std::uint64_t bits) {
  floating<double>(bits, 52);
}

void TextWriter::string(std::string_view bytes, bool as_text) {
  if (muted_) return;
  *this << '"';
  for (std::size_t i = 0; i < bytes.size();) {
    const char c = bytes[i];
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >= 0x80 && as_text) {
      std::size_t length = 0;
      const std::uint32_t point = code_point(bytes.substr(i), length);
      if (acts_on_terminal(point)) {
        char buffer[12];
        const char* end = std::to_chars(buffer, buffer + sizeof buffer, point, 16).ptr;
        *this << "\\u{" << std::string_view(buffer, static_cast<std::size_t>(end - buffer)) << '}';
      } else {
        *this << bytes.substr(i, length);
      }
      i += length;
      continue;
    }
    ++i;
    if (c == '"' || c == '\\') {
      *this << '\\' << c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      *this << c;
    } else {
      const char escape[] = {'\\', kHexDigits[byte >> 4], kHexDigits[byte & 0xf]};
      *this << std::string_view(escape, 3);
    }
  }
  *this << '"';
}

void TextWriter::identifier(std::string_view name) {
  *this << '$';
  if (std::all_of(name.begin(), name.end(), is_id_char)) {
    *this << name;
  } else {
    string(name, true);
  }
}

void TextWriter::line() {
  if (lines_ != Lines::Breaks) {
    if (lines_ == Lines::Spaces) *this << ' ';
    lines_ = Lines::Spaces;
    return;
  }
  ++breaks_;
  constexpr std::string_view kSpaces =
      "\n                                                            ";
  static_assert(kSpaces.size() == kMaxIndentation + 1);
  *this << kSpaces.substr(0, 1 + std::min(2 * depth_, kMaxIndentation));
}

}  // namespace hoist::wasm
