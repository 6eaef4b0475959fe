// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Modules with DWARF, byte by byte, for tests.

#include <string>
#include <utility>
#include <vector>

#include "base/leb128.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

using TestBytes = std::vector<std::uint8_t>;

inline void put16(TestBytes& out, std::uint32_t value) {
  for (int i = 0; i < 2; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void put32(TestBytes& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
inline void put_text(TestBytes& out, const std::string& text) {
  out.insert(out.end(), text.begin(), text.end());
  out.push_back(0);
}
inline void append(TestBytes& out, const TestBytes& more) {
  out.insert(out.end(), more.begin(), more.end());
}
/// With its length in front.
inline TestBytes counted(const TestBytes& body) {
  TestBytes out;
  put32(out, static_cast<std::uint32_t>(body.size()));
  append(out, body);
  return out;
}

using TestSections = std::vector<std::pair<std::string, TestBytes>>;

/// Two functions of 20 and 10 no-operations: the code section's content is
/// 02 | 16 00 01*20 0b | 0c 00 01*10 0b; the first body is at 2 to 24, the second at 25 to 37.
inline TestBytes module_with(const TestSections& sections) {
  TestBytes out = {0, 'a', 's', 'm', 1, 0, 0, 0,  1,  4, 1,  0x60,
                   0, 0,   3,   3,   2, 0, 0, 10, 37, 2, 22, 0};
  out.insert(out.end(), 20, 1);
  append(out, {0x0b, 12, 0});
  out.insert(out.end(), 10, 1);
  out.push_back(0x0b);
  for (const auto& [name, content] : sections) {
    TestBytes body;
    base::write_uleb(body, name.size());
    body.insert(body.end(), name.begin(), name.end());
    append(body, content);
    out.push_back(0);
    base::write_uleb(out, body.size());
    append(out, body);
  }
  return out;
}
/// Where the content of the code section begins.
inline constexpr std::uint32_t kCode = 21;

/// A unit of .debug_line: `head_rest` has its directories and files.
inline TestBytes line_unit(const TestBytes& head_rest, const TestBytes& program,
                           std::uint16_t version) {
  TestBytes head = {1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  append(head, head_rest);
  TestBytes body = {static_cast<std::uint8_t>(version), 0};
  if (version == 5) append(body, {4, 0});
  put32(body, static_cast<std::uint32_t>(head.size()));
  append(body, head);
  append(body, program);
  return counted(body);
}
/// Of version 4, with the file src/a.c.
inline TestBytes line_unit_4(const TestBytes& program) {
  TestBytes files;
  put_text(files, "src");
  files.push_back(0);
  put_text(files, "a.c");
  append(files, {1, 0, 0, 0});
  return line_unit(files, program, 4);
}
/// Line 10 at `address`, line 12 four bytes on, then `rest` bytes to the end.
inline TestBytes line_sequence(std::uint32_t address, std::uint8_t rest = 6) {
  TestBytes out = {0, 5, 2};
  put32(out, address);
  append(out, {3, 9, 1, 2, 4, 3, 2, 1, 2, rest, 0, 1, 1});
  return out;
}

}  // namespace hoist::wasm
