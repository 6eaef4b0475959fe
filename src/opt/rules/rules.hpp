// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The rewrite rules, by family; README.md has the rule for rules.

#include <optional>

#include "ir/builder.hpp"
#include "opt/rules/rewriter.hpp"

namespace hoist::opt {

/// Simplifies the instruction about to be made or found in the walk. Returns the value that it
/// equals, or none; may then have changed `data` in place. Scalars up to 64 bits, and a little
/// for vectors; others are left alone.
Value simplify(Rewriter& rewriter, InstData& data, Type type);

/// The same as the policy of a FunctionBuilder.
Value simplify_while_building(ir::FunctionBuilder& builder, InstData& data, Type type);

/// A condition that is non-zero exactly when `c` is, or, if `inverted` comes back true, exactly
/// when it is not. Makes no instructions.
Value strip_condition(const Rewriter& rewriter, Value c, bool& inverted);

/// Bits of the scalar `v` that may be one.
std::uint64_t possible_ones(const Rewriter& rewriter, Value v);
/// Is `v` known to be 0 or 1?
bool is_boolean(const Rewriter& rewriter, Value v);

// ---- Families. `type` is the result's.
Value simplify_integer(Rewriter& rw, InstData& data, Type type);  // add, sub, mul, div, rem …
Value simplify_bits(Rewriter& rw, InstData& data, Type type);     // and, or, xor, not
Value simplify_shift(Rewriter& rw, InstData& data, Type type);    // shifts and rotations
Value simplify_compare(Rewriter& rw, InstData& data, Type type);  // icmp
Value simplify_extend(Rewriter& rw, InstData& data, Type type);   // extensions, reductions, bitcast
Value simplify_select(Rewriter& rw, InstData& data, Type type);   // select, bitselect
Value simplify_float(Rewriter& rw, InstData& data, Type type);    // exact float identities
Value simplify_vector(Rewriter& rw, InstData& data, Type type);   // vectors, of any operation

/// The value of an instruction whose operands are all constants, as an instruction (`iconst`,
/// `f32const`, `f64const`); nothing if it would trap, or be a NaN.
std::optional<InstData> fold_constants(const Rewriter& rw, const InstData& data, Type type);

}  // namespace hoist::opt
