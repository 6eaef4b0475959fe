// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform/machine_context.hpp"

#include <ucontext.h>

#include <cstring>

#include "base/check.hpp"

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "Hoist needs Linux on x86-64 or AArch64; add the registers of this system here"
#endif

extern "C" [[noreturn]] __attribute__((visibility("hidden"))) void hoist_resume_at(
    std::uintptr_t sp, std::uintptr_t fp, std::uintptr_t pc, std::uint64_t payload0,
    std::uint64_t payload1);

#if defined(__x86_64__)
__asm__(
    ".pushsection .text\n"
    ".globl hoist_resume_at\n"
    ".hidden hoist_resume_at\n"
    ".type hoist_resume_at, @function\n"
    "hoist_resume_at:\n"
    "  movq %rdi, %rsp\n"
    "  movq %rsi, %rbp\n"
    "  movq %rdx, %rsi\n"
    "  movq %rcx, %rax\n"
    "  movq %r8, %rdx\n"
    "  jmpq *%rsi\n"
    ".size hoist_resume_at, .-hoist_resume_at\n"
    ".popsection\n");
#else
__asm__(
    ".pushsection .text\n"
    ".globl hoist_resume_at\n"
    ".hidden hoist_resume_at\n"
    ".type hoist_resume_at, %function\n"
    "hoist_resume_at:\n"
    "  mov sp, x0\n"
    "  mov x29, x1\n"
    "  mov x0, x3\n"
    "  mov x1, x4\n"
    "  br x2\n"
    ".size hoist_resume_at, .-hoist_resume_at\n"
    ".popsection\n");
#endif

namespace hoist::platform {

MachineRegisters read_context(const void* signal_context) {
  const auto& machine = static_cast<const ucontext_t*>(signal_context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine.gregs[REG_RIP]),
          static_cast<std::uintptr_t>(machine.gregs[REG_RSP]),
          static_cast<std::uintptr_t>(machine.gregs[REG_RBP])};
#else
  return {machine.pc, machine.sp, machine.regs[29]};
#endif
}

void write_context(void* signal_context, const MachineRegisters& registers) {
  auto& machine = static_cast<ucontext_t*>(signal_context)->uc_mcontext;
#if defined(__x86_64__)
  constexpr greg_t kDirectionFlag = 0x400;
  machine.gregs[REG_RIP] = static_cast<greg_t>(registers.pc);
  machine.gregs[REG_RSP] = static_cast<greg_t>(registers.sp);
  machine.gregs[REG_RBP] = static_cast<greg_t>(registers.fp);
  machine.gregs[REG_EFL] &= ~kDirectionFlag;
#else
  machine.pc = registers.pc;
  machine.sp = registers.sp;
  machine.regs[29] = registers.fp;
#endif
}

// Not instrumented: a sanitizer would clear the shadow of stack frames that stay in use.
__attribute__((no_sanitize("address"))) void resume_at(std::uintptr_t sp, std::uintptr_t fp,
                                                       std::uintptr_t pc, std::uint64_t payload0,
                                                       std::uint64_t payload1) {
  hoist_resume_at(sp, fp, pc, payload0, payload1);
}

__attribute__((noinline)) std::uintptr_t current_stack_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

void write_no_operations(std::uint8_t* to, std::size_t bytes) {
#if defined(__x86_64__)
  constexpr std::uint8_t kLong[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  constexpr std::uint8_t kShort = 0x90;
#else
  constexpr std::uint8_t kLong[] = {0x1f, 0x20, 0x03, 0xd5};
  constexpr std::uint8_t kShort = 0;  // never used: the code is made of whole instructions
#endif
  while (bytes >= sizeof kLong) {
    std::memcpy(to, kLong, sizeof kLong);
    to += sizeof kLong;
    bytes -= sizeof kLong;
  }
  std::memset(to, kShort, bytes);
}

void flush_instruction_cache(void* begin, void* end) {
  __builtin___clear_cache(static_cast<char*>(begin), static_cast<char*>(end));
}

}  // namespace hoist::platform
