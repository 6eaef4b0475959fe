// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WebAssembly values on the command line: arguments of `hoist run --invoke` and what it prints.

#include <string>

#include "hoist/result.hpp"
#include "hoist/value.hpp"

namespace hoist::cli {

/// @error BadArgument: no value of that type, or one that cannot be written.
Result<Val> parse_value(const std::string& text, ValType type);
/// The value alone, without its type; references as messages show them.
std::string print_value(const Val& value);

}  // namespace hoist::cli
