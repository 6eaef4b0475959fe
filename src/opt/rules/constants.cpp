// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant folding, bit for bit what the operations mean (ops.def). Nothing that traps is folded,
// and no result that is a NaN, whose payload the hardware chooses. Rounding is that of the host in
// its default mode: to nearest, ties to even, the mode compiled code runs in too.
#include <bit>
#include <cmath>

#include "opt/rules/rules.hpp"

namespace hoist::opt {

namespace {

using Bits = std::optional<std::uint64_t>;

std::int64_t as_signed(std::uint64_t value, unsigned bits) {
  return base::sign_extend(value, bits);
}

bool compare_ints(IntCC cc, std::uint64_t x, std::uint64_t y, unsigned bits) {
  const std::int64_t sx = as_signed(x, bits);
  const std::int64_t sy = as_signed(y, bits);
  switch (cc) {
    case IntCC::Eq: return x == y;
    case IntCC::Ne: return x != y;
    case IntCC::Slt: return sx < sy;
    case IntCC::Sge: return sx >= sy;
    case IntCC::Sgt: return sx > sy;
    case IntCC::Sle: return sx <= sy;
    case IntCC::Ult: return x < y;
    case IntCC::Uge: return x >= y;
    case IntCC::Ugt: return x > y;
    case IntCC::Ule: return x <= y;
  }
  return false;
}

template <typename F>
bool compare_floats(FloatCC cc, F x, F y) {
  const bool unordered = std::isnan(x) || std::isnan(y);
  switch (cc) {
    case FloatCC::Ord: return !unordered;
    case FloatCC::Uno: return unordered;
    case FloatCC::Eq: return x == y;
    case FloatCC::Ne: return unordered || !(x == y);
    case FloatCC::One: return !unordered && !(x == y);
    case FloatCC::Ueq: return unordered || x == y;
    case FloatCC::Lt: return x < y;
    case FloatCC::Le: return x <= y;
    case FloatCC::Gt: return x > y;
    case FloatCC::Ge: return x >= y;
    case FloatCC::Ult: return unordered || x < y;
    case FloatCC::Ule: return unordered || x <= y;
    case FloatCC::Ugt: return unordered || x > y;
    case FloatCC::Uge: return unordered || x >= y;
  }
  return false;
}

std::uint64_t reverse_bits(std::uint64_t value, unsigned bits) {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < bits; ++i) out |= ((value >> i) & 1) << (bits - 1 - i);
  return out;
}

std::uint64_t reverse_bytes(std::uint64_t value, unsigned bits) {
  return __builtin_bswap64(value) >> (64 - bits);
}

std::uint64_t leading_zeros(std::uint64_t value, unsigned bits) {
  return static_cast<unsigned>(std::countl_zero(value)) - (64 - bits);
}

std::uint64_t high_product(std::uint64_t x, std::uint64_t y, unsigned bits, bool is_signed) {
  if (bits < 64) {
    const auto product =
        is_signed ? static_cast<std::uint64_t>(as_signed(x, bits) * as_signed(y, bits)) : x * y;
    return product >> bits;
  }
  // Schoolbook in 32-bit halves: 128-bit integers are an extension of the compilers.
  const std::uint64_t x0 = x & 0xffff'ffff, x1 = x >> 32, y0 = y & 0xffff'ffff, y1 = y >> 32;
  const std::uint64_t mid = x1 * y0 + ((x0 * y0) >> 32);
  const std::uint64_t mid2 = x0 * y1 + (mid & 0xffff'ffff);
  std::uint64_t high = x1 * y1 + (mid >> 32) + (mid2 >> 32);
  if (is_signed) {
    if (static_cast<std::int64_t>(x) < 0) high -= y;
    if (static_cast<std::int64_t>(y) < 0) high -= x;
  }
  return high;
}

Bits fold_division(Op op, std::uint64_t x, std::uint64_t y, unsigned bits) {
  if (y == 0) return std::nullopt;
  const std::int64_t sx = as_signed(x, bits);
  const std::int64_t sy = as_signed(y, bits);
  const bool overflows = sy == -1 && x == sign_bit(bits);
  if (op == Op::Udiv) return x / y;
  if (op == Op::Urem) return x % y;
  if (op == Op::Srem) return sy == -1 ? 0 : static_cast<std::uint64_t>(sx % sy);
  if (overflows) return std::nullopt;
  return static_cast<std::uint64_t>(sx / sy);
}

Bits fold_int_unary(Op op, std::uint64_t x, unsigned bits) {
  // Closed over the operations with a rule; any other is not folded.
  switch (op) {
    case Op::Ineg: return 0 - x;
    case Op::Iabs: return as_signed(x, bits) < 0 ? 0 - x : x;
    case Op::Bnot: return ~x;
    case Op::Bitrev: return reverse_bits(x, bits);
    case Op::Clz: return leading_zeros(x, bits);
    case Op::Cls: {
      const std::uint64_t same = as_signed(x, bits) < 0 ? ~x & mask_of(bits) : x;
      return leading_zeros(same, bits) - 1;
    }
    case Op::Ctz: return x == 0 ? bits : static_cast<unsigned>(std::countr_zero(x));
    case Op::Bswap: return reverse_bytes(x, bits);
    case Op::Popcnt: return static_cast<unsigned>(std::popcount(x));
    case Op::Uextend:
    case Op::Ireduce: return x;
    case Op::Sextend: return static_cast<std::uint64_t>(as_signed(x, bits));
    case Op::Bmask: return x == 0 ? 0 : ~std::uint64_t{0};
    default: return std::nullopt;
  }
}

Bits fold_shift(Op op, std::uint64_t x, std::uint64_t amount, unsigned bits) {
  const auto n = static_cast<unsigned>(amount % bits);
  if (op == Op::Ishl) return x << n;
  if (op == Op::Ushr) return x >> n;
  if (op == Op::Sshr) return static_cast<std::uint64_t>(as_signed(x, bits) >> n);
  if (n == 0) return x;
  return op == Op::Rotl ? x << n | x >> (bits - n) : x >> n | x << (bits - n);
}

Bits fold_int_binary(Op op, std::uint64_t x, std::uint64_t y, unsigned bits) {
  const std::int64_t sx = as_signed(x, bits);
  const std::int64_t sy = as_signed(y, bits);
  switch (op) {
    case Op::Iadd: return x + y;
    case Op::Isub: return x - y;
    case Op::Imul: return x * y;
    case Op::Umulhi: return high_product(x, y, bits, false);
    case Op::Smulhi: return high_product(x, y, bits, true);
    case Op::Smin: return sx < sy ? x : y;
    case Op::Smax: return sx > sy ? x : y;
    case Op::Umin: return x < y ? x : y;
    case Op::Umax: return x > y ? x : y;
    case Op::Band: return x & y;
    case Op::Bor: return x | y;
    case Op::Bxor: return x ^ y;
    case Op::Ishl:
    case Op::Ushr:
    case Op::Sshr:
    case Op::Rotl:
    case Op::Rotr: return fold_shift(op, x, y, bits);
    case Op::Udiv:
    case Op::Sdiv:
    case Op::Urem:
    case Op::Srem: return fold_division(op, x, y, bits);
    default: return std::nullopt;
  }
}

// ---- Floating point.

template <typename F>
struct BitsOf;
template <>
struct BitsOf<float> {
  using Type = std::uint32_t;
};
template <>
struct BitsOf<double> {
  using Type = std::uint64_t;
};

template <typename F>
F to_float(std::uint64_t bits) {
  return std::bit_cast<F>(static_cast<typename BitsOf<F>::Type>(bits));
}
template <typename F>
Bits to_bits(F value) {
  if (std::isnan(value)) return std::nullopt;
  return std::uint64_t{std::bit_cast<typename BitsOf<F>::Type>(value)};
}

template <typename F>
F minimum(F x, F y) {
  if (x == y) return std::signbit(x) ? x : y;
  return x < y ? x : y;
}
template <typename F>
F maximum(F x, F y) {
  if (x == y) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

template <typename F>
Bits fold_float_unary(Op op, std::uint64_t bits) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << (sizeof(F) * 8 - 1);
  // The sign operations are bit operations: they keep a NaN's payload.
  if (op == Op::Fneg) return bits ^ kSign;
  if (op == Op::Fabs) return bits & ~kSign;
  const F x = to_float<F>(bits);
  if (std::isnan(x)) return std::nullopt;
  switch (op) {
    case Op::Sqrt: return to_bits(std::sqrt(x));
    case Op::Ceil: return to_bits(std::ceil(x));
    case Op::Floor: return to_bits(std::floor(x));
    case Op::Trunc: return to_bits(std::trunc(x));
    case Op::Nearest: return to_bits(std::nearbyint(x));
    default: return std::nullopt;
  }
}

template <typename F>
Bits fold_float_binary(Op op, std::uint64_t xbits, std::uint64_t ybits) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << (sizeof(F) * 8 - 1);
  if (op == Op::Fcopysign) return (xbits & ~kSign) | (ybits & kSign);
  const F x = to_float<F>(xbits);
  const F y = to_float<F>(ybits);
  if (std::isnan(x) || std::isnan(y)) return std::nullopt;
  switch (op) {
    case Op::Fadd: return to_bits(x + y);
    case Op::Fsub: return to_bits(x - y);
    case Op::Fmul: return to_bits(x * y);
    case Op::Fdiv:
      // Division of a number by zero is well defined in IEEE 754, but not in C++.
      if (y == 0) return std::nullopt;
      return to_bits(x / y);
    case Op::Fmin: return to_bits(minimum(x, y));
    case Op::Fmax: return to_bits(maximum(x, y));
    default: return std::nullopt;
  }
}

/// Truncation to an integer of `bits` bits. Out of range or NaN: saturates, or nothing (it traps).
template <typename F>
Bits fold_to_int(std::uint64_t source, unsigned bits, bool is_signed, bool saturate) {
  const F x = to_float<F>(source);
  if (std::isnan(x)) return saturate ? Bits(0) : std::nullopt;
  const F t = std::trunc(x);
  // Powers of two: exact in both formats.
  const F above = std::ldexp(F{1}, static_cast<int>(is_signed ? bits - 1 : bits));
  const F lowest = is_signed ? -above : F{0};
  if (t >= above) {
    if (!saturate) return std::nullopt;
    return is_signed ? mask_of(bits) >> 1 : mask_of(bits);
  }
  if (t < lowest) {
    if (!saturate) return std::nullopt;
    return is_signed ? sign_bit(bits) : 0;
  }
  if (is_signed) return static_cast<std::uint64_t>(static_cast<std::int64_t>(t));
  return static_cast<std::uint64_t>(t);
}

template <typename F>
Bits fold_from_int(std::uint64_t x, unsigned bits, bool is_signed) {
  if (is_signed) return to_bits(static_cast<F>(as_signed(x, bits)));
  return to_bits(static_cast<F>(x));
}

/// A constant operand: its bits, zero-extended; float constants too.
Bits constant_of(const Rewriter& rw, Value v) {
  const InstData d = rw.def(v);
  if (d.op == Op::Iconst) return base::zero_extend(d.imm64(), rw.bits(v));
  if (d.op == Op::F32const) return std::uint64_t{d.b};
  if (d.op == Op::F64const) return d.imm64();
  return std::nullopt;
}

Bits fold_unary(Op op, Type from, Type to, std::uint64_t x) {
  const bool f32 = from == ir::F32;
  if (from.is_int() && to.is_int()) return fold_int_unary(op, x, from.bits());
  if (op == Op::Bitcast) return x;
  if (op == Op::FcvtFromUint || op == Op::FcvtFromSint) {
    const bool is_signed = op == Op::FcvtFromSint;
    return to == ir::F32 ? fold_from_int<float>(x, from.bits(), is_signed)
                         : fold_from_int<double>(x, from.bits(), is_signed);
  }
  if (to.is_int()) {
    const bool is_signed = op == Op::FcvtToSint || op == Op::FcvtToSintSat;
    const bool saturate = op == Op::FcvtToSintSat || op == Op::FcvtToUintSat;
    if (!is_signed && !saturate && op != Op::FcvtToUint) return std::nullopt;
    return f32 ? fold_to_int<float>(x, to.bits(), is_signed, saturate)
               : fold_to_int<double>(x, to.bits(), is_signed, saturate);
  }
  if (op == Op::Fpromote && f32 && to == ir::F64) {
    return to_bits(static_cast<double>(to_float<float>(x)));
  }
  if (op == Op::Fdemote && from == ir::F64 && to == ir::F32) {
    return to_bits(static_cast<float>(to_float<double>(x)));
  }
  if (from != to) return std::nullopt;
  return f32 ? fold_float_unary<float>(op, x) : fold_float_unary<double>(op, x);
}

Bits fold_binary(const InstData& data, Type type, std::uint64_t x, std::uint64_t y) {
  if (data.op == Op::Icmp) {
    return compare_ints(static_cast<IntCC>(data.aux), x, y, type.bits()) ? 1 : 0;
  }
  if (data.op == Op::Fcmp) {
    const auto cc = static_cast<FloatCC>(data.aux);
    return (type == ir::F32 ? compare_floats(cc, to_float<float>(x), to_float<float>(y))
                            : compare_floats(cc, to_float<double>(x), to_float<double>(y)))
               ? 1
               : 0;
  }
  if (type.is_int()) return fold_int_binary(data.op, x, y, type.bits());
  return type == ir::F32 ? fold_float_binary<float>(data.op, x, y)
                         : fold_float_binary<double>(data.op, x, y);
}

bool is_supported(Type type) {
  return type.is_int() || type == ir::F32 || type == ir::F64;
}

}  // namespace

std::optional<InstData> fold_constants(const Rewriter& rw, const InstData& data, Type type) {
  const ir::Format format = ir::format(data.op);
  // The second operand first: it is the one that is a constant in most instructions that have any.
  const bool is_binary = format == ir::Format::Binary || format == ir::Format::IntCompare ||
                         format == ir::Format::FloatCompare;
  Bits y;
  if (is_binary) {
    y = constant_of(rw, rhs(data));
    if (!y) return std::nullopt;
  } else if (format != ir::Format::Unary && format != ir::Format::LoadNoOffset) {
    return std::nullopt;
  }
  const Bits x = constant_of(rw, lhs(data));
  if (!x) return std::nullopt;
  const Type from = rw.type(lhs(data));
  if (!is_supported(from) || !is_supported(type)) return std::nullopt;
  // Shifts take an amount of any width; all other operands have one type.
  const Bits out =
      is_binary ? fold_binary(data, from, *x, *y) : fold_unary(data.op, from, type, *x);
  if (!out) return std::nullopt;
  if (type == ir::F32) return InstData{Op::F32const, 0, 0, static_cast<std::uint32_t>(*out), 0};
  if (type == ir::F64) return InstData::imm(Op::F64const, *out);
  return InstData::imm(Op::Iconst, base::zero_extend(*out, type.bits()));
}

}  // namespace hoist::opt
