// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Scoped value numbering: which instruction already computes this? Entries live as long as the
/// scope that they were made in: the subtree of the dominator tree below their block.

#include <cstdint>
#include <vector>

#include "ir/function.hpp"

namespace hoist::opt {

class ValueTable {
 public:
  /// Empties the table and sizes it for about `instructions` entries.
  void reset(std::size_t instructions);

  /// Scopes nest: `leave(enter())` removes all entries made in between.
  std::uint32_t enter() const { return static_cast<std::uint32_t>(entries_.size()); }
  void leave(std::uint32_t mark);

  static std::uint32_t hash(const ir::InstData& data, ir::Type type);
  /// An equal instruction with a result of `type` (or none, if invalid), or none.
  ir::Inst find(const ir::Function& func, const ir::InstData& data, ir::Type type,
                std::uint32_t hash) const;
  void insert(ir::Inst inst, std::uint32_t hash);

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Entry {
    std::uint32_t hash;
    ir::Inst inst;
    std::uint32_t next;
  };
  std::vector<std::uint32_t> buckets_;
  std::vector<Entry> entries_;
  std::uint32_t mask_ = 0;
};

/// Scoped table of what memory holds: keyed by a load and the state of its region
/// (memory_state.hpp).
class MemoryTable {
 public:
  void reset(std::size_t accesses);
  std::uint32_t enter() const { return static_cast<std::uint32_t>(entries_.size()); }
  void leave(std::uint32_t mark);

  /// `load.c` is the token. The value of such a load, or none.
  ir::Value find(const ir::InstData& load, ir::Type type) const;
  void insert(const ir::InstData& load, ir::Type type, ir::Value value);

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Entry {
    ir::InstData load;
    std::uint32_t bucket;
    std::uint32_t next;
    ir::Value value;
    ir::Type type;
  };
  std::vector<std::uint32_t> buckets_;
  std::vector<Entry> entries_;
  std::uint32_t mask_ = 0;
};

}  // namespace hoist::opt
