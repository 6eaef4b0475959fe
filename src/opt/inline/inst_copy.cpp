// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The instructions of a copy.
#include "opt/inline/body_copy.hpp"

namespace hoist::opt {

using ir::Block;
using ir::BlockCall;
using ir::ExceptionItem;
using ir::Format;
using ir::Function;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::Value;
using ir::ValueKind;

// ---- Values and what instructions refer to.

/// The caller's value for one of the body, which is already there. Short-cuts the aliases on the
/// way, so that long chains of them cost once.
Value BodyCopy::value(Value v) {
  if (const Value known = values_[v.index()]) return known;
  Value end = v;
  while (values_[end.index()].is_none()) {
    HOIST_DCHECK(body_->value(end).kind == ValueKind::Alias, "definitions come before uses");
    end = Value(body_->value(end).source);
  }
  const Value target = values_[end.index()];
  while (v != end) {
    values_[v.index()] = target;
    v = Value(body_->value(v).source);
  }
  return target;
}

base::ListRef BodyCopy::list(std::span<const Value> values) {
  scratch_.clear();
  for (const Value v : values) scratch_.push_back(value(v));
  return caller_->make_value_list(scratch_);
}

BlockCall BodyCopy::block_call(BlockCall call) {
  scratch_.clear();
  for (const Value v : body_->call_args(call)) {
    const ir::ValueData& data = body_->value(v);
    scratch_.push_back(data.is_try_value()
                           ? caller_->make_try_value(data.kind, data.number, data.type)
                           : value(v));
  }
  return caller_->make_block_call(blocks_[body_->call_target(call)], scratch_);
}

ir::JumpTable BodyCopy::jump_table(ir::JumpTable table) {
  const ir::JumpTableData& data = body_->jump_tables[table];
  const BlockCall fallback = block_call(data.default_call);
  calls_.clear();
  for (const BlockCall target : body_->call_list(data.targets)) {
    calls_.push_back(block_call(target));
  }
  return caller_->jump_tables.push({fallback, caller_->make_call_list(calls_)});
}

/// Puts a copy of the site's handlers behind `items_`.
void BodyCopy::append_site_items() {
  for (ExceptionItem item : site_items_) {
    if (item.kind != ExceptionItem::Kind::Context) {
      const std::span<const Value> args = caller_->call_args(item.target);
      scratch_.assign(args.begin(), args.end());
      for (Value& v : scratch_) {
        const ir::ValueData data = caller_->value(v);
        if (data.is_try_value()) v = caller_->make_try_value(data.kind, data.number, data.type);
      }
      item.target = caller_->make_block_call(caller_->call_target(item.target), scratch_);
    }
    items_.push_back(item);
  }
}

ir::ExceptionTable BodyCopy::exception_table(Inst inst) {
  const ir::ExceptionTableData& table = body_->exception_table(inst);
  const BlockCall normal = block_call(table.normal);
  items_.clear();
  for (ExceptionItem item : body_->exception_items(table)) {
    if (item.kind == ExceptionItem::Kind::Context) {
      item.context = value(item.context);
    } else {
      item.target = block_call(item.target);
    }
    items_.push_back(item);
  }
  append_site_items();
  return caller_->make_exception_table(entities_.signature(table.signature), normal, items_);
}

ir::SourceLoc BodyCopy::location(ir::SourceLoc loc) {
  const ir::SourcePosition at = body_->position(loc);
  return caller_->make_inlined_loc(at.loc, at.frame ? frames_[at.frame.index()] : frame_);
}

/// The instruction's fields in the caller; those of a branch make its targets.
InstData BodyCopy::translate(Inst inst) {
  InstData d = body_->data(inst);
  const auto one = [&](std::uint32_t& field) { field = value(Value(field)).index(); };
  const auto target = [&](std::uint32_t& field) { field = block_call(BlockCall(field)).index(); };
  const auto args = [&] { d.b = list(body_->arg_list(inst)).index; };
  const auto flags = [&] {
    const ir::MemFlagsRef ref(std::size_t{d.aux});
    d.aux = static_cast<std::uint16_t>(entities_.flags(ref).index());
  };
  switch (ir::format(d.op)) {
    case Format::Nullary:
    case Format::UnaryImm:
    case Format::UnaryF16:
    case Format::UnaryF32:
    case Format::UnaryF64:
    case Format::Trap: break;
    case Format::UnaryF128: d.a = entities_.immediate(ir::Immediate(d.a)).index(); break;
    case Format::UnaryConst: d.a = entities_.constant(ir::Constant(d.a)).index(); break;
    case Format::UnaryGlobalValue:
      d.a = entities_.global_value(ir::GlobalValue(d.a)).index();
      break;
    case Format::Unary:
    case Format::BinaryImm8:
    case Format::CondTrap: one(d.a); break;
    case Format::Shuffle: d.c = entities_.immediate(ir::Immediate(d.c)).index(); [[fallthrough]];
    case Format::Binary:
    case Format::TernaryImm8:
    case Format::IntCompare:
    case Format::FloatCompare:
    case Format::IntAddTrap:
      one(d.a);
      one(d.b);
      break;
    case Format::Ternary:
      one(d.a);
      one(d.b);
      one(d.c);
      break;
    case Format::MultiAry: args(); break;
    case Format::Jump: target(d.a); break;
    case Format::Brif:
      one(d.a);
      target(d.b);
      target(d.c);
      break;
    case Format::BrTable:
      one(d.a);
      d.b = jump_table(ir::JumpTable(d.b)).index();
      break;
    case Format::Call:
      d.a = entities_.function(ir::FuncRef(d.a)).index();
      args();
      break;
    case Format::CallIndirect:
      d.a = entities_.signature(ir::SigRef(d.a)).index();
      args();
      break;
    case Format::TryCall: d.a = entities_.function(ir::FuncRef(d.a)).index(); [[fallthrough]];
    case Format::TryCallIndirect:
      args();
      d.c = exception_table(inst).index();
      break;
    case Format::FuncAddr: d.a = entities_.function(ir::FuncRef(d.a)).index(); break;
    case Format::StackAddr: d.a = entities_.stack_slot(ir::StackSlot(d.a)).index(); break;
    case Format::DynamicStackAddr:
      d.a = entities_.dynamic_stack_slot(ir::DynamicStackSlot(d.a)).index();
      break;
    case Format::Load:
    case Format::LoadNoOffset:
      flags();
      one(d.a);
      break;
    case Format::Store:
    case Format::StoreNoOffset:
    case Format::AtomicRmw:
      flags();
      one(d.a);
      one(d.b);
      break;
    case Format::AtomicCas:
      flags();
      one(d.a);
      one(d.b);
      one(d.c);
      break;
    case Format::ExceptionHandlerAddress: d.a = blocks_[Block(d.a)].index(); break;
  }
  return d;
}

// ---- Instructions.

Inst BodyCopy::append(const InstData& data, Inst original) {
  const Inst made = caller_->make_inst(data, location(body_->loc(original)));
  caller_->append_inst(made, current_);
  return made;
}

void BodyCopy::copy_results(Inst inst, Inst made) {
  for (const Value result : body_->results(inst)) {
    const Value copy = caller_->append_result(made, body_->type(result));
    if (body_->value(result).kind == ValueKind::Result) values_[result.index()] = copy;
    if (body_->is_reference(result)) caller_->mark_reference(copy);
  }
}

void BodyCopy::copy_extras(Inst inst, Inst made, bool is_safepoint) {
  if (const auto tags = body_->debug_tags(inst); !tags.empty()) {
    tags_ = site_tags_;
    for (ir::DebugTag tag : tags) {
      if (tag.kind == ir::DebugTag::Kind::StackSlot) {
        tag.value = entities_.stack_slot(ir::StackSlot(tag.value)).index();
      }
      tags_.push_back(tag);
    }
    caller_->set_debug_tags(made, tags_);
  }
  if (!is_safepoint) return;
  const auto entries = body_->stack_map(inst);
  if (entries.empty() && site_map_.empty()) return;
  map_ = site_map_;
  for (ir::StackMapEntry entry : entries) {
    entry.slot = entities_.stack_slot(entry.slot);
    map_.push_back(entry);
  }
  caller_->set_stack_map(made, map_);
}

void BodyCopy::copy_block(Block block) {
  current_ = blocks_[block];
  for (Inst inst = body_->first_inst(block); inst.is_some(); inst = body_->next_inst(inst)) {
    copy_inst(inst);
  }
}

void BodyCopy::copy_inst(Inst inst) {
  const bool is_tail_site = kind_ == SiteKind::TailCall;
  switch (body_->op(inst)) {
    case Op::Return: return is_tail_site ? copy_plain(inst) : copy_return(inst);
    case Op::ReturnCall:
    case Op::ReturnCallIndirect: return is_tail_site ? copy_plain(inst) : copy_call(inst, true);
    case Op::Call:
    case Op::CallIndirect: return copy_call(inst, false);
    case Op::GlobalValue: return context_.is_none() ? copy_plain(inst) : spell_out(inst);
    default: return copy_plain(inst);  // everything else means the same in the caller
  }
}

void BodyCopy::copy_plain(Inst inst) {
  const Op op = body_->op(inst);
  const InstData data = translate(inst);
  const Inst made = append(data, inst);
  if (ir::is_try(op)) caller_->attach_try_values(made);
  copy_results(inst, made);
  copy_extras(inst, made, ir::is_call(op) && (!ir::is_terminator(op) || ir::is_try(op)));
}

/// A jump behind the call with `values` of the caller.
void BodyCopy::jump_to_return(std::span<const Value> values) {
  const BlockCall target = caller_->make_block_call(return_block_, values);
  const Inst last = caller_->last_inst(current_);
  const ir::SourceLoc loc = last ? caller_->loc(last) : ir::SourceLoc();
  caller_->append_inst(caller_->make_inst({Op::Jump, 0, target.index()}, loc), current_);
}

void BodyCopy::copy_return(Inst inst) {
  scratch_.clear();
  for (const Value v : body_->arg_list(inst)) scratch_.push_back(value(v));
  const BlockCall target = caller_->make_block_call(return_block_, scratch_);
  append({Op::Jump, 0, target.index()}, inst);
}

/// Of the site's handlers only calls that can throw have a use, and only they may have them.
bool BodyCopy::can_throw_here(ir::SigRef sig) const {
  return kind_ == SiteKind::TryCall && supports_exceptions(caller_->signatures[sig].call_conv);
}

/// A call; `is_tail`: a tail call of the body, whose results are those of the body.
void BodyCopy::copy_call(Inst inst, bool is_tail) {
  InstData data = translate(inst);
  const bool is_direct = ir::format(data.op) == Format::Call;
  const ir::SigRef sig =
      is_direct ? caller_->ext_funcs[ir::FuncRef(data.a)].signature : ir::SigRef(data.a);
  if (can_throw_here(sig)) return make_try(inst, data, sig, is_tail);
  data.op = is_direct ? Op::Call : Op::CallIndirect;
  const Inst made = append(data, inst);
  if (!is_tail) {
    copy_results(inst, made);
    return copy_extras(inst, made, true);
  }
  copy_extras(inst, made, true);
  results_.clear();
  const std::size_t count = caller_->signatures[sig].returns.size();
  for (std::size_t i = 0; i < count; ++i) {
    results_.push_back(caller_->append_result(made, caller_->signatures[sig].returns[i].type));
  }
  jump_to_return(results_);
}

/// A call in the scope of the site's handlers: the rest of the block goes to a new one, whose
/// parameters are the results.
void BodyCopy::make_try(Inst inst, InstData data, ir::SigRef sig, bool is_tail) {
  Function& func = *caller_;
  const bool is_direct = ir::format(data.op) == Format::Call;
  Block next = return_block_;
  if (!is_tail) {
    next = func.make_block();
    func.set_cold(next, func.is_cold(current_));
    func.insert_block_after(next, current_);
    for (const Value result : body_->results(inst)) {
      const Value param = func.append_block_param(next, body_->type(result));
      if (body_->value(result).kind == ValueKind::Result) values_[result.index()] = param;
    }
  }
  scratch_.clear();
  const std::size_t count = func.signatures[sig].returns.size();
  for (std::size_t i = 0; i < count; ++i) {
    scratch_.push_back(func.make_try_value(ValueKind::TryReturn, static_cast<std::uint32_t>(i),
                                           func.signatures[sig].returns[i].type));
  }
  const BlockCall normal = func.make_block_call(next, scratch_);
  items_.clear();
  append_site_items();
  data.op = is_direct ? Op::TryCall : Op::TryCallIndirect;
  data.a = is_direct ? data.a : 0;
  data.c = func.make_exception_table(sig, normal, items_).index();
  const Inst made = append(data, inst);
  func.attach_try_values(made);
  copy_extras(inst, made, true);
  if (!is_tail) current_ = next;
}

/// A global value that rests on the callee's context, where that is not the caller's.
void BodyCopy::spell_out(Inst inst) {
  using Kind = ir::GlobalValueData::Kind;
  chain_.clear();
  for (ir::GlobalValue at(body_->data(inst).a); at.is_some(); at = body_->global_values[at].base) {
    chain_.push_back(at);
  }
  if (body_->global_values[chain_.back()].kind != Kind::VmContext) return copy_plain(inst);
  Value v = context_;
  for (chain_.pop_back(); !chain_.empty(); chain_.pop_back()) {
    const ir::GlobalValueData& global = body_->global_values[chain_.back()];
    if (global.kind == Kind::Load) {
      const auto flags = static_cast<std::uint16_t>(entities_.flags(global.flags).index());
      const auto offset = static_cast<std::uint32_t>(static_cast<std::int32_t>(global.offset));
      v = caller_->append_result(append({Op::Load, flags, v.index(), offset, 0}, inst),
                                 global.type);
    } else {
      const Inst constant =
          append(InstData::imm(Op::Iconst, static_cast<std::uint64_t>(global.offset)), inst);
      const Value amount = caller_->append_result(constant, global.type);
      v = caller_->append_result(append({Op::Iadd, 0, v.index(), amount.index(), 0}, inst),
                                 global.type);
    }
  }
  values_[body_->result(inst).index()] = v;
}

}  // namespace hoist::opt
