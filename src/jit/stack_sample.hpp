// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The guest's stack at any moment, from a signal handler: also in the middle of a prologue, in a
/// host function, or through nested calls between host and guest. Takes no lock, allocates nothing,
/// and reads only the stack between the stack pointer and the entries of compiled code.

#include <cstdint>

#include "base/function_ref.hpp"
#include "platform/machine_context.hpp"

namespace hoist::jit {

/// A stack as a list of words, innermost first. Words up to kLastMark are marks, others are return
/// addresses.
namespace sample_word {
/// The thread was interrupted in compiled code; then come its pc and the two words at its stack
/// pointer: where the return address is while the frame is not there yet or not any more.
inline constexpr std::uint64_t kInCode = 1;
/// Host code, called from what follows; or with kHostFunction, which is in no address, the address
/// of the layer above's host function that was called (VmHostContext::host).
inline constexpr std::uint64_t kHost = 2;
inline constexpr std::uint64_t kHostFunction = std::uint64_t{1} << 63;
/// The walk lost its way, or was cut, here.
inline constexpr std::uint64_t kGap = 3;
inline constexpr std::uint64_t kLastMark = 15;
}  // namespace sample_word

inline constexpr std::uint32_t kSampleInnermost = 192;
inline constexpr std::uint32_t kSampleOutermost = 64;

/// Calls put(word) for each word of the calling thread's stack; false if it is not in compiled code
/// nor called from any. Deep stacks lose their middle.
bool sample_stack(const platform::MachineRegisters& at,
                  base::FunctionRef<void(std::uint64_t word)> put);

}  // namespace hoist::jit
