// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Numbers of WebAssembly text to bits: integers with "_" and "0x", decimal and hexadecimal floats
/// rounded to nearest-even directly in their own width, infinities and NaNs with payload.
/// Source: WebAssembly core specification 3.0, section 6.3.1 to 6.3.2.

#include <cstdint>
#include <string_view>

#include "wasm/text/lexer.hpp"

namespace hoist::wasm {

enum class NumberStatus : std::uint8_t { Ok, Malformed, OutOfRange };

template <typename T>
struct Number {
  NumberStatus status = NumberStatus::Malformed;
  T bits = 0;
};

/// Nat, Int, Float or Reserved: what the characters of a token that starts with a digit or sign
/// are.
TokenKind classify_number(std::string_view text);

/// An unsigned integer below 2^64.
Number<std::uint64_t> parse_nat(std::string_view text);
/// A signed or unsigned integer that fits `width` (8, 16, 32, 64) bits either way; the result is
/// the low `width` bits.
Number<std::uint64_t> parse_int(std::string_view text, unsigned width);
/// An integer or float token as IEEE bits.
Number<std::uint32_t> parse_f32(std::string_view text);
Number<std::uint64_t> parse_f64(std::string_view text);

}  // namespace hoist::wasm
