// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Memory: a linear memory. Addresses are byte offsets of the guest; every access here is checked.
/// An access out of bounds is an Error of kind Trap ("out of bounds memory access"), so that a host
/// function that returns it traps as the guest would. Source: core specification, section 4.2.8.

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "hoist/extern.hpp"

namespace hoist {

class SharedMemory;

class HOIST_API Memory : public detail::Handle {
 public:
  /// @error Limit: larger than the store allows; OutOfMemory; BadArgument: a type that no memory
  /// can
  ///        have: minimum above maximum, more pages than addresses reach, shared without maximum.
  static Result<Memory> create(StoreRef store, const MemoryType& type) noexcept;

  /// The type it was made with, with the present size as minimum.
  MemoryType type() const noexcept;
  std::uint64_t size_bytes() const noexcept;
  /// In pages of its type.
  std::uint64_t pages() const noexcept;
  /// Old size in pages. @error Limit: beyond its maximum or the store's limit; OutOfMemory.
  Result<std::uint64_t> grow(std::uint64_t delta_pages) noexcept;

  /// The memory apart from this store, if its type is shared.
  std::optional<SharedMemory> shared() const noexcept;

  /// All of it, at this moment: growth changes the size and may move it (docs/memory.md; never
  /// shared ones, and 32-bit ones of 64 KiB pages whose addresses need no comparison). Other
  /// threads may write a shared one at any time. Empty if the store is gone.
  std::span<std::uint8_t> data() const noexcept;
  /// A checked piece of it.
  Result<std::span<std::uint8_t>> bytes(std::uint64_t address, std::uint64_t length) const noexcept;
  Result<std::string_view> text(std::uint64_t address, std::uint64_t length) const noexcept;
  Result<void> read(std::uint64_t address, std::span<std::uint8_t> to) const noexcept;
  Result<void> write(std::uint64_t address, std::span<const std::uint8_t> from) const noexcept;

  /// One value in little-endian layout; any alignment. Any bytes must be a value of T, since the
  /// guest may put any there: take a number for a bool or enum.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  Result<T> get(std::uint64_t address) const noexcept {
    static_assert(!std::is_same_v<T, bool>, "a guest's byte may be neither 0 nor 1");
    auto at = bytes(address, sizeof(T));
    if (!at) return std::move(at).error();
    T out;
    std::memcpy(&out, at->data(), sizeof(T));
    return out;
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  Result<void> set(std::uint64_t address, const T& value) const noexcept {
    auto at = bytes(address, sizeof(T));
    if (!at) return std::move(at).error();
    std::memcpy(at->data(), &value, sizeof(T));
    return {};
  }

 private:
  friend class detail::Access;
  Memory() = default;
};

}  // namespace hoist
