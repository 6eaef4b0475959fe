// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emission of instructions, frames, moves and control flow, by running what it makes.
#include <array>

#include "isa/x64/emit_test_support.hpp"

namespace hoist::isa::x64 {
namespace {

// ---- plain instructions, frames, moves

TEST(Emit, PlainInstructionInALeafWithoutFrame) {
  Builder b;
  b.add(Op::MovRR, 8, {def(rax), use(rdi)});
  b.add(Op::AddRR, 8, {def(rax), use(rax), use(rsi)});
  b.ret();
  EXPECT_EQ(run_u64(b, 40, 2), 42u);
  EXPECT_FALSE(b.code.has_frame);
  EXPECT_EQ(b.code.bytes, (std::vector<std::uint8_t>{0x48, 0x89, 0xf8, 0x48, 0x01, 0xf0, 0xc3}));
}

TEST(Emit, AddressesAndSavedRegisters) {
  Builder b;
  b.func.stack_slots.push_back({24, 4, false, 0});
  // [ss0 + 8] = rdi; rbx = &ss0; rax = [rbx + rsi * 4 + 4]
  MachInst& store = b.add(Op::MovMR, 8, {use(rdi)});
  store.addr = AddrKind::StackSlot;
  store.disp = 8;
  MachInst& lea = b.add(Op::LeaRM, 8, {def(rbx)});
  lea.addr = AddrKind::StackSlot;
  MachInst& load = b.add(Op::MovRM, 8, {def(rax), use(rbx), use(rsi)});
  load.addr = AddrKind::BaseIndex;
  load.scale = 2;
  load.disp = 4;
  // rax += 1000 (pool)
  codegen::MachFunction::PoolEntry entry = {};
  entry.size = 8;
  entry.bytes[0] = 0xe8;
  entry.bytes[1] = 3;
  b.func.pool.push_back(entry);
  MachInst& add = b.add(Op::AddRM, 8, {def(rax), use(rax)});
  add.addr = AddrKind::Constant;
  b.mov_imm(r12, 7);
  b.ret();
  EXPECT_EQ(run_u64(b, 5, 1), 1005u);
  EXPECT_TRUE(b.code.has_frame);
  EXPECT_EQ(b.code.frame_bytes % 16, 0u);
  EXPECT_GE(b.code.frame_bytes, 24u + 16);
}

TEST(Emit, MovesBetweenRegistersAndSlots) {
  Builder b;
  b.alloc.spill_slots = 3;
  b.move(Alloc::of(rdi), Alloc::of_slot(0));
  b.move(Alloc::of_slot(0), Alloc::of_slot(2));
  b.move(Alloc::of_slot(2), Alloc::of(xmm1), RegClass::Float);
  b.move(Alloc::of(xmm1), Alloc::of(xmm0), RegClass::Float);
  b.move(Alloc::of(xmm0), Alloc::of_slot(1), RegClass::Float);
  b.move(Alloc::of_slot(1), Alloc::of(rcx));
  AllocMove& exchange = b.move(Alloc::of(rcx), Alloc::of(rsi));
  exchange.kind = AllocMove::Kind::Exchange;
  b.add(Op::MovRR, 8, {def(rax), use(rsi)});
  b.add(Op::SubRR, 8, {def(rax), use(rax), use(rcx)});
  b.ret();
  EXPECT_EQ(run_u64(b, 50, 8), 42u);
}

TEST(Emit, OperandsInSpillSlots) {
  Builder b;
  b.alloc.spill_slots = 2;
  b.move(Alloc::of(rdi), Alloc::of_slot(0));
  b.move(Alloc::of(rsi), Alloc::of_slot(1));
  b.mov_imm(rax, 100);
  b.add(Op::AddRR, 8, {def(rax), use(rax), use_slot(0)});
  MachInst& imul = b.add(Op::ImulRRI, 8, {def(rcx), use_slot(1)});
  imul.imm = 10;
  b.add(Op::AddRR, 8, {def(rax), use(rax), use(rcx)});
  MachInst& cmp = b.add(Op::CmpRI, 8, {use_slot(0)});
  cmp.imm = 5;
  MachInst& cmov = b.add(Op::CmovccRR, 8, {def(rax), use(rax), use_slot(1)});
  cmov.cc = static_cast<std::uint8_t>(Cc::G);
  b.ret();
  EXPECT_EQ(run_u64(b, 3, 7), 173u);
  Runnable code(b.code);
  std::uint64_t value = 0;
  code.call(value, std::uint64_t{6}, std::uint64_t{7});
  EXPECT_EQ(value, 7u);
}

TEST(Emit, PackedFormsDoNotReadPastASpillSlot) {
  Builder b;
  b.alloc.spill_slots = 1;
  b.move(Alloc::of(rdi), Alloc::of_slot(0));
  b.add(Op::MovqXR, 8, {def(xmm0), use(rsi)});
  b.add(Op::XorpsRR, 0, {def(xmm0), use(xmm0), use_slot(0)});
  b.add(Op::MovapsRR, 0, {def(xmm1), use_slot(0)});
  b.add(Op::OrpsRR, 0, {def(xmm0), use(xmm0), use(xmm1)});
  b.add(Op::MovqRX, 8, {def(rax), use(xmm0)});
  b.ret();
  EXPECT_EQ(run_u64(b, 0b1100, 0b1010), 0b1110u);
}

TEST(Emit, RematerialisedValues) {
  for (const std::int64_t constant : {std::int64_t{0}, std::int64_t{-5}, INT64_MAX}) {
    Builder b;
    b.alloc.spill_slots = 2;
    MachInst& original = b.mov_imm(rcx, constant);
    original.flags = codegen::kRemat;
    b.mov_imm(rcx, 1);
    b.mov_imm(rax, 99);
    AllocMove& to_slot = b.move({}, Alloc::of_slot(1));
    to_slot.remat_inst = 0;
    AllocMove& to_reg = b.move({}, Alloc::of(rdx));
    to_reg.remat_inst = 0;
    b.add(Op::SubRR, 8, {def(rax), use(rax), use(rdx)});
    b.add(Op::AddRR, 8, {def(rax), use(rax), use_slot(1)});
    b.ret();
    EXPECT_EQ(run_u64(b), 99u) << constant;
  }
}

TEST(Emit, ZeroKeepsFlagsThatAreRead) {
  Builder b;
  b.add(Op::CmpRR, 8, {use(rdi), use(rsi)});
  b.mov_imm(rax, 0);  // mov, not xor
  MachInst& setcc = b.add(Op::SetccR, 1, {def(rax)});
  setcc.cc = static_cast<std::uint8_t>(Cc::E);
  b.mov_imm(rcx, 0);  // xor: the next instruction overwrites the flags
  b.add(Op::AddRR, 8, {def(rax), use(rax), use(rcx)});
  b.ret();
  EXPECT_EQ(run_u64(b, 5, 5), 1u);
  Runnable code(b.code);
  std::uint64_t value = 9;
  code.call(value, std::uint64_t{5}, std::uint64_t{6});
  EXPECT_EQ(value, 0u);
  const std::vector<std::uint8_t>& bytes = b.code.bytes;
  EXPECT_EQ(bytes[3], 0xb8);
  EXPECT_EQ(bytes[11], 0x31);
}

TEST(Emit, LargeFramesTouchTheirPages) {
  Builder b;
  b.func.stack_slots.push_back({100'000, 4, false, 0});
  MachInst& store = b.add(Op::MovMR, 8, {use(rdi)});
  store.addr = AddrKind::StackSlot;
  MachInst& load = b.add(Op::MovRM, 8, {def(rax)});
  load.addr = AddrKind::StackSlot;
  b.ret();
  EXPECT_EQ(run_u64(b, 77), 77u);
  EXPECT_GE(b.code.frame_bytes, 100'000u);
}

TEST(Emit, FrameLimits) {
  Builder b;
  b.func.stack_slots.push_back({kMaxFrameBytes, 0, false, 0});
  b.func.stack_slots.push_back({16, 0, false, 0});
  b.ret();
  b.func.blocks[MachBlock(0u)].end_inst = 1;
  const Result<void> result = emit_function(b.func, b.alloc, b.scratch, b.code);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::Limit);
  b.func.stack_slots = {{16, 5, false, 0}};
  const Result<void> aligned = emit_function(b.func, b.alloc, b.scratch, b.code);
  ASSERT_FALSE(aligned);
  EXPECT_EQ(aligned.error().kind(), ErrorKind::Unsupported);
}

TEST(Emit, StackLimitIsCheckedOnEntry) {
  for (const std::uint32_t bytes : {16u, 20'000u}) {
    for (const bool two_loads : {false, true}) {
      Builder b;
      b.func.has_calls = true;
      b.func.stack_limit_base = kContextReg;
      b.func.stack_limit_offset = 8;
      if (two_loads) b.func.stack_limit_offset2 = 0;
      b.func.stack_slots.push_back({bytes, 0, false, 0});
      b.mov_imm(rax, 1);
      b.ret();
      Runnable code(b.emit());
      std::uint64_t limit = 0;
      std::uint64_t context[2] = {0, 0};
      const auto set_limit = [&](std::uint64_t value) {
        limit = value;
        context[1] = two_loads ? reinterpret_cast<std::uint64_t>(&limit) : value;
      };
      std::uint64_t value = 0;
      const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
      set_limit(here - 100'000);
      EXPECT_EQ(code.call(value, &context[0]), std::nullopt);
      set_limit(here + 100'000);
      EXPECT_EQ(code.call(value, &context[0]), TrapCode::StackOverflow);
      // A frame that does not fit above the limit, and a limit that nothing satisfies.
      set_limit(here - 10'000);
      EXPECT_EQ(code.call(value, &context[0]) == TrapCode::StackOverflow, bytes > 10'000);
      set_limit(~std::uint64_t{0});
      EXPECT_EQ(code.call(value, &context[0]), TrapCode::StackOverflow);
    }
  }
}

// ---- control flow

TEST(Emit, BranchesInEveryArrangement) {
  // bb0 branches to (first, second); bb1 returns 1, bb2 returns 2, bb3 only jumps to bb1.
  const auto run = [](std::uint32_t first, std::uint32_t second, std::uint64_t a) {
    Builder b;
    b.add(Op::TestRR, 8, {use(rdi), use(rdi)});
    MachInst& branch = b.add(Pseudo::Branch, 0, {});
    branch.cc = static_cast<std::uint8_t>(Cc::Ne);
    b.succ(first);
    b.succ(second);
    b.block();
    b.mov_imm(rax, 1);
    b.ret();
    b.block();
    b.mov_imm(rax, 2);
    b.ret();
    b.block();
    b.add(Pseudo::Jump, 0, {});
    b.succ(1);
    return run_u64(b, a);
  };
  EXPECT_EQ(run(1, 2, 1), 1u);
  EXPECT_EQ(run(1, 2, 0), 2u);
  EXPECT_EQ(run(2, 1, 1), 2u);
  EXPECT_EQ(run(2, 1, 0), 1u);
  EXPECT_EQ(run(3, 2, 1), 1u);
  EXPECT_EQ(run(2, 3, 0), 1u);
  EXPECT_EQ(run(2, 2, 0), 2u);
  EXPECT_EQ(run(3, 1, 0), 1u);
}

TEST(Emit, FloatNotEqualBranch) {
  for (const bool next_is_taken : {false, true}) {
    Builder b;
    b.add(Op::UcomisdRR, 0, {use(xmm0), use(xmm1)});
    b.add(Pseudo::BranchFne, 0, {});
    b.succ(next_is_taken ? 1 : 2);
    b.succ(next_is_taken ? 2 : 1);
    b.block();
    b.mov_imm(rax, next_is_taken ? 1 : 0);
    b.ret();
    b.block();
    b.mov_imm(rax, next_is_taken ? 0 : 1);
    b.ret();
    Runnable code(b.emit());
    std::uint64_t value = 0;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    code.call(value, 1.0, 1.0);
    EXPECT_EQ(value, 0u);
    code.call(value, 1.0, 2.0);
    EXPECT_EQ(value, 1u);
    code.call(value, nan, nan);
    EXPECT_EQ(value, 1u);
  }
}

TEST(Emit, JumpTable) {
  Builder b;
  MachInst& table = b.add(Pseudo::JumpTable, 4, {def(rcx), def(rdx), use(rdi)});
  table.imm = 1;
  table.aux = 3;
  b.func.jump_tables = {9, 1, 2, 1};
  b.succ(1);
  b.succ(2);
  b.succ(3);
  for (int i = 0; i < 3; ++i) {
    b.block();
    b.mov_imm(rax, 10 + i);
    b.ret();
  }
  Runnable code(b.emit());
  for (const auto& [index, want] :
       {std::pair{0u, 11u}, {1u, 12u}, {2u, 11u}, {3u, 10u}, {~0u, 10u}}) {
    std::uint64_t value = 0;
    code.call(value, std::uint64_t{index});
    EXPECT_EQ(value, want) << index;
  }
}

TEST(Emit, LoopThroughABlockThatOnlyJumps) {
  Builder b;
  b.mov_imm(rax, 0);
  b.add(Pseudo::Jump, 0, {});
  b.succ(1);
  b.block();  // 1: rax += rdi; rdi -= 1; to 2 while not zero
  b.add(Op::AddRR, 8, {def(rax), use(rax), use(rdi)});
  b.add(Op::DecR, 8, {def(rdi), use(rdi)});
  b.add(Pseudo::Branch, 0, {}).cc = static_cast<std::uint8_t>(Cc::Ne);
  b.succ(2);
  b.succ(3);
  b.block();
  b.add(Pseudo::Jump, 0, {});
  b.succ(1);
  b.block();
  b.ret();
  EXPECT_EQ(run_u64(b, 10), 55u);
}

TEST(Emit, EndlessLoopOfJumpsIsKept) {
  Builder b;
  b.add(Pseudo::Jump, 0, {});
  b.succ(1);
  b.block();
  b.add(Pseudo::Jump, 0, {});
  b.succ(2);
  b.block();
  b.add(Pseudo::Jump, 0, {});
  b.succ(1);
  EXPECT_EQ(b.emit().bytes, (std::vector<std::uint8_t>{0xeb, 0xfe}));
}

TEST(Emit, TrapsHaveCodeAndLocation) {
  Builder b;
  b.add(Op::CmpRR, 8, {use(rdi), use(rsi)});
  MachInst& trap = b.add(Pseudo::TrapIf, 0, {});
  trap.cc = static_cast<std::uint8_t>(Cc::Ae);
  trap.trap = TrapCode::TableOutOfBounds;
  b.mov_imm(rax, 1);
  b.ret();
  Runnable code(b.emit());
  std::uint64_t value = 0;
  EXPECT_EQ(code.call(value, std::uint64_t{1}, std::uint64_t{2}), std::nullopt);
  EXPECT_EQ(code.call(value, std::uint64_t{2}, std::uint64_t{2}), TrapCode::TableOutOfBounds);
  ASSERT_EQ(b.code.traps.size(), 1u);
  EXPECT_EQ(b.code.locs.back().offset, b.code.traps[0].offset);
  EXPECT_EQ(b.code.locs.back().loc, 2u);
}

TEST(Emit, CallsAndSymbols) {
  Builder b;
  b.func.has_calls = true;
  b.func.symbols.push_back(ir::ExternalName::user(0, 1));
  b.func.symbols.push_back(ir::ExternalName::user(0, 2));
  MachInst& call = b.add(Op::Call, 8, {def(rax), use(rdi)});
  call.flags = codegen::kCall;
  call.aux = 1;
  MachInst& near_symbol = b.add(Pseudo::SymbolNear, 8, {def(rcx)});
  near_symbol.imm = 8;
  MachInst& far_symbol = b.add(Pseudo::SymbolFar, 8, {def(rdx)});
  far_symbol.imm = -8;
  MachInst& indirect = b.add(Op::CallR, 8, {def(rax), use(rdx), use(rdi)});
  indirect.flags = codegen::kCall;
  b.ret();
  const CompiledCode& code = b.emit();
  ASSERT_EQ(code.relocs.size(), 3u);
  EXPECT_EQ(code.relocs[0].symbol, 1u);
  EXPECT_EQ(code.relocs[0].addend, -4);
  EXPECT_EQ(code.relocs[1].addend, 8 - 4);
  EXPECT_EQ(code.relocs[2].kind, CompiledCode::RelocKind::Abs64);
  EXPECT_EQ(code.relocs[2].addend, -8);
  ASSERT_EQ(code.call_returns.size(), 2u);
  EXPECT_EQ(code.call_returns[0], code.relocs[0].offset + 4);
  EXPECT_EQ(code.call_returns[1], code.relocs[2].offset + 8 + 2);
  EXPECT_EQ(code.symbols.size(), 2u);
}

// ---- integers

TEST(Emit, Division) {
  constexpr std::int64_t kValues[] = {0,  1,         -1,        2,         7,
                                      -7, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
  for (const Pseudo kind : {Pseudo::Udiv, Pseudo::Sdiv, Pseudo::Srem}) {
    for (const bool in_slot : {false, true}) {
      Builder b;
      b.alloc.spill_slots = 1;
      b.move(Alloc::of(rsi), Alloc::of_slot(0));
      b.add(Op::MovRR, 8, {def(rax), use(rdi)});
      MachInst& div =
          b.add(kind, 8, {def(rax), def(rdx), use(rax), in_slot ? use_slot(0) : use(rsi)});
      div.trap = TrapCode::IntegerDivideByZero;
      if (kind == Pseudo::Srem) b.add(Op::MovRR, 8, {def(rax), use(rdx)});
      b.ret();
      Runnable code(b.emit());
      for (const std::int64_t x : kValues) {
        for (const std::int64_t y : kValues) {
          std::int64_t value = 0;
          const std::optional<TrapCode> trap = code.call(value, x, y);
          const bool overflow = x == INT64_MIN && y == -1;
          if (y == 0 || (overflow && kind == Pseudo::Sdiv)) {
            EXPECT_EQ(trap, TrapCode::IntegerDivideByZero);
            continue;
          }
          EXPECT_EQ(trap, std::nullopt);
          const auto ux = static_cast<std::uint64_t>(x);
          const auto uy = static_cast<std::uint64_t>(y);
          const std::int64_t want = kind == Pseudo::Udiv   ? static_cast<std::int64_t>(ux / uy)
                                    : kind == Pseudo::Sdiv ? x / y
                                    : y == -1              ? 0
                                                           : x % y;
          EXPECT_EQ(value, want) << x << ' ' << y;
        }
      }
    }
  }
}

TEST(Emit, ThreeOperandAdditions) {
  for (const auto& [dst, a, c] : {std::array{rax, rdi, rsi},
                                  {rdi, rdi, rsi},
                                  {rsi, rdi, rsi},
                                  {rax, preg(Gpr::R13), rsi},
                                  {rax, rsi, preg(Gpr::R13)}}) {
    Builder b;
    b.move(Alloc::of(rdi), Alloc::of(preg(Gpr::R13)));
    b.alloc.used.add(preg(Gpr::R13));
    b.add(Pseudo::AddRegs, 8, {def(dst), use(a), use(c)});
    b.add(Op::MovRR, 8, {def(rax), use(dst)});
    b.ret();
    EXPECT_EQ(run_u64(b, 40, 2), 42u);
  }
  for (const PReg dst : {rax, rdi}) {
    for (const std::int64_t imm : {1, 127, 128, -128, 100'000}) {
      Builder b;
      b.add(Pseudo::AddImm, 4, {def(dst), use(rdi)}).imm = imm;
      b.add(Op::MovRR, 8, {def(rax), use(dst)});
      b.ret();
      EXPECT_EQ(run_u64(b, 200), static_cast<std::uint64_t>(200 + imm));
    }
    for (const unsigned amount : {1u, 2u, 3u}) {
      Builder b;
      b.add(Pseudo::ShlSmall, 4, {def(dst), use(rdi)}).imm = amount;
      b.add(Op::MovRR, 8, {def(rax), use(dst)});
      b.ret();
      EXPECT_EQ(run_u64(b, 0xf000'0001), (0xf000'0001ull << amount) & 0xffff'ffff);
    }
  }
}

}  // namespace
}  // namespace hoist::isa::x64
