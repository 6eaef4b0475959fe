// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Integer operations, on 128 bits and then cut to the width.
#include "ir/interp/scalar.hpp"

namespace hoist::ir::interp {

namespace {

U128 reverse_bits(U128 x, unsigned bits) {
  U128 reversed = 0;
  for (unsigned i = 0; i < bits; ++i) reversed |= (x >> i & 1) << (bits - 1 - i);
  return reversed;
}

U128 reverse_bytes(U128 x, unsigned bits) {
  U128 reversed = 0;
  for (unsigned i = 0; i < bits; i += 8) reversed |= (x >> i & 0xff) << (bits - 8 - i);
  return reversed;
}

U128 leading_zeros(U128 x, unsigned bits) {
  unsigned count = 0;
  while (count < bits && (x >> (bits - 1 - count) & 1) == 0) ++count;
  return count;
}

U128 trailing_zeros(U128 x, unsigned bits) {
  unsigned count = 0;
  while (count < bits && (x >> count & 1) == 0) ++count;
  return count;
}

U128 ones(U128 x) {
  U128 count = 0;
  for (; x != 0; x &= x - 1) ++count;
  return count;
}

/// Copies of the sign bit below it.
U128 leading_sign_bits(U128 x, unsigned bits) {
  const U128 sign = x >> (bits - 1) & 1;
  unsigned count = 0;
  while (count + 1 < bits && (x >> (bits - 2 - count) & 1) == sign) ++count;
  return count;
}

bool compare(IntCC cc, U128 a, U128 b, unsigned bits) {
  const S128 sa = sign_extended(a, bits), sb = sign_extended(b, bits);
  switch (cc) {
    case IntCC::Eq: return a == b;
    case IntCC::Ne: return a != b;
    case IntCC::Slt: return sa < sb;
    case IntCC::Sge: return sa >= sb;
    case IntCC::Sgt: return sa > sb;
    case IntCC::Sle: return sa <= sb;
    case IntCC::Ult: return a < b;
    case IntCC::Uge: return a >= b;
    case IntCC::Ugt: return a > b;
    case IntCC::Ule: return a <= b;
  }
  HOIST_UNREACHABLE("integer condition");
}

Evaluated trap(TrapCode code) {
  Evaluated result;
  result.trap = code;
  return result;
}

Evaluated divide(Op op, U128 a, U128 b, unsigned bits) {
  if (b == 0) return trap(TrapCode::IntegerDivideByZero);
  const S128 sa = sign_extended(a, bits), sb = sign_extended(b, bits);
  const bool overflows = a == U128{1} << (bits - 1) && sb == -1;
  switch (op) {
    case Op::Udiv: return {a / b};
    case Op::Urem: return {a % b};
    case Op::Sdiv:
      if (overflows) return trap(TrapCode::IntegerOverflow);
      return {static_cast<U128>(sa / sb)};
    default: return {overflows ? 0 : static_cast<U128>(sa % sb)};
  }
}

/// The exact result does not fit in the width?
bool overflows(Op op, U128 a, U128 b, unsigned bits) {
  U128 wide = 0;
  S128 signed_wide = 0;
  const S128 sa = sign_extended(a, bits), sb = sign_extended(b, bits);
  switch (op) {
    case Op::UaddOverflow:
    case Op::UaddOverflowTrap: return __builtin_add_overflow(a, b, &wide) || wide > mask(bits);
    case Op::UsubOverflow: return a < b;
    case Op::UmulOverflow: return __builtin_mul_overflow(a, b, &wide) || wide > mask(bits);
    case Op::SaddOverflow:
      return __builtin_add_overflow(sa, sb, &signed_wide) ||
             signed_wide != sign_extended(static_cast<U128>(signed_wide), bits);
    case Op::SsubOverflow:
      return __builtin_sub_overflow(sa, sb, &signed_wide) ||
             signed_wide != sign_extended(static_cast<U128>(signed_wide), bits);
    default:
      return __builtin_mul_overflow(sa, sb, &signed_wide) ||
             signed_wide != sign_extended(static_cast<U128>(signed_wide), bits);
  }
}

/// High half of the product.
U128 multiply_high(Op op, U128 a, U128 b, unsigned bits) {
  const S128 sa = sign_extended(a, bits), sb = sign_extended(b, bits);
  if (bits <= 64) return op == Op::Umulhi ? a * b >> bits : static_cast<U128>(sa * sb) >> bits;
  // In halves of 64 bits; the signed product differs by what the sign bits stand for.
  const U128 low = mask(64);
  const U128 middle = (a >> 64) * (b & low) + ((a & low) * (b & low) >> 64);
  const U128 other = (a & low) * (b >> 64) + (middle & low);
  U128 high = (a >> 64) * (b >> 64) + (middle >> 64) + (other >> 64);
  if (op == Op::Smulhi) high -= (sa < 0 ? b : 0) + (sb < 0 ? a : 0);
  return high;
}

/// `value` of unlimited size cut to the range of the width.
U128 saturate_signed(S128 value, unsigned bits) {
  const S128 high = static_cast<S128>(mask(bits - 1));
  return static_cast<U128>(value > high ? high : value < -high - 1 ? -high - 1 : value);
}
U128 saturate_unsigned(S128 value, unsigned bits) {
  const S128 high = static_cast<S128>(mask(bits));
  return static_cast<U128>(value > high ? high : value < 0 ? 0 : value);
}

/// Sum or difference with a carry in; the second result is the carry or overflow out.
Evaluated with_carry(Op op, U128 a, U128 b, U128 c, unsigned bits) {
  const U128 carry = c != 0 ? 1 : 0;
  const S128 sa = sign_extended(a, bits), sb = sign_extended(b, bits);
  const auto sign = [&](U128 x) { return sign_extended(x & mask(bits), bits) < 0; };
  switch (op) {
    case Op::UaddOverflowCin: {
      const U128 sum = (a + b + carry) & mask(bits);
      return {sum, carry != 0 ? sum <= a : sum < a};
    }
    case Op::UsubOverflowBin: return {a - b - carry, carry != 0 ? a <= b : a < b};
    // A signed result overflows where its sign cannot be right.
    case Op::SaddOverflowCin: {
      const U128 sum = a + b + carry;
      return {sum, (sa < 0) == (sb < 0) && sign(sum) != (sa < 0)};
    }
    default: {
      const U128 difference = a - b - carry;
      return {difference, (sa < 0) != (sb < 0) && sign(difference) != (sa < 0)};
    }
  }
}

/// Fixed point: the product of two fractions, rounded.
S128 fraction_product(S128 a, S128 b, unsigned bits) {
  return (a * b + (S128{1} << (bits - 2))) >> (bits - 1);
}

U128 rotate_left(U128 x, unsigned amount, unsigned bits) {
  return amount == 0 ? x : x << amount | x >> (bits - amount);
}

Evaluated calculate(const Operation& data, U128 a, U128 b, U128 c) {
  const unsigned bits = data.to.bits();
  const unsigned from_bits = data.op == Op::Iconst ? bits : data.from.bits();
  const S128 sa = sign_extended(a, from_bits), sb = sign_extended(b, from_bits);
  const auto amount = static_cast<unsigned>(b & (from_bits - 1));
  switch (data.op) {
    case Op::Iconst: return {data.imm64};
    case Op::Select:
    case Op::SelectSpectreGuard: return {a != 0 ? b : c};
    case Op::Bitselect: return {(a & b) | (~a & c)};
    case Op::Iadd: return {a + b};
    case Op::Isub: return {a - b};
    case Op::Ineg: return {0 - a};
    case Op::Iabs: return {sa < 0 ? 0 - a : a};
    case Op::Imul: return {a * b};
    case Op::Umulhi:
    case Op::Smulhi: return {multiply_high(data.op, a, b, bits)};
    case Op::Smin: return {compare(IntCC::Slt, a, b, bits) ? a : b};
    case Op::Smax: return {compare(IntCC::Sgt, a, b, bits) ? a : b};
    case Op::Umin: return {a < b ? a : b};
    case Op::Umax: return {a > b ? a : b};
    case Op::Udiv:
    case Op::Sdiv:
    case Op::Urem:
    case Op::Srem: return divide(data.op, a, b, bits);
    case Op::UaddOverflow:
    case Op::SaddOverflow: return {a + b, overflows(data.op, a, b, bits)};
    case Op::UsubOverflow:
    case Op::SsubOverflow: return {a - b, overflows(data.op, a, b, bits)};
    case Op::UmulOverflow:
    case Op::SmulOverflow: return {a * b, overflows(data.op, a, b, bits)};
    case Op::UaddOverflowTrap:
      if (overflows(data.op, a, b, bits)) return trap(static_cast<TrapCode>(data.aux));
      return {a + b};
    case Op::UaddOverflowCin:
    case Op::SaddOverflowCin:
    case Op::UsubOverflowBin:
    case Op::SsubOverflowBin: return with_carry(data.op, a, b, c, bits);
    case Op::Iconcat: return {a | b << from_bits};
    case Op::Isplit: return {a, a >> bits};
    case Op::AvgRound: return {(a + b + 1) >> 1};
    case Op::UaddSat: return {saturate_unsigned(static_cast<S128>(a + b), bits)};
    case Op::SaddSat: return {saturate_signed(sa + sb, bits)};
    case Op::UsubSat: return {a > b ? a - b : 0};
    case Op::SsubSat: return {saturate_signed(sa - sb, bits)};
    case Op::SqmulRoundSat: return {saturate_signed(fraction_product(sa, sb, bits), bits)};
    case Op::X86Pmulhrsw: return {static_cast<U128>(fraction_product(sa, sb, bits))};
    case Op::Snarrow: return {saturate_signed(sa, bits)};
    case Op::Unarrow: return {saturate_unsigned(sa, bits)};
    case Op::Uunarrow: return {a > mask(bits) ? mask(bits) : a};
    case Op::UwidenLow:
    case Op::UwidenHigh: return {a};
    case Op::SwidenLow:
    case Op::SwidenHigh: return {static_cast<U128>(sa)};
    case Op::Blendv: return {a >> (from_bits - 1) != 0 ? b : c};
    case Op::Band: return {a & b};
    case Op::Bor: return {a | b};
    case Op::Bxor: return {a ^ b};
    case Op::Bnot: return {~a};
    case Op::Rotl: return {rotate_left(a, amount, bits)};
    case Op::Rotr: return {rotate_left(a, (bits - amount) % bits, bits)};
    case Op::Ishl: return {a << amount};
    case Op::Ushr: return {a >> amount};
    case Op::Sshr: return {static_cast<U128>(sa >> amount)};
    case Op::Bitrev: return {reverse_bits(a, bits)};
    case Op::Clz: return {leading_zeros(a, bits)};
    case Op::Cls: return {leading_sign_bits(a, bits)};
    case Op::Ctz: return {trailing_zeros(a, bits)};
    case Op::Bswap: return {reverse_bytes(a, bits)};
    case Op::Popcnt: return {ones(a)};
    case Op::Icmp: return {compare(static_cast<IntCC>(data.aux), a, b, from_bits)};
    case Op::Uextend:
    case Op::Ireduce: return {a};
    case Op::Sextend: return {static_cast<U128>(sa)};
    case Op::Bmask: return {a != 0 ? ~U128{0} : 0};
    case Op::Bitcast: return {a};
    default: return evaluate_float(data, a, b, c);
  }
}

}  // namespace

Evaluated evaluate_scalar(const Operation& operation, U128 a, U128 b, U128 c) {
  Evaluated result = calculate(operation, a, b, c);
  result.value &= mask(operation.to.bits());
  if (operation.op == Op::Isplit) result.second &= mask(operation.to.bits());
  return result;
}

}  // namespace hoist::ir::interp
