// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The assembler of one module's fields; internal to text/ (the interface is wat_parser.hpp).
///
/// Two walks. The first gives every field its index, so that names may be used before their
/// definition, and reads the type definitions. The second assembles the other fields in order,
/// each straight into the bytes of its section. Instructions are one loop with an explicit stack.
///
/// Files: module_assembler.cpp (walks, output), _types.cpp, _fields.cpp, _segments.cpp (elements
/// and data), _instructions.cpp (control), _immediates.cpp, _annotations.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/keyed_hash.hpp"
#include "base/result.hpp"
#include "wasm/format/opcodes.hpp"
#include "wasm/text/numbers.hpp"
#include "wasm/text/text_types.hpp"
#include "wasm/text/token_cursor.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist::wasm {

/// Sections of a module by their ids.
enum class TextSection : std::uint8_t {
  Custom = 0,
  Type = 1,
  Import = 2,
  Func = 3,
  Table = 4,
  Memory = 5,
  Global = 6,
  Export = 7,
  Start = 8,
  Elem = 9,
  Code = 10,
  Data = 11,
  DataCount = 12,
  Tag = 13,
  First = 0xfe,  ///< in front of all, for custom sections
  Last = 0xff    ///< behind all
};

class ModuleAssembler : TokenCursor {
 public:
  ModuleAssembler(const TokenStream& stream, std::uint32_t begin, std::uint32_t end,
                  const Token* id, const TextOptions& options);
  Result<Bytes> run();

 private:
  /// A section's entries; their number is written before them.
  struct Section {
    Bytes bytes;
    std::uint32_t count = 0;
  };
  struct Custom {
    std::string name;
    std::string content;
    TextSection section = TextSection::Last;
    bool after = true;
  };
  /// What is known of a type index.
  struct TypeEntry {
    bool is_func = false;
    std::uint32_t first = 0;  ///< in sig_pool_: parameters, then results
    std::uint32_t num_params = 0;
    std::uint32_t num_results = 0;
  };
  /// Parameters and results as written at one place.
  struct Signature {
    std::vector<TextValType> params;
    std::vector<TextValType> results;
    std::vector<std::uint32_t> param_symbols;
    std::vector<std::pair<std::uint32_t, std::string>> given_names;  ///< by annotations
    bool empty() const { return params.empty() && results.empty(); }
    void clear() {
      params.clear();
      results.clear();
      param_symbols.clear();
      given_names.clear();
    }
  };
  enum class ParamNames : bool { Forbidden, Allowed };
  enum class ExprForm : bool { Sequence, OneFolded };
  enum class ExternKind : std::uint8_t { Func = 0, Table = 1, Memory = 2, Global = 3, Tag = 4 };

  /// What is open around an instruction.
  enum class FrameKind : std::uint8_t {
    Block,             ///< flat block, loop, try_table; else and catch impossible
    If,                ///< flat if
    Else,              ///< flat else
    Try,               ///< flat try, before any catch
    Catch,             ///< flat try, after a catch
    CatchAll,          ///< flat try, after catch_all
    FoldedPlain,       ///< (op operands)
    FoldedBlock,       ///< (block …), (loop …), (try_table …)
    FoldedIf,          ///< (if …) in front of (then
    FoldedThenEnd,     ///< (if …) behind its (then …)
    FoldedIfEnd,       ///< (if …) behind its (else …)
    FoldedPart,        ///< inside (then …), (else …), (do …), (catch …), (catch_all …)
    FoldedTry,         ///< (try …) in front of (do
    FoldedTryParts,    ///< (try …) behind (do …)
    FoldedTryCatches,  ///< (try …) behind a (catch …)
    FoldedTryEnd       ///< (try …) behind (catch_all …) or (delegate …)
  };
  struct Frame {
    FrameKind kind = FrameKind::FoldedPart;
    bool ends = false;                ///< folded: an `end` opcode is due at ")"
    std::uint32_t label = kNoSymbol;  ///< symbol of the block's label
    std::uint32_t pending = 0;        ///< FoldedPlain, FoldedIf: where its bytes start
    std::uint32_t list = 0;           ///< FoldedPlain, FoldedIf: token of its "("
  };
  struct Label {
    std::uint32_t symbol = kNoSymbol;
    std::uint32_t shadowed = kNotFound;  ///< position of the outer label of the same name
  };

  // First walk.
  bool collect_names();
  bool collect_field();
  bool collect_types_of(std::uint32_t end);
  bool collect_import();
  bool collect_definition(IndexSpace& space, bool imported);
  /// A new index of `space` with the identifier that stands here, if any.
  bool add_here(IndexSpace& space);
  bool has_inline_import(std::uint32_t field) const;
  bool has_child_list(std::uint32_t field, std::string_view word) const;

  // Types.
  bool type_definitions();
  bool rec_group();
  bool type_definition(Bytes& out, bool alone);
  bool described_type(Bytes& out, std::uint32_t index, bool plain);
  bool composite_type(Bytes& out, std::uint32_t index, bool plain);
  bool struct_fields(Bytes& out, std::uint32_t type);
  bool field_type(Bytes& out);
  bool val_type(TextValType& out);
  bool heap_type(TextHeapType& out);
  bool ref_type(TextValType& out);
  bool fail_no_type();
  bool at_val_type() const;
  bool signature(Signature& out, ParamNames names);
  bool type_use(std::uint32_t& type, Signature& out, ParamNames names);
  /// The index of a plain function type, added behind the others if there is none.
  std::uint32_t find_or_add_type(const Signature& sig);
  void note_func_type(std::uint32_t index, const Signature& sig, bool plain);
  static void write_signature(Bytes& out, const Signature& sig);
  bool same_signature(std::uint32_t type, const Signature& sig) const;

  // Fields.
  bool fields();
  bool field();
  bool import_field();
  bool add_import(ExternKind kind);
  bool func_import_type(Bytes& out);
  bool inline_exports(ExternKind kind, std::uint32_t index);
  void add_export(std::string_view exported, ExternKind kind, std::uint32_t index);
  /// Handles `(import "m" "n")` of a definition and all behind it; `imported` says whether there
  /// was one.
  bool inline_import(ExternKind kind, bool& imported);
  bool func_field();
  bool func_body(std::uint32_t func);
  void note_local_names(std::uint32_t func);
  void note_label_names(std::uint32_t func);
  void note_hints(std::uint32_t func);
  bool local_declarations();
  bool add_local(std::uint32_t symbol, const Token& at);
  bool table_field();
  bool table_type(Bytes& out);
  bool inline_table(bool is64, std::uint32_t table);
  bool memory_field();
  bool memory_type(Bytes& out);
  bool inline_memory(bool is64, std::uint32_t memory);
  bool page_size(std::uint32_t& log2, bool& given);
  bool limits(std::uint64_t& min, std::uint64_t& max, bool& has_max);
  bool at_address_type(bool& is64);
  static void write_limits(Bytes& out, std::uint64_t min, std::uint64_t max, bool has_max,
                           std::uint8_t flags);
  static void write_zero_offset(Bytes& out, bool is64);
  bool global_field();
  bool global_type(Bytes& out);
  bool tag_field();
  bool export_field();
  bool start_field();

  // Segments.
  bool elem_field();
  bool elem_list(bool active, bool declarative, std::uint32_t table, const Bytes& offset);
  bool elem_expressions(Bytes& out, std::uint32_t& count);
  bool func_indexes(Bytes& out, std::uint32_t& count);
  static void write_func_refs(Bytes& out, const Bytes& indexes);
  bool data_field();
  bool offset_expression(Bytes& out);
  bool data_strings(std::string& out);

  // Instructions.
  /// Up to the ")" of the list around, or one folded instruction. Writes no `end` for the whole.
  bool instructions(Bytes& out, ExprForm form);
  const OpInfo* instruction_here();
  const char* wanted() const;
  bool in_operand_position() const;
  bool flat_instruction(Bytes& out);
  bool open_flat_block(const OpInfo& info, Bytes& out);
  bool flat_else(Bytes& out);
  bool flat_end(Bytes& out);
  bool flat_catch(const OpInfo& info, Bytes& out);
  bool flat_delegate(Bytes& out);
  bool check_end_label(const Frame& frame);
  bool open_list(Bytes& out);
  bool open_folded(Bytes& out);
  bool open_folded_block(const OpInfo& info, std::uint32_t list, Bytes& out);
  bool folded_if_part(Bytes& out);
  bool folded_try_part(Bytes& out);
  bool close_list(Bytes& out);
  std::uint32_t pending_size() const { return static_cast<std::uint32_t>(pending_.size()); }
  void flush_pending(const Frame& frame, Bytes& out);
  bool block_type(Bytes& out);
  bool catch_clauses(Bytes& out);
  /// The label of a block whose opcode comes next in the binary, or came last.
  void open_label(std::uint32_t symbol);
  void push_label(std::uint32_t symbol);
  void pop_label();
  bool label_index(std::uint32_t& depth);

  // Immediates.
  bool immediates(const OpInfo& info, Bytes& out);
  bool one_index(const IndexSpace& space, Bytes& out);
  bool table_or_memory(const IndexSpace& space, Bytes& out);
  bool copy_operands(const IndexSpace& space, Bytes& out);
  bool init_operands(const IndexSpace& segments, const IndexSpace& targets, Bytes& out);
  bool type_and(const IndexSpace* second, Bytes& out);
  bool type_field(Bytes& out);
  bool label(Bytes& out);
  bool label_table(Bytes& out);
  bool call_indirect(Bytes& out);
  bool select(Bytes& out);
  bool reference_operator(const OpInfo& info, Bytes& out);
  bool cast_type(TextHeapType& heap, bool& nullable);
  bool br_on_cast(Bytes& out);
  bool memory_argument(const OpInfo& info, Bytes& out);
  bool memory_index(const OpInfo& info, std::uint32_t& memory);
  bool offset_and_align(const OpInfo& info, std::uint64_t& offset, std::uint32_t& align_log2);
  bool number_after(std::string_view prefix, std::uint64_t& value);
  bool integer(unsigned width, std::uint64_t& bits);
  template <typename Bits>
  bool take_float(const Number<Bits>& number, const char* type, Bits& bits);
  bool single(std::uint32_t& bits);
  bool double_(std::uint64_t& bits);
  bool v128_constant(Bytes& out);
  bool lane(Bytes& out);
  bool shuffle_lanes(Bytes& out);
  /// How many tokens from here on are numbers, or are meant to be.
  std::uint32_t numbers_ahead() const;
  static void write_opcode(const OpInfo& info, Bytes& out);

  // Names, indexes, numbers.
  bool at_index() const { return at_kind(TokenKind::Nat) || at_kind(TokenKind::Id); }
  std::uint32_t symbol_of(const Token& id);
  std::uint32_t optional_symbol();
  bool index(const IndexSpace& space, std::uint32_t& out);
  bool nat(std::uint64_t limit, const char* what, std::uint64_t& out);
  bool u32(std::uint32_t& out);
  bool name(std::string& out);

  // Annotations.
  bool check_annotations();
  bool fail_note(const Annotation& note, std::string_view what);
  bool custom_annotation(const Annotation& note);
  bool name_annotation(const Annotation& note);
  /// The name that an annotation in front of the next token gives to a parameter, local or field;
  /// null if there is none.
  const std::string* given_name() const;
  bool hint_annotation(const Annotation& note);
  /// A hint in front of `token` must belong to an `if` or `br_if` of a function.
  bool check_hint(Op op, std::uint32_t token);
  void take_hint(std::uint32_t token, const Bytes& out);
  bool check_hints_left();

  // Output.
  Bytes module_bytes();
  void write_section(Bytes& out, TextSection id, const Section& section);
  void write_customs(Bytes& out, TextSection id, bool after);
  void write_names(Bytes& out);
  void write_name_map(Bytes& out, std::uint8_t id, const IndexSpace& space);
  static void write_names_of(Section& out, std::uint32_t owner,
                             const std::vector<IndexSpace::Name>& names);
  static void write_indirect_names(Bytes& out, std::uint8_t id, const Section& names);

  const TextOptions& options_;
  std::string module_name_;
  bool has_given_module_name_ = false;
  std::uint32_t at_first_;  ///< first token of the fields
  SymbolTable symbols_;
  IndexSpace types_{"type", "type"};
  IndexSpace funcs_{"function", "func"};
  IndexSpace tables_{"table", "table"};
  IndexSpace memories_{"memory", "memory"};
  IndexSpace globals_{"global", "global"};
  IndexSpace tags_{"tag", "tag"};
  IndexSpace elems_{"elem segment", "elem segment"};
  IndexSpace datas_{"data segment", "data segment"};
  IndexSpace locals_{"local", "local"};
  IndexSpace fields_{"field", "field"};     // of the structure that is read
  const char* first_definition_ = nullptr;  ///< what was defined before imports ended
  std::vector<std::uint32_t> boundaries_;   ///< tokens in front of which a field may stand

  std::vector<TypeEntry> type_entries_;
  std::vector<TextValType> sig_pool_;
  std::unordered_map<std::string, std::uint32_t, base::KeyedHash>
      plain_types_;  // by encoded signature
  std::unordered_map<std::uint64_t, std::uint32_t, base::KeyedHash>
      struct_fields_;  // type << 32 | symbol
  std::string type_key_;
  Bytes scratch_;

  // Next index of each space in the second walk.
  std::uint32_t next_func_ = 0;
  std::uint32_t next_table_ = 0;
  std::uint32_t next_memory_ = 0;
  std::uint32_t next_global_ = 0;
  std::uint32_t next_tag_ = 0;
  std::uint32_t next_type_ = 0;  // of the type definitions

  Section type_section_;
  Section import_section_;
  Section func_section_;
  Section table_section_;
  Section memory_section_;
  Section tag_section_;
  Section global_section_;
  Section export_section_;
  Section elem_section_;
  Section code_section_;
  Section data_section_;
  Section local_names_;
  Section label_names_;
  Section field_names_;
  bool has_start_ = false;
  std::uint32_t start_ = 0;
  bool uses_data_index_ = false;
  std::string import_module_;
  std::string import_name_;

  // Instructions; reused between functions.
  Bytes body_;
  Bytes pending_;  ///< of folded instructions whose operands are being read
  std::vector<Frame> frames_;
  std::vector<Label> labels_;
  std::vector<std::uint32_t> label_of_symbol_;  ///< position of the innermost label of a name
  std::vector<IndexSpace::Name> named_labels_;  ///< of the function, by number
  std::uint32_t num_labels_ = 0;
  std::vector<TextValType> local_types_;
  Signature sig_;
  bool in_function_ = false;

  // Annotations.
  struct Hint {
    std::uint32_t offset;
    std::uint8_t value;
  };
  std::vector<Custom> customs_;
  struct NameSlot {
    IndexSpace* space;
    std::uint32_t index;
  };
  std::unordered_map<std::uint32_t, NameSlot> name_slots_;  // by the token that follows the name
  std::unordered_map<std::uint32_t, std::string> inner_names_;  // of parameters, locals, fields
  std::unordered_map<std::uint32_t, std::uint8_t> hint_at_;     // by token
  std::vector<Hint> function_hints_;
  Section hint_section_;
};

}  // namespace hoist::wasm
