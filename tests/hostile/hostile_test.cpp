// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hostile bytes against the decoder and the validator: every prefix, seeded byte flips, huge
// counts, LEB128 edge cases, deep nesting. Whatever comes in, the answer is a module or an error;
// the test is that there is an answer (under sanitizers: and nothing else happened).
//
// The modules are assembled here; those that `make test-programs` has built are used too when
// present.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "wasm/decode/decoder.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/validator.hpp"

namespace hoist {
namespace {

using Bytes = std::vector<std::uint8_t>;

bool accepts(std::span<const std::uint8_t> bytes) {
  auto module = wasm::decode(wasm::ModuleBytes::borrow(bytes));
  if (!module) {
    EXPECT_FALSE(module.error().message().empty());
    return false;
  }
  auto valid = wasm::validate_all(*module);
  if (!valid) {
    EXPECT_FALSE(valid.error().message().empty());
  }
  return valid.has_value();
}

Bytes assemble(std::string_view text) {
  auto bytes = wasm::assemble_wat(text);
  EXPECT_TRUE(bytes) << bytes.error().message() << " line " << bytes.error().line();
  return bytes ? *std::move(bytes) : Bytes{};
}

/// A module with something in every section.
constexpr std::string_view kEverything = R"((module $everything
  (type $t (func (param i32 i64) (result f32 f64)))
  (import "m" "f" (func $imported (type $t)))
  (import "m" "g" (global $ig i32))
  (table $tab 3 9 funcref) (table 1 externref)
  (memory $mem 1 2)
  (global $g (mut i64) (i64.const -1)) (global f64 (f64.const nan:0x8000000000001))
  (export "run" (func $run)) (export "mem" (memory $mem))
  (start $init)
  (elem (table $tab) (i32.const 0) func $run $init $run)
  (elem $passive funcref (ref.func $run) (ref.null func))
  (elem declare func $imported)
  (data (i32.const 8) "hello\00\ff") (data $d "passive")
  (func $init)
  (func $run (param $x i32) (result i32) (local i64 f32 f64 funcref)
    (block $out (result i32)
      (loop $again
        (br_if $again (i32.eqz (local.get $x)))
        (block $in (br_table $again $in $again (local.get $x))))
      (if (result i32) (local.get $x) (then (i32.load8_s offset=77 (local.get $x))) (else (i32.const -5)))
      (drop (call_indirect $tab (param i32) (result i32) (i32.const 0) (i32.const 1)))
      (memory.copy (i32.const 0) (i32.const 1) (i32.const 2))
      (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1)) (data.drop $d)
      (table.init $tab $passive (i32.const 0) (i32.const 0) (i32.const 1)) (elem.drop $passive)
      (drop (select (result funcref) (ref.func $imported) (ref.null func) (i32.const 1)))
      (i64.store align=1 (i32.const 3) (i64.trunc_sat_f64_u (f64.const 1e300))))
    return))
)";

std::vector<std::pair<std::string, Bytes>> corpus() {
  std::vector<std::pair<std::string, Bytes>> out;
  out.emplace_back("everything", assemble(kEverything));
  const std::filesystem::path folder =
      std::filesystem::path(HOIST_SOURCE_DIR) / "build" / "programs";
  std::error_code ignored;
  for (const char* name : {"orbit.wasm", "lua.wasm"}) {
    std::ifstream file(folder / name, std::ios::binary);
    if (file) out.emplace_back(name, Bytes(std::istreambuf_iterator<char>(file), {}));
  }
  return out;
}

std::vector<std::size_t> section_borders(const Bytes& bytes) {
  std::vector<std::size_t> out;
  std::size_t at = 8;
  while (at < bytes.size()) {
    out.push_back(at);
    std::size_t size = 0;
    unsigned shift = 0;
    std::size_t p = at + 1;
    while (p < bytes.size() && shift < 35) {
      size |= std::size_t{bytes[p] & 0x7fu} << shift;
      shift += 7;
      if ((bytes[p++] & 0x80) == 0) break;
    }
    at = p + size;
  }
  return out;
}

TEST(Hostile, TheCorpusIsValid) {
  for (const auto& [name, bytes] : corpus()) EXPECT_TRUE(accepts(bytes)) << name;
}

TEST(Hostile, PrefixesAreRejected) {
  std::mt19937 random(1);
  for (const auto& [name, bytes] : corpus()) {
    std::vector<std::size_t> cuts;
    if (bytes.size() <= 65536) {
      for (std::size_t i = 0; i < bytes.size(); ++i) cuts.push_back(i);
    } else {
      for (const std::size_t border : section_borders(bytes)) {
        for (std::size_t i = border - 2; i < border + 3; ++i) cuts.push_back(i);
      }
      for (int i = 0; i < 2000; ++i) cuts.push_back(random() % bytes.size());
    }
    for (const std::size_t cut : cuts) {
      // Without its code section a module may be whole again: only the answer counts there.
      const bool ok = accepts(std::span(bytes).first(std::min(cut, bytes.size())));
      if (bytes.size() <= 65536 && cut < 8) {
        EXPECT_FALSE(ok) << name << " cut at " << cut;
      }
    }
  }
}

TEST(Hostile, FlippedBytesGiveAnAnswer) {
  std::mt19937 random(2);
  for (const auto& [name, bytes] : corpus()) {
    const int rounds = bytes.size() <= 65536 ? 20000 : 300;
    Bytes copy = bytes;
    for (int i = 0; i < rounds; ++i) {
      const std::size_t flips = 1 + random() % 3;
      std::vector<std::pair<std::size_t, std::uint8_t>> undo;
      for (std::size_t k = 0; k < flips; ++k) {
        const std::size_t at = random() % copy.size();
        undo.emplace_back(at, copy[at]);
        copy[at] = static_cast<std::uint8_t>(random());
      }
      static_cast<void>(accepts(copy));
      for (auto u = undo.rbegin(); u != undo.rend(); ++u) copy[u->first] = u->second;
    }
    EXPECT_EQ(copy, bytes) << name;
  }
}

Bytes with_section(std::uint8_t id, const Bytes& content) {
  Bytes out = {0, 'a', 's', 'm', 1, 0, 0, 0, id};
  std::size_t size = content.size();
  do {
    out.push_back(static_cast<std::uint8_t>((size & 0x7f) | (size > 0x7f ? 0x80 : 0)));
    size >>= 7;
  } while (size != 0);
  out.insert(out.end(), content.begin(), content.end());
  return out;
}

TEST(Hostile, HugeCountsAreRejectedBeforeMemoryIsTaken) {
  for (std::uint8_t section = 1; section <= 12; ++section) {
    EXPECT_FALSE(accepts(with_section(section, {0xff, 0xff, 0xff, 0xff, 0x0f}))) << int{section};
    EXPECT_FALSE(accepts(with_section(section, {0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0})))
        << int{section};
  }
  // 2^32 - 1 locals in a body of ten bytes.
  Bytes bytes = assemble("(module (func (local i32)))");
  const Bytes body = {0x0a, 0x06, 0x01, 0x04, 0x01, 0x01, 0x7f, 0x0b};
  const auto at = std::search(bytes.begin(), bytes.end(), body.begin(), body.end());
  ASSERT_NE(at, bytes.end());
  const Bytes huge = {0x0a, 0x0a, 0x01, 0x08, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b};
  Bytes out(bytes.begin(), at);
  out.insert(out.end(), huge.begin(), huge.end());
  EXPECT_FALSE(accepts(out));
}

TEST(Hostile, LebEdges) {
  const auto type_count = [](Bytes leb) { return accepts(with_section(1, leb)); };
  EXPECT_TRUE(type_count({0x00}));
  EXPECT_TRUE(type_count({0x80, 0x80, 0x80, 0x80, 0x00})) << "padded to five bytes is legal";
  EXPECT_FALSE(type_count({0x80, 0x80, 0x80, 0x80, 0x80, 0x00})) << "six bytes";
  EXPECT_FALSE(type_count({0x80, 0x80, 0x80, 0x80, 0x10})) << "bit 32 set";
  EXPECT_FALSE(type_count({0x80, 0x80, 0x80, 0x80, 0x70})) << "unused bits set";
  EXPECT_FALSE(type_count({0x80})) << "no last byte";
}

TEST(Hostile, DeepNestingUsesNoStack) {
  constexpr std::size_t kDepth = 200'000;
  Bytes body = {0x00};  // no locals
  for (std::size_t i = 0; i < kDepth; ++i) body.insert(body.end(), {0x02, 0x40});
  body.insert(body.end(), kDepth + 1, 0x0b);
  std::string text = "(module (func ";
  for (std::size_t i = 0; i < kDepth; ++i) text += "(block ";
  text += std::string(kDepth, ')') + "))";
  auto bytes = wasm::assemble_wat(text);
  if (bytes) static_cast<void>(accepts(*bytes));
  const std::string open(500'000, '(');
  EXPECT_FALSE(wasm::assemble_wat(open));
  EXPECT_FALSE(wasm::assemble_wat("(module " + open));
  EXPECT_FALSE(wasm::assemble_wat("(;" + std::string(100'000, ';') + "(;"));
}

TEST(Hostile, TextIsNeverTrusted) {
  std::mt19937 random(3);
  std::string text(kEverything);
  for (int i = 0; i < 5000; ++i) {
    std::string copy = text;
    for (std::size_t k = 0; k < 1 + random() % 4; ++k) {
      const std::size_t at = random() % copy.size();
      switch (random() % 3) {
        case 0: copy[at] = static_cast<char>(random()); break;
        case 1: copy.erase(at, 1 + random() % 20); break;
        default: copy.insert(at, copy.substr(random() % copy.size(), random() % 30)); break;
      }
    }
    if (auto bytes = wasm::assemble_wat(copy)) static_cast<void>(accepts(*bytes));
  }
}

}  // namespace
}  // namespace hoist
