// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Types as the assembler holds them, and its name spaces. They hold every type that the text
/// format can name, also of features that the rest of the library does not have yet.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/keyed_hash.hpp"
#include "base/leb128.hpp"
#include "wasm/format/type_bytes.hpp"

namespace hoist::wasm {

using Bytes = std::vector<std::uint8_t>;

/// A heap type: a type index, or an abstract type by its byte.
struct TextHeapType {
  std::uint32_t value = 0;
  bool abstract = false;
  bool exact = false;
  friend bool operator==(const TextHeapType&, const TextHeapType&) = default;
};

/// A value or storage type: `lead` is its first byte; `heap` counts for 0x63 and 0x64 only.
struct TextValType {
  std::uint8_t lead = 0;
  TextHeapType heap;
  friend bool operator==(const TextValType&, const TextValType&) = default;
};

inline void write_heap_type(Bytes& out, const TextHeapType& heap) {
  if (heap.exact) out.push_back(kExact);
  if (heap.abstract) {
    out.push_back(static_cast<std::uint8_t>(heap.value));
  } else {
    base::write_sleb(out, heap.value);
  }
}

inline void write_val_type(Bytes& out, const TextValType& type) {
  out.push_back(type.lead);
  if (type.lead == kRefNull || type.lead == kRef) write_heap_type(out, type.heap);
}

/// `(ref null? heap)`; the forms that have a one-byte name take it.
inline TextValType make_ref(const TextHeapType& heap, bool nullable) {
  if (nullable && heap.abstract && !heap.exact) return {static_cast<std::uint8_t>(heap.value), {}};
  return {nullable ? kRefNull : kRef, heap};
}

/// A length-prefixed string.
inline void write_name(Bytes& out, std::string_view name) {
  base::write_uleb(out, name.size());
  out.insert(out.end(), name.begin(), name.end());
}

/// Identifiers as small numbers.
class SymbolTable {
 public:
  /// `name` outlives the table.
  std::uint32_t intern(std::string_view name) {
    const auto [it, fresh] = map_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return it->second;
  }
  std::uint32_t intern_copy(std::string name) {
    const auto found = map_.find(name);
    if (found != map_.end()) return found->second;
    return intern(owned_.emplace_back(std::move(name)));
  }
  std::string_view name(std::uint32_t symbol) const { return names_[symbol]; }

 private:
  std::unordered_map<std::string_view, std::uint32_t, base::KeyedHash> map_;
  std::vector<std::string_view> names_;
  std::deque<std::string> owned_;  // of names that are not in the source as they are
};

inline constexpr std::uint32_t kNoSymbol = 0xffff'ffff;
inline constexpr std::uint32_t kNotFound = 0xffff'ffff;

/// Indexes of one kind and their identifiers. Indexes without an identifier cost nothing.
class IndexSpace {
 public:
  struct Name {
    std::uint32_t index;
    std::string_view text;
  };

  /// `word` is what the messages call a member ("function"), `short_word` for duplicates ("func").
  IndexSpace(const char* word, const char* short_word) : word_(word), short_word_(short_word) {}

  const char* word() const { return word_; }
  const char* short_word() const { return short_word_; }
  std::uint32_t size() const { return size_; }
  /// False if the symbol is taken.
  bool add(std::uint32_t symbol) {
    const std::uint32_t index = size_++;
    if (symbol == kNoSymbol) return true;
    if (symbol >= by_symbol_.size()) by_symbol_.resize(std::size_t{symbol} + 1, kNotFound);
    if (by_symbol_[symbol] != kNotFound) return false;
    by_symbol_[symbol] = index;
    named_.push_back({index, symbol});
    return true;
  }
  void add_unnamed(std::uint32_t count) { size_ += count; }
  std::uint32_t find(std::uint32_t symbol) const {
    return symbol < by_symbol_.size() ? by_symbol_[symbol] : kNotFound;
  }
  /// The name that an annotation gives, instead of the identifier.
  void set_given_name(std::uint32_t index, std::string name) { given_[index] = std::move(name); }
  /// All names, ascending by index.
  std::vector<Name> names(const SymbolTable& table) const {
    std::vector<Name> out;
    auto given = given_.begin();
    for (const Named& named : named_) {
      for (; given != given_.end() && given->first < named.index; ++given) {
        out.push_back({given->first, given->second});
      }
      if (given != given_.end() && given->first == named.index) continue;
      out.push_back({named.index, table.name(named.symbol)});
    }
    for (; given != given_.end(); ++given) out.push_back({given->first, given->second});
    return out;
  }
  void clear() {
    for (const Named& named : named_) by_symbol_[named.symbol] = kNotFound;
    named_.clear();
    given_.clear();
    size_ = 0;
  }

 private:
  struct Named {
    std::uint32_t index;
    std::uint32_t symbol;
  };
  const char* word_;
  const char* short_word_;
  std::uint32_t size_ = 0;
  std::vector<Named> named_;              // ascending
  std::vector<std::uint32_t> by_symbol_;  // index of a symbol
  std::map<std::uint32_t, std::string> given_;
};

}  // namespace hoist::wasm
