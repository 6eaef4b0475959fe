// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Store: owns instances, functions, memories, tables and globals. Everything made in a store lives
/// until the store ends; handles to it that live longer answer with an error (or, where a function
/// has no error to give, with a neutral value) and never touch freed memory.
///
/// Threads: one thread at a time may use a store and what is in it, handles included; it may move
/// between threads while no call is in progress. Stores are independent of each other.

#include <cstdint>

#include "hoist/engine.hpp"

namespace hoist {

namespace detail {
struct StoreSlot;
class Access;
}  // namespace detail

/// Names a store without owning it; two words, copied freely.
class HOIST_API StoreRef {
 public:
  StoreRef() = default;
  /// False once the store is gone (and for a default-made reference).
  bool alive() const noexcept;
  /// What `set_data` put there; null if nothing or if the store is gone.
  void* data() const noexcept;
  void set_data(void* data) const noexcept;
  friend bool operator==(const StoreRef&, const StoreRef&) = default;

 protected:
  friend class detail::Access;
  detail::StoreSlot* slot_ = nullptr;
  std::uint64_t id_ = 0;
};

/// Bounds on what the guests of a store may make. Growing beyond fails as the specification lets it
/// fail (memory.grow gives -1); instantiation beyond is an Error of kind Limit.
struct StoreLimits {
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  std::uint64_t memory_bytes = kUnlimited;    ///< of each memory
  std::uint64_t table_elements = 10'000'000;  ///< of each table
  std::uint64_t instances = kUnlimited;
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

 private:
  Engine engine_;
  StoreRef ref_;
};

}  // namespace hoist
