// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Store: owns what instances are made of, and calls into compiled code. One thread at a time.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "hoist/store.hpp"
#include "hoist/trap.hpp"
#include "image/layout/vm_layout.hpp"
#include "jit/trap_handler.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/objects/global_object.hpp"
#include "runtime/objects/host_function.hpp"
#include "runtime/objects/linear_memory.hpp"
#include "runtime/objects/table_object.hpp"

namespace hoist::runtime {

class Instance;

class Store {
 public:
  Store(std::shared_ptr<Engine> engine, const StoreLimits& limits);
  /// No call may be in progress.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::shared_ptr<Engine>& engine() const { return engine_; }
  const StoreLimits& limits() const { return limits_; }
  image::StoreContext& context() { return context_; }
  StoreRef ref() const { return ref_; }
  void* data = nullptr;  ///< the embedder's

  // ---- What is made here lives until the store ends; addresses are stable.
  Result<LinearMemory*> new_memory(const wasm::MemoryType& type);
  Result<TableObject*> new_table(const wasm::TableType& type, std::uint64_t init);
  GlobalObject* new_global(const wasm::GlobalType& type, std::uint64_t bits);
  image::VmFuncRef* new_host_function(std::shared_ptr<const HostFunction> function);
  /// Makes sure that compiled code can call `ref`: a host function needs an exit trampoline.
  Result<void> prepare_func_ref(image::VmFuncRef& ref);
  Instance* adopt(std::unique_ptr<Instance> instance);
  std::size_t instances() const { return instances_.size(); }

  /// Calls a function of this store; arguments in `slots`, results out in the same slots. False: an
  /// error is set. @source core specification, section 4.5.5.
  bool call(image::VmFuncRef& func, image::VmGlobal* slots);

  // ---- The error of a call that failed, from where it arose to the entering call.
  void set_error(Error error) { error_ = std::move(error); }
  Error take_error();
  /// For host functions and builtins that compiled code called: sets a trap, or adds the frames of
  /// the present activation to the error that is set.
  void set_trap(image::TrapCode code);
  void add_frames();
  /// The frames of all activations of this store on this thread, innermost first.
  hoist::Trap::Parts backtrace() const;

  /// A host function's callable, with its arguments in `slots`. False: an error is set.
  bool call_host(image::VmHostContext& context, image::VmGlobal* slots);
  /// Whether an address of the process lies in a memory of this store. In the signal handler.
  bool owns_memory(std::uintptr_t address) const;

 private:
  bool call_compiled(image::VmFuncRef& func, image::VmGlobal* slots);

  image::StoreContext context_;
  std::shared_ptr<Engine> engine_;
  StoreLimits limits_;
  hoist::detail::StoreSlot* slot_;
  StoreRef ref_;
  std::uint32_t activations_ = 0;
  std::optional<Error> error_;
  jit::TrapRecord record_;
  std::vector<std::unique_ptr<LinearMemory>> memories_;
  std::vector<std::unique_ptr<TableObject>> tables_;
  std::deque<HostGlobal> globals_;
  std::deque<HostFuncRef> host_functions_;
  std::vector<std::unique_ptr<Instance>> instances_;
};

/// VmHostContext::call of every host function.
std::uint32_t call_host_function(image::VmHostContext* context, image::VmGlobal* slots);

}  // namespace hoist::runtime
