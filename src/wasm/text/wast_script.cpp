// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/wast_script.hpp"

#include <fmt/core.h>

#include "wasm/text/numbers.hpp"
#include "wasm/text/token_cursor.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {

namespace {

constexpr unsigned kMaxThreadNesting = 8;

struct AssertionName {
  std::string_view word;
  CommandKind kind;
};
/// Assertions on a module, with a message.
constexpr AssertionName kModuleAssertions[] = {
    {"assert_malformed", CommandKind::AssertMalformed},
    {"assert_malformed_custom", CommandKind::AssertMalformedCustom},
    {"assert_invalid", CommandKind::AssertInvalid},
    {"assert_invalid_custom", CommandKind::AssertInvalidCustom},
    {"assert_unlinkable", CommandKind::AssertUnlinkable},
    {"assert_uninstantiable", CommandKind::AssertTrapModule},
};

constexpr std::string_view kFields[] = {"type",   "rec", "import", "func",  "table", "memory",
                                        "global", "tag", "export", "start", "elem",  "data"};

struct HeapName {
  std::string_view word;
  std::uint8_t byte;
};
constexpr HeapName kHeaps[] = {
    {"func", 0x70},  {"extern", 0x6f}, {"any", 0x6e},   {"eq", 0x6d},
    {"i31", 0x6c},   {"struct", 0x6b}, {"array", 0x6a}, {"exn", 0x69},
    {"noexn", 0x74}, {"nofunc", 0x73}, {"none", 0x71},  {"noextern", 0x72},
};

struct ReferenceName {
  std::string_view word;
  ScriptType type;
};
/// Expected references of which only the kind counts.
constexpr ReferenceName kReferences[] = {
    {"ref.func", ScriptType::RefFunc},     {"ref.any", ScriptType::RefAny},
    {"ref.eq", ScriptType::RefEq},         {"ref.i31", ScriptType::RefI31},
    {"ref.struct", ScriptType::RefStruct}, {"ref.array", ScriptType::RefArray},
    {"ref.exn", ScriptType::RefExn},
};

class ScriptParser : TokenCursor {
 public:
  explicit ScriptParser(const TokenStream& stream)
      : TokenCursor(stream, 0, static_cast<std::uint32_t>(stream.tokens.size()) - 1) {}

  Script parse() {
    Script script;
    if (at_module_field()) {
      script.commands.push_back(bare_module());
      return script;
    }
    commands(script.commands, end_, 0);
    return script;
  }

 private:
  enum class Role : bool { Argument, Expected };

  bool at_module_field() const {
    for (const std::string_view word : kFields) {
      if (at_list(word)) return true;
    }
    return false;
  }

  /// A script that is one module without `(module …)`.
  Command bare_module() {
    Command command = start_command();
    command.kind = CommandKind::Module;
    set_bytes(command.module, assemble_fields(stream_, at_, end_, nullptr));
    return command;
  }

  Command start_command() const {
    Command command;
    const TextPosition at = stream_.position(peek().offset);
    command.line = at.line;
    command.column = at.column;
    return command;
  }

  void commands(std::vector<Command>& out, std::uint32_t end, unsigned depth) {
    while (at_ < end && !at_kind(TokenKind::End)) {
      const std::uint32_t begin = at_;
      Command command = start_command();
      const std::uint32_t close = peek().match;
      const bool ok = command_here(command, depth);
      if (!ok) {
        command.kind = CommandKind::Broken;
        command.error = take_error();
        error_.reset();
      }
      out.push_back(std::move(command));
      if (stream_.tokens[begin].kind == TokenKind::LParen && close < end) {
        at_ = close + 1;
      } else {
        recover(begin, end);
      }
    }
  }

  /// From a token that starts no closed list to the next "(" at the start of a line.
  void recover(std::uint32_t begin, std::uint32_t end) {
    at_ = begin + 1;
    while (at_ < end &&
           !(at_kind(TokenKind::LParen) && stream_.position(peek().offset).column == 1)) {
      ++at_;
    }
  }

  bool command_here(Command& command, unsigned depth) {
    if (!at_kind(TokenKind::LParen)) return fail_unexpected("a command");
    if (at_list("module")) return module_command(command);
    if (at_list("invoke") || at_list("get")) {
      command.kind = CommandKind::Action;
      return action(command.action);
    }
    if (accept_list("register")) {
      command.kind = CommandKind::Register;
      if (!string(command.name)) return false;
      optional_id(command.of);
      return expect_close();
    }
    if (accept_list("thread")) return thread(command, depth);
    if (accept_list("wait")) {
      command.kind = CommandKind::Wait;
      if (!at_kind(TokenKind::Id)) return fail_unexpected("the name of a thread");
      optional_id(command.id);
      return expect_close();
    }
    return assertion(command);
  }

  // ---- Modules.

  bool module_command(Command& command) {
    command.kind = CommandKind::Module;
    if (is_keyword(peek(2), "instance")) {
      at_ += 3;
      command.kind = CommandKind::ModuleInstance;
      optional_id(command.id);
      optional_id(command.of);
      return expect_close();
    }
    if (is_keyword(peek(2), "definition")) command.kind = CommandKind::ModuleDefinition;
    return module(command.module);
  }

  /// `(module definition? $id? …)`. That its text is malformed is no error of the script.
  bool module(ScriptModule& out) {
    const std::uint32_t list = at_;
    const std::uint32_t close = peek().match;
    if (!accept_list("module")) return fail_unexpected("a module");
    accept_keyword("definition");
    const Token* id = at_kind(TokenKind::Id) ? &peek() : nullptr;
    optional_id(out.id);
    if (stream_.tokens[close].kind == TokenKind::End) {
      return fail(stream_.tokens[list], "unclosed module");
    }
    if (at_keyword("binary") || at_keyword("quote")) {
      out.form = at_keyword("binary") ? ModuleForm::Binary : ModuleForm::Quote;
      next();
      return module_strings(out);
    }
    set_bytes(out, assemble_fields(stream_, at_, close, id));
    at_ = close + 1;
    return true;
  }

  bool module_strings(ScriptModule& out) {
    std::string content;
    while (at_kind(TokenKind::String)) decode_string(text_of(next()), content);
    if (!expect_close()) return false;
    if (out.form == ModuleForm::Binary) {
      out.bytes.assign(content.begin(), content.end());
      return true;
    }
    TextOptions options;
    options.in_quote = true;
    Result<std::vector<std::uint8_t>> bytes = assemble_wat(content, options);
    if (!bytes) {
      Error& error = bytes.error();
      error.message() +=
          fmt::format(" (line {}, column {} of the quoted text)", error.line(), error.column());
      error.at_line(0, 0);
    }
    set_bytes(out, std::move(bytes));
    return true;
  }

  static void set_bytes(ScriptModule& out, Result<std::vector<std::uint8_t>> bytes) {
    if (bytes) {
      out.bytes = *std::move(bytes);
    } else {
      out.error = std::move(bytes).error();
    }
  }

  // ---- Assertions and actions.

  bool assertion(Command& command) {
    const std::string_view word = text_of(peek(1));
    const Token& at = peek(1);
    next();
    next();
    for (const AssertionName& row : kModuleAssertions) {
      if (word != row.word) continue;
      command.kind = row.kind;
      return module(command.module) && string(command.message) && expect_close();
    }
    if (word == "assert_return") {
      command.kind = CommandKind::AssertReturn;
      if (!action(command.action)) return false;
      return values(command.results, Role::Expected) && expect_close();
    }
    if (word == "assert_trap" && at_list("module")) {
      command.kind = CommandKind::AssertTrapModule;
      return module(command.module) && string(command.message) && expect_close();
    }
    if (word == "assert_trap") {
      command.kind = CommandKind::AssertTrap;
    } else if (word == "assert_exhaustion") {
      command.kind = CommandKind::AssertExhaustion;
    } else if (word == "assert_suspension") {
      command.kind = CommandKind::AssertSuspension;
    } else if (word == "assert_exception") {
      command.kind = CommandKind::AssertException;
      if (!action(command.action)) return false;
      if (at_kind(TokenKind::String) && !string(command.message)) return false;
      return expect_close();
    } else {
      return fail(at, fmt::format("unknown command {}", stream_.shown(at)));
    }
    return action(command.action) && string(command.message) && expect_close();
  }

  bool action(ScriptAction& out) {
    if (accept_list("invoke")) {
      out.kind = ActionKind::Invoke;
    } else if (accept_list("get")) {
      out.kind = ActionKind::Get;
    } else {
      return fail_unexpected("(invoke or (get");
    }
    optional_id(out.module);
    if (!string(out.name)) return false;
    if (out.kind == ActionKind::Invoke && !values(out.arguments, Role::Argument)) return false;
    return expect_close();
  }

  bool thread(Command& command, unsigned depth) {
    command.kind = CommandKind::Thread;
    if (!at_kind(TokenKind::Id)) return fail_unexpected("the name of a thread");
    if (depth == kMaxThreadNesting) {
      return fail(peek(), fmt::format("threads nested more than {} deep", kMaxThreadNesting));
    }
    optional_id(command.id);
    while (accept_list("shared")) {
      while (accept_list("module")) {
        std::optional<std::string> id;
        if (!at_kind(TokenKind::Id)) return fail_unexpected("the name of a module");
        optional_id(id);
        command.shared.push_back(*id);
        if (!expect_close()) return false;
      }
      if (!expect_close()) return false;
    }
    std::uint32_t close = at_;
    while (stream_.tokens[close].kind == TokenKind::LParen) close = stream_.tokens[close].match + 1;
    if (close >= stream_.tokens.size() || stream_.tokens[close].kind != TokenKind::RParen) {
      return fail_unexpected("a command");
    }
    commands(command.nested, close, depth + 1);
    at_ = close;
    return expect_close();
  }

  bool string(std::string& out) {
    if (!at_kind(TokenKind::String)) return fail_unexpected("a string");
    out.clear();
    decode_string(text_of(next()), out);
    return true;
  }

  void optional_id(std::optional<std::string>& out) {
    if (at_kind(TokenKind::Id)) out = identifier_name(text_of(next()));
  }

  // ---- Values.

  bool values(std::vector<ScriptValue>& out, Role role) {
    while (at_kind(TokenKind::LParen)) {
      out.emplace_back();
      if (!value(out.back(), role)) return false;
    }
    return true;
  }

  bool value(ScriptValue& out, Role role) {
    if (role == Role::Expected && accept_list("either")) {
      out.type = ScriptType::Either;
      while (at_kind(TokenKind::LParen)) {
        if (at_list("either")) return fail_unexpected("a value");
        out.alternatives.emplace_back();
        if (!value(out.alternatives.back(), role)) return false;
      }
      return expect_close();
    }
    if (accept_list("i32.const")) return integer(out, ScriptType::I32, 32) && expect_close();
    if (accept_list("i64.const")) return integer(out, ScriptType::I64, 64) && expect_close();
    if (accept_list("f32.const")) {
      out.type = ScriptType::F32;
      return float_bits(32, role, out.low, out.nan[0]) && expect_close();
    }
    if (accept_list("f64.const")) {
      out.type = ScriptType::F64;
      return float_bits(64, role, out.low, out.nan[0]) && expect_close();
    }
    if (accept_list("v128.const")) return vector(out, role) && expect_close();
    return reference(out, role);
  }

  bool reference(ScriptValue& out, Role role) {
    if (accept_list("ref.null")) {
      out.type = ScriptType::RefNull;
      for (const HeapName& row : kHeaps) {
        if (at_keyword(row.word)) out.heap = row.byte;
      }
      if (at_kind(TokenKind::Keyword) && out.heap == 0) return fail_unexpected("a heap type");
      if (!at_kind(TokenKind::RParen)) next();
      return expect_close();
    }
    if (at_list("ref.extern") || at_list("ref.host")) {
      out.type = at_list("ref.extern") ? ScriptType::RefExtern : ScriptType::RefHost;
      next();
      next();
      out.has_number = at_kind(TokenKind::Nat);
      if (!out.has_number && role == Role::Argument) return fail_unexpected("a number");
      if (out.has_number && !integer(out, out.type, 32)) return false;
      return expect_close();
    }
    if (role == Role::Expected) {
      for (const ReferenceName& row : kReferences) {
        if (!accept_list(row.word)) continue;
        out.type = row.type;
        if (at_kind(TokenKind::Nat) || at_kind(TokenKind::Id)) next();
        return expect_close();
      }
    }
    next();
    return fail_unexpected("a constant");
  }

  bool integer(ScriptValue& out, ScriptType type, unsigned width) {
    out.type = type;
    return integer_bits(width, out.low);
  }

  bool integer_bits(unsigned width, std::uint64_t& bits) {
    const Token& token = peek();
    const Number<std::uint64_t> number = parse_int(text_of(token), width);
    if (number.status == NumberStatus::OutOfRange) {
      return fail(token, fmt::format("i{} constant out of range: {}", width, stream_.shown(token)));
    }
    if (number.status != NumberStatus::Ok) return fail_unexpected("an integer");
    bits = number.bits;
    next();
    return true;
  }

  bool float_bits(unsigned width, Role role, std::uint64_t& bits, NanPattern& nan) {
    if (role == Role::Expected) {
      if (at_keyword("nan:canonical")) nan = NanPattern::Canonical;
      if (at_keyword("nan:arithmetic")) nan = NanPattern::Arithmetic;
      if (nan != NanPattern::None) {
        next();
        return true;
      }
    }
    const Token& token = peek();
    NumberStatus status;
    if (width == 32) {
      const Number<std::uint32_t> number = parse_f32(text_of(token));
      status = number.status;
      bits = number.bits;
    } else {
      const Number<std::uint64_t> number = parse_f64(text_of(token));
      status = number.status;
      bits = number.bits;
    }
    if (status == NumberStatus::OutOfRange) {
      return fail(token, fmt::format("f{} constant out of range: {}", width, stream_.shown(token)));
    }
    if (status != NumberStatus::Ok) return fail_unexpected("a floating-point number");
    next();
    return true;
  }

  bool vector(ScriptValue& out, Role role) {
    struct Shape {
      std::string_view word;
      std::uint8_t bits;
      bool is_float;
    };
    constexpr Shape kShapes[] = {{"i8x16", 8, false},  {"i16x8", 16, false}, {"i32x4", 32, false},
                                 {"i64x2", 64, false}, {"f32x4", 32, true},  {"f64x2", 64, true}};
    out.type = ScriptType::V128;
    for (const Shape& shape : kShapes) {
      if (!accept_keyword(shape.word)) continue;
      out.lane_bits = shape.bits;
      out.float_lanes = shape.is_float;
      for (unsigned at = 0; at < 128; at += shape.bits) {
        std::uint64_t bits = 0;
        NanPattern unused = NanPattern::None;
        NanPattern& nan = shape.is_float ? out.nan[at / shape.bits] : unused;
        if (shape.is_float ? !float_bits(shape.bits, role, bits, nan)
                           : !integer_bits(shape.bits, bits)) {
          return false;
        }
        (at < 64 ? out.low : out.high) |= bits << (at % 64);
      }
      return true;
    }
    return fail_unexpected("the shape of a v128 constant");
  }
};

}  // namespace

Script parse_script(std::string_view text) {
  const TokenStream stream = lex(text);
  return ScriptParser(stream).parse();
}

const char* to_string(CommandKind kind) {
  switch (kind) {
    case CommandKind::Module: return "module";
    case CommandKind::ModuleDefinition: return "module definition";
    case CommandKind::ModuleInstance: return "module instance";
    case CommandKind::Register: return "register";
    case CommandKind::Action: return "action";
    case CommandKind::AssertReturn: return "assert_return";
    case CommandKind::AssertTrap:
    case CommandKind::AssertTrapModule: return "assert_trap";
    case CommandKind::AssertExhaustion: return "assert_exhaustion";
    case CommandKind::AssertException: return "assert_exception";
    case CommandKind::AssertSuspension: return "assert_suspension";
    case CommandKind::AssertMalformed: return "assert_malformed";
    case CommandKind::AssertMalformedCustom: return "assert_malformed_custom";
    case CommandKind::AssertInvalid: return "assert_invalid";
    case CommandKind::AssertInvalidCustom: return "assert_invalid_custom";
    case CommandKind::AssertUnlinkable: return "assert_unlinkable";
    case CommandKind::Thread: return "thread";
    case CommandKind::Wait: return "wait";
    case CommandKind::Broken: return "broken command";
  }
  return "command";
}

}  // namespace hoist::wasm
