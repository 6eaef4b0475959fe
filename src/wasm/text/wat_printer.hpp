// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A module in the binary format as text that reads back to the same module (docs/text.md).
///
/// Reads the bytes themselves, with the tables of opcodes.def, not through decoder and validator:
/// it prints modules of every feature that the table knows, and invalid ones as long as their form
/// can be followed. Any bytes give text or an error. Time and memory are linear in the output;
/// nesting of any depth uses no stack.
/// Source: WebAssembly core specification 3.0, chapters 5 and 6.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"
#include "base/result.hpp"

namespace hoist::wasm {

struct PrintOptions {
  /// Identifiers from the name section; else indexes everywhere.
  bool names = true;
  /// A module of a few bytes can have gigabytes of text; what the text reader could not read back
  /// is not printed.
  std::uint64_t max_bytes = 0xffff'fff0;
};

/// Hands the text to `write` in pieces. What came before an error has been handed over by then.
///
/// @error Malformed: not a module, or not to be followed; Unsupported: uses what the text reader
///        does not have; Limit: more text than `max_bytes`. Each with its byte offset.
Result<void> print_wat(std::span<const std::uint8_t> module, const PrintOptions& options,
                       base::FunctionRef<void(std::string_view)> write);

/// The whole text at once.
Result<std::string> wat_text(std::span<const std::uint8_t> module,
                             const PrintOptions& options = {});

}  // namespace hoist::wasm
