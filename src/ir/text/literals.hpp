// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Numbers of CLIF text: integers in decimal or grouped hexadecimal, floats as C99 hexadecimal
/// floats with explicit infinities and NaNs.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/printer.hpp"

namespace hoist::ir::text_detail {

struct IntLiteral {
  bool negative = false;
  std::uint64_t magnitude = 0;
  /// Two's complement in `bits` (1..64) bits, or nothing if it does not fit as signed or unsigned.
  std::optional<std::uint64_t> in_bits(unsigned bits) const;
};

/// `12`, `-12`, `+12`, `0x1_0000`; nothing for anything else or beyond 64 bits.
std::optional<IntLiteral> parse_int(std::string_view text);

__extension__ typedef unsigned __int128 Bits128;

/// An unsigned number in hexadecimal (`0x`, any number of `_`) or decimal of up to 128 bits.
std::optional<Bits128> parse_wide(std::string_view text);

/// Layout of an IEEE 754 binary format of at most 128 bits.
struct FloatFormat {
  unsigned exponent_bits;
  unsigned fraction_bits;
};
inline constexpr FloatFormat kF16{5, 10};
inline constexpr FloatFormat kF32{8, 23};
inline constexpr FloatFormat kF64{11, 52};
inline constexpr FloatFormat kF128{15, 112};

/// The bits of a literal, or nothing if it is not one or not exactly representable.
std::optional<std::uint64_t> parse_float(std::string_view text, FloatFormat format);
std::optional<Bits128> parse_wide_float(std::string_view text, FloatFormat format);
void print_float(base::Printer& out, Bits128 bits, FloatFormat format);

/// Numbers as bytes, lowest first.
std::array<std::uint8_t, 16> to_bytes(Bits128 bits);
Bits128 from_bytes(const std::array<std::uint8_t, 16>& bytes);

/// `0x0001_0000`: groups of four digits, the first padded with zeros.
void print_grouped_hex(base::Printer& out, std::uint64_t value);
/// Decimal below 10000 and for negative numbers, else grouped hexadecimal.
void print_imm64(base::Printer& out, std::int64_t value);
/// `+8`, `-8`, nothing for 0.
void print_offset(base::Printer& out, std::int64_t offset);

}  // namespace hoist::ir::text_detail
