// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The entries of .debug_info, as far as lines and inlined calls need them: units with what their
/// first entries say, and entries one after the other, with the few attributes that are looked at.
///
/// Untrusted: each abbreviation keeps only attributes that take bytes or are looked at, so reading
/// an entry takes no longer than its bytes say; tables of abbreviations are read once each, all
/// together at most kAbbrevReads times the section.
///
/// Source: DWARF 5, sections 2 and 7.5.

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/keyed_hash.hpp"
#include "wasm/debug/dwarf.hpp"

namespace hoist::wasm {

class DebugInfo {
 public:
  enum Tag : std::uint16_t { kEndOfSiblings = 0, kInlinedSubroutine = 0x1d, kSubprogram = 0x2e };

  /// Attributes that are looked at.
  enum Attribute : std::uint8_t {
    kName,
    kLinkageName,
    kStatements,
    kLowPc,
    kHighPc,
    kRanges,
    kDirectory,
    kAbstractOrigin,
    kSpecification,
    kCallFile,
    kCallLine,
    kStringOffsetsBase,
    kAddressBase,
    kRangeListsBase,
    kAttributes
  };

  struct Value {
    std::uint16_t form = 0;  ///< 0: it is not there
    std::uint64_t number = 0;
    std::string_view text;  ///< of kFormString
    explicit operator bool() const { return form != 0; }
  };

  struct Entry {
    std::uint16_t tag = 0;
    bool has_children = false;
    std::array<Value, kAttributes> values = {};
    const Value& operator[](Attribute attribute) const { return values[attribute]; }
  };

  struct Unit {
    std::size_t begin = 0;    ///< where references within it count from
    std::size_t entries = 0;  ///< its first entry
    std::size_t end = 0;
    std::uint64_t abbreviations = 0;
    std::uint16_t version = 0;
    std::uint8_t address_bytes = 4;
    bool wide = false;
    // Of its first entry.
    std::uint64_t line_program = kNone;  ///< in .debug_line
    std::uint64_t low_pc = 0;
    std::uint64_t string_offsets = 0;
    std::uint64_t addresses = 0;
    std::uint64_t range_lists = 0;
    std::string_view directory;
  };
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// Reads the units' headers and first entries; the first mistake ends it.
  explicit DebugInfo(const dwarf::Sections& sections);

  const std::vector<Unit>& units() const { return units_; }
  /// Null, or what is wrong.
  const char* problem() const { return problem_; }
  /// Where entries of a unit are read from, beginning at an offset of the section.
  dwarf::Cursor entries(const Unit& unit, std::size_t at) const {
    return dwarf::Cursor(sections_.info.first(unit.end), at);
  }
  /// The next entry; false: it is damaged.
  bool next(const Unit& unit, dwarf::Cursor& in, Entry& out);
  /// The unit that an offset of the section is in, or null.
  const Unit* unit_at(std::uint64_t offset) const;

  /// Empty: there is none.
  std::string_view text(const Unit& unit, const Value& value) const;
  /// The offset in the section that a reference means, or kNone.
  std::uint64_t target(const Unit& unit, const Value& value) const;
  /// Where its code is. Each entry of a list takes one of `left`; false: that is not all, since
  /// none is left, or it is damaged.
  bool ranges(const Unit& unit, const Entry& entry, std::size_t& left,
              std::vector<Range>& out) const;

 private:
  struct Field {
    std::uint8_t attribute;  ///< kAttributes: not looked at
    std::uint16_t form;
    std::int64_t constant;
  };
  struct Abbreviation {
    std::uint16_t tag = 0;
    bool has_children = false;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  struct Table {
    std::vector<Abbreviation> all;
    /// Of codes that are not their place in `all`, plus 1.
    std::unordered_map<std::uint64_t, std::uint32_t, base::KeyedHash> codes;
    std::vector<Field> fields;
    const Abbreviation* find(std::uint64_t code) const;
  };

  const char* read_units();
  bool read_unit(dwarf::Cursor& in, Unit& unit);
  const Table* table(std::uint64_t offset);
  bool read_table(std::uint64_t offset, Table& out);
  bool value(const Unit& unit, dwarf::Cursor& in, std::uint16_t form, Value& out) const;
  std::uint64_t address(const Unit& unit, const Value& value) const;
  std::uint64_t address_at(const Unit& unit, std::uint64_t index) const;
  bool old_ranges(const Unit& unit, std::uint64_t at, std::size_t& left,
                  std::vector<Range>& out) const;
  bool range_list(const Unit& unit, std::uint64_t at, std::size_t& left,
                  std::vector<Range>& out) const;

  const dwarf::Sections& sections_;
  std::vector<Unit> units_;
  const char* problem_ = nullptr;
  std::unordered_map<std::uint64_t, std::unique_ptr<Table>, base::KeyedHash> tables_;
  const Table* last_table_ = nullptr;
  std::uint64_t last_table_offset_ = kNone;
  std::size_t abbrev_bytes_ = 0;
};

}  // namespace hoist::wasm
