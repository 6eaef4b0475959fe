// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Faults of the running thread: one handler for SIGSEGV, SIGBUS, SIGILL and SIGFPE, in front of
/// whatever was installed before, which gets every fault that ours does not claim.

#include <cstdint>

#include "platform/machine_context.hpp"

namespace hoist::platform {

enum class FaultKind : std::uint8_t { Memory, Instruction, Arithmetic };

struct Fault {
  FaultKind kind = FaultKind::Memory;
  /// Memory: the address that was accessed, as far as the system tells.
  std::uintptr_t address = 0;
  /// Where it happened; changed by a handler that claims the fault.
  MachineRegisters at;
};

/// Returns true to continue at `fault.at`, false to pass the fault on. Runs as a signal handler: no
/// allocation, no locks.
using FaultHandler = bool (*)(Fault& fault);

/// Once per process; later calls change nothing. Signals sent by processes (kill) are passed on.
void install_fault_handler(FaultHandler handler);

/// Makes sure that this thread has an alternate signal stack; keeps one that is there. Ours is
/// given back when the thread ends. Cheap after the first call. For code that may run into the end
/// of its stack; code that checks its stack leaves enough of it for the handler.
void ensure_signal_stack();

/// Writes to standard error from a signal handler.
void write_error_message(const char* text);

}  // namespace hoist::platform
