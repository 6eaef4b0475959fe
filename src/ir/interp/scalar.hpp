// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The meaning of every operation that computes scalars from scalars, written for clarity: the
/// oracle that optimised code is compared with.

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

/// The instruction's result for operands `a`, `b`, `c` (zero-extended bits) of scalar types.
Evaluated evaluate(const Function& func, Inst inst, U128 a, U128 b, U128 c);

/// The float operations, in floats.cpp.
Evaluated evaluate_float(const Function& func, Inst inst, U128 a, U128 b, U128 c);

/// The libcall `name` (CeilF32, ...) on its operands, in floats.cpp.
Evaluated evaluate_libcall(std::string_view name, const U128* args, std::size_t count);

inline U128 mask(unsigned bits) {
  return bits >= 128 ? ~U128{0} : (U128{1} << bits) - 1;
}
inline S128 sign_extended(U128 value, unsigned bits) {
  return static_cast<S128>(value << (128 - bits)) >> (128 - bits);
}

}  // namespace hoist::ir::interp
