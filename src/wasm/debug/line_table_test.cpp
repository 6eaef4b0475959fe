// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/line_table.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "wasm/debug/dwarf_test_support.hpp"

namespace hoist::wasm {
namespace {

using Bytes = TestBytes;

Bytes with_lines(const Bytes& line, const Bytes& line_str = {}) {
  return module_with({{".debug_line", line}, {".debug_line_str", line_str}});
}

LineTable read(const Bytes& bytes) {
  auto module = decode(ModuleBytes::borrow(bytes));
  EXPECT_TRUE(module);
  return module ? LineTable::read(*module) : LineTable();
}

TEST(LineTable, Version4) {
  const LineTable table = read(with_lines(line_unit_4(line_sequence(3))));
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
  const LineTable table = read(with_lines(line_unit(lists, line_sequence(3), 5), strings));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).file, "/home/b.c");
}

TEST(LineTable, CodeThatTheLinkerDropped) {
  Bytes program = line_sequence(0);
  append(program, line_sequence(0xffff'ffff));
  append(program, line_sequence(3));
  append(program, line_sequence(0xffff'fffe));
  const LineTable table = read(with_lines(line_unit_4(program)));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.size(), 3U);
}

TEST(LineTable, NothingIsFine) {
  EXPECT_TRUE(read(with_lines({})).empty());
  EXPECT_EQ(read(with_lines({})).problem(), "");
}

TEST(LineTable, WhatComesBeforeTheDamageCounts) {
  Bytes two = line_unit_4(line_sequence(3));
  append(two, {0xff, 0, 0, 0, 1, 2, 3});
  const LineTable table = read(with_lines(two));
  EXPECT_NE(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).line, 10U);
}

/// The directory of the compilation, which version 4 has in .debug_info only.
TEST(LineTable, DirectoryOfTheCompilation) {
  Bytes info = {4, 0};
  put32(info, 0);
  append(info, {4, 1});
  put32(info, 0);  // its line program
  put_text(info, "/project");
  const LineTable table =
      read(module_with({{".debug_line", line_unit_4(line_sequence(3))},
                        {".debug_abbrev", {1, 0x11, 0, 0x10, 0x17, 0x1b, 8, 0, 0, 0}},
                        {".debug_info", counted(info)}}));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).file, "/project/src/a.c");
}

TEST(LineTable, NoLineReachesIntoTheNextFunction) {
  const LineTable table = read(with_lines(line_unit_4(line_sequence(3, 29))));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 23).line, 12U);
  EXPECT_EQ(table.find(kCode + 24).line, 0U);
  EXPECT_EQ(table.find(kCode + 30).line, 0U);
}

TEST(LineTable, SequencesThatGoBackAreLeftOut) {
  Bytes back = {0, 5, 2};
  put32(back, 9);
  append(back, {1, 0, 5, 2});
  put32(back, 5);
  append(back, {1, 2, 6, 0, 1, 1});
  append(back, line_sequence(26, 4));
  const LineTable table = read(with_lines(line_unit_4(back)));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 6).line, 0U);
  EXPECT_EQ(table.find(kCode + 10).line, 0U);
  EXPECT_EQ(table.find(kCode + 26).line, 10U);
}

/// Of a unit with a mistake nothing is believed.
TEST(LineTable, UnitsWithAMistake) {
  Bytes program = line_sequence(3);
  append(program, {0, 0});
  const LineTable table = read(with_lines(line_unit_4(program)));
  EXPECT_NE(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).line, 0U);
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
  const LineTable table = read(with_lines(line_unit(lists, program, 5), strings));
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.find(kCode + 3).file, name.substr(0, 4096) + "/" + name.substr(0, 4096));
}

TEST(LineTable, DamagedSectionsDoNoHarm) {
  const Bytes good = line_unit_4(line_sequence(3));
  for (std::size_t size = 0; size < good.size(); ++size)
    read(with_lines(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))));
  base::SplitMix64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = good;
    for (std::uint64_t k = random.next() % 4; k != ~std::uint64_t{0}; --k)
      bytes[random.next() % bytes.size()] = static_cast<std::uint8_t>(random.next());
    const LineTable table = read(with_lines(bytes));
    for (std::uint32_t at = 0; at < 60; ++at) static_cast<void>(table.find(at).file.size());
  }
}

}  // namespace
}  // namespace hoist::wasm
