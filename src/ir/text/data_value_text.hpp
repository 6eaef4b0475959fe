// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Literals of typed values, as run directives and the command line write them.

#include <optional>
#include <string_view>

#include "base/text/printer.hpp"
#include "ir/data_value.hpp"

namespace hoist::ir {

/// A vector "[1 2 3 4]" or hexadecimal; an integer (decimal or hexadecimal, signed or unsigned,
/// fitting the type) or a CLIF float literal. Nothing for other types and for what does not fit.
std::optional<DataValue> parse_data_value(std::string_view text, Type type);
base::Printer& operator<<(base::Printer& out, const DataValue& value);

}  // namespace hoist::ir
