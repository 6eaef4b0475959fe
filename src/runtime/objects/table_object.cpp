// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/objects/table_object.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hoist::runtime {

/// More than fit the address space of a process.
static constexpr std::uint64_t kMostElements = std::uint64_t{1} << 44;

Result<std::unique_ptr<TableObject>> TableObject::create(const wasm::TableType& type,
                                                         std::uint64_t limit, std::uint64_t init,
                                                         Pool* pool) {
  const wasm::Limits& limits = type.limits;
  if (limits.has_max && limits.max < limits.min) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("a table of {} elements cannot have a maximum of {}", limits.min, limits.max));
  }
  if (limits.min > limit) {
    return Error(
        ErrorKind::Limit,
        fmt::format("a table of {} elements is larger than the store's limit of {} elements",
                    limits.min, limit));
  }
  std::unique_ptr<TableObject> out(new TableObject);
  out->type_ = type;
  const std::uint64_t possible = type.is64 ? kMostElements : 0xffff'ffff;
  out->max_ = std::min({limit, limits.has_max ? limits.max : limit, possible});
  if (limits.min > out->max_) {
    return Error(ErrorKind::Limit,
                 fmt::format("a table of {} elements is larger than the {} that a table can have",
                             limits.min, out->max_));
  }
  if (pool != nullptr) {
    const std::uint64_t most = pool->settings().table_elements;
    if (limits.min > most) {
      return Error(ErrorKind::Limit,
                   fmt::format("a table of {} elements is larger than those of the engine's pool, "
                               "{} elements (PoolingOptions::table_elements)",
                               limits.min, most));
    }
    out->max_ = std::min(out->max_, most);
    HOIST_TRY(out->slot_, pool->take_table());
    out->pool_ = pool;
    out->vm_.elements = pool->table(out->slot_);
    out->capacity_ = most;
  }
  HOIST_TRY_VOID(out->grow(limits.min, init));
  return out;
}

TableObject::~TableObject() {
  if (pool_ != nullptr) {
    pool_->give_table(slot_, vm_.length);
  } else {
    std::free(vm_.elements);
  }
}

Result<void> TableObject::reserve(std::uint64_t elements) {
  if (elements <= capacity_) return {};
  const std::uint64_t wanted = std::min(max_, std::max(elements, capacity_ + capacity_ / 2));
  // calloc, so that a large table of nulls costs no memory before it is used.
  auto* fresh = static_cast<std::uint64_t*>(std::calloc(wanted, sizeof(std::uint64_t)));
  if (fresh == nullptr) {
    return Error(ErrorKind::OutOfMemory,
                 fmt::format("no memory for a table of {} elements", wanted));
  }
  if (vm_.length != 0) std::memcpy(fresh, vm_.elements, vm_.length * sizeof(std::uint64_t));
  std::free(vm_.elements);
  vm_.elements = fresh;
  capacity_ = wanted;
  return {};
}

Result<std::uint64_t> TableObject::grow(std::uint64_t delta, std::uint64_t init) {
  const std::uint64_t old = vm_.length;
  if (delta > max_ - old) {
    return Error(ErrorKind::Limit,
                 fmt::format("a table of {} elements cannot grow by {}: its limit is {} elements",
                             old, delta, max_));
  }
  HOIST_TRY_VOID(reserve(old + delta));
  // Elements past the length are always zero.
  if (init != 0) std::fill_n(vm_.elements + old, delta, init);
  vm_.length = old + delta;
  return old;
}

}  // namespace hoist::runtime
