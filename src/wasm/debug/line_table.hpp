// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Source lines of a module's code, from the line programs of its DWARF (custom section
/// .debug_line; versions 2 to 5). Only what profiles and backtraces need: from an instruction to
/// file and line.
///
/// The section is untrusted: what a line program says is bounded by the module's size (a program
/// may not make more rows than it has bytes times kRowsPerByte), and the first mistake ends the
/// reading: units that came before count, `problem` says what was wrong. A sequence that goes back
/// is left out, and no line reaches into the next function. Nothing outside of the section is read,
/// but for the directories of compilations (debug_info.hpp).
///
/// Source: DWARF 5, section 6.2; "DWARF for WebAssembly" (addresses count from the start of the
/// code section's content).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hoist::wasm {

class Module;

struct SourceLine {
  std::string_view file;   ///< as the compiler named it, with its directory; empty: not known
  std::uint32_t line = 0;  ///< 0: not known
};

class LineTable {
 public:
  LineTable() = default;
  /// Empty if the module has no line programs. The module need not outlive the table.
  static LineTable read(const Module& module);

  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  /// Of the instruction at a byte offset in the module. Valid as long as the table.
  SourceLine find(std::uint64_t module_offset) const;
  /// What was wrong with the module's DWARF; empty if nothing was.
  const std::string& problem() const { return problem_; }

 private:
  friend class LineReader;
  struct Row {
    std::uint32_t address = 0;  ///< in the code section's content
    std::uint32_t file = 0;     ///< number in files_, plus 1; 0: the end of a sequence
    std::uint32_t line = 0;
    std::uint32_t order = 0;  ///< as the section has them
  };
  std::vector<Row> rows_;  // by address
  std::vector<std::string> files_;
  std::uint64_t code_begin_ = 0;
  std::string problem_;
};

}  // namespace hoist::wasm
