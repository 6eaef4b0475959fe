// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Internal to validate/: `validate_module` in two parts, what precedes the code section and what
/// follows it.

#include "base/result.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

Result<void> validate_before_code(const Module& module);
Result<void> validate_data(const Module& module);

}  // namespace hoist::wasm
