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

/// High half of the product, for up to 64 bits.
U128 multiply_high(Op op, U128 a, U128 b, unsigned bits) {
  if (op == Op::Umulhi) return a * b >> bits;
  return static_cast<U128>(sign_extended(a, bits) * sign_extended(b, bits)) >> bits;
}

U128 rotate_left(U128 x, unsigned amount, unsigned bits) {
  return amount == 0 ? x : x << amount | x >> (bits - amount);
}

Evaluated calculate(const Function& func, Inst inst, U128 a, U128 b, U128 c) {
  const InstData& data = func.data(inst);
  const unsigned bits = func.type(func.result(inst)).bits();
  const unsigned from_bits = data.op == Op::Iconst ? bits : func.type(Value(data.a)).bits();
  const S128 sa = sign_extended(a, from_bits);
  const auto amount = static_cast<unsigned>(b & (from_bits - 1));
  switch (data.op) {
    case Op::Iconst: return {data.imm64()};
    case Op::Select:
    case Op::SelectSpectreGuard: return {a != 0 ? b : c};
    case Op::Bitselect: return {(a & b) | (~a & c)};
    case Op::Iadd: return {a + b};
    case Op::Isub: return {a - b};
    case Op::Ineg: return {0 - a};
    case Op::Iabs: return {sa < 0 ? 0 - a : a};
    case Op::Imul: return {a * b};
    case Op::Umulhi:
    case Op::Smulhi:
      if (bits > 64) return {.supported = false};
      return {multiply_high(data.op, a, b, bits)};
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
      if (overflows(data.op, a, b, bits)) return trap(func.trap_code(inst));
      return {a + b};
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
    case Op::Icmp: return {compare(func.int_cc(inst), a, b, from_bits)};
    case Op::Uextend:
    case Op::Ireduce: return {a};
    case Op::Sextend: return {static_cast<U128>(sa)};
    case Op::Bmask: return {a != 0 ? ~U128{0} : 0};
    case Op::Bitcast: return {a};
    default: return evaluate_float(func, inst, a, b, c);
  }
}

}  // namespace

Evaluated evaluate(const Function& func, Inst inst, U128 a, U128 b, U128 c) {
  Evaluated result = calculate(func, inst, a, b, c);
  result.value &= mask(func.type(func.result(inst)).bits());
  return result;
}

}  // namespace hoist::ir::interp
