// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits of a store: what it may grow to, fuel, deadlines, interruption (docs/limits.md).
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "platform/embedder_call.hpp"
#include "runtime/store/store.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist::runtime {

using image::TrapCode;

static constexpr std::uint64_t kUnlimited = StoreLimits::kUnlimited;
static constexpr auto kMostFuel =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// ---- Growth.

static const char* member_name(StoreLimit limit) {
  switch (limit) {
    case StoreLimit::MemoryBytes: return "memory_bytes";
    case StoreLimit::TotalMemoryBytes: return "total_memory_bytes";
    case StoreLimit::TableElements: return "table_elements";
    case StoreLimit::TotalTableElements: return "total_table_elements";
    case StoreLimit::Instances: return "instances";
    case StoreLimit::Memories: return "memories";
    case StoreLimit::Tables: return "tables";
    case StoreLimit::References: return "references";
    case StoreLimit::ReferenceBytes: return "reference_bytes";
  }
  HOIST_UNREACHABLE("a limit");
}

std::string limit_name(const StoreLimits& limits, StoreLimit limit) {
  const char* name = limits.name_of == nullptr ? nullptr : limits.name_of(limit);
  return name != nullptr ? fmt::format("the limit {}", name)
                         : fmt::format("the store's limit {}", member_name(limit));
}

namespace {
/// The limits and words of memories or tables.
struct Kind {
  const char* name;
  const char* unit;
  StoreLimit each;
  StoreLimit total;
  Account::What what;
};
constexpr Kind kMemory{"memory", "bytes", StoreLimit::MemoryBytes, StoreLimit::TotalMemoryBytes,
                       Account::What::MemoryBytes};
constexpr Kind kTable{"table", "elements", StoreLimit::TableElements,
                      StoreLimit::TotalTableElements, Account::What::TableElements};

const Kind& kind_of(const Growth& growth) {
  return growth.what == Growth::What::Memory ? kMemory : kTable;
}
std::uint64_t most_of_each(const StoreLimits& limits, const Kind& kind) {
  return kind.what == Account::What::MemoryBytes ? limits.memory_bytes : limits.table_elements;
}
std::uint64_t most_of_all(const StoreLimits& limits, const Kind& kind) {
  return kind.what == Account::What::MemoryBytes ? limits.total_memory_bytes
                                                 : limits.total_table_elements;
}
}  // namespace

/// How much more there may be of all together, if that is the answer. No lock is held meanwhile.
Result<std::uint64_t> Store::ask(Growth growth) {
  const Kind& kind = kind_of(growth);
  const std::uint64_t each = most_of_each(limits_, kind);
  const std::uint64_t all = most_of_all(limits_, kind);
  const std::uint64_t have = account_->total(kind.what);
  const std::uint64_t more = growth.desired - growth.current;
  const bool fits = more <= all && have <= all - more;
  growth.allowed = growth.desired <= each && fits;
  const bool answer = limits_.on_growth == nullptr ? growth.allowed : platform::embedder_call([&] {
    return limits_.on_growth(limits_.context, growth);
  });
  if (answer) return growth.allowed ? all : kUnlimited;
  const std::string wanted = fmt::format("a {} of {} {}", kind.name, growth.desired, kind.unit);
  if (growth.allowed) {
    return Error(ErrorKind::Limit, fmt::format("the embedder refuses {}", wanted));
  }
  if (growth.desired > each) {
    return Error(ErrorKind::Limit, fmt::format("{} is more than {} of {} {}", wanted,
                                               limit_name(limits_, kind.each), each, kind.unit));
  }
  const std::uint64_t others = have - std::min(have, growth.current);
  return Error(
      ErrorKind::Limit,
      fmt::format("{} is more than {} of {} {}{}", wanted, limit_name(limits_, kind.total), all,
                  kind.unit, others == 0 ? "" : fmt::format(", of which others have {}", others)));
}

/// Asks, and takes what it costs from the account.
Result<void> Store::take(const Growth& growth) {
  const Account::What what = kind_of(growth).what;
  const std::uint64_t more = growth.desired - growth.current;
  for (;;) {
    HOIST_TRY(const std::uint64_t most, ask(growth));
    if (account_->take(what, more, most)) break;
    // Another thread may have taken what was left: then the answer is another one.
    if (most != kUnlimited) continue;
    return Error(ErrorKind::Limit, fmt::format("a {} of {} {} cannot be", kind_of(growth).name,
                                               growth.desired, kind_of(growth).unit));
  }
  taken(what) += more;
  return {};
}

void Store::give_back(const Growth& growth) {
  const Account::What what = kind_of(growth).what;
  const std::uint64_t more = growth.desired - growth.current;
  account_->give(what, more);
  taken(what) -= more;
}

void Store::join_account(const std::shared_ptr<Account>& account) {
  HOIST_CHECK(memories_.empty() && tables_.empty(), "a store joins an account before it has any");
  account_ = account;
}

void Store::close_account() {
  for (const Account::What what : {Account::What::MemoryBytes, Account::What::TableElements}) {
    account_->give(what, taken(what));
  }
  for (const std::shared_ptr<LinearMemory>& memory : memories_) {
    if (memory->type().shared) account_->drop_shared(*memory);
  }
}

static Result<void> check_count(const StoreLimits& limits, StoreLimit limit, const char* what,
                                std::uint64_t have, std::uint64_t most) {
  if (have < most) return {};
  if (limits.name_of == nullptr || limits.name_of(limit) == nullptr) {
    return Error(ErrorKind::Limit,
                 fmt::format("the store's limit of {} {} is reached", most, what));
  }
  return Error(ErrorKind::Limit,
               fmt::format("{} of {} {} is reached", limit_name(limits, limit), most, what));
}

Error Store::references_full() const {
  const char* objects = "StoreLimits::references";
  const char* bytes = "reference_bytes";
  if (limits_.name_of != nullptr) {
    if (const char* name = limits_.name_of(StoreLimit::References)) objects = name;
    if (const char* name = limits_.name_of(StoreLimit::ReferenceBytes)) bytes = name;
  }
  std::string out = "the store's references have reached their limit";
  const char* separator = ": ";
  const auto add = [&](std::uint64_t now, std::uint64_t most, const char* what, const char* name) {
    if (most == kUnlimited) return;
    out += fmt::format("{}{} {} of {} ({})", separator, now, what, most, name);
    separator = ", ";
  };
  add(heap_.objects(), limits_.references, "objects", objects);
  add(heap_.bytes(), limits_.reference_bytes, "bytes", bytes);
  return Error(ErrorKind::Limit, std::move(out));
}

Result<void> Store::allow_instance() const {
  return check_count(limits_, StoreLimit::Instances, "instances", instances(), limits_.instances);
}

/// Pages as bytes; all that do not fit are too many anyway.
static std::uint64_t bytes_of(const wasm::MemoryType& type, std::uint64_t pages) {
  return pages > kUnlimited >> type.page_size_log2 ? kUnlimited : pages << type.page_size_log2;
}

static std::uint64_t declared_maximum(const wasm::Limits& limits) {
  return limits.has_max ? limits.max : kUnlimited;
}

/// Of a memory to be made.
static Growth first_growth(const wasm::MemoryType& type) {
  Growth growth;
  growth.what = Growth::What::Memory;
  growth.desired = bytes_of(type, type.limits.min);
  growth.maximum = bytes_of(type, declared_maximum(type.limits));
  return growth;
}

static Growth growth_of(const LinearMemory& memory, std::uint64_t pages) {
  Growth growth = first_growth(memory.type());
  growth.current = memory.bytes();
  const std::uint64_t now = growth.current >> memory.type().page_size_log2;
  growth.desired = bytes_of(memory.type(), pages > kUnlimited - now ? kUnlimited : now + pages);
  return growth;
}

/// What can never be is not worth a question, nor is what changes nothing.
static bool is_question(const Growth& growth) {
  return growth.desired != growth.current && growth.desired <= growth.maximum;
}

Result<LinearMemory*> Store::new_memory(const wasm::MemoryType& type,
                                        const std::shared_ptr<const MemoryImage>& image) {
  HOIST_TRY_VOID(
      check_count(limits_, StoreLimit::Memories, "memories", memory_count(), limits_.memories));
  const Growth growth = first_growth(type);
  // A shared one counts by itself.
  std::uint64_t most = kUnlimited;
  if (type.shared) {
    HOIST_TRY(most, ask(growth));
  } else {
    HOIST_TRY_VOID(take(growth));
  }
  auto memory = LinearMemory::create(type, kUnlimited, pool(), image,
                                     engine_->options().explicit_bounds, &engine_->regions());
  if (!memory) {
    if (!type.shared) give_back(growth);
    return std::move(memory).error();
  }
  while (type.shared && !account_->add_shared(**memory, most)) {
    HOIST_TRY(most, ask(growth));
  }
  memories_.push_back(*std::move(memory));
  return memories_.back().get();
}

Result<LinearMemory*> Store::add_shared_memory(const std::shared_ptr<LinearMemory>& memory) {
  HOIST_CHECK(memory->type().shared, "stores share what is made for it");
  if (std::find(memories_.begin(), memories_.end(), memory) != memories_.end()) {
    return memory.get();
  }
  HOIST_TRY_VOID(
      check_count(limits_, StoreLimit::Memories, "memories", memory_count(), limits_.memories));
  Growth growth = first_growth(memory->type());
  growth.desired = memory->bytes();
  // What another store of the account has is nothing new.
  bool added = growth.desired <= limits_.memory_bytes && account_->add_shared(*memory, 0);
  while (!added) {
    growth.desired = memory->bytes();
    HOIST_TRY(const std::uint64_t most, ask(growth));
    added = account_->add_shared(*memory, most);
  }
  memories_.push_back(memory);
  return memory.get();
}

Result<TableObject*> Store::new_table(const wasm::TableType& type, std::uint64_t init) {
  HOIST_TRY_VOID(check_count(limits_, StoreLimit::Tables, "tables", table_count(), limits_.tables));
  Growth growth;
  growth.what = Growth::What::Table;
  growth.desired = type.limits.min;
  growth.maximum = declared_maximum(type.limits);
  HOIST_TRY_VOID(take(growth));
  auto table = TableObject::create(type, kUnlimited, init, pool());
  if (!table) {
    give_back(growth);
    return std::move(table).error();
  }
  tables_.push_back(*std::move(table));
  return tables_.back().get();
}

Result<std::uint64_t> Store::grow_shared(LinearMemory& memory, std::uint64_t pages) {
  for (;;) {
    const Growth growth = growth_of(memory, pages);
    const bool asks = is_question(growth);
    std::uint64_t most = kUnlimited;
    if (asks) {
      HOIST_TRY(most, ask(growth));
    }
    const std::unique_lock<std::mutex> lock = memory.lock_growth();
    // The answer was about another size if somebody has grown it meanwhile.
    if (memory.bytes() != growth.current) continue;
    if (!asks) return memory.grow(pages);
    if (auto done = account_->grow_shared(memory, pages, most)) return *std::move(done);
  }
}

Result<std::uint64_t> Store::grow_memory(LinearMemory& memory, std::uint64_t pages) {
  if (memory.type().shared) return grow_shared(memory, pages);
  const Growth growth = growth_of(memory, pages);
  if (!is_question(growth)) return memory.grow(pages);
  HOIST_TRY_VOID(take(growth));
  auto old = memory.grow(pages);
  if (!old) give_back(growth);
  return old;
}

Result<std::uint64_t> Store::grow_table(TableObject& table, std::uint64_t count,
                                        std::uint64_t init) {
  Growth growth;
  growth.what = Growth::What::Table;
  growth.current = table.size();
  growth.desired = count > kUnlimited - table.size() ? kUnlimited : table.size() + count;
  growth.maximum = declared_maximum(table.type().limits);
  if (!is_question(growth)) return table.grow(count, init);
  HOIST_TRY_VOID(take(growth));
  auto old = table.grow(count, init);
  if (!old) give_back(growth);
  return old;
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
    const std::uint64_t more =
        platform::embedder_call([&] { return on_out_of_fuel.call(on_out_of_fuel.context, ref_); });
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
    const std::uint64_t ticks = platform::embedder_call(
        [&] { return on_epoch_deadline.call(on_epoch_deadline.context, ref_); });
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
