// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The recursive-descent reader behind reader.hpp; one object per file. Nesting is of fixed depth.

#include <string>

#include "ir/text/lexer.hpp"
#include "ir/text/literals.hpp"
#include "ir/text/reader.hpp"

namespace hoist::ir::text_detail {

class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) {}
  Result<ParsedFile> read_file();

 private:
  // ---- Tokens and errors.
  const Token& peek() const { return lexer_.peek(); }
  Error error_at(const Token& token, std::string message) const;
  /// "expected X, found Y"
  Error expected(std::string_view what) const;
  bool take(char punct);
  bool take_word(std::string_view word);
  Result<void> expect(char punct);
  /// A word `prefix` + decimal number without leading zeros, or nothing.
  static std::optional<std::uint32_t> entity_number(const Token& token, std::string_view prefix);
  template <typename E>
  Result<E> entity(std::uint32_t limit);
  Result<std::int64_t> offset32();
  Result<std::uint64_t> unsigned_number(std::uint64_t limit, std::string_view what);

  // ---- File and preamble (reader.cpp).
  Result<void> read_file_line(ParsedFile& file);
  ParsedLine words_of_line();
  Result<void> read_function(ParsedFunction& parsed);
  Result<void> read_function_parts(ParsedFunction& parsed);
  /// The comments read so far belong to an entity.
  void attach(EntityRef owner);
  Result<Type> type();
  Result<ExternalName> external_name(bool is_definition);
  Result<Signature> signature();
  Result<void> params(std::vector<AbiParam>& params, bool parenthesised);
  Result<void> preamble_line();
  Result<void> stack_slot();
  Result<void> alias_region();
  Result<void> global_value();
  Result<void> global_load(GlobalValueData& data);
  Result<void> global_symbol(GlobalValueData& data);
  Result<void> signature_declaration();
  Result<void> function_declaration();
  Result<void> constant();
  Result<void> wide_hex(std::vector<std::uint8_t>& bytes);
  Result<void> dynamic_type();
  Result<void> dynamic_stack_slot();
  Result<MemFlags> mem_flags();
  /// Makes room for entity `e`; an error if it was declared before.
  template <typename E, typename Table, typename T>
  Result<void> declare(E e, Table& table, std::vector<bool>& declared, const T& placeholder,
                       const Token& token);

  // ---- Body (reader_body.cpp).
  Result<void> block();
  Result<void> block_params(Block block);
  Result<void> body_line(Block block);
  Result<void> instruction(Block block);
  Result<void> operands(InstData& data, Type suffix, Type& control, const Token& at);
  Result<void> results(Inst inst, const InstData& data, Type control, const Token& at);
  Result<void> alias(Value from, const Token& at);
  Result<Op> opcode();
  Result<Value> value_operand(std::uint32_t& field);
  Result<Value> value_use();
  Result<void> define_value(Value v, const Token& token);
  Result<void> value_arguments(char close);
  Result<BlockCall> block_call();
  static std::optional<std::uint32_t> try_value_number(const Token& token);
  void make_try_values();
  Result<ExceptionTable> exception_table();
  Result<SigRef> signature_use();
  Result<FuncRef> function_use();
  Result<void> debug_tags();
  Result<void> stack_map(Op op);
  Result<Constant> constant_operand(Type type);
  /// `[1 2 3]` or one number, as the bytes of a value of `type`.
  Result<void> vector_literal(Type type, std::span<std::uint8_t> bytes);
  Result<Block> block_use();
  Result<TrapCode> trap_code();
  static std::optional<TrapCode> trap_code_of(std::string_view text);
  Result<void> comma() { return expect(','); }
  Result<void> finish_body();

  Lexer lexer_;
  Function* func_ = nullptr;
  ParsedFunction* parsed_ = nullptr;
  CallConv default_conv_ = CallConv::Fast;

  // Of the current function.
  std::vector<bool> defined_values_;
  std::vector<bool> declared_slots_, declared_globals_, declared_sigs_, declared_funcs_,
      declared_constants_, declared_dynamic_types_, declared_dynamic_slots_;
  struct PendingUse {
    Value value;
    Token token;
  };
  std::vector<PendingUse> pending_uses_;
  /// `retN` or `exnN` among the arguments of a block call.
  struct PendingTryValue {
    Inst inst;
    BlockCall call;
    std::uint32_t position;
    ValueKind kind;
    std::uint32_t number;
  };
  std::vector<PendingTryValue> pending_try_values_;
  std::vector<ExternalName> user_names_;
  std::vector<std::pair<Value, Token>> result_names_;
  std::vector<Value> values_;
  std::vector<BlockCall> calls_;
  std::vector<ExceptionItem> items_;
  std::vector<DebugTag> tags_;
  std::vector<StackMapEntry> stack_map_;
};

}  // namespace hoist::ir::text_detail
