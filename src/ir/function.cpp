// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Storage and layout of a function; see function.hpp for the rules.
#include "ir/function.hpp"

#include <algorithm>

#include "base/keyed_hash.hpp"

namespace hoist::ir {

namespace {

/// Sets of memory flags that carry no hint beyond what correctness needs (trap code, byte order)
/// are few: the last handles are kept for them, so that interning never fails.
constexpr std::size_t kMaxFlagSets = 0xffff;
constexpr std::size_t kPlainFlagSets = 256 * 4;
/// Up to this many sets a linear search is faster than the index.
constexpr std::size_t kLinearFlagSets = 16;

std::size_t hash_flags(const MemFlags& flags) {
  std::uint64_t h = static_cast<std::uint64_t>(flags.trap) | std::uint64_t{flags.endian} << 8 |
                    std::uint64_t{flags.aligned} << 10 | std::uint64_t{flags.readonly} << 11 |
                    std::uint64_t{flags.can_move} << 12 | std::uint64_t{flags.region.index()} << 16;
  h *= 0x9e37'79b9'7f4a'7c15u;
  return static_cast<std::size_t>(h >> 32);
}

}  // namespace

Function::Function() {
  clear();
}

void Function::clear() {
  name.kind = ExternalName::Kind::User;
  name.name_space = 0;
  name.index = 0;
  name.text.clear();
  signature.params.clear();
  signature.returns.clear();
  signature.call_conv = CallConv::Fast;
  stack_slots.clear();
  alias_regions.clear();
  global_values.clear();
  signatures.clear();
  ext_funcs.clear();
  jump_tables.clear();
  constants.clear();
  dynamic_types.clear();
  dynamic_stack_slots.clear();
  immediates.clear();
  exception_tables.clear();
  inline_frames.clear();
  stack_limit = GlobalValue::none();
  trap_handler = FuncRef::none();

  exception_items_.clear();
  debug_tags_.clear();
  debug_tag_ranges_.clear();
  stack_maps_.clear();
  stack_map_ranges_.clear();
  if (has_references_) references_.reset(0);
  has_references_ = false;
  inlined_locs_.clear();
  first_inlined_loc_ = 0xffff'ffff;
  constant_index_.clear();
  immediate_index_.clear();
  indexed_constants_ = indexed_immediates_ = 0;

  insts_.clear();
  inst_nodes_.clear();
  inst_results_.clear();
  locs_.clear();
  values_.clear();
  blocks_.clear();
  values_pool_.clear();
  calls_pool_.clear();
  mem_flags_.clear();
  mem_flags_.push_back(MemFlags{});
  flags_index_.clear();
  first_block_ = Block::none();
  last_block_ = Block::none();
}

// ---- Blocks.

Block Function::make_block() {
  return blocks_.push({});
}

void Function::append_block(Block block) {
  BlockNode& node = blocks_[block];
  HOIST_DCHECK(!node.in_layout, "block is laid out once");
  node.in_layout = true;
  node.prev = last_block_;
  node.next = Block::none();
  if (last_block_.is_some()) {
    blocks_[last_block_].next = block;
  } else {
    first_block_ = block;
  }
  last_block_ = block;
}

void Function::insert_block_after(Block block, Block after) {
  BlockNode& node = blocks_[block];
  HOIST_DCHECK(!node.in_layout && blocks_[after].in_layout, "block is laid out once");
  node.in_layout = true;
  node.prev = after;
  node.next = blocks_[after].next;
  if (node.next.is_some()) {
    blocks_[node.next].prev = block;
  } else {
    last_block_ = block;
  }
  blocks_[after].next = block;
}

void Function::remove_block(Block block) {
  BlockNode& node = blocks_[block];
  HOIST_DCHECK(node.in_layout, "block is in the layout");
  if (node.prev.is_some()) {
    blocks_[node.prev].next = node.next;
  } else {
    first_block_ = node.next;
  }
  if (node.next.is_some()) {
    blocks_[node.next].prev = node.prev;
  } else {
    last_block_ = node.prev;
  }
  for (Inst inst = node.first; inst.is_some();) {
    const Inst next = inst_nodes_[inst].next;
    inst_nodes_[inst] = {};
    inst = next;
  }
  node.prev = node.next = Block::none();
  node.first = node.last = Inst::none();
  node.in_layout = false;
}

Value Function::append_block_param(Block block, Type type) {
  const Value v = values_.push({.type = type});
  attach_block_param(block, v);
  return v;
}

void Function::attach_block_param(Block block, Value v) {
  BlockNode& node = blocks_[block];
  ValueData& data = values_[v];
  data.kind = ValueKind::Param;
  data.source = block.index();
  data.number = static_cast<std::uint32_t>(values_pool_.get(node.params).size());
  node.params = values_pool_.append(node.params, v);
}

void Function::remove_block_param(Block block, std::uint32_t number) {
  BlockNode& node = blocks_[block];
  const std::span<Value> params = values_pool_.get(node.params);
  HOIST_DCHECK(number < params.size(), "the parameter exists");
  for (std::size_t i = number; i + 1 < params.size(); ++i) {
    params[i] = params[i + 1];
    if (values_[params[i]].kind == ValueKind::Param) {
      values_[params[i]].number = static_cast<std::uint32_t>(i);
    }
  }
  values_pool_.truncate(node.params, static_cast<std::uint32_t>(params.size() - 1));
}

// ---- Instructions.

Inst Function::make_inst(const InstData& data, SourceLoc loc) {
  const Inst inst = insts_.push(data);
  inst_nodes_.push({});
  inst_results_.push({});
  locs_.push_back(loc);
  return inst;
}

Value Function::append_result(Inst inst, Type type) {
  const Value v = values_.push({.type = type});
  attach_result(inst, v);
  return v;
}

void Function::attach_result(Inst inst, Value v) {
  InstResults& results = inst_results_[inst];
  ValueData& data = values_[v];
  data.kind = ValueKind::Result;
  data.source = inst.index();
  if (results.list.index != 0) {
    data.number = static_cast<std::uint32_t>(values_pool_.get(results.list).size());
    results.list = values_pool_.append(results.list, v);
  } else if (results.single.is_some()) {
    data.number = 1;
    const Value both[] = {results.single, v};
    results.list = values_pool_.make(both);
    results.single = Value::none();
  } else {
    data.number = 0;
    results.single = v;
  }
}

void Function::append_inst(Inst inst, Block block) {
  BlockNode& node = blocks_[block];
  InstNode& link = inst_nodes_[inst];
  HOIST_DCHECK(link.block.is_none(), "instruction is laid out once");
  link = {block, node.last, Inst::none()};
  if (node.last.is_some()) {
    inst_nodes_[node.last].next = inst;
  } else {
    node.first = inst;
  }
  node.last = inst;
}

void Function::insert_inst_before(Inst inst, Inst before) {
  InstNode& link = inst_nodes_[inst];
  InstNode& successor = inst_nodes_[before];
  HOIST_DCHECK(link.block.is_none() && successor.block.is_some(), "instruction is laid out once");
  link = {successor.block, successor.prev, before};
  if (link.prev.is_some()) {
    inst_nodes_[link.prev].next = inst;
  } else {
    blocks_[link.block].first = inst;
  }
  successor.prev = inst;
}

void Function::remove_inst(Inst inst) {
  InstNode& link = inst_nodes_[inst];
  HOIST_DCHECK(link.block.is_some(), "instruction is in the layout");
  BlockNode& node = blocks_[link.block];
  if (link.prev.is_some()) {
    inst_nodes_[link.prev].next = link.next;
  } else {
    node.first = link.next;
  }
  if (link.next.is_some()) {
    inst_nodes_[link.next].prev = link.prev;
  } else {
    node.last = link.prev;
  }
  link = {};
}

MemFlagsRef Function::find_flags(const MemFlags& flags) const {
  if (mem_flags_.size() <= kLinearFlagSets) {
    for (std::size_t i = 0; i < mem_flags_.size(); ++i) {
      if (mem_flags_[i] == flags) return MemFlagsRef(i);
    }
  } else {
    for (std::size_t at = hash_flags(flags);; ++at) {
      const std::uint16_t entry = flags_index_[at & (flags_index_.size() - 1)];
      if (entry == 0) break;
      if (mem_flags_[entry] == flags) return MemFlagsRef(std::size_t{entry});
    }
    if (mem_flags_[0] == flags) return MemFlagsRef(std::size_t{0});
  }
  return MemFlagsRef::none();
}

std::optional<MemFlagsRef> Function::intern_exactly(const MemFlags& flags) {
  const MemFlagsRef ref = intern(flags);
  if (mem_flags_[ref.index()] == flags) return ref;
  return std::nullopt;
}

MemFlagsRef Function::intern(const MemFlags& flags) {
  if (const MemFlagsRef known = find_flags(flags)) return known;
  if (mem_flags_.size() >= kMaxFlagSets - kPlainFlagSets) {
    MemFlags plain;
    plain.trap = flags.trap;
    plain.endian = flags.endian;
    if (!(plain == flags)) return intern(plain);
  }
  mem_flags_.push_back(flags);
  index_flags();
  return MemFlagsRef(mem_flags_.size() - 1);
}

void Function::index_flags() {
  if (mem_flags_.size() <= kLinearFlagSets) return;
  const auto enter = [&](std::size_t i) {
    std::size_t at = hash_flags(mem_flags_[i]);
    while (flags_index_[at & (flags_index_.size() - 1)] != 0) ++at;
    flags_index_[at & (flags_index_.size() - 1)] = static_cast<std::uint16_t>(i);
  };
  if (flags_index_.size() < 2 * mem_flags_.size()) {
    flags_index_.assign(4 * std::bit_ceil(mem_flags_.size()), 0);
    for (std::size_t i = 1; i < mem_flags_.size(); ++i) enter(i);
  } else {
    enter(mem_flags_.size() - 1);
  }
}

// ---- Constants and regions.

namespace {

std::span<const std::uint8_t> bytes_of(const std::vector<std::uint8_t>& bytes) {
  return bytes;
}
std::span<const std::uint8_t> bytes_of(const std::array<std::uint8_t, 16>& bytes) {
  return bytes;
}

std::size_t hash_bytes(std::span<const std::uint8_t> bytes) {
  return static_cast<std::size_t>(base::keyed_hash(bytes.data(), bytes.size()));
}

/// The entry of `table` with these bytes, or none. `index` (open addressing, entry + 1) follows the
/// table, which others may have extended.
template <typename E, typename Table>
E find_bytes(const Table& table, std::span<const std::uint8_t> bytes,
             std::vector<std::uint32_t>& index, std::size_t& indexed) {
  if (indexed > table.size() || index.size() < 2 * table.size() + 2) {
    index.assign(4 * std::bit_ceil(table.size() + 1), 0);
    indexed = 0;
  }
  const std::size_t mask = index.size() - 1;
  const auto same = [](std::span<const std::uint8_t> x, std::span<const std::uint8_t> y) {
    return std::ranges::equal(x, y);
  };
  for (; indexed < table.size(); ++indexed) {
    const std::span<const std::uint8_t> entry = bytes_of(table[E(indexed)]);
    std::size_t at = hash_bytes(entry);
    while (index[at & mask] != 0 && !same(bytes_of(table[E(index[at & mask] - 1)]), entry)) ++at;
    if (index[at & mask] == 0) index[at & mask] = static_cast<std::uint32_t>(indexed + 1);
  }
  for (std::size_t at = hash_bytes(bytes); index[at & mask] != 0; ++at) {
    const E entry(index[at & mask] - 1);
    if (same(bytes_of(table[entry]), bytes)) return entry;
  }
  return E::none();
}

}  // namespace

Constant Function::intern_constant(std::span<const std::uint8_t> bytes) {
  const auto known = find_bytes<Constant>(constants, bytes, constant_index_, indexed_constants_);
  return known ? known : constants.push({bytes.begin(), bytes.end()});
}

Immediate Function::intern_immediate(const std::array<std::uint8_t, 16>& bytes) {
  const auto known =
      find_bytes<Immediate>(immediates, bytes, immediate_index_, indexed_immediates_);
  return known ? known : immediates.push(bytes);
}

AliasRegion Function::intern_region(const AliasRegionData& region) {
  for (std::size_t i = 0; i < alias_regions.size(); ++i) {
    if (alias_regions[AliasRegion(i)].user_id == region.user_id) return AliasRegion(i);
  }
  return alias_regions.push(region);
}

// ---- Calls and exception tables.

SigRef Function::call_signature(Inst inst) const {
  const InstData& data = insts_[inst];
  switch (format(data.op)) {
    case Format::Call: return ext_funcs[FuncRef(data.a)].signature;
    case Format::CallIndirect: return SigRef(data.a);
    default: return exception_table(inst).signature;  // nothing else is a call
  }
}

std::span<const Value> Function::call_operands(Inst inst) const {
  const Format form = format(insts_[inst].op);
  const std::span<const Value> all = arg_list(inst);
  return form == Format::CallIndirect || form == Format::TryCallIndirect ? all.subspan(1) : all;
}

ExceptionTable Function::make_exception_table(SigRef sig, BlockCall normal,
                                              std::span<const ExceptionItem> items) {
  const auto first = static_cast<std::uint32_t>(exception_items_.size());
  exception_items_.insert(exception_items_.end(), items.begin(), items.end());
  return exception_tables.push({sig, normal, first, static_cast<std::uint32_t>(items.size())});
}

Value Function::make_try_value(ValueKind kind, std::uint32_t number, Type type) {
  HOIST_DCHECK(kind == ValueKind::TryReturn || kind == ValueKind::TryException, "a try value");
  HOIST_DCHECK(number <= 0xffff, "numbers of try values are small");
  return values_.push({type, kind, Inst::kNoneIndex, number});
}

void Function::attach_try_values(Inst inst) {
  // The values of the edges by kind and number, the first of each in front. Numbers may be large
  // and few, so there is no table of them.
  const auto key_of = [&](Value v) {
    const ValueData& data = values_[v];
    return std::pair(2 * std::uint64_t{data.number} + (data.kind == ValueKind::TryReturn ? 1 : 0),
                     v.index());
  };
  scratch_.clear();
  for_each_target(inst, [&](BlockCall call) {
    for (const Value v : call_args(call)) {
      if (!values_[v].is_try_value()) continue;
      values_[v].source = inst.index();
      scratch_.push_back(v);
    }
  });
  if (scratch_.size() < 2) return;
  std::ranges::sort(scratch_, {}, key_of);
  for_each_target(inst, [&](BlockCall call) {
    for (Value& v : call_args(call)) {
      if (!values_[v].is_try_value()) continue;
      v = *std::ranges::lower_bound(scratch_, key_of(v).first, {},
                                    [&](Value other) { return key_of(other).first; });
    }
  });
}

// ---- Rare facts about instructions.

void Function::set_debug_tags(Inst inst, std::span<const DebugTag> tags) {
  if (tags.empty() && debug_tags(inst).empty()) return;
  debug_tag_ranges_[inst] = {static_cast<std::uint32_t>(debug_tags_.size()),
                             static_cast<std::uint32_t>(tags.size())};
  debug_tags_.insert(debug_tags_.end(), tags.begin(), tags.end());
}

void Function::set_stack_map(Inst inst, std::span<const StackMapEntry> entries) {
  if (entries.empty() && stack_map(inst).empty()) return;
  stack_map_ranges_[inst] = {static_cast<std::uint32_t>(stack_maps_.size()),
                             static_cast<std::uint32_t>(entries.size())};
  stack_maps_.insert(stack_maps_.end(), entries.begin(), entries.end());
}

// ---- Source locations.

SourcePosition Function::position(SourceLoc loc) const {
  if (loc.bits < first_inlined_loc_ || loc.is_none()) return {loc, InlineFrame::none()};
  return inlined_locs_[loc.bits - first_inlined_loc_];
}

SourceLoc Function::make_inlined_loc(SourceLoc loc, InlineFrame frame) {
  if (inlined_locs_.empty()) {
    std::uint32_t first = 0;
    for (const SourceLoc own : locs_) {
      if (!own.is_none()) first = std::max(first, own.bits + 1);
    }
    first_inlined_loc_ = first;
  }
  // An inliner walks the callee in order: equal locations follow each other.
  const bool repeats = !inlined_locs_.empty() && inlined_locs_.back().loc == loc &&
                       inlined_locs_.back().frame == frame;
  if (!repeats) {
    // Where the numbers end, the code has no location any more.
    if (inlined_locs_.size() >= 0xffff'ffff - first_inlined_loc_) return {};
    inlined_locs_.push_back({loc, frame});
  }
  return {first_inlined_loc_ + static_cast<std::uint32_t>(inlined_locs_.size() - 1)};
}

// ---- Block calls.

BlockCall Function::make_block_call(Block target, std::span<const Value> args) {
  const Value head(target.index());
  if (args.empty()) return BlockCall(values_pool_.make({&head, 1}).index);
  // `args` may point into the pool, which grows here.
  scratch_.assign(1, head);
  scratch_.insert(scratch_.end(), args.begin(), args.end());
  return BlockCall(values_pool_.make(scratch_).index);
}

BlockCall Function::append_call_arg(BlockCall call, Value arg) {
  return BlockCall(values_pool_.append({call.index()}, arg).index);
}

ListRef Function::make_call_list(std::span<const BlockCall> calls) {
  return calls_pool_.make(calls);
}

// ---- Values.

void Function::make_alias(Value v, Value target) {
  target = resolve(target);
  HOIST_DCHECK(target != v, "a value does not stand for itself");
  ValueData& data = values_[v];
  HOIST_DCHECK(data.type == values_[target].type, "an alias has its target's type");
  if (data.kind == ValueKind::Result) {
    // An instruction with more results may stay for the others: it keeps one per number.
    const ListRef list = inst_results_[Inst(data.source)].list;
    if (list.index != 0 && values_pool_.get(list)[data.number] == v) {
      values_pool_.get(list)[data.number] = values_.push(ValueData(data));
    }
  }
  values_[v].kind = ValueKind::Alias;
  values_[v].source = target.index();
  values_[v].number = 0;
}

Value Function::compress(Value v) {
  const Value target = resolve(v);
  while (values_[v].kind == ValueKind::Alias) {
    const Value next(values_[v].source);
    values_[v].source = target.index();
    v = next;
  }
  return target;
}

void Function::resolve_all_aliases() {
  bool any = false;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value v(i);
    if (values_[v].kind != ValueKind::Alias) continue;
    any = true;
    resolve_and_compress(v);
  }
  if (!any) return;
  for (Block block = first_block_; block.is_some(); block = next_block(block)) {
    for (Inst inst = first_inst(block); inst.is_some(); inst = next_inst(inst)) {
      for_each_arg(inst, [&](Value& v) { v = resolve(v); });
    }
  }
}

}  // namespace hoist::ir
