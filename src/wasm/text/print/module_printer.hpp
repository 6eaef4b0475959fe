// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The printer of one module; internal to text/ (the interface is wat_printer.hpp).
///
/// Two walks. The first finds the sections and counts what they define, so that names and types are
/// known before their use; it prints types and imports to nowhere. The second prints the sections
/// in their order, custom sections last, with their places given.
///
/// Files: module_printer.cpp (walks, sections), printed_types.cpp, printed_instructions.cpp,
/// printed_customs.cpp (custom sections and branch hints).

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/keyed_hash.hpp"
#include "base/result.hpp"
#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/opcodes.hpp"
#include "wasm/text/print/printed_names.hpp"
#include "wasm/text/print/text_writer.hpp"
#include "wasm/text/wat_printer.hpp"

namespace hoist::wasm {

class ModulePrinter {
 public:
  ModulePrinter(std::span<const std::uint8_t> module, const PrintOptions& options,
                base::FunctionRef<void(std::string_view)> write);
  Result<void> run();

 private:
  struct Section {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t count = 0;  ///< of its vector; of the start section 1
  };
  struct Custom {
    std::string_view name;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint8_t after = 0;  ///< id of the section before it, 0 if there is none
  };
  struct TypeEntry {
    bool is_func = false;
    std::uint32_t signature = 0;  ///< offset of its parameters
  };
  /// Kinds of imports and exports, in their binary numbers.
  enum Kind : std::uint8_t { kFunc = 0, kTable = 1, kMemory = 2, kGlobal = 3, kTag = 4 };
  static constexpr std::size_t kNumKinds = 5;
  static constexpr std::size_t kNumSections = 14;

  /// A block that is open.
  enum class Block : std::uint8_t { Function, Block, If, Else, Try, Catch, CatchAll };
  struct Frame {
    Block kind = Block::Block;
    std::string_view name;       ///< its label, or empty
    std::uint32_t shadowed = 0;  ///< 1 + position of the outer frame of that name, or 0
  };

  /// Value of a branch hint by the offset in its function.
  using FunctionHints = std::unordered_map<std::uint32_t, std::uint8_t>;

  // Walks.
  bool survey();
  bool header(ByteReader& in);
  bool find_sections(ByteReader& in);
  bool note_custom(ByteReader& in, std::uint8_t after);
  bool count_definitions();
  bool read_function_types();
  bool print();
  bool print_section(std::uint8_t id);
  bool entries(std::uint8_t id, ByteReader& in);
  bool entry(std::uint8_t id, ByteReader& in);

  // Sections.
  bool import(ByteReader& in);
  bool table(ByteReader& in);
  bool memory(ByteReader& in);
  bool tag(ByteReader& in);
  bool global(ByteReader& in);
  bool export_(ByteReader& in);
  bool start(ByteReader& in);
  bool element(ByteReader& in);
  bool element_items(ByteReader& in, bool expressions);
  bool function(ByteReader& in);
  bool data_segment(ByteReader& in);
  PrintedSpace& space_of(std::uint8_t kind);
  void name(std::string_view text);

  // Types.
  bool rec_group(ByteReader& in);
  bool type_definition(ByteReader& in);
  bool composite_type(ByteReader& in, std::uint32_t type);
  bool func_type(ByteReader& in);
  bool struct_type(ByteReader& in, std::uint32_t type);
  bool field_type(ByteReader& in);
  bool val_type(ByteReader& in);
  bool ref_type(ByteReader& in);
  bool heap_type(ByteReader& in);
  /// A heap type as a reference type.
  bool cast_type(ByteReader& in, bool nullable);
  bool table_type(ByteReader& in);
  bool memory_type(ByteReader& in);
  bool global_type(ByteReader& in);
  bool limits(ByteReader& in, std::uint8_t flags);
  bool tag_type(ByteReader& in);
  void type_reference(std::uint32_t type);
  /// " (param …) (result …)" of a function type; nothing of another.
  bool signature(std::uint32_t type, const PrintedSpace* params);
  bool val_types(ByteReader& in, std::string_view word);
  std::uint32_t num_params(std::uint32_t type) const;

  // Instructions.
  bool body(ByteReader& in, std::uint32_t func);
  bool locals(ByteReader& in, std::uint32_t first);
  bool instruction(ByteReader& in);
  bool structured(ByteReader& in, Op op, const OpInfo& info);
  bool open_block(ByteReader& in, Block kind, const OpInfo& info);
  bool close_block(const OpInfo& info);
  bool block_type(ByteReader& in);
  bool catch_clauses(ByteReader& in);
  bool immediates(ByteReader& in, const OpInfo& info);
  bool index(ByteReader& in, const PrintedSpace& space);
  bool index_unless_zero(ByteReader& in, const PrintedSpace& space);
  bool two_indexes(ByteReader& in, const PrintedSpace& space);
  bool segment_and_target(ByteReader& in, const PrintedSpace& segments,
                          const PrintedSpace& targets);
  bool number(ByteReader& in);
  bool label(ByteReader& in);
  bool label_table(ByteReader& in);
  bool call_indirect(ByteReader& in);
  bool type_field(ByteReader& in);
  bool select_types(ByteReader& in);
  bool br_on_cast(ByteReader& in);
  bool memory_argument(ByteReader& in, Imm imm);
  bool lanes(ByteReader& in, unsigned count);
  bool vector_constant(ByteReader& in);
  void push_frame(Block kind, std::string_view name);
  void pop_frame();
  /// An expression up to its end: "(instruction)" if it is one, otherwise "(word instructions)", or
  /// just the instructions if `word` is empty.
  bool expression(ByteReader& in, std::string_view word);
  bool one_line_instructions(ByteReader& in, TextWriter::Lines lines, std::uint32_t& count);

  // Custom sections.
  void customs();
  void custom(const Custom& custom);
  void long_string(std::string_view bytes);
  std::uint8_t written_section_before(std::uint8_t id) const;
  void read_hints();
  static bool read_hint_list(ByteReader& in, FunctionHints& hints);
  bool hints_fit();
  void hint(std::uint32_t offset);

  // Errors; each returns false.
  bool malformed(std::string message, std::uint32_t offset);
  bool unsupported(std::string message, std::uint32_t offset);
  bool fail_read(const ByteReader& in);
  bool check_size(std::uint32_t offset);

  std::span<const std::uint8_t> bytes_;
  const PrintOptions& options_;
  TextWriter out_;
  std::optional<Error> error_;

  std::array<std::optional<Section>, kNumSections> sections_;
  std::vector<Custom> customs_;
  const Custom* name_section_ = nullptr;
  PrintedNames names_;
  PrintedCounts counts_;
  std::vector<TypeEntry> types_;
  std::vector<std::uint32_t> function_types_;  // of all functions
  std::array<std::uint32_t, kNumKinds> imported_{};
  /// Next index of each kind while printing; of element and data segments too.
  std::array<std::uint32_t, kNumKinds> next_{};
  std::uint32_t next_type_ = 0;
  std::uint32_t next_element_ = 0;
  std::uint32_t next_data_ = 0;
  bool uses_data_index_ = false;

  // The body or expression that is printed.
  std::vector<Frame> frames_;
  std::unordered_map<std::string_view, std::uint32_t, base::KeyedHash>
      frame_of_name_;  // 1 + position
  std::uint32_t body_begin_ = 0;
  std::uint32_t next_label_ = 0;
  bool in_function_ = false;

  // Branch hints: value by offset, for each function.
  const Custom* hint_section_ = nullptr;
  std::unordered_map<std::uint32_t, FunctionHints> hints_;
  const FunctionHints* function_hints_ = nullptr;
};

}  // namespace hoist::wasm
