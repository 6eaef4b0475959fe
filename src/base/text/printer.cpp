// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text/printer.hpp"

#include <charconv>

namespace hoist::base {

Printer& Printer::hex(std::uint64_t value, unsigned digits) {
  char buffer[16];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr;
  const auto length = static_cast<unsigned>(end - buffer);
  *this << "0x";
  if (length < digits) text_.append(digits - length, '0');
  text_.append(buffer, length);
  return *this;
}

Printer& Printer::decimal(std::uint64_t value) {
  char buffer[20];
  text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return *this;
}

Printer& Printer::decimal_signed(std::int64_t value) {
  char buffer[21];
  text_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return *this;
}

}  // namespace hoist::base
