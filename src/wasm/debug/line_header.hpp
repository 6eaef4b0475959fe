// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The header of a unit of .debug_line: how its program is to be read, and the names of its files.
/// Source: DWARF 5, section 6.2.4.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wasm/debug/dwarf.hpp"

namespace hoist::wasm {

class LineHeader {
 public:
  /// `unit` is behind the unit's length; afterwards at its program. Null, or what is wrong.
  /// `directory` is that of the compilation, which before version 5 stands elsewhere; may be empty.
  const char* read(const dwarf::Sections& sections, dwarf::Cursor& unit, bool wide,
                   std::string_view directory);

  std::size_t file_count() const { return files_.size(); }
  /// With its directory, as far as that is known. Empty: there is no such file.
  std::string path(std::uint64_t file) const;
  /// A file that a program defines.
  void add_file(dwarf::Cursor& in);

  std::uint8_t min_length = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::vector<std::uint8_t> operands;  ///< of each opcode below opcode_base

 private:
  struct File {
    std::string_view path;
    std::uint64_t directory = 0;
  };
  struct Value {
    std::string_view text;
    std::uint64_t number = 0;
  };

  bool entries(dwarf::Cursor& in, bool is_files);
  bool old_entries(dwarf::Cursor& in, std::string_view directory);
  bool value(dwarf::Cursor& in, std::uint64_t form, Value& out);

  const dwarf::Sections* sections_ = nullptr;
  std::vector<std::string_view> directories_;
  std::vector<File> files_;
  bool wide_ = false;
  bool bad_string_ = false;
};

}  // namespace hoist::wasm
