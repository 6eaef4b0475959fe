// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// CLIF value types in two bytes: a lane kind, log2 of the lane count, and a flag for dynamic
/// vectors.

#include <cstdint>

#include "base/text/printer.hpp"

namespace hoist::ir {

class Type {
 public:
  enum class Lane : std::uint8_t { Invalid, I8, I16, I32, I64, I128, F16, F32, F64, F128 };

  constexpr Type() = default;
  constexpr explicit Type(Lane lane, unsigned log2_lanes = 0, bool dynamic = false)
      : bits_(static_cast<std::uint16_t>(static_cast<unsigned>(lane) | log2_lanes << 4 |
                                         (dynamic ? 0x100u : 0u))) {}
  static constexpr Type from_raw(std::uint16_t bits) {
    Type t;
    t.bits_ = bits;
    return t;
  }
  constexpr std::uint16_t raw() const { return bits_; }

  constexpr bool is_valid() const { return lane() != Lane::Invalid; }
  constexpr Lane lane() const { return static_cast<Lane>(bits_ & 0xf); }
  constexpr Type lane_type() const { return Type(lane()); }
  constexpr unsigned log2_lane_count() const { return (bits_ >> 4) & 0xf; }
  constexpr unsigned lane_count() const { return 1u << log2_lane_count(); }
  constexpr bool is_vector() const { return log2_lane_count() != 0 && !is_dynamic(); }
  constexpr bool is_dynamic() const { return (bits_ & 0x100) != 0; }
  constexpr bool is_scalar() const { return log2_lane_count() == 0 && !is_dynamic() && is_valid(); }
  constexpr bool lane_is_int() const { return lane() >= Lane::I8 && lane() <= Lane::I128; }
  constexpr bool lane_is_float() const { return lane() >= Lane::F16; }
  /// Scalar integer, scalar float.
  constexpr bool is_int() const { return is_scalar() && lane_is_int(); }
  constexpr bool is_float() const { return is_scalar() && lane_is_float(); }
  constexpr unsigned lane_bits() const {
    constexpr std::uint8_t kBits[] = {0, 8, 16, 32, 64, 128, 16, 32, 64, 128};
    return lane() <= Lane::F128 ? kBits[bits_ & 0xf] : 0;
  }
  /// Of a fixed vector or scalar (the minimum size of a dynamic vector).
  constexpr unsigned bits() const { return lane_bits() << log2_lane_count(); }
  constexpr unsigned bytes() const { return bits() / 8; }
  /// The lane count and kind of a dynamic vector, as a fixed vector.
  constexpr Type fixed_part() const { return Type(lane(), log2_lane_count()); }
  /// The same number of lanes with another lane kind.
  constexpr Type with_lane(Lane lane) const {
    return from_raw(static_cast<std::uint16_t>((bits_ & ~0xfu) | static_cast<unsigned>(lane)));
  }
  static constexpr Type int_of_bits(unsigned bits) {
    switch (bits) {
      case 8: return Type(Lane::I8);
      case 16: return Type(Lane::I16);
      case 32: return Type(Lane::I32);
      case 64: return Type(Lane::I64);
      case 128: return Type(Lane::I128);
      default: return Type();
    }
  }
  friend constexpr bool operator==(Type, Type) = default;

 private:
  std::uint16_t bits_ = 0;
};

inline constexpr Type I8{Type::Lane::I8};
inline constexpr Type I16{Type::Lane::I16};
inline constexpr Type I32{Type::Lane::I32};
inline constexpr Type I64{Type::Lane::I64};
inline constexpr Type I128{Type::Lane::I128};
inline constexpr Type F16{Type::Lane::F16};
inline constexpr Type F32{Type::Lane::F32};
inline constexpr Type F64{Type::Lane::F64};
inline constexpr Type F128{Type::Lane::F128};
// The 128-bit vectors.
inline constexpr Type I8x16{Type::Lane::I8, 4};
inline constexpr Type I16x8{Type::Lane::I16, 3};
inline constexpr Type I32x4{Type::Lane::I32, 2};
inline constexpr Type I64x2{Type::Lane::I64, 1};
inline constexpr Type F32x4{Type::Lane::F32, 2};
inline constexpr Type F64x2{Type::Lane::F64, 1};

/// `i32`, `f64x2`, …; "invalid" for the invalid type.
base::Printer& operator<<(base::Printer& out, Type type);

}  // namespace hoist::ir
