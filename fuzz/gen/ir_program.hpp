// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Bytes to a valid IR program: every byte string gives one that verifies and whose loops end.
/// Covers the scalar operations up to 64 bits, branches, nested and irreducible loops, jump tables,
/// stack memory, calls, tail calls and traps. NaN bits, which the IR leaves open, never reach an
/// integer: a float is canonicalised before its bits are looked at.

#include <vector>

#include "fuzz/gen/byte_source.hpp"
#include "ir/builder.hpp"
#include "ir/function.hpp"

namespace hoist::fuzz {

/// Fills `functions`; each calls those before it, and the last is the one to run. Names are %f0,
/// %f1, …; parameters and results are scalars of i8 to i64, f32, f64. The choices made do not
/// depend on `simplify`, the policy of the builder, so the same bytes give the same program in both
/// forms.
void generate_program(ByteSource& source, ir::SimplifyFn simplify,
                      std::vector<ir::Function>& functions);

/// A value of `type` biased towards edges; in the low bits.
std::uint64_t interesting_value(ByteSource& source, ir::Type type);

}  // namespace hoist::fuzz
