// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// WebAssembly text to the binary format.
///
/// Knows the text format of WebAssembly 3.0 and of the proposals in opcodes.def. It assembles what
/// is well-formed; whether the module is valid, and whether this build can run it, is decided by
/// whoever reads the bytes. Time and memory are linear in the length of the text; nesting of any
/// depth uses no stack. Errors are Malformed, or Unsupported where the text uses a feature that the
/// assembler does not have; `Error::line` and `Error::column` say where.
/// Source: WebAssembly core specification 3.0, chapter 6.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "wasm/text/lexer.hpp"

namespace hoist::wasm {

struct TextOptions {
  /// Write identifiers into a name section.
  bool names = true;
  /// Check and assemble `(@custom …)`, `(@name …)` and branch hints; else all annotations are
  /// skipped.
  bool annotations = true;
  /// The text is the content of `(module quote …)`, where no other may stand.
  bool in_quote = false;
};

/// `text` is a module: `(module …)` or the fields of one; `(module binary "…")` and
/// `(module quote "…")` too.
Result<std::vector<std::uint8_t>> assemble_wat(std::string_view text,
                                               const TextOptions& options = {});

/// The fields in tokens [begin, end) of a stream: what follows `(module $id`. `id` is the module's
/// Id token or null.
Result<std::vector<std::uint8_t>> assemble_fields(const TokenStream& stream, std::uint32_t begin,
                                                  std::uint32_t end, const Token* id,
                                                  const TextOptions& options = {});

}  // namespace hoist::wasm
