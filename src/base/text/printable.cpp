// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text/printable.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text/printer.hpp"

namespace hoist::base {

namespace {

/// The code point at the front of `text` and its length in bytes; length 0 if it is not UTF-8.
/// Source: Unicode 15, table 3-7 "Well-Formed UTF-8 Byte Sequences".
std::uint32_t decode(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  length = 1;
  if (lead < 0x80) return lead;
  const std::size_t size = lead >= 0xc2 && lead < 0xe0   ? 2
                           : (lead & 0xf0) == 0xe0       ? 3
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                                                         : 0;
  length = 0;
  if (size == 0 || text.size() < size) return 0;
  std::uint32_t code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  length = size;
  return code;
}

bool is_harmless(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;  // C0, DEL, C1
  if (code == 0x2028 || code == 0x2029) return false;              // line, paragraph separator
  if (code == 0x061c || code == 0x200e || code == 0x200f) return false;  // direction marks
  if (code == 0x200b || code == 0x2060 || code == 0xfeff) return false;  // spaces without width
  return !(code >= 0x202a && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  // Most text is plain: ASCII without control characters.
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (text.size() <= max_bytes && std::all_of(text.begin(), text.end(), is_plain)) {
    return std::string(text);
  }
  Printer out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (at >= max_bytes) {
      out << "...";
      break;
    }
    std::size_t length = 0;
    const std::uint32_t code = decode(text.substr(at), length);
    if (length == 0 || code < 0x80) {
      const auto byte = static_cast<std::uint8_t>(text[at]);
      if (length == 1 && is_harmless(code)) {
        out << text[at];
      } else {
        constexpr std::string_view kDigits = "0123456789abcdef";
        out << "\\x" << kDigits[byte >> 4] << kDigits[byte & 15];
      }
      ++at;
      continue;
    }
    if (is_harmless(code)) {
      out << text.substr(at, length);
    } else {
      Printer hex;
      hex.hex(code);
      out << "\\u{" << hex.view().substr(2) << '}';
    }
    at += length;
  }
  return out.take();
}

}  // namespace hoist::base
