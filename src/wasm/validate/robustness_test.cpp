// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Broken modules are answered, whatever is broken: no crash, no hang (the sanitizers watch).
#include <gtest/gtest.h>

#include "wasm/decode/names.hpp"
#include "wasm/decode/test_module.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {
namespace {

using test::Bytes;
using test::hex;
using test::section;

/// A module with something of everything.
Bytes rich_module() {
  Bytes bytes = test::module(
      {section(1, "04 60 00 00 60 01 7f 01 7f 60 02 7f 7e 02 7c 7d 60 00 01 70"),
       section(2, "03 01 'a' 01 'f' 00 01  01 'a' 01 'g' 03 7f 00  01 'a' 01 't' 01 6f 01 01 05"),
       section(3, "03 01 02 00"), section(4, "01 70 01 02 0a"), section(5, "01 01 01 03"),
       section(6, "04 7f 01 41 05 0b 7e 00 42 7f 42 02 7e 0b 70 00 d2 02 0b 6f 00 d0 6f 0b"),
       section(7, "03 01 'f' 00 01 01 'm' 02 00 02 'g1' 03 01"), section(8, "03"),
       section(9, "03 02 01 41 00 0b 00 02 01 02  05 70 02 d0 70 0b d2 01 0b  07 6f 00"),
       section(12, "02"),
       test::code(
           {"02 02 7f 01 7e 03 40 20 00 41 01 6b 22 00 0d 00 0b 02 7f 41 07 20 00 0e 01 00 01"
            "0b 20 00 20 00 04 01 45 05 10 00 0b 6a 0b",
            "00 20 01 b9 20 00 b2 41 00 28 02 10 1a 41 00 20 01 37 03 08 fc 00 1a 43 00 00 80"
            "3f 0b",
            "00 41 00 41 01 41 02 fc 08 01 00 fc 09 01 41 00 41 00 41 00 fc 0c 01 01 d0 6f 41"
            "01 fc 0f 00 1a 41 00 25 01 d1 1a 41 00 41 03 11 00 01 00 1a 41 01 42 02 00 0b"}),
       section(11, "02 00 41 08 0b 03 01 02 03  01 02 'xy'"),
       section(
           0, "04 'name' 00 02 01 'M' 01 0b 02 00 03 'imp' 01 03 'fun' 02 06 01 01 01 00 01 'x'")});
  return bytes;
}

/// One with something of everything that came after WebAssembly 2.0.
Bytes rich_module_3() {
  const Result<Bytes> bytes = assemble_wat(R"((module
    (rec (type $s (sub (struct (field $n (mut (ref null $t))) (field i8))))
         (type $t (sub $s (struct (field (mut (ref null $t))) (field i8) (field v128)))))
    (type $a (array (mut i16)))
    (type $f (func (param i64) (result i64)))
    (import "m" "tag" (tag $e (param i32)))
    (tag $x)
    (memory $big i64 1 2)
    (memory $bytes 3 9 (pagesize 1))
    (memory $shared 1 1 shared)
    (table $refs 2 (ref null $f))
    (table $full 1 2 (ref func) (ref.func $one))
    (table $wide i64 1 funcref)
    (global $v v128 (v128.const i32x4 1 2 3 4))
    (global $o (ref $s) (struct.new_default $s))
    (global $l (ref $a) (array.new_fixed $a 2 (i32.const 1) (i32.add (i32.const 1) (i32.const 2))))
    (elem $items (ref i31) (ref.i31 (i32.const 1)))
    (elem declare func $one)
    (data $d "abc")
    (func $one (type $f)
      (i64.mul_wide_u (local.get 0) (i64.const 3)) drop ref.func $one return_call_ref $f)
    (func (param anyref (ref null $f)) (result i32) (local $u (ref $t))
      (block $none
        (block $h (result i32 exnref)
          (try_table (catch_ref $e $h) (catch_all $none)
            (throw $e (i32.const 1)))
          unreachable)
        throw_ref)
      (br_on_null 0 (i32.const 5) (local.get 1)) drop drop
      (local.set $u (ref.cast (ref $t) (local.get 0)))
      (struct.set $t 0 (local.get $u) (ref.null $t))
      (array.copy $a $a (global.get $l) (i32.const 0) (global.get $l) (i32.const 1) (i32.const 1))
      (drop (array.new_data $a $d (i32.const 0) (i32.const 1)))
      (drop (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        (v128.load8_lane $bytes 3 (i32.const 0) (global.get $v))
        (f32x4.relaxed_madd (global.get $v) (global.get $v) (global.get $v))))
      (drop (i32.atomic.rmw8.cmpxchg_u $shared (i32.const 1) (i32.const 2) (i32.const 3)))
      (memory.copy $big $bytes (i64.const 0) (i32.const 0) (i32.const 1))
      (drop (block $c (result anyref) (br_on_cast_fail $c anyref (ref i31) (local.get 0))))
      (ref.eq (local.get $u) (ref.null none)))
    (func (try (do (call 1 (ref.null any) (ref.null $f)) drop) (catch $x (rethrow 0))
      (catch_all (try (do) (delegate 1)))))
    (@custom "metadata.code.branch_hint" (before code) "\01\01\01\03\01\01")
  ))");
  EXPECT_TRUE(bytes) << bytes.error().message() << " in line " << bytes.error().line();
  return bytes ? *bytes : Bytes();
}

void run(const Bytes& bytes) {
  const Result<Module> decoded =
      decode(ModuleBytes::borrow(bytes), Features().with(Feature::LegacyExceptions));
  if (!decoded) {
    EXPECT_LE(decoded.error().offset(), bytes.size());
    return;
  }
  read_names(*decoded);
  for (std::uint32_t func = 0; func < decoded->num_functions(); ++func) {
    read_local_names(*decoded, func);
  }
  const Result<void> valid = validate_all(*decoded);
  if (!valid) {
    EXPECT_LE(valid.error().offset(), bytes.size());
  }
}

TEST(Robustness, TheModulesThemselvesAreValid) {
  EXPECT_EQ(test::check(rich_module()).substr(0, 200), "ok");
  const Features features = Features().with(Feature::LegacyExceptions);
  EXPECT_EQ(test::check(rich_module_3(), 1, features).substr(0, 200), "ok");
}

void every_prefix(const Bytes& whole) {
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // Its own allocation, so that reads past the end are seen.
    run(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

void every_byte_replaced(Bytes bytes) {
  for (std::uint8_t& byte : bytes) {
    const std::uint8_t old = byte;
    for (const std::uint8_t other :
         std::initializer_list<std::uint8_t>{0x00, 0x01, 0x0b, 0x40, 0x7f, 0x80, 0xfc, 0xff}) {
      byte = other;
      run(bytes);
    }
    byte = old;
  }
}

void seeded_flips(const Bytes& whole) {
  std::uint64_t state = 1;
  const auto random = [&](std::size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 33) % below);
  };
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = whole;
    for (std::size_t flips = 1 + random(4); flips-- > 0;) {
      bytes[random(bytes.size())] ^= static_cast<std::uint8_t>(1u << random(8));
    }
    if (random(4) == 0)
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random(bytes.size())), 0x80);
    if (random(4) == 0)
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(random(bytes.size())));
    run(bytes);
  }
}

TEST(Robustness, EveryPrefix) {
  every_prefix(rich_module());
  every_prefix(rich_module_3());
}

TEST(Robustness, EveryByteReplaced) {
  every_byte_replaced(rich_module());
  every_byte_replaced(rich_module_3());
}

TEST(Robustness, SeededFlips) {
  seeded_flips(rich_module());
  seeded_flips(rich_module_3());
}

// A million bodies of a few bytes that declare 50,000 locals each: work stays in proportion to the
// input.
TEST(Robustness, ManyFunctionsWithManyLocals) {
  constexpr std::uint32_t kFunctions = 20'000;
  Bytes functions;
  Bytes bodies;
  base::write_uleb(functions, kFunctions);
  functions.insert(functions.end(), kFunctions, 0);
  base::write_uleb(bodies, kFunctions);
  for (std::uint32_t i = 0; i < kFunctions; ++i) test::append(bodies, hex("06 01 d0 86 03 7f 0b"));
  EXPECT_EQ(test::check(test::module(
                {section(1, "01 60 00 00"), section(3, functions), section(10, bodies)})),
            "ok");
}

}  // namespace
}  // namespace hoist::wasm
