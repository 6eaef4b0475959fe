// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// SSA construction on the fly (Braun et al., 2013): what a variable stands for in a block.
///
/// Definitions live in one hash table keyed by (variable, block): memory follows the number of
/// definitions. A look-up that misses walks up through sealed blocks with one predecessor; long
/// walks are replaced by a persistent map per block, so that look-ups stay logarithmic in the
/// number of variables. At a join a "phi" is made: a value that is not a block parameter yet. Phis
/// whose inputs are all the same value become aliases of it at once, and cascade through the phis
/// that wait for them. `finish` turns the phis that are left into block parameters and branch
/// arguments.
///
/// Nothing recurses. Time is near-linear in definitions + uses + phis × predecessors.
///
/// Assumes: a block is filled in one go or in several, but no definition is added after its
/// terminator; a block is sealed once no further branch to it will come.

#include <array>
#include <cstdint>
#include <vector>

#include "ir/assignments.hpp"
#include "ir/function.hpp"

namespace hoist::ir {

class SsaConstruction {
 public:
  void begin(Function& func);
  /// Until the next `begin`: where variables are assigned, told ahead; see assignments.hpp.
  void set_assignments(Assignments* assignments) { assignments_ = assignments; }

  Variable declare(Type type);
  Type type(Variable var) const { return variables_[var.index()].type; }
  void enter(Block block);
  void define(Variable var, Value value);
  Value use(Variable var);
  /// Registers the targets of a terminator just appended to the current block.
  void end_block(Inst terminator);
  void seal(Block block);
  void seal_all();
  void finish();
  std::size_t predecessor_count(Block block) const { return states_[block].group_count; }
  std::size_t param_count() const { return phis_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  /// Set in ValueData::number of a phi that is not attached; the rest is the phi's index.
  static constexpr std::uint32_t kPhiBit = 0x8000'0000;
  static constexpr unsigned kFanoutLog2 = 3;

  /// All edges from one branch instruction to one block: one predecessor.
  struct Group {
    Inst branch;
    Block target;
    std::uint32_t number = 0;  // among the target's predecessors
    std::uint32_t next = kNone;
  };
  struct BlockState {
    std::uint32_t first_group = kNone;
    std::uint32_t last_group = kNone;
    std::uint32_t group_count = 0;
    std::uint32_t first_incomplete = kNone;  // phis of an unsealed block; later the live ones
    std::uint32_t last_phi = kNone;
    std::uint32_t first_def = kNone;
    std::uint32_t map = 0;
    std::uint32_t map_generation = 0;
    Block map_root;               // where the map's knowledge ends
    std::uint32_t walk = 0;       // mark of the last walk that came by
    std::uint32_t group = kNone;  // of the branch being looked at
    Inst marked_by;
    std::uint32_t slots = 0;  // of a table that go here
    BlockCall first_slot;
    Block split;            // block between the table and this one
    bool same_args = true;  // all slots pass the same arguments
    bool sealed = false;
    bool unreachable_cycle = false;
  };
  struct Definition {
    Variable var;
    Block block;
    Value value;
    std::uint32_t next_in_bucket = kNone;
    std::uint32_t next_in_block = kNone;
  };
  /// What the current block knows of a variable.
  struct VariableState {
    Type type;
    std::uint32_t stamp = 0;        // value is valid in this visit
    std::uint32_t dirty_stamp = 0;  // defined in this visit, not yet in the table
    Value value;
  };
  struct Phi {
    Variable var;
    Block block;
    Value value;
    std::uint32_t inputs = kNone;  // first of the block's predecessor count, in inputs_
    std::uint32_t count = 0;
    // Inputs before `second` are the phi itself or equal to input `first`; input `second` is not.
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::uint32_t watched_first = kNone, watched_second = kNone;
    std::uint32_t first_watcher = kNone, last_watcher = kNone, watchers = 0;
    std::uint32_t next = kNone;  // in the block's list
    bool complete = false;
    bool dead = false;
  };
  /// `phi` must be looked at again when the owner of the list turns out to be another value.
  struct Watcher {
    std::uint32_t phi;
    std::uint32_t next;
  };
  struct Merge {
    std::uint32_t phi;
    Value value;
  };

  Value resolved(Value v) { return func_->resolve_and_compress(v); }
  void flush();
  Value* find(Variable var, Block block);
  void record(Variable var, Block block, Value value);
  void grow_buckets();
  bool passes_through(const BlockState& state) const {
    return state.sealed && state.group_count == 1 && !state.unreachable_cycle;
  }
  Block single_predecessor(const BlockState& state) const {
    return func_->inst_block(groups_[state.first_group].branch);
  }
  Value lookup(Variable var, Block block);
  Value lookup_at_root(Variable var, Block block);
  Value zero_at_start(Type type, Block block);

  void make_map(Block block);
  Value find_in_map(std::uint32_t root, Variable var) const;
  std::uint32_t own_node(std::uint32_t node);
  std::uint32_t insert_in_map(std::uint32_t root, Variable var, Value value);

  std::uint32_t new_phi(Variable var, Block block);
  std::uint32_t phi_of(Value v) const;
  void complete_pending();
  void complete(std::uint32_t phi);
  void examine(std::uint32_t phi);
  void watch(std::uint32_t phi, Value value);
  void merge_all();
  void take_watchers(std::uint32_t from, std::uint32_t into);
  void attach_params();
  void attach_args(std::size_t group, std::size_t end);
  void attach_table_args(Inst branch);
  /// Does this run (the groups of one branch) add arguments to edges to the block?
  bool takes_args(const BlockState& state) const {
    return state.first_incomplete != kNone && state.group >= run_begin_ && state.group < run_end_;
  }
  BlockCall with_phi_args(BlockCall call);
  BlockCall split_edge(Inst branch, BlockCall call);

  Function* func_ = nullptr;
  Assignments* assignments_ = nullptr;
  Block current_;
  std::uint32_t visit_ = 0;
  bool have_aliases_ = false;

  std::vector<VariableState> variables_;
  std::vector<Variable> dirty_;
  base::EntityMap<Block, BlockState> states_;
  std::vector<Group> groups_;
  std::vector<Definition> definitions_;
  std::vector<std::uint32_t> buckets_;

  std::vector<Phi> phis_;
  std::vector<Value> inputs_;
  std::vector<Watcher> watchers_;
  std::vector<std::uint32_t> pending_;
  std::vector<Merge> merges_;
  std::size_t attached_phis_ = 0;
  std::size_t run_begin_ = 0, run_end_ = 0;

  using MapNode = std::array<std::uint32_t, 1u << kFanoutLog2>;
  std::vector<MapNode> map_nodes_;
  std::vector<std::uint32_t> map_owners_;
  std::uint32_t map_owner_ = 0;
  std::uint32_t map_generation_ = 0;
  unsigned map_depth_ = 0;
  std::uint32_t walk_ = 0;
  std::vector<Block> chain_;
  std::vector<Value> scratch_;
};

}  // namespace hoist::ir
