// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the decoder tells a sink: a sink that writes every call down.
#include <gtest/gtest.h>

#include "base/text/printer.hpp"
#include "wasm/decode/body_decoder_inl.hpp"
#include "wasm/decode/log_sink.hpp"
#include "wasm/decode/test_module.hpp"

namespace hoist::wasm {
namespace {

using test::LogSink;

/// Log of a body in the module of test::function; its first line (begin) is left out.
std::string log_of(std::string_view type, std::string_view body) {
  const test::Bytes bytes = test::function(type, body);
  const Result<Module> decoded = decode(ModuleBytes::borrow(bytes));
  if (!decoded) return test::outcome(decoded.error());
  if (const Result<void> valid = validate_module(*decoded); !valid)
    return test::outcome(valid.error());
  BodyDecoder<LogSink> decoder;
  LogSink sink;
  if (const Result<void> done = decoder.decode(*decoded, 1, sink); !done) {
    return test::outcome(done.error());
  }
  std::string text = sink.log.take();
  return text.substr(text.find('\n') + 1);
}

constexpr std::string_view kNone = "60 00 00";
constexpr std::string_view kI32 = "60 00 01 7f";
constexpr std::string_view kI32ToI32 = "60 01 7f 01 7f";

TEST(BodyDecoder, StraightLine) {
  EXPECT_EQ(log_of(kI32ToI32, "02 02 7e 01 7c 20 00 41 7f 6a 22 00 45 0b"),
            "locals 2 i64\n"
            "locals 1 f64\n"
            "local.get 0 -> v0\n"
            "i32 -1 -> v1\n"
            "i32.add v0 v1 -> v2\n"
            "local.tee 0 v2\n"
            "i32.eqz v2 -> v3\n"
            "end frame0 falls continues [ v3 ] -> [ v4 ]\n");
}

TEST(BodyDecoder, EveryGroupOfValues) {
  EXPECT_EQ(
      log_of(kNone, "00 43 00 00 80 3f 8b bb 1a  44 00 00 00 00 00 00 f0 3f 1a  42 05 24 00 0b"),
      "invalid @101: type mismatch: global.set expects i32, found i64, in function 1 \"f\"");
  EXPECT_EQ(log_of(kNone,
                   "00 43 00 00 80 3f 8b bb 1a 23 00 24 00 41 01 41 02 41 03 1b 1a"
                   "41 08 28 02 04 1a 41 08 42 09 3c 00 10 0b"),
            "f32 1065353216 -> v0\nf32.abs v0 -> v1\nf64.promote_f32 v1 -> v2\ndrop v2\n"
            "global.get 0 -> v3\nglobal.set 0 v3\n"
            "i32 1 -> v4\ni32 2 -> v5\ni32 3 -> v6\nselect i32 v4 v5 v6 -> v7\ndrop v7\n"
            "i32 8 -> v8\ni32.load 4 2 v8 -> v9\ndrop v9\n"
            "i32 8 -> v10\ni64 9 -> v11\ni64.store8 16 0 v10 v11\n"
            "end frame0 falls continues [ ] -> [ ]\n");
}

TEST(BodyDecoder, TablesAndBulkMemory) {
  EXPECT_EQ(log_of(kNone,
                   "00 d0 70 d1 1a d2 01 1a 41 01 25 00 1a 41 01 d0 70 26 00 fc 10 00 1a"
                   "d0 70 41 02 fc 0f 00 1a 3f 00 40 00 1a"
                   "41 01 41 02 41 03 fc 0a 00 00 41 01 41 02 41 03 fc 0b 00"
                   "41 01 41 02 41 03 fc 08 00 00 fc 09 00 0b"),
            "ref.null funcref -> v0\nref.is_null v0 -> v1\ndrop v1\n"
            "ref.func 1 -> v2\ndrop v2\n"
            "i32 1 -> v3\ntable.get 0 v3 -> v4\ndrop v4\n"
            "i32 1 -> v5\nref.null funcref -> v6\ntable.set 0 v5 v6\n"
            "table.size 0 -> v7\ndrop v7\n"
            "ref.null funcref -> v8\ni32 2 -> v9\ntable.grow 0 v8 v9 -> v10\ndrop v10\n"
            "memory.size 0 -> v11\nmemory.grow 0 v11 -> v12\ndrop v12\n"
            "i32 1 -> v13\ni32 2 -> v14\ni32 3 -> v15\nmemory.copy 0 0 v13 v14 v15\n"
            "i32 1 -> v16\ni32 2 -> v17\ni32 3 -> v18\nmemory.fill 0 v16 v17 v18\n"
            "i32 1 -> v19\ni32 2 -> v20\ni32 3 -> v21\nmemory.init 0 0 v19 v20 v21\n"
            "data.drop 0\n"
            "end frame0 falls continues [ ] -> [ ]\n");
}

TEST(BodyDecoder, CallsSeparateArgumentsAndResults) {
  EXPECT_EQ(log_of(kI32, "00 41 01 10 00 41 07 41 02 11 03 00 1a 0b"),
            "i32 1 -> v0\n"
            "call 0 [ v0 ] -> [ v1 ]\n"
            "i32 7 -> v2\n"
            "i32 2 -> v3\n"
            "call_indirect 3 0 v3 [ v1 v2 ] -> [ v4 v5 ]\n"
            "drop v5\n"
            "end frame0 falls continues [ v4 ] -> [ v6 ]\n");
}

TEST(BodyDecoder, LoopParametersGetNewValues) {
  // type 2: [i32] -> [i32]
  EXPECT_EQ(log_of(kI32, "00 41 05 03 02 41 01 6b 22 00 0b 0b"),
            "invalid @89: unknown local 0: there is none, in function 1 \"f\"");
  EXPECT_EQ(log_of(kI32, "01 01 7f 41 05 03 02 41 01 6b 22 00 20 00 0d 00 0b 0b"),
            "locals 1 i32\n"
            "i32 5 -> v0\n"
            "loop frame1 [ v0 ] -> [ v1 ]\n"
            "i32 1 -> v2\n"
            "i32.sub v1 v2 -> v3\n"
            "local.tee 0 v3\n"
            "local.get 0 -> v4\n"
            "br_if frame1 depth0 v4 [ v3 ]\n"
            "end frame1 falls continues [ v3 ] -> [ v5 ]\n"
            "end frame0 falls continues [ v5 ] -> [ v6 ]\n");
}

TEST(BodyDecoder, ElseStartsWithTheValuesOfTheIf) {
  EXPECT_EQ(log_of(kI32, "00 41 05 41 01 04 02 41 02 6a 05 45 0b 0b"),
            "i32 5 -> v0\n"
            "i32 1 -> v1\n"
            "if frame1 v1 [ v0 ]\n"
            "i32 2 -> v2\n"
            "i32.add v0 v2 -> v3\n"
            "else frame1 reachable [ v3 ]\n"
            "i32.eqz v0 -> v4\n"
            "end frame1 falls continues [ v4 ] -> [ v5 ]\n"
            "end frame0 falls continues [ v5 ] -> [ v6 ]\n");
}

TEST(BodyDecoder, MissingElseIsReported) {
  EXPECT_EQ(log_of(kI32, "00 41 05 41 01 04 02 45 0c 00 0b 0b"),
            "i32 5 -> v0\n"
            "i32 1 -> v1\n"
            "if frame1 v1 [ v0 ]\n"
            "i32.eqz v0 -> v2\n"
            "br frame1 depth0 [ v2 ]\n"
            "else frame1 dead implicit [ none ]\n"
            "end frame1 falls continues [ v0 ] -> [ v3 ]\n"
            "end frame0 falls continues [ v3 ] -> [ v4 ]\n");
}

TEST(BodyDecoder, DeadCodeIsSilent) {
  // block; return; i32.add drop; block; br 0; end; if … else … end; end: nothing leads there.
  EXPECT_EQ(log_of(kNone, "00 02 40 0f 6a 1a 02 40 0c 00 0b 04 40 01 05 01 0b 0b 41 01 1a 0b"),
            "block frame1\n"
            "return [ ]\n"
            "end frame1 [ ] -> [ ]\n"
            "end frame0 [ ] -> [ ]\n");
}

TEST(BodyDecoder, ABranchMakesTheEndLive) {
  EXPECT_EQ(log_of(kI32, "00 02 7f 41 01 41 00 0d 00 0f 0b 0b"),
            "block frame1\n"
            "i32 1 -> v0\n"
            "i32 0 -> v1\n"
            "br_if frame1 depth0 v1 [ v0 ]\n"
            "return [ v0 ]\n"
            "end frame1 continues [ none ] -> [ v2 ]\n"
            "end frame0 falls continues [ v2 ] -> [ v3 ]\n");
}

// A loop's label is its start: a branch to it does not reach the end.
TEST(BodyDecoder, ALoopThatOnlyRepeatsEndsDead) {
  EXPECT_EQ(log_of(kNone, "00 03 40 0c 00 0b 41 01 1a 0b"),
            "loop frame1 [ ] -> [ ]\n"
            "br frame1 depth0 [ ]\n"
            "end frame1 [ ] -> [ ]\n"
            "end frame0 [ ] -> [ ]\n");
}

TEST(BodyDecoder, TheThenPartMayBeDeadAndTheElseLive) {
  EXPECT_EQ(log_of(kI32, "00 41 01 04 7f 00 05 41 02 0b 0b"),
            "i32 1 -> v0\n"
            "if frame1 v0 [ ]\n"
            "unreachable\n"
            "else frame1 dead [ none ]\n"
            "i32 2 -> v1\n"
            "end frame1 falls continues [ v1 ] -> [ v2 ]\n"
            "end frame0 falls continues [ v2 ] -> [ v3 ]\n");
}

TEST(BodyDecoder, BrTableNamesItsLabels) {
  EXPECT_EQ(log_of(kI32, "00 02 7f 02 7f 41 09 41 00 0e 02 00 01 02 0b 45 0b 0b"),
            "block frame1\n"
            "block frame2\n"
            "i32 9 -> v0\n"
            "i32 0 -> v1\n"
            "br_table v1 frame2 depth0 frame1 depth1 frame0 depth2 [ v0 ]\n"
            "end frame2 continues [ none ] -> [ v2 ]\n"
            "i32.eqz v2 -> v3\n"
            "end frame1 falls continues [ v3 ] -> [ v4 ]\n"
            "end frame0 falls continues [ v4 ] -> [ v5 ]\n");
}

TEST(BodyDecoder, ADecoderCanBeUsedAgainAfterAnError) {
  const test::Bytes bad = test::function(kI32, "00 02 40 42 01 0b 0b");
  const test::Bytes good = test::function(kI32, "00 41 01 0b");
  const Result<Module> bad_module = decode(ModuleBytes::borrow(bad));
  const Result<Module> good_module = decode(ModuleBytes::borrow(good));
  ASSERT_TRUE(bad_module && good_module);
  BodyDecoder<LogSink> decoder;
  LogSink sink;
  EXPECT_FALSE(decoder.decode(*bad_module, 1, sink));
  EXPECT_TRUE(decoder.decode(*good_module, 1, sink));
}

}  // namespace
}  // namespace hoist::wasm
