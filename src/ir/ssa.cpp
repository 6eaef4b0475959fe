// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Look-up of variables and construction of phis; attaching them is in ssa_finish.cpp.
#include "ir/ssa.hpp"

#include <algorithm>

#include "base/keyed_hash.hpp"

namespace hoist::ir {

namespace {
/// A walk up single predecessors that is longer continues in a persistent map.
constexpr unsigned kLongWalk = 32;
/// From this length on the answer is recorded in the block that asked.
constexpr unsigned kRecordedWalk = 4;
}  // namespace

void SsaConstruction::begin(Function& func) {
  func_ = &func;
  assignments_ = nullptr;
  current_ = Block::none();
  visit_ = 0;
  have_aliases_ = false;
  variables_.clear();
  dirty_.clear();
  states_.clear();
  groups_.clear();
  definitions_.clear();
  buckets_.assign(64, kNone);
  phis_.clear();
  inputs_.clear();
  watchers_.clear();
  pending_.clear();
  merges_.clear();
  attached_phis_ = 0;
  map_nodes_.clear();
  map_owners_.clear();
  map_owner_ = 0;
  map_generation_ = 0;
  map_depth_ = 0;
  walk_ = 0;
}

Variable SsaConstruction::declare(Type type) {
  VariableState state;
  state.type = type;
  variables_.push_back(state);
  return Variable(variables_.size() - 1);
}

void SsaConstruction::enter(Block block) {
  flush();
  current_ = block;
  ++visit_;
  if (assignments_ != nullptr) assignments_->reached_block(block);
}

void SsaConstruction::define(Variable var, Value value) {
  VariableState& state = variables_[var.index()];
  HOIST_DCHECK(state.type == func_->type(value), "a variable keeps its type");
  state.value = value;
  state.stamp = visit_;
  if (state.dirty_stamp != visit_) {
    state.dirty_stamp = visit_;
    dirty_.push_back(var);
  }
}

Value SsaConstruction::use(Variable var) {
  {
    const VariableState& state = variables_[var.index()];
    if (state.stamp == visit_) return resolved(state.value);
  }
  const Value found = lookup(var, current_);
  complete_pending();
  VariableState& state = variables_[var.index()];
  state.stamp = visit_;
  state.value = resolved(found);
  return state.value;
}

void SsaConstruction::flush() {
  for (const Variable var : dirty_) record(var, current_, variables_[var.index()].value);
  dirty_.clear();
}

void SsaConstruction::end_block(Inst terminator) {
  flush();
  func_->for_each_target(terminator, [&](BlockCall call) {
    const Block target = func_->call_target(call);
    BlockState& state = states_[target];
    if (state.marked_by == terminator) return;
    HOIST_DCHECK(!state.sealed, "no branch to a sealed block");
    state.marked_by = terminator;
    const auto group = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back({terminator, target, state.group_count, kNone});
    if (state.last_group == kNone) {
      state.first_group = group;
    } else {
      groups_[state.last_group].next = group;
    }
    state.last_group = group;
    ++state.group_count;
  });
}

void SsaConstruction::seal(Block block) {
  BlockState& state = states_[block];
  if (state.sealed) return;
  state.sealed = true;
  for (std::uint32_t phi = state.first_incomplete; phi != kNone; phi = phis_[phi].next) {
    pending_.push_back(phi);
  }
  state.first_incomplete = kNone;
  complete_pending();
}

void SsaConstruction::seal_all() {
  flush();
  for (std::size_t i = 0; i < func_->block_count(); ++i) seal(Block(i));
}

// ---- The table of definitions.

namespace {
std::size_t hash_definition(Variable var, Block block) {
  return static_cast<std::size_t>(base::keyed_hash(var.index(), block.index()));
}
}  // namespace

Value* SsaConstruction::find(Variable var, Block block) {
  std::uint32_t at = buckets_[hash_definition(var, block) & (buckets_.size() - 1)];
  while (at != kNone) {
    Definition& definition = definitions_[at];
    if (definition.var == var && definition.block == block) return &definition.value;
    at = definition.next_in_bucket;
  }
  return nullptr;
}

void SsaConstruction::record(Variable var, Block block, Value value) {
  if (Value* known = find(var, block)) {
    *known = value;
    return;
  }
  if (definitions_.size() >= buckets_.size()) grow_buckets();
  std::uint32_t& bucket = buckets_[hash_definition(var, block) & (buckets_.size() - 1)];
  BlockState& state = states_[block];
  definitions_.push_back({var, block, value, bucket, state.first_def});
  bucket = state.first_def = static_cast<std::uint32_t>(definitions_.size() - 1);
}

void SsaConstruction::grow_buckets() {
  buckets_.assign(buckets_.size() * 2, kNone);
  for (std::size_t i = 0; i < definitions_.size(); ++i) {
    Definition& definition = definitions_[i];
    std::uint32_t& bucket =
        buckets_[hash_definition(definition.var, definition.block) & (buckets_.size() - 1)];
    definition.next_in_bucket = bucket;
    bucket = static_cast<std::uint32_t>(i);
  }
}

// ---- Look-up.

Value SsaConstruction::lookup(Variable var, Block block) {
  unsigned steps = 0;
  unsigned jumps = 0;
  Value found;
  for (Block at = block;;) {
    if (const Value* known = find(var, at)) {
      found = resolved(*known);
      break;
    }
    if (assignments_ != nullptr) {
      const Block site = assignments_->site(var, at);
      if (site != at) {
        at = site;
        ++jumps;
        continue;
      }
    }
    const BlockState& state = states_[at];
    if (!passes_through(state)) {
      found = lookup_at_root(var, at);
      break;
    }
    if (state.map_generation != 0 && state.map_generation == map_generation_) {
      found = find_in_map(state.map, var);
      if (found.is_some()) {
        found = resolved(found);
        break;
      }
      at = state.map_root;
    } else if (++steps > kLongWalk) {
      make_map(at);
    } else {
      at = single_predecessor(state);
    }
  }
  if (steps + jumps > kRecordedWalk) record(var, block, found);
  return found;
}

/// `block` is a join, not sealed, or has no predecessors.
Value SsaConstruction::lookup_at_root(Variable var, Block block) {
  Value value;
  const BlockState& state = states_[block];
  if (!state.sealed) {
    const std::uint32_t phi = new_phi(var, block);
    phis_[phi].next = state.first_incomplete;
    states_[block].first_incomplete = phi;
    value = phis_[phi].value;
  } else if (state.group_count == 0 || state.unreachable_cycle) {
    value = zero_at_start(type(var), block);
  } else {
    const std::uint32_t phi = new_phi(var, block);
    pending_.push_back(phi);
    value = phis_[phi].value;
  }
  record(var, block, value);
  return value;
}

Value SsaConstruction::zero_at_start(Type type, Block block) {
  InstData data;
  if (type == F32) {
    data.op = Op::F32const;
  } else if (type == F64) {
    data.op = Op::F64const;
  } else if (type.is_vector()) {
    const std::vector<std::uint8_t> zeros(type.bytes());
    data.op = Op::Vconst;
    data.a = func_->intern_constant(zeros).index();
  } else if (type == I128) {
    data.op = Op::Uextend;
    data.a = zero_at_start(I64, block).index();
  } else {
    HOIST_CHECK(type.is_int(), "an undefined variable is a vector, an integer, an f32 or an f64");
    data.op = Op::Iconst;
  }
  const Inst inst = func_->make_inst(data);
  const Value value = func_->append_result(inst, type);
  const Inst first =
      type == I128 ? func_->next_inst(func_->def_inst(Value(data.a))) : func_->first_inst(block);
  if (first.is_some()) {
    func_->insert_inst_before(inst, first);
  } else {
    func_->append_inst(inst, block);
  }
  return value;
}

// ---- Persistent maps: a radix tree over variables, shared between a block and its predecessor.

void SsaConstruction::make_map(Block block) {
  std::size_t capacity = map_depth_ == 0 ? 0 : std::size_t{1} << (kFanoutLog2 * map_depth_);
  if (capacity < variables_.size()) {
    while (capacity < variables_.size()) capacity = std::size_t{1} << (kFanoutLog2 * ++map_depth_);
    ++map_generation_;
    map_nodes_.assign(1, {});
    map_owners_.assign(1, 0);
  }
  chain_.clear();
  ++walk_;
  std::uint32_t map = 0;
  Block root = block;
  for (;;) {
    BlockState& state = states_[root];
    if (!passes_through(state)) break;
    if (state.map_generation == map_generation_) {
      map = state.map;
      root = state.map_root;
      break;
    }
    if (state.walk == walk_) {
      // A cycle of single predecessors: nothing enters it. It is cut here.
      state.unreachable_cycle = true;
      while (chain_.back() != root) chain_.pop_back();
      chain_.pop_back();
      break;
    }
    state.walk = walk_;
    chain_.push_back(root);
    root = single_predecessor(state);
  }
  for (std::size_t i = chain_.size(); i-- > 0;) {
    BlockState& state = states_[chain_[i]];
    ++map_owner_;
    for (std::uint32_t at = state.first_def; at != kNone; at = definitions_[at].next_in_block) {
      map = insert_in_map(map, definitions_[at].var, definitions_[at].value);
    }
    state.map = map;
    state.map_root = root;
    state.map_generation = map_generation_;
  }
}

Value SsaConstruction::find_in_map(std::uint32_t root, Variable var) const {
  if (var.index() >> (kFanoutLog2 * map_depth_) != 0) return Value::none();
  std::uint32_t node = root;
  for (unsigned level = map_depth_; level-- > 0;) {
    if (node == 0) return Value::none();
    node = map_nodes_[node][(var.index() >> (kFanoutLog2 * level)) & ((1u << kFanoutLog2) - 1)];
  }
  return node == 0 ? Value::none() : Value(node - 1);
}

/// A node that the current owner may change: itself, or a copy.
std::uint32_t SsaConstruction::own_node(std::uint32_t node) {
  if (node != 0 && map_owners_[node] == map_owner_) return node;
  const MapNode copy = map_nodes_[node];
  map_nodes_.push_back(copy);
  map_owners_.push_back(map_owner_);
  return static_cast<std::uint32_t>(map_nodes_.size() - 1);
}

std::uint32_t SsaConstruction::insert_in_map(std::uint32_t root, Variable var, Value value) {
  root = own_node(root);
  std::uint32_t node = root;
  for (unsigned level = map_depth_ - 1; level > 0; --level) {
    const unsigned digit = (var.index() >> (kFanoutLog2 * level)) & ((1u << kFanoutLog2) - 1);
    const std::uint32_t child = own_node(map_nodes_[node][digit]);
    map_nodes_[node][digit] = child;
    node = child;
  }
  map_nodes_[node][var.index() & ((1u << kFanoutLog2) - 1)] = value.index() + 1;
  return root;
}

// ---- Phis.

std::uint32_t SsaConstruction::new_phi(Variable var, Block block) {
  const auto index = static_cast<std::uint32_t>(phis_.size());
  HOIST_CHECK(index < kPhiBit, "phis fit 31 bits");
  const Value value =
      func_->make_value({type(var), ValueKind::Param, block.index(), kPhiBit | index});
  phis_.push_back({.var = var, .block = block, .value = value});
  return index;
}

std::uint32_t SsaConstruction::phi_of(Value v) const {
  const ValueData& data = func_->value(v);
  return data.kind == ValueKind::Param && (data.number & kPhiBit) != 0 ? data.number & ~kPhiBit
                                                                       : kNone;
}

/// Looks up the inputs of all phis that were asked for, which may ask for more; then removes the
/// redundant ones.
void SsaConstruction::complete_pending() {
  for (std::size_t i = 0; i < pending_.size(); ++i) complete(pending_[i]);
  for (const std::uint32_t phi : pending_) examine(phi);
  pending_.clear();
  merge_all();
}

void SsaConstruction::complete(std::uint32_t phi) {
  const Block block = phis_[phi].block;
  const Variable var = phis_[phi].var;
  const std::uint32_t count = states_[block].group_count;
  HOIST_CHECK(inputs_.size() + count < kNone, "phi inputs fit 32-bit indexes");
  const auto first = static_cast<std::uint32_t>(inputs_.size());
  inputs_.resize(inputs_.size() + count);
  std::uint32_t number = 0;
  for (std::uint32_t group = states_[block].first_group; group != kNone;
       group = groups_[group].next) {
    inputs_[first + number++] = lookup(var, func_->inst_block(groups_[group].branch));
  }
  phis_[phi].inputs = first;
  phis_[phi].count = count;
  phis_[phi].complete = true;
}

/// Is the phi redundant by now? If not, waits for one of two different inputs to change.
void SsaConstruction::examine(std::uint32_t index) {
  Phi& phi = phis_[index];
  if (phi.dead || !phi.complete) return;
  const auto input = [&](std::uint32_t number) { return resolved(inputs_[phi.inputs + number]); };
  if (phi.first < phi.count && input(phi.first) == phi.value) {
    phi.first = std::max(phi.first + 1, phi.second);
    while (phi.first < phi.count && input(phi.first) == phi.value) ++phi.first;
  }
  if (phi.first >= phi.count) {
    const Value zero = zero_at_start(type(phi.var), phi.block);
    merges_.push_back({index, zero});
    return;
  }
  const Value one = input(phi.first);
  Value other;
  for (phi.second = std::max(phi.second, phi.first + 1); phi.second < phi.count; ++phi.second) {
    other = input(phi.second);
    if (other != one && other != phi.value) break;
  }
  if (phi.second >= phi.count) {
    merges_.push_back({index, one});
    return;
  }
  if (phi.watched_first != phi.first) {
    phi.watched_first = phi.first;
    watch(index, one);
  }
  if (phi.watched_second != phi.second) {
    phi.watched_second = phi.second;
    watch(index, other);
  }
}

void SsaConstruction::watch(std::uint32_t phi, Value value) {
  const std::uint32_t owner = phi_of(value);
  if (owner == kNone) return;  // only phis ever turn out to be another value
  const auto at = static_cast<std::uint32_t>(watchers_.size());
  watchers_.push_back({phi, kNone});
  Phi& watched = phis_[owner];
  if (watched.last_watcher == kNone) {
    watched.first_watcher = at;
  } else {
    watchers_[watched.last_watcher].next = at;
  }
  watched.last_watcher = at;
  ++watched.watchers;
}

void SsaConstruction::merge_all() {
  for (std::size_t i = 0; i < merges_.size(); ++i) {
    const std::uint32_t index = merges_[i].phi;
    if (phis_[index].dead) continue;
    const Value value = resolved(merges_[i].value);
    if (value == phis_[index].value) {
      examine(index);  // what it was equal to became equal to it
      continue;
    }
    phis_[index].dead = true;
    have_aliases_ = true;
    func_->make_alias(phis_[index].value, value);
    take_watchers(index, phi_of(value));
  }
  merges_.clear();
}

/// Phi `from` is now the same as `into` (none: not a phi). Of two lists only the shorter one is
/// walked: a phi that waited for both is in both.
void SsaConstruction::take_watchers(std::uint32_t from, std::uint32_t into) {
  std::uint32_t at = phis_[from].first_watcher;
  std::uint32_t last = phis_[from].last_watcher;
  if (into != kNone) {
    Phi& source = phis_[from];
    Phi& sink = phis_[into];
    if (sink.watchers < source.watchers) {
      at = sink.first_watcher;
      last = sink.last_watcher;
    }
    if (sink.last_watcher == kNone) {
      sink.first_watcher = source.first_watcher;
      sink.last_watcher = source.last_watcher;
    } else if (source.first_watcher != kNone) {
      watchers_[sink.last_watcher].next = source.first_watcher;
      sink.last_watcher = source.last_watcher;
    }
    sink.watchers += source.watchers;
  }
  for (; at != kNone; at = watchers_[at].next) {
    examine(watchers_[at].phi);
    if (at == last) break;
  }
  if (into != kNone) examine(into);  // `from` may have been one of its inputs
}

}  // namespace hoist::ir
