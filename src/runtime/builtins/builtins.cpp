// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/builtins/builtins.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "image/layout/builtin.hpp"
#include "image/layout/vm_layout.hpp"
#include "platform/machine_context.hpp"
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
std::uint64_t trap(Context* context, TrapCode code) {
  static_cast<Store*>(context->store->store)->set_trap(code);
  return 1;
}

// ---- Memory. Source: core specification, section 4.4.7; a length of 0 at the end is in bounds.

std::uint64_t memory_grow(Context* context, std::uint32_t memory, std::uint64_t pages) {
  const Result<std::uint64_t> old = instance_of(context).memory(memory).grow(pages);
  return old ? *old : ~std::uint64_t{0};
}

std::uint64_t memory_fill(Context* context, std::uint32_t memory, std::uint64_t to,
                          std::uint32_t byte, std::uint64_t length) {
  LinearMemory& target = instance_of(context).memory(memory);
  if (!target.in_bounds(to, length)) return trap(context, TrapCode::HeapOutOfBounds);
  std::memset(target.base() + to, static_cast<std::uint8_t>(byte), length);
  return 0;
}

std::uint64_t memory_copy(Context* context, std::uint32_t to_memory, std::uint32_t from_memory,
                          std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  LinearMemory& target = instance_of(context).memory(to_memory);
  const LinearMemory& source = instance_of(context).memory(from_memory);
  if (!target.in_bounds(to, length) || !source.in_bounds(from, length)) {
    return trap(context, TrapCode::HeapOutOfBounds);
  }
  std::memmove(target.base() + to, source.base() + from, length);
  return 0;
}

std::uint64_t memory_init(Context* context, std::uint32_t memory, std::uint32_t segment,
                          std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  const bool done = instance_of(context).init_memory(memory, segment, to, from, length);
  return done ? 0 : trap(context, TrapCode::HeapOutOfBounds);
}

void data_drop(Context* context, std::uint32_t segment) {
  instance_of(context).drop_data(segment);
}

// ---- Tables. Source: core specification, section 4.4.6.

std::uint64_t table_grow(Context* context, std::uint32_t table, std::uint64_t init,
                         std::uint64_t count) {
  const Result<std::uint64_t> old = instance_of(context).table(table).grow(count, init);
  return old ? *old : ~std::uint64_t{0};
}

std::uint64_t table_fill(Context* context, std::uint32_t table, std::uint64_t to,
                         std::uint64_t element, std::uint64_t length) {
  TableObject& target = instance_of(context).table(table);
  if (!target.in_bounds(to, length)) return trap(context, TrapCode::TableOutOfBounds);
  std::fill_n(target.elements() + to, length, element);
  return 0;
}

std::uint64_t table_copy(Context* context, std::uint32_t to_table, std::uint32_t from_table,
                         std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  TableObject& target = instance_of(context).table(to_table);
  TableObject& source = instance_of(context).table(from_table);
  if (!target.in_bounds(to, length) || !source.in_bounds(from, length)) {
    return trap(context, TrapCode::TableOutOfBounds);
  }
  if (length != 0) {
    std::memmove(target.elements() + to, source.elements() + from, length * sizeof(std::uint64_t));
  }
  return 0;
}

std::uint64_t table_init(Context* context, std::uint32_t table, std::uint32_t segment,
                         std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  const bool done = instance_of(context).init_table(table, segment, to, from, length);
  return done ? 0 : trap(context, TrapCode::TableOutOfBounds);
}

void elem_drop(Context* context, std::uint32_t segment) {
  instance_of(context).drop_elem(segment);
}

// ---- Leaving. `context` may be a VmHostContext: only `store` is looked at.

__attribute__((no_sanitize("address"))) void raise(Context* context) {
  const image::StoreContext& store = *context->store;
  platform::resume_at(store.resume_sp, store.resume_fp, store.resume_pc);
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
