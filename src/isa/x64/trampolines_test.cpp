// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry trampolines, by running them.
#include <cstddef>

#include "asm/x64/encoder.hpp"
#include "image/layout/vm_layout.hpp"
#include "isa/x64/emit_test_support.hpp"

namespace hoist::isa::x64 {
namespace {

using Entry = std::uint64_t (*)(const void*, void*, image::StoreContext*, image::VmGlobal*);

Entry entry_of(const Runnable& code) {
  return reinterpret_cast<Entry>(reinterpret_cast<std::uintptr_t>(code.address()));
}

TEST(EntryTrampoline, PassesArgumentsAndResults) {
  ir::Signature sig;
  sig.call_conv = ir::CallConv::Fast;
  sig.params.push_back({ir::I64, ir::ArgExtension::None, ir::ArgPurpose::VmCtx, 0});
  constexpr ir::Type kTypes[] = {ir::I32, ir::F32, ir::I64, ir::F64};
  constexpr std::size_t kCount = 28;
  for (std::size_t i = 0; i < kCount; ++i) {
    sig.params.push_back({kTypes[i % 4], ir::ArgExtension::None, ir::ArgPurpose::Normal, 0});
    sig.returns.push_back({kTypes[i % 4], ir::ArgExtension::None, ir::ArgPurpose::Normal, 0});
  }
  SignatureLayout layout;
  ASSERT_TRUE(assign_signature(sig, layout));

  // The callee stores its context and its arguments at *ctx, loads its results from ctx + 1024.
  Builder b;
  b.func.call_conv = ir::CallConv::Fast;
  const auto at_context = [](MachInst& inst, std::size_t disp) {
    inst.addr = AddrKind::Base;
    inst.disp = static_cast<std::int32_t>(disp);
  };
  constexpr PReg r11 = preg(Gpr::R11);
  at_context(b.add(Op::MovMR, 8, {use(rdi), use(rdi)}), 0);
  for (std::size_t i = 1; i <= kCount; ++i) {
    const ArgLocation& loc = layout.params[i];
    if (loc.in_reg() && loc.reg.cls() == RegClass::Float) {
      at_context(b.add(Op::MovsdMR, 0, {use(loc.reg), use(rdi)}), 8 * i);
      continue;
    }
    if (!loc.in_reg()) {
      MachInst& load = b.add(Op::MovRM, 8, {def(r11)});
      load.addr = AddrKind::IncomingArg;
      load.disp = static_cast<std::int32_t>(loc.offset);
    }
    at_context(b.add(Op::MovMR, 8, {use(loc.in_reg() ? loc.reg : r11), use(rdi)}), 8 * i);
  }
  b.add(Op::MovRR, 8, {def(r11), use(rdi)});
  constexpr PReg r10 = preg(Gpr::R10);
  for (std::size_t i = 0; i < kCount; ++i) {
    const ArgLocation& loc = layout.results[i];
    const std::size_t from = 1024 + 8 * i;
    if (!loc.in_reg()) {
      at_context(b.add(Op::MovRM, 8, {def(r10), use(r11)}), from);
      MachInst& store = b.add(Op::MovMR, 8, {use(r10)});
      store.addr = AddrKind::IncomingArg;
      store.disp = static_cast<std::int32_t>(loc.offset);
    } else if (loc.reg.cls() == RegClass::Float) {
      at_context(b.add(Op::MovsdRM, 0, {def(loc.reg), use(r11)}), from);
    } else {
      at_context(b.add(Op::MovRM, 8, {def(loc.reg), use(r11)}), from);
    }
  }
  for (const Gpr saved : {Gpr::Rbx, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15}) {
    b.mov_imm(preg(saved), -1);  // the trampoline must not rely on them
  }
  b.ret();
  Runnable callee(b.emit());

  CompiledCode code;
  ASSERT_TRUE(emit_entry_trampoline(sig, true, code));
  EXPECT_EQ(code.frame_bytes % 16, 0u);
  Runnable trampoline(code);
  image::StoreContext store;
  store.resume_sp = 1;
  store.resume_fp = 2;
  store.resume_pc = 3;
  store.exit_fp = 4;
  store.exit_pc = 5;
  store.entry_fp = 6;
  std::uint64_t context[256] = {};
  image::VmGlobal slots[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    slots[i].bits[0] = 0xabcd'0000'1111'0000u + i;
    context[128 + i] = 0x1234'0000'5555'0000u + i;
  }
  EXPECT_EQ(entry_of(trampoline)(callee.address(), context, &store, slots), 0u);
  EXPECT_EQ(context[0], reinterpret_cast<std::uint64_t>(context));
  for (std::size_t i = 0; i < kCount; ++i) {
    const bool is_32 = i % 4 < 2;
    const std::uint64_t low = is_32 ? 0xffff'ffffu : ~std::uint64_t{0};
    EXPECT_EQ(context[1 + i], (0xabcd'0000'1111'0000u + i) & low) << i;
    EXPECT_EQ(slots[i].bits[0], (0x1234'0000'5555'0000u + i) & low) << i;
  }
  EXPECT_EQ(store.resume_sp, 1u);
  EXPECT_EQ(store.resume_fp, 2u);
  EXPECT_EQ(store.resume_pc, 3u);
  EXPECT_EQ(store.exit_fp, 4u);
  EXPECT_EQ(store.exit_pc, 5u);
  EXPECT_EQ(store.entry_fp, 6u);
}

TEST(EntryTrampoline, IsLeftThroughTheResumeAddress) {
  // The callee does what the runtime does after a trap: rsp, rbp and the pc from the store context.
  ir::Signature sig;
  sig.call_conv = ir::CallConv::Fast;
  sig.params.push_back({ir::I64, ir::ArgExtension::None, ir::ArgPurpose::VmCtx, 0});
  masm::CodeBuffer buffer;
  masm::x64::Encoder enc(buffer);
  using masm::x64::Mem;
  for (int i = 0; i < 9; ++i) enc.r(Op::PushR, 8, Gpr::Rax);
  for (const Gpr reg : {Gpr::Rbx, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15}) {
    enc.ri(Op::MovRI, 8, reg, -1);
  }
  enc.rm(Op::MovRM, 8, Gpr::Rsp, Mem::at(Gpr::Rdi, offsetof(image::StoreContext, resume_sp)));
  enc.rm(Op::MovRM, 8, Gpr::Rbp, Mem::at(Gpr::Rdi, offsetof(image::StoreContext, resume_fp)));
  enc.m(Op::JmpM, 8, Mem::at(Gpr::Rdi, offsetof(image::StoreContext, resume_pc)));
  ASSERT_TRUE(buffer.finish());
  CompiledCode callee_code;
  callee_code.bytes.assign(buffer.bytes().begin(), buffer.bytes().end());
  Runnable callee(callee_code);

  CompiledCode code;
  ASSERT_TRUE(emit_entry_trampoline(sig, true, code));
  Runnable trampoline(code);
  image::StoreContext store;
  store.entry_fp = 99;
  EXPECT_EQ(entry_of(trampoline)(callee.address(), &store, &store, nullptr), 1u);
  EXPECT_EQ(store.entry_fp, 99u);
  EXPECT_EQ(store.resume_pc, 0u);
}

TEST(EntryTrampoline, WithoutContextAndInTheSystemConvention) {
  ir::Signature sig;
  sig.call_conv = ir::CallConv::SystemV;
  sig.params.push_back({ir::I8, ir::ArgExtension::Sext, ir::ArgPurpose::Normal, 0});
  sig.params.push_back({ir::I16, ir::ArgExtension::Uext, ir::ArgPurpose::Normal, 0});
  sig.params.push_back({ir::I32, ir::ArgExtension::Sext, ir::ArgPurpose::Normal, 0});
  sig.returns.push_back({ir::I32, ir::ArgExtension::None, ir::ArgPurpose::Normal, 0});
  CompiledCode code;
  ASSERT_TRUE(emit_entry_trampoline(sig, false, code));
  Runnable trampoline(code);
  const auto callee = +[](std::int64_t a, std::int64_t b, std::int64_t c) -> std::int64_t {
    return a * 1'000'000 + b * 10 + c;
  };
  image::StoreContext store;
  image::VmGlobal slots[3];
  slots[0].bits[0] = 0xff;     // -1
  slots[1].bits[0] = 0x1ffff;  // 65535
  slots[2].bits[0] = 0xffff'fffe;
  EXPECT_EQ(entry_of(trampoline)(reinterpret_cast<const void*>(callee), nullptr, &store, slots),
            0u);
  EXPECT_EQ(slots[0].bits[0], static_cast<std::uint32_t>(-1'000'000 + 655'350 - 2));
}
}  // namespace
}  // namespace hoist::isa::x64
