// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The name section as identifiers of text: unique within their space, never empty.
///
/// A name that cannot be the identifier (it is taken, empty, or looks like a made-up one) gets the
/// made-up one `$#func5` and an annotation `(@name "…")` where it is defined, so that the text
/// reads back to the same name section. A malformed section is no error: what precedes the first
/// mistake counts.
/// Source: core specification 3.0, section 7.4; extended name section proposal.

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/keyed_hash.hpp"
#include "wasm/decode/byte_reader.hpp"
#include "wasm/text/print/text_writer.hpp"

namespace hoist::wasm {

struct PrintedName {
  std::uint32_t index = 0;
  bool made_up = false;  ///< the identifier is not the name
  std::string_view text;
};

/// In a list that is ascending by index; null if there is none. Memory is in proportion to the
/// names, not to the indexes: a module can name index 49,999 alone in each of many functions.
const PrintedName* find_printed_name(std::span<const PrintedName> names, std::uint32_t index);

/// Names of one index space. Indexes without a name print as numbers.
class PrintedSpace {
 public:
  /// `word` begins made-up identifiers.
  explicit PrintedSpace(std::string_view word) : word_(word) {}

  void clear() {
    names_.clear();
    taken_.clear();
  }
  /// In ascending order of indexes.
  void add(std::uint32_t index, std::string_view name);
  bool any() const { return !names_.empty(); }
  bool has(std::uint32_t index) const { return find(index) != nullptr; }
  /// Where `index` is used: `$name` or the number.
  void reference(TextWriter& out, std::uint32_t index) const;
  /// Behind the word of a definition: " $name (;3;)", " (;3;)", with the annotation if one is due.
  void definition(TextWriter& out, std::uint32_t index) const;
  /// The identifier and annotation alone, behind a space: for what has no comment of its index.
  void plain_definition(TextWriter& out, std::uint32_t index) const;

 private:
  const PrintedName* find(std::uint32_t index) const { return find_printed_name(names_, index); }
  void identifier(TextWriter& out, const PrintedName& name) const;

  std::string_view word_;
  std::vector<PrintedName> names_;  // ascending
  std::unordered_set<std::string_view, base::KeyedHash> taken_;
};

/// How many indexes each space has: names of others do not count.
struct PrintedCounts {
  std::uint32_t functions = 0;
  std::uint32_t types = 0;
  std::uint32_t tables = 0;
  std::uint32_t memories = 0;
  std::uint32_t globals = 0;
  std::uint32_t elements = 0;
  std::uint32_t data = 0;
  std::uint32_t tags = 0;
};

class PrintedNames {
 public:
  /// Reads the content of the section behind its name.
  void read(std::span<const std::uint8_t> module, std::uint32_t begin, std::uint32_t end,
            const PrintedCounts& counts);
  /// The names within one function; `num_locals` counts its parameters too.
  void enter_function(std::uint32_t func, std::uint32_t num_locals);
  /// The names of the fields of one type, for its definition.
  const PrintedSpace& fields_of(std::uint32_t type);
  /// A field where it is used.
  void field_reference(TextWriter& out, std::uint32_t type, std::uint32_t field);
  /// Name of the label of that number in the function entered, or empty.
  std::string_view label(std::uint32_t number) const {
    const PrintedName* name = find_printed_name(labels_, number);
    return name == nullptr ? std::string_view() : name->text;
  }

  std::string_view module;
  PrintedSpace functions{"func"};
  PrintedSpace types{"type"};
  PrintedSpace tables{"table"};
  PrintedSpace memories{"memory"};
  PrintedSpace globals{"global"};
  PrintedSpace elements{"elem"};
  PrintedSpace data{"data"};
  PrintedSpace tags{"tag"};
  PrintedSpace locals{"local"};

 private:
  /// Where the map of each index starts.
  using Places = std::unordered_map<std::uint32_t, std::uint32_t>;

  bool subsection(std::uint8_t id, ByteReader& in, const PrintedCounts& counts);
  static bool name_map(ByteReader& in, std::uint32_t count, PrintedSpace& space);
  static bool find_maps(ByteReader& in, Places& places);

  std::span<const std::uint8_t> bytes_;
  std::uint32_t end_ = 0;
  Places local_maps_;
  Places label_maps_;
  Places field_maps_;
  std::vector<PrintedName> labels_;  // ascending
  std::unordered_map<std::uint32_t, PrintedSpace> fields_;
  PrintedSpace no_fields_{"field"};
};

}  // namespace hoist::wasm
