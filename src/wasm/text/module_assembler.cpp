// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/module_assembler.hpp"

#include <fmt/core.h>

#include "wasm/text/numbers.hpp"

namespace hoist::wasm {

ModuleAssembler::ModuleAssembler(const TokenStream& stream, std::uint32_t begin, std::uint32_t end,
                                 const Token* id, const TextOptions& options)
    : TokenCursor(stream, begin, end), options_(options), at_first_(begin) {
  if (id != nullptr) module_name_ = identifier_name(text_of(*id));
}

Result<Bytes> ModuleAssembler::run() {
  const std::uint32_t begin = at_;
  if (!collect_names()) return take_error();
  if (options_.annotations && !check_annotations()) return take_error();
  at_ = begin;
  if (!type_definitions()) return take_error();
  at_ = begin;
  if (!fields() || !check_hints_left()) return take_error();
  return module_bytes();
}

// ---- First walk.

bool ModuleAssembler::collect_names() {
  while (at_ < end_) {
    boundaries_.push_back(at_);
    if (!at_kind(TokenKind::LParen)) return fail_unexpected("a module field");
    const std::uint32_t field = at_;
    if (!collect_field()) return false;
    at_ = field;
    skip_list();
  }
  boundaries_.push_back(end_);
  return true;
}

bool ModuleAssembler::collect_field() {
  const std::uint32_t field = at_;
  next();
  if (!at_kind(TokenKind::Keyword)) return fail_unexpected("a module field");
  const std::string_view word = text_of(next());
  if (word == "type") return add_here(types_);
  if (word == "rec") return collect_types_of(stream_.tokens[field].match);
  if (word == "import") return collect_import();
  if (word == "elem") return add_here(elems_);
  if (word == "data") return add_here(datas_);
  const bool imported = has_inline_import(field);
  if (word == "func") return collect_definition(funcs_, imported);
  if (word == "global") return collect_definition(globals_, imported);
  if (word == "tag") return collect_definition(tags_, imported);
  if (word == "table") {
    if (!imported && has_child_list(field, "elem")) elems_.add(kNoSymbol);
    return collect_definition(tables_, imported);
  }
  if (word == "memory") {
    if (!imported && has_child_list(field, "data")) datas_.add(kNoSymbol);
    return collect_definition(memories_, imported);
  }
  if (word == "export" || word == "start") return true;
  at_ = field + 1;
  return fail_unexpected("a module field");
}

bool ModuleAssembler::collect_types_of(std::uint32_t end) {
  while (at_ < end) {
    if (!at_list("type")) return fail_unexpected("a type definition");
    const std::uint32_t list = at_;
    next();
    next();
    if (!add_here(types_)) return false;
    at_ = list;
    skip_list();
  }
  return true;
}

bool ModuleAssembler::collect_import() {
  const Token& at = peek();
  // What is not an import will be reported by the second walk.
  if (!at_kind(TokenKind::String) || peek(1).kind != TokenKind::String) return true;
  if (first_definition_ != nullptr) {
    return fail(at, fmt::format("import after {}", first_definition_));
  }
  at_ += 2;
  if (!at_kind(TokenKind::LParen)) return true;
  const Token& kind = peek(1);
  at_ += 2;
  if (is_keyword(kind, "func")) return add_here(funcs_);
  if (is_keyword(kind, "table")) return add_here(tables_);
  if (is_keyword(kind, "memory")) return add_here(memories_);
  if (is_keyword(kind, "global")) return add_here(globals_);
  if (is_keyword(kind, "tag")) return add_here(tags_);
  return true;
}

bool ModuleAssembler::collect_definition(IndexSpace& space, bool imported) {
  if (!imported) {
    if (first_definition_ == nullptr) first_definition_ = space.word();
  } else if (first_definition_ != nullptr) {
    return fail(peek(), fmt::format("import after {}", first_definition_));
  }
  return add_here(space);
}

bool ModuleAssembler::add_here(IndexSpace& space) {
  const Token& id = peek();
  const bool named = id.kind == TokenKind::Id;
  if (!stream_.annotations.empty()) name_slots_[at_ + (named ? 1 : 0)] = {&space, space.size()};
  if (space.add(named ? symbol_of(id) : kNoSymbol)) return true;
  return fail(id, fmt::format("duplicate {} {}", space.short_word(), text_of(id)));
}

bool ModuleAssembler::has_inline_import(std::uint32_t field) const {
  const std::vector<Token>& tokens = stream_.tokens;
  std::uint32_t i = field + 2;
  if (tokens[i].kind == TokenKind::Id) ++i;
  while (tokens[i].kind == TokenKind::LParen && is_keyword(tokens[i + 1], "export")) {
    i = tokens[i].match;
    if (tokens[i].kind == TokenKind::End) return false;
    ++i;
  }
  return tokens[i].kind == TokenKind::LParen && is_keyword(tokens[i + 1], "import");
}

bool ModuleAssembler::has_child_list(std::uint32_t field, std::string_view word) const {
  const std::vector<Token>& tokens = stream_.tokens;
  for (std::uint32_t i = field + 1; i < tokens[field].match; ++i) {
    if (tokens[i].kind != TokenKind::LParen) continue;
    if (is_keyword(tokens[i + 1], word)) return true;
    i = tokens[i].match;
  }
  return false;
}

// ---- Names, indexes, numbers.

std::uint32_t ModuleAssembler::symbol_of(const Token& id) {
  if (id.escaped) return symbols_.intern_copy(identifier_name(text_of(id)));
  return symbols_.intern(text_of(id).substr(1));
}

std::uint32_t ModuleAssembler::optional_symbol() {
  return at_kind(TokenKind::Id) ? symbol_of(next()) : kNoSymbol;
}

bool ModuleAssembler::index(const IndexSpace& space, std::uint32_t& out) {
  if (at_kind(TokenKind::Nat)) return u32(out);
  if (!at_kind(TokenKind::Id)) return fail_unexpected(fmt::format("a {} index", space.word()));
  const Token& id = next();
  out = space.find(symbol_of(id));
  if (out != kNotFound) return true;
  return fail(id, fmt::format("unknown {} {}", space.word(), text_of(id)));
}

bool ModuleAssembler::nat(std::uint64_t limit, const char* what, std::uint64_t& out) {
  if (!at_kind(TokenKind::Nat)) return fail_unexpected(what);
  const Number<std::uint64_t> number = parse_nat(text_of(peek()));
  if (number.status != NumberStatus::Ok || number.bits > limit) {
    const int bits = limit <= 0xff ? 8 : limit <= 0xffff'ffff ? 32 : 64;
    return fail(peek(), fmt::format("i{} constant out of range: {} {}, the largest is {}", bits,
                                    what, stream_.shown(peek()), limit));
  }
  out = number.bits;
  next();
  return true;
}

bool ModuleAssembler::u32(std::uint32_t& out) {
  std::uint64_t value = 0;
  if (!nat(0xffff'ffff, "index", value)) return false;
  out = static_cast<std::uint32_t>(value);
  return true;
}

bool ModuleAssembler::name(std::string& out) {
  if (!at_kind(TokenKind::String)) return fail_unexpected("a name in quotes");
  const Token& token = next();
  out.clear();
  decode_string(text_of(token), out);
  if (!is_valid_utf8(out)) return fail(token, "malformed UTF-8 encoding");
  return true;
}

}  // namespace hoist::wasm
