// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "asm/buffer/code_buffer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "asm/x64/encoder.hpp"
#include "base/bits.hpp"

namespace hoist::masm {
namespace {

using x64::Cc;
using x64::Encoder;
using x64::Op;

std::vector<std::uint8_t> bytes_of(const CodeBuffer& buffer) {
  return {buffer.bytes().begin(), buffer.bytes().end()};
}
using Bytes = std::vector<std::uint8_t>;

TEST(CodeBuffer, ForwardBranchesBecomeShort) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const Label a = buffer.new_label();
  const Label b = buffer.new_label();
  enc.jcc(Cc::E, b);
  enc.jmp(a);
  buffer.bind(a);
  enc.none(Op::Ret);
  buffer.bind(b);
  enc.jmp(a);
  ASSERT_TRUE(buffer.finish());
  EXPECT_EQ(bytes_of(buffer), (Bytes{0x74, 3, 0xeb, 0, 0xc3, 0xeb, 0xfd}));
  EXPECT_EQ(buffer.label_offset(a), 4u);
  EXPECT_EQ(buffer.label_offset(b), 5u);
}

TEST(CodeBuffer, ShrinkingCanBeTurnedOff) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const Label a = buffer.new_label();
  enc.jmp(a);
  buffer.bind(a);
  ASSERT_TRUE(buffer.finish({.shrink_branches = false}));
  EXPECT_EQ(bytes_of(buffer), (Bytes{0xe9, 0, 0, 0, 0}));
}

TEST(CodeBuffer, RangeOfShortBranches) {
  for (const std::uint32_t distance : {126u, 127u, 128u, 129u}) {
    CodeBuffer buffer;
    Encoder enc(buffer);
    const Label forward = buffer.new_label();
    enc.jmp(forward);
    enc.nop(distance);
    buffer.bind(forward);
    ASSERT_TRUE(buffer.finish());
    EXPECT_EQ(buffer.code_size(), distance + (distance <= 127 ? 2 : 5));

    CodeBuffer back;
    Encoder back_enc(back);
    const Label backward = back.new_label();
    back.bind(backward);
    back_enc.nop(distance);
    back_enc.jcc(Cc::Ne, backward);
    ASSERT_TRUE(back.finish());
    EXPECT_EQ(back.code_size(), distance + (distance + 2 <= 128 ? 2 : 6));
  }
}

TEST(CodeBuffer, RecordsMoveWithTheCode) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const Label end = buffer.new_label();
  buffer.add_source(10);
  enc.jmp(end);  // 5 bytes, 2 in the end
  buffer.add_source(11);
  buffer.add_source(12);
  buffer.add_trap(7);
  enc.none(Op::Ud2);
  buffer.add_source(12);
  enc.call(Symbol(1u));
  buffer.add_call(99);
  buffer.bind(end);
  ASSERT_TRUE(buffer.finish());
  ASSERT_EQ(buffer.sources().size(), 2u);
  EXPECT_EQ(buffer.sources()[1].offset, 2u);
  EXPECT_EQ(buffer.sources()[1].loc, 12u);
  EXPECT_EQ(buffer.traps()[0].offset, 2u);
  EXPECT_EQ(buffer.traps()[0].code, 7u);
  EXPECT_EQ(buffer.relocs()[0].offset, 5u);
  EXPECT_EQ(buffer.calls()[0].offset, 9u);
}

TEST(CodeBuffer, ConstantsAreSharedAndAligned) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const Constant small = buffer.add_constant32(5);
  const Constant big = buffer.add_constant64(5);
  EXPECT_EQ(buffer.add_constant32(5), small);
  EXPECT_EQ(buffer.add_constant64(5), big);
  EXPECT_NE(small, big);
  const std::uint8_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const Constant wide = buffer.add_constant(ones);
  for (std::uint32_t i = 100; i < 300; ++i) buffer.add_constant32(i);
  EXPECT_EQ(buffer.add_constant32(5), small);
  EXPECT_EQ(buffer.add_constant(ones), wide);
  for (const Constant c : {small, big, wide}) {
    enc.rm(Op::MovssRM, 0, x64::Xmm::Xmm0, x64::Mem::constant(c));
  }
  ASSERT_TRUE(buffer.finish());
  const auto target = [&](std::uint32_t inst) {
    return (inst + 1) * 8 + base::load_le<std::uint32_t>(buffer.bytes().data() + inst * 8 + 4);
  };
  EXPECT_EQ(buffer.code_size(), 24u);
  EXPECT_EQ(target(2), 32u);
  EXPECT_EQ(target(1), 48u);
  EXPECT_EQ(target(0), 56u);
  EXPECT_EQ(base::load_le<std::uint32_t>(buffer.bytes().data() + 56), 5u);
  EXPECT_EQ(buffer.bytes().size(), 56u + 4 * 201);
}

TEST(CodeBuffer, JumpTablesHoldDistancesFromThemselves) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  const Label first = buffer.new_label();
  const Label second = buffer.new_label();
  const Label targets[] = {second, first, second};
  const Label table = buffer.add_jump_table(targets);
  enc.rm(Op::LeaRM, 8, x64::Gpr::Rax, x64::Mem::label(table));
  buffer.bind(first);
  enc.none(Op::Ret);
  buffer.bind(second);
  ASSERT_TRUE(buffer.finish());
  ASSERT_EQ(buffer.bytes().size(), 8u + 12);
  const std::uint8_t* data = buffer.bytes().data();
  EXPECT_EQ(base::load_le<std::int32_t>(data + 3), 8 - 7);
  EXPECT_EQ(base::load_le<std::int32_t>(data + 8), 8 - 8);
  EXPECT_EQ(base::load_le<std::int32_t>(data + 12), 7 - 8);
  EXPECT_EQ(base::load_le<std::int32_t>(data + 16), 8 - 8);
}

TEST(CodeBuffer, ClearedBufferStartsAnew) {
  CodeBuffer buffer;
  Encoder enc(buffer);
  for (int round = 0; round < 2; ++round) {
    buffer.clear();
    buffer.make_labels(2);
    enc.jmp(Label(1u));
    buffer.add_constant32(9);
    buffer.bind(Label(0u));
    buffer.bind(Label(1u));
    ASSERT_TRUE(buffer.finish());
    EXPECT_EQ(buffer.code_size(), 2u);
    EXPECT_EQ(buffer.bytes().size(), 8u);
    EXPECT_TRUE(buffer.traps().empty());
  }
}

/// Follows a branch at `at`; returns its target.
std::uint32_t branch_target(std::span<const std::uint8_t> code, std::uint32_t at) {
  const std::uint8_t first = code[at];
  if (first == 0xeb || (first & 0xf0) == 0x70) {
    return at + 2 + static_cast<std::uint32_t>(static_cast<std::int8_t>(code[at + 1]));
  }
  const std::uint32_t field = first == 0xe9 ? at + 1 : at + 2;
  return field + 4 + base::load_le<std::uint32_t>(code.data() + field);
}

TEST(CodeBuffer, RandomBranchesReachTheirLabels) {
  std::mt19937 random(42);
  const auto next = [&random] { return static_cast<std::uint32_t>(random()); };
  std::size_t long_ones = 0;
  std::size_t short_ones = 0;
  CodeBuffer buffer;
  Encoder enc(buffer);
  for (int round = 0; round < 200; ++round) {
    buffer.clear();
    const std::uint32_t count = 2 + next() % 60;
    buffer.make_labels(count);
    struct Branch {
      std::uint32_t trap;  ///< number of the record at the branch
      Label target;
    };
    std::vector<Branch> branches;
    for (std::uint32_t i = 0; i < count; ++i) {
      buffer.bind(Label(i));
      enc.nop(next() % 40);
      for (std::uint32_t j = next() % 3; j != 0; --j) {
        const Label target(next() % count);
        branches.push_back({static_cast<std::uint32_t>(buffer.traps().size()), target});
        buffer.add_trap(1);
        if (next() % 2 != 0) {
          enc.jmp(target);
        } else {
          enc.jcc(static_cast<Cc>(next() % 16), target);
        }
      }
    }
    ASSERT_TRUE(buffer.finish());
    for (const Branch& branch : branches) {
      const std::uint32_t at = buffer.traps()[branch.trap].offset;
      ASSERT_EQ(branch_target(buffer.bytes(), at), buffer.label_offset(branch.target));
      const std::uint8_t first = buffer.bytes()[at];
      (first == 0xe9 || first == 0x0f ? long_ones : short_ones) += 1;
    }
  }
  EXPECT_GT(long_ones, 100u);
  EXPECT_GT(short_ones, 100u);
}

}  // namespace
}  // namespace hoist::masm
