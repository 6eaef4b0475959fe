// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Calls of compiled functions from the host, with traps caught.
#include "ir/text/printer.hpp"
#include "jit/trap_handler.hpp"
#include "native/jit_state.hpp"
#include "platform/machine_context.hpp"
#include "platform/signals.hpp"

namespace hoist::native {

namespace {

/// codegen::Target::entry_trampoline
using EntryFn = std::uint64_t (*)(const void* code, void* ctx, image::StoreContext* store,
                                  image::VmGlobal* slots);

/// Any faulting access that has a trap code is the function's own doing.
bool any_memory(const jit::Activation&, std::uintptr_t) {
  return true;
}

HOIST_CALLS_MACHINE_CODE std::uint64_t enter(const void* trampoline, const void* code,
                                             image::StoreContext* store, image::VmGlobal* slots) {
  const auto entry = reinterpret_cast<EntryFn>(reinterpret_cast<std::uintptr_t>(trampoline));
  return entry(code, nullptr, store, slots);
}

std::uint64_t low_bits(std::uint64_t bits, ir::Type type) {
  return type.bits() < 64 ? bits & ((std::uint64_t{1} << type.bits()) - 1) : bits;
}

}  // namespace

Result<CallOutcome> JitModule::call(const ir::ExternalName& name,
                                    std::span<const ir::DataValue> args) const {
  base::Printer text;
  text << name;
  const auto found = state_->numbers.find(std::string(text.view()));
  if (state_->loaded == nullptr || found == state_->numbers.end()) {
    return Error(ErrorKind::BadArgument, "no function " + text.take() + " to call");
  }
  const State::Entry& entry = state_->entries[found->second];
  if (!entry.is_defined) {
    return Error(ErrorKind::BadArgument, text.take() + " is a host symbol");
  }
  const std::vector<ir::AbiParam>& params = entry.signature.params;
  const std::vector<ir::AbiParam>& returns = entry.signature.returns;
  bool fits = params.size() == args.size();
  for (std::size_t i = 0; fits && i < params.size(); ++i) fits = params[i].type == args[i].type;
  if (!fits) {
    text << " takes " << entry.signature;
    return Error(ErrorKind::BadArgument, "the arguments do not fit: " + text.take());
  }

  std::vector<image::VmGlobal> slots(
      std::max<std::size_t>(1, std::max(params.size(), returns.size())));
  for (std::size_t i = 0; i < args.size(); ++i) slots[i] = {{args[i].lo, args[i].hi}};
  platform::ensure_signal_stack();
  // So that a sampler knows the thread.
  if (jit::thread_state.stack.high == 0) jit::prepare_thread(0);
  jit::install_trap_handler();
  image::StoreContext store;
  jit::TrapRecord record;
  jit::Activation activation;
  activation.outer = jit::current_activation();
  activation.context = &store;
  activation.record = &record;
  activation.is_guest_memory = any_memory;
  activation.owner = const_cast<JitModule*>(this);
  jit::set_current_activation(&activation);
  const void* trampoline = state_->loaded->address(
      image::FuncKey(image::FuncKind::EntryTrampoline, 0, entry.trampoline));
  const std::uint64_t left =
      enter(trampoline, state_->loaded->address(entry.key), &store, slots.data());
  jit::set_current_activation(activation.outer);

  CallOutcome outcome;
  if (left != 0) {
    outcome.trap = record.code;
    return outcome;
  }
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const ir::Type type = returns[i].type;
    outcome.values.push_back(
        {type, low_bits(slots[i].bits[0], type), type.bits() > 64 ? slots[i].bits[1] : 0});
  }
  return outcome;
}

}  // namespace hoist::native
