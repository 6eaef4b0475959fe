// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element and data segments. Source: WebAssembly core specification 3.0, sections 5.5.12, 5.5.14,
// 6.6.9 and 6.6.10.
#include "wasm/text/module_assembler.hpp"

namespace hoist::wasm {

namespace {

constexpr std::uint8_t kFuncRefByte = 0x70;

enum ElemFlag : unsigned {
  kPassive = 1,   ///< or declarative, with kExplicit
  kExplicit = 2,  ///< table index given; for a passive segment: declarative
  kExpressions = 4
};

}  // namespace

/// `(offset expr)` or one folded instruction, with its `end`.
bool ModuleAssembler::offset_expression(Bytes& out) {
  if (accept_list("offset")) {
    if (!instructions(out, ExprForm::Sequence) || !expect_close()) return false;
  } else if (at_kind(TokenKind::LParen)) {
    if (!instructions(out, ExprForm::OneFolded)) return false;
  } else {
    return fail_unexpected("an offset");
  }
  out.push_back(static_cast<std::uint8_t>(op_info(Op::End).code));
  return true;
}

bool ModuleAssembler::elem_field() {
  if (at_kind(TokenKind::Id)) next();
  const bool declarative = accept_keyword("declare");
  bool active = false;
  std::uint32_t table = 0;
  Bytes offset;
  if (!declarative) {
    if (accept_list("table")) {
      active = true;
      if (!index(tables_, table) || !expect_close()) return false;
    } else if (at_kind(TokenKind::Nat) && peek(1).kind == TokenKind::LParen) {
      active = true;  // as it was written before there were several tables
      if (!index(tables_, table)) return false;
    }
    active = active || (at_kind(TokenKind::LParen) && !at_list("ref"));
    if (active && !offset_expression(offset)) return false;
  }
  return elem_list(active, declarative, table, offset) && expect_close();
}

bool ModuleAssembler::elem_list(bool active, bool declarative, std::uint32_t table,
                                const Bytes& offset) {
  TextValType type{kFuncRefByte, {}};
  bool expressions = false;
  if (accept_keyword("func")) {
    // Indexes of functions.
  } else if (at_val_type()) {
    if (!ref_type(type)) return false;
    expressions = true;
  } else if (active && (at_index() || at_kind(TokenKind::RParen))) {
    // Indexes of functions without "func", as it was written first.
  } else {
    return fail_unexpected("func or a reference type");
  }
  Bytes items;
  std::uint32_t count = 0;
  if (expressions ? !elem_expressions(items, count) : !func_indexes(items, count)) return false;

  const bool implicit = active && table == 0 && (!expressions || type.lead == kFuncRefByte);
  unsigned flags = expressions ? kExpressions : 0u;
  if (!active) flags |= kPassive;
  if (declarative || (active && !implicit)) flags |= kExplicit;
  Bytes& out = elem_section_.bytes;
  ++elem_section_.count;
  out.push_back(static_cast<std::uint8_t>(flags));
  if (active) {
    if (!implicit) base::write_uleb(out, table);
    out.insert(out.end(), offset.begin(), offset.end());
  }
  if (!implicit) {
    if (expressions) {
      write_val_type(out, type);
    } else {
      out.push_back(0x00);
    }
  }
  base::write_uleb(out, count);
  out.insert(out.end(), items.begin(), items.end());
  return true;
}

/// `(item expr)` or one folded instruction each.
bool ModuleAssembler::elem_expressions(Bytes& out, std::uint32_t& count) {
  while (at_kind(TokenKind::LParen)) {
    if (accept_list("item")) {
      if (!instructions(out, ExprForm::Sequence) || !expect_close()) return false;
    } else if (!instructions(out, ExprForm::OneFolded)) {
      return false;
    }
    out.push_back(static_cast<std::uint8_t>(op_info(Op::End).code));
    ++count;
  }
  return true;
}

bool ModuleAssembler::func_indexes(Bytes& out, std::uint32_t& count) {
  while (at_index()) {
    std::uint32_t func = 0;
    if (!index(funcs_, func)) return false;
    base::write_uleb(out, func);
    ++count;
  }
  return true;
}

/// Function indexes, LEB128 one after the other, as `ref.func` expressions.
void ModuleAssembler::write_func_refs(Bytes& out, const Bytes& indexes) {
  for (std::size_t i = 0; i < indexes.size();) {
    out.push_back(static_cast<std::uint8_t>(op_info(Op::RefFunc).code));
    while ((indexes[i] & 0x80) != 0) out.push_back(indexes[i++]);
    out.push_back(indexes[i++]);
    out.push_back(static_cast<std::uint8_t>(op_info(Op::End).code));
  }
}

bool ModuleAssembler::data_field() {
  if (at_kind(TokenKind::Id)) next();
  bool active = false;
  std::uint32_t memory = 0;
  Bytes offset;
  if (accept_list("memory")) {
    active = true;
    if (!index(memories_, memory) || !expect_close()) return false;
  } else if (at_kind(TokenKind::Nat)) {
    active = true;  // as it was written before there were several memories
    if (!index(memories_, memory)) return false;
  }
  active = active || at_kind(TokenKind::LParen);
  if (active && !offset_expression(offset)) return false;
  std::string bytes;
  if (!data_strings(bytes)) return false;
  Bytes& out = data_section_.bytes;
  ++data_section_.count;
  out.push_back(!active ? 1 : memory == 0 ? 0 : 2);
  if (active && memory != 0) base::write_uleb(out, memory);
  out.insert(out.end(), offset.begin(), offset.end());
  write_name(out, bytes);
  return expect_close();
}

bool ModuleAssembler::data_strings(std::string& out) {
  while (at_kind(TokenKind::String)) decode_string(text_of(next()), out);
  return true;
}

}  // namespace hoist::wasm
