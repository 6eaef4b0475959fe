// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Files, function headers and preambles.
#include "ir/text/reader.hpp"

#include <algorithm>
#include <bit>

#include "base/bits.hpp"
#include "ir/text/printer.hpp"
#include "ir/text/reader_impl.hpp"
#include "ir/text/reader_inl.hpp"

namespace hoist::ir {

Result<ParsedFile> parse_file(std::string_view text) {
  return text_detail::Reader(text).read_file();
}

Result<Function> parse_function(std::string_view text) {
  HOIST_TRY(ParsedFile file, parse_file(text));
  if (file.functions.size() != 1) {
    return Error(ErrorKind::Malformed,
                 "expected one function, found " + std::to_string(file.functions.size()));
  }
  return std::move(file.functions[0].func);
}

namespace text_detail {

// ---- Tokens and errors.

Error Reader::error_at(const Token& token, std::string message) const {
  Error error(ErrorKind::Malformed, std::move(message));
  error.at_line(token.line, token.column);
  return error;
}

Error Reader::expected(std::string_view what) const {
  std::string message("expected ");
  message.append(what).append(", found ");
  if (peek().kind == TokenKind::Eof) {
    message.append("the end of the text");
  } else {
    message.append("\"").append(peek().text.substr(0, 40)).append("\"");
  }
  return error_at(peek(), std::move(message));
}

bool Reader::take(char punct) {
  if (!peek().is(punct)) return false;
  lexer_.advance();
  return true;
}

bool Reader::take_word(std::string_view word) {
  if (!peek().is_word(word)) return false;
  lexer_.advance();
  return true;
}

Result<void> Reader::expect(char punct) {
  if (take(punct)) return {};
  const char text[] = {'"', punct, '"', '\0'};
  return expected(text);
}

std::optional<std::uint32_t> Reader::entity_number(const Token& token, std::string_view prefix) {
  if (token.kind != TokenKind::Word || !token.text.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = token.text.substr(prefix.size());
  if (digits.empty() || digits.size() > 10 || (digits[0] == '0' && digits.size() > 1)) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  if (number >= 0xffff'ffff) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

Result<std::int64_t> Reader::offset32() {
  if (peek().kind != TokenKind::Number || (peek().text[0] != '+' && peek().text[0] != '-'))
    return 0;
  const std::optional<IntLiteral> literal = parse_int(peek().text);
  const std::optional<std::uint64_t> bits = literal ? literal->in_bits(32) : std::nullopt;
  if (!bits || (!literal->negative && literal->magnitude > 0x7fff'ffff)) {
    return expected("an offset of 32 bits, signed");
  }
  lexer_.advance();
  return base::sign_extend(*bits, 32);
}

Result<std::uint64_t> Reader::unsigned_number(std::uint64_t limit, std::string_view what) {
  const std::optional<IntLiteral> literal = parse_int(peek().text);
  if (peek().kind != TokenKind::Number || !literal || literal->negative ||
      literal->magnitude > limit) {
    return expected(std::string(what) + " of at most " + std::to_string(limit));
  }
  lexer_.advance();
  return literal->magnitude;
}

// ---- File.

Result<ParsedFile> Reader::read_file() {
  ParsedFile file;
  while (peek().kind != TokenKind::Eof && !peek().is_word("function")) {
    HOIST_TRY_VOID(read_file_line(file));
  }
  for (const LexedComment& comment : lexer_.comments()) {
    file.comments.push_back({{}, std::string(comment.text), comment.line});
  }
  lexer_.comments().clear();
  for (const ParsedLine& test : file.tests) {
    if (test.words[0] == "run") default_conv_ = CallConv::SystemV;
  }
  while (peek().kind != TokenKind::Eof) {
    if (!peek().is_word("function")) return expected("\"function\"");
    ParsedFunction& parsed = file.functions.emplace_back();
    HOIST_TRY_VOID(read_function(parsed));
  }
  return file;
}

ParsedLine Reader::words_of_line() {
  ParsedLine line;
  line.line = peek().line;
  std::string_view rest = lexer_.take_line();
  while (!rest.empty()) {
    const std::size_t start = rest.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) break;
    rest.remove_prefix(start);
    const std::size_t end = std::min(rest.find_first_of(" \t\r"), rest.size());
    line.words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return line;
}

Result<void> Reader::read_file_line(ParsedFile& file) {
  const Token at = peek();
  if (at.kind != TokenKind::Word) {
    return expected("a test, set, target or feature line, or a function");
  }
  ParsedLine line = words_of_line();
  const std::string keyword = line.words[0];
  line.words.erase(line.words.begin());
  if (keyword == "test") {
    if (line.words.empty()) return error_at(at, "a test line names its command");
    file.tests.push_back(std::move(line));
  } else if (keyword == "set") {
    file.sets.push_back(std::move(line));
  } else if (keyword == "target") {
    file.targets.push_back(std::move(line));
  } else if (keyword == "feature") {
    file.features.push_back(std::move(line));
  } else {
    return error_at(at, "expected a test, set, target or feature line, or a function, found \"" +
                            keyword.substr(0, 40) + "\"");
  }
  return {};
}

void Reader::attach(EntityRef owner) {
  for (const LexedComment& comment : lexer_.comments()) {
    parsed_->comments.push_back({owner, std::string(comment.text), comment.line});
  }
  lexer_.comments().clear();
}

Result<void> Reader::read_function(ParsedFunction& parsed) {
  parsed_ = &parsed;
  func_ = &parsed.func;
  parsed.line = peek().line;
  defined_values_.clear();
  declared_slots_.clear();
  declared_globals_.clear();
  declared_sigs_.clear();
  declared_funcs_.clear();
  declared_constants_.clear();
  declared_dynamic_types_.clear();
  declared_dynamic_slots_.clear();
  pending_try_values_.clear();
  pending_uses_.clear();
  user_names_.clear();
  HOIST_TRY_VOID(read_function_parts(parsed));
  attach(EntityRef());
  return {};
}

Result<void> Reader::read_function_parts(ParsedFunction& parsed) {
  lexer_.advance();  // function
  HOIST_TRY(parsed.func.name, external_name(true));
  HOIST_TRY(parsed.func.signature, signature());
  HOIST_TRY_VOID(expect('{'));
  attach(EntityRef());
  while (!peek().is('}') && !entity_number(peek(), "block")) HOIST_TRY_VOID(preamble_line());
  while (!peek().is('}')) HOIST_TRY_VOID(block());
  HOIST_TRY_VOID(finish_body());
  parsed.end_line = peek().line;
  lexer_.advance();  // }
  return {};
}

// ---- Types, names, signatures.

Result<Type> Reader::type() {
  static constexpr std::string_view kLanes[] = {"i8",  "i16", "i32", "i64", "i128",
                                                "f16", "f32", "f64", "f128"};
  const std::string_view text = peek().kind == TokenKind::Word ? peek().text : "";
  const std::size_t lane_end = text.find('x');
  const std::string_view lane = text.substr(0, lane_end);
  for (std::size_t i = 0; i < std::size(kLanes); ++i) {
    if (lane != kLanes[i]) continue;
    const auto kind = static_cast<Type::Lane>(i + 1);
    if (lane_end == std::string_view::npos) {
      lexer_.advance();
      return Type(kind);
    }
    std::string_view count = text.substr(lane_end + 1);
    const bool dynamic = count.ends_with("xN");
    if (dynamic) count.remove_suffix(2);
    const std::optional<IntLiteral> lanes = parse_int(count);
    if (!lanes || lanes->magnitude < 2 || lanes->magnitude > 256 ||
        !std::has_single_bit(lanes->magnitude)) {
      return error_at(peek(), "vector types have 2 to 256 lanes, a power of two");
    }
    lexer_.advance();
    return Type(kind, static_cast<unsigned>(std::countr_zero(lanes->magnitude)), dynamic);
  }
  if (entity_number(peek(), "dt")) {
    const Token at = peek();
    HOIST_TRY(const DynamicType dynamic, entity<DynamicType>(kMaxTextEntities));
    if (dynamic.index() >= declared_dynamic_types_.size() ||
        !declared_dynamic_types_[dynamic.index()]) {
      return error_at(at, "undeclared type " + std::string(at.text));
    }
    const Type fixed = func_->dynamic_types[dynamic].base;
    return Type(fixed.lane(), fixed.log2_lane_count(), true);
  }
  return expected("a type");
}

Result<ExternalName> Reader::external_name(bool is_definition) {
  if (peek().kind == TokenKind::Name) {
    ExternalName name = ExternalName::testcase(std::string(peek().text));
    lexer_.advance();
    return name;
  }
  if (const auto name_space = entity_number(peek(), "u")) {
    lexer_.advance();
    HOIST_TRY_VOID(expect(':'));
    HOIST_TRY(const std::uint64_t index, unsigned_number(0xffff'ffff, "a function number"));
    ExternalName name = ExternalName::user(*name_space, static_cast<std::uint32_t>(index));
    if (!is_definition) {
      bool known = false;
      for (const ExternalName& other : user_names_) known |= other == name;
      if (!known) user_names_.push_back(name);
    }
    return name;
  }
  if (const auto number = entity_number(peek(), "userextname"); number && !is_definition) {
    lexer_.advance();
    if (*number < user_names_.size()) return user_names_[*number];
    return ExternalName::user(0, *number);
  }
  return expected("a name (%name or u0:0)");
}

Result<Signature> Reader::signature() {
  Signature signature;
  HOIST_TRY_VOID(params(signature.params, true));
  if (peek().kind == TokenKind::Arrow) {
    lexer_.advance();
    HOIST_TRY_VOID(params(signature.returns, false));
  }
  signature.call_conv = default_conv_;
  if (peek().kind == TokenKind::Word) {
    for (unsigned i = 0; i <= static_cast<unsigned>(CallConv::PreserveAll); ++i) {
      const auto conv = static_cast<CallConv>(i);
      if (peek().text != text(conv)) continue;
      signature.call_conv = conv;
      lexer_.advance();
      break;
    }
  }
  return signature;
}

Result<void> Reader::params(std::vector<AbiParam>& params, bool parenthesised) {
  if (parenthesised) {
    HOIST_TRY_VOID(expect('('));
    if (take(')')) return {};
  }
  do {
    AbiParam param;
    HOIST_TRY(param.type, type());
    for (;;) {
      if (take_word("uext")) {
        param.extension = ArgExtension::Uext;
      } else if (take_word("sext")) {
        param.extension = ArgExtension::Sext;
      } else if (take_word("sret")) {
        param.purpose = ArgPurpose::StructReturn;
      } else if (take_word("vmctx")) {
        param.purpose = ArgPurpose::VmCtx;
      } else if (take_word("normal")) {
        param.purpose = ArgPurpose::Normal;
      } else if (take_word("sarg")) {
        HOIST_TRY_VOID(expect('('));
        HOIST_TRY(const std::uint64_t bytes, unsigned_number(0xffff'ffff, "a size"));
        param.purpose = ArgPurpose::StructArgument;
        param.struct_bytes = static_cast<std::uint32_t>(bytes);
        HOIST_TRY_VOID(expect(')'));
      } else {
        break;
      }
    }
    if (params.size() >= kMaxBlockArgs) {
      return error_at(peek(), "a signature has at most 65535 parameters and results");
    }
    params.push_back(param);
  } while (take(','));
  if (parenthesised) return expect(')');
  return {};
}

// ---- Preamble.

Result<void> Reader::preamble_line() {
  const Token at = peek();
  if (entity_number(at, "ss")) return stack_slot();
  if (entity_number(at, "region")) return alias_region();
  if (entity_number(at, "gv")) return global_value();
  if (entity_number(at, "sig")) return signature_declaration();
  if (entity_number(at, "fn")) return function_declaration();
  if (entity_number(at, "const")) return constant();
  if (entity_number(at, "dt")) return dynamic_type();
  if (entity_number(at, "dss")) return dynamic_stack_slot();
  if (take_word("stack_limit")) {
    HOIST_TRY_VOID(expect('='));
    HOIST_TRY(func_->stack_limit, entity<GlobalValue>(kMaxTextEntities));
    attach(func_->stack_limit);
    return {};
  }
  return expected("a declaration or a block");
}

Result<void> Reader::stack_slot() {
  const Token at = peek();
  HOIST_TRY(const StackSlot slot, entity<StackSlot>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  if (!take_word("explicit_slot")) return expected("\"explicit_slot\"");
  StackSlotData data;
  HOIST_TRY(const std::uint64_t bytes, unsigned_number(0xffff'ffff, "a size"));
  data.bytes = static_cast<std::uint32_t>(bytes);
  while (take(',')) {
    if (take_word("align")) {
      HOIST_TRY_VOID(expect('='));
      const Token number = peek();
      HOIST_TRY(const std::uint64_t align, unsigned_number(0x8000'0000, "an alignment"));
      if (!std::has_single_bit(align)) return error_at(number, "an alignment is a power of two");
      data.align_log2 = static_cast<std::uint8_t>(std::countr_zero(align));
    } else if (take_word("key")) {
      HOIST_TRY_VOID(expect('='));
      HOIST_TRY(data.key, unsigned_number(~std::uint64_t{0}, "a key"));
      data.has_key = true;
    } else {
      return expected("\"align\" or \"key\"");
    }
  }
  StackSlotData placeholder;
  placeholder.key = 1;
  HOIST_TRY_VOID(declare(slot, func_->stack_slots, declared_slots_, placeholder, at));
  func_->stack_slots[slot] = data;
  attach(slot);
  return {};
}

Result<void> Reader::alias_region() {
  const Token at = peek();
  HOIST_TRY(const AliasRegion region, entity<AliasRegion>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  if (region != func_->alias_regions.next()) {
    return error_at(at, "alias regions are declared in order: expected region" +
                            std::to_string(func_->alias_regions.size()));
  }
  AliasRegionData data;
  HOIST_TRY(const std::uint64_t id, unsigned_number(0xffff'ffff, "a user id"));
  data.user_id = static_cast<std::uint32_t>(id);
  if (peek().kind != TokenKind::String) return expected("a description in quotes");
  data.description = peek().text;
  lexer_.advance();
  func_->alias_regions.push(std::move(data));
  attach(region);
  return {};
}

Result<void> Reader::global_value() {
  const Token at = peek();
  HOIST_TRY(const GlobalValue global, entity<GlobalValue>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  GlobalValueData data;
  if (take_word("vmctx")) {
    data.kind = GlobalValueData::Kind::VmContext;
  } else if (take_word("load")) {
    HOIST_TRY_VOID(global_load(data));
  } else if (take_word("iadd_imm")) {
    data.kind = GlobalValueData::Kind::IaddImm;
    HOIST_TRY_VOID(expect('.'));
    HOIST_TRY(data.type, type());
    HOIST_TRY(data.base, entity<GlobalValue>(kMaxTextEntities));
    HOIST_TRY_VOID(comma());
    const std::optional<IntLiteral> literal = parse_int(peek().text);
    const auto bits = literal ? literal->in_bits(64) : std::nullopt;
    if (peek().kind != TokenKind::Number || !bits) return expected("an integer of 64 bits");
    data.offset = static_cast<std::int64_t>(*bits);
    lexer_.advance();
  } else if (take_word("symbol")) {
    HOIST_TRY_VOID(global_symbol(data));
  } else if (take_word("dyn_scale_target_const")) {
    data.kind = GlobalValueData::Kind::DynScale;
    HOIST_TRY_VOID(expect('.'));
    const Token type_at = peek();
    HOIST_TRY(data.type, type());
    if (!data.type.is_vector()) return error_at(type_at, "expected a vector type");
  } else {
    return expected("vmctx, load, iadd_imm or symbol");
  }
  GlobalValueData placeholder;
  placeholder.kind = GlobalValueData::Kind::IaddImm;
  HOIST_TRY_VOID(declare(global, func_->global_values, declared_globals_, placeholder, at));
  func_->global_values[global] = std::move(data);
  attach(global);
  return {};
}

Result<void> Reader::global_load(GlobalValueData& data) {
  data.kind = GlobalValueData::Kind::Load;
  HOIST_TRY_VOID(expect('.'));
  HOIST_TRY(data.type, type());
  const Token at = peek();
  HOIST_TRY(const MemFlags flags, mem_flags());
  if (!flags.notrap() || !flags.aligned) {
    return error_at(at, "a global value load is notrap and aligned");
  }
  const std::optional<MemFlagsRef> ref = func_->intern_exactly(flags);
  if (!ref) return error_at(at, "implementation limit exceeded: 64511 distinct memory flag sets");
  data.flags = *ref;
  HOIST_TRY(data.base, entity<GlobalValue>(kMaxTextEntities));
  HOIST_TRY(data.offset, offset32());
  return {};
}

Result<void> Reader::global_symbol(GlobalValueData& data) {
  data.kind = GlobalValueData::Kind::Symbol;
  data.colocated = take_word("colocated");
  data.tls = take_word("tls");
  HOIST_TRY(data.name, external_name(false));
  if (peek().kind == TokenKind::Number) {
    const std::optional<IntLiteral> literal = parse_int(peek().text);
    const auto bits = literal ? literal->in_bits(64) : std::nullopt;
    if (!bits) return expected("an offset");
    data.offset = static_cast<std::int64_t>(*bits);
    lexer_.advance();
  }
  return {};
}

Result<void> Reader::signature_declaration() {
  const Token at = peek();
  HOIST_TRY(const SigRef sig, entity<SigRef>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  HOIST_TRY(Signature data, signature());
  HOIST_TRY_VOID(declare(sig, func_->signatures, declared_sigs_, Signature(), at));
  func_->signatures[sig] = std::move(data);
  attach(sig);
  return {};
}

Result<void> Reader::function_declaration() {
  const Token at = peek();
  HOIST_TRY(const FuncRef func, entity<FuncRef>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  ExtFunc data;
  data.colocated = take_word("colocated");
  data.patchable = take_word("patchable");
  HOIST_TRY(data.name, external_name(false));
  if (entity_number(peek(), "sig")) {
    const Token sig_at = peek();
    HOIST_TRY(data.signature, entity<SigRef>(kMaxTextEntities));
    if (data.signature.index() >= declared_sigs_.size() ||
        !declared_sigs_[data.signature.index()]) {
      return error_at(sig_at, "undeclared signature " + std::string(sig_at.text));
    }
  } else {
    HOIST_TRY(Signature inline_signature, signature());
    data.signature = func_->signatures.push(std::move(inline_signature));
    declared_sigs_.resize(func_->signatures.size());
    declared_sigs_.back() = true;
  }
  HOIST_TRY_VOID(declare(func, func_->ext_funcs, declared_funcs_, ExtFunc(), at));
  func_->ext_funcs[func] = std::move(data);
  attach(func);
  return {};
}

Result<void> Reader::constant() {
  const Token at = peek();
  HOIST_TRY(const Constant constant, entity<Constant>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  std::vector<std::uint8_t> bytes;
  if (peek().kind == TokenKind::Number) {
    HOIST_TRY_VOID(wide_hex(bytes));
  } else {
    const Token type_at = peek();
    HOIST_TRY(const Type vector, type());
    if (!vector.is_vector()) return error_at(type_at, "expected a vector type or a number");
    bytes.resize(vector.bytes());
    HOIST_TRY_VOID(vector_literal(vector, bytes));
  }
  HOIST_TRY_VOID(
      declare(constant, func_->constants, declared_constants_, std::vector<std::uint8_t>(), at));
  func_->constants[constant] = std::move(bytes);
  attach(constant);
  return {};
}

/// A hexadecimal number of any length as bytes, lowest first.
Result<void> Reader::wide_hex(std::vector<std::uint8_t>& bytes) {
  const std::string_view text = peek().text;
  if (peek().kind != TokenKind::Number || !text.starts_with("0x") || text.size() < 3) {
    return expected("a hexadecimal number");
  }
  unsigned digits = 0;
  for (std::size_t i = text.size(); i-- > 2;) {
    const char c = text[i];
    if (c == '_') continue;
    const bool is_digit = c >= '0' && c <= '9', is_low = c >= 'a' && c <= 'f';
    if (!is_digit && !is_low && !(c >= 'A' && c <= 'F')) return expected("a hexadecimal number");
    const auto digit = static_cast<unsigned>(is_digit ? c - '0' : (c | 0x20) - 'a' + 10);
    if (digits % 2 == 0) bytes.push_back(0);
    bytes.back() = static_cast<std::uint8_t>(bytes.back() | digit << (digits % 2 * 4));
    ++digits;
  }
  if (bytes.empty()) return expected("a hexadecimal number");
  lexer_.advance();
  return {};
}

Result<void> Reader::vector_literal(Type vector, std::span<std::uint8_t> bytes) {
  std::ranges::fill(bytes, std::uint8_t{0});
  if (!peek().is('[')) {
    const Token at = peek();
    std::vector<std::uint8_t> number;
    HOIST_TRY_VOID(wide_hex(number));
    while (number.size() > bytes.size() && number.back() == 0) number.pop_back();
    if (number.size() > bytes.size()) {
      return error_at(at, "the constant has more than " + std::to_string(bytes.size()) + " bytes");
    }
    std::ranges::copy(number, bytes.begin());
    return {};
  }
  lexer_.advance();
  const std::size_t width = vector.lane_bits() / 8;
  for (unsigned lane = 0; lane < vector.lane_count(); ++lane) {
    std::optional<Bits128> bits;
    const std::string_view text = peek().text;
    switch (vector.lane()) {
      case Type::Lane::F16: bits = parse_wide_float(text, kF16); break;
      case Type::Lane::F32: bits = parse_wide_float(text, kF32); break;
      case Type::Lane::F64: bits = parse_wide_float(text, kF64); break;
      case Type::Lane::F128: bits = parse_wide_float(text, kF128); break;
      case Type::Lane::I128: bits = parse_wide(text); break;
      case Type::Lane::I8:
      case Type::Lane::I16:
      case Type::Lane::I32:
      case Type::Lane::I64:
        if (const auto literal = parse_int(text)) bits = literal->in_bits(vector.lane_bits());
        break;
      case Type::Lane::Invalid: break;
    }
    if (!bits) {
      base::Printer what;
      what << "lane " << lane << " of " << vector.lane_count() << ", a " << vector.lane_type();
      return expected(what.view());
    }
    const auto value = to_bytes(*bits);
    std::copy_n(value.begin(), width, bytes.begin() + static_cast<std::ptrdiff_t>(lane * width));
    lexer_.advance();
  }
  return expect(']');
}

Result<Constant> Reader::constant_operand(Type vector) {
  const Token at = peek();
  if (entity_number(at, "const")) {
    HOIST_TRY(const Constant constant, entity<Constant>(kMaxTextEntities));
    if (constant.index() >= declared_constants_.size() || !declared_constants_[constant.index()]) {
      return error_at(at, "undeclared constant " + std::string(at.text));
    }
    return constant;
  }
  if (!vector.is_vector()) return error_at(at, "a literal needs a vector type as suffix");
  std::vector<std::uint8_t> bytes(vector.bytes());
  HOIST_TRY_VOID(vector_literal(vector, bytes));
  const Constant constant = func_->intern_constant(bytes);
  declared_constants_.resize(func_->constants.size(), false);
  declared_constants_[constant.index()] = true;
  return constant;
}

Result<void> Reader::dynamic_type() {
  const Token at = peek();
  HOIST_TRY(const DynamicType dynamic, entity<DynamicType>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  DynamicTypeData data;
  const Token type_at = peek();
  HOIST_TRY(data.base, type());
  if (!data.base.is_vector()) return error_at(type_at, "expected a vector type");
  HOIST_TRY_VOID(expect('*'));
  HOIST_TRY(data.scale, entity<GlobalValue>(kMaxTextEntities));
  HOIST_TRY_VOID(
      declare(dynamic, func_->dynamic_types, declared_dynamic_types_, DynamicTypeData(), at));
  func_->dynamic_types[dynamic] = data;
  attach(dynamic);
  return {};
}

Result<void> Reader::dynamic_stack_slot() {
  const Token at = peek();
  HOIST_TRY(const DynamicStackSlot slot, entity<DynamicStackSlot>(kMaxTextEntities));
  HOIST_TRY_VOID(expect('='));
  if (!take_word("explicit_dynamic_slot")) return expected("\"explicit_dynamic_slot\"");
  DynamicStackSlotData data;
  HOIST_TRY(data.type, entity<DynamicType>(kMaxTextEntities));
  HOIST_TRY_VOID(declare(slot, func_->dynamic_stack_slots, declared_dynamic_slots_,
                         DynamicStackSlotData(), at));
  func_->dynamic_stack_slots[slot] = data;
  attach(slot);
  return {};
}

Result<MemFlags> Reader::mem_flags() {
  MemFlags flags;
  for (; peek().kind == TokenKind::Word; lexer_.advance()) {
    const std::string_view word = peek().text;
    if (word == "notrap") {
      flags.trap = TrapCode::None;
    } else if (word == "aligned") {
      flags.aligned = true;
    } else if (word == "readonly") {
      flags.readonly = true;
    } else if (word == "can_move") {
      flags.can_move = true;
    } else if (word == "little") {
      if (flags.endian == 2) return error_at(peek(), "a memory access is little or big, not both");
      flags.endian = 1;
    } else if (word == "big") {
      if (flags.endian == 1) return error_at(peek(), "a memory access is little or big, not both");
      flags.endian = 2;
    } else if (const auto region = entity_number(peek(), "region")) {
      if (flags.region.is_some()) return error_at(peek(), "a memory access has one alias region");
      flags.region = AliasRegion(*region);
    } else if (const auto code = trap_code_of(word)) {
      flags.trap = *code;
    } else {
      break;
    }
  }
  return flags;
}

}  // namespace text_detail
}  // namespace hoist::ir
