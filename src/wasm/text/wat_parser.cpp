// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/wat_parser.hpp"

#include "wasm/text/module_assembler.hpp"

namespace hoist::wasm {

namespace {

/// `( module $id? binary|quote "…"* )` around fields, or just the fields.
class ModuleReader : TokenCursor {
 public:
  ModuleReader(const TokenStream& stream, const TextOptions& options)
      : TokenCursor(stream, 0, static_cast<std::uint32_t>(stream.tokens.size()) - 1),
        options_(options) {}

  Result<Bytes> read() {
    if (at_list("component")) {
      fail_unsupported(peek(1), "component-model");
      return take_error();
    }
    if (!accept_list("module")) return assemble_fields(stream_, 0, end_, nullptr, options_);
    const std::uint32_t close = stream_.tokens[0].match;
    if (close != end_ && close + 1 != end_) {
      return stream_.unexpected(stream_.tokens[close + 1], "the end of the text");
    }
    const Token* id = at_kind(TokenKind::Id) ? &next() : nullptr;
    if (!at_keyword("binary") && !at_keyword("quote")) {
      if (close == end_) {
        // The fields are looked at first: they may say better what is missing.
        HOIST_TRY_VOID(assemble_fields(stream_, at_, end_, id, options_));
        return stream_.unexpected(stream_.tokens[end_], ")");
      }
      return assemble_fields(stream_, at_, close, id, options_);
    }
    return strings(text_of(next()) == "quote");
  }

 private:
  Result<Bytes> strings(bool quote) {
    std::string content;
    while (at_kind(TokenKind::String)) decode_string(text_of(next()), content);
    if (!expect_close()) return take_error();
    if (!quote) return Bytes(content.begin(), content.end());
    if (options_.in_quote) {
      return stream_.error_at(stream_.tokens[0], "quoted module inside of a quoted module");
    }
    TextOptions inner = options_;
    inner.in_quote = true;
    return assemble_wat(content, inner);
  }

  const TextOptions& options_;
};

}  // namespace

Result<Bytes> assemble_fields(const TokenStream& stream, std::uint32_t begin, std::uint32_t end,
                              const Token* id, const TextOptions& options) {
  return ModuleAssembler(stream, begin, end, id, options).run();
}

Result<Bytes> assemble_wat(std::string_view text, const TextOptions& options) {
  const TokenStream stream = lex(text);
  return ModuleReader(stream, options).read();
}

}  // namespace hoist::wasm
