// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// memory.atomic.wait and notify for compiled code and for hosts.
/// Source: threads proposal, "Wait and notify operators".

#include <cstdint>

#include "image/layout/trap_code.hpp"
#include "runtime/objects/linear_memory.hpp"

namespace hoist::runtime {

class Store;

/// What an instruction does: gives `value`, or traps with `trap`, or (`stopped`) ends the call with
/// the error that the store holds.
struct AtomicOutcome {
  std::uint32_t value = 0;
  image::TrapCode trap = image::TrapCode::None;
  bool stopped = false;
};

/// `bytes` is 4 or 8; the address is that of the operand plus the static offset, without wrapping.
AtomicOutcome atomic_wait(Store& store, LinearMemory& memory, std::uint64_t operand,
                          std::uint64_t offset, std::uint32_t bytes, std::uint64_t expected,
                          std::int64_t timeout_ns);
/// For a thread of the host. Never stopped.
AtomicOutcome atomic_wait(LinearMemory& memory, std::uint64_t operand, std::uint64_t offset,
                          std::uint32_t bytes, std::uint64_t expected, std::int64_t timeout_ns);
AtomicOutcome atomic_wake(LinearMemory& memory, std::uint64_t operand, std::uint64_t offset,
                          std::uint32_t count);

}  // namespace hoist::runtime
