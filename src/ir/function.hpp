// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// ir::Function: one function in SSA form with block parameters.
///
/// Everything is an index into tables owned by the function; nothing points into it. References and
/// spans that the accessors return live until the next mutation. `clear` keeps the memory, so that
/// a function reused for the next compilation allocates nothing in steady state.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/containers/bit_set.hpp"
#include "base/containers/list_pool.hpp"
#include "base/entity.hpp"
#include "image/layout/trap_code.hpp"
#include "ir/entities.hpp"
#include "ir/opcode.hpp"
#include "ir/signature.hpp"

namespace hoist::ir {

using base::ListRef;
using image::TrapCode;

/// One instruction; the meaning of the fields is in `Format`.
struct InstData {
  Op op = Op::Nop;
  std::uint16_t aux = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;

  std::uint64_t imm64() const { return std::uint64_t{b} | std::uint64_t{c} << 32; }
  static InstData imm(Op op, std::uint64_t bits) {
    return {op, 0, 0, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
  friend bool operator==(const InstData&, const InstData&) = default;
};
static_assert(sizeof(InstData) == 16);

/// Flags of a memory access. `trap` None means `notrap`.
struct MemFlags {
  TrapCode trap = TrapCode::HeapOutOfBounds;
  bool aligned = false;
  bool readonly = false;    ///< the memory does not change while the function runs
  bool can_move = false;    ///< may be executed where it was not
  std::uint8_t endian = 0;  ///< 0 native, 1 little, 2 big
  AliasRegion region;
  bool notrap() const { return trap == TrapCode::None; }
  static MemFlags trusted() {
    MemFlags flags;
    flags.trap = TrapCode::None;
    flags.aligned = true;
    return flags;
  }
  friend bool operator==(const MemFlags&, const MemFlags&) = default;
};

struct AliasRegionData {
  std::uint32_t user_id = 0;
  std::string description;
};

struct JumpTableData {
  BlockCall default_call;
  ListRef targets;  ///< of BlockCall, in the block call pool
};

/// One entry of a try_call's list, in order. A context holds for the tags and defaults after it.
struct ExceptionItem {
  enum class Kind : std::uint8_t { Tag, Default, Context };
  Kind kind = Kind::Default;
  std::uint32_t tag = 0;  ///< Tag
  BlockCall target;       ///< Tag, Default
  Value context;          ///< Context
};

/// Where a try_call goes on: belongs to exactly one instruction.
struct ExceptionTableData {
  SigRef signature;  ///< of the callee
  BlockCall normal;
  std::uint32_t first_item = 0;  ///< in the function's list of items
  std::uint32_t item_count = 0;
};

/// What a debugger shows at a call or sequence_point: a number of the front end or a stack slot.
struct DebugTag {
  enum class Kind : std::uint8_t { User, StackSlot };
  Kind kind = Kind::User;
  std::uint32_t value = 0;  ///< the number, or the slot's index
  friend bool operator==(const DebugTag&, const DebugTag&) = default;
};

/// During a call, `type` lies in the slot at this offset and is a root for the collector.
struct StackMapEntry {
  Type type;
  StackSlot slot;
  std::uint32_t offset = 0;
  friend bool operator==(const StackMapEntry&, const StackMapEntry&) = default;
};

/// One inlined call.
struct InlineFrameData {
  ExternalName callee;
  SourceLoc call_site;  ///< in the function; may itself lie in inlined code
};
/// A place in the source: of the function itself (no frame), or of a callee inlined at a frame.
struct SourcePosition {
  SourceLoc loc;
  InlineFrame frame;
};

/// Where a value comes from. TryReturn and TryException are `retN` and `exnN`: they exist only on
/// the edges of a try_call and occur only as arguments of its block calls, TryReturn in the normal
/// one, TryException in the others. There is at most one value for each number.
enum class ValueKind : std::uint8_t { Result, Param, Alias, TryReturn, TryException };
struct ValueData {
  Type type;
  ValueKind kind = ValueKind::Result;
  /// Result, TryReturn, TryException: the instruction; Param: the block; Alias: the value it stands
  /// for.
  std::uint32_t source = 0;
  /// Number among the results, parameters, returned values or payload words.
  std::uint32_t number = 0;
  bool is_try_value() const {
    return kind == ValueKind::TryReturn || kind == ValueKind::TryException;
  }
};

class Function {
 public:
  Function();

  // ---- Preamble. Plain data: readers and builders fill it in directly.
  ExternalName name;
  Signature signature;
  base::EntityTable<StackSlot, StackSlotData> stack_slots;
  base::EntityTable<AliasRegion, AliasRegionData> alias_regions;
  base::EntityTable<GlobalValue, GlobalValueData> global_values;
  base::EntityTable<SigRef, Signature> signatures;
  base::EntityTable<FuncRef, ExtFunc> ext_funcs;
  base::EntityTable<JumpTable, JumpTableData> jump_tables;
  base::EntityTable<Constant, std::vector<std::uint8_t>> constants;
  base::EntityTable<DynamicType, DynamicTypeData> dynamic_types;
  base::EntityTable<DynamicStackSlot, DynamicStackSlotData> dynamic_stack_slots;
  base::EntityTable<Immediate, std::array<std::uint8_t, 16>> immediates;
  base::EntityTable<ExceptionTable, ExceptionTableData> exception_tables;
  GlobalValue stack_limit;
  /// If set, a trap is a call of this function instead of a faulting instruction, with nothing in
  /// registers: it finds the context (the first parameter) 8 bytes below the frame pointer.
  FuncRef trap_handler;

  /// The constant with these bytes (lowest first), existing or new.
  Constant intern_constant(std::span<const std::uint8_t> bytes);
  Immediate intern_immediate(const std::array<std::uint8_t, 16>& bytes);
  /// The region with this user id, existing or new: regions of several functions merge by it.
  AliasRegion intern_region(const AliasRegionData& region);

  void clear();

  // ---- Blocks and layout.
  /// Makes a block that is not yet in the layout.
  Block make_block();
  void append_block(Block block);
  void insert_block_after(Block block, Block after);
  void remove_block(Block block);  ///< from the layout, with its instructions
  std::size_t block_count() const { return blocks_.size(); }
  bool is_in_layout(Block block) const { return blocks_[block].in_layout; }
  Block entry_block() const { return first_block_; }
  Block first_block() const { return first_block_; }
  Block last_block() const { return last_block_; }
  Block next_block(Block block) const { return blocks_[block].next; }
  Block prev_block(Block block) const { return blocks_[block].prev; }
  bool is_cold(Block block) const { return blocks_[block].cold; }
  void set_cold(Block block, bool cold = true) { blocks_[block].cold = cold; }

  Value append_block_param(Block block, Type type);
  void remove_block_param(Block block, std::uint32_t number);
  std::span<const Value> block_params(Block block) const {
    return values_pool_.get(blocks_[block].params);
  }

  // ---- Instructions.
  /// Makes an instruction without results outside the layout.
  Inst make_inst(const InstData& data, SourceLoc loc = {});
  /// Appends a result of `type`.
  Value append_result(Inst inst, Type type);
  void append_inst(Inst inst, Block block);
  void insert_inst_before(Inst inst, Inst before);
  void remove_inst(Inst inst);  ///< from the layout; its results must be unused or aliased
  std::size_t inst_count() const { return insts_.size(); }
  const InstData& data(Inst inst) const { return insts_[inst]; }
  InstData& data(Inst inst) { return insts_[inst]; }
  Op op(Inst inst) const { return insts_[inst].op; }
  Block inst_block(Inst inst) const { return inst_nodes_[inst].block; }
  Inst first_inst(Block block) const { return blocks_[block].first; }
  Inst last_inst(Block block) const { return blocks_[block].last; }
  Inst next_inst(Inst inst) const { return inst_nodes_[inst].next; }
  Inst prev_inst(Inst inst) const { return inst_nodes_[inst].prev; }
  SourceLoc loc(Inst inst) const { return locs_[inst.index()]; }
  void set_loc(Inst inst, SourceLoc loc) { locs_[inst.index()] = loc; }

  std::span<const Value> results(Inst inst) const {
    const InstResults& results = inst_results_[inst];
    if (results.list.index != 0) return values_pool_.get(results.list);
    return {&results.single, results.single.is_some() ? std::size_t{1} : 0};
  }
  Value result(Inst inst) const { return results(inst).front(); }  ///< the first of at least one
  std::size_t result_count(Inst inst) const { return results(inst).size(); }

  /// Calls visit(Value&) for each value operand in order, without those of block calls.
  template <typename F>
  void for_each_operand(Inst inst, F&& visit);
  template <typename F>
  void for_each_operand(Inst inst, F&& visit) const;
  /// The same, then the arguments of the block calls in the order of the targets.
  template <typename F>
  void for_each_arg(Inst inst, F&& visit);
  template <typename F>
  void for_each_arg(Inst inst, F&& visit) const;
  /// Calls visit(BlockCall) for each target of a branch, in order (br_table: default first;
  /// try_call: the normal one, then the handlers).
  template <typename F>
  void for_each_target(Inst inst, F&& visit) const;
  /// Calls change(BlockCall) -> BlockCall for each target and stores the answers.
  template <typename F>
  void map_targets(Inst inst, F&& change);

  // Typed field access; the format must match.
  Value arg_a(Inst inst) const { return Value(insts_[inst].a); }
  Value arg_b(Inst inst) const { return Value(insts_[inst].b); }
  Value arg_c(Inst inst) const { return Value(insts_[inst].c); }
  /// Value operands of Call, CallIndirect (callee first), their try forms and MultiAry.
  std::span<const Value> arg_list(Inst inst) const { return values_pool_.get({insts_[inst].b}); }
  std::int32_t load_offset(Inst inst) const { return static_cast<std::int32_t>(insts_[inst].b); }
  std::int32_t store_offset(Inst inst) const { return static_cast<std::int32_t>(insts_[inst].c); }
  TrapCode trap_code(Inst inst) const { return static_cast<TrapCode>(insts_[inst].aux); }
  IntCC int_cc(Inst inst) const { return static_cast<IntCC>(insts_[inst].aux); }
  FloatCC float_cc(Inst inst) const { return static_cast<FloatCC>(insts_[inst].aux); }
  AtomicOp atomic_op(Inst inst) const { return static_cast<AtomicOp>(insts_[inst].c); }
  std::uint8_t lane(Inst inst) const { return static_cast<std::uint8_t>(insts_[inst].aux); }
  const std::array<std::uint8_t, 16>& shuffle_mask(Inst inst) const {
    return immediates[Immediate(insts_[inst].c)];
  }
  /// Of any call, tail call or try_call.
  SigRef call_signature(Inst inst) const;
  /// Its arguments, without the callee of an indirect one.
  std::span<const Value> call_operands(Inst inst) const;
  /// Of a try_call.
  const ExceptionTableData& exception_table(Inst inst) const {
    return exception_tables[ExceptionTable(insts_[inst].c)];
  }
  std::span<const ExceptionItem> exception_items(const ExceptionTableData& table) const {
    return {exception_items_.data() + table.first_item, table.item_count};
  }
  std::span<const ExceptionItem> exception_items(Inst inst) const {
    return exception_items(exception_table(inst));
  }
  /// `items` must not point into this function.
  ExceptionTable make_exception_table(SigRef signature, BlockCall normal,
                                      std::span<const ExceptionItem> items);
  /// A `retN` or `exnN` for the arguments of a try_call that does not exist yet.
  Value make_try_value(ValueKind kind, std::uint32_t number, Type type);
  /// Ties the TryReturn and TryException values among the arguments of a new try_call to it; of
  /// several values with one number the first replaces the others.
  void attach_try_values(Inst inst);

  // ---- Rare facts about instructions: functions without them pay nothing.
  bool has_debug_tags() const { return !debug_tags_.empty(); }
  std::span<const DebugTag> debug_tags(Inst inst) const {
    const Range range = std::as_const(debug_tag_ranges_)[inst];
    return {debug_tags_.data() + range.first, range.count};
  }
  /// `tags` must not point into this function.
  void set_debug_tags(Inst inst, std::span<const DebugTag> tags);
  bool has_stack_maps() const { return !stack_maps_.empty(); }
  std::span<const StackMapEntry> stack_map(Inst inst) const {
    const Range range = std::as_const(stack_map_ranges_)[inst];
    return {stack_maps_.data() + range.first, range.count};
  }
  void set_stack_map(Inst inst, std::span<const StackMapEntry> entries);
  // Values (i64) that a collector must find while a call is under way. Whoever makes loads, call
  // results and parameters of such values marks them; block parameters and selects that they flow
  // into need no mark. opt/passes/reference_slots makes stack maps of it.
  bool has_references() const { return has_references_; }
  bool is_reference(Value v) const { return references_.contains(v.index()); }
  void mark_reference(Value v) {
    has_references_ = true;
    references_.insert(v.index());
  }

  // ---- Source locations after inlining. A location in the function's own code stands for itself;
  // those of inlined code are numbers of a table, from the first number that no own location has.
  // Whatever carries a SourceLoc along (passes, lowering, emission) needs to know nothing of it.
  base::EntityTable<InlineFrame, InlineFrameData> inline_frames;
  /// What `loc` stands for; the chain outwards is frame, position(frame.call_site).frame, ...
  SourcePosition position(SourceLoc loc) const;
  /// A location for code of a callee, at `loc` there, inlined at `frame`.
  SourceLoc make_inlined_loc(SourceLoc loc, InlineFrame frame);

  const MemFlags& mem_flags(Inst inst) const { return mem_flags_[insts_[inst].aux]; }
  const MemFlags& mem_flags(MemFlagsRef flags) const { return mem_flags_[flags.index()]; }
  /// Never fails: when handles run out, hints are dropped.
  MemFlagsRef intern(const MemFlags& flags);
  /// Nothing when handles have run out.
  std::optional<MemFlagsRef> intern_exactly(const MemFlags& flags);

  ListRef make_value_list(std::span<const Value> values) { return values_pool_.make(values); }
  std::span<const Value> value_list(ListRef list) const { return values_pool_.get(list); }
  std::span<Value> value_list(ListRef list) { return values_pool_.get(list); }
  BlockCall make_block_call(Block target, std::span<const Value> args);
  Block call_target(BlockCall call) const {
    return Block(values_pool_.get({call.index()})[0].index());
  }
  std::span<const Value> call_args(BlockCall call) const {
    return values_pool_.get({call.index()}).subspan(1);
  }
  std::span<Value> call_args(BlockCall call) { return values_pool_.get({call.index()}).subspan(1); }
  /// Adds an argument; the instruction must store the returned handle.
  [[nodiscard]] BlockCall append_call_arg(BlockCall call, Value arg);
  void set_call_target(BlockCall call, Block target) {
    values_pool_.get({call.index()})[0] = Value(target.index());
  }
  ListRef make_call_list(std::span<const BlockCall> calls);
  std::span<const BlockCall> call_list(ListRef list) const { return calls_pool_.get(list); }
  std::span<BlockCall> call_list(ListRef list) { return calls_pool_.get(list); }

  // ---- Values.
  std::size_t value_count() const { return values_.size(); }
  const ValueData& value(Value v) const { return values_[v]; }
  Type type(Value v) const { return values_[v].type; }
  /// Follows aliases.
  Value resolve(Value v) const {
    while (values_[v].kind == ValueKind::Alias) v = Value(values_[v].source);
    return v;
  }
  /// The same; also shortens the chains it walks, so that many calls cost near-linear time.
  Value resolve_and_compress(Value v) {
    return values_[v].kind == ValueKind::Alias ? compress(v) : v;
  }
  /// The defining instruction of a (resolved) value, or none for a block parameter.
  Inst def_inst(Value v) const {
    const ValueData& data = values_[resolve(v)];
    return data.kind == ValueKind::Result ? Inst(data.source) : Inst::none();
  }
  /// Makes `v` stand for `target`; a result becomes detached from its instruction's uses.
  void make_alias(Value v, Value target);
  /// Replaces all alias uses by what they stand for (one walk).
  void resolve_all_aliases();

  // For the text reader, which has to honour given numbers.
  Value make_value(const ValueData& data) { return values_.push(data); }
  void set_value(Value v, const ValueData& data) { values_[v] = data; }
  void attach_result(Inst inst, Value v);
  void attach_block_param(Block block, Value v);

 private:
  struct BlockNode {
    Block prev, next;
    Inst first, last;
    ListRef params;
    bool in_layout = false;
    bool cold = false;
  };
  struct InstNode {
    Block block;
    Inst prev, next;
  };
  /// One result is stored in place, more in the pool.
  struct InstResults {
    Value single;
    ListRef list;
  };

  base::EntityTable<Inst, InstData> insts_;
  base::EntityTable<Inst, InstNode> inst_nodes_;
  base::EntityTable<Inst, InstResults> inst_results_;
  std::vector<SourceLoc> locs_;
  base::EntityTable<Value, ValueData> values_;
  base::EntityTable<Block, BlockNode> blocks_;
  base::ListPool<Value> values_pool_;  // block calls live here too: [block, args...]
  base::ListPool<BlockCall> calls_pool_;
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  Value compress(Value v);
  void index_flags();
  MemFlagsRef find_flags(const MemFlags& flags) const;

  std::vector<MemFlags> mem_flags_;         // entry 0 is the default
  std::vector<std::uint16_t> flags_index_;  // open addressing, once there are many
  std::vector<ExceptionItem> exception_items_;
  std::vector<DebugTag> debug_tags_;
  base::EntityMap<Inst, Range> debug_tag_ranges_;
  std::vector<StackMapEntry> stack_maps_;
  base::EntityMap<Inst, Range> stack_map_ranges_;
  base::BitSet references_;
  bool has_references_ = false;
  std::vector<SourcePosition> inlined_locs_;
  std::uint32_t first_inlined_loc_ = 0xffff'ffff;
  std::vector<std::uint32_t> constant_index_, immediate_index_;  // as flags_index_
  std::size_t indexed_constants_ = 0;
  std::size_t indexed_immediates_ = 0;
  std::vector<Value> scratch_;
  Block first_block_, last_block_;
};

template <typename F>
void Function::for_each_operand(Inst inst, F&& visit) {
  InstData& d = insts_[inst];
  const auto one = [&](std::uint32_t& field) {
    Value v(field);
    visit(v);
    field = v.index();
  };
  switch (format(d.op)) {
    case Format::Nullary:
    case Format::UnaryImm:
    case Format::UnaryF16:
    case Format::UnaryF32:
    case Format::UnaryF64:
    case Format::UnaryF128:
    case Format::UnaryConst:
    case Format::UnaryGlobalValue:
    case Format::Trap:
    case Format::Jump:
    case Format::FuncAddr:
    case Format::StackAddr:
    case Format::DynamicStackAddr:
    case Format::ExceptionHandlerAddress: break;
    case Format::Unary:
    case Format::BinaryImm8:
    case Format::CondTrap:
    case Format::Brif:
    case Format::BrTable:
    case Format::LoadNoOffset:
    case Format::Load: one(d.a); break;
    case Format::Binary:
    case Format::TernaryImm8:
    case Format::Shuffle:
    case Format::IntCompare:
    case Format::FloatCompare:
    case Format::IntAddTrap:
    case Format::Store:
    case Format::StoreNoOffset:
    case Format::AtomicRmw:
      one(d.a);
      one(d.b);
      break;
    case Format::Ternary:
    case Format::AtomicCas:
      one(d.a);
      one(d.b);
      one(d.c);
      break;
    case Format::MultiAry:
    case Format::Call:
    case Format::CallIndirect:
      for (Value& v : values_pool_.get({d.b})) visit(v);
      break;
    case Format::TryCall:
    case Format::TryCallIndirect: {
      for (Value& v : values_pool_.get({d.b})) visit(v);
      const ExceptionTableData& table = exception_tables[ExceptionTable(d.c)];
      for (std::uint32_t i = 0; i < table.item_count; ++i) {
        ExceptionItem& item = exception_items_[table.first_item + i];
        if (item.kind == ExceptionItem::Kind::Context) visit(item.context);
      }
      break;
    }
  }
}

template <typename F>
void Function::for_each_operand(Inst inst, F&& visit) const {
  const_cast<Function*>(this)->for_each_operand(inst,
                                                [&](Value& v) { visit(static_cast<Value>(v)); });
}

template <typename F>
void Function::for_each_arg(Inst inst, F&& visit) {
  for_each_operand(inst, visit);
  for_each_target(inst, [&](BlockCall target) {
    for (Value& v : call_args(target)) visit(v);
  });
}

template <typename F>
void Function::for_each_arg(Inst inst, F&& visit) const {
  const_cast<Function*>(this)->for_each_arg(inst, [&](Value& v) { visit(static_cast<Value>(v)); });
}

template <typename F>
void Function::for_each_target(Inst inst, F&& visit) const {
  const InstData& d = insts_[inst];
  if (!has_effect(d.op, effect::Branch)) return;
  const Format kind = format(d.op);
  if (kind == Format::Jump) {
    visit(BlockCall(d.a));
  } else if (kind == Format::Brif) {
    visit(BlockCall(d.b));
    visit(BlockCall(d.c));
  } else if (kind == Format::BrTable) {
    const JumpTableData& table = jump_tables[JumpTable(d.b)];
    visit(table.default_call);
    for (const BlockCall target : calls_pool_.get(table.targets)) visit(target);
  } else {
    const ExceptionTableData& table = exception_tables[ExceptionTable(d.c)];
    visit(table.normal);
    for (const ExceptionItem& item : exception_items(table)) {
      if (item.kind != ExceptionItem::Kind::Context) visit(item.target);
    }
  }
}

// `change` may make block calls and instructions: nothing is kept across it.
template <typename F>
void Function::map_targets(Inst inst, F&& change) {
  const InstData d = insts_[inst];
  if (!has_effect(d.op, effect::Branch)) return;
  const Format kind = format(d.op);
  if (kind == Format::Jump) {
    const BlockCall target = change(BlockCall(d.a));
    insts_[inst].a = target.index();
  } else if (kind == Format::Brif) {
    const BlockCall then_target = change(BlockCall(d.b));
    const BlockCall else_target = change(BlockCall(d.c));
    insts_[inst].b = then_target.index();
    insts_[inst].c = else_target.index();
  } else if (kind == Format::BrTable) {
    const JumpTable table(d.b);
    const BlockCall fallback = change(jump_tables[table].default_call);
    jump_tables[table].default_call = fallback;
    const std::size_t count = calls_pool_.get(jump_tables[table].targets).size();
    for (std::size_t i = 0; i < count; ++i) {
      const BlockCall target = change(calls_pool_.get(jump_tables[table].targets)[i]);
      calls_pool_.get(jump_tables[table].targets)[i] = target;
    }
  } else {
    const ExceptionTable table(d.c);
    const BlockCall normal = change(exception_tables[table].normal);
    exception_tables[table].normal = normal;
    const std::uint32_t first = exception_tables[table].first_item;
    for (std::uint32_t i = first; i < first + exception_tables[table].item_count; ++i) {
      if (exception_items_[i].kind == ExceptionItem::Kind::Context) continue;
      const BlockCall target = change(exception_items_[i].target);
      exception_items_[i].target = target;
    }
  }
}

}  // namespace hoist::ir
