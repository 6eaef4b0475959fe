// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The three registers of a suspended or abandoned computation that Hoist deals with.

#include <cstddef>
#include <cstdint>

/// For functions that call machine code through a pointer: it carries none of the type marks that
/// UBSan's check of indirect calls looks for in front of a function.
#if defined(__clang__)
#define HOIST_CALLS_MACHINE_CODE __attribute__((no_sanitize("function")))
#else
#define HOIST_CALLS_MACHINE_CODE
#endif

namespace hoist::platform {

struct MachineRegisters {
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;
  std::uintptr_t fp = 0;
};

/// From and to the context that a signal handler gets as its third argument.
MachineRegisters read_context(const void* signal_context);
void write_context(void* signal_context, const MachineRegisters& registers);

/// Continues at `pc` with the given stack and frame pointer and two words in the registers that
/// hold an exception's payload (x86-64: rax, rdx; AArch64: x0, x1); everything below `sp` is
/// abandoned without running anything.
[[noreturn]] void resume_at(std::uintptr_t sp, std::uintptr_t fp, std::uintptr_t pc,
                            std::uint64_t payload0 = 0, std::uint64_t payload1 = 0);

/// Stack pointer of the caller, roughly.
std::uintptr_t current_stack_pointer();

/// Fills with instructions that do nothing, as few as possible.
void write_no_operations(std::uint8_t* to, std::size_t bytes);

/// After writing machine code and before running it.
void flush_instruction_cache(void* begin, void* end);

}  // namespace hoist::platform
