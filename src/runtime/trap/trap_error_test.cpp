// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/trap/trap_error.hpp"

#include <gtest/gtest.h>

namespace hoist::runtime {
namespace {

TEST(TrapError, HasCodeAndMessage) {
  const Error plain = trap_error(image::TrapCode::HeapOutOfBounds);
  EXPECT_EQ(plain.kind(), ErrorKind::Trap);
  EXPECT_EQ(plain.code(), 253);
  EXPECT_EQ(plain.message(), "out of bounds memory access");
  ASSERT_NE(Trap::of(plain), nullptr);
  EXPECT_EQ(Trap::of(plain)->code(), TrapCode::MemoryOutOfBounds);
  EXPECT_EQ(trap_error(image::TrapCode::Unreachable, "why").message(), "unreachable: why");
  EXPECT_EQ(Trap::of(Error(ErrorKind::Io, "x")), nullptr);
}

TEST(TrapError, CopiesShareTheFrames) {
  std::optional<Error> copy;
  {
    const Error error = trap_error(image::TrapCode::Unreachable);
    copy = error;
    EXPECT_EQ(Trap::of(*copy), Trap::of(error));
  }
  EXPECT_EQ(Trap::of(*copy)->message(), "unreachable");
}

TEST(Trap, TextShortensTheMiddle) {
  Trap::Parts parts;
  parts.frames = {{"m", "a", 0, 0x20, 1}, {"", "", 7, Frame::kNoOffset, Frame::kNoOffset}};
  parts.omitted = 98;
  parts.omitted_at = 1;
  EXPECT_EQ(Trap(parts).to_string(),
            "unreachable\nwasm backtrace:\n"
            "    0: m!a @ 0x20\n"
            "       ... 98 frames ...\n"
            "   99: func[7]\n");
}

/// Every public code is a code of the table with the same meaning.
TEST(TrapCode, PublicCodesMatchTheTable) {
  EXPECT_STREQ(message(TrapCode::Unreachable), "unreachable");
  EXPECT_STREQ(message(TrapCode::TableOutOfBounds), "out of bounds table access");
  EXPECT_STREQ(message(TrapCode::UndefinedElement), "undefined element");
  EXPECT_STREQ(message(TrapCode::UninitializedElement), "uninitialized element");
  EXPECT_STREQ(message(TrapCode::IndirectCallTypeMismatch), "indirect call type mismatch");
  EXPECT_STREQ(message(TrapCode::NullReference), "null reference");
  EXPECT_STREQ(message(TrapCode::UnalignedAtomic), "unaligned atomic");
  EXPECT_STREQ(message(TrapCode::Interrupted), "interrupted");
  EXPECT_STREQ(message(TrapCode::OutOfFuel), "all fuel consumed");
  EXPECT_STREQ(message(TrapCode::UnknownImport), "unknown import called");
  EXPECT_STREQ(message(TrapCode::StackOverflow), "call stack exhausted");
  EXPECT_STREQ(message(TrapCode::IntegerOverflow), "integer overflow");
  EXPECT_STREQ(message(TrapCode::MemoryOutOfBounds), "out of bounds memory access");
  EXPECT_STREQ(message(TrapCode::IntegerDivideByZero), "integer divide by zero");
  EXPECT_STREQ(message(TrapCode::BadConversionToInteger), "invalid conversion to integer");
}

}  // namespace
}  // namespace hoist::runtime
