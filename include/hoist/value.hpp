// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Val: one WebAssembly value with its type. Copied freely. Asking a Val for another type than it
/// has ends the process: it is a bug of the caller, like using the value of a failed Result.

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "hoist/detail/export.hpp"
#include "hoist/store.hpp"
#include "hoist/types.hpp"

namespace hoist {

class Func;

namespace detail {
template <typename T>
struct SlotType;
/// Set in the word of an externref that is nothing but a pointer of the host.
inline constexpr std::uint64_t kHostWord = std::uint64_t{1} << 63;
}  // namespace detail

/// A reference to something of the host, opaque to the guest. Made from a pointer it is that
/// pointer and nothing more: Hoist never follows or frees it, and the null pointer is the null
/// reference. Made by `create` it is owned by a store, which tells when the last guest and the last
/// root (reference.hpp) have lost it.
class HOIST_API ExternRef {
 public:
  void* host = nullptr;

  constexpr ExternRef() = default;
  constexpr explicit ExternRef(void* pointer) : host(pointer) {}
  /// Not null, whatever `pointer` is. `finalize(pointer)` is called exactly once: in a collection
  /// that finds it unreachable, or when the store ends; it must not use the store. The reference is
  /// a scoped root: see HandleScope.
  /// @error Limit (StoreLimits::references); BadArgument: the store is gone. `finalize` is not
  ///        called then.
  static Result<ExternRef> create(StoreRef store, void* pointer,
                                  void (*finalize)(void* pointer)) noexcept;

  bool is_null() const { return host == nullptr && serial_ == 0; }
  friend bool operator==(const ExternRef&, const ExternRef&) = default;

 private:
  friend class Val;
  friend class detail::Access;
  friend struct detail::SlotType<ExternRef>;
  /// Whether the word says all: a pointer with bit 63 needs an object.
  bool is_plain() const {
    return serial_ == 0 && (reinterpret_cast<std::uintptr_t>(host) & detail::kHostWord) == 0;
  }
  std::uint64_t word() const {
    if (serial_ != 0) return word_;
    return host == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(host) | detail::kHostWord;
  }
  std::uint64_t word_ = 0;
  std::uint64_t serial_ = 0;  ///< of the store's object; 0: only a pointer
  StoreRef store_;
};

namespace detail {
template <typename T>
concept Int32 = std::integral<T> && sizeof(T) == 4;
template <typename T>
concept Int64 = std::integral<T> && sizeof(T) == 8;
/// How compiled code and host exchange values: one slot each, unused bits zero.
struct alignas(16) Slot {
  std::uint64_t bits[2] = {0, 0};
};
}  // namespace detail

/// A v128: 16 bytes, lowest first, or lanes of any arithmetic type:
///   V128::of<float>({1, 2, 3, 4}).lanes<std::uint32_t>()[0]
struct V128 {
  std::array<std::uint8_t, 16> bytes{};

  template <typename T>
  using Lanes = std::array<T, 16 / sizeof(T)>;
  template <typename T>
  static V128 of(const Lanes<T>& lanes) {
    return {std::bit_cast<std::array<std::uint8_t, 16>>(lanes)};
  }
  template <typename T>
  Lanes<T> lanes() const {
    return std::bit_cast<Lanes<T>>(bytes);
  }
  friend bool operator==(const V128&, const V128&) = default;
};

class HOIST_API Val {
 public:
  /// i32 0
  Val() = default;
  template <detail::Int32 T>
  Val(T value) : type_(ValKind::I32) {  // NOLINT: implicit by design
    bits_[0] = static_cast<std::uint32_t>(value);
  }
  template <detail::Int64 T>
  Val(T value) : type_(ValKind::I64) {  // NOLINT: implicit by design
    bits_[0] = static_cast<std::uint64_t>(value);
  }
  Val(float value) : type_(ValKind::F32) {
    bits_[0] = std::bit_cast<std::uint32_t>(value);
  }  // NOLINT
  Val(double value) : type_(ValKind::F64) {
    bits_[0] = std::bit_cast<std::uint64_t>(value);
  }  // NOLINT
  Val(const V128& value) : type_(ValKind::V128) {  // NOLINT: implicit by design
    const V128::Lanes<std::uint64_t> halves = value.lanes<std::uint64_t>();
    bits_[0] = halves[0];
    bits_[1] = halves[1];
  }
  Val(ExternRef value) : type_(ValKind::ExternRef) {  // NOLINT: implicit by design
    bits_[0] = value.word();
    bits_[1] = value.serial_ != 0 ? value.serial_ : value.is_plain() ? 0 : kWidePointer;
    store_ = value.store_;
  }
  Val(const Func& func) noexcept;  // NOLINT: implicit by design
  /// NaN bits are kept.
  static Val f32_bits(std::uint32_t bits) { return raw(ValKind::F32, bits); }
  static Val f64_bits(std::uint64_t bits) { return raw(ValKind::F64, bits); }
  /// The null reference of a reference type.
  static Val null(ValType type) { return raw(type, 0); }
  /// Zero, or null: what a local of this type starts with.
  static Val zero(ValType type) { return raw(type, 0); }

  ValType type() const { return type_; }
  ValKind kind() const { return type_.kind(); }
  std::int32_t i32() const { return static_cast<std::int32_t>(get(ValKind::I32)); }
  std::int64_t i64() const { return static_cast<std::int64_t>(get(ValKind::I64)); }
  float f32() const { return std::bit_cast<float>(f32_bits()); }
  double f64() const { return std::bit_cast<double>(f64_bits()); }
  std::uint32_t f32_bits() const { return static_cast<std::uint32_t>(get(ValKind::F32)); }
  std::uint64_t f64_bits() const { return get(ValKind::F64); }
  V128 v128() const { return V128::of<std::uint64_t>({get(ValKind::V128), bits_[1]}); }
  ExternRef externref() const noexcept;
  /// Empty for the null reference.
  std::optional<Func> funcref() const noexcept;
  bool is_null() const { return type_.is_ref() && bits_[0] == 0; }

 private:
  friend class detail::Access;
  static Val raw(ValType type, std::uint64_t bits) {
    Val out;
    out.type_ = type;
    out.bits_[0] = bits;
    return out;
  }
  std::uint64_t get(ValKind kind) const {
    if (type_.kind() != kind) std::abort();
    return bits_[0];
  }
  /// bits_[1] of an externref: 0, this (bits_[0] is a pointer that has bit 63 set), or the serial
  /// of the object; of an exnref: the serial of the exception.
  static constexpr std::uint64_t kWidePointer = 1;
  ValType type_ = ValKind::I32;
  std::uint64_t bits_[2] = {0, 0};
  StoreRef store_;  // of a reference that belongs to one
};

/// "i32:5", "f64:0.5", "funcref:null": for messages.
HOIST_API std::string to_string(const Val& value) noexcept;

}  // namespace hoist
