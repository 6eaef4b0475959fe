// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Bytes to Module.

#include "base/result.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

/// Decodes everything but the function bodies. Checks what makes a module malformed (form, section
/// order and sizes, names, counts) and the limits of format/limits.hpp; `validate_module` checks
/// the rest. Memory use is in proportion to the input.
///
/// @error Malformed: not WebAssembly, with all features; Unsupported: needs a feature outside of
///        `features`, which the message names; Limit: beyond a limit. Each with its byte offset.
Result<Module> decode(ModuleBytes bytes, Features features = {});

/// True if the input is a WebAssembly module by its first four bytes.
bool has_magic(std::span<const std::uint8_t> bytes);

}  // namespace hoist::wasm
