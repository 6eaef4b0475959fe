// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of a store: what it may grow to, fuel, deadlines, interruption (docs/limits.md).
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "runtime/store/store.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist::runtime {

using image::TrapCode;

static constexpr std::uint64_t kUnlimited = StoreLimits::kUnlimited;
static constexpr auto kMostFuel =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// ---- Growth.

static Error refused(const Growth& growth, const char* limit, std::uint64_t most) {
  const bool memory = growth.what == Growth::What::Memory;
  const char* unit = memory ? "bytes" : "elements";
  return Error(ErrorKind::Limit,
               fmt::format("a {} of {} {} is more than the store's limit {} of {} {}",
                           memory ? "memory" : "table", growth.desired, unit, limit, most, unit));
}

Result<void> Store::allow(Growth growth) {
  const bool memory = growth.what == Growth::What::Memory;
  const std::uint64_t most = memory ? limits_.memory_bytes : limits_.table_elements;
  // Other stores may have grown a shared memory beyond what this one knows of.
  const std::uint64_t others = memory_total_ - std::min(memory_total_, growth.current);
  const bool each = growth.desired <= most;
  const bool total = !memory || (growth.desired <= limits_.total_memory_bytes &&
                                 others <= limits_.total_memory_bytes - growth.desired);
  growth.allowed = each && total;
  bool answer = growth.allowed;
  if (limits_.on_growth != nullptr) answer = limits_.on_growth(limits_.context, growth);
  if (answer) return {};
  if (!each) return refused(growth, memory ? "memory_bytes" : "table_elements", most);
  if (!total) return refused(growth, "total_memory_bytes", limits_.total_memory_bytes);
  return Error(ErrorKind::Limit,
               fmt::format("the embedder refuses a {} of {} {}", memory ? "memory" : "table",
                           growth.desired, memory ? "bytes" : "elements"));
}

static Result<void> check_count(const char* what, std::uint64_t have, std::uint64_t most) {
  if (have < most) return {};
  return Error(ErrorKind::Limit, fmt::format("the store's limit of {} {} is reached", most, what));
}

/// Pages as bytes; all that do not fit are too many anyway.
static std::uint64_t bytes_of(const wasm::MemoryType& type, std::uint64_t pages) {
  return pages > kUnlimited >> type.page_size_log2 ? kUnlimited : pages << type.page_size_log2;
}

static std::uint64_t declared_maximum(const wasm::Limits& limits) {
  return limits.has_max ? limits.max : kUnlimited;
}

Result<void> Store::allow_memory(const wasm::MemoryType& type) {
  HOIST_TRY_VOID(check_count("memories", memory_count(), limits_.memories));
  Growth growth;
  growth.what = Growth::What::Memory;
  growth.desired = bytes_of(type, type.limits.min);
  growth.maximum = bytes_of(type, declared_maximum(type.limits));
  return allow(growth);
}

Result<void> Store::allow_table(const wasm::TableType& type) {
  HOIST_TRY_VOID(check_count("tables", table_count(), limits_.tables));
  Growth growth;
  growth.what = Growth::What::Table;
  growth.desired = type.limits.min;
  growth.maximum = declared_maximum(type.limits);
  return allow(growth);
}

Result<std::uint64_t> Store::grow_memory(LinearMemory& memory, std::uint64_t pages) {
  const std::unique_lock<std::mutex> lock = memory.lock_growth();
  const wasm::MemoryType& type = memory.type();
  Growth growth;
  growth.what = Growth::What::Memory;
  growth.current = memory.bytes();
  growth.desired =
      bytes_of(type, pages > kUnlimited - memory.pages() ? kUnlimited : memory.pages() + pages);
  growth.maximum = bytes_of(type, declared_maximum(type.limits));
  // What can never be is not worth a question.
  if (pages != 0 && growth.desired <= growth.maximum) HOIST_TRY_VOID(allow(growth));
  HOIST_TRY(const std::uint64_t old, memory.grow(pages));
  memory_total_ += memory.bytes() - growth.current;
  return old;
}

Result<std::uint64_t> Store::grow_table(TableObject& table, std::uint64_t count,
                                        std::uint64_t init) {
  Growth growth;
  growth.what = Growth::What::Table;
  growth.current = table.size();
  growth.desired = count > kUnlimited - table.size() ? kUnlimited : table.size() + count;
  growth.maximum = declared_maximum(table.type().limits);
  if (count != 0 && growth.desired <= growth.maximum) HOIST_TRY_VOID(allow(growth));
  return table.grow(count, init);
}

bool Store::refusal_ends_call(const Error& error) {
  if (!limits_.trap_on_refused_growth || error.kind() != ErrorKind::Limit) return false;
  error_ = error;
  add_frames();
  return true;
}

// ---- Fuel.

Result<void> Store::needs_fuel_code() const {
  if (engine_->options().fuel) return {};
  return Error(ErrorKind::BadArgument, "the engine's code does not count fuel (see Config::fuel)");
}

Result<void> Store::set_fuel(std::uint64_t units) {
  HOIST_TRY_VOID(needs_fuel_code());
  if (units > kMostFuel) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("{} units of fuel are more than can be counted ({})", units, kMostFuel));
  }
  context_.fuel = static_cast<std::int64_t>(units);
  fuel_given_ = units;
  return {};
}

Result<void> Store::add_fuel(std::uint64_t units) {
  HOIST_TRY(const std::uint64_t left, fuel());
  if (units > kMostFuel - left) {
    return Error(
        ErrorKind::BadArgument,
        fmt::format("{} more units of fuel are more than can be counted ({})", units, kMostFuel));
  }
  // What was overdrawn is paid back first.
  context_.fuel += static_cast<std::int64_t>(units);
  fuel_given_ = std::min(kMostFuel, fuel_given_ + units);
  return {};
}

Result<std::uint64_t> Store::fuel() const {
  HOIST_TRY_VOID(needs_fuel_code());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(context_.fuel, 0));
}

void Store::burn_fuel(std::uint64_t units) {
  if (!engine_->options().fuel) return;
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  const auto cost = static_cast<std::int64_t>(std::min(units, kMostFuel));
  context_.fuel = context_.fuel < kLowest + cost ? kLowest : context_.fuel - cost;
}

bool Store::out_of_fuel() {
  while (context_.fuel <= 0 && on_out_of_fuel.call != nullptr) {
    const std::uint64_t more = on_out_of_fuel.call(on_out_of_fuel.context, ref_);
    if (more == 0) break;
    if (!add_fuel(more)) break;
  }
  if (context_.fuel > 0) return true;
  error_ = trap_error(TrapCode::OutOfFuel, fmt::format("{} units were given", fuel_given_));
  add_frames();
  return false;
}

// ---- Deadlines and interruption.

Result<void> Store::set_epoch_deadline(std::uint64_t ticks) {
  if (!engine_->options().epoch) {
    return Error(ErrorKind::BadArgument,
                 "the engine's code does not look at the epoch (see Config::epoch)");
  }
  const std::uint64_t now = engine_->epoch().load(std::memory_order_relaxed);
  set_deadline(ticks > kUnlimited - now ? kUnlimited : now + ticks);
  return {};
}

void Store::set_deadline(std::uint64_t deadline) {
  deadline_ = deadline;
  std::atomic_ref(context_.epoch_deadline).store(deadline, std::memory_order_seq_cst);
  // A request that came in between has lowered it for nothing.
  if (is_interrupted()) shared_->stop_code();
}

void Store::set_stack_limit(std::uint64_t limit) {
  stack_limit_ = limit;
  std::atomic_ref(context_.stack_limit).store(limit, std::memory_order_seq_cst);
  if (is_interrupted()) [[unlikely]]
    shared_->stop_code();
}

bool Store::wants_attention() const {
  return is_interrupted() || (engine_->options().epoch &&
                              engine_->epoch().load(std::memory_order_relaxed) >= deadline_);
}

std::int64_t Store::attention_interval_ns() const {
  // Whoever counts the epoch up knows of no waiters.
  constexpr std::int64_t kLookAtEpochNs = 5'000'000;
  return engine_->options().epoch && deadline_ != kUnlimited ? kLookAtEpochNs : -1;
}

bool Store::epoch_reached() {
  if (is_interrupted()) {
    set_interrupted();
    add_frames();
    return false;
  }
  const std::uint64_t now = engine_->epoch().load(std::memory_order_relaxed);
  if (now < deadline_) {
    set_deadline(deadline_);
    return true;
  }
  if (on_epoch_deadline.call != nullptr) {
    const std::uint64_t ticks = on_epoch_deadline.call(on_epoch_deadline.context, ref_);
    if (is_interrupted()) return epoch_reached();
    if (ticks != 0) return set_epoch_deadline(ticks).has_value();
  }
  error_ =
      trap_error(TrapCode::Interrupted, fmt::format("the epoch deadline {} is reached", deadline_));
  add_frames();
  return false;
}

Result<void> Store::check_interrupted() {
  if (!is_interrupted()) return {};
  set_interrupted();
  return take_error();
}

void Store::set_interrupted() {
  shared_->interrupted.store(false, std::memory_order_seq_cst);
  shared_->wake.lower();
  set_deadline(deadline_);
  set_stack_limit(stack_limit_);
  error_ = trap_error(TrapCode::Interrupted);
}

}  // namespace hoist::runtime
