// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Store: owns instances, functions, memories, tables and globals. Everything made in a store lives
/// until the store ends; handles to it that live longer answer with an error (or, where a function
/// has no error to give, with a neutral value) and never touch freed memory.
///
/// Threads: one thread at a time may use a store and what is in it, handles included; it may move
/// between threads while no call is in progress. Stores are independent of each other.

#include <cstdint>
#include <memory>

#include "hoist/engine.hpp"

namespace hoist {

namespace detail {
struct StoreSlot;
struct StoreShared;
class Access;
}  // namespace detail

/// Stops calls into a store from outside. Any thread may use it at any time, signal handlers too,
/// also after the store's end; copies are for the same store.
class HOIST_API InterruptHandle {
 public:
  InterruptHandle() = default;
  /// The call in progress, or else the next one, ends with a trap of code Interrupted. Found out by
  /// code at its next call, with Config::interruptible or Config::epoch also at the next turn of a
  /// loop; WASI calls that wait are woken. A host function is not interrupted, but what it calls
  /// is. One request ends one call.
  void interrupt() const noexcept;

 private:
  friend class StoreRef;
  std::shared_ptr<detail::StoreShared> shared_;
};

/// Names a store without owning it; two words, copied freely. On a store that is gone, what returns
/// a Result is an error and the rest does nothing.
class HOIST_API StoreRef {
 public:
  StoreRef() = default;
  /// False once the store is gone (and for a default-made reference).
  bool alive() const noexcept;
  /// What `set_data` put there; null if nothing or if the store is gone.
  void* data() const noexcept;
  void set_data(void* data) const noexcept;

  // ---- Limits of time. Numbers, units and costs: docs/limits.md.

  /// Fuel: units that guests may still execute; 0 at first. When none is left, they trap with code
  /// OutOfFuel, or `refill` is asked: it returns units to add, or 0 to trap. It runs on the guest's
  /// thread, in the middle of the call, and may use the store like a host function.
  /// @error BadArgument: not an engine with Config::fuel; more than 2^63 - 1 units.
  Result<void> set_fuel(std::uint64_t units) const noexcept;
  Result<void> add_fuel(std::uint64_t units) const noexcept;
  /// What is left; 0 if the last block took more than there was.
  Result<std::uint64_t> fuel() const noexcept;
  using LimitCallback = std::uint64_t (*)(void* context, StoreRef store);
  void on_out_of_fuel(LimitCallback refill, void* context = nullptr) const noexcept;

  /// Guests trap with code Interrupted once the engine's epoch is `ticks` beyond the present one;
  /// never at first. With a callback they go on if it returns a number of further ticks other than
  /// 0.
  /// @error BadArgument: not an engine with Config::epoch.
  Result<void> set_epoch_deadline(std::uint64_t ticks) const noexcept;
  void on_epoch_deadline(LimitCallback extend, void* context = nullptr) const noexcept;

  InterruptHandle interrupt_handle() const noexcept;

  /// Ends all externrefs with a finaliser, and exceptions, that nothing reaches any more. Happens
  /// by itself as more are made. Anywhere but in a finaliser.
  void collect() const noexcept;
  /// How many there are.
  std::uint64_t references() const noexcept;

  friend bool operator==(const StoreRef&, const StoreRef&) = default;

 protected:
  friend class detail::Access;
  detail::StoreSlot* slot_ = nullptr;
  std::uint64_t id_ = 0;
};

/// A memory or table that is about to be made (`current` is 0) or to grow, in bytes or elements.
struct Growth {
  enum class What : std::uint8_t { Memory, Table };
  What what = What::Memory;
  bool allowed = true;  ///< what the limits say
  std::uint64_t current = 0;
  std::uint64_t desired = 0;
  std::uint64_t maximum = 0;  ///< declared by the guest; the largest number if it is not
};

/// The limits that StoreLimits has, for messages.
enum class StoreLimit : std::uint8_t {
  MemoryBytes,
  TotalMemoryBytes,
  TableElements,
  TotalTableElements,
  Instances,
  Memories,
  Tables,
  References,
  ReferenceBytes
};

/// Bounds on what the guests of a store may make. Growing beyond fails as the specification lets it
/// fail (memory.grow gives -1); instantiation beyond is an Error of kind Limit.
struct StoreLimits {
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  std::uint64_t memory_bytes = kUnlimited;        ///< of each memory
  std::uint64_t total_memory_bytes = kUnlimited;  ///< of all memories together
  std::uint64_t table_elements = 10'000'000;      ///< of each table
  /// Of all tables together. As total_memory_bytes, it is of all threads of a WASI program together
  /// (wasi_threads.hpp).
  std::uint64_t total_table_elements = kUnlimited;
  std::uint64_t instances = kUnlimited;
  std::uint64_t memories = kUnlimited;
  std::uint64_t tables = kUnlimited;
  /// Externrefs with a finaliser and exceptions that are alive, and their bytes in Hoist; making
  /// one more is an error.
  std::uint64_t references = 10'000'000;
  std::uint64_t reference_bytes = kUnlimited;
  /// Take memories, tables and instances from the engine's pool (Config::pooling) if it has one.
  bool pooled = true;
  /// Growth that is refused ends the call with an Error of kind Limit.
  bool trap_on_refused_growth = false;
  /// Has the last word on each growth if set, whatever the limits above say. On the guest's thread,
  /// without a lock; must not use the store. May be asked twice about one growth, if another thread
  /// has taken what was left.
  bool (*on_growth)(void* context, const Growth& growth) = nullptr;
  void* context = nullptr;
  /// What messages call a limit: the option of a command, say. Null, or null for a limit: by the
  /// name of its member here.
  const char* (*name_of)(StoreLimit limit) = nullptr;
};

/// Owns the contents. Must not end while a call into it is in progress.
class HOIST_API Store {
 public:
  explicit Store(const Engine& engine, const StoreLimits& limits = {}) noexcept;
  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();

  StoreRef ref() const noexcept { return ref_; }
  operator StoreRef() const noexcept { return ref_; }  // NOLINT: implicit by design
  const Engine& engine() const noexcept { return engine_; }
  void* data() const noexcept { return ref_.data(); }
  /// A pointer for the embedder, found by host functions through Caller::store.
  void set_data(void* data) noexcept { ref_.set_data(data); }

  // ---- As in StoreRef.
  Result<void> set_fuel(std::uint64_t units) noexcept { return ref_.set_fuel(units); }
  Result<void> add_fuel(std::uint64_t units) noexcept { return ref_.add_fuel(units); }
  Result<std::uint64_t> fuel() const noexcept { return ref_.fuel(); }
  void on_out_of_fuel(StoreRef::LimitCallback refill, void* context = nullptr) noexcept {
    ref_.on_out_of_fuel(refill, context);
  }
  Result<void> set_epoch_deadline(std::uint64_t ticks) noexcept {
    return ref_.set_epoch_deadline(ticks);
  }
  void on_epoch_deadline(StoreRef::LimitCallback extend, void* context = nullptr) noexcept {
    ref_.on_epoch_deadline(extend, context);
  }
  InterruptHandle interrupt_handle() const noexcept { return ref_.interrupt_handle(); }
  void collect() noexcept { ref_.collect(); }
  std::uint64_t references() const noexcept { return ref_.references(); }

 private:
  Engine engine_;
  StoreRef ref_;
};

}  // namespace hoist
