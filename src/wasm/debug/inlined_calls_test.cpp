// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/inlined_calls.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "wasm/debug/dwarf_test_support.hpp"

namespace hoist::wasm {
namespace {

using Bytes = TestBytes;

InlinedCalls read(const TestSections& sections) {
  const Bytes bytes = module_with(sections);
  auto module = decode(ModuleBytes::borrow(bytes));
  EXPECT_TRUE(module);
  return module ? InlinedCalls::read(*module) : InlinedCalls();
}

// Tags, attributes and forms of the abbreviations below.
constexpr std::uint8_t kUnit = 0x11, kFunction = 0x2e, kBlock = 0x0b, kInlined = 0x1d;
constexpr std::uint8_t kName = 0x03, kLines = 0x10, kLow = 0x11, kHigh = 0x12, kOrigin = 0x31,
                       kSpecified = 0x47, kRanges = 0x55, kFile = 0x58, kLine = 0x59,
                       kLinkage = 0x6e, kStringBase = 0x72, kAddressBase = 0x73, kListBase = 0x74;
constexpr std::uint8_t kAddr = 0x01, kData4 = 0x06, kString = 0x08, kData1 = 0x0b, kRef4 = 0x13,
                       kOffset = 0x17, kStrx1 = 0x25, kAddrx1 = 0x29, kImplicit = 0x21,
                       kRnglistx = 0x23;

Bytes abbreviations4() {
  return {
      1,     kUnit,     1, kLines,     kOffset, kLow,     kAddr,   0,     0,                      //
      2,     kFunction, 0, kName,      kString, 0,        0,                                      //
      3,     kFunction, 1, kLow,       kAddr,   kHigh,    kData4,  0,     0,                      //
      4,     kInlined,  1, kOrigin,    kRef4,   kLow,     kAddr,   kHigh, kData4, kFile, kData1,  //
      kLine, kData1,    0, 0,                                                                     //
      5,     kBlock,    1, 0,          0,                                                         //
      6,     kInlined,  0, kOrigin,    kRef4,   kRanges,  kOffset, kFile, kData1, kLine, kData1,  //
      0,     0,                                                                                   //
      7,     kFunction, 0, kSpecified, kRef4,   0,        0,                                      //
      8,     kFunction, 0, kName,      kString, kLinkage, kString, 0,     0,      0};
}

/// The function at 3 to 20: "middle" is inlined from line 10 at 4 to 16, and in it, within a block,
/// "_Z5innerv" from line 20, at 6 to 8 and 10 to 12.
TestSections version4() {
  Bytes info = {4, 0};
  put32(info, 0);
  info.push_back(4);
  const auto at = [&] { return static_cast<std::uint32_t>(info.size() + 4); };
  info.push_back(1);
  put32(info, 0);
  put32(info, 3);
  const std::uint32_t middle = at();
  info.push_back(2);
  put_text(info, "middle");
  const std::uint32_t declared = at();
  info.push_back(8);
  put_text(info, "inner");
  put_text(info, "_Z5innerv");
  const std::uint32_t inner = at();
  info.push_back(7);
  put32(info, declared);
  info.push_back(3);
  put32(info, 3);
  put32(info, 17);
  info.push_back(4);
  put32(info, middle);
  put32(info, 4);
  put32(info, 12);
  append(info, {1, 10, 5, 6});
  put32(info, inner);
  put32(info, 8);  // in .debug_ranges
  append(info, {1, 20, 0, 0, 0, 0});
  Bytes ranges;
  for (const std::uint32_t word : {0U, 0U, 3U, 5U, 7U, 9U, 0U, 0U}) put32(ranges, word);
  return {{".debug_info", counted(info)},
          {".debug_abbrev", abbreviations4()},
          {".debug_ranges", ranges},
          {".debug_line", line_unit_4(line_sequence(3))}};
}

std::string frames_at(const TestSections& sections, std::uint32_t address) {
  const Bytes bytes = module_with(sections);
  auto module = decode(ModuleBytes::borrow(bytes));
  if (!module) return "?";
  std::string out;
  for_each_source_frame(LineTable::read(*module), InlinedCalls::read(*module), kCode + address,
                        [&](const SourceFrame& frame) {
                          if (!out.empty()) out += " < ";
                          out += std::string(frame.function) + " " + std::string(frame.at.file) +
                                 ":" + std::to_string(frame.at.line);
                        });
  return out;
}

TEST(InlinedCalls, Version4) {
  const InlinedCalls calls = read(version4());
  EXPECT_EQ(calls.problem(), "");
  EXPECT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls.find(kCode + 3), InlinedCalls::kNone);
  EXPECT_EQ(frames_at(version4(), 3), " src/a.c:10");
  EXPECT_EQ(frames_at(version4(), 4), "middle src/a.c:10 <  src/a.c:10");
  EXPECT_EQ(frames_at(version4(), 6), "_Z5innerv src/a.c:10 < middle src/a.c:20 <  src/a.c:10");
  EXPECT_EQ(frames_at(version4(), 8), "middle src/a.c:12 <  src/a.c:10");
  EXPECT_EQ(frames_at(version4(), 11), "_Z5innerv src/a.c:12 < middle src/a.c:20 <  src/a.c:10");
  EXPECT_EQ(frames_at(version4(), 12), "middle src/a.c:12 <  src/a.c:10");
  EXPECT_EQ(frames_at(version4(), 16), " :0");
}

/// Version 5: strings, addresses and lists of ranges by number.
TEST(InlinedCalls, Version5) {
  const Bytes abbreviations = {1,         kUnit,     1,         kStringBase, kOffset, kAddressBase,
                               kOffset,   kListBase, kOffset,                             //
                               kLines,    kOffset,   kLow,      kAddrx1,     0,       0,  //
                               2,         kFunction, 0,         kName,       kStrx1,  0,
                               0,  //
                               3,         kFunction, 1,         kLow,        kAddrx1, kHigh,
                               kData4,    0,         0,  //
                               4,         kInlined,  0,         kOrigin,     kRef4,   kRanges,
                               kRnglistx, kFile,     kImplicit, 0,  //
                               kLine,     kData1,    0,         0,           0};
  Bytes info = {5, 0, 1, 4};
  put32(info, 0);
  info.push_back(1);
  for (const std::uint32_t base : {8U, 8U, 12U, 0U}) put32(info, base);
  info.push_back(0);  // low address: number 0
  const auto leaf = static_cast<std::uint32_t>(info.size() + 4);
  append(info, {2, 1, 3, 0});
  put32(info, 17);
  info.push_back(4);
  put32(info, leaf);
  append(info, {0, 33, 0, 0});
  Bytes strings;
  put_text(strings, "no");
  put_text(strings, "leaf");
  Bytes string_offsets = {16, 0, 0, 0, 5, 0, 0, 0};
  put32(string_offsets, 0);
  put32(string_offsets, 3);
  Bytes addresses = {12, 0, 0, 0, 5, 0, 4, 0};
  put32(addresses, 3);
  put32(addresses, 14);
  Bytes lists = {0, 0, 0, 0, 5, 0, 4, 0, 1, 0, 0, 0};
  put32(lists, 4);
  append(lists, {4, 2, 4, 3, 1, 2, 7, 9, 0, 0, 0, 1, 6, 11, 0, 0, 0, 12, 0, 0, 0, 0});
  Bytes files = {1, 1, 8, 1};
  put_text(files, "/src");
  append(files, {1, 1, 8, 1});
  put_text(files, "b.c");
  const TestSections sections = {{".debug_info", counted(info)},
                                 {".debug_abbrev", abbreviations},
                                 {".debug_str", strings},
                                 {".debug_str_offsets", string_offsets},
                                 {".debug_addr", addresses},
                                 {".debug_rnglists", lists},
                                 {".debug_line", line_unit(files, line_sequence(3), 5)}};
  const InlinedCalls calls = read(sections);
  EXPECT_EQ(calls.problem(), "");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].function, "leaf");
  EXPECT_EQ(calls[0].from.file, "/src/b.c");
  EXPECT_EQ(calls[0].from.line, 33U);
  std::string inside;
  for (std::uint32_t at = 3; at < 24; ++at) {
    if (calls.find(kCode + at) == 0) inside += std::to_string(at) + " ";
  }
  // offset_pair 2 to 4 from 3; startx_length number 1 (14), 2; start_length 9, 1; start_end 11, 12
  EXPECT_EQ(inside, "5 6 9 11 14 15 ");
}

TEST(InlinedCalls, CodeThatTheLinkerDropped) {
  TestSections sections = version4();
  // The function's and the call's addresses become those of dropped code.
  Bytes& info = sections[0].second;
  for (std::size_t i = 0; i + 3 < info.size(); ++i) {
    if (info[i] == 4 && info[i + 1] == 0 && info[i + 4] == 12)
      info[i] = info[i + 1] = info[i + 2] = info[i + 3] = 0xff;
  }
  const InlinedCalls calls = read(sections);
  EXPECT_EQ(calls.problem(), "");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].function, "_Z5innerv");
  EXPECT_EQ(calls[0].parent, InlinedCalls::kNone);
}

TEST(InlinedCalls, NothingIsFine) {
  EXPECT_TRUE(read({}).empty());
  EXPECT_EQ(read({}).problem(), "");
}

/// Each of a million entries has a thousand attributes that take no bytes: reading must not look at
/// each.
TEST(InlinedCalls, AttributesWithoutBytes) {
  Bytes abbreviations = {1, kUnit, 1, 0, 0, 2, kBlock, 0};
  for (int i = 0; i < 1000; ++i) append(abbreviations, {0x3f, 0x19, kLine, kImplicit, 1});
  append(abbreviations, {0, 0, 0});
  Bytes info = {4, 0};
  put32(info, 0);
  append(info, {4, 1});
  info.insert(info.end(), 1'000'000, 2);
  info.push_back(0);
  const InlinedCalls calls =
      read({{".debug_info", counted(info)}, {".debug_abbrev", abbreviations}});
  EXPECT_EQ(calls.problem(), "");
  EXPECT_TRUE(calls.empty());
}

/// Each of many entries names the same long list: reading must not go through it each time.
TEST(InlinedCalls, OneListForAll) {
  Bytes info = {4, 0};
  put32(info, 0);
  append(info, {4, 1});
  put32(info, 0);
  put32(info, 3);
  Bytes ranges;
  for (int i = 0; i < 100'000; ++i) {
    info.push_back(6);
    put32(info, 0);
    put32(info, 0);
    append(info, {1, 1});
    put32(ranges, 0xffff'ffff);  // no range, only where those behind it count from
    put32(ranges, 0);
  }
  info.push_back(0);
  const InlinedCalls calls = read({{".debug_info", counted(info)},
                                   {".debug_abbrev", abbreviations4()},
                                   {".debug_ranges", ranges}});
  EXPECT_NE(calls.problem(), "");
  EXPECT_TRUE(calls.empty());
}

/// Each of many units names the same list of files.
TEST(InlinedCalls, OneHeaderForAll) {
  Bytes unit = {4, 0};
  put32(unit, 0);
  append(unit, {4, 1});
  put32(unit, 0);
  put32(unit, 3);
  unit.push_back(4);
  for (const std::uint32_t word : {0U, 3U, 9U}) put32(unit, word);
  append(unit, {1, 20, 0, 0});
  unit = counted(unit);
  Bytes info;
  for (int i = 0; i < 20'000; ++i) append(info, unit);
  Bytes files = {0};
  for (int i = 0; i < 100'000; ++i) append(files, {'a', 0, 0, 0, 0});
  files.push_back(0);
  const InlinedCalls calls = read({{".debug_info", info},
                                   {".debug_abbrev", abbreviations4()},
                                   {".debug_line", line_unit(files, line_sequence(3), 4)}});
  EXPECT_EQ(calls.problem(), "");
  ASSERT_EQ(calls.size(), 20'000U);
  EXPECT_EQ(calls[0].from.file, "a");
  EXPECT_EQ(calls[19'999].from.file, "");
}

TEST(InlinedCalls, DamageEndsTheReading) {
  TestSections sections = version4();
  append(sections[0].second, {9, 0, 0, 0, 4, 0, 0, 0, 0, 0, 4, 99, 0});
  const InlinedCalls calls = read(sections);
  EXPECT_NE(calls.problem(), "");
  sections[0].second[0] = 0xf0;
  EXPECT_NE(read(sections).problem(), "");
}

TEST(InlinedCalls, DamagedSectionsDoNoHarm) {
  base::SplitMix64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    TestSections sections = version4();
    Bytes& bytes = sections[random.next() % 3].second;
    for (std::uint64_t k = random.next() % 4; k != ~std::uint64_t{0}; --k)
      bytes[random.next() % bytes.size()] = static_cast<std::uint8_t>(random.next());
    if (random.next() % 8 == 0) bytes.resize(random.next() % bytes.size());
    const InlinedCalls calls = read(sections);
    for (std::uint32_t at = 0; at < 60; ++at) {
      const std::uint32_t call = calls.find(at);
      if (call != InlinedCalls::kNone) {
        ASSERT_LT(call, calls.size());
        const std::uint32_t parent = calls[call].parent;
        ASSERT_TRUE(parent == InlinedCalls::kNone || parent < call);
      }
    }
  }
}

}  // namespace
}  // namespace hoist::wasm
