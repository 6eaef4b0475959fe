// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiling/vtune/method_tables.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace hoist::profiling {
namespace {

class Inlined final : public LoadedCode {
 public:
  Inlined(std::vector<CodeLine> lines, std::vector<InlinedCode> calls)
      : lines_(std::move(lines)), calls_(std::move(calls)) {}
  std::uint64_t id() const noexcept override { return 1; }
  std::string module_name() const noexcept override { return "m"; }
  const void* address() const noexcept override { return nullptr; }
  std::uint64_t size() const noexcept override { return 0; }
  std::size_t piece_count() const noexcept override { return 1; }
  CodePiece piece(std::size_t) const noexcept override { return {}; }
  void lines(std::size_t, std::vector<CodeLine>& out) const noexcept override { out = lines_; }
  void inlined(std::size_t, std::vector<InlinedCode>& out) const noexcept override { out = calls_; }
  std::span<const std::uint8_t> unwind_info() const noexcept override { return {}; }

 private:
  std::vector<CodeLine> lines_;
  std::vector<InlinedCode> calls_;
};

std::string text(const MethodTables& tables, std::uint32_t call, std::uint64_t begin,
                 std::uint64_t end) {
  std::vector<itt::LineNumber> entries;
  std::string out(tables.put_lines(call, begin, end, entries));
  for (const itt::LineNumber& entry : entries)
    out += " " + std::to_string(entry.offset) + ":" + std::to_string(entry.line);
  return out;
}

InlinedCode call(std::uint32_t parent, const char* file, std::uint32_t line,
                 std::vector<InlinedCode::Range> ranges) {
  return {"f", 0, parent, {0, 0, file, line}, std::move(ranges)};
}

TEST(MethodTables, CallsInPiecesAndOnlyInOthers) {
  // 0 in two pieces; 1 is only what it calls itself (2), right behind the first piece of 0.
  const Inlined code({{4, 0, "a", 1}, {10, 0, "b", 5}, {20, 0, "c", 6}, {30, 0, "a", 2}},
                     {call(InlinedCode::kNone, "a", 100, {{10, 14}, {50, 60}}),
                      call(InlinedCode::kNone, "a", 200, {}), call(1, "b", 300, {{14, 24}})});
  MethodTables tables;
  tables.read(code, 0);
  const auto regions = tables.regions();
  ASSERT_EQ(regions.size(), 4U);
  const std::uint32_t wanted[][4] = {{0, 10, 14, MethodTables::kItself},
                                     {1, 14, 24, MethodTables::kItself},
                                     {2, 14, 24, 1},
                                     {0, 50, 60, MethodTables::kItself}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(regions[i].call, wanted[i][0]) << i;
    EXPECT_EQ(regions[i].begin, wanted[i][1]) << i;
    EXPECT_EQ(regions[i].end, wanted[i][2]) << i;
    EXPECT_EQ(regions[i].parent, wanted[i][3]) << i;
  }
  // What is before the first line counts for it, what is of another file for the line before.
  EXPECT_EQ(text(tables, MethodTables::kItself, 0, 80), "a 10:1 14:100 30:200 50:2 60:100 80:2");
  EXPECT_EQ(text(tables, 0, 10, 14), "b 4:5");
  EXPECT_EQ(text(tables, 0, 50, 60), "a 10:2");
  EXPECT_EQ(text(tables, 1, 14, 24), "b 10:300");
  EXPECT_EQ(text(tables, 2, 14, 24), "b 10:5");
}

TEST(MethodTables, NothingKnown) {
  MethodTables tables;
  tables.read(Inlined({}, {}), 0);
  EXPECT_TRUE(tables.regions().empty());
  EXPECT_EQ(text(tables, MethodTables::kItself, 0, 16), "");
  tables.read(Inlined({{0, 7, "", 0}}, {}), 0);
  EXPECT_EQ(text(tables, MethodTables::kItself, 0, 16), "");
}

// What a collector is entitled to, and each byte against a plain computation.
TEST(MethodTables, RandomTreesOfCalls) {
  std::mt19937 random(3);  // NOLINT: the same every time
  const auto pick = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<InlinedCode> calls;
    const std::uint32_t count = 1 + pick(6);
    for (std::uint32_t i = 0; i < count; ++i)
      calls.push_back(
          call(i == 0 || pick(3) == 0 ? InlinedCode::kNone : pick(i), "x", 1000 + i, {}));
    std::vector<CodeLine> lines;
    std::uint32_t owner[64];  // the call of each byte
    std::uint32_t line_of[64];
    for (std::uint32_t at = 0; at < 64;) {
      const std::uint32_t end = std::min<std::uint32_t>(64, at + 1 + pick(9));
      const std::uint32_t of = pick(3) == 0 ? InlinedCode::kNone : pick(count);
      if (of != InlinedCode::kNone) calls[of].ranges.push_back({at, end});
      const std::uint32_t line = 1 + pick(50);
      lines.push_back({at, 0, "x", line});
      for (; at < end; ++at) {
        owner[at] = of;
        line_of[at] = line;
      }
    }
    MethodTables tables;
    const Inlined code(lines, calls);
    tables.read(code, 0);
    const auto wanted = [&](std::uint32_t of, std::uint32_t at) {
      std::uint32_t line = line_of[at];
      for (std::uint32_t in = owner[at]; in != of; in = calls[in].parent)
        line = calls[in].call.line;
      return line;
    };
    const auto check = [&](std::uint32_t of, std::uint32_t begin, std::uint32_t end) {
      std::vector<itt::LineNumber> entries;
      static_cast<void>(tables.put_lines(of, begin, end, entries));
      ASSERT_FALSE(entries.empty());
      EXPECT_EQ(entries.back().offset, end - begin);
      std::size_t entry = 0;
      for (std::uint32_t at = begin; at < end; ++at) {
        while (entries[entry].offset <= at - begin) ++entry;
        EXPECT_EQ(entries[entry].line, wanted(of, at)) << round << " " << at;
      }
    };
    check(MethodTables::kItself, 0, 64);
    std::uint32_t covered[6] = {};
    const auto regions = tables.regions();
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const auto& region = regions[i];
      check(region.call, region.begin, region.end);
      covered[region.call] += region.end - region.begin;
      const std::uint32_t parent = calls[region.call].parent;
      if (parent == InlinedCode::kNone) {
        EXPECT_EQ(region.parent, MethodTables::kItself);
      } else {
        ASSERT_LT(region.parent, i);
        EXPECT_EQ(regions[region.parent].call, parent);
        EXPECT_LE(regions[region.parent].begin, region.begin);
        EXPECT_GE(regions[region.parent].end, region.end);
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t bytes = 0;
      for (const std::uint32_t of : owner) {
        std::uint32_t in = of;
        while (in != InlinedCode::kNone && in != i) in = calls[in].parent;
        bytes += in == i;
      }
      EXPECT_EQ(covered[i], bytes) << round;
    }
  }
}

}  // namespace
}  // namespace hoist::profiling
