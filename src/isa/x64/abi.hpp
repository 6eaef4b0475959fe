// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Calling conventions and the frame of x86-64.
///
/// Values in registers: an i32 always has zero upper 32 bits, everywhere (parameters and results of
/// SystemV are re-zeroed where they arrive; all others keep it by themselves). The upper bits of i8
/// and i16 are unspecified. A spill slot has 8 bytes and keeps the whole register.
///
/// SystemV: the System V ABI for AMD64. Integer parameters rdi rsi rdx rcx r8 r9, float parameters
///   xmm0-7; results rax rdx and xmm0 xmm1. An i8, i16 or i32 with `sext` or `uext` is extended to
///   64 bits by whoever passes it. A StructReturn parameter comes back in rax if there are no other
///   results.
/// Fast and Tail (Hoist's own): integer parameters rdi rsi rdx rcx r8 r9 rax r10, float parameters
/// xmm0-7;
///   integer results rax rdx rcx rsi rdi r8, float results xmm0-7.
/// PreserveAll: parameters as SystemV, no results; the callee keeps every register (of vector
///   registers the 128 bits that compiled code ever uses across a call).
/// Winch: parameters and results as SystemV, but only the last result is in a register; the callee
///   keeps no register.
/// WindowsFastcall: the Microsoft x64 convention. The n-th of the first four parameters is in the
/// n-th
///   of rcx rdx r8 r9 or xmm0-3, and there are 32 bytes for them below those on the stack; results
///   rax rdx and xmm0 xmm1; rsi rdi and xmm6-15 are kept too. An i128 takes two places.
/// An i128 is in two integer registers, lower half first, or whole in memory at a multiple of 16. A
/// structure passed by value (StructArgument) is copied to the stack; the callee's value is its
/// address. All: the rest of the parameters in 8-byte units upwards from the stack pointer at the
/// call, then (our own
///   scheme in all conventions) the results that found no register, in 8-byte units after
///   the parameters. The whole area belongs to the caller: it makes room, the callee leaves the
///   size as it is and may overwrite the contents. But in Tail the callee removes what is below the
///   results (a multiple of 16 bytes) when it returns, so that it can tail-call with any number.
///   Callee-saved: rbx rbp r12-r15. r11 is free at entry (the prologue uses it). The stack pointer
///   is 16-byte aligned at the call.
///
/// Frame, from high addresses to low:
///   IncomingArg area    [rbp + 16 ...]
///   return address, caller's rbp (rbp points at it)
///   callee-saved registers that the function or a call in it changes
///   spill slots, sized stack slots
///   OutgoingArg area    [rsp ...]
/// Prologue: push rbp; mov rbp,rsp; push callee-saved registers; stack-limit check; sub rsp; save
/// vector registers.
///
/// Exceptions: a call with handlers changes all registers, since whoever resumes at a handler
/// restores the stack and frame pointer only and puts the payload into kPayloadRegs. So a function
/// with handlers saves all its callee-saved registers.
///
/// Stack-limit check (functions with MachFunction::stack_limit_offset >= 0): the limit is loaded
/// into r11 from [stack_limit_base + stack_limit_offset] (that is the context parameter), then, if
/// stack_limit_offset2 >= 0, from [r11 + stack_limit_offset2]. rsp - frame size below the limit
/// traps StackOverflow, out of line (frames above kUncheckedFrameBytes compare the difference in
/// r11, so that wrapping around is impossible for limits above the frame size). A function without
/// calls whose frame has at most kUncheckedFrameBytes makes no check; so the embedder's limit
/// leaves that much and the needs of host functions below it.

#include <cstdint>
#include <span>
#include <vector>

#include "asm/x64/regs.hpp"
#include "base/result.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "ir/signature.hpp"

namespace hoist::isa::x64 {

using codegen::PReg;
using codegen::RegMask;
using masm::x64::Gpr;
using masm::x64::Xmm;

inline constexpr std::uint32_t kUncheckedFrameBytes = 4096;
/// Frames are limited to this size; larger ones are ErrorKind::Limit.
inline constexpr std::uint32_t kMaxFrameBytes = 128u << 20;

/// A structure passed by value is at most this large.
inline constexpr std::uint32_t kMaxStructBytes = 4096;
/// The arguments of one call on the stack.
inline constexpr std::uint32_t kMaxArgumentBytes = 1u << 20;

constexpr PReg preg(Gpr reg) {
  return PReg::gpr(static_cast<unsigned>(reg));
}
constexpr PReg preg(Xmm reg) {
  return PReg::fpr(static_cast<unsigned>(reg));
}

/// The context parameter of every convention, if it is the first parameter.
inline constexpr PReg kContextReg = preg(Gpr::Rdi);
/// Never an argument, result or allocated value at function entry.
inline constexpr PReg kEntryScratch = preg(Gpr::R11);
/// What get_pinned_reg and set_pinned_reg mean, in programs that have them.
inline constexpr PReg kPinnedReg = preg(Gpr::R15);
/// Never allocated: parallel moves of floats, slot-to-slot copies.
inline constexpr PReg kFloatScratch = preg(Xmm::Xmm15);

/// Where one parameter or result is.
struct ArgLocation {
  PReg reg;                  ///< none: in the argument area
  PReg high;                 ///< of the upper half of an i128 in registers
  std::uint32_t offset = 0;  ///< in the argument area, a multiple of 8
  constexpr bool in_reg() const { return !reg.is_none(); }
};

/// A signature assigned to registers and stack.
struct SignatureLayout {
  std::vector<ArgLocation> params;
  std::vector<ArgLocation> results;
  std::uint32_t stack_bytes = 0;  ///< the argument area with results in it, a multiple of 16
  /// What the callee removes from the stack, the part of the argument area below the results.
  std::uint32_t popped_bytes = 0;
};

/// Conventions whose narrow integers arrive as the System V ABI says.
constexpr bool follows_system_abi(ir::CallConv conv) {
  return conv == ir::CallConv::SystemV || conv == ir::CallConv::PreserveAll ||
         conv == ir::CallConv::WindowsFastcall || conv == ir::CallConv::Winch;
}
/// Where an exception's payload words are when a handler is entered.
inline constexpr PReg kPayloadRegs[] = {preg(Gpr::Rax), preg(Gpr::Rdx)};

/// Fills `out`. Errors: Unsupported for a convention or a type that this target does not pass.
Result<void> assign_signature(const ir::Signature& sig, SignatureLayout& out);

/// Registers that a call of this convention may change.
RegMask call_clobbers(ir::CallConv conv);
/// All that register allocation hands out.
RegMask allocatable_registers();
/// Registers that a function of this convention must keep (rbp not counted).
RegMask callee_saved(ir::CallConv conv);
/// `pins_register`: without kPinnedReg.
const codegen::RegisterFile& register_file(ir::CallConv conv, bool pins_register = false);

}  // namespace hoist::isa::x64
