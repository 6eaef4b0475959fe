// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/line_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/keyed_hash.hpp"
#include "wasm/debug/debug_info.hpp"
#include "wasm/debug/dwarf.hpp"
#include "wasm/debug/line_header.hpp"
#include "wasm/format/module.hpp"

namespace hoist::wasm {

namespace {

// DW_LNS_*, DW_LNE_*: DWARF 5, section 7.22.
enum Standard : std::uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kNegateStatement = 6,
  kSetBasicBlock = 7,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
  kSetPrologueEnd = 10,
  kSetEpilogueBegin = 11,
  kSetIsa = 12,
};
enum Extended : std::uint8_t { kEndSequence = 1, kSetAddress = 2, kDefineFile = 3 };

/// An honest row takes a byte at least.
constexpr std::size_t kRowsPerByte = 1;
/// Bytes of all paths together.
constexpr std::size_t kMaxPathBytes = std::size_t{64} << 20;

using dwarf::Bytes;
using dwarf::Cursor;

}  // namespace

class LineReader {
 public:
  explicit LineReader(const Module& module) : module_(module), sections_(module) {}

  LineTable run() {
    out_.code_begin_ = module_.code_section.offset;
    if (sections_.line.empty()) return std::move(out_);
    find_directories();
    Cursor in(sections_.line);
    while (in.left() != 0 && out_.problem_.empty()) {
      const std::size_t begun = in.at();
      const dwarf::UnitLength length = dwarf::unit_length(in);
      const Bytes unit = in.take(length.bytes);
      const std::size_t rows = out_.rows_.size();
      const char* problem =
          !in.ok() ? "a unit is longer than the section" : read_unit(unit, length.wide, begun);
      if (problem == nullptr) continue;
      // Of a unit with a mistake nothing can be relied on.
      out_.rows_.resize(rows);
      damaged(problem, begun);
    }
    sort();
    end_at_functions();
    out_.rows_.shrink_to_fit();
    return std::move(out_);
  }

 private:
  void damaged(const char* what, std::size_t at) {
    out_.problem_ =
        fmt::format("the DWARF in .debug_line is damaged: {} (unit at 0x{:x})", what, at);
  }

  /// The directories of compilations, which before version 5 only .debug_info has. What is wrong
  /// there is told by who reads more of it.
  void find_directories() {
    const DebugInfo info(sections_);
    for (const DebugInfo::Unit& unit : info.units()) {
      if (unit.line_program != DebugInfo::kNone)
        directories_.try_emplace(unit.line_program, unit.directory);
    }
  }

  /// Of rows at one address the last counts; where one sequence ends and another begins, the
  /// beginning.
  void sort() {
    for (std::size_t i = 0; i < out_.rows_.size(); ++i)
      out_.rows_[i].order = static_cast<std::uint32_t>(i);
    std::sort(out_.rows_.begin(), out_.rows_.end(), [](const auto& a, const auto& b) {
      if (a.address != b.address) return a.address < b.address;
      if ((a.file == 0) != (b.file == 0)) return a.file == 0;
      return a.order < b.order;
    });
  }

  /// No line goes on into the next function, whatever the program says: each that has lines has one
  /// at its beginning.
  void end_at_functions() {
    auto& rows = out_.rows_;
    if (rows.empty()) return;
    const std::size_t before = rows.size();
    std::size_t at = 0;
    for (std::uint32_t func = module_.num_imported_functions; func < module_.num_functions();
         ++func) {
      const Range body = module_.body(func);
      const auto end = static_cast<std::uint32_t>(body.offset + body.size - out_.code_begin_);
      while (at < before && rows[at].address < end) ++at;
      if (at != 0 && rows[at - 1].file != 0 && (at == before || rows[at].address != end))
        rows.push_back({end, 0, 0, 0});
    }
    if (rows.size() != before) sort();
  }

  /// Number of a file of the unit in files_, plus 1. Paths are made when a row first needs them.
  std::uint32_t file_number(std::uint64_t file) {
    if (file >= header_.file_count()) return 0;
    if (unit_files_.size() < header_.file_count()) unit_files_.resize(header_.file_count());
    std::uint32_t& number = unit_files_[static_cast<std::size_t>(file)];
    if (number != 0) return number;
    std::string path = header_.path(file);
    if (path_bytes_ + path.size() > kMaxPathBytes) path = "...";
    const auto [at, fresh] =
        numbers_.try_emplace(path, static_cast<std::uint32_t>(out_.files_.size() + 1));
    if (fresh) {
      path_bytes_ += path.size();
      out_.files_.push_back(std::move(path));
    }
    return number = at->second;
  }

  struct State {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint64_t line = 1;
  };

  /// Takes the sequence if its code is still there: a linker gives code that it dropped the address
  /// 0 or one at the end of the address space.
  /// Addresses of a sequence only grow: one where they do not is not to be trusted.
  void end_sequence(std::uint64_t end) {
    auto& rows = out_.rows_;
    if (first_ != rows.size()) {
      const bool kept = rows[first_].address != 0 && end <= module_.code_section.size &&
                        end >= rows.back().address && !descends_;
      if (kept) {
        rows.push_back({static_cast<std::uint32_t>(end), 0, 0, 0});
      } else {
        rows.resize(first_);
      }
    }
    first_ = rows.size();
    descends_ = false;
  }

  void add_row(const State& state) {
    auto& rows = out_.rows_;
    const std::uint64_t limit = module_.code_section.size;
    if (state.address > limit) return;
    if (rows.size() != first_ && state.address < rows.back().address) descends_ = true;
    rows.push_back({static_cast<std::uint32_t>(state.address), file_number(state.file),
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(state.line, 0xffff'ffff)),
                    0});
    if (rows.back().file == 0) rows.back().line = 0;
  }

  /// Null, or what is wrong.
  const char* read_unit(Bytes unit, bool wide, std::size_t begun) {
    unit_files_.clear();
    Cursor in(unit);
    const auto directory = directories_.find(begun);
    const char* problem =
        header_.read(sections_, in, wide,
                     directory == directories_.end() ? std::string_view() : directory->second);
    return problem != nullptr ? problem : run_program(unit.subspan(in.at()));
  }

  const char* run_program(Bytes program) {
    Cursor in(program);
    State state;
    first_ = out_.rows_.size();
    descends_ = false;
    const std::size_t most = out_.rows_.size() + program.size() * kRowsPerByte;
    while (in.left() != 0) {
      const std::uint8_t op = in.u8();
      if (out_.rows_.size() > most) return "it has more rows than bytes";
      if (op >= header_.opcode_base) {
        const unsigned adjusted = op - unsigned{header_.opcode_base};
        state.address += std::uint64_t{header_.min_length} * (adjusted / header_.line_range);
        state.line += static_cast<std::uint64_t>(std::int64_t{header_.line_base} +
                                                 std::int64_t{adjusted % header_.line_range});
        add_row(state);
        continue;
      }
      if (op == kExtended) {
        if (!extended(in, state)) return "its program is not valid";
        continue;
      }
      if (!standard(in, op, state)) return "its program is not valid";
    }
    // A sequence without an end says nothing of where it ends.
    out_.rows_.resize(first_);
    return nullptr;
  }

  bool extended(Cursor& in, State& state) {
    const std::uint64_t length = in.uleb();
    Cursor body(in.take(length));
    if (!in.ok() || length == 0) return false;
    switch (body.u8()) {
      case kEndSequence:
        end_sequence(state.address);
        state = {};
        break;
      case kSetAddress:
        if (length == 5) {
          state.address = body.fixed<std::uint32_t>();
        } else {
          state.address = body.fixed<std::uint64_t>();
        }
        // In a sequence that was dropped, whatever comes before stays in front.
        break;
      case kDefineFile: header_.add_file(body); break;
      default: break;  // discriminators, vendors' own
    }
    return body.ok();
  }

  bool standard(Cursor& in, std::uint8_t op, State& state) {
    switch (op) {
      case kCopy: add_row(state); break;
      case kAdvancePc: state.address += header_.min_length * in.uleb(); break;
      case kAdvanceLine: state.line += static_cast<std::uint64_t>(in.sleb()); break;
      case kSetFile: state.file = in.uleb(); break;
      case kConstAddPc:
        state.address +=
            std::uint64_t{header_.min_length} * ((255U - header_.opcode_base) / header_.line_range);
        break;
      case kFixedAdvancePc: state.address += in.fixed<std::uint16_t>(); break;
      case kNegateStatement:
      case kSetBasicBlock:
      case kSetPrologueEnd:
      case kSetEpilogueBegin: break;
      case kSetColumn:
      case kSetIsa: in.uleb(); break;
      default:
        for (unsigned i = 0; i < header_.operands[op]; ++i) in.uleb();
        break;
    }
    return in.ok();
  }

  const Module& module_;
  const dwarf::Sections sections_;
  LineTable out_;
  LineHeader header_;
  std::unordered_map<std::uint64_t, std::string_view, base::KeyedHash> directories_;
  std::vector<std::uint32_t> unit_files_;
  std::size_t first_ = 0;  ///< row of the present sequence
  bool descends_ = false;
  std::unordered_map<std::string, std::uint32_t, base::KeyedHash> numbers_;
  std::size_t path_bytes_ = 0;
};

LineTable LineTable::read(const Module& module) {
  return LineReader(module).run();
}

SourceLine LineTable::find(std::uint64_t module_offset) const {
  if (module_offset < code_begin_) return {};
  const std::uint64_t wanted = module_offset - code_begin_;
  auto at =
      std::upper_bound(rows_.begin(), rows_.end(), wanted,
                       [](std::uint64_t address, const Row& row) { return address < row.address; });
  if (at == rows_.begin()) return {};
  --at;
  if (at->file == 0) return {};
  return {files_[at->file - 1], at->line};
}

}  // namespace hoist::wasm
