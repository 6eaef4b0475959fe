// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Do two forms of a program behave the same? Both are interpreted on a few sets of arguments, with
/// a piece of memory that pointers among the arguments point to.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/data_value.hpp"
#include "ir/function.hpp"
#include "ir/interp/interpreter.hpp"

namespace hoistdev {

/// Arguments for a signature, or nothing where the interpreter has no values of the types. Odd
/// `set` numbers have small integers where even ones have addresses.
std::optional<std::vector<hoist::ir::DataValue>> arguments_for(
    const hoist::ir::Signature& signature, unsigned set);
inline constexpr unsigned kArgumentSets = 6;

struct Interpreted {
  hoist::ir::Interpreter::Outcome outcome;
  std::vector<std::uint8_t> memory;
};
/// What function `index` does, or nothing if that cannot be interpreted to the end. `functions`
/// verify.
std::optional<Interpreted> interpret(std::span<const hoist::ir::Function* const> functions,
                                     std::size_t index, std::span<const hoist::ir::DataValue> args);

/// Where function `index` of the two forms differs, or nothing; `compared` counts the runs.
std::optional<std::string> results_differ(std::span<const hoist::ir::Function* const> before,
                                          std::span<const hoist::ir::Function* const> after,
                                          std::size_t index, unsigned& compared);

}  // namespace hoistdev
