// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The meaning of every operation that computes values from values, written for clarity: the oracle
/// that optimised code is compared with.

#include <cstdint>

#include "ir/function.hpp"

namespace hoist::ir::interp {

__extension__ typedef unsigned __int128 U128;
__extension__ typedef __int128 S128;

/// Results have no bits above their type.
struct Evaluated {
  U128 value = 0;
  U128 second = 0;                 ///< the flag of an overflow operation
  TrapCode trap = TrapCode::None;  ///< the operation traps instead
  bool supported = true;
};

/// One operation on scalars, or on the lanes of vectors.
struct Operation {
  Op op = Op::Nop;
  Type from;                ///< of the first operand
  Type to;                  ///< of the (first) result
  std::uint16_t aux = 0;    ///< condition or trap code, as in InstData
  std::uint64_t imm64 = 0;  ///< of a constant
};

/// The instruction's result for operands `a`, `b`, `c` (zero-extended bits) of scalars and of
/// vectors up to 128 bits, lane 0 lowest. A dynamic vector is its fixed part (the scale is 1).
Evaluated evaluate(const Function& func, Inst inst, U128 a, U128 b, U128 c);

/// The same for an operation on scalars, in integers.cpp.
Evaluated evaluate_scalar(const Operation& operation, U128 a, U128 b, U128 c);
/// The float operations, in floats.cpp.
Evaluated evaluate_float(const Operation& operation, U128 a, U128 b, U128 c);

/// The bits of a value as memory of the given byte order holds them, and back: lane 0 first, the
/// bytes of each lane in that order.
void to_memory(U128 bits, Type type, bool big_endian, std::uint8_t* bytes);
U128 from_memory(const std::uint8_t* bytes, Type type, bool big_endian);

/// The libcall `name` (CeilF32, ...) on its operands, in floats.cpp.
Evaluated evaluate_libcall(std::string_view name, const U128* args, std::size_t count);

inline U128 mask(unsigned bits) {
  return bits >= 128 ? ~U128{0} : (U128{1} << bits) - 1;
}
inline S128 sign_extended(U128 value, unsigned bits) {
  return static_cast<S128>(value << (128 - bits)) >> (128 - bits);
}

}  // namespace hoist::ir::interp
