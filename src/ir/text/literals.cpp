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

namespace {

std::uint64_t sign_bit(FloatFormat format) {
  return std::uint64_t{1} << (format.exponent_bits + format.fraction_bits);
}
std::uint64_t infinity(FloatFormat format) {
  return ((std::uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
}
std::uint64_t quiet_bit(FloatFormat format) {
  return std::uint64_t{1} << (format.fraction_bits - 1);
}

/// `Inf`, `NaN`, `NaN:0x1`, `sNaN:0x1` after the sign.
std::optional<std::uint64_t> parse_special(std::string_view text, FloatFormat format) {
  if (text == "Inf") return infinity(format);
  if (text == "NaN") return infinity(format) | quiet_bit(format);
  const bool signaling = take_prefix(text, "sNaN:");
  if (!signaling && !take_prefix(text, "NaN:")) return std::nullopt;
  const std::optional<IntLiteral> payload = parse_int(text);
  if (!payload || payload->negative || payload->magnitude >= quiet_bit(format)) return std::nullopt;
  if (signaling && payload->magnitude == 0) return std::nullopt;
  return infinity(format) | (signaling ? 0 : quiet_bit(format)) | payload->magnitude;
}

/// significand * 2^exponent, exactly, or nothing.
std::optional<std::uint64_t> encode(std::uint64_t significand, std::int64_t exponent,
                                    FloatFormat format) {
  if (significand == 0) return 0;
  const auto bias = (std::int64_t{1} << (format.exponent_bits - 1)) - 1;
  const auto fraction_bits = static_cast<std::int64_t>(format.fraction_bits);
  const std::int64_t top = 63 - std::countl_zero(significand) + exponent;
  if (top > bias) return std::nullopt;
  // Exponent of the lowest bit that the format can hold.
  const std::int64_t lowest = std::max(top, 1 - bias) - fraction_bits;
  const std::int64_t shift = exponent - lowest;
  if (shift < -63) return std::nullopt;
  if (shift < 0) {
    const auto drop = static_cast<unsigned>(-shift);
    if ((significand & ((std::uint64_t{1} << drop) - 1)) != 0) return std::nullopt;
    significand >>= drop;
  } else {
    significand <<= shift;
  }
  if (top < 1 - bias) return significand;
  const auto biased = static_cast<std::uint64_t>(top + bias);
  return biased << format.fraction_bits |
         (significand & ((std::uint64_t{1} << format.fraction_bits) - 1));
}

}  // namespace

std::optional<std::uint64_t> parse_float(std::string_view text, FloatFormat format) {
  std::uint64_t sign = 0;
  if (take_prefix(text, "-")) {
    sign = sign_bit(format);
  } else {
    take_prefix(text, "+");
  }
  if (text == "0.0") return sign;
  if (const auto special = parse_special(text, format)) return sign | *special;
  if (!take_prefix(text, "0x")) return std::nullopt;
  std::uint64_t significand = 0;
  std::int64_t exponent = 0;
  bool after_point = false, any = false;
  std::size_t i = 0;
  for (; i < text.size() && text[i] != 'p'; ++i) {
    if (text[i] == '.') {
      if (after_point) return std::nullopt;
      after_point = true;
      continue;
    }
    const int digit = hex_digit(text[i]);
    if (digit < 0) return std::nullopt;
    any = true;
    if (significand >> 60 != 0) {
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
  const std::optional<std::uint64_t> bits = encode(significand, exponent, format);
  if (!bits) return std::nullopt;
  return sign | *bits;
}

void print_float(base::Printer& out, std::uint64_t bits, FloatFormat format) {
  const std::uint64_t fraction_mask = (std::uint64_t{1} << format.fraction_bits) - 1;
  const std::uint64_t exponent_mask = (std::uint64_t{1} << format.exponent_bits) - 1;
  const bool negative = (bits & sign_bit(format)) != 0;
  const std::uint64_t fraction = bits & fraction_mask;
  const std::uint64_t biased = (bits >> format.fraction_bits) & exponent_mask;
  const auto bias = (std::int64_t{1} << (format.exponent_bits - 1)) - 1;
  if (biased == exponent_mask) {
    out << (negative ? '-' : '+');
    if (fraction == 0) {
      out << "Inf";
      return;
    }
    const std::uint64_t payload = fraction & (quiet_bit(format) - 1);
    const bool quiet = (fraction & quiet_bit(format)) != 0;
    out << (quiet ? "NaN" : "sNaN");
    if (payload != 0) (out << ':').hex(payload);
    return;
  }
  if (negative) out << '-';
  if (biased == 0 && fraction == 0) {
    out << "0.0";
    return;
  }
  // The fraction in whole hexadecimal digits.
  const unsigned digits = (format.fraction_bits + 3) / 4;
  const std::uint64_t aligned = fraction << (digits * 4 - format.fraction_bits);
  out << (biased == 0 ? "0x0." : "0x1.");
  for (unsigned i = digits; i-- > 0;) out << "0123456789abcdef"[(aligned >> (4 * i)) & 15];
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
