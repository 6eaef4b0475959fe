// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Values of test scripts as values of the engine, and the comparison of results with expectations.

#include <span>
#include <string>
#include <vector>

#include "hoist/result.hpp"
#include "hoist/value.hpp"
#include "wasm/text/wast_script.hpp"

namespace hoist::cli {

/// @error Unsupported: a kind of value that this build does not have.
Result<std::vector<Val>> script_arguments(std::span<const wasm::ScriptValue> values);

/// Empty if `found` is as expected, else what differs.
std::string compare_results(std::span<const wasm::ScriptValue> expected,
                            std::span<const Val> found);

}  // namespace hoist::cli
