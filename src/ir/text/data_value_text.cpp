// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/text/data_value_text.hpp"

#include <string>

#include "base/bits.hpp"
#include "ir/text/literals.hpp"

namespace hoist::ir {

namespace {

using text_detail::parse_int;

__extension__ typedef unsigned __int128 U128;

/// Like parse_int, for 128 bits.
std::optional<DataValue> parse_i128(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const unsigned base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  U128 magnitude = 0;
  for (const char c : text) {
    if (c == '_') continue;
    const std::optional<text_detail::IntLiteral> digit =
        base == 16 ? parse_int(std::string("0x") + c) : parse_int(std::string_view(&c, 1));
    if (!digit || magnitude > (~U128{0} - digit->magnitude) / base) return std::nullopt;
    magnitude = magnitude * base + digit->magnitude;
  }
  if (negative && magnitude > U128{1} << 127) return std::nullopt;
  const U128 bits = negative ? 0 - magnitude : magnitude;
  return DataValue{I128, static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64)};
}

/// "[1 2 3 4]", lane 0 first, or one hexadecimal number.
std::optional<DataValue> parse_vector(std::string_view text, Type type) {
  if (type.bits() > 128) return std::nullopt;
  if (text.starts_with("0x")) {
    std::optional<DataValue> number = parse_i128(text);
    if (number) number->type = type;
    return number;
  }
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  const unsigned bits = type.lane_bits();
  DataValue out{type, 0, 0};
  unsigned lane = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word.empty()) continue;
    const std::optional<DataValue> value = parse_data_value(word, type.lane_type());
    if (!value || lane == type.lane_count()) return std::nullopt;
    const unsigned at = lane++ * bits;
    (at < 64 ? out.lo : out.hi) |= value->lo << (at % 64);
  }
  if (lane != type.lane_count()) return std::nullopt;
  return out;
}

}  // namespace

std::optional<DataValue> parse_data_value(std::string_view text, Type type) {
  std::optional<std::uint64_t> bits;
  if (type == I128) return parse_i128(text);
  if (type.is_vector()) return parse_vector(text, type);
  if (type == F128) {
    const auto wide = text_detail::parse_wide_float(text, text_detail::kF128);
    if (!wide) return std::nullopt;
    return DataValue{type, static_cast<std::uint64_t>(*wide),
                     static_cast<std::uint64_t>(*wide >> 64)};
  }
  if (type.is_int()) {
    if (const auto literal = parse_int(text)) bits = literal->in_bits(type.bits());
  } else if (type == F16) {
    bits = text_detail::parse_float(text, text_detail::kF16);
  } else if (type == F32) {
    bits = text_detail::parse_float(text, text_detail::kF32);
  } else if (type == F64) {
    bits = text_detail::parse_float(text, text_detail::kF64);
  }
  if (!bits) return std::nullopt;
  return DataValue{type, *bits, 0};
}

base::Printer& operator<<(base::Printer& out, const DataValue& value) {
  if (value.type.is_vector() && value.type.lane_bits() <= 64) {
    const unsigned bits = value.type.lane_bits();
    const char* separator = "[";
    for (unsigned at = 0; at < value.type.bits(); at += bits) {
      const std::uint64_t lane = (at < 64 ? value.lo : value.hi) >> (at % 64);
      out << separator << DataValue{value.type.lane_type(), base::zero_extend(lane, bits), 0};
      separator = " ";
    }
    out << ']';
  } else if (value.type == F16) {
    text_detail::print_float(out, value.lo, text_detail::kF16);
  } else if (value.type == F32) {
    text_detail::print_float(out, value.lo, text_detail::kF32);
  } else if (value.type == F64) {
    text_detail::print_float(out, value.lo, text_detail::kF64);
  } else if (value.type.is_int() && value.type.bits() <= 64) {
    out << base::sign_extend(value.lo, value.type.bits());
  } else {
    (out << "").hex(value.hi).operator<<('_').hex(value.lo, 16);
  }
  return out;
}

}  // namespace hoist::ir
