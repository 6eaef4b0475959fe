// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Run directives: `run: %f(1, 0x1.0) == 42`, `run: %f() != [1, 2]`, `run: %f(1, 0) traps
/// int_divz`, `run` (the function above it takes nothing and gives something other than 0) and
/// `print: %f(1)`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/data_value.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/signature.hpp"

namespace hoistdev {

struct RunDirective {
  enum class Compare : unsigned char { None, Equal, NotEqual, NonZero, Traps };
  std::string function;  // without '%'; empty: the function that the comment belongs to
  std::vector<std::string> args;
  Compare compare = Compare::None;
  std::vector<std::string> expected;  // of Traps: the code
  std::string text;
  std::uint32_t line = 0;
};

/// Nothing for a comment that is no run directive.
std::optional<hoist::Result<RunDirective>> parse_run_directive(std::string_view comment,
                                                               std::uint32_t line);

/// Values for the parameters of a signature. Unsupported for types that are not scalar.
hoist::Result<std::vector<hoist::ir::DataValue>> parse_values(
    const std::vector<std::string>& texts, const std::vector<hoist::ir::AbiParam>& params);

/// Does the outcome satisfy the directive? The message says what was found, or nothing.
std::optional<std::string> check_outcome(const RunDirective& directive,
                                         const std::vector<hoist::ir::DataValue>& expected,
                                         const hoist::ir::Interpreter::Outcome& found);
/// The same end, and the same values; NaNs are equal whatever their bits.
bool same_outcome(const hoist::ir::Interpreter::Outcome& a,
                  const hoist::ir::Interpreter::Outcome& b);
std::string outcome_text(const hoist::ir::Interpreter::Outcome& outcome);

}  // namespace hoistdev
