// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Blocks and instructions.
#include <array>
#include <limits>

#include "base/bits.hpp"
#include "ir/text/printer.hpp"
#include "ir/text/reader_impl.hpp"
#include "ir/text/reader_inl.hpp"

namespace hoist::ir::text_detail {

namespace {

struct NamedOp {
  std::string_view text;
  Op op;
};
/// ops.def by text, sorted at compile time.
constexpr auto kOpsByText = [] {
  std::array<NamedOp, kOpCount> table = {{
#define HOIST_IR_OP(name, text, ...) {text, Op::name},
#include "ir/ops.def"
  }};
  for (std::size_t i = 1; i < table.size(); ++i) {
    const NamedOp moved = table[i];
    std::size_t at = i;
    for (; at > 0 && moved.text < table[at - 1].text; --at) table[at] = table[at - 1];
    table[at] = moved;
  }
  return table;
}();

std::optional<Op> find_op(std::string_view text) {
  std::size_t low = 0, high = kOpsByText.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (kOpsByText[middle].text < text) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == kOpsByText.size() || kOpsByText[low].text != text) return std::nullopt;
  return kOpsByText[low].op;
}

template <typename CC>
std::optional<CC> condition(std::string_view word, CC last) {
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i) {
    if (word == text(static_cast<CC>(i))) return static_cast<CC>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<TrapCode> Reader::trap_code_of(std::string_view word) {
  for (unsigned code = 251; code <= 255; ++code) {
    if (word == image::trap_clif_name(static_cast<TrapCode>(code))) {
      return static_cast<TrapCode>(code);
    }
  }
  const auto number = entity_number({TokenKind::Word, word, 0, 0}, "user");
  if (!number || *number == 0 || *number > 250) return std::nullopt;
  return static_cast<TrapCode>(*number);
}

Result<TrapCode> Reader::trap_code() {
  const auto code = peek().kind == TokenKind::Word ? trap_code_of(peek().text) : std::nullopt;
  if (!code) return expected("a trap code (heap_oob, user1, ...)");
  lexer_.advance();
  return *code;
}

// ---- Values and blocks.

Result<void> Reader::define_value(Value v, const Token& token) {
  while (func_->value_count() <= v.index()) {
    func_->make_value({Type(), ValueKind::Result, Inst::kNoneIndex, 0});
  }
  if (defined_values_.size() < func_->value_count()) defined_values_.resize(func_->value_count());
  if (defined_values_[v.index()]) {
    return error_at(token, "duplicate definition of " + std::string(token.text));
  }
  defined_values_[v.index()] = true;
  return {};
}

Result<Value> Reader::value_use() {
  const Token at = peek();
  HOIST_TRY(const Value v, entity<Value>(kMaxTextValues));
  while (func_->value_count() <= v.index()) {
    func_->make_value({Type(), ValueKind::Result, Inst::kNoneIndex, 0});
  }
  if (v.index() >= defined_values_.size() || !defined_values_[v.index()]) {
    pending_uses_.push_back({v, at});
  }
  return v;
}

Result<Value> Reader::value_operand(std::uint32_t& field) {
  HOIST_TRY(const Value v, value_use());
  field = v.index();
  return v;
}

Result<Block> Reader::block_use() {
  HOIST_TRY(const Block block, entity<Block>(kMaxTextBlocks));
  while (func_->block_count() <= block.index()) func_->make_block();
  return block;
}

Result<void> Reader::value_arguments(char close) {
  values_.clear();
  if (take(close)) return {};
  do {
    HOIST_TRY(const Value v, value_use());
    values_.push_back(v);
  } while (take(','));
  return expect(close);
}

Result<BlockCall> Reader::block_call() {
  HOIST_TRY(const Block target, block_use());
  values_.clear();
  const std::size_t first_try = pending_try_values_.size();
  if (take('(') && !take(')')) {
    do {
      if (values_.size() >= kMaxBlockArgs) {
        return error_at(peek(), "a block call has at most 65535 arguments");
      }
      const Token at = peek();
      if (const auto number = try_value_number(at)) {
        lexer_.advance();
        const ValueKind kind =
            at.text.starts_with("ret") ? ValueKind::TryReturn : ValueKind::TryException;
        pending_try_values_.push_back({Inst::none(), BlockCall::none(),
                                       static_cast<std::uint32_t>(values_.size()), kind, *number});
        values_.push_back(Value::none());
        continue;
      }
      HOIST_TRY(const Value v, value_use());
      values_.push_back(v);
    } while (take(','));
    HOIST_TRY_VOID(expect(')'));
  }
  const BlockCall call = func_->make_block_call(target, values_);
  for (std::size_t i = first_try; i < pending_try_values_.size(); ++i) {
    pending_try_values_[i].call = call;
  }
  return call;
}

/// K of `retK` and `exnK`.
std::optional<std::uint32_t> Reader::try_value_number(const Token& token) {
  std::optional<std::uint32_t> number = entity_number(token, "ret");
  if (!number) number = entity_number(token, "exn");
  return number && *number <= 0xffff ? number : std::nullopt;
}

/// The `retN` and `exnN` of all instructions become values, after those that the text numbers.
void Reader::make_try_values() {
  for (std::size_t i = 0; i < pending_try_values_.size(); ++i) {
    const PendingTryValue& use = pending_try_values_[i];
    Type value_type;
    const Op op = func_->op(use.inst);
    if (use.kind == ValueKind::TryReturn && is_try(op)) {
      const Signature& signature = func_->signatures[func_->call_signature(use.inst)];
      if (use.number < signature.returns.size()) value_type = signature.returns[use.number].type;
    } else if (use.kind == ValueKind::TryException) {
      // A word of the target's pointer size, which the handler tells.
      const auto params = func_->block_params(func_->call_target(use.call));
      value_type =
          use.position < params.size() && func_->type(params[use.position]) == I32 ? I32 : I64;
    }
    func_->call_args(use.call)[use.position] =
        func_->make_try_value(use.kind, use.number, value_type);
    const bool last =
        i + 1 == pending_try_values_.size() || pending_try_values_[i + 1].inst != use.inst;
    if (last) func_->attach_try_values(use.inst);
  }
}

Result<ExceptionTable> Reader::exception_table() {
  HOIST_TRY_VOID(comma());
  HOIST_TRY(const SigRef sig, signature_use());
  HOIST_TRY_VOID(comma());
  HOIST_TRY(const BlockCall normal, block_call());
  HOIST_TRY_VOID(comma());
  HOIST_TRY_VOID(expect('['));
  items_.clear();
  while (!peek().is(']')) {
    ExceptionItem item;
    if (const auto tag = entity_number(peek(), "tag")) {
      lexer_.advance();
      item.kind = ExceptionItem::Kind::Tag;
      item.tag = *tag;
    } else if (take_word("default")) {
      item.kind = ExceptionItem::Kind::Default;
    } else if (take_word("context")) {
      item.kind = ExceptionItem::Kind::Context;
      HOIST_TRY(item.context, value_use());
    } else {
      return expected("tagN, default or context");
    }
    if (item.kind != ExceptionItem::Kind::Context) {
      HOIST_TRY_VOID(expect(':'));
      HOIST_TRY(item.target, block_call());
    }
    items_.push_back(item);
    if (!take(',')) break;
  }
  HOIST_TRY_VOID(expect(']'));
  return func_->make_exception_table(sig, normal, items_);
}

Result<SigRef> Reader::signature_use() {
  const Token at = peek();
  HOIST_TRY(const SigRef sig, entity<SigRef>(kMaxTextEntities));
  if (sig.index() >= declared_sigs_.size() || !declared_sigs_[sig.index()]) {
    return error_at(at, "undeclared signature " + std::string(at.text));
  }
  return sig;
}

Result<FuncRef> Reader::function_use() {
  const Token at = peek();
  HOIST_TRY(const FuncRef callee, entity<FuncRef>(kMaxTextEntities));
  if (callee.index() >= declared_funcs_.size() || !declared_funcs_[callee.index()]) {
    return error_at(at, "undeclared function " + std::string(at.text));
  }
  return callee;
}

/// `<ss0, 1, 0x2>`
Result<void> Reader::debug_tags() {
  tags_.clear();
  if (!take('<')) return {};
  while (!peek().is('>')) {
    if (tags_.size() >= kMaxBlockArgs) return error_at(peek(), "at most 65535 debug tags");
    if (entity_number(peek(), "ss")) {
      HOIST_TRY(const StackSlot slot, entity<StackSlot>(kMaxTextEntities));
      tags_.push_back({DebugTag::Kind::StackSlot, slot.index()});
    } else {
      HOIST_TRY(const std::uint64_t number, unsigned_number(0xffff'ffff, "a debug tag"));
      tags_.push_back({DebugTag::Kind::User, static_cast<std::uint32_t>(number)});
    }
    if (!take(',')) break;
  }
  return expect('>');
}

/// `, stack_map=[i32 @ ss0+0, ...]`
Result<void> Reader::stack_map(Op op) {
  stack_map_.clear();
  const Token at = peek();
  if (!is_call(op) || (is_terminator(op) && !is_try(op)) || !take(',')) return {};
  if (!take_word("stack_map")) return expected("\"stack_map\"");
  HOIST_TRY_VOID(expect('='));
  HOIST_TRY_VOID(expect('['));
  while (!peek().is(']')) {
    if (stack_map_.size() >= kMaxBlockArgs) return error_at(at, "at most 65535 stack map entries");
    StackMapEntry entry;
    HOIST_TRY(entry.type, type());
    HOIST_TRY_VOID(expect('@'));
    HOIST_TRY(entry.slot, entity<StackSlot>(kMaxTextEntities));
    HOIST_TRY(const std::uint64_t at_offset, unsigned_number(0xffff'ffff, "an offset"));
    entry.offset = static_cast<std::uint32_t>(at_offset);
    stack_map_.push_back(entry);
    if (!take(',')) break;
  }
  return expect(']');
}

Result<void> Reader::block() {
  const Token at = peek();
  HOIST_TRY(const Block block, block_use());
  if (func_->is_in_layout(block)) return error_at(at, "duplicate block " + std::string(at.text));
  func_->append_block(block);
  if (take('(')) HOIST_TRY_VOID(block_params(block));
  if (take_word("cold")) func_->set_cold(block);
  HOIST_TRY_VOID(expect(':'));
  attach(block);
  while (!peek().is('}') && !entity_number(peek(), "block")) HOIST_TRY_VOID(body_line(block));
  return {};
}

Result<void> Reader::block_params(Block block) {
  if (take(')')) return {};
  do {
    const Token at = peek();
    HOIST_TRY(const Value v, entity<Value>(kMaxTextValues));
    HOIST_TRY_VOID(define_value(v, at));
    HOIST_TRY_VOID(expect(':'));
    HOIST_TRY(const Type param_type, type());
    func_->set_value(v, {param_type, ValueKind::Param, 0, 0});
    func_->attach_block_param(block, v);
  } while (take(','));
  return expect(')');
}

Result<void> Reader::alias(Value from, const Token& at) {
  lexer_.advance();  // ->
  const Token target_at = peek();
  HOIST_TRY(const Value target, entity<Value>(kMaxTextValues));
  if (target.index() >= defined_values_.size() || !defined_values_[target.index()]) {
    return error_at(target_at, "an alias stands for a value defined before it");
  }
  const Value resolved = func_->resolve(target);
  if (from.index() < defined_values_.size() && defined_values_[from.index()]) {
    if (func_->value(from).kind == ValueKind::Alias && func_->resolve(from) == resolved) return {};
    return error_at(at, "duplicate definition of " + std::string(at.text));
  }
  HOIST_TRY_VOID(define_value(from, at));
  func_->set_value(from, {func_->type(resolved), ValueKind::Alias, resolved.index(), 0});
  return {};
}

Result<void> Reader::body_line(Block block) {
  return instruction(block);
}

Result<Op> Reader::opcode() {
  if (peek().kind != TokenKind::Word) return expected("an opcode");
  if (const std::optional<Op> op = find_op(peek().text)) {
    lexer_.advance();
    return *op;
  }
  return expected("an opcode");
}

Result<void> Reader::instruction(Block block) {
  HOIST_TRY_VOID(debug_tags());
  SourceLoc loc;
  if (peek().is('@')) {
    const Token at = peek();
    const std::string_view digits = lexer_.take_hex_run();
    const std::optional<IntLiteral> number = parse_int("0x" + std::string(digits));
    if (!number || number->magnitude > 0xffff'ffff) {
      return error_at(at, "a source location is @ and up to 8 hexadecimal digits");
    }
    loc.bits = static_cast<std::uint32_t>(number->magnitude);
  }
  result_names_.clear();
  if (entity_number(peek(), "v")) {
    for (;;) {
      const Token at = peek();
      HOIST_TRY(const Value v, entity<Value>(kMaxTextValues));
      if (result_names_.empty() && peek().kind == TokenKind::Arrow) return alias(v, at);
      if (result_names_.size() >= kMaxBlockArgs) return error_at(at, "at most 65535 results");
      result_names_.emplace_back(v, at);
      if (!take(',')) break;
    }
    HOIST_TRY_VOID(expect('='));
  }
  const Token at = peek();
  HOIST_TRY(const Op op, opcode());
  InstData data;
  data.op = op;
  Type suffix;
  if (take('.')) {
    if (info(op).control == Control::None && format(op) != Format::CallIndirect &&
        format(op) != Format::TryCallIndirect) {
      return error_at(at, std::string(info(op).text) + " takes no type suffix");
    }
    HOIST_TRY(suffix, type());
  } else if (info(op).control == Control::Suffix) {
    return error_at(at, std::string(info(op).text) + " needs a type suffix");
  }
  Type control = suffix;
  const std::size_t first_try = pending_try_values_.size();
  HOIST_TRY_VOID(operands(data, suffix, control, at));
  HOIST_TRY_VOID(stack_map(op));
  const Inst inst = func_->make_inst(data, loc);
  for (std::size_t i = pending_try_values_.size(); i-- > first_try;) {
    pending_try_values_[i].inst = inst;
  }
  if (!tags_.empty()) func_->set_debug_tags(inst, tags_);
  if (!stack_map_.empty()) func_->set_stack_map(inst, stack_map_);
  func_->append_inst(inst, block);
  HOIST_TRY_VOID(results(inst, data, control, at));
  attach(inst);
  return {};
}

/// Reads the operands; `control` becomes the controlling type where an operand decides it.
Result<void> Reader::operands(InstData& data, Type suffix, Type& control, const Token& at) {
  const auto integer_immediate = [&]() -> Result<void> {
    const std::optional<IntLiteral> literal = parse_int(peek().text);
    if (!suffix.is_int() || suffix.bits() > 64) return error_at(at, "iconst makes i8 to i64");
    const auto bits = literal ? literal->in_bits(suffix.bits()) : std::nullopt;
    if (peek().kind != TokenKind::Number || !bits) {
      return expected("an integer of " + std::to_string(suffix.bits()) + " bits");
    }
    data = InstData::imm(data.op, *bits);
    lexer_.advance();
    return {};
  };
  const auto float_immediate = [&](FloatFormat format) -> Result<void> {
    const auto bits = parse_float(peek().text, format);
    if (!bits) return expected("a float literal that the type can represent");
    data = InstData::imm(data.op, *bits);
    lexer_.advance();
    return {};
  };
  const auto list = [&](std::span<const Value> values) {
    data.b = func_->make_value_list(values).index;
  };
  const auto trap = [&]() -> Result<void> {
    HOIST_TRY_VOID(comma());
    HOIST_TRY(const TrapCode code, trap_code());
    data.aux = static_cast<std::uint16_t>(code);
    return {};
  };
  const auto flags = [&]() -> Result<void> {
    HOIST_TRY(const MemFlags parsed, mem_flags());
    const std::optional<MemFlagsRef> ref = func_->intern_exactly(parsed);
    if (!ref) return error_at(at, "implementation limit exceeded: 64511 distinct memory flag sets");
    data.aux = static_cast<std::uint16_t>(ref->index());
    return {};
  };
  const auto lane = [&]() -> Result<void> {
    HOIST_TRY_VOID(comma());
    HOIST_TRY(const std::uint64_t number, unsigned_number(255, "a lane number"));
    data.aux = static_cast<std::uint16_t>(number);
    return {};
  };
  const auto two_values = [&]() -> Result<void> {
    HOIST_TRY_VOID(value_operand(data.a));
    HOIST_TRY_VOID(comma());
    HOIST_TRY_VOID(value_operand(data.b));
    return {};
  };
  const auto offset = [&](std::uint32_t& field) -> Result<void> {
    HOIST_TRY(const std::int64_t parsed, offset32());
    field = static_cast<std::uint32_t>(parsed);
    return {};
  };
  switch (format(data.op)) {
    case Format::Nullary: break;
    case Format::UnaryImm: HOIST_TRY_VOID(integer_immediate()); break;
    case Format::UnaryF16: HOIST_TRY_VOID(float_immediate(kF16)); break;
    case Format::UnaryF128: {
      const auto bits = parse_wide_float(peek().text, kF128);
      if (!bits) return expected("a float literal that the type can represent");
      data.a = func_->intern_immediate(to_bytes(*bits)).index();
      lexer_.advance();
      break;
    }
    case Format::UnaryConst: {
      HOIST_TRY(const Constant constant, constant_operand(suffix));
      data.a = constant.index();
      break;
    }
    case Format::UnaryF32: HOIST_TRY_VOID(float_immediate(kF32)); break;
    case Format::UnaryF64: HOIST_TRY_VOID(float_immediate(kF64)); break;
    case Format::UnaryGlobalValue: {
      HOIST_TRY(const GlobalValue global, entity<GlobalValue>(kMaxTextEntities));
      data.a = global.index();
      break;
    }
    case Format::IntCompare: {
      const auto cc = condition(peek().text, IntCC::Ule);
      if (!cc) return expected("an integer condition (eq, ne, slt, ...)");
      data.aux = static_cast<std::uint16_t>(*cc);
      lexer_.advance();
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(value_operand(data.b));
      break;
    }
    case Format::FloatCompare: {
      const auto cc = condition(peek().text, FloatCC::Uge);
      if (!cc) return expected("a float condition (ord, uno, eq, ...)");
      data.aux = static_cast<std::uint16_t>(*cc);
      lexer_.advance();
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(value_operand(data.b));
      break;
    }
    case Format::Unary: HOIST_TRY_VOID(value_operand(data.a)); break;
    case Format::BinaryImm8:
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(lane());
      break;
    case Format::TernaryImm8:
      HOIST_TRY_VOID(two_values());
      HOIST_TRY_VOID(lane());
      break;
    case Format::Shuffle: {
      HOIST_TRY_VOID(two_values());
      HOIST_TRY_VOID(comma());
      std::array<std::uint8_t, 16> mask;
      HOIST_TRY_VOID(vector_literal(I8x16, mask));
      data.c = func_->intern_immediate(mask).index();
      break;
    }
    case Format::Binary:
    case Format::IntAddTrap:
      HOIST_TRY_VOID(two_values());
      if (format(data.op) == Format::IntAddTrap) HOIST_TRY_VOID(trap());
      break;
    case Format::Ternary:
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(value_operand(data.b));
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(value_operand(data.c));
      break;
    case Format::MultiAry:
      values_.clear();
      if (entity_number(peek(), "v")) {
        // A new line may begin with a result: operands stay on the opcode's line.
        while (peek().line == at.line && entity_number(peek(), "v")) {
          HOIST_TRY(const Value v, value_use());
          values_.push_back(v);
          if (!take(',')) break;
        }
      }
      list(values_);
      break;
    case Format::Jump: {
      HOIST_TRY(const BlockCall call, block_call());
      data.a = call.index();
      break;
    }
    case Format::Brif: {
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(comma());
      HOIST_TRY(const BlockCall then_call, block_call());
      HOIST_TRY_VOID(comma());
      HOIST_TRY(const BlockCall else_call, block_call());
      data.b = then_call.index();
      data.c = else_call.index();
      break;
    }
    case Format::BrTable: {
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(comma());
      HOIST_TRY(const BlockCall default_call, block_call());
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(expect('['));
      calls_.clear();
      while (!peek().is(']')) {
        HOIST_TRY(const BlockCall call, block_call());
        calls_.push_back(call);
        if (!take(',')) break;
      }
      HOIST_TRY_VOID(expect(']'));
      data.b = func_->jump_tables.push({default_call, func_->make_call_list(calls_)}).index();
      break;
    }
    case Format::Trap: {
      HOIST_TRY(const TrapCode code, trap_code());
      data.aux = static_cast<std::uint16_t>(code);
      break;
    }
    case Format::CondTrap:
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(trap());
      break;
    case Format::Call: {
      HOIST_TRY(const FuncRef callee, function_use());
      data.a = callee.index();
      HOIST_TRY_VOID(expect('('));
      HOIST_TRY_VOID(value_arguments(')'));
      list(values_);
      break;
    }
    case Format::TryCall: {
      HOIST_TRY(const FuncRef callee, function_use());
      data.a = callee.index();
      HOIST_TRY_VOID(expect('('));
      HOIST_TRY_VOID(value_arguments(')'));
      list(values_);
      HOIST_TRY(const ExceptionTable table, exception_table());
      data.c = table.index();
      break;
    }
    case Format::TryCallIndirect: {
      HOIST_TRY(const Value callee, value_use());
      HOIST_TRY_VOID(expect('('));
      HOIST_TRY_VOID(value_arguments(')'));
      values_.insert(values_.begin(), callee);
      list(values_);
      HOIST_TRY(const ExceptionTable table, exception_table());
      data.c = table.index();
      break;
    }
    case Format::CallIndirect: {
      HOIST_TRY(const SigRef sig, signature_use());
      data.a = sig.index();
      HOIST_TRY_VOID(comma());
      HOIST_TRY(const Value callee, value_use());
      HOIST_TRY_VOID(expect('('));
      HOIST_TRY_VOID(value_arguments(')'));
      values_.insert(values_.begin(), callee);
      list(values_);
      break;
    }
    case Format::FuncAddr: {
      HOIST_TRY(const FuncRef callee, function_use());
      data.a = callee.index();
      break;
    }
    case Format::DynamicStackAddr: {
      HOIST_TRY(const DynamicStackSlot slot, entity<DynamicStackSlot>(kMaxTextEntities));
      data.a = slot.index();
      break;
    }
    case Format::ExceptionHandlerAddress: {
      HOIST_TRY(const Block block, block_use());
      data.a = block.index();
      HOIST_TRY_VOID(comma());
      const std::optional<IntLiteral> literal = parse_int(peek().text);
      if (peek().kind != TokenKind::Number || !literal || literal->magnitude > 0x7fff'ffff) {
        return expected("a handler number of 31 bits");
      }
      const auto number = static_cast<std::uint32_t>(literal->magnitude);
      data.b = literal->negative ? 0 - number : number;
      lexer_.advance();
      break;
    }
    case Format::StackAddr: {
      HOIST_TRY(const StackSlot slot, entity<StackSlot>(kMaxTextEntities));
      data.a = slot.index();
      HOIST_TRY_VOID(offset(data.b));
      break;
    }
    case Format::Load:
      HOIST_TRY_VOID(flags());
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(offset(data.b));
      break;
    case Format::LoadNoOffset:
      HOIST_TRY_VOID(flags());
      HOIST_TRY_VOID(value_operand(data.a));
      break;
    case Format::Store:
      HOIST_TRY_VOID(flags());
      HOIST_TRY_VOID(two_values());
      HOIST_TRY_VOID(offset(data.c));
      break;
    case Format::StoreNoOffset:
      HOIST_TRY_VOID(flags());
      HOIST_TRY_VOID(two_values());
      break;
    case Format::AtomicRmw: {
      HOIST_TRY_VOID(flags());
      const auto op =
          peek().kind == TokenKind::Word ? condition(peek().text, AtomicOp::Smax) : std::nullopt;
      if (!op) return expected("add, sub, and, nand, or, xor, xchg, umin, umax, smin or smax");
      data.c = static_cast<std::uint32_t>(*op);
      lexer_.advance();
      HOIST_TRY_VOID(two_values());
      break;
    }
    case Format::AtomicCas:
      HOIST_TRY_VOID(flags());
      HOIST_TRY_VOID(two_values());
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(value_operand(data.c));
      break;
  }
  if ((format(data.op) == Format::CallIndirect || format(data.op) == Format::TryCallIndirect) &&
      suffix.is_valid()) {
    const Type callee_type = func_->type(func_->value_list({data.b}).front());
    if (callee_type.is_valid() && callee_type != suffix) {
      return error_at(at, "the type suffix is not the type of the callee");
    }
  }
  const Control rule = info(data.op).control;
  if (rule != Control::Arg0 && rule != Control::Arg1) return {};
  const Value operand(rule == Control::Arg0 ? data.a : data.b);
  const Type operand_type = func_->type(operand);
  if (!suffix.is_valid()) {
    control = operand_type;
    if (!control.is_valid() && info(data.op).result != ResultRule::None) {
      return error_at(at, "the type of the operand is not known here: write " +
                              std::string(info(data.op).text) + ".TYPE");
    }
  } else if (info(data.op).result != ResultRule::T && operand_type.is_valid() &&
             operand_type != suffix) {
    // The suffix is not stored where no result has the type: it cannot be wrong silently.
    return error_at(at, "the type suffix is not the type of the operand");
  }
  return {};
}

Result<void> Reader::results(Inst inst, const InstData& data, Type control, const Token& at) {
  std::size_t expected_count = 1;
  const auto define = [&](std::size_t i, Type result_type) -> Result<void> {
    if (i >= result_names_.size()) return {};
    const auto& [v, token] = result_names_[i];
    HOIST_TRY_VOID(define_value(v, token));
    func_->set_value(v, {result_type, ValueKind::Result, inst.index(), 0});
    func_->attach_result(inst, v);
    return {};
  };
  const ResultRule rule = info(data.op).result;
  if (rule == ResultRule::Sig) {
    const std::vector<AbiParam>& returns = func_->signatures[func_->call_signature(inst)].returns;
    expected_count = returns.size();
    for (std::size_t i = 0; i < returns.size(); ++i) HOIST_TRY_VOID(define(i, returns[i].type));
  } else {
    expected_count = result_count(rule);
    for (unsigned i = 0; i < expected_count; ++i) {
      const Type made = result_type(data.op, control, i);
      if (!made.is_valid()) {
        base::Printer text;
        text << info(data.op).text << " has no result for type " << control;
        return error_at(at, text.take());
      }
      HOIST_TRY_VOID(define(i, made));
    }
  }
  if (result_names_.size() != expected_count) {
    return error_at(at, "the instruction has " + std::to_string(expected_count) +
                            " results, found " + std::to_string(result_names_.size()));
  }
  return {};
}

Result<void> Reader::finish_body() {
  for (const PendingUse& use : pending_uses_) {
    if (use.value.index() >= defined_values_.size() || !defined_values_[use.value.index()]) {
      return error_at(use.token, "undefined value " + std::string(use.token.text));
    }
  }
  make_try_values();
  return {};
}

}  // namespace hoist::ir::text_detail
