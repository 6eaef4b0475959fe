// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/arguments.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace hoist::cli {

namespace {

Error bad_argument(std::string message) {
  return {ErrorKind::BadArgument, std::move(message)};
}

/// A decimal or 0x number, signed or unsigned, that fits `bits`.
Result<std::uint64_t> parse_integer(const std::string& text, unsigned bits) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (!digits.empty() && (digits.front() == '-' || digits.front() == '+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  }
  std::uint64_t magnitude = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  const std::uint64_t limit = negative     ? std::uint64_t{1} << (bits - 1)
                              : bits == 64 ? ~std::uint64_t{0}
                                           : (std::uint64_t{1} << bits) - 1;
  if (digits.empty() || end != digits.data() + digits.size() ||
      code == std::errc::invalid_argument) {
    return bad_argument(fmt::format("'{}' is not a number of type i{}", text, bits));
  }
  if (code == std::errc::result_out_of_range || magnitude > limit) {
    return bad_argument(fmt::format("'{}' does not fit i{}", text, bits));
  }
  return negative ? ~magnitude + 1 : magnitude;
}

template <typename T>
Result<T> parse_float(const std::string& text, const char* type) {
  char* end = nullptr;
  T value;
  if constexpr (sizeof(T) == 4) {
    value = std::strtof(text.c_str(), &end);
  } else {
    value = std::strtod(text.c_str(), &end);
  }
  if (text.empty() || *end != '\0')
    return bad_argument(fmt::format("'{}' is not a number of type {}", text, type));
  return value;
}

}  // namespace

Result<Val> parse_value(const std::string& text, ValType type) {
  switch (type.kind()) {
    case ValKind::I32: {
      auto value = parse_integer(text, 32);
      if (!value) return std::move(value).error();
      return Val(static_cast<std::uint32_t>(*value));
    }
    case ValKind::I64: {
      auto value = parse_integer(text, 64);
      if (!value) return std::move(value).error();
      return Val(*value);
    }
    case ValKind::F32: {
      auto value = parse_float<float>(text, "f32");
      if (!value) return std::move(value).error();
      return Val(*value);
    }
    case ValKind::F64: {
      auto value = parse_float<double>(text, "f64");
      if (!value) return std::move(value).error();
      return Val(*value);
    }
    case ValKind::FuncRef:
    case ValKind::ExternRef:
    case ValKind::ExnRef:
    case ValKind::AnyRef:
      if (text == "null") return Val::null(type);
      return bad_argument(fmt::format(
          "a reference of type {} can only be given as 'null', not '{}'", name(type), text));
    case ValKind::V128: break;
  }
  return bad_argument("a parameter of type v128 cannot be given on the command line");
}

std::string print_value(const Val& value) {
  switch (value.kind()) {
    case ValKind::I32: return fmt::format("{}", value.i32());
    case ValKind::I64: return fmt::format("{}", value.i64());
    case ValKind::F32: return fmt::format("{}", value.f32());
    case ValKind::F64: return fmt::format("{}", value.f64());
    case ValKind::V128:
    case ValKind::FuncRef:
    case ValKind::ExternRef:
    case ValKind::ExnRef:
    case ValKind::AnyRef: break;
  }
  return to_string(value);
}

}  // namespace hoist::cli
