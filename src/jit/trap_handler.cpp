// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit/trap_handler.hpp"

#include <algorithm>

#include "jit/code_registry.hpp"
#include "jit/thread_list.hpp"
#include "platform/signals.hpp"

namespace hoist::jit {

constinit thread_local ThreadState thread_state;

// The thread itself writes without looking at others, and a word is read as a whole.
#if defined(__clang__)
__attribute__((no_sanitize("thread")))
#endif
bool is_in_guest(const ThreadState& thread) {
  return *static_cast<Activation* const volatile*>(&thread.innermost) != nullptr;
}

void prepare_thread(std::uint64_t reserve) {
  // No signal stack: guests check their stack and leave a reserve, which is enough for the handler.
  ThreadState& thread = thread_state;
  if (thread.stack.high == 0) thread.stack = platform::thread_stack();
  enlist_thread(thread);
  thread.reserve = reserve;
  thread.floor = thread.stack.low + std::min(thread.stack.high - thread.stack.low, reserve);
}

static bool on_fault(platform::Fault& fault) {
  image::TrapCode code = image::TrapCode::None;
  {
    const CodeLookup lookup;
    const LoadedCode* loaded = lookup.find(fault.at.pc);
    if (loaded == nullptr) return false;
    code = loaded->image->trap_at(loaded->offset_of(fault.at.pc));
  }
  const Activation* activation = thread_state.innermost;
  if (code == image::TrapCode::None || activation == nullptr) {
    platform::write_error_message(
        "hoist: internal error: a fault in compiled code at an instruction that cannot trap\n");
    return false;
  }
  if (fault.kind == platform::FaultKind::Memory &&
      !activation->is_guest_memory(*activation, fault.address)) {
    platform::write_error_message(
        "hoist: internal error: compiled code accessed memory that is not the guest's\n");
    return false;
  }
  TrapRecord& record = *activation->record;
  const image::StoreContext& context = *activation->context;
  record.code = code;
  record.address = fault.address;
  record.trace.clear();
  walk_frames(fault.at.pc, fault.at.fp, context.entry_fp,
              [&](std::uintptr_t pc) { record.trace.add(pc); });
  fault.at.pc = context.resume_pc;
  fault.at.sp = context.resume_sp;
  fault.at.fp = context.resume_fp;
  return true;
}

image::TrapCode trap_code_at(std::uintptr_t pc) {
  const CodeLookup lookup;
  const LoadedCode* loaded = lookup.find(pc);
  return loaded == nullptr ? image::TrapCode::None : loaded->image->trap_at(loaded->offset_of(pc));
}

void install_trap_handler() {
  platform::install_fault_handler(on_fault);
}

}  // namespace hoist::jit
