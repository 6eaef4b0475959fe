// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of the text format: value and heap types, type definitions, signatures and type uses.
// Source: WebAssembly core specification 3.0, sections 5.3 and 6.4; custom descriptors proposal.
#include <fmt/core.h>

#include "wasm/format/type_bytes.hpp"
#include "wasm/format/types.hpp"
#include "wasm/text/module_assembler.hpp"

namespace hoist::wasm {

namespace {

struct NamedByte {
  std::string_view name;
  std::uint8_t byte;
};

/// Value types of one word.
constexpr NamedByte kValTypes[] = {
    {"i32", 0x7f},     {"i64", 0x7e},        {"f32", 0x7d},         {"f64", 0x7c},
    {"v128", 0x7b},    {"funcref", 0x70},    {"externref", 0x6f},   {"anyref", 0x6e},
    {"eqref", 0x6d},   {"i31ref", 0x6c},     {"structref", 0x6b},   {"arrayref", 0x6a},
    {"exnref", 0x69},  {"nullexnref", 0x74}, {"nullfuncref", 0x73}, {"nullexternref", 0x72},
    {"nullref", 0x71},
};

/// Abstract heap types.
constexpr NamedByte kHeapTypes[] = {
    {"func", 0x70},  {"extern", 0x6f}, {"any", 0x6e},   {"eq", 0x6d},
    {"i31", 0x6c},   {"struct", 0x6b}, {"array", 0x6a}, {"exn", 0x69},
    {"noexn", 0x74}, {"nofunc", 0x73}, {"none", 0x71},  {"noextern", 0x72},
};

template <std::size_t N>
const NamedByte* find_byte(const NamedByte (&table)[N], std::string_view name) {
  for (const NamedByte& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

// ---- Value types.

bool ModuleAssembler::at_val_type() const {
  if (at_kind(TokenKind::Keyword)) return find_byte(kValTypes, text_of(peek())) != nullptr;
  return at_list("ref");
}

bool ModuleAssembler::heap_type(TextHeapType& out) {
  out = {};
  if (at_index()) return index(types_, out.value);
  if (accept_list("exact")) {
    out.exact = true;
    return index(types_, out.value) && expect_close();
  }
  if (at_kind(TokenKind::Keyword)) {
    if (const NamedByte* row = find_byte(kHeapTypes, text_of(peek()))) {
      next();
      out.abstract = true;
      out.value = row->byte;
      return true;
    }
    for (const char* word : {"cont", "nocont"}) {
      if (at_keyword(word)) return fail_unsupported(peek(), "stack-switching");
    }
  }
  if (at_list("shared")) return fail_unsupported(peek(), "shared-everything-threads");
  return fail_unexpected("a heap type");
}

bool ModuleAssembler::val_type(TextValType& out) {
  if (at_kind(TokenKind::Keyword)) {
    if (const NamedByte* row = find_byte(kValTypes, text_of(peek()))) {
      next();
      out = {row->byte, {}};
      return true;
    }
  }
  if (!accept_list("ref")) {
    if (at_kind(TokenKind::Keyword)) return fail_no_type();
    return fail_unexpected("a value type");
  }
  const bool nullable = accept_keyword("null");
  TextHeapType heap;
  if (!heap_type(heap)) return false;
  out = make_ref(heap, nullable);
  return expect_close();
}

/// A word where a value type stands may be one of the language or not.
bool ModuleAssembler::fail_no_type() {
  const std::string shown = stream_.shown(peek());
  return fail(peek(), fmt::format("unexpected token, unknown operator {}, expected a value type",
                                  shown.substr(1, shown.size() - 2)));
}

bool ModuleAssembler::ref_type(TextValType& out) {
  const Token& at = peek();
  if (!val_type(out)) return false;
  if (out.lead < 0x7b) return true;
  return fail(at, fmt::format("unexpected token {}, expected a reference type", stream_.shown(at)));
}

// ---- Signatures.

bool ModuleAssembler::signature(Signature& out, ParamNames names) {
  out.clear();
  TextValType type;
  const auto note_given = [&] {
    const std::string* given = given_name();
    if (given == nullptr) return;
    out.given_names.emplace_back(static_cast<std::uint32_t>(out.params.size()), *given);
  };
  while (at_list("param")) {
    next();
    next();
    if (at_kind(TokenKind::Id)) {
      if (names == ParamNames::Forbidden) return fail_unexpected("a value type");
      const std::uint32_t symbol = symbol_of(next());
      note_given();
      if (!val_type(type) || !expect_close()) return false;
      out.params.push_back(type);
      out.param_symbols.push_back(symbol);
      continue;
    }
    note_given();
    while (!at_kind(TokenKind::RParen)) {
      if (!val_type(type)) return false;
      out.params.push_back(type);
      out.param_symbols.push_back(kNoSymbol);
    }
    next();
  }
  while (accept_list("result")) {
    while (!at_kind(TokenKind::RParen)) {
      if (!val_type(type)) return false;
      out.results.push_back(type);
    }
    next();
  }
  if (at_list("param")) return fail_unexpected("no parameter behind a result");
  return true;
}

bool ModuleAssembler::type_use(std::uint32_t& type, Signature& out, ParamNames names) {
  const Token& at = peek();
  bool given = false;
  if (accept_list("type")) {
    given = true;
    if (!index(types_, type) || !expect_close()) return false;
  }
  if (!signature(out, names)) return false;
  if (!given) {
    type = find_or_add_type(out);
    return true;
  }
  if (out.empty()) return true;
  // Types that are added later for inline signatures count too.
  if (type >= type_entries_.size()) return fail(at, fmt::format("unknown type {}", type));
  if (!same_signature(type, out)) {
    return fail(at, fmt::format("inline function type does not match type {}", type));
  }
  return true;
}

bool ModuleAssembler::same_signature(std::uint32_t type, const Signature& sig) const {
  const TypeEntry& entry = type_entries_[type];
  if (!entry.is_func || entry.num_params != sig.params.size() ||
      entry.num_results != sig.results.size()) {
    return false;
  }
  const TextValType* own = sig_pool_.data() + entry.first;
  return std::equal(sig.params.begin(), sig.params.end(), own) &&
         std::equal(sig.results.begin(), sig.results.end(), own + entry.num_params);
}

void ModuleAssembler::write_signature(Bytes& out, const Signature& sig) {
  base::write_uleb(out, sig.params.size());
  for (const TextValType& type : sig.params) write_val_type(out, type);
  base::write_uleb(out, sig.results.size());
  for (const TextValType& type : sig.results) write_val_type(out, type);
}

std::uint32_t ModuleAssembler::find_or_add_type(const Signature& sig) {
  scratch_.clear();
  write_signature(scratch_, sig);
  type_key_.assign(scratch_.begin(), scratch_.end());
  if (const auto found = plain_types_.find(type_key_); found != plain_types_.end()) {
    return found->second;
  }
  const auto index = static_cast<std::uint32_t>(type_entries_.size());
  type_entries_.emplace_back();
  note_func_type(index, sig, true);
  ++type_section_.count;
  type_section_.bytes.push_back(kFuncType);
  type_section_.bytes.insert(type_section_.bytes.end(), scratch_.begin(), scratch_.end());
  return index;
}

void ModuleAssembler::note_func_type(std::uint32_t index, const Signature& sig, bool plain) {
  TypeEntry& entry = type_entries_[index];
  entry.is_func = true;
  entry.first = static_cast<std::uint32_t>(sig_pool_.size());
  entry.num_params = static_cast<std::uint32_t>(sig.params.size());
  entry.num_results = static_cast<std::uint32_t>(sig.results.size());
  sig_pool_.insert(sig_pool_.end(), sig.params.begin(), sig.params.end());
  sig_pool_.insert(sig_pool_.end(), sig.results.begin(), sig.results.end());
  if (!plain) return;
  scratch_.clear();
  write_signature(scratch_, sig);
  plain_types_.try_emplace(std::string(scratch_.begin(), scratch_.end()), index);
}

// ---- Type definitions.

bool ModuleAssembler::type_definitions() {
  type_entries_.resize(types_.size());
  while (at_ < end_) {
    const std::uint32_t field = at_;
    if (at_list("type")) {
      ++type_section_.count;
      if (!type_definition(type_section_.bytes, true)) return false;
    } else if (at_list("rec")) {
      ++type_section_.count;
      if (!rec_group()) return false;
    }
    at_ = field;
    skip_list();
  }
  return true;
}

bool ModuleAssembler::rec_group() {
  next();
  next();
  Bytes group;
  std::uint32_t count = 0;
  // A group of one is written without the group; it is the same type.
  const std::uint32_t first = stream_.tokens[at_].match;
  const bool alone = at_list("type") && stream_.tokens[first].kind == TokenKind::RParen &&
                     stream_.tokens[first + 1].kind == TokenKind::RParen;
  while (at_list("type")) {
    ++count;
    if (!type_definition(group, alone)) return false;
  }
  if (!alone) {
    type_section_.bytes.push_back(kRec);
    base::write_uleb(type_section_.bytes, count);
  }
  type_section_.bytes.insert(type_section_.bytes.end(), group.begin(), group.end());
  return expect_close();
}

/// `alone`: not in a group with others.
bool ModuleAssembler::type_definition(Bytes& out, bool alone) {
  next();
  next();
  if (at_kind(TokenKind::Id)) next();
  const std::uint32_t index = next_type_++;
  if (!at_list("sub")) return described_type(out, index, alone) && expect_close();
  next();
  next();
  const bool final = accept_keyword("final");
  Bytes supers;
  std::uint32_t count = 0;
  while (at_index()) {
    std::uint32_t super = 0;
    if (!this->index(types_, super)) return false;
    base::write_uleb(supers, super);
    ++count;
  }
  const bool plain = final && count == 0;
  if (!plain) {
    out.push_back(final ? kSubFinal : kSub);
    base::write_uleb(out, count);
    out.insert(out.end(), supers.begin(), supers.end());
  }
  return described_type(out, index, alone && plain) && expect_close() && expect_close();
}

bool ModuleAssembler::described_type(Bytes& out, std::uint32_t index, bool plain) {
  // Each clause at most once and in this order; another order is no list the grammar has.
  std::uint32_t other = 0;
  if (accept_list("describes")) {
    if (!this->index(types_, other) || !expect_close()) return false;
    out.push_back(kDescribes);
    base::write_uleb(out, other);
    plain = false;
  }
  if (accept_list("descriptor")) {
    if (!this->index(types_, other) || !expect_close()) return false;
    out.push_back(kDescriptor);
    base::write_uleb(out, other);
    plain = false;
  }
  return composite_type(out, index, plain);
}

bool ModuleAssembler::composite_type(Bytes& out, std::uint32_t index, bool plain) {
  if (accept_list("func")) {
    if (!signature(sig_, ParamNames::Allowed) || !expect_close()) return false;
    note_func_type(index, sig_, plain);
    out.push_back(kFuncType);
    write_signature(out, sig_);
    return true;
  }
  if (accept_list("struct")) {
    out.push_back(kStruct);
    return struct_fields(out, index) && expect_close();
  }
  if (accept_list("array")) {
    out.push_back(kArray);
    return field_type(out) && expect_close();
  }
  if (at_list("cont")) return fail_unsupported(peek(), "stack-switching");
  if (at_list("shared")) return fail_unsupported(peek(), "shared-everything-threads");
  return fail_unexpected("a function, structure or array type");
}

bool ModuleAssembler::struct_fields(Bytes& out, std::uint32_t type) {
  Bytes fields;
  fields_.clear();
  const auto note_given = [&] {
    if (const std::string* given = given_name()) fields_.set_given_name(fields_.size(), *given);
  };
  while (accept_list("field")) {
    if (at_kind(TokenKind::Id)) {
      const Token& id = next();
      const std::uint32_t symbol = symbol_of(id);
      note_given();
      struct_fields_.try_emplace((std::uint64_t{type} << 32) | symbol, fields_.size());
      if (!fields_.add(symbol)) return fail(id, fmt::format("duplicate field {}", text_of(id)));
      if (!field_type(fields) || !expect_close()) return false;
      continue;
    }
    note_given();
    while (!at_kind(TokenKind::RParen)) {
      if (!field_type(fields)) return false;
      fields_.add_unnamed(1);
    }
    next();
  }
  if (options_.names) write_names_of(field_names_, type, fields_.names(symbols_));
  base::write_uleb(out, fields_.size());
  out.insert(out.end(), fields.begin(), fields.end());
  return true;
}

bool ModuleAssembler::field_type(Bytes& out) {
  const bool is_mutable = accept_list("mut");
  if (accept_keyword("i8")) {
    out.push_back(kI8);
  } else if (accept_keyword("i16")) {
    out.push_back(kI16);
  } else {
    TextValType type;
    if (!val_type(type)) return false;
    write_val_type(out, type);
  }
  out.push_back(is_mutable ? 1 : 0);
  return !is_mutable || expect_close();
}

}  // namespace hoist::wasm
