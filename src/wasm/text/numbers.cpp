// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/numbers.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

namespace hoist::wasm {

namespace {

int digit_value(char c, bool hex) {
  if (c >= '0' && c <= '9') return c - '0';
  if (!hex) return -1;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_sign(char c) {
  return c == '+' || c == '-';
}

/// The parts of a number token, views of its text.
struct NumberParts {
  TokenKind kind = TokenKind::Reserved;
  bool negative = false;
  bool hex = false;
  bool nan = false;
  bool infinite = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  ///< with its sign; empty if there is none
  std::string_view payload;   ///< of a NaN: its digits; empty for the canonical one
};

/// The longest `digit ("_"? digit)*` at the start of `text`; empty if there is none.
std::string_view digits_at(std::string_view text, bool hex) {
  std::size_t end = 0;
  while (end < text.size()) {
    if (digit_value(text[end], hex) >= 0) {
      ++end;
    } else if (text[end] == '_' && end > 0 && text[end - 1] != '_' && end + 1 < text.size() &&
               digit_value(text[end + 1], hex) >= 0) {
      ++end;
    } else {
      break;
    }
  }
  return text.substr(0, end);
}

void split_special(std::string_view rest, NumberParts& parts) {
  if (rest == "inf") {
    parts.infinite = true;
    parts.kind = TokenKind::Float;
    return;
  }
  if (rest == "nan") {
    parts.nan = true;
    parts.kind = TokenKind::Float;
    return;
  }
  if (!rest.starts_with("nan:0x")) return;
  rest.remove_prefix(6);
  parts.payload = digits_at(rest, true);
  parts.nan = true;
  if (!parts.payload.empty() && parts.payload.size() == rest.size()) parts.kind = TokenKind::Float;
}

NumberParts split_number(std::string_view text) {
  NumberParts parts;
  bool sign = false;
  if (!text.empty() && is_sign(text[0])) {
    sign = true;
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return parts;
  if (text[0] == 'i' || text[0] == 'n') {
    split_special(text, parts);
    return parts;
  }
  if (text.starts_with("0x")) {
    parts.hex = true;
    text.remove_prefix(2);
  }
  parts.whole = digits_at(text, parts.hex);
  if (parts.whole.empty()) return parts;
  text.remove_prefix(parts.whole.size());
  bool is_float = false;
  if (!text.empty() && text[0] == '.') {
    is_float = true;
    text.remove_prefix(1);
    parts.fraction = digits_at(text, parts.hex);
    text.remove_prefix(parts.fraction.size());
  }
  const char mark = parts.hex ? 'p' : 'e';
  if (!text.empty() && (text[0] | 0x20) == mark) {
    is_float = true;
    const std::string_view rest = text.substr(1);
    const std::size_t skip = !rest.empty() && is_sign(rest[0]) ? 1 : 0;
    const std::string_view digits = digits_at(rest.substr(skip), false);
    if (digits.empty()) return parts;
    parts.exponent = rest.substr(0, skip + digits.size());
    text.remove_prefix(1 + parts.exponent.size());
  }
  if (!text.empty()) return parts;
  parts.kind = is_float ? TokenKind::Float : sign ? TokenKind::Int : TokenKind::Nat;
  return parts;
}

Number<std::uint64_t> magnitude(std::string_view digits, bool hex) {
  std::uint64_t value = 0;
  const unsigned base = hex ? 16 : 10;
  for (const char c : digits) {
    if (c == '_') continue;
    std::uint64_t scaled;
    if (__builtin_mul_overflow(value, std::uint64_t{base}, &scaled) ||
        __builtin_add_overflow(scaled, static_cast<std::uint64_t>(digit_value(c, hex)), &value)) {
      return {NumberStatus::OutOfRange, 0};
    }
  }
  return {NumberStatus::Ok, value};
}

/// The exponent, held within a range that any text's digits cannot bring back.
std::int64_t exponent_value(std::string_view text) {
  constexpr std::int64_t kFar = std::int64_t{1} << 50;
  bool negative = false;
  std::int64_t value = 0;
  for (const char c : text) {
    if (is_sign(c)) {
      negative = c == '-';
    } else if (c != '_') {
      value = std::min(value * 10 + digit_value(c, false), kFar);
    }
  }
  return negative ? -value : value;
}

/// One IEEE format.
struct Format {
  int precision;     ///< bits of the significand with the hidden one
  int min_exponent;  ///< of the smallest normal number
  int max_exponent;

  std::uint64_t infinity() const {
    return static_cast<std::uint64_t>(max_exponent - min_exponent + 2) << (precision - 1);
  }
  std::uint64_t quiet_bit() const { return std::uint64_t{1} << (precision - 2); }
  std::uint64_t payload_limit() const { return std::uint64_t{1} << (precision - 1); }
};
constexpr Format kSingle{24, -126, 127};
constexpr Format kDouble{53, -1022, 1023};

/// `mantissa` * 2^`exponent` (a little more if `sticky`), rounded to nearest-even.
Number<std::uint64_t> round_binary(std::uint64_t mantissa, std::int64_t exponent, bool sticky,
                                   const Format& format) {
  if (mantissa == 0) return {NumberStatus::Ok, 0};
  const int zeros = std::countl_zero(mantissa);
  mantissa <<= zeros;
  const std::int64_t top = exponent - zeros + 63;  // value is in [2^top, 2^(top+1))
  if (top > format.max_exponent) return {NumberStatus::OutOfRange, 0};
  const std::int64_t below = std::max<std::int64_t>(format.min_exponent - top, 0);
  const std::int64_t shift = 64 - format.precision + below;
  if (shift > 64) return {NumberStatus::Ok, 0};  // below half of the smallest number
  std::uint64_t kept = shift == 64 ? 0 : mantissa >> shift;
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = shift == 64 ? mantissa : mantissa & ((half << 1) - 1);
  if (rest > half || (rest == half && (sticky || (kept & 1) != 0))) ++kept;
  // A carry out of the significand moves into the exponent field, as it should.
  const std::uint64_t field = below > 0 ? 0 : static_cast<std::uint64_t>(top - format.min_exponent);
  const std::uint64_t bits = (field << (format.precision - 1)) + kept;
  if (bits >= format.infinity()) return {NumberStatus::OutOfRange, 0};
  return {NumberStatus::Ok, bits};
}

Number<std::uint64_t> parse_hex(const NumberParts& parts, const Format& format) {
  std::uint64_t mantissa = 0;
  bool sticky = false;
  std::int64_t exponent = exponent_value(parts.exponent);
  const auto take = [&](std::string_view digits, bool fraction) {
    for (const char c : digits) {
      if (c == '_') continue;
      if (fraction) exponent -= 4;
      if ((mantissa >> 60) != 0) {
        exponent += 4;
        sticky |= c != '0';
      } else {
        mantissa = mantissa * 16 + static_cast<std::uint64_t>(digit_value(c, true));
      }
    }
  };
  take(parts.whole, false);
  take(parts.fraction, true);
  return round_binary(mantissa, exponent, sticky, format);
}

/// Whether a decimal number that is not zero is below 1.
bool is_small(const NumberParts& parts) {
  std::int64_t exponent = exponent_value(parts.exponent);
  std::int64_t whole_digits = 0;
  std::int64_t zeros = 0;
  for (const char c : parts.whole) {
    if (c != '_' && (c != '0' || whole_digits != 0)) ++whole_digits;
  }
  if (whole_digits == 0) {
    for (const char c : parts.fraction) {
      if (c == '_') continue;
      if (c != '0') break;
      ++zeros;
    }
  }
  exponent += whole_digits != 0 ? whole_digits : -zeros;
  return exponent <= 0;
}

template <typename Float, typename Bits>
Number<std::uint64_t> parse_decimal(const NumberParts& parts) {
  std::string plain;
  const auto take = [&](std::string_view digits) {
    for (const char c : digits) {
      if (c != '_') plain.push_back(c);
    }
  };
  take(parts.whole);
  if (!parts.fraction.empty()) {
    plain.push_back('.');
    take(parts.fraction);
  }
  // The library's exponent is an int; beyond this range the result is 0 or too large anyway, as
  // long as the digits do not make up for it.
  if (!parts.exponent.empty()) {
    plain.push_back('e');
    const std::int64_t exponent = exponent_value(parts.exponent);
    plain += std::to_string(std::clamp<std::int64_t>(exponent, -1'000'000'000, 1'000'000'000));
  }
  Float value = 0;
  const auto [end, status] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (status == std::errc::result_out_of_range) {
    if (is_small(parts)) return {NumberStatus::Ok, 0};
    return {NumberStatus::OutOfRange, 0};
  }
  if (status != std::errc{} || end != plain.data() + plain.size()) return {};
  const auto bits = std::bit_cast<Bits>(value);
  const Format& format = sizeof(Float) == 4 ? kSingle : kDouble;
  if (bits >= format.infinity()) return {NumberStatus::OutOfRange, 0};
  return {NumberStatus::Ok, bits};
}

template <typename Float, typename Bits>
Number<Bits> parse_float(std::string_view text) {
  const NumberParts parts = split_number(text);
  if (parts.kind == TokenKind::Reserved) return {};
  const Format& format = sizeof(Float) == 4 ? kSingle : kDouble;
  Number<std::uint64_t> result{NumberStatus::Ok, 0};
  if (parts.infinite) {
    result.bits = format.infinity();
  } else if (parts.nan) {
    std::uint64_t payload = format.quiet_bit();
    if (!parts.payload.empty()) {
      const Number<std::uint64_t> given = magnitude(parts.payload, true);
      if (given.status != NumberStatus::Ok || given.bits == 0 ||
          given.bits >= format.payload_limit()) {
        return {NumberStatus::OutOfRange, 0};
      }
      payload = given.bits;
    }
    result.bits = format.infinity() | payload;
  } else {
    result = parts.hex ? parse_hex(parts, format) : parse_decimal<Float, Bits>(parts);
  }
  if (result.status != NumberStatus::Ok) return {result.status, 0};
  const std::uint64_t sign = parts.negative ? std::uint64_t{1} << (sizeof(Float) * 8 - 1) : 0;
  return {NumberStatus::Ok, static_cast<Bits>(result.bits | sign)};
}

}  // namespace

TokenKind classify_number(std::string_view text) {
  return split_number(text).kind;
}

Number<std::uint64_t> parse_nat(std::string_view text) {
  const NumberParts parts = split_number(text);
  if (parts.kind != TokenKind::Nat) return {};
  return magnitude(parts.whole, parts.hex);
}

Number<std::uint64_t> parse_int(std::string_view text, unsigned width) {
  const NumberParts parts = split_number(text);
  if (parts.kind != TokenKind::Nat && parts.kind != TokenKind::Int) return {};
  const Number<std::uint64_t> size = magnitude(parts.whole, parts.hex);
  if (size.status != NumberStatus::Ok) return size;
  const std::uint64_t all = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  // "+5" is a signed integer: its range ends at 2^(width-1)-1; a plain number may be unsigned.
  const std::uint64_t smallest = std::uint64_t{1} << (width - 1);
  const bool sign = parts.kind == TokenKind::Int;
  const std::uint64_t limit = parts.negative ? smallest : sign ? smallest - 1 : all;
  if (size.bits > limit) return {NumberStatus::OutOfRange, 0};
  const std::uint64_t value = parts.negative ? ~size.bits + 1 : size.bits;
  return {NumberStatus::Ok, value & all};
}

Number<std::uint32_t> parse_f32(std::string_view text) {
  return parse_float<float, std::uint32_t>(text);
}

Number<std::uint64_t> parse_f64(std::string_view text) {
  return parse_float<double, std::uint64_t>(text);
}

}  // namespace hoist::wasm
