// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Reading of modules for the subcommands that take one.

#include <string>

#include "base/result.hpp"
#include "wasm/format/module.hpp"

namespace hoistdev {

/// A module in binary or text form, decoded and validated but for the bodies.
hoist::Result<hoist::wasm::Module> read_module(const std::string& file);
/// Prints one line about an error to stderr; returns 1.
int report(const std::string& file, const hoist::Error& error);

}  // namespace hoistdev
