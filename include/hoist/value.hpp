// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Val: one WebAssembly value with its type. Copied freely. Asking a Val for another type than it
/// has ends the process: it is a bug of the caller, like using the value of a failed Result.

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

/// A reference to something of the host, opaque to the guest: one pointer-sized word. The null
/// pointer is the null reference. Hoist never follows or frees it.
struct ExternRef {
  void* host = nullptr;
  bool is_null() const { return host == nullptr; }
  friend bool operator==(ExternRef, ExternRef) = default;
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
  Val(ExternRef value) : type_(ValKind::ExternRef) {  // NOLINT: implicit by design
    bits_[0] = reinterpret_cast<std::uintptr_t>(value.host);
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
  ExternRef externref() const {
    return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(get(ValKind::ExternRef)))};
  }
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
  ValType type_ = ValKind::I32;
  std::uint64_t bits_[2] = {0, 0};
  StoreRef store_;  // of a function reference
};

/// "i32:5", "f64:0.5", "funcref:null": for messages.
HOIST_API std::string to_string(const Val& value) noexcept;

}  // namespace hoist
