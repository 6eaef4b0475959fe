// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Bytes to a valid IR program: every byte string gives one that verifies and whose loops end.
/// Covers the operations of all fixed types but those that depend on the place of the code,
/// branches, nested and irreducible loops, jump tables, stack memory, calls, tail calls, exceptions
/// and traps. NaN bits, which the IR leaves open, never reach an integer: a float is canonicalised
/// before its bits are looked at.

#include <vector>

#include "fuzz/gen/byte_source.hpp"
#include "ir/builder.hpp"
#include "ir/function.hpp"

namespace hoist::fuzz {

/// Beyond scalars up to 64 bits; the numbers are bits of a set.
enum Family : unsigned {
  kVectors = 1,
  kWideInts = 2,    ///< i128
  kAtomics = 4,     ///< and operations with carries
  kExceptions = 8,  ///< throws end at the function that runs
  kOddFloats = 16,  ///< f16 and f128, moved only
  kDynamic = 32,    ///< dynamic vectors
  kPinned = 64,     ///< the pinned register, for code that is compiled with one
  kAllFamilies = 127
};

/// Fills `functions`; each calls those before it, and the last is the one to run. Names are %f0,
/// %f1, …; parameters and results of the last are scalars of i8 to i64, f32, f64. The choices made
/// do not depend on `simplify`, the policy of the builder, so the same bytes give the same program
/// in both forms.
void generate_program(ByteSource& source, ir::SimplifyFn simplify,
                      std::vector<ir::Function>& functions, unsigned families = 0);

/// A value of `type` biased towards edges; in the low bits.
std::uint64_t interesting_value(ByteSource& source, ir::Type type);

}  // namespace hoist::fuzz
