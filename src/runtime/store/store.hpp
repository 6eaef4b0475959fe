// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Store: owns what instances are made of, and calls into compiled code. One thread at a time.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hoist/store.hpp"
#include "hoist/trap.hpp"
#include "image/layout/vm_layout.hpp"
#include "jit/trap_handler.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/gc/heap.hpp"
#include "runtime/objects/global_object.hpp"
#include "runtime/objects/host_function.hpp"
#include "runtime/objects/linear_memory.hpp"
#include "runtime/objects/table_object.hpp"
#include "runtime/objects/tag_object.hpp"
#include "runtime/store/account.hpp"
#include "runtime/store/store_shared.hpp"

namespace hoist::runtime {

class Instance;

class Store final : private Heap::Owner {
 public:
  Store(std::shared_ptr<Engine> engine, const StoreLimits& limits);
  /// No call may be in progress.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::shared_ptr<Engine>& engine() const { return engine_; }
  const StoreLimits& limits() const { return limits_; }
  /// Where its memories, tables and instances come from; null: from the system, on demand.
  Pool* pool() const { return limits_.pooled ? engine_->pool() : nullptr; }
  image::StoreContext& context() { return context_; }
  StoreRef ref() const { return ref_; }
  void* data = nullptr;  ///< the embedder's

  // ---- What is made here lives until the store ends; addresses are stable.
  Result<LinearMemory*> new_memory(const wasm::MemoryType& type,
                                   const std::shared_ptr<const MemoryImage>& image = nullptr);
  /// A shared memory that other stores may have too; once, however often it is added.
  /// @error Limit: the store may not have it.
  Result<LinearMemory*> add_shared_memory(const std::shared_ptr<LinearMemory>& memory);
  /// The owner of a memory of this store.
  std::shared_ptr<LinearMemory> owner_of(const LinearMemory* memory) const;
  Result<TableObject*> new_table(const wasm::TableType& type, std::uint64_t init);
  GlobalObject* new_global(const wasm::GlobalType& type, std::uint64_t bits);
  /// Growth as the limits allow it. @error Limit, OutOfMemory; nothing has changed then.
  Result<std::uint64_t> grow_memory(LinearMemory& memory, std::uint64_t pages);
  Result<std::uint64_t> grow_table(TableObject& table, std::uint64_t count, std::uint64_t init);
  image::VmFuncRef* new_host_function(std::shared_ptr<const HostFunction> function);
  /// Makes sure that compiled code can call `ref`: a host function needs an exit trampoline.
  /// @error Unsupported: there is no compiler to make it, and no module of the store has it.
  Result<void> prepare_func_ref(image::VmFuncRef& ref);
  Instance* adopt(std::unique_ptr<Instance> instance);
  std::size_t instances() const { return instances_.size(); }

  // ---- Tags and exceptions: exceptions.cpp.
  TagObject* new_tag(const wasm::FuncType& type);
  /// With room for the values of the tag, whose payload the caller fills in. `listed`: references
  /// to it may exist, so it lives until the collector finds none. Otherwise it must be thrown.
  /// @error OutOfMemory
  Result<image::VmException*> new_exception(const TagObject& tag, bool listed);
  std::span<const wasm::ValType> payload_types(const image::VmException& exception) const;
  /// Those that references may exist of, and memory back to the system; for the collector.
  image::VmException*& exceptions() { return exceptions_; }
  static void free_exception(image::VmException* exception);
  /// Of a listed exception: never given twice in this store.
  static std::uint64_t serial_of(const image::VmException& exception);
  /// Keeps the exception alive as long as the result, which may end on any thread and after the
  /// store.
  std::shared_ptr<const void> hold_exception(image::VmException& exception);
  /// An Error that carries it (runtime/trap/thrown.hpp).
  Error exception_error_of(image::VmException& exception);
  /// The next `leave` throws it.
  void set_thrown(image::VmException& exception) { in_flight_ = &exception; }
  /// The same with what the error of the present call carries, if it is an exception of this store.
  bool throw_pending_error();
  /// Where compiled code that was left goes on: at the handler of what was thrown, or where it was
  /// entered, and then the error is set.
  struct Resumption {
    std::uintptr_t pc, sp, fp;
    std::uint64_t payload;
  };
  Resumption leave();
  /// The instance of a ModuleCode; null if there are several or none. Takes a look at each.
  Instance* only_instance_of(const void* code) const;

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
  /// Raised, from any thread, to make host functions that wait in the system give up. They then
  /// call `set_interrupted` and fail.
  platform::WakeFlag& wake() { return shared_->wake; }
  void set_interrupted();
  /// The frames of all activations of this store on this thread, innermost first.
  hoist::Trap::Parts backtrace() const;

  /// A host function's callable, with its arguments in `slots`. False: an error is set.
  bool call_host(image::VmHostContext& context, image::VmGlobal* slots);
  /// Whether an address of the process lies in a memory of this store. In the signal handler.
  bool owns_memory(std::uintptr_t address) const;

  /// References: the collector of this store.
  Heap& heap() { return heap_; }
  const Heap& heap() const { return heap_; }

  // ---- Limits: limits.cpp.
  /// What the totals of the limits are compared with. A store that joins another's counts with it
  /// from then on: before it has memories or tables.
  const std::shared_ptr<Account>& account() const { return account_; }
  void join_account(const std::shared_ptr<Account>& account);
  /// @error Limit: one more instance would be too many
  Result<void> allow_instance() const;
  struct Callback {
    std::uint64_t (*call)(void* context, StoreRef store) = nullptr;
    void* context = nullptr;
  };
  Callback on_out_of_fuel;
  Callback on_epoch_deadline;
  const std::shared_ptr<hoist::detail::StoreShared>& shared() const { return shared_; }
  Result<void> set_fuel(std::uint64_t units);
  Result<void> add_fuel(std::uint64_t units);
  Result<std::uint64_t> fuel() const;
  Result<void> set_epoch_deadline(std::uint64_t ticks);
  /// For work that the runtime does in one go.
  void burn_fuel(std::uint64_t units);
  /// Called by code that looked. False: the error of the call is set.
  bool out_of_fuel();
  bool epoch_reached();
  /// Whether `epoch_reached` has something to decide: for what waits.
  bool wants_attention() const;
  /// For long work outside calls. @error Trap Interrupted: somebody asked for it, which is used up
  Result<void> check_interrupted();
  /// How often what waits looks at that, in nanoseconds; < 0: only when woken.
  std::int64_t attention_interval_ns() const;
  /// Whether a refused growth, with this error, is the end of the call; the error is set then.
  bool refusal_ends_call(const Error& error);
  /// A trap that is a call, at `pc`.
  void record_trap(std::uintptr_t pc, std::uintptr_t fp);

 private:
  void list_exception(image::VmException& exception);
  void end_exceptions();
  void drop_ended_holders();
  std::uint64_t memory_count() const { return memories_.size(); }
  std::uint64_t table_count() const { return tables_.size(); }
  Result<const void*> exit_trampoline(std::uint32_t type_id) const;
  Result<std::uint64_t> ask(Growth growth);
  Result<void> take(const Growth& growth);
  void give_back(const Growth& growth);
  Result<std::uint64_t> grow_shared(LinearMemory& memory, std::uint64_t pages);
  void close_account();
  std::uint64_t& taken(Account::What what) { return taken_[static_cast<std::size_t>(what)]; }
  Result<void> needs_fuel_code() const;
  void set_deadline(std::uint64_t deadline);
  void set_stack_limit(std::uint64_t limit);
  bool is_interrupted() const { return shared_->interrupted.load(std::memory_order_seq_cst); }
  void set_stack_overflow();
  void set_error_of_call();
  bool call_compiled(image::VmFuncRef& func, image::VmGlobal* slots);
  // gc/roots.cpp
  void mark_roots(Heap::Marker& marker) override;
  void mark_payload(const image::VmException& exception, Heap::Marker& marker) override;
  void sweep_exceptions() override;
  Error references_full() const override;

  std::shared_ptr<hoist::detail::StoreShared> shared_;
  image::StoreContext& context_;  // in shared_
  std::shared_ptr<Engine> engine_;
  StoreLimits limits_;
  hoist::detail::StoreSlot* slot_;
  StoreRef ref_;
  std::uint32_t activations_ = 0;
  std::optional<Error> error_;
  jit::TrapRecord record_;
  std::shared_ptr<Account> account_ = std::make_shared<Account>();
  std::uint64_t taken_[2] = {};  // by this store, of account_, without shared memories
  std::uint64_t fuel_given_ = 0;
  std::uint64_t deadline_ = ~std::uint64_t{0};
  std::uint64_t stack_limit_ = 0;
  std::vector<std::shared_ptr<LinearMemory>> memories_;
  std::vector<std::unique_ptr<TableObject>> tables_;
  std::deque<HostGlobal> globals_;
  std::deque<HostFuncRef> host_functions_;
  std::deque<TagObject> host_tags_;
  image::VmException* exceptions_ = nullptr;       // listed ones
  image::VmException* spare_exception_ = nullptr;  // memory for the next one
  image::VmException* in_flight_ = nullptr;        // between a throw and its handler
  struct Holder {
    image::VmException* exception;
    std::weak_ptr<const void> token;
  };
  std::vector<Holder> holders_;    // of exceptions, in the host; those that have ended among them
  std::size_t most_holders_ = 64;  // when those that have ended are looked for
  std::uint64_t last_exception_ = 0;
  std::vector<std::unique_ptr<Instance>> instances_;
  Heap heap_{*this};  // ends first: finalisers find the rest, though not through handles
};

/// "the store's limit memory_bytes", or as StoreLimits::name_of says.
std::string limit_name(const StoreLimits& limits, StoreLimit limit);

/// VmHostContext::call of every host function.
std::uint32_t call_host_function(image::VmHostContext* context, image::VmGlobal* slots);

}  // namespace hoist::runtime
