// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/text/literals.hpp"

#include <bit>

namespace hoist::ir::text_detail {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::optional<std::uint64_t> IntLiteral::in_bits(unsigned bits) const {
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (magnitude > (negative ? std::uint64_t{1} << (bits - 1) : all)) return std::nullopt;
  return (negative ? 0 - magnitude : magnitude) & all;
}

std::optional<IntLiteral> parse_int(std::string_view text) {
  IntLiteral literal;
  if (take_prefix(text, "-")) {
    literal.negative = true;
  } else {
    take_prefix(text, "+");
  }
  const unsigned base = take_prefix(text, "0x") ? 16 : 10;
  bool any = false;
  for (const char c : text) {
    if (c == '_') continue;
    const int digit = hex_digit(c);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
    if (literal.magnitude > (~std::uint64_t{0} - static_cast<unsigned>(digit)) / base) {
      return std::nullopt;
    }
    literal.magnitude = literal.magnitude * base + static_cast<unsigned>(digit);
    any = true;
  }
  if (!any) return std::nullopt;
  return literal;
}

std::optional<Bits128> parse_wide(std::string_view text) {
  const unsigned base = take_prefix(text, "0x") ? 16 : 10;
  Bits128 magnitude = 0;
  bool any = false;
  for (const char c : text) {
    if (c == '_') continue;
    const int digit = hex_digit(c);
    if (digit < 0 || static_cast<unsigned>(digit) >= base) return std::nullopt;
    if (magnitude > (~Bits128{0} - static_cast<unsigned>(digit)) / base) return std::nullopt;
    magnitude = magnitude * base + static_cast<unsigned>(digit);
    any = true;
  }
  if (!any) return std::nullopt;
  return magnitude;
}

std::array<std::uint8_t, 16> to_bytes(Bits128 bits) {
  std::array<std::uint8_t, 16> bytes;
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(bits & 0xff);
    bits >>= 8;
  }
  return bytes;
}

Bits128 from_bytes(const std::array<std::uint8_t, 16>& bytes) {
  Bits128 bits = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) bits = bits << 8 | bytes[i];
  return bits;
}

namespace {

Bits128 sign_bit(FloatFormat format) {
  return Bits128{1} << (format.exponent_bits + format.fraction_bits);
}
Bits128 infinity(FloatFormat format) {
  return ((Bits128{1} << format.exponent_bits) - 1) << format.fraction_bits;
}
Bits128 quiet_bit(FloatFormat format) {
  return Bits128{1} << (format.fraction_bits - 1);
}

/// `Inf`, `NaN`, `NaN:0x1`, `sNaN:0x1` after the sign.
std::optional<Bits128> parse_special(std::string_view text, FloatFormat format) {
  if (text == "Inf") return infinity(format);
  if (text == "NaN") return infinity(format) | quiet_bit(format);
  const bool signaling = take_prefix(text, "sNaN:");
  if (!signaling && !take_prefix(text, "NaN:")) return std::nullopt;
  const std::optional<Bits128> payload = parse_wide(text);
  if (!payload || *payload >= quiet_bit(format)) return std::nullopt;
  if (signaling && *payload == 0) return std::nullopt;
  return infinity(format) | (signaling ? 0 : quiet_bit(format)) | *payload;
}

int bit_width(Bits128 bits) {
  const auto high = static_cast<std::uint64_t>(bits >> 64);
  if (high != 0) return 128 - std::countl_zero(high);
  return 64 - std::countl_zero(static_cast<std::uint64_t>(bits));
}

/// significand * 2^exponent, exactly, or nothing.
std::optional<Bits128> encode(Bits128 significand, std::int64_t exponent, FloatFormat format) {
  if (significand == 0) return 0;
  const auto bias = (std::int64_t{1} << (format.exponent_bits - 1)) - 1;
  const auto fraction_bits = static_cast<std::int64_t>(format.fraction_bits);
  const std::int64_t top = bit_width(significand) - 1 + exponent;
  if (top > bias) return std::nullopt;
  // Exponent of the lowest bit that the format can hold.
  const std::int64_t lowest = std::max(top, 1 - bias) - fraction_bits;
  const std::int64_t shift = exponent - lowest;
  if (shift < -127) return std::nullopt;
  if (shift < 0) {
    const auto drop = static_cast<unsigned>(-shift);
    if ((significand & ((Bits128{1} << drop) - 1)) != 0) return std::nullopt;
    significand >>= drop;
  } else {
    significand <<= shift;
  }
  if (top < 1 - bias) return significand;
  const auto biased = static_cast<Bits128>(top + bias);
  return biased << format.fraction_bits |
         (significand & ((Bits128{1} << format.fraction_bits) - 1));
}

}  // namespace

std::optional<std::uint64_t> parse_float(std::string_view text, FloatFormat format) {
  const std::optional<Bits128> bits = parse_wide_float(text, format);
  if (!bits) return std::nullopt;
  return static_cast<std::uint64_t>(*bits);
}

std::optional<Bits128> parse_wide_float(std::string_view text, FloatFormat format) {
  Bits128 sign = 0;
  if (take_prefix(text, "-")) {
    sign = sign_bit(format);
  } else {
    take_prefix(text, "+");
  }
  if (text == "0.0") return sign;
  if (const auto special = parse_special(text, format)) return sign | *special;
  if (!take_prefix(text, "0x")) return std::nullopt;
  Bits128 significand = 0;
  std::int64_t exponent = 0;
  bool after_point = false, any = false;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'p'; ++i) {
    if (text[i] == '.') {
      if (after_point) return std::nullopt;
      after_point = true;
      continue;
    }
    if (text[i] == '_' && any) continue;
    const int digit = hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    any = true;
    if (significand >> 124 != 0) {
      // No room for more digits: only zeros may follow.
      if (digit != 0) return std::nullopt;
      if (!after_point) exponent += 4;
      continue;
    }
    significand = significand << 4 | static_cast<unsigned>(digit);
    if (after_point) exponent -= 4;
  }
  if (!any) return std::nullopt;
  if (i < text.size()) {
    const std::optional<IntLiteral> power = parse_int(text.substr(i + 1));
    if (!power || power->magnitude > 100'000) return std::nullopt;
    const auto magnitude = static_cast<std::int64_t>(power->magnitude);
    exponent += power->negative ? -magnitude : magnitude;
  }
  const std::optional<Bits128> bits = encode(significand, exponent, format);
  if (!bits) return std::nullopt;
  return sign | *bits;
}

void print_float(base::Printer& out, Bits128 bits, FloatFormat format) {
  const Bits128 fraction_mask = (Bits128{1} << format.fraction_bits) - 1;
  const auto exponent_mask = (std::uint64_t{1} << format.exponent_bits) - 1;
  const bool negative = (bits & sign_bit(format)) != 0;
  const Bits128 fraction = bits & fraction_mask;
  const std::uint64_t biased =
      static_cast<std::uint64_t>(bits >> format.fraction_bits) & exponent_mask;
  const auto bias = (std::int64_t{1} << (format.exponent_bits - 1)) - 1;
  if (biased == exponent_mask) {
    out << (negative ? '-' : '+');
    if (fraction == 0) {
      out << "Inf";
      return;
    }
    Bits128 payload = fraction & (quiet_bit(format) - 1);
    const bool quiet = (fraction & quiet_bit(format)) != 0;
    out << (quiet ? "NaN" : "sNaN");
    if (payload == 0) return;
    out << ":0x";
    for (int digit = (bit_width(payload) + 3) / 4; digit-- > 0;) {
      out << "0123456789abcdef"[static_cast<unsigned>(payload >> (4 * digit)) & 15];
    }
    return;
  }
  if (negative) out << '-';
  if (biased == 0 && fraction == 0) {
    out << "0.0";
    return;
  }
  // The fraction in whole hexadecimal digits.
  const unsigned digits = (format.fraction_bits + 3) / 4;
  const Bits128 aligned = fraction << (digits * 4 - format.fraction_bits);
  out << (biased == 0 ? "0x0." : "0x1.");
  for (unsigned i = digits; i-- > 0;) {
    out << "0123456789abcdef"[static_cast<unsigned>(aligned >> (4 * i)) & 15];
  }
  out << 'p' << (biased == 0 ? 1 - bias : static_cast<std::int64_t>(biased) - bias);
}

void print_grouped_hex(base::Printer& out, std::uint64_t value) {
  unsigned groups = 1;
  while (groups < 4 && value >> (16 * groups) != 0) ++groups;
  out << "0x";
  for (unsigned group = groups; group-- > 0;) {
    for (unsigned digit = 4; digit-- > 0;) {
      out << "0123456789abcdef"[(value >> (16 * group + 4 * digit)) & 15];
    }
    if (group != 0) out << '_';
  }
}

void print_imm64(base::Printer& out, std::int64_t value) {
  if (value < 10'000) {
    out << value;
  } else {
    print_grouped_hex(out, static_cast<std::uint64_t>(value));
  }
}

void print_offset(base::Printer& out, std::int64_t offset) {
  if (offset == 0) return;
  out << (offset < 0 ? '-' : '+');
  const std::uint64_t magnitude =
      offset < 0 ? 0 - static_cast<std::uint64_t>(offset) : static_cast<std::uint64_t>(offset);
  if (magnitude < 10'000) {
    out << magnitude;
  } else {
    print_grouped_hex(out, magnitude);
  }
}

}  // namespace hoist::ir::text_detail
