// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// For tests of emission: builds machine functions with hand-made allocations and runs what is made
/// of them. Traps come back as codes.

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>
#include <initializer_list>
#include <optional>

#include "isa/x64/abi.hpp"
#include "isa/x64/emit.hpp"
#include "isa/x64/pseudo.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;
using codegen::Alloc;
using codegen::Allocation;
using codegen::AllocMove;
using codegen::CompiledCode;
using codegen::MachBlock;
using codegen::MachFunction;
using codegen::MachInst;
using codegen::RegClass;
using image::TrapCode;
using masm::x64::Cc;
using masm::x64::Op;

// ---- running code

inline sigjmp_buf trap_exit;
inline volatile std::uintptr_t trap_pc = 0;

inline void on_signal(int, siginfo_t*, void* context) {
  trap_pc =
      static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  siglongjmp(trap_exit, 1);
}

/// Code in executable memory; traps come back as codes.
class Runnable {
 public:
  explicit Runnable(const CompiledCode& code) : code_(code) {
    mapping_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    // UBSan looks for a signature in the bytes before a function.
    base_ = mapping_ + 64;
    std::memcpy(base_, code.bytes.data(), code.bytes.size());
    mprotect(mapping_, kSize, PROT_READ | PROT_EXEC);
  }
  ~Runnable() { munmap(mapping_, kSize); }
  Runnable(const Runnable&) = delete;
  Runnable& operator=(const Runnable&) = delete;

  const void* address() const { return base_; }

  /// The code of the trap, or nothing; the call's value in `value`.
  template <typename R, typename... Args>
  std::optional<TrapCode> call(R& value, Args... args) {
    struct sigaction action = {};
    struct sigaction old[2];
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGILL, &action, &old[0]);
    sigaction(SIGFPE, &action, &old[1]);
    const bool trapped = sigsetjmp(trap_exit, 1) != 0;
    if (!trapped)
      value = reinterpret_cast<R (*)(Args...)>(reinterpret_cast<std::uintptr_t>(base_))(args...);
    sigaction(SIGILL, &old[0], nullptr);
    sigaction(SIGFPE, &old[1], nullptr);
    if (!trapped) return std::nullopt;
    const std::uintptr_t offset = trap_pc - reinterpret_cast<std::uintptr_t>(base_);
    for (const CompiledCode::TrapSite& site : code_.traps) {
      if (site.offset == offset) return site.code;
    }
    ADD_FAILURE() << "trap at " << offset << " is in no table";
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kSize = 1 << 16;
  const CompiledCode& code_;
  std::uint8_t* mapping_;
  std::uint8_t* base_;
};

// ---- building functions

struct Place {
  Alloc alloc;
  codegen::Role role;
};
inline Place def(PReg r) {
  return {Alloc::of(r), codegen::Role::Def};
}
inline Place use(PReg r) {
  return {Alloc::of(r), codegen::Role::Use};
}
inline Place use_slot(std::uint16_t slot) {
  return {Alloc::of_slot(slot), codegen::Role::Use};
}

constexpr PReg rax = preg(Gpr::Rax), rcx = preg(Gpr::Rcx), rdx = preg(Gpr::Rdx),
               rbx = preg(Gpr::Rbx), rsi = preg(Gpr::Rsi), rdi = preg(Gpr::Rdi), r8 = preg(Gpr::R8),
               r12 = preg(Gpr::R12);
constexpr PReg xmm0 = preg(Xmm::Xmm0), xmm1 = preg(Xmm::Xmm1), xmm2 = preg(Xmm::Xmm2);

class Builder {
 public:
  Builder() {
    func.clobber_sets.push_back({});
    func.call_conv = ir::CallConv::SystemV;
    block();
  }
  void block() {
    if (!func.blocks.empty()) end();
    codegen::MachBlockData data;
    data.first_inst = static_cast<std::uint32_t>(func.insts.size());
    data.first_succ = static_cast<std::uint32_t>(func.succs.size());
    func.blocks.push(data);
  }
  void succ(std::uint32_t target) { func.succs.push_back({MachBlock(target), 0, 0}); }
  template <typename O>
  MachInst& add(O op, unsigned width, std::initializer_list<Place> places) {
    MachInst inst;
    inst.op = raw(op);
    inst.width = static_cast<std::uint8_t>(width);
    inst.first_operand = static_cast<std::uint32_t>(func.operands.size());
    inst.operand_count = static_cast<std::uint8_t>(places.size());
    for (const Place& place : places) {
      codegen::Operand operand;
      operand.role = place.role;
      func.operands.push_back(operand);
      alloc.allocs.push_back(place.alloc);
      if (place.alloc.is_reg() && place.role == codegen::Role::Def) alloc.used.add(place.alloc.reg);
    }
    func.insts.push_back(inst);
    func.locs.push_back({static_cast<std::uint32_t>(func.insts.size())});
    return func.insts.back();
  }
  MachInst& mov_imm(PReg dst, std::int64_t value) {
    MachInst& inst = add(Op::MovRI, 8, {def(dst)});
    inst.imm = value;
    return inst;
  }
  AllocMove& move(Alloc from, Alloc to, RegClass cls = RegClass::Int) {
    AllocMove m;
    m.before = static_cast<std::uint32_t>(func.insts.size());
    m.from = from;
    m.to = to;
    m.cls = cls;
    alloc.moves.push_back(m);
    return alloc.moves.back();
  }
  void ret() { add(Pseudo::Return, 0, {}); }
  CompiledCode& emit() {
    end();
    EXPECT_TRUE(emit_function(func, alloc, scratch, code));
    return code;
  }

  MachFunction func;
  Allocation alloc;
  EmitScratch scratch;
  CompiledCode code;

 private:
  void end() {
    codegen::MachBlockData& data = func.blocks[MachBlock(func.blocks.size() - 1)];
    data.end_inst = static_cast<std::uint32_t>(func.insts.size());
    data.succ_count = static_cast<std::uint32_t>(func.succs.size()) - data.first_succ;
  }
};

inline std::uint64_t run_u64(Builder& b, std::uint64_t a = 0, std::uint64_t c = 0) {
  Runnable code(b.emit());
  std::uint64_t value = 0;
  EXPECT_EQ(code.call(value, a, c), std::nullopt);
  return value;
}

}  // namespace hoist::isa::x64
