// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Faults in compiled code become traps: the signal handler finds the trap code of the faulting
/// instruction, records where it was, and lets the thread continue at the resume address of the
/// innermost entry, which then returns 1 to its caller.

#include <atomic>
#include <cstdint>

#include "image/layout/trap_code.hpp"
#include "image/layout/vm_layout.hpp"
#include "jit/frame_walk.hpp"
#include "platform/threads.hpp"

namespace hoist::jit {

/// What the handler leaves behind for the caller of the entry trampoline.
struct TrapRecord {
  image::TrapCode code = image::TrapCode::None;  ///< None: no trap is pending
  std::uintptr_t address = 0;                    ///< of a memory access
  RawTrace trace;
};

/// One call from the host into compiled code, on the stack of that call. Activations of a thread
/// are linked, innermost first, whatever store they belong to.
struct Activation {
  Activation* outer = nullptr;
  image::StoreContext* context = nullptr;
  TrapRecord* record = nullptr;
  /// Whether a faulting access to `address` is the guest's doing. Runs in the signal handler.
  bool (*is_guest_memory)(const Activation& self, std::uintptr_t address) = nullptr;
  void* owner = nullptr;  ///< of the layer above
  // What the store context said when this activation began, if there is an outer one: the ends of
  // the walk through that.
  std::uint64_t outer_exit_fp = 0;
  std::uint64_t outer_exit_pc = 0;
  std::uint64_t outer_entry_fp = 0;
  const std::uint32_t* outer_exit_context = nullptr;
};

/// What calls into compiled code need to know of their thread.
struct ThreadState {
  /// Null outside of compiled code and host functions.
  Activation* innermost = nullptr;
  platform::StackBounds stack;
  // Compiled code leaves the lowest `reserve` bytes of the stack to the host: down to `floor`.
  std::uint64_t reserve =
      ~std::uint64_t{0};  ///< no reserve is as large: prepare_thread comes first
  std::uintptr_t floor = 0;
};
extern constinit thread_local ThreadState thread_state;

/// Whether that thread, which may be another, is in compiled code or in what this calls. It may
/// enter and leave at any moment.
bool is_in_guest(const ThreadState& thread);

/// Finds the stack and its floor; before a call with another reserve than that of the last.
void prepare_thread(std::uint64_t reserve);

/// The innermost activation of the calling thread.
inline Activation* current_activation() {
  return thread_state.innermost;
}
inline void set_current_activation(Activation* activation) {
  // A sampler's handler on this thread finds it complete.
  std::atomic_signal_fence(std::memory_order_release);
  thread_state.innermost = activation;
}

/// The trap code of the instruction at `pc`; None if it has none.
image::TrapCode trap_code_at(std::uintptr_t pc);

/// Once per process; also see platform::install_fault_handler.
void install_trap_handler();

}  // namespace hoist::jit
