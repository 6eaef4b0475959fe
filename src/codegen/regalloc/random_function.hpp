// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Random machine functions for tests: any control flow (also irreducible), every kind of
/// constraint. The same seed gives the same function.

#include <cstdint>

#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"

namespace hoist::codegen::testing {

struct RandomOptions {
  unsigned blocks = 10;          ///< before critical edges are split
  unsigned insts_per_block = 8;  ///< at most
  unsigned int_regs = 6;         ///< at least 4
  unsigned float_regs = 4;       ///< at least 3
  unsigned callee_saved = 2;     ///< of the integer registers, the last ones
  unsigned live_bias = 50;  ///< percent of uses that take any old value rather than a recent one
};

RegisterFile make_registers(const RandomOptions& options);
MachFunction random_function(std::uint64_t seed, const RandomOptions& options);

}  // namespace hoist::codegen::testing
