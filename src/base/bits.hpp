// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Little-endian loads and stores, alignment, sign extension.

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hoist::base {

static_assert(std::endian::native == std::endian::little, "Hoist runs on little-endian hosts");

template <typename T>
T load_le(const void* at) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void store_le(void* at, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(at, &value, sizeof(T));
}

/// `align` is a power of two.
template <typename T>
constexpr T align_up(T value, std::type_identity_t<T> align) {
  return static_cast<T>((value + (align - 1)) & ~static_cast<T>(align - 1));
}

/// The low `bits` (1..64) of `value`, sign-extended.
constexpr std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
  const unsigned shift = 64 - bits;
  return static_cast<std::int64_t>(value << shift) >> shift;
}

/// The low `bits` (1..64) of `value`, the rest zero.
constexpr std::uint64_t zero_extend(std::uint64_t value, unsigned bits) {
  return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

constexpr bool fits_i8(std::int64_t v) {
  return v >= -128 && v <= 127;
}
constexpr bool fits_i32(std::int64_t v) {
  return v >= INT32_MIN && v <= INT32_MAX;
}
constexpr bool fits_u32(std::uint64_t v) {
  return v <= UINT32_MAX;
}

}  // namespace hoist::base
