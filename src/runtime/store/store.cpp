// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/store/store.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/check.hpp"
#include "platform/float_mode.hpp"
#include "platform/machine_context.hpp"
#include "platform/threads.hpp"
#include "runtime/builtins/builtins.hpp"
#include "runtime/store/instance.hpp"
#include "runtime/store/store_slot.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist::runtime {

using hoist::detail::Access;

Store::Store(std::shared_ptr<Engine> engine, const StoreLimits& limits)
    : shared_(std::make_shared<hoist::detail::StoreShared>()),
      context_(shared_->context),
      engine_(std::move(engine)),
      limits_(limits),
      slot_(claim_store_slot(this)) {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  context_.store = this;
  context_.epoch = reinterpret_cast<const std::uint64_t*>(&engine_->epoch());
  context_.builtins = builtin_table();
  heap_.limits = {limits_.references, limits_.reference_bytes};
  heap_.stress = engine_->options().collect_always;
  ref_ = Access::ref(slot_, slot_->id.load(std::memory_order_relaxed));
}

Store::~Store() {
  HOIST_CHECK(activations_ == 0, "a store ends after the calls into it");
  error_.reset();
  free_store_slot(slot_);
  end_exceptions();
  close_account();
}

// ---- Objects.

std::shared_ptr<LinearMemory> Store::owner_of(const LinearMemory* memory) const {
  for (const std::shared_ptr<LinearMemory>& item : memories_) {
    if (item.get() == memory) return item;
  }
  return nullptr;
}

GlobalObject* Store::new_global(const wasm::GlobalType& type, std::uint64_t bits) {
  HostGlobal& made = globals_.emplace_back();
  made.global.type = type;
  made.own.bits[0] = bits;
  return &made.global;
}

image::VmFuncRef* Store::new_host_function(std::shared_ptr<const HostFunction> function) {
  HostFuncRef& made = host_functions_.emplace_back();
  made.context.store = &context_;
  made.context.call = call_host_function;
  made.context.builtins = builtin_table();
  made.context.host = const_cast<HostFunction*>(function.get());
  made.ref.ctx = &made.context;
  made.ref.type_id = function->type_id();
  made.ref.supertypes = engine_->types().supertypes(made.ref.type_id);
  made.function = std::move(function);
  return &made.ref;
}

Result<const void*> Store::exit_trampoline(std::uint32_t type_id) const {
  auto made = engine_->exit_trampoline(type_id);
  if (made || made.error().kind() != ErrorKind::Unsupported) return made;
  // Without compiler: the modules' own, which live as long as the store.
  for (const std::unique_ptr<Instance>& instance : instances_) {
    const void* found = instance->code().exit_trampoline_of_type(type_id);
    if (found != nullptr) return found;
  }
  return made;
}

Result<void> Store::prepare_func_ref(image::VmFuncRef& ref) {
  if (ref.code == nullptr) {
    HOIST_TRY(ref.code, exit_trampoline(ref.type_id));
  }
  return {};
}

Instance* Store::adopt(std::unique_ptr<Instance> instance) {
  instances_.push_back(std::move(instance));
  return instances_.back().get();
}

Instance* Store::only_instance_of(const void* code) const {
  Instance* found = nullptr;
  for (const std::unique_ptr<Instance>& instance : instances_) {
    if (&instance->code() != code) continue;
    if (found != nullptr) return nullptr;
    found = instance.get();
  }
  return found;
}

// ---- Calls.

/// Lowest stack pointer for compiled code that is entered at stack pointer `sp`.
static std::uintptr_t find_stack_limit(std::uintptr_t sp, const jit::ThreadState& thread,
                                       const EngineOptions& options) {
  const std::uintptr_t own = sp > options.guest_stack_bytes ? sp - options.guest_stack_bytes : 0;
  // On a stack that the embedder switched to, the configured sizes are all there is to go by.
  return thread.stack.contains(sp) ? std::max(own, thread.floor) : own;
}

static bool is_guest_memory(const jit::Activation& self, std::uintptr_t address) {
  return static_cast<const Store*>(self.owner)->owns_memory(address);
}

bool Store::owns_memory(std::uintptr_t address) const {
  return std::any_of(memories_.begin(), memories_.end(),
                     [&](const auto& memory) { return memory->reserves(address); });
}

bool Store::call(image::VmFuncRef& func, image::VmGlobal* slots) {
  if (image::VmHostContext* host = host_context(func)) return call_host(*host, slots);
  return call_compiled(func, slots);
}

bool Store::call_host(image::VmHostContext& context, image::VmGlobal* slots) {
  static_assert(sizeof(image::VmGlobal) == sizeof(hoist::detail::Slot) &&
                alignof(image::VmGlobal) == alignof(hoist::detail::Slot));
  const auto& function = *static_cast<const HostFunction*>(context.host);
  hoist::detail::HostCall call(ref_, context.caller, reinterpret_cast<hoist::detail::Slot*>(slots),
                               &function.public_type(), this);
  const std::size_t scope = heap_.scope();
  for (const std::uint32_t param : function.reference_params()) heap_.push(slots[param].bits[0]);
  const bool fine = function.call(call);
  // Nothing is allocated before compiled code has the results.
  heap_.pop_to(scope);
  if (fine) return true;
  if (!error_) error_ = Error(ErrorKind::Host, "a host function failed without saying why");
  return false;
}

HOIST_CALLS_MACHINE_CODE static std::uint64_t enter(const image::VmFuncRef& func,
                                                    image::StoreContext* context,
                                                    image::VmGlobal* slots) {
  using Entry = std::uint64_t (*)(const void*, void*, image::StoreContext*, image::VmGlobal*);
  const auto entry = reinterpret_cast<Entry>(reinterpret_cast<std::uintptr_t>(func.entry));
  return entry(func.code, func.ctx, context, slots);
}

bool Store::call_compiled(image::VmFuncRef& func, image::VmGlobal* slots) {
  HOIST_CHECK(func.entry != nullptr, "functions that the host can reach have an entry trampoline");
  jit::ThreadState& thread = jit::thread_state;
  const auto sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (activations_ == 0) {
    const EngineOptions& options = engine_->options();
    if (thread.reserve != options.host_reserve_bytes) [[unlikely]]
      jit::prepare_thread(options.host_reserve_bytes);
    const std::uint64_t limit = find_stack_limit(sp, thread, options);
    // A request that comes after this look changes it again.
    const std::uint64_t now = std::atomic_ref(context_.stack_limit).load(std::memory_order_seq_cst);
    if (limit != now || limit != stack_limit_) [[unlikely]]
      set_stack_limit(limit);
  }
  if (is_interrupted()) [[unlikely]] {
    set_interrupted();
    return false;
  }
  if (sp < stack_limit_) [[unlikely]] {
    set_stack_overflow();
    return false;
  }
  jit::Activation activation;
  activation.outer = thread.innermost;
  activation.context = &context_;
  activation.record = &record_;
  activation.is_guest_memory = is_guest_memory;
  activation.owner = this;
  if (activation.outer != nullptr) {
    // One by one: a vector load of what a trampoline has just stored in two parts would stall.
    const auto word = [](std::uint64_t& at) {
      return std::atomic_ref(at).load(std::memory_order_relaxed);
    };
    activation.outer_exit_fp = word(context_.exit_fp);
    activation.outer_exit_pc = word(context_.exit_pc);
    activation.outer_entry_fp = word(context_.entry_fp);
    activation.outer_exit_context = context_.exit_context;
  }
  // A sampler's handler on this thread finds it complete.
  std::atomic_signal_fence(std::memory_order_release);
  thread.innermost = &activation;
  ++activations_;
  const std::uint32_t float_mode = platform::float_mode();
  const bool odd_mode = !platform::is_default_float_mode(float_mode);
  if (odd_mode) [[unlikely]]
    platform::set_float_mode(platform::kDefaultFloatMode);
  const std::uint64_t left = enter(func, &context_, slots);
  if (odd_mode) [[unlikely]]
    platform::set_float_mode(float_mode);
  --activations_;
  thread.innermost = activation.outer;
  context_.exit_context = activation.outer_exit_context;
  if (left == 0) [[likely]]
    return true;
  set_error_of_call();
  return false;
}

void Store::set_error_of_call() {
  if (const image::TrapCode code = record_.code; code != image::TrapCode::None) {
    record_.code = image::TrapCode::None;
    if (code != image::TrapCode::StackOverflow) {
      error_ = trap_error(code);
    } else if (is_interrupted()) {
      set_interrupted();  // that is how code without a look at the epoch is stopped
    } else {
      set_stack_overflow();
    }
    error_ = with_frames(take_error(), record_.trace);
  }
  HOIST_CHECK(error_.has_value(), "whoever leaves compiled code says why");
}

std::uint32_t call_host_function(image::VmHostContext* context, image::VmGlobal* slots) {
  auto& store = *static_cast<Store*>(context->store->store);
  const bool fine = store.call_host(*context, slots);
  platform::set_default_float_mode();
  if (fine) [[likely]]
    return 0;
  // One that is caught needs no frames; `leave` adds them to others.
  if (!store.throw_pending_error()) store.add_frames();
  return 1;
}

// ---- Errors.

void Store::set_stack_overflow() {
  const jit::ThreadState& thread = jit::thread_state;
  const std::uint64_t stack = thread.stack.high - thread.stack.low;
  std::string limit =
      stack_limit_ == thread.floor
          ? fmt::format("the thread's stack has {} bytes (`ulimit -s`), of which {} are the host's",
                        stack, std::min<std::uint64_t>(stack, thread.reserve))
          : fmt::format("the limit is {} bytes", engine_->options().guest_stack_bytes);
  error_ = trap_error(image::TrapCode::StackOverflow, std::move(limit));
}

void Store::record_trap(std::uintptr_t pc, std::uintptr_t fp) {
  record_.code = jit::trap_code_at(pc);
  HOIST_CHECK(record_.code != image::TrapCode::None, "a call of `trap` is in the trap table");
  record_.trace.clear();
  jit::walk_frames(pc, fp, context_.entry_fp, [&](std::uintptr_t at) { record_.trace.add(at); });
}

Error Store::take_error() {
  HOIST_CHECK(error_.has_value(), "an error is taken once, after a call failed");
  Error error = *std::move(error_);
  error_.reset();
  return error;
}

void Store::set_trap(image::TrapCode code) {
  error_ = trap_error(code);
  add_frames();
}

/// Code left by a call that returns to `exit_pc`; what stands there may be of another instruction.
static std::uintptr_t in_call(std::uintptr_t exit_pc) {
  return exit_pc - 1;
}

void Store::add_frames() {
  jit::RawTrace trace;
  jit::walk_frames(in_call(context_.exit_pc), context_.exit_fp, context_.entry_fp,
                   [&](std::uintptr_t pc) { trace.add(pc); });
  error_ = with_frames(take_error(), trace);
}

hoist::Trap::Parts Store::backtrace() const {
  hoist::Trap::Parts parts;
  std::uint64_t pc = context_.exit_pc;
  std::uint64_t fp = context_.exit_fp;
  std::uint64_t end = context_.entry_fp;
  for (const jit::Activation* at = jit::current_activation(); at != nullptr; at = at->outer) {
    if (at->context != &context_) continue;
    jit::RawTrace trace;
    jit::walk_frames(in_call(pc), fp, end, [&](std::uintptr_t frame_pc) { trace.add(frame_pc); });
    append_frames(parts, trace);
    pc = at->outer_exit_pc;
    fp = at->outer_exit_fp;
    end = at->outer_entry_fp;
  }
  return parts;
}

}  // namespace hoist::runtime
