// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Floating-point operations and the libcalls that stand for them.
///
/// NaN results: an operand that is a NaN is passed on, made quiet (the first one, where there are
/// several); else the default NaN of the host's processor family, x86-64's negative one. Programs
/// must not depend on the payload, but an oracle has to be deterministic.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/interp/scalar.hpp"

namespace hoist::ir::interp {

namespace {

template <typename F>
using BitsOf = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <typename F>
constexpr BitsOf<F> kQuietBit = BitsOf<F>{1} << (std::numeric_limits<F>::digits - 2);
template <typename F>
constexpr BitsOf<F> kSignBit = BitsOf<F>{1} << (sizeof(F) * 8 - 1);
template <typename F>
constexpr BitsOf<F> kDefaultNan =
    kSignBit<F> |
    (BitsOf<F>(~BitsOf<F>{0}) >> 1 & ~((BitsOf<F>{1} << (std::numeric_limits<F>::digits - 2)) - 1));

template <typename F>
F from_bits(U128 bits) {
  return std::bit_cast<F>(static_cast<BitsOf<F>>(bits));
}
template <typename F>
U128 to_bits(F value) {
  return std::bit_cast<BitsOf<F>>(value);
}
template <typename F>
F quiet(F nan) {
  return std::bit_cast<F>(std::bit_cast<BitsOf<F>>(nan) | kQuietBit<F>);
}
/// `computed`, unless NaNs are involved.
template <typename F>
U128 with_nan_rule(F computed, F a, F b) {
  if (std::isnan(a)) return to_bits(quiet(a));
  if (std::isnan(b)) return to_bits(quiet(b));
  if (std::isnan(computed)) return kDefaultNan<F>;
  return to_bits(computed);
}

template <typename F>
F minimum(F a, F b) {
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename F>
F maximum(F a, F b) {
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// To the nearest integer, ties to even, whatever the rounding mode.
template <typename F>
F round_even(F x) {
  const F down = std::floor(x);
  const F distance = x - down;
  if (distance == 0) return x;
  F rounded = down;
  if (distance > F(0.5) || (distance == F(0.5) && std::fmod(down, F(2)) != 0)) rounded = down + 1;
  return std::copysign(rounded, x);
}

bool compare(FloatCC cc, bool unordered, bool less, bool equal) {
  const bool greater = !unordered && !less && !equal;
  switch (cc) {
    case FloatCC::Ord: return !unordered;
    case FloatCC::Uno: return unordered;
    case FloatCC::Eq: return equal;
    case FloatCC::Ne: return !equal;
    case FloatCC::One: return less || greater;
    case FloatCC::Ueq: return unordered || equal;
    case FloatCC::Lt: return less;
    case FloatCC::Le: return less || equal;
    case FloatCC::Gt: return greater;
    case FloatCC::Ge: return greater || equal;
    case FloatCC::Ult: return unordered || less;
    case FloatCC::Ule: return unordered || less || equal;
    case FloatCC::Ugt: return unordered || greater;
    case FloatCC::Uge: return unordered || greater || equal;
  }
  HOIST_UNREACHABLE("float condition");
}

/// Truncation to an integer of `bits`, trapping or saturating.
template <typename F>
Evaluated to_integer(F x, unsigned bits, bool is_signed, bool saturating) {
  if (std::isnan(x)) return saturating ? Evaluated{} : Evaluated{.trap = TrapCode::BadConversion};
  // Powers of two are exact in F, so the range of what truncates into the type is exact too: the
  // integer range is [low, high), and anything above low - 1 truncates to low.
  const F high = std::ldexp(F(1), static_cast<int>(is_signed ? bits - 1 : bits));
  const F low = is_signed ? -high : F(0);
  const F truncated = std::trunc(x);
  // The field's tests define conversions to i128, which no target has, to end at the signed
  // maximum for both signs and both kinds.
  if (bits == 128 && truncated >= std::ldexp(F(1), 127)) return {mask(127)};
  if (truncated >= high) {
    if (!saturating) return {.trap = TrapCode::IntegerOverflow};
    return {is_signed ? mask(bits - 1) : mask(bits)};
  }
  if (truncated < low) {
    if (!saturating) return {.trap = TrapCode::IntegerOverflow};
    return {is_signed ? U128{1} << (bits - 1) : 0};
  }
  if (is_signed) return {static_cast<U128>(static_cast<S128>(truncated))};
  return {static_cast<U128>(truncated)};
}

template <typename F>
U128 from_integer(U128 x, unsigned bits, bool is_signed) {
  return to_bits(is_signed ? static_cast<F>(sign_extended(x, bits)) : static_cast<F>(x));
}

/// Operations whose operands and result are F, and comparisons of F.
template <typename F>
Evaluated calculate(const Operation& operation, U128 ab, U128 bb, U128 cb) {
  const F a = from_bits<F>(ab), b = from_bits<F>(bb), c = from_bits<F>(cb);
  const auto one = [&](F computed) { return Evaluated{with_nan_rule(computed, a, F(0))}; };
  const auto two = [&](F computed) { return Evaluated{with_nan_rule(computed, a, b)}; };
  switch (operation.op) {
    case Op::Fcmp:
      return {compare(static_cast<FloatCC>(operation.aux), std::isunordered(a, b), a < b, a == b)};
    case Op::Fadd: return two(a + b);
    case Op::Fsub: return two(a - b);
    case Op::Fmul: return two(a * b);
    case Op::Fdiv: return two(a / b);
    case Op::Fmin: return two(minimum(a, b));
    case Op::Fmax: return two(maximum(a, b));
    case Op::Sqrt: return one(std::sqrt(a));
    case Op::Ceil: return one(std::ceil(a));
    case Op::Floor: return one(std::floor(a));
    case Op::Trunc: return one(std::trunc(a));
    case Op::Nearest: return one(round_even(a));
    case Op::Fma:
      if (!std::isnan(a) && !std::isnan(b) && std::isnan(c)) return {to_bits(quiet(c))};
      return two(std::fma(a, b, c));
    case Op::Fneg: return {ab ^ kSignBit<F>};
    case Op::Fabs: return {ab & ~U128{kSignBit<F>}};
    case Op::Fcopysign: return {(ab & ~U128{kSignBit<F>}) | (bb & kSignBit<F>)};
    default: return {.supported = false};
  }
}

/// Truncation to a signed integer as x86's instructions do it: the minimum for what has no result.
template <typename F>
Evaluated to_integer_or_minimum(F x, unsigned bits) {
  const Evaluated result = to_integer(x, bits, true, false);
  return result.trap == TrapCode::None ? result : Evaluated{U128{1} << (bits - 1)};
}

Evaluated convert(const Operation& operation, U128 a) {
  const Op op = operation.op;
  const Type from = operation.from;
  const Type to = operation.to;
  switch (op) {
    case Op::FcvtToUint:
    case Op::FcvtToSint:
    case Op::FcvtToUintSat:
    case Op::FcvtToSintSat: {
      const bool is_signed = op == Op::FcvtToSint || op == Op::FcvtToSintSat;
      const bool saturating = op == Op::FcvtToUintSat || op == Op::FcvtToSintSat;
      if (from == F32) return to_integer(from_bits<float>(a), to.bits(), is_signed, saturating);
      if (from == F64) return to_integer(from_bits<double>(a), to.bits(), is_signed, saturating);
      return {.supported = false};
    }
    case Op::X86Cvtt2dq:
      if (from == F32) return to_integer_or_minimum(from_bits<float>(a), to.bits());
      if (from == F64) return to_integer_or_minimum(from_bits<double>(a), to.bits());
      return {.supported = false};
    case Op::FcvtFromUint:
    case Op::FcvtFromSint: {
      const bool is_signed = op == Op::FcvtFromSint;
      if (to == F32) return {from_integer<float>(a, from.bits(), is_signed)};
      if (to == F64) return {from_integer<double>(a, from.bits(), is_signed)};
      return {.supported = false};
    }
    case Op::Fpromote: {
      if (from != F32 || to != F64) return {.supported = false};
      const double wide = static_cast<double>(from_bits<float>(a));
      return {to_bits(std::isnan(wide) ? quiet(wide) : wide)};
    }
    case Op::Fdemote: {
      if (from != F64 || to != F32) return {.supported = false};
      const float narrow = static_cast<float>(from_bits<double>(a));
      return {to_bits(std::isnan(narrow) ? quiet(narrow) : narrow)};
    }
    default: return {.supported = false};
  }
}

/// Operations on the sign bit alone, for formats without arithmetic.
Evaluated change_sign(const Operation& operation, U128 a, U128 b) {
  const U128 sign = U128{1} << (operation.from.bits() - 1);
  switch (operation.op) {
    case Op::Fneg: return {a ^ sign};
    case Op::Fabs: return {a & ~sign};
    case Op::Fcopysign: return {(a & ~sign) | (b & sign)};
    default: return {.supported = false};
  }
}

}  // namespace

Evaluated evaluate_float(const Operation& operation, U128 a, U128 b, U128 c) {
  switch (operation.op) {
    case Op::F16const:
    case Op::F32const:
    case Op::F64const: return {operation.imm64};
    case Op::FcvtToUint:
    case Op::FcvtToSint:
    case Op::FcvtToUintSat:
    case Op::FcvtToSintSat:
    case Op::X86Cvtt2dq:
    case Op::FcvtFromUint:
    case Op::FcvtFromSint:
    case Op::Fpromote:
    case Op::Fdemote: return convert(operation, a);
    default: break;
  }
  const Format form = format(operation.op);
  if (form != Format::Unary && form != Format::Binary && form != Format::Ternary &&
      form != Format::FloatCompare) {
    return {.supported = false};
  }
  if (operation.from == F32) return calculate<float>(operation, a, b, c);
  if (operation.from == F64) return calculate<double>(operation, a, b, c);
  if (operation.from == F16 || operation.from == F128) return change_sign(operation, a, b);
  return {.supported = false};
}

namespace {

template <typename F>
Evaluated libcall(std::string_view name, const U128* args, std::size_t count) {
  const F a = from_bits<F>(args[0]);
  if (name == "Fma" && count == 3) {
    const F b = from_bits<F>(args[1]), c = from_bits<F>(args[2]);
    if (!std::isnan(a) && !std::isnan(b) && std::isnan(c)) return {to_bits(quiet(c))};
    return {with_nan_rule(std::fma(a, b, c), a, b)};
  }
  if (count != 1) return {.supported = false};
  if (name == "Ceil") return {with_nan_rule(std::ceil(a), a, F(0))};
  if (name == "Floor") return {with_nan_rule(std::floor(a), a, F(0))};
  if (name == "Trunc") return {with_nan_rule(std::trunc(a), a, F(0))};
  if (name == "Nearest") return {with_nan_rule(round_even(a), a, F(0))};
  return {.supported = false};
}

}  // namespace

Evaluated evaluate_libcall(std::string_view name, const U128* args, std::size_t count) {
  if (count == 0 || name.size() < 4) return {.supported = false};
  const std::string_view base = name.substr(0, name.size() - 3);
  if (name.ends_with("F32")) return libcall<float>(base, args, count);
  if (name.ends_with("F64")) return libcall<double>(base, args, count);
  return {.supported = false};
}

}  // namespace hoist::ir::interp
