// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the decoder tells a sink of the instructions beyond WebAssembly 2.0, from the text.
#include <gtest/gtest.h>

#include "wasm/decode/body_decoder_inl.hpp"
#include "wasm/decode/log_sink.hpp"
#include "wasm/decode/test_module.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {
namespace {

using test::LogSink;

/// Log of the last function of a module in text, without `begin` and the last `end`.
std::string log_of(std::string_view text, bool refuse_wide = false) {
  const Features features = Features().with(Feature::LegacyExceptions);
  const Result<test::Bytes> bytes = assemble_wat(text);
  if (!bytes) return test::outcome(bytes.error());
  const Result<Module> decoded = decode(ModuleBytes::borrow(*bytes), features);
  if (!decoded) return test::outcome(decoded.error());
  if (const Result<void> valid = validate_module(*decoded); !valid)
    return test::outcome(valid.error());
  BodyDecoder<LogSink> decoder;
  LogSink sink;
  sink.refuse_wide = refuse_wide;
  const std::uint32_t last = decoded->num_functions() - 1;
  if (const Result<void> done = decoder.decode(*decoded, last, sink); !done) {
    return test::outcome(done.error());
  }
  std::string log = sink.log.take();
  const std::size_t begin = log.find('\n') + 1;
  return log.substr(begin, log.rfind("end frame0") - begin);
}

TEST(BodyFamilies, TailCalls) {
  EXPECT_EQ(log_of("(func $f (param i32) (result i32) (return_call $f (i32.const 1)))"),
            "i32 1 -> v0\nreturn_call 0 [ v0 ]\n");
  EXPECT_EQ(log_of("(type $t (func (param i64))) (table 1 funcref)"
                   "(func (return_call_indirect (type $t) (i64.const 2) (i32.const 0)) nop drop)"),
            "i64 2 -> v0\ni32 0 -> v1\nreturn_call_indirect 0 0 v1 [ v0 ]\n");
  EXPECT_EQ(log_of("(type $t (func)) (func (param (ref null $t)) (return_call_ref $t "
                   "(local.get 0)))"),
            "local.get 0 -> v0\nreturn_call_ref 0 v0 [ ]\n");
}

TEST(BodyFamilies, References) {
  EXPECT_EQ(log_of("(type $t (func (param i32) (result i64)))"
                   "(func (param (ref null $t)) (result i64)"
                   " (call_ref $t (i32.const 3) (local.get 0)))"),
            "i32 3 -> v0\nlocal.get 0 -> v1\ncall_ref 0 v1 [ v0 ] -> [ v2 ]\n");
  EXPECT_EQ(log_of("(func (param externref) (result (ref extern))"
                   " (block (result i32) (br_on_null 0 (i32.const 1) (local.get 0)) return)"
                   " drop (ref.as_non_null (local.get 0)))"),
            "block frame1\ni32 1 -> v0\nlocal.get 0 -> v1\n"
            "br_on_null frame1 depth0 v1 [ v0 ] -> v2\nreturn [ v2 ]\n"
            "end frame1 continues [ none ] -> [ v3 ]\ndrop v3\n"
            "local.get 0 -> v4\nref.as_non_null v4 -> v5\n");
  EXPECT_EQ(
      log_of("(func (param externref) (result i32 (ref extern))"
             " (br_on_non_null 0 (i32.const 1) (local.get 0)) unreachable)"),
      "i32 1 -> v0\nlocal.get 0 -> v1\nbr_on_non_null frame0 depth0 v1 [ v0 ]\nunreachable\n");
  EXPECT_EQ(log_of("(func (param eqref) (result i32) (ref.eq (local.get 0) (ref.null none)))"),
            "local.get 0 -> v0\nref.null (ref null none) -> v1\nref.eq v0 v1 -> v2\n");
}

TEST(BodyFamilies, Exceptions) {
  EXPECT_EQ(log_of("(tag $e (param i32)) (func (result i32)"
                   " (block $b (result i32)"
                   "  (try_table (catch $e $b) (throw $e (i32.const 4)))"
                   "  (i32.const 5)))"),
            "block frame1\ntry_table frame2 catch 0 frame1 depth0\n"
            "i32 4 -> v0\nthrow 0 [ v0 ]\nend frame2 [ ] -> [ ]\n"
            "end frame1 continues [ none ] -> [ v1 ]\n");
  EXPECT_EQ(log_of("(tag $e (param i32)) (func (result i32 exnref)"
                   " (block $a (result exnref) (try_table (catch_ref $e 1) (catch_all_ref $a))"
                   "  (return (i32.const 0) (ref.null exn)))"
                   " throw_ref)"),
            "block frame1\ntry_table frame2 catch_ref 0 frame0 depth1 catch_all_ref frame1 depth0\n"
            "end frame2 falls continues [ ] -> [ ]\n"
            "i32 0 -> v0\nref.null (ref null exn) -> v1\nreturn [ v0 v1 ]\n"
            "end frame1 continues [ none ] -> [ v2 ]\nthrow_ref v2\n");
}

TEST(BodyFamilies, LegacyExceptions) {
  EXPECT_EQ(log_of("(tag $e (param i64)) (func (result i64)"
                   " (try (result i64) (do (i64.const 1)) (catch $e)"
                   "  (catch_all (rethrow 0))))"),
            "try frame1\ni64 1 -> v0\ncatch frame1 reachable 0 [ v0 ] -> [ v1 ]\n"
            "catch_all frame1 reachable [ v1 ]\nrethrow frame1 depth0\n"
            "end frame1 continues [ none ] -> [ v2 ]\n");
  EXPECT_EQ(log_of("(func (block $b (try (do (try (do) (delegate $b))))))"),
            "block frame1\ntry frame2\ntry frame3\n"
            "delegate frame3 frame1 depth1 falls continues [ ] -> [ ]\n"
            "end frame2 falls continues [ ] -> [ ]\nend frame1 falls continues [ ] -> [ ]\n");
  EXPECT_EQ(log_of("(func (block (rethrow 0)))").substr(0, 60),
            "invalid @25: invalid rethrow label 0: it is not a catch, in ");
}

TEST(BodyFamilies, VectorsAndWideArithmetic) {
  EXPECT_EQ(log_of("(memory 1) (func (result i32)"
                   " (i8x16.extract_lane_u 3 (v128.bitselect (v128.const i32x4 1 2 3 4)"
                   "  (v128.load8_lane offset=5 6 (i32.const 7) (v128.load (i32.const 8)))"
                   "  (i8x16.shuffle 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 31"
                   "   (i32x4.splat (i32.const 9)) (v128.const i64x2 0 0)))))"),
            "v128 1 0 -> v0\ni32 7 -> v1\ni32 8 -> v2\nv128.load 0 4 v2 -> v3\n"
            "v128.load8_lane 0 5 6 v1 v3 -> v4\n"
            "i32 9 -> v5\ni32x4.splat 0 [ v5 ] -> v6\nv128 0 0 -> v7\nshuffle 1 31 v6 v7 -> v8\n"
            "v128.bitselect 0 [ v0 v4 v8 ] -> v9\ni8x16.extract_lane_u 3 [ v9 ] -> v10\n");
  constexpr std::string_view kWide =
      "(func (result i64 i64) (i64.mul_wide_u (i64.const 1) (i64.const 2)))";
  EXPECT_EQ(log_of(kWide), "i64 1 -> v0\ni64 2 -> v1\ni64.mul_wide_u [ v0 v1 ] -> [ v2 v3 ]\n");
  EXPECT_EQ(log_of(kWide, true),
            "unsupported @7: unsupported instruction: i64.mul_wide_u, in function 0");
}

TEST(BodyFamilies, Atomics) {
  EXPECT_EQ(log_of("(memory 1 1 shared) (func (result i32)"
                   " (i32.atomic.store8 (i32.const 1) (i32.const 2)) atomic.fence"
                   " (drop (i64.atomic.rmw.cmpxchg offset=8 (i32.const 3) (i64.const 4)"
                   "  (i64.atomic.rmw.xchg (i32.const 5) (i64.atomic.load (i32.const 6)))))"
                   " (memory.atomic.notify (i32.const 7)"
                   "  (memory.atomic.wait64 (i32.const 8) (i64.const 9) (i64.const 10))))"),
            "i32 1 -> v0\ni32 2 -> v1\ni32.atomic.store8 0 0 v0 v1\nfence\n"
            "i32 3 -> v2\ni64 4 -> v3\ni32 5 -> v4\ni32 6 -> v5\ni64.atomic.load 0 0 v5 -> v6\n"
            "i64.atomic.rmw.xchg 0 0 v4 v6 -> v7\ni64.atomic.rmw.cmpxchg 0 8 v2 v3 v7 -> v8\ndrop "
            "v8\ni32 7 -> v9\ni32 8 -> v10\ni64 9 -> v11\ni64 10 -> v12\n"
            "memory.atomic.wait64 0 0 v10 v11 v12 -> v13\nnotify 0 0 v9 v13 -> v14\n");
  EXPECT_EQ(log_of("(memory 1) (func (drop (i32.atomic.load align=2 (i32.const 0))))"),
            "invalid @30: atomic alignment must be natural: i32.atomic.load has 2**2, found 2**1, "
            "in function 0");
}

TEST(BodyFamilies, HeapObjects) {
  EXPECT_EQ(log_of("(type $s (struct (field i8) (field (mut i64))))"
                   "(func (param (ref null $s)) (result i32)"
                   " (struct.set $s 1 (local.get 0) (i64.const 1))"
                   " (struct.get_u $s 0 (struct.new $s (i32.const 2) (i64.const 3))))"),
            "local.get 0 -> v0\ni64 1 -> v1\nstruct.set 0 1 [ v0 v1 ] -> [ ]\n"
            "i32 2 -> v2\ni64 3 -> v3\nstruct.new 0 0 [ v2 v3 ] -> [ v4 ]\n"
            "struct.get_u 0 0 [ v4 ] -> [ v5 ]\n");
  EXPECT_EQ(log_of("(func (param anyref) (result (ref i31))"
                   " (br_on_cast 0 anyref (ref i31) (local.get 0)) unreachable)"),
            "local.get 0 -> v0\nbr_on_cast 0 0 [ v0 ] -> [ v1 ]\nunreachable\n");
}

// After a branch on null and in dead code references have types too.
TEST(BodyFamilies, TypesOfReferences) {
  const auto verdict = [](std::string_view text) {
    const std::string log = log_of(text);
    return log.find(" @") == std::string::npos ? "ok" : log.substr(0, log.find(", in function"));
  };
  EXPECT_EQ(verdict("(func (result (ref func)) (block $b unreachable (br_on_null $b) return)"
                    " unreachable)"),
            "ok");
  EXPECT_EQ(verdict("(func (result i32) (block $b unreachable (br_on_null $b) return) "
                    "unreachable)"),
            "invalid @29: type mismatch: instruction requires [i32] but stack has [(ref bot)] at "
            "return");
  EXPECT_EQ(verdict("(func (param funcref) (result (ref func)) (local.get 0))"),
            "invalid @28: type mismatch: instruction requires [(ref func)] but stack has [funcref] "
            "at end");
  // A branch leaves values of the label's types behind.
  EXPECT_EQ(verdict("(func (param (ref func)) (result (ref func)) (block (result funcref)"
                    " (br_if 0 (local.get 0) (i32.const 0)) return) unreachable)"),
            "invalid @35: type mismatch: instruction requires [(ref func)] but stack has [funcref] "
            "at return");
}

TEST(BodyFamilies, LocalsWithoutDefaultMustBeSet) {
  const auto verdict = [](std::string_view body) {
    const std::string log =
        log_of("(func (param $p (ref extern)) (local $x (ref extern)) " + std::string(body) + ")");
    const std::size_t colon = log.find(": ");
    return log.find("uninitialized") == std::string::npos ? std::string("ok")
                                                          : log.substr(colon + 2, 28);
  };
  const std::string kUnset = "uninitialized local: local 1";
  EXPECT_EQ(verdict("(drop (local.get $p))"), "ok");
  EXPECT_EQ(verdict("(drop (local.get $x))"), kUnset);
  EXPECT_EQ(verdict("(local.set $x (local.get $p)) (drop (local.get $x))"), "ok");
  EXPECT_EQ(verdict("(drop (local.tee $x (local.get $p))) (drop (local.get $x))"), "ok");
  EXPECT_EQ(verdict("(block (local.set $x (local.get $p))) (drop (local.get $x))"), kUnset);
  EXPECT_EQ(verdict("(if (i32.const 0) (then (local.set $x (local.get $p)))"
                    " (else (drop (local.get $x))))"),
            kUnset);
  EXPECT_EQ(verdict("(local.set $x (local.get $p)) (block (drop (local.get $x)))"), "ok");
}

}  // namespace
}  // namespace hoist::wasm
