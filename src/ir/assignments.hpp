// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Where the variables of a structured function are assigned: lets SSA construction go from a use
/// straight to the place that decides the value, past all loops, joins and blocks that leave the
/// variable alone. Without it every loop header on the way gets a parameter per variable, most of
/// which turn out redundant: variables × loops of work.
///
/// Two passes make the same calls in the same order. The first (`open`, `close`, `assign`) tells
/// the nesting and the assignments; the second (`reached_…`) says which blocks they became while
/// the function is built. Regions are wasm's constructs: control enters one at its start only, and
/// leaves it at its end, by returning, or to the end or (loops) the start of one around it.
///
/// `site` takes logarithmic time in the depth of nesting and the assignments of the variable.

#include <cstdint>
#include <vector>

#include "base/entity.hpp"
#include "ir/entities.hpp"

namespace hoist::ir {

/// Choice is an `if`: its arms are regions in it, and control is in one arm or another.
enum class RegionKind : std::uint8_t { Plain, Loop, Choice };

class Assignments {
 public:
  // ---- First pass.
  void start(std::uint32_t variables);
  void open(RegionKind kind);
  void close();
  void assign(Variable var);
  void finish();
  std::size_t region_count() const { return regions_.size(); }
  std::uint32_t variable_count() const { return variables_; }

  // ---- Second pass.
  void reached_start(Block entry);
  /// `from` is where control comes from; `header` the block that back edges go to.
  void reached_open(Block from, Block header);
  /// Of the innermost open region: where control came from.
  Block opened_from() const { return regions_[current_].from; }
  /// `after`: where control goes on, none if it does not.
  void reached_close(Block after);
  void reached_assignment(Block block) { events_[position_++].block = block; }
  /// Again for a join when it turns out to be behind a region, not in it.
  void reached_block(Block block) { places_[block] = {current_, position_, true}; }
  /// Of a block that control enters from anywhere in a region, as from calls to a handler: nothing
  /// is known of it.
  void reached_handler(Block block) { places_[block] = {}; }

  /// Nothing in `block` assigns `var`: the block whose value of `var` at its end is the one that
  /// `var` has at the start of `block`, or the join or loop header whose incoming values decide.
  /// `block` itself: it is such a join, or nothing is known.
  Block site(Variable var, Block block) const;

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  /// Positions count assignments: a region holds those from `begin` on up to `end`.
  struct Region {
    std::uint32_t begin = 0, end = kNone;
    std::uint32_t parent = 0;
    std::uint32_t jump = 0;  // an ancestor far up: ancestors are found in logarithmic time
    std::uint32_t depth = 0;
    std::uint32_t loop = 0;  // innermost loop around, itself included; 0 (the function) without
    RegionKind kind = RegionKind::Plain;
    Block from, header, after;
  };
  struct Event {
    Variable var;
    std::uint32_t region;
    Block block;
  };
  struct Place {
    std::uint32_t region = 0;
    std::uint32_t position = 0;
    bool known = false;
  };

  /// Innermost ancestor or the region itself for which `holds`, which holds for all around it.
  template <typename Predicate>
  std::uint32_t innermost(std::uint32_t region, const Predicate& holds) const {
    while (region != 0 && !holds(regions_[region])) {
      const Region& at = regions_[region];
      region = at.jump != 0 && !holds(regions_[at.jump]) ? at.jump : at.parent;
    }
    return region;
  }

  std::vector<Region> regions_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> first_;        // of a variable, in by_variable_
  std::vector<std::uint32_t> by_variable_;  // positions, ascending
  base::EntityMap<Block, Place> places_;
  std::uint32_t variables_ = 0;
  std::uint32_t current_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t position_ = 0;
};

}  // namespace hoist::ir
