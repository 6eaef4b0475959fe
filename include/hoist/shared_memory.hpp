// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// SharedMemory: a linear memory that instances in several stores, on several threads, use at once.
/// Belongs to no store. It never moves: its maximum is reserved from the start. Any thread may use
/// it at any time; its bytes may change at any moment, so read and write them with atomic
/// operations, or where the guest's protocol says who may. Source: threads proposal;
/// docs/memory.md.

#include <cstdint>
#include <memory>

#include "hoist/engine.hpp"
#include "hoist/memory.hpp"

namespace hoist {

namespace detail {
struct SharedMemoryImpl;
}

/// A counted handle; copies name the same memory.
class HOIST_API SharedMemory {
 public:
  /// What waiting on it came to; the numbers are those of memory.atomic.wait32.
  enum class WaitOutcome : std::uint8_t { Woken = 0, NotEqual = 1, TimedOut = 2 };

  /// `type.shared` need not be set. For stores of this engine.
  /// @error BadArgument: no maximum, or a type that no memory can have; OutOfMemory.
  static Result<SharedMemory> create(const Engine& engine, MemoryType type) noexcept;

  /// The memory as something of a store: to import it into an instance there, or to look at it.
  /// @error Limit: the store allows none, or none as large; BadArgument: another engine's store, or
  ///        one that is gone.
  Result<Memory> in(StoreRef store) const noexcept;

  /// The type it was made with, with the present size as minimum.
  MemoryType type() const noexcept;
  std::uint64_t size_bytes() const noexcept;
  std::uint64_t pages() const noexcept;
  /// Old size in pages. @error Limit: beyond its maximum; OutOfMemory.
  Result<std::uint64_t> grow(std::uint64_t delta_pages) const noexcept;
  /// The first byte; the same for ever. `size_bytes` bytes can be accessed.
  std::uint8_t* data() const noexcept;

  /// As memory.atomic.notify and memory.atomic.wait do for guests: wakes at most `count` of those
  /// that wait at the address, and returns how many; waits for that or for `timeout_ns` (< 0: for
  /// ever) if the value is the expected one.
  /// @error Trap: out of bounds, not aligned.
  Result<std::uint32_t> notify(std::uint64_t address, std::uint32_t count) const noexcept;
  Result<WaitOutcome> wait32(std::uint64_t address, std::uint32_t expected,
                             std::int64_t timeout_ns) const noexcept;
  Result<WaitOutcome> wait64(std::uint64_t address, std::uint64_t expected,
                             std::int64_t timeout_ns) const noexcept;

  /// Same memory?
  friend bool operator==(const SharedMemory& a, const SharedMemory& b) noexcept {
    return a.data() == b.data();
  }

  /// For Hoist's own code.
  explicit SharedMemory(std::shared_ptr<detail::SharedMemoryImpl> impl) noexcept;
  const detail::SharedMemoryImpl* impl() const noexcept { return impl_.get(); }

 private:
  std::shared_ptr<detail::SharedMemoryImpl> impl_;
};

}  // namespace hoist
