// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instruction sequences, flat and folded, in one loop with an explicit stack of what is open.
//
// A folded plain instruction's bytes wait in `pending_` until its ")" so that its operands come
// first. Labels are kept apart from the stack of frames: their names resolve in constant time
// through `label_of_symbol_`, each label remembering the one that it shadows.
// Source: WebAssembly core specification 3.0, section 6.5.
#include <fmt/core.h>

#include "wasm/text/instruction_names.hpp"
#include "wasm/text/module_assembler.hpp"

namespace hoist::wasm {

namespace {

std::uint8_t code_of(Op op) {
  return static_cast<std::uint8_t>(op_info(op).code);
}

bool is_structure(Op op) {
  return op == Op::Block || op == Op::Loop || op == Op::If || op == Op::Try || op == Op::TryTable;
}

/// Words that stand for a part of a structured instruction, never for an instruction of its own.
bool is_part(Op op) {
  return op == Op::Else || op == Op::End || op == Op::Catch || op == Op::CatchAll ||
         op == Op::Delegate;
}

constexpr std::string_view kStackSwitching[] = {
    "cont.new", "cont.bind", "suspend", "resume", "resume_throw", "resume_throw_ref", "switch"};

}  // namespace

// ---- Labels.

void ModuleAssembler::open_label(std::uint32_t symbol) {
  if (in_function_) {
    if (symbol != kNoSymbol) named_labels_.push_back({num_labels_, symbols_.name(symbol)});
    ++num_labels_;
  }
  push_label(symbol);
}

void ModuleAssembler::push_label(std::uint32_t symbol) {
  Label label{symbol, kNotFound};
  if (symbol != kNoSymbol) {
    if (symbol >= label_of_symbol_.size()) {
      label_of_symbol_.resize(std::size_t{symbol} + 1, kNotFound);
    }
    label.shadowed = label_of_symbol_[symbol];
    label_of_symbol_[symbol] = static_cast<std::uint32_t>(labels_.size());
  }
  labels_.push_back(label);
}

void ModuleAssembler::pop_label() {
  const Label label = labels_.back();
  labels_.pop_back();
  if (label.symbol != kNoSymbol) label_of_symbol_[label.symbol] = label.shadowed;
}

bool ModuleAssembler::label_index(std::uint32_t& depth) {
  if (at_kind(TokenKind::Nat)) return u32(depth);
  if (!at_kind(TokenKind::Id)) return fail_unexpected("a label");
  const Token& id = next();
  const std::uint32_t symbol = symbol_of(id);
  const std::uint32_t position =
      symbol < label_of_symbol_.size() ? label_of_symbol_[symbol] : kNotFound;
  if (position == kNotFound) return fail(id, fmt::format("unknown label {}", text_of(id)));
  depth = static_cast<std::uint32_t>(labels_.size()) - 1 - position;
  return true;
}

// ---- The loop.

bool ModuleAssembler::instructions(Bytes& out, ExprForm form) {
  frames_.clear();
  pending_.clear();
  while (!labels_.empty()) pop_label();
  for (;;) {
    switch (peek().kind) {
      case TokenKind::LParen:
        if (!open_list(out)) return false;
        break;
      case TokenKind::RParen:
        if (frames_.empty()) return true;
        if (!close_list(out)) return false;
        if (frames_.empty() && form == ExprForm::OneFolded) return true;
        break;
      case TokenKind::Keyword:
        if (form == ExprForm::OneFolded && frames_.empty()) return fail_unexpected("(");
        if (!flat_instruction(out)) return false;
        break;
      case TokenKind::Nat:
      case TokenKind::Int:
      case TokenKind::Float:
      case TokenKind::String:
      case TokenKind::Id:
      case TokenKind::Reserved:
      case TokenKind::Error:
      case TokenKind::End:
        return fail_unexpected(frames_.empty() ? "an instruction or )" : wanted());
    }
  }
}

const char* ModuleAssembler::wanted() const {
  switch (frames_.back().kind) {
    case FrameKind::Block:
    case FrameKind::Else:
    case FrameKind::Try:
    case FrameKind::Catch:
    case FrameKind::CatchAll: return "an instruction or end";
    case FrameKind::If: return "an instruction, else or end";
    case FrameKind::FoldedPlain: return "a folded instruction or )";
    case FrameKind::FoldedBlock:
    case FrameKind::FoldedPart: return "an instruction or )";
    case FrameKind::FoldedIf: return "a folded instruction or (then";
    case FrameKind::FoldedThenEnd: return "(else or )";
    case FrameKind::FoldedTry: return "(do";
    case FrameKind::FoldedTryParts: return "(catch, (catch_all, (delegate or )";
    case FrameKind::FoldedTryCatches: return "(catch, (catch_all or )";
    case FrameKind::FoldedIfEnd:
    case FrameKind::FoldedTryEnd: return ")";
  }
  return ")";
}

/// Whether only folded instructions may stand here, or none.
bool ModuleAssembler::in_operand_position() const {
  if (frames_.empty()) return false;
  switch (frames_.back().kind) {
    case FrameKind::Block:
    case FrameKind::If:
    case FrameKind::Else:
    case FrameKind::Try:
    case FrameKind::Catch:
    case FrameKind::CatchAll:
    case FrameKind::FoldedBlock:
    case FrameKind::FoldedPart: return false;
    case FrameKind::FoldedPlain:
    case FrameKind::FoldedIf:
    case FrameKind::FoldedThenEnd:
    case FrameKind::FoldedIfEnd:
    case FrameKind::FoldedTry:
    case FrameKind::FoldedTryParts:
    case FrameKind::FoldedTryCatches:
    case FrameKind::FoldedTryEnd: return true;
  }
  return true;
}

const OpInfo* ModuleAssembler::instruction_here() {
  const OpInfo* info = find_instruction(text_of(peek()));
  if (info != nullptr) return info;
  for (const std::string_view word : kStackSwitching) {
    if (at_keyword(word)) {
      fail_unsupported(peek(), "stack-switching");
      return nullptr;
    }
  }
  fail_unknown(peek());
  return nullptr;
}

void ModuleAssembler::write_opcode(const OpInfo& info, Bytes& out) {
  if (info.prefix == 0) {
    out.push_back(static_cast<std::uint8_t>(info.code));
    return;
  }
  out.push_back(info.prefix);
  base::write_uleb(out, info.code);
}

// ---- Flat instructions.

bool ModuleAssembler::flat_instruction(Bytes& out) {
  if (in_operand_position()) return fail_unexpected(wanted());
  const OpInfo* info = instruction_here();
  if (info == nullptr) return false;
  const auto op = static_cast<Op>(op_number(info->prefix, info->code));
  if (!check_hint(op, at_)) return false;
  take_hint(at_, out);
  if (is_structure(op)) return open_flat_block(*info, out);
  if (op == Op::End) return flat_end(out);
  if (op == Op::Else) return flat_else(out);
  if (op == Op::Catch || op == Op::CatchAll) return flat_catch(*info, out);
  if (op == Op::Delegate) return flat_delegate(out);
  next();
  return immediates(*info, out);
}

bool ModuleAssembler::open_flat_block(const OpInfo& info, Bytes& out) {
  next();
  const auto op = static_cast<Op>(op_number(info.prefix, info.code));
  const std::uint32_t label = optional_symbol();
  write_opcode(info, out);
  if (!block_type(out)) return false;
  if (op == Op::TryTable && !catch_clauses(out)) return false;
  FrameKind kind = FrameKind::Block;
  if (op == Op::If) kind = FrameKind::If;
  if (op == Op::Try) kind = FrameKind::Try;
  frames_.push_back({.kind = kind, .label = label});
  open_label(label);
  return true;
}

/// `else $l`, `end $l`: the label may be repeated, no other may stand there.
bool ModuleAssembler::check_end_label(const Frame& frame) {
  if (!at_kind(TokenKind::Id)) return true;
  const Token& id = next();
  if (symbol_of(id) == frame.label) return true;
  return fail(id, fmt::format("mismatching label {}", text_of(id)));
}

bool ModuleAssembler::flat_else(Bytes& out) {
  if (frames_.empty() || frames_.back().kind != FrameKind::If) {
    return fail_unexpected(frames_.empty() ? "an instruction or )" : wanted());
  }
  next();
  frames_.back().kind = FrameKind::Else;
  out.push_back(code_of(Op::Else));
  return check_end_label(frames_.back());
}

bool ModuleAssembler::flat_end(Bytes& out) {
  const FrameKind kind = frames_.empty() ? FrameKind::FoldedPart : frames_.back().kind;
  if (kind == FrameKind::FoldedPart || kind == FrameKind::FoldedBlock) {
    return fail_unexpected("an instruction or )");
  }
  next();
  const Frame frame = frames_.back();
  frames_.pop_back();
  pop_label();
  out.push_back(code_of(Op::End));
  return check_end_label(frame);
}

bool ModuleAssembler::flat_catch(const OpInfo& info, Bytes& out) {
  const FrameKind kind = frames_.empty() ? FrameKind::FoldedPart : frames_.back().kind;
  if (kind != FrameKind::Try && kind != FrameKind::Catch) {
    return fail_unexpected(frames_.empty() ? "an instruction or )" : wanted());
  }
  next();
  const bool all = info.code == op_info(Op::CatchAll).code;
  frames_.back().kind = all ? FrameKind::CatchAll : FrameKind::Catch;
  return immediates(info, out);
}

bool ModuleAssembler::flat_delegate(Bytes& out) {
  if (frames_.empty() || frames_.back().kind != FrameKind::Try) {
    return fail_unexpected(frames_.empty() ? "an instruction or )" : wanted());
  }
  next();
  frames_.pop_back();
  pop_label();  // the label of the try is out of reach
  out.push_back(code_of(Op::Delegate));
  std::uint32_t depth = 0;
  if (!label_index(depth)) return false;
  base::write_uleb(out, depth);
  return true;
}

// ---- Folded instructions.

bool ModuleAssembler::open_list(Bytes& out) {
  if (peek(1).kind != TokenKind::Keyword) {
    next();
    return fail_unexpected("an instruction");
  }
  if (frames_.empty()) return open_folded(out);
  switch (frames_.back().kind) {
    case FrameKind::FoldedIf:
      if (at_list("then")) return folded_if_part(out);
      if (at_list("else")) return fail_unexpected(wanted());
      return open_folded(out);
    case FrameKind::FoldedThenEnd:
      if (at_list("else")) return folded_if_part(out);
      return fail_unexpected(wanted());
    case FrameKind::FoldedTry:
    case FrameKind::FoldedTryParts:
    case FrameKind::FoldedTryCatches: return folded_try_part(out);
    case FrameKind::FoldedIfEnd:
    case FrameKind::FoldedTryEnd: return fail_unexpected(wanted());
    case FrameKind::Block:
    case FrameKind::If:
    case FrameKind::Else:
    case FrameKind::Try:
    case FrameKind::Catch:
    case FrameKind::CatchAll:
    case FrameKind::FoldedPlain:
    case FrameKind::FoldedBlock:
    case FrameKind::FoldedPart: return open_folded(out);
  }
  return false;
}

bool ModuleAssembler::open_folded(Bytes& out) {
  const std::uint32_t list = at_;
  next();
  if (at_keyword("then") || at_keyword("do") || at_keyword("param") || at_keyword("result") ||
      at_keyword("local") || at_keyword("type")) {
    at_ = list;
    return fail_unexpected("an instruction");
  }
  const OpInfo* info = instruction_here();
  if (info == nullptr) return false;
  const auto op = static_cast<Op>(op_number(info->prefix, info->code));
  if (is_part(op)) return fail_unexpected("an instruction");
  if (!check_hint(op, list)) return false;
  if (is_structure(op)) return open_folded_block(*info, list, out);
  next();
  frames_.push_back({.kind = FrameKind::FoldedPlain, .pending = pending_size(), .list = list});
  return immediates(*info, pending_);
}

bool ModuleAssembler::open_folded_block(const OpInfo& info, std::uint32_t list, Bytes& out) {
  next();
  const auto op = static_cast<Op>(op_number(info.prefix, info.code));
  const std::uint32_t label = optional_symbol();
  if (op == Op::If) {
    // The condition stands in front of the opcode and outside of the label.
    frames_.push_back({.kind = FrameKind::FoldedIf,
                       .ends = true,
                       .label = label,
                       .pending = pending_size(),
                       .list = list});
    write_opcode(info, pending_);
    return block_type(pending_);
  }
  write_opcode(info, out);
  if (!block_type(out)) return false;
  if (op == Op::TryTable && !catch_clauses(out)) return false;
  const FrameKind kind = op == Op::Try ? FrameKind::FoldedTry : FrameKind::FoldedBlock;
  frames_.push_back({.kind = kind, .ends = true, .label = label});
  open_label(label);
  return true;
}

void ModuleAssembler::flush_pending(const Frame& frame, Bytes& out) {
  out.insert(out.end(), pending_.begin() + frame.pending, pending_.end());
  pending_.resize(frame.pending);
}

/// `(then` or `(else` of a folded `if`.
bool ModuleAssembler::folded_if_part(Bytes& out) {
  Frame& frame = frames_.back();
  next();
  next();
  if (frame.kind == FrameKind::FoldedIf) {
    take_hint(frame.list, out);
    flush_pending(frame, out);
    open_label(frame.label);
    frame.kind = FrameKind::FoldedThenEnd;
  } else {
    out.push_back(code_of(Op::Else));
    frame.kind = FrameKind::FoldedIfEnd;
  }
  frames_.push_back({.kind = FrameKind::FoldedPart});
  return true;
}

/// `(do`, `(catch`, `(catch_all` or `(delegate` of a folded `try`.
bool ModuleAssembler::folded_try_part(Bytes& out) {
  Frame& frame = frames_.back();
  if (frame.kind == FrameKind::FoldedTry) {
    if (!accept_list("do")) return fail_unexpected(wanted());
    frame.kind = FrameKind::FoldedTryParts;
    frames_.push_back({.kind = FrameKind::FoldedPart});
    return true;
  }
  if (frame.kind == FrameKind::FoldedTryParts && accept_list("delegate")) {
    // It ends the block itself, and does not see the block's label.
    pop_label();
    out.push_back(code_of(Op::Delegate));
    std::uint32_t depth = 0;
    if (!label_index(depth)) return false;
    base::write_uleb(out, depth);
    push_label(kNoSymbol);
    frame.kind = FrameKind::FoldedTryEnd;
    frame.ends = false;
    return expect_close();
  }
  const bool all = at_list("catch_all");
  if (!all && !at_list("catch")) return fail_unexpected(wanted());
  next();
  next();
  frame.kind = all ? FrameKind::FoldedTryEnd : FrameKind::FoldedTryCatches;
  frames_.push_back({.kind = FrameKind::FoldedPart});
  return immediates(op_info(all ? Op::CatchAll : Op::Catch), out);
}

bool ModuleAssembler::close_list(Bytes& out) {
  const Frame frame = frames_.back();
  switch (frame.kind) {
    case FrameKind::FoldedPlain:
      take_hint(frame.list, out);
      flush_pending(frame, out);
      break;
    case FrameKind::FoldedPart: break;
    case FrameKind::FoldedBlock:
    case FrameKind::FoldedThenEnd:
    case FrameKind::FoldedIfEnd:
    case FrameKind::FoldedTryParts:
    case FrameKind::FoldedTryCatches:
    case FrameKind::FoldedTryEnd:
      if (frame.ends) out.push_back(code_of(Op::End));
      pop_label();
      break;
    case FrameKind::Block:
    case FrameKind::If:
    case FrameKind::Else:
    case FrameKind::Try:
    case FrameKind::Catch:
    case FrameKind::CatchAll:
    case FrameKind::FoldedIf:
    case FrameKind::FoldedTry: return fail_unexpected(wanted());
  }
  frames_.pop_back();
  next();
  return true;
}

// ---- Block types and catch clauses.

bool ModuleAssembler::block_type(Bytes& out) {
  const bool given = at_list("type");
  std::uint32_t type = 0;
  if (given) {
    if (!type_use(type, sig_, ParamNames::Forbidden)) return false;
  } else {
    if (!signature(sig_, ParamNames::Forbidden)) return false;
    if (sig_.params.empty() && sig_.results.size() <= 1) {
      if (sig_.results.empty()) {
        out.push_back(0x40);
      } else {
        write_val_type(out, sig_.results[0]);
      }
      return true;
    }
    type = find_or_add_type(sig_);
  }
  base::write_sleb(out, type);
  return true;
}

/// `(catch $tag $label)` and its kin. The labels do not count the block itself.
bool ModuleAssembler::catch_clauses(Bytes& out) {
  constexpr std::string_view kKinds[] = {"catch", "catch_ref", "catch_all", "catch_all_ref"};
  Bytes clauses;
  std::uint32_t count = 0;
  for (bool more = true; more;) {
    more = false;
    for (std::uint8_t kind = 0; kind < 4; ++kind) {
      if (!accept_list(kKinds[kind])) continue;
      more = true;
      ++count;
      clauses.push_back(kind);
      if (kind < 2) {
        std::uint32_t tag = 0;
        if (!index(tags_, tag)) return false;
        base::write_uleb(clauses, tag);
      }
      std::uint32_t depth = 0;
      if (!label_index(depth) || !expect_close()) return false;
      base::write_uleb(clauses, depth);
    }
  }
  base::write_uleb(out, count);
  out.insert(out.end(), clauses.begin(), clauses.end());
  return true;
}

}  // namespace hoist::wasm
