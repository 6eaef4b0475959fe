// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/builtins/builtins.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "image/layout/builtin.hpp"
#include "image/layout/vm_layout.hpp"
#include "platform/machine_context.hpp"
#include "runtime/builtins/atomics.hpp"
#include "runtime/store/instance.hpp"
#include "runtime/store/store.hpp"

namespace hoist::runtime {
namespace {

using image::TrapCode;
using Context = image::VmContextHeader;

Instance& instance_of(Context* context) {
  return *static_cast<Instance*>(context->instance);
}

/// Status of a builtin: 0, or 1 to leave compiled code.
std::uint64_t fail(Context* context, TrapCode code) {
  static_cast<Store*>(context->store->store)->set_trap(code);
  return 1;
}

/// Bytes that bulk operations move for one unit of fuel; for elements of tables it is one each.
constexpr std::uint64_t kBytesPerUnit = 64;

void burn(Context* context, std::uint64_t units) {
  static_cast<Store*>(context->store->store)->burn_fuel(units);
}

// ---- Memory. Source: core specification, section 4.4.7; a length of 0 at the end is in bounds.

__attribute__((no_sanitize("address"))) void raise(Context* context);

/// The value, or no return to the caller. Keeps nothing that would have to be destroyed.
__attribute__((no_sanitize("address"))) std::uint64_t value_or_leave(Context* context, bool leave,
                                                                     std::uint64_t value) {
  if (leave) raise(context);
  return value;
}

__attribute__((noinline)) std::uint64_t old_size(Context* context, const Result<std::uint64_t>& old,
                                                 bool& leave) {
  if (old) return *old;
  leave = static_cast<Store*>(context->store->store)->refusal_ends_call(old.error());
  return ~std::uint64_t{0};
}

__attribute__((noinline)) std::uint64_t grow_memory(Context* context, std::uint32_t memory,
                                                    std::uint64_t pages, bool& leave) {
  Instance& instance = instance_of(context);
  return old_size(context, instance.store().grow_memory(instance.memory(memory), pages), leave);
}

__attribute__((no_sanitize("address"))) std::uint64_t memory_grow(Context* context,
                                                                  std::uint32_t memory,
                                                                  std::uint64_t pages) {
  bool leave = false;
  const std::uint64_t old = grow_memory(context, memory, pages, leave);
  return value_or_leave(context, leave, old);
}

std::uint64_t memory_fill(Context* context, std::uint32_t memory, std::uint64_t to,
                          std::uint32_t byte, std::uint64_t length) {
  LinearMemory& target = instance_of(context).memory(memory);
  if (!target.in_bounds(to, length)) return fail(context, TrapCode::HeapOutOfBounds);
  burn(context, length / kBytesPerUnit);
  std::memset(target.base() + to, static_cast<std::uint8_t>(byte), length);
  return 0;
}

std::uint64_t memory_copy(Context* context, std::uint32_t to_memory, std::uint32_t from_memory,
                          std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  LinearMemory& target = instance_of(context).memory(to_memory);
  const LinearMemory& source = instance_of(context).memory(from_memory);
  if (!target.in_bounds(to, length) || !source.in_bounds(from, length)) {
    return fail(context, TrapCode::HeapOutOfBounds);
  }
  burn(context, length / kBytesPerUnit);
  std::memmove(target.base() + to, source.base() + from, length);
  return 0;
}

std::uint64_t memory_init(Context* context, std::uint32_t memory, std::uint32_t segment,
                          std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  const bool done = instance_of(context).init_memory(memory, segment, to, from, length);
  if (!done) return fail(context, TrapCode::HeapOutOfBounds);
  burn(context, length / kBytesPerUnit);
  return 0;
}

__attribute__((noinline)) std::uint64_t atomic_value(Context* context, const AtomicOutcome& outcome,
                                                     bool& leave) {
  if (outcome.trap != TrapCode::None) fail(context, outcome.trap);
  leave = outcome.stopped || outcome.trap != TrapCode::None;
  return outcome.value;
}

__attribute__((noinline)) std::uint64_t notify(Context* context, std::uint32_t memory,
                                               std::uint64_t address, std::uint64_t offset,
                                               std::uint32_t count, bool& leave) {
  LinearMemory& target = instance_of(context).memory(memory);
  return atomic_value(context, runtime::atomic_wake(target, address, offset, count), leave);
}

__attribute__((no_sanitize("address"))) std::uint64_t atomic_notify(Context* context,
                                                                    std::uint32_t memory,
                                                                    std::uint64_t address,
                                                                    std::uint64_t offset,
                                                                    std::uint32_t count) {
  bool leave = false;
  const std::uint64_t woken = notify(context, memory, address, offset, count, leave);
  return value_or_leave(context, leave, woken);
}

struct Wait {
  std::uint64_t address;
  std::uint64_t offset;
  std::uint64_t expected;
  std::int64_t timeout_ns;
  std::uint32_t bytes;
};

__attribute__((noinline)) std::uint64_t wait(Context* context, std::uint32_t memory,
                                             const Wait& what, bool& leave) {
  Instance& instance = instance_of(context);
  return atomic_value(context,
                      runtime::atomic_wait(instance.store(), instance.memory(memory), what.address,
                                           what.offset, what.bytes, what.expected, what.timeout_ns),
                      leave);
}

__attribute__((no_sanitize("address"))) std::uint64_t atomic_wait32(
    Context* context, std::uint32_t memory, std::uint64_t address, std::uint64_t offset,
    std::uint32_t expected, std::int64_t timeout_ns) {
  bool leave = false;
  const std::uint64_t outcome =
      wait(context, memory, {address, offset, expected, timeout_ns, 4}, leave);
  return value_or_leave(context, leave, outcome);
}

__attribute__((no_sanitize("address"))) std::uint64_t atomic_wait64(
    Context* context, std::uint32_t memory, std::uint64_t address, std::uint64_t offset,
    std::uint64_t expected, std::int64_t timeout_ns) {
  bool leave = false;
  const std::uint64_t outcome =
      wait(context, memory, {address, offset, expected, timeout_ns, 8}, leave);
  return value_or_leave(context, leave, outcome);
}

void data_drop(Context* context, std::uint32_t segment) {
  instance_of(context).drop_data(segment);
}

// ---- Tables. Source: core specification, section 4.4.6.

__attribute__((noinline)) std::uint64_t grow_table(Context* context, std::uint32_t table,
                                                   std::uint64_t init, std::uint64_t count,
                                                   bool& leave) {
  Instance& instance = instance_of(context);
  const Result<std::uint64_t> old = instance.store().grow_table(instance.table(table), count, init);
  if (old) instance.store().burn_fuel(count);
  return old_size(context, old, leave);
}

__attribute__((no_sanitize("address"))) std::uint64_t table_grow(Context* context,
                                                                 std::uint32_t table,
                                                                 std::uint64_t init,
                                                                 std::uint64_t count) {
  bool leave = false;
  const std::uint64_t old = grow_table(context, table, init, count, leave);
  return value_or_leave(context, leave, old);
}

std::uint64_t table_fill(Context* context, std::uint32_t table, std::uint64_t to,
                         std::uint64_t element, std::uint64_t length) {
  TableObject& target = instance_of(context).table(table);
  if (!target.in_bounds(to, length)) return fail(context, TrapCode::TableOutOfBounds);
  burn(context, length);
  std::fill_n(target.elements() + to, length, element);
  return 0;
}

std::uint64_t table_copy(Context* context, std::uint32_t to_table, std::uint32_t from_table,
                         std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  TableObject& target = instance_of(context).table(to_table);
  TableObject& source = instance_of(context).table(from_table);
  if (!target.in_bounds(to, length) || !source.in_bounds(from, length)) {
    return fail(context, TrapCode::TableOutOfBounds);
  }
  burn(context, length);
  if (length != 0) {
    std::memmove(target.elements() + to, source.elements() + from, length * sizeof(std::uint64_t));
  }
  return 0;
}

std::uint64_t table_init(Context* context, std::uint32_t table, std::uint32_t segment,
                         std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  const bool done = instance_of(context).init_table(table, segment, to, from, length);
  if (!done) return fail(context, TrapCode::TableOutOfBounds);
  burn(context, length);
  return 0;
}

void elem_drop(Context* context, std::uint32_t segment) {
  instance_of(context).drop_elem(segment);
}

// ---- Leaving. `context` may be a VmHostContext: only `store` is looked at.

__attribute__((noinline)) void find_resumption(Context* context, Store::Resumption& out) {
  out = static_cast<Store*>(context->store->store)->leave();
}

__attribute__((no_sanitize("address"))) void raise(Context* context) {
  Store::Resumption at;
  find_resumption(context, at);
  platform::resume_at(at.sp, at.fp, at.pc, at.payload);
}

// ---- Exceptions.

__attribute__((noinline)) std::uint64_t make_exception(Context* context, std::uint32_t tag,
                                                       bool listed, bool& leave) {
  Instance& instance = instance_of(context);
  auto made = instance.store().new_exception(*instance.tag(tag), listed);
  if (made) return reinterpret_cast<std::uintptr_t>(*made);
  instance.store().set_error(std::move(made).error());
  instance.store().add_frames();
  leave = true;
  return 0;
}

__attribute__((no_sanitize("address"))) std::uint64_t exception_new(Context* context,
                                                                    std::uint32_t tag,
                                                                    std::uint32_t listed) {
  bool leave = false;
  const std::uint64_t made = make_exception(context, tag, listed != 0, leave);
  return value_or_leave(context, leave, made);
}

__attribute__((noinline)) void set_thrown(Context* context, std::uint64_t exception) {
  auto* thrown = reinterpret_cast<image::VmException*>(static_cast<std::uintptr_t>(exception));
  static_cast<Store*>(context->store->store)->set_thrown(*thrown);
}

__attribute__((no_sanitize("address"))) void throw_exception(Context* context,
                                                             std::uint64_t exception) {
  set_thrown(context, exception);
  raise(context);
}

// ---- Limits, and traps that are no faults.

/// Bytes of the call instruction in front of a return address: all targets have one length for it.
#if defined(__x86_64__)
constexpr std::uintptr_t kCallBytes = 5;
#else
constexpr std::uintptr_t kCallBytes = 4;
#endif

__attribute__((noinline)) void record_trap(Context* context, std::uint64_t return_address,
                                           std::uint64_t fp) {
  static_cast<Store*>(context->store->store)->record_trap(return_address - kCallBytes, fp);
}

__attribute__((no_sanitize("address"))) void trap(Context* context, std::uint64_t return_address,
                                                  std::uint64_t fp) {
  record_trap(context, return_address, fp);
  raise(context);
}

std::uint64_t epoch(Context* context) {
  return instance_of(context).store().epoch_reached() ? 0 : 1;
}

std::uint64_t fuel(Context* context) {
  return instance_of(context).store().out_of_fuel() ? 0 : 1;
}

}  // namespace

void* const* builtin_table() {
  static const std::array<void*, image::kBuiltinCount> table = {
#define HOIST_BUILTIN(name, result, params, meaning) reinterpret_cast<void*>(&name),
#include "image/layout/builtins.def"
  };
  return table.data();
}

}  // namespace hoist::runtime
