// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Runs one program in the interpreter and as native code; a difference is printed and ends the
/// process.

#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/gen/byte_source.hpp"
#include "ir/data_value.hpp"
#include "ir/function.hpp"
#include "ir/interp/interpreter.hpp"

namespace hoist::fuzz {

/// Sets of arguments for a signature, biased towards edges.
using ArgumentSets = std::vector<std::vector<ir::DataValue>>;
ArgumentSets argument_sets(const ir::Signature& signature, std::uint64_t seed, unsigned count);

/// What the interpreter says about the last function of `functions`, for each set of arguments.
std::vector<ir::Interpreter::Outcome> interpret(std::span<const ir::Function> functions,
                                                const ArgumentSets& sets);

/// Compiles `functions` and compares with `expected`, outcomes of `interpret`; runs out of fuel are
/// left out. Any NaN equals any other.
void compare_native(std::span<const ir::Function> functions, const ArgumentSets& sets,
                    std::span<const ir::Interpreter::Outcome> expected, unsigned opt_level,
                    bool baseline_cpu);

/// The same for another form of the program in the interpreter.
void compare_interpreted(std::span<const ir::Function> functions, const ArgumentSets& sets,
                         std::span<const ir::Interpreter::Outcome> expected);

}  // namespace hoist::fuzz
