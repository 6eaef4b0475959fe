// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// See lower_base.hpp.
#include "codegen/lower/lower_base.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bits.hpp"

namespace hoist::codegen {

namespace {

/// May the instruction fault or stop? What ir/ops.def calls Trap, without loads and stores that
/// cannot.
bool is_ordered(const ir::Function& func, ir::Inst inst) {
  const std::uint16_t effects = ir::info(func.op(inst)).effects;
  namespace effect = ir::effect;
  if ((effects & (effect::Store | effect::Call | effect::Side | effect::Term)) != 0) return true;
  if ((effects & effect::Load) != 0) {
    // Which of two out-of-bounds accesses faults first makes no difference; other codes do.
    const image::TrapCode trap = func.mem_flags(inst).trap;
    return trap != image::TrapCode::None && trap != image::TrapCode::HeapOutOfBounds;
  }
  return (effects & effect::Trap) != 0;
}

}  // namespace

void LowerBase::begin(const ir::Function& func, MachFunction& out) {
  func_ = &func;
  out_ = &out;
  error_.reset();
  reversed_.clear();
  reversed_locs_.clear();
  successors_.clear();
  out.clear();
  order_.compute(func);
  ranges_.assign(order_.items().size(), {});
  vreg_of_.assign(func.value_count(), VReg{});
  high_of_.clear();
  sunk_.assign(func.inst_count(), false);
  resolve_values();
  count_uses();
}

/// A bitcast that leaves a vector register as it is.
bool LowerBase::is_same_register(ir::Inst inst) const {
  if (func_->op(inst) != ir::Op::Bitcast) return false;
  const ir::Type to = func_->type(func_->result(inst));
  const ir::Type from = func_->type(func_->arg_a(inst));
  return to.is_vector() && from.is_vector() && to.bits() == 128 &&
         (func_->mem_flags(inst).endian != 2 || to.lane_count() == from.lane_count());
}

void LowerBase::resolve_values() {
  const std::size_t count = func_->value_count();
  resolved_.resize(count);
  bool any_bitcast = false;
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Value v(i);
    const ir::ValueData& data = func_->value(v);
    resolved_[i] = data.kind == ir::ValueKind::Alias ? func_->resolve(v) : v;
    if (data.kind == ir::ValueKind::Result && func_->type(v).is_vector()) {
      const ir::Inst inst(data.source);
      if (!is_same_register(inst)) continue;
      resolved_[i] = func_->arg_a(inst);
      any_bitcast = true;
    }
  }
  // The parameters of a block with one edge are that edge's arguments. An argument's own block
  // comes earlier in reverse postorder, so it is already resolved.
  bool any = false;
  for (const ir::Block block : order_.reverse_postorder()) {
    if (!order_.has_single_edge(block)) continue;
    const auto params = func_->block_params(block);
    if (params.empty()) continue;
    const auto args = func_->call_args(order_.single_edge_into(block).call);
    for (std::size_t i = 0; i < params.size(); ++i) {
      resolved_[params[i].index()] = resolved_[args[i].index()];
    }
    if (order_.is_landing_pad(block)) keep_payload_params(params, args);
    any = true;
  }
  if (any_bitcast) {
    // Chains of bitcasts and parameters, whose order is not known.
    for (std::size_t i = 0; i < count; ++i) {
      ir::Value v = resolved_[i];
      while (resolved_[v.index()] != v) v = resolved_[v.index()];
      resolved_[i] = v;
    }
    return;
  }
  if (!any) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (func_->value(ir::Value(i)).kind == ir::ValueKind::Alias) {
      resolved_[i] = resolved_[resolved_[i].index()];
    }
  }
}

/// A payload word is one value for all handlers of a call, but each landing pad defines its own: in
/// a block that is one, the first parameter that takes the word.
void LowerBase::keep_payload_params(std::span<const ir::Value> params,
                                    std::span<const ir::Value> args) {
  // No convention has more words than this one.
  std::array<ir::Value, ir::exception_payload_words(ir::CallConv::SystemV)> first_of{};
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ir::ValueData& data = func_->value(func_->resolve(args[i]));
    if (data.kind != ir::ValueKind::TryException || data.number >= first_of.size()) continue;
    ir::Value& first = first_of[data.number];
    if (first.is_none()) first = params[i];
    resolved_[params[i].index()] = first;
  }
}

void LowerBase::count_uses() {
  use_count_.assign(func_->value_count(), 0);
  colour_.resize(func_->inst_count());
  std::uint32_t colour = 0;
  const auto count = [&](ir::Value v) {
    std::uint8_t& uses = use_count_[resolved_[v.index()].index()];
    if (uses < 2) ++uses;
  };
  for (const ir::Block block : order_.reverse_postorder()) {
    ++colour;
    for (ir::Inst inst = func_->first_inst(block); inst.is_some(); inst = func_->next_inst(inst)) {
      colour_[inst.index()] = colour;
      if (is_ordered(*func_, inst)) ++colour;
      // Arguments to the parameters of a block with one edge are no uses of their own, nor is what
      // a value is an alias of.
      if (!is_same_register(inst)) func_->for_each_operand(inst, count);
    }
    const ir::Inst end = func_->last_inst(block);
    if (end.is_none() || !ir::has_effect(func_->op(end), ir::effect::Branch)) continue;
    for (const BlockOrder::Edge& edge : order_.edges_from(block)) {
      if (order_.has_single_edge(edge.to)) continue;
      for (const ir::Value v : func_->call_args(edge.call)) count(v);
    }
  }
}

std::optional<std::int64_t> LowerBase::signed_constant(ir::Value v) const {
  const std::optional<std::uint64_t> bits = constant(v);
  if (!bits) return std::nullopt;
  return base::sign_extend(*bits, type(v).bits());
}

bool LowerBase::must_emit(ir::Inst inst) const {
  if (sunk_[inst.index()]) return false;
  const std::uint16_t effects = ir::info(func_->op(inst)).effects;
  namespace effect = ir::effect;
  if ((effects & ~(effect::Load | effect::Trap)) != 0) return true;
  if ((effects & effect::Trap) != 0) {
    const bool is_load = (effects & effect::Load) != 0;
    if (!is_load || !func_->mem_flags(inst).notrap()) return true;
  }
  return std::ranges::any_of(func_->results(inst),
                             [&](ir::Value v) { return vreg_of_[v.index()].is_some(); });
}

bool LowerBase::can_sink_load(ir::Inst load, ir::Inst root) const {
  const ir::Value value = func_->result(load);
  // A value that got a register was asked for by something else already.
  if (use_count_[value.index()] > 1 || vreg_of_[value.index()].is_some()) return false;
  if (colour_[load.index()] == colour_[root.index()]) return true;
  const ir::MemFlags& flags = func_->mem_flags(load);
  return flags.readonly && flags.can_move && flags.notrap() && same_block(load, root);
}

MachInst& LowerBase::emit(MachInst inst, std::initializer_list<Operand> operands,
                          const Address& address) {
  inst.first_operand = static_cast<std::uint32_t>(out_->operands.size());
  for (const Operand& operand : operands) out_->operands.push_back(operand);
  std::size_t count = operands.size();
  // An address register must stay apart from temporaries, which are written while it is needed.
  if (address.base.is_some()) {
    out_->operands.push_back(use(address.base));
    ++count;
  }
  if (address.index.is_some()) {
    out_->operands.push_back(use(address.index));
    ++count;
  }
  inst.operand_count = static_cast<std::uint8_t>(count);
  inst.addr = address.kind;
  inst.scale = address.scale;
  inst.disp = address.disp;
  if (address.kind == AddrKind::StackSlot || address.kind == AddrKind::Constant) {
    inst.aux = address.aux;
  }
  if (address.trap != image::TrapCode::None) inst.trap = address.trap;
  group_.push_back(inst);
  group_locs_.push_back(address.loc.is_none() ? root_loc_ : address.loc);
  return group_.back();
}

MachInst& LowerBase::emit_list(MachInst inst) {
  HOIST_CHECK(list_.size() <= 255, "a machine instruction has at most 255 operands");
  inst.first_operand = static_cast<std::uint32_t>(out_->operands.size());
  inst.operand_count = static_cast<std::uint8_t>(list_.size());
  out_->operands.insert(out_->operands.end(), list_.begin(), list_.end());
  list_.clear();
  group_.push_back(inst);
  group_locs_.push_back(root_loc_);
  return group_.back();
}

void LowerBase::end_root() {
  for (std::size_t i = group_.size(); i-- > 0;) {
    reversed_.push_back(group_[i]);
    reversed_locs_.push_back(group_locs_[i]);
  }
}

std::uint32_t LowerBase::add_clobbers(RegMask mask) {
  for (std::size_t i = 0; i < out_->clobber_sets.size(); ++i) {
    if (out_->clobber_sets[i] == mask) return static_cast<std::uint32_t>(i);
  }
  if (out_->clobber_sets.size() > 0xffff) {
    fail(Error(ErrorKind::Limit, "more than 65535 sets of registers that calls change"));
    return 0;
  }
  out_->clobber_sets.push_back(mask);
  return static_cast<std::uint32_t>(out_->clobber_sets.size() - 1);
}

std::uint32_t LowerBase::add_symbol(const ir::ExternalName& name) {
  out_->symbols.push_back(name);
  return static_cast<std::uint32_t>(out_->symbols.size() - 1);
}

std::uint32_t LowerBase::add_pool(const void* bytes, std::uint8_t size) {
  MachFunction::PoolEntry entry{};
  std::memcpy(entry.bytes, bytes, size);
  entry.size = size;
  out_->pool.push_back(entry);
  return static_cast<std::uint32_t>(out_->pool.size() - 1);
}

void LowerBase::add_successor(std::uint32_t item, std::span<const VReg> args) {
  successors_.push_back({item, static_cast<std::uint32_t>(out_->edge_args.size()),
                         static_cast<std::uint32_t>(args.size())});
  out_->edge_args.insert(out_->edge_args.end(), args.begin(), args.end());
}

void LowerBase::start_item(std::uint32_t item) {
  ranges_[item].first_inst = static_cast<std::uint32_t>(reversed_.size());
  ranges_[item].first_successor = static_cast<std::uint32_t>(successors_.size());
}

void LowerBase::end_item(std::uint32_t item) {
  ItemRange& range = ranges_[item];
  range.end_inst = static_cast<std::uint32_t>(reversed_.size());
  range.successor_count = static_cast<std::uint32_t>(successors_.size()) - range.first_successor;
}

void LowerBase::finish() {
  MachFunction& out = *out_;
  out.insts.reserve(reversed_.size());
  out.locs.reserve(reversed_.size());
  for (const std::uint32_t item : order_.layout()) {
    const BlockOrder::Item& info = order_.items()[item];
    const ItemRange& range = ranges_[item];
    MachBlockData block;
    block.first_inst = static_cast<std::uint32_t>(out.insts.size());
    for (std::uint32_t i = range.end_inst; i-- > range.first_inst;) {
      out.insts.push_back(reversed_[i]);
      out.locs.push_back(reversed_locs_[i]);
    }
    block.end_inst = static_cast<std::uint32_t>(out.insts.size());
    block.first_param = static_cast<std::uint32_t>(out.block_params.size());
    const bool is_entry = out.blocks.empty();
    if (info.block.is_some() && !is_entry && !order_.has_single_edge(info.block)) {
      for (const ir::Value param : func_->block_params(info.block)) {
        out.block_params.push_back(vreg_of(param));
        if (type(param) == ir::I128) out.block_params.push_back(high_of(param));
      }
    }
    block.param_count = static_cast<std::uint32_t>(out.block_params.size()) - block.first_param;
    block.first_succ = static_cast<std::uint32_t>(out.succs.size());
    block.succ_count = range.successor_count;
    for (std::uint32_t i = 0; i < range.successor_count; ++i) {
      const Successor& successor = successors_[range.first_successor + i];
      out.succs.push_back(
          {MachBlock(order_.position(successor.item)), successor.first_arg, successor.arg_count});
    }
    block.loop_depth = info.loop_depth;
    block.loop_header = info.loop_header;
    block.cold = info.cold;
    out.blocks.push(block);
  }
  out.find_preds();
}

}  // namespace hoist::codegen
