// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports, functions, tables, memories, globals, tags, exports and the start function.
// Source: WebAssembly core specification 3.0, section 6.6.
#include <fmt/core.h>

#include <bit>

#include "wasm/text/module_assembler.hpp"
#include "wasm/text/numbers.hpp"

namespace hoist::wasm {

namespace {

/// Flags of limits.
constexpr std::uint8_t kHasMax = 1;
constexpr std::uint8_t kShared = 2;
constexpr std::uint8_t kIs64 = 4;
constexpr std::uint8_t kPageSize = 8;

constexpr std::uint8_t kExactFunc = 0x20;  ///< kind of an import of a function of exactly that type
constexpr std::uint8_t kFuncRefByte = 0x70;

}  // namespace

bool ModuleAssembler::fields() {
  while (at_ < end_) {
    if (!at_kind(TokenKind::LParen)) return fail_unexpected("a module field");
    if (!field()) return false;
  }
  if (at_ != end_) return fail_unexpected("the end of the module");
  return true;
}

bool ModuleAssembler::field() {
  const std::string_view word = text_of(peek(1));
  if (word == "type" || word == "rec") {
    skip_list();  // done in advance
    return true;
  }
  next();
  next();
  if (word == "func") return func_field();
  if (word == "import") return import_field();
  if (word == "export") return export_field();
  if (word == "global") return global_field();
  if (word == "table") return table_field();
  if (word == "memory") return memory_field();
  if (word == "elem") return elem_field();
  if (word == "data") return data_field();
  if (word == "start") return start_field();
  if (word == "tag") return tag_field();
  return fail_unexpected("a module field");
}

// ---- Imports and exports.

bool ModuleAssembler::import_field() {
  if (!name(import_module_) || !name(import_name_)) return false;
  if (!at_kind(TokenKind::LParen)) return fail_unexpected("an import description");
  const std::string_view word = text_of(peek(1));
  ExternKind kind;
  if (word == "func") {
    kind = ExternKind::Func;
    ++next_func_;
  } else if (word == "table") {
    kind = ExternKind::Table;
    ++next_table_;
  } else if (word == "memory") {
    kind = ExternKind::Memory;
    ++next_memory_;
  } else if (word == "global") {
    kind = ExternKind::Global;
    ++next_global_;
  } else if (word == "tag") {
    kind = ExternKind::Tag;
    ++next_tag_;
  } else {
    next();
    return fail_unexpected("func, table, memory, global or tag");
  }
  next();
  next();
  if (at_kind(TokenKind::Id)) next();
  return add_import(kind) && expect_close() && expect_close();
}

/// The type of the import whose names were read.
bool ModuleAssembler::add_import(ExternKind kind) {
  Bytes& out = import_section_.bytes;
  ++import_section_.count;
  write_name(out, import_module_);
  write_name(out, import_name_);
  switch (kind) {
    case ExternKind::Func: return func_import_type(out);
    case ExternKind::Table: out.push_back(1); return table_type(out);
    case ExternKind::Memory: out.push_back(2); return memory_type(out);
    case ExternKind::Global: out.push_back(3); return global_type(out);
    case ExternKind::Tag: {
      out.push_back(4);
      out.push_back(0);
      std::uint32_t type = 0;
      if (!type_use(type, sig_, ParamNames::Allowed)) return false;
      base::write_uleb(out, type);
      return true;
    }
  }
  return false;
}

bool ModuleAssembler::func_import_type(Bytes& out) {
  const bool exact = accept_list("exact");
  std::uint32_t type = 0;
  if (!type_use(type, sig_, ParamNames::Allowed)) return false;
  out.push_back(exact ? kExactFunc : 0);
  base::write_uleb(out, type);
  return !exact || expect_close();
}

bool ModuleAssembler::inline_exports(ExternKind kind, std::uint32_t index) {
  std::string exported;
  while (accept_list("export")) {
    if (!name(exported) || !expect_close()) return false;
    add_export(exported, kind, index);
  }
  return true;
}

void ModuleAssembler::add_export(std::string_view exported, ExternKind kind, std::uint32_t index) {
  ++export_section_.count;
  write_name(export_section_.bytes, exported);
  export_section_.bytes.push_back(static_cast<std::uint8_t>(kind));
  base::write_uleb(export_section_.bytes, index);
}

/// `(import "m" "n")` of a definition, with the type behind it and the ")" of the field.
bool ModuleAssembler::inline_import(ExternKind kind, bool& imported) {
  imported = accept_list("import");
  if (!imported) return true;
  return name(import_module_) && name(import_name_) && expect_close() && add_import(kind) &&
         expect_close();
}

bool ModuleAssembler::export_field() {
  std::string exported;
  if (!name(exported)) return false;
  if (!at_kind(TokenKind::LParen)) return fail_unexpected("an export description");
  next();
  const IndexSpace* space = nullptr;
  ExternKind kind = ExternKind::Func;
  if (at_keyword("func")) {
    space = &funcs_;
  } else if (at_keyword("table")) {
    space = &tables_;
    kind = ExternKind::Table;
  } else if (at_keyword("memory")) {
    space = &memories_;
    kind = ExternKind::Memory;
  } else if (at_keyword("global")) {
    space = &globals_;
    kind = ExternKind::Global;
  } else if (at_keyword("tag")) {
    space = &tags_;
    kind = ExternKind::Tag;
  } else {
    return fail_unexpected("func, table, memory, global or tag");
  }
  next();
  std::uint32_t item = 0;
  if (!index(*space, item)) return false;
  add_export(exported, kind, item);
  return expect_close() && expect_close();
}

bool ModuleAssembler::start_field() {
  if (has_start_) return fail(peek(), "multiple start sections");
  has_start_ = true;
  return index(funcs_, start_) && expect_close();
}

// ---- Functions.

bool ModuleAssembler::func_field() {
  if (at_kind(TokenKind::Id)) next();
  const std::uint32_t func = next_func_++;
  bool imported = false;
  if (!inline_exports(ExternKind::Func, func) || !inline_import(ExternKind::Func, imported)) {
    return false;
  }
  if (imported) return true;
  std::uint32_t type = 0;
  const Token& at = peek();
  if (!type_use(type, sig_, ParamNames::Allowed)) return false;
  ++func_section_.count;
  base::write_uleb(func_section_.bytes, type);

  locals_.clear();
  for (const std::uint32_t symbol : sig_.param_symbols) {
    if (!add_local(symbol, at)) return false;
  }
  for (auto& [param, given] : sig_.given_names) locals_.set_given_name(param, std::move(given));
  // A type that does not exist is for validation to reject.
  const std::uint32_t num_params = type < type_entries_.size() ? type_entries_[type].num_params : 0;
  if (locals_.size() < num_params) locals_.add_unnamed(num_params - locals_.size());
  return func_body(func);
}

bool ModuleAssembler::add_local(std::uint32_t symbol, const Token& at) {
  if (locals_.add(symbol)) return true;
  return fail(at, fmt::format("duplicate local ${}", symbols_.name(symbol)));
}

bool ModuleAssembler::func_body(std::uint32_t func) {
  body_.clear();
  function_hints_.clear();
  named_labels_.clear();
  num_labels_ = 0;
  if (!local_declarations()) return false;
  in_function_ = true;
  const bool ok = instructions(body_, ExprForm::Sequence);
  in_function_ = false;
  if (!ok || !expect_close()) return false;
  body_.push_back(static_cast<std::uint8_t>(op_info(Op::End).code));
  ++code_section_.count;
  base::write_uleb(code_section_.bytes, body_.size());
  code_section_.bytes.insert(code_section_.bytes.end(), body_.begin(), body_.end());
  note_local_names(func);
  note_label_names(func);
  note_hints(func);
  return true;
}

bool ModuleAssembler::local_declarations() {
  local_types_.clear();
  TextValType type;
  const auto note_given = [this] {
    if (const std::string* given = given_name()) locals_.set_given_name(locals_.size(), *given);
  };
  while (at_list("local")) {
    const Token& at = peek();
    next();
    next();
    if (at_kind(TokenKind::Id)) {
      const std::uint32_t symbol = symbol_of(next());
      note_given();
      if (!val_type(type) || !expect_close() || !add_local(symbol, at)) return false;
      local_types_.push_back(type);
      continue;
    }
    note_given();
    while (!at_kind(TokenKind::RParen)) {
      if (!val_type(type)) return false;
      local_types_.push_back(type);
      locals_.add(kNoSymbol);
    }
    next();
  }
  // Runs of one type are one entry.
  std::uint32_t runs = 0;
  for (std::size_t i = 0; i < local_types_.size(); ++i) {
    if (i == 0 || !(local_types_[i] == local_types_[i - 1])) ++runs;
  }
  base::write_uleb(body_, runs);
  for (std::size_t i = 0; i < local_types_.size();) {
    std::size_t end = i + 1;
    while (end < local_types_.size() && local_types_[end] == local_types_[i]) ++end;
    base::write_uleb(body_, end - i);
    write_val_type(body_, local_types_[i]);
    i = end;
  }
  return true;
}

void ModuleAssembler::note_local_names(std::uint32_t func) {
  if (options_.names) write_names_of(local_names_, func, locals_.names(symbols_));
}

void ModuleAssembler::note_label_names(std::uint32_t func) {
  if (options_.names) write_names_of(label_names_, func, named_labels_);
}

void ModuleAssembler::note_hints(std::uint32_t func) {
  if (function_hints_.empty()) return;
  ++hint_section_.count;
  base::write_uleb(hint_section_.bytes, func);
  base::write_uleb(hint_section_.bytes, function_hints_.size());
  for (const Hint& hint : function_hints_) {
    base::write_uleb(hint_section_.bytes, hint.offset);
    hint_section_.bytes.push_back(1);
    hint_section_.bytes.push_back(hint.value);
  }
}

// ---- Tables.

bool ModuleAssembler::at_address_type(bool& is64) {
  is64 = accept_keyword("i64");
  return is64 || accept_keyword("i32");
}

bool ModuleAssembler::limits(std::uint64_t& min, std::uint64_t& max, bool& has_max) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  if (!nat(kAll, "size", min)) return false;
  has_max = at_kind(TokenKind::Nat);
  return !has_max || nat(kAll, "maximum size", max);
}

bool ModuleAssembler::table_type(Bytes& out) {
  bool is64 = false;
  at_address_type(is64);
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool has_max = false;
  if (!limits(min, max, has_max)) return false;
  if (at_keyword("shared")) return fail_unsupported(peek(), "shared-everything-threads");
  TextValType element;
  if (!ref_type(element)) return false;
  write_val_type(out, element);
  write_limits(out, min, max, has_max, is64 ? kIs64 : std::uint8_t{0});
  return true;
}

void ModuleAssembler::write_limits(Bytes& out, std::uint64_t min, std::uint64_t max, bool has_max,
                                   std::uint8_t flags) {
  out.push_back(has_max ? static_cast<std::uint8_t>(flags | kHasMax) : flags);
  base::write_uleb(out, min);
  if (has_max) base::write_uleb(out, max);
}

bool ModuleAssembler::table_field() {
  if (at_kind(TokenKind::Id)) next();
  const std::uint32_t table = next_table_++;
  bool imported = false;
  if (!inline_exports(ExternKind::Table, table) || !inline_import(ExternKind::Table, imported)) {
    return false;
  }
  if (imported) return true;
  const std::uint32_t type_at = at_;
  bool is64 = false;
  at_address_type(is64);
  if (at_val_type()) return inline_table(is64, table);
  at_ = type_at;
  Bytes type;
  if (!table_type(type)) return false;
  Bytes& out = table_section_.bytes;
  ++table_section_.count;
  if (at_kind(TokenKind::RParen)) {
    out.insert(out.end(), type.begin(), type.end());
    return expect_close();
  }
  out.push_back(0x40);
  out.push_back(0x00);
  out.insert(out.end(), type.begin(), type.end());
  if (!instructions(out, ExprForm::Sequence)) return false;
  out.push_back(static_cast<std::uint8_t>(op_info(Op::End).code));
  return expect_close();
}

/// `reftype (elem …)`: as many elements as are given, and a segment that sets them.
bool ModuleAssembler::inline_table(bool is64, std::uint32_t table) {
  TextValType element;
  if (!ref_type(element)) return false;
  if (!accept_list("elem")) return fail_unexpected("(elem");
  Bytes items;
  std::uint32_t count = 0;
  const bool expressions = at_kind(TokenKind::LParen);
  if (expressions ? !elem_expressions(items, count) : !func_indexes(items, count)) return false;
  if (!expect_close() || !expect_close()) return false;

  ++table_section_.count;
  write_val_type(table_section_.bytes, element);
  write_limits(table_section_.bytes, count, count, true, is64 ? kIs64 : std::uint8_t{0});

  Bytes& out = elem_section_.bytes;
  ++elem_section_.count;
  // Indexes of functions are the short form only of a table of function references.
  const bool short_form = !expressions && element.lead == kFuncRefByte;
  const bool implicit = table == 0 && (short_form || element.lead == kFuncRefByte);
  const unsigned flags = (implicit ? 0u : 2u) | (short_form ? 0u : 4u);
  out.push_back(static_cast<std::uint8_t>(flags));
  if (!implicit) base::write_uleb(out, table);
  write_zero_offset(out, is64);
  if (!implicit) {
    if (short_form) {
      out.push_back(0x00);
    } else {
      write_val_type(out, element);
    }
  }
  base::write_uleb(out, count);
  if (expressions || short_form) {
    out.insert(out.end(), items.begin(), items.end());
    return true;
  }
  write_func_refs(out, items);
  return true;
}

void ModuleAssembler::write_zero_offset(Bytes& out, bool is64) {
  out.push_back(static_cast<std::uint8_t>(op_info(is64 ? Op::I64Const : Op::I32Const).code));
  out.push_back(0x00);
  out.push_back(static_cast<std::uint8_t>(op_info(Op::End).code));
}

// ---- Memories.

bool ModuleAssembler::page_size(std::uint32_t& log2, bool& given) {
  given = accept_list("pagesize");
  if (!given) return true;
  const Token& at = peek();
  std::uint64_t size = 0;
  if (!nat(~std::uint64_t{0}, "page size", size)) return false;
  if (!std::has_single_bit(size)) {
    return fail(at, fmt::format("invalid custom page size {}, must be a power of two", size));
  }
  log2 = static_cast<std::uint32_t>(std::countr_zero(size));
  return expect_close();
}

bool ModuleAssembler::memory_type(Bytes& out) {
  bool is64 = false;
  at_address_type(is64);
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool has_max = false;
  if (!limits(min, max, has_max)) return false;
  std::uint32_t flags = is64 ? kIs64 : 0;
  if (accept_keyword("shared")) flags |= kShared;
  std::uint32_t page_log2 = 0;
  bool has_page_size = false;
  if (!page_size(page_log2, has_page_size)) return false;
  if (has_page_size) flags |= kPageSize;
  write_limits(out, min, max, has_max, static_cast<std::uint8_t>(flags));
  if (has_page_size) base::write_uleb(out, page_log2);
  return true;
}

bool ModuleAssembler::memory_field() {
  if (at_kind(TokenKind::Id)) next();
  const std::uint32_t memory = next_memory_++;
  bool imported = false;
  if (!inline_exports(ExternKind::Memory, memory) || !inline_import(ExternKind::Memory, imported)) {
    return false;
  }
  if (imported) return true;
  const std::uint32_t type_at = at_;
  bool is64 = false;
  at_address_type(is64);
  if (at_list("data") || at_list("pagesize")) return inline_memory(is64, memory);
  at_ = type_at;
  ++memory_section_.count;
  return memory_type(memory_section_.bytes) && expect_close();
}

/// `(data …)`: as many pages as hold the bytes, and a segment that sets them.
bool ModuleAssembler::inline_memory(bool is64, std::uint32_t memory) {
  std::uint32_t page_log2 = 16;
  bool has_page_size = false;
  if (!page_size(page_log2, has_page_size)) return false;
  if (!accept_list("data")) return fail_unexpected("(data");
  std::string bytes;
  if (!data_strings(bytes) || !expect_close() || !expect_close()) return false;

  const std::uint64_t mask = page_log2 < 64 ? (std::uint64_t{1} << page_log2) - 1 : 0;
  const std::uint64_t pages =
      (std::uint64_t{bytes.size()} >> page_log2) + ((bytes.size() & mask) != 0 ? 1 : 0);
  std::uint32_t flags = is64 ? kIs64 : 0;
  if (has_page_size) flags |= kPageSize;
  ++memory_section_.count;
  write_limits(memory_section_.bytes, pages, pages, true, static_cast<std::uint8_t>(flags));
  if (has_page_size) base::write_uleb(memory_section_.bytes, page_log2);

  Bytes& out = data_section_.bytes;
  ++data_section_.count;
  out.push_back(memory == 0 ? 0 : 2);
  if (memory != 0) base::write_uleb(out, memory);
  write_zero_offset(out, is64);
  write_name(out, bytes);
  return true;
}

// ---- Globals and tags.

bool ModuleAssembler::global_type(Bytes& out) {
  if (at_list("shared")) return fail_unsupported(peek(), "shared-everything-threads");
  const bool is_mutable = accept_list("mut");
  TextValType type;
  if (!val_type(type)) return false;
  write_val_type(out, type);
  out.push_back(is_mutable ? 1 : 0);
  return !is_mutable || expect_close();
}

bool ModuleAssembler::global_field() {
  if (at_kind(TokenKind::Id)) next();
  const std::uint32_t global = next_global_++;
  bool imported = false;
  if (!inline_exports(ExternKind::Global, global) || !inline_import(ExternKind::Global, imported)) {
    return false;
  }
  if (imported) return true;
  Bytes& out = global_section_.bytes;
  ++global_section_.count;
  if (!global_type(out) || !instructions(out, ExprForm::Sequence)) return false;
  out.push_back(static_cast<std::uint8_t>(op_info(Op::End).code));
  return expect_close();
}

bool ModuleAssembler::tag_field() {
  if (at_kind(TokenKind::Id)) next();
  const std::uint32_t tag = next_tag_++;
  bool imported = false;
  if (!inline_exports(ExternKind::Tag, tag) || !inline_import(ExternKind::Tag, imported)) {
    return false;
  }
  if (imported) return true;
  std::uint32_t type = 0;
  if (!type_use(type, sig_, ParamNames::Allowed)) return false;
  ++tag_section_.count;
  tag_section_.bytes.push_back(0);
  base::write_uleb(tag_section_.bytes, type);
  return expect_close();
}

}  // namespace hoist::wasm
