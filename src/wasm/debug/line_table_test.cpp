// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/line_table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/leb128.hpp"
#include "base/random.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put32(Bytes& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
void put_text(Bytes& out, const std::string& text) {
  out.insert(out.end(), text.begin(), text.end());
  out.push_back(0);
}
void append(Bytes& out, const Bytes& more) {
  out.insert(out.end(), more.begin(), more.end());
}

/// One function of 20 no-operations: the code section's content is 01 17 00 01*20 0b and has 24
/// bytes.
Bytes module_with(const Bytes& line, const Bytes& line_str = {}) {
  Bytes out = {0, 'a', 's', 'm', 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 24, 1, 22, 0};
  out.insert(out.end(), 20, 1);
  out.push_back(0x0b);
  const auto custom = [&](const std::string& name, const Bytes& content) {
    Bytes body;
    base::write_uleb(body, name.size());
    body.insert(body.end(), name.begin(), name.end());
    append(body, content);
    out.push_back(0);
    base::write_uleb(out, body.size());
    append(out, body);
  };
  custom(".debug_line", line);
  if (!line_str.empty()) custom(".debug_line_str", line_str);
  return out;
}
/// Where the content of the code section begins.
constexpr std::uint32_t kCode = 20;

LineTable read(const Bytes& bytes) {
  auto module = decode(ModuleBytes::borrow(bytes));
  EXPECT_TRUE(module);
  return module ? LineTable::read(*module) : LineTable();
}

Bytes sequence(std::uint32_t address, bool ends = true) {
  Bytes out = {0, 5, 2};
  put32(out, address);
  // line 10 at `address`, line 12 four bytes on, then six bytes to the end
  append(out, {3, 9, 1, 2, 4, 3, 2, 1, 2, 6});
  if (ends) append(out, {0, 1, 1});
  return out;
}

Bytes unit_of(Bytes head_rest, const Bytes& program, std::uint16_t version) {
  Bytes head = {1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  append(head, head_rest);
  Bytes body = {static_cast<std::uint8_t>(version), 0};
  if (version == 5) append(body, {4, 0});
  put32(body, static_cast<std::uint32_t>(head.size()));
  append(body, head);
  append(body, program);
  Bytes out;
  put32(out, static_cast<std::uint32_t>(body.size()));
  append(out, body);
  return out;
}

Bytes version4(const Bytes& program) {
  Bytes files;
  put_text(files, "src");
  files.push_back(0);
  put_text(files, "a.c");
  append(files, {1, 0, 0, 0});
  return unit_of(files, program, 4);
}

TEST(LineTable, Version4) {
  const LineTable table = read(module_with(version4(sequence(3))));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).line, 10U);
  EXPECT_EQ(table.find(kCode + 3).file, "src/a.c");
  EXPECT_EQ(table.find(kCode + 6).line, 10U);
  EXPECT_EQ(table.find(kCode + 7).line, 12U);
  EXPECT_EQ(table.find(kCode + 12).line, 12U);
  EXPECT_EQ(table.find(kCode + 13).line, 0U);
  EXPECT_EQ(table.find(kCode + 2).line, 0U);
  EXPECT_EQ(table.find(0).line, 0U);
  EXPECT_EQ(table.find(~std::uint64_t{0}).line, 0U);
}

TEST(LineTable, Version5) {
  Bytes strings;
  put_text(strings, "/home");
  const auto at_name = static_cast<std::uint32_t>(strings.size());
  put_text(strings, "b.c");
  Bytes lists = {1, 1, 0x1f, 1};  // directories: path as line_strp; one
  put32(lists, 0);
  append(lists, {2, 1, 0x1f, 2, 0x0b, 2});  // files: path, directory as data1; two
  for (int i = 0; i < 2; ++i) {
    put32(lists, at_name);
    lists.push_back(0);
  }
  const LineTable table = read(module_with(unit_of(lists, sequence(3), 5), strings));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).file, "/home/b.c");
}

TEST(LineTable, CodeThatTheLinkerDropped) {
  Bytes program = sequence(0);
  append(program, sequence(0xffff'ffff));
  append(program, sequence(3));
  append(program, sequence(0xffff'fffe));
  const LineTable table = read(module_with(version4(program)));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.size(), 3U);
}

TEST(LineTable, NothingIsFine) {
  EXPECT_TRUE(read(module_with({})).empty());
  EXPECT_EQ(read(module_with({})).problem(), "");
}

TEST(LineTable, WhatComesBeforeTheDamageCounts) {
  Bytes two = version4(sequence(3));
  append(two, {0xff, 0, 0, 0, 1, 2, 3});
  const LineTable table = read(module_with(two));
  EXPECT_NE(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).line, 10U);
}

/// Files whose names begin at any byte of one string, of which each is the rest.
TEST(LineTable, LongNamesThatShareOneString) {
  constexpr std::uint32_t kFiles = 100'000;
  const std::string name(4 << 20, 'x');
  Bytes strings;
  put_text(strings, name);
  Bytes lists = {1, 1, 0x1f, 1};
  put32(lists, 0);
  append(lists, {1, 1, 0x1f});
  base::write_uleb(lists, kFiles);
  for (std::uint32_t i = 0; i < kFiles; ++i) put32(lists, i);
  Bytes program = {0, 5, 2};
  put32(program, 3);
  append(program, {1, 2, 1, 0, 1, 1});
  const LineTable table = read(module_with(unit_of(lists, program, 5), strings));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).file, name.substr(0, 4096) + "/" + name.substr(0, 4096));
}

TEST(LineTable, DamagedSectionsDoNoHarm) {
  const Bytes good = version4(sequence(3));
  for (std::size_t size = 0; size < good.size(); ++size)
    read(module_with(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))));
  base::SplitMix64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = good;
    for (std::uint64_t k = random.next() % 4; k != ~std::uint64_t{0}; --k)
      bytes[random.next() % bytes.size()] = static_cast<std::uint8_t>(random.next());
    const LineTable table = read(module_with(bytes));
    for (std::uint32_t at = 0; at < 60; ++at) static_cast<void>(table.find(at).file.size());
  }
}

}  // namespace
}  // namespace hoist::wasm
