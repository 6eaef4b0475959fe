// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Internal to decode/: the state while a module is decoded. A function that returns false has
/// recorded the error.
///
/// A feature that is not to be had does not stop decoding: the first one is remembered, and
/// reported if the rest of the module is well-formed, so that a malformed module is called
/// malformed.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

class TypeGroups;

class ModuleDecoder {
 public:
  ModuleDecoder(ModuleBytes bytes, Features features);
  Result<Module> run();

 private:
  // decoder.cpp
  bool header(ByteReader& in);
  bool all_sections(ByteReader& in);
  bool section(std::uint8_t id, ByteReader& in);
  bool check_counts();
  void skim_bodies();
  static bool skim_body(ByteReader& in);
  void finish();
  void find_escaping_functions();

  // branch_hints.cpp
  void read_branch_hints();

  // sections.cpp
  bool custom_section(ByteReader& in);
  bool import_section(ByteReader& in);
  bool import_type(ByteReader& in, Import& item);
  bool function_section(ByteReader& in);
  bool table_section(ByteReader& in);
  bool memory_section(ByteReader& in);
  bool tag_section(ByteReader& in);
  bool global_section(ByteReader& in);
  bool export_section(ByteReader& in);
  bool start_section(ByteReader& in);
  bool data_count_section(ByteReader& in);
  bool code_section(ByteReader& in);
  bool limits(ByteReader& in, bool of_memory, MemoryType& out);
  bool table_type(ByteReader& in, TableType& out);
  bool memory_type(ByteReader& in, MemoryType& out);
  bool global_type(ByteReader& in, GlobalType& out);
  bool tag_type(ByteReader& in, Tag& out);
  void add_table(const Table& table);
  void add_memory(const MemoryType& type, std::uint32_t offset);

  // type_section.cpp
  bool type_section(ByteReader& in);
  bool type_group(ByteReader& in, TypeGroups& known);
  bool sub_type(ByteReader& in);
  bool composite_type(ByteReader& in, TypeDef& def);
  bool function_type(ByteReader& in);
  bool field_type(ByteReader& in);
  bool type_list(ByteReader& in, std::uint32_t limit, std::string_view what,
                 std::vector<ValType>& out);
  bool unresolved_type(ByteReader& in, std::string_view what, ValType& out);
  bool val_type(ByteReader& in, std::string_view what, ValType& out);
  /// Makes the type index in `type`, which was read at `offset`, canonical.
  void resolve(ValType& type, std::uint32_t offset);
  bool ref_type(ByteReader& in, ValType& out);
  bool mutability(ByteReader& in, bool& out);

  // segments.cpp
  bool elem_section(ByteReader& in);
  bool elem_segment(ByteReader& in, ElemSegment& out);
  bool elem_functions(ByteReader& in, ElemSegment& out);
  bool elem_exprs(ByteReader& in, ElemSegment& out);
  bool data_section(ByteReader& in);
  bool data_segment(ByteReader& in, DataSegment& out);
  bool const_expr(ByteReader& in, ConstExpr& out);
  bool const_instruction(ByteReader& in, ConstOp& out, bool& constant);

  /// A vector's length: at most one item per byte that is left, and at most `limit` with what there
  /// is `already`.
  bool count(ByteReader& in, std::size_t already, std::uint32_t limit, std::string_view what,
             std::uint32_t& out);
  /// Makes room for `items`, of which each takes `min_bytes` or more of what is left.
  template <typename T>
  static void reserve(std::vector<T>& list, std::size_t items, std::size_t min_bytes,
                      const ByteReader& in) {
    const std::size_t possible = in.remaining() / min_bytes;
    list.reserve(list.size() + (items < possible ? items : possible));
  }
  void need(Feature feature, std::string_view what, std::uint32_t offset);
  void note_fault(std::string message, std::uint32_t offset);
  bool limit(std::string message, std::uint32_t offset);
  bool malformed(std::string message, std::uint32_t offset);
  bool fail_read(const ByteReader& in);

  Module module_;
  std::optional<Error> error_;
  std::optional<Error> missing_feature_;
  std::vector<ValType> params_;
  std::vector<ValType> results_;
};

}  // namespace hoist::wasm
