// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Internal to decode/: checks the rec groups of a type section one by one, finds out which are
/// equal, and makes the type indexes in them canonical.
///
/// A group is described by a list of words in which a reference to a type of an earlier group is
/// its canonical index and one within the group its place there: two groups are equal exactly if
/// their lists are, so no comparison ever follows a reference. Lists are found by order, not by
/// hashing: a module cannot be made so that this takes long. Costs n log n in the size of the
/// section.
///
/// Source: WebAssembly core specification 3.0, sections 3.1 "Types" and 3.2 (rolling, equivalence).

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "wasm/format/module.hpp"

namespace hoist::wasm {

class TypeGroups {
 public:
  explicit TypeGroups(Module& module) : module_(module), known_(Less{&words_}) {}
  /// The types from `begin` to the last one are a group, in their place in the module but for
  /// canonical indexes. The fault is the first one in the group.
  std::optional<TypeFault> add(std::uint32_t begin);

 private:
  struct List {
    std::uint64_t first = 0;
    std::uint32_t size = 0;
    std::uint32_t begin = 0;  // the group's first type
  };
  struct Less {
    const std::vector<std::uint32_t>* words;
    bool operator()(const List& a, const List& b) const;
  };

  std::optional<TypeFault> check_references(std::uint32_t type);
  std::optional<TypeFault> place_below_super(std::uint32_t type);
  void describe(std::uint32_t type);
  void describe(ValType type);
  void resolve(std::uint32_t type);
  ValType resolved(ValType type) const;

  Module& module_;
  std::uint32_t begin_ = 0;  // of the group at hand
  std::vector<std::uint32_t> words_;
  std::set<List, Less> known_;
};

}  // namespace hoist::wasm
