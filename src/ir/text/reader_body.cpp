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

/// Opcodes of CLIF that ops.def does not have.
constexpr std::string_view kUnsupportedOps[] = {"try_call",
                                                "try_call_indirect",
                                                "tls_value",
                                                "dynamic_stack_addr",
                                                "get_pinned_reg",
                                                "set_pinned_reg",
                                                "get_exception_handler_address",
                                                "stack_switch",
                                                "sequence_point",
                                                "uload8x8",
                                                "sload8x8",
                                                "uload16x4",
                                                "sload16x4",
                                                "uload32x2",
                                                "sload32x2",
                                                "atomic_rmw",
                                                "atomic_cas",
                                                "atomic_load",
                                                "atomic_store",
                                                "f16const",
                                                "f128const",
                                                "vconst",
                                                "blendv",
                                                "uadd_overflow_cin",
                                                "sadd_overflow_cin",
                                                "usub_overflow_bin",
                                                "ssub_overflow_bin",
                                                "iconcat",
                                                "isplit",
                                                "vany_true",
                                                "vall_true",
                                                "vhigh_bits",
                                                "scalar_to_vector",
                                                "fvdemote",
                                                "fvpromote_low",
                                                "x86_cvtt2dq",
                                                "splat",
                                                "swizzle",
                                                "x86_pshufb",
                                                "insertlane",
                                                "extractlane",
                                                "shuffle",
                                                "avg_round",
                                                "uadd_sat",
                                                "sadd_sat",
                                                "usub_sat",
                                                "ssub_sat",
                                                "sqmul_round_sat",
                                                "x86_pmulhrsw",
                                                "snarrow",
                                                "unarrow",
                                                "uunarrow",
                                                "swiden_low",
                                                "swiden_high",
                                                "uwiden_low",
                                                "uwiden_high",
                                                "iadd_pairwise",
                                                "x86_pmaddubsw",
                                                "extract_vector",
                                                "x86_blendv",
                                                "bitcast_dynamic",
                                                "symbol_value_tls"};

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
  if (take('(')) {
    if (peek().text.starts_with("ret") || peek().text.starts_with("exn")) {
      return unsupported(peek(), "exceptions (try_call)");
    }
    HOIST_TRY_VOID(value_arguments(')'));
  }
  return func_->make_block_call(target, values_);
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
  if (peek().is('<')) return unsupported(peek(), "debug tags");
  return instruction(block);
}

Result<Op> Reader::opcode() {
  if (peek().kind != TokenKind::Word) return expected("an opcode");
  if (const std::optional<Op> op = find_op(peek().text)) {
    lexer_.advance();
    return *op;
  }
  for (const std::string_view known : kUnsupportedOps) {
    if (peek().text == known) return unsupported(peek(), "opcode " + std::string(known));
  }
  return expected("an opcode");
}

Result<void> Reader::instruction(Block block) {
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
    if (info(op).control == Control::None && format(op) != Format::CallIndirect) {
      return error_at(at, std::string(info(op).text) + " takes no type suffix");
    }
    HOIST_TRY(suffix, type());
  } else if (info(op).control == Control::Suffix) {
    return error_at(at, std::string(info(op).text) + " needs a type suffix");
  }
  Type control = suffix;
  HOIST_TRY_VOID(operands(data, suffix, control, at));
  if (peek().is(',')) return unsupported(peek(), "stack maps");
  const Inst inst = func_->make_inst(data, loc);
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
    data.aux = static_cast<std::uint16_t>(func_->intern(parsed).index());
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
    case Format::Binary:
    case Format::IntAddTrap:
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(value_operand(data.b));
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
      const Token callee_at = peek();
      HOIST_TRY(const FuncRef callee, entity<FuncRef>(kMaxTextEntities));
      if (callee.index() >= declared_funcs_.size() || !declared_funcs_[callee.index()]) {
        return error_at(callee_at, "undeclared function " + std::string(callee_at.text));
      }
      data.a = callee.index();
      HOIST_TRY_VOID(expect('('));
      HOIST_TRY_VOID(value_arguments(')'));
      list(values_);
      break;
    }
    case Format::CallIndirect: {
      const Token sig_at = peek();
      HOIST_TRY(const SigRef sig, entity<SigRef>(kMaxTextEntities));
      if (sig.index() >= declared_sigs_.size() || !declared_sigs_[sig.index()]) {
        return error_at(sig_at, "undeclared signature " + std::string(sig_at.text));
      }
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
      const Token callee_at = peek();
      HOIST_TRY(const FuncRef callee, entity<FuncRef>(kMaxTextEntities));
      if (callee.index() >= declared_funcs_.size() || !declared_funcs_[callee.index()]) {
        return error_at(callee_at, "undeclared function " + std::string(callee_at.text));
      }
      data.a = callee.index();
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
      HOIST_TRY_VOID(value_operand(data.a));
      HOIST_TRY_VOID(comma());
      HOIST_TRY_VOID(value_operand(data.b));
      HOIST_TRY_VOID(offset(data.c));
      break;
  }
  if (format(data.op) == Format::CallIndirect && suffix.is_valid()) {
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
  switch (info(data.op).result) {
    case ResultRule::None: expected_count = 0; break;
    case ResultRule::T:
    case ResultRule::Suffix: HOIST_TRY_VOID(define(0, control)); break;
    case ResultRule::I8: {
      Type result_type = I8;
      if (!control.is_scalar()) {
        result_type = Type(Type::int_of_bits(control.lane_bits()).lane(), control.log2_lane_count(),
                           control.is_dynamic());
      }
      HOIST_TRY_VOID(define(0, result_type));
      break;
    }
    case ResultRule::I64: HOIST_TRY_VOID(define(0, I64)); break;
    case ResultRule::F32: HOIST_TRY_VOID(define(0, F32)); break;
    case ResultRule::F64: HOIST_TRY_VOID(define(0, F64)); break;
    case ResultRule::Addr: HOIST_TRY_VOID(define(0, control)); break;
    case ResultRule::PairI8:
      expected_count = 2;
      HOIST_TRY_VOID(define(0, control));
      HOIST_TRY_VOID(define(1, I8));
      break;
    case ResultRule::Sig: {
      const SigRef sig = format(data.op) == Format::Call
                             ? func_->ext_funcs[FuncRef(data.a)].signature
                             : SigRef(data.a);
      const std::vector<AbiParam>& returns = func_->signatures[sig].returns;
      expected_count = returns.size();
      for (std::size_t i = 0; i < returns.size(); ++i) HOIST_TRY_VOID(define(i, returns[i].type));
      break;
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
  return {};
}

}  // namespace hoist::ir::text_detail
