// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions, blocks and branches.
#include <algorithm>

#include "image/layout/func_key.hpp"
#include "translate/calls/trampolines.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using image::FuncKey;
using image::FuncKind;
using wasm::FrameKind;

IrSink::IrSink(const ModuleEnv& env) : env_(env), builder_(scratch_func_) {
  const wasm::Module& module = env.module;
  signatures_.resize(module.types.size());
  functions_.resize(module.functions.size());
  global_regions_.resize(module.globals.size());
  table_regions_.resize(module.tables.size());
  memory_regions_.resize(module.memories.size());
  memories_.resize(module.memories.size());
  builtins_.resize(image::kBuiltinCount);
  state_region_.resize(1);
  limits_region_.resize(1);
  caught_tags_.resize(module.tags.size());
}

void IrSink::reset(ir::Function& out, ir::SimplifyFn simplify, ir::Assignments* assignments,
                   const LegacyTries* legacy) {
  builder_.begin(out);
  builder_.set_assignments(assignments);
  assignments_ = assignments;
  builder_.set_simplifier(simplify);
  ++epoch_;
  too_complex_ = false;
  refusal_.reset();
  bitcast_flags_ = {};
  started_ = !env_.settings.fuel && !env_.settings.epoch;
  fuel_used_ = 0;
  legacy_ = legacy;
  next_legacy_ = 0;
  scopes_.clear();
  open_scopes_.clear();
  clauses_.clear();
  scope_ = kNoScope;
  active_of_ = kNoScope;
  handler_work_ = 0;
}

bool IrSink::finish() {
  if (too_complex_) return false;
  builder_.finish();
  return true;
}

void IrSink::begin(const wasm::BodyInfo& info, Frame&) {
  ir::Function& f = func();
  most_handler_work_ = std::min(
      kHandlerWork + kHandlerWorkOfByte * env_.module.body(info.func).size, kMostHandlerWork);
  const FuncKey key(FuncKind::WasmFunction, 0, info.func);
  f.name = ir::ExternalName::user(key.name_space(), key.index());
  f.signature = ir_signature(info.type);

  ir::MemFlags trusted = ir::MemFlags::trusted();
  trusted.readonly = true;
  trusted.can_move = true;
  constant_flags_ = f.intern(trusted);

  // The stack limit: vmctx -> store context -> limit.
  using Kind = ir::GlobalValueData::Kind;
  const ir::GlobalValue ctx = f.global_values.push({});
  ir::GlobalValueData load;
  load.kind = Kind::Load;
  load.type = ir::I64;
  load.base = ctx;
  load.offset = image::kStoreOffset;
  load.flags = constant_flags_;
  load.base = f.global_values.push(load);
  load.offset = offsetof(image::StoreContext, stack_limit);
  load.flags = f.intern(ir::MemFlags::trusted());
  f.stack_limit = f.global_values.push(load);
  if (!env_.settings.signals) set_trap_handler(f);

  entry_ = builder_.make_block();
  if (assignments_ != nullptr) assignments_->reached_start(entry_);
  builder_.append_params_for_signature(entry_);
  builder_.switch_to(entry_);
  builder_.seal(entry_);
  ctx_ = f.block_params(entry_)[0];
  for (std::size_t i = 0; i < info.type.params().size(); ++i) {
    const Value param = f.block_params(entry_)[i + 1];
    note_reference(info.type.params()[i], param);
    builder_.define(builder_.declare_variable(f.type(param)), param);
  }
}

void IrSink::declare_locals(std::uint32_t count, wasm::ValType type) {
  const ir::Type local_type = ir_type(type);
  const Value initial = zero(local_type);
  for (std::uint32_t i = 0; i < count; ++i) {
    builder_.define(builder_.declare_variable(local_type), initial);
  }
}

std::span<const IrSink::Value> IrSink::values(In operands) {
  values_.clear();
  for (const auto& operand : operands) values_.push_back(operand.value);
  return values_;
}

IrSink::Value IrSink::condition(Value c) {
  // i32 made of a comparison: the comparison itself is as good, and nearer to a branch.
  const ir::Inst inst = func().def_inst(c);
  return inst.is_some() && func().op(inst) == ir::Op::Uextend ? func().arg_a(inst) : c;
}

ir::Block IrSink::block_with_params(std::span<const wasm::ValType> types) {
  const ir::Block block = builder_.make_block();
  for (const wasm::ValType type : types) func().append_block_param(block, ir_type(type));
  return block;
}

ir::Block IrSink::label_block(Frame& frame, std::span<const wasm::ValType> types) {
  if (frame.target.is_none()) frame.target = block_with_params(types);
  return frame.target;
}

/// All branches to `block` are known: goes on there, with its parameters as the results.
void IrSink::continue_at(ir::Block block, Out results) {
  builder_.switch_to(block);
  builder_.seal(block);
  const std::span<const Value> params = func().block_params(block);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].value = params[i];
}

void IrSink::block(const wasm::BlockType&, Frame&) {
  free_of_charge();
  if (assignments_ != nullptr) {
    assignments_->reached_open(builder_.current_block(), ir::Block::none());
  }
}

void IrSink::loop(const wasm::BlockType& block, Frame& frame, Out params) {
  free_of_charge();
  before_branch();
  frame.target = block_with_params(block.params);
  if (assignments_ != nullptr) {
    assignments_->reached_open(builder_.current_block(), frame.target);
  }
  builder_.jump(frame.target, values(params));
  builder_.switch_to(frame.target);
  const std::span<const Value> merged = func().block_params(frame.target);
  for (std::size_t i = 0; i < params.size(); ++i) params[i].value = merged[i];
  check_limits();
  check_interrupts();
}

void IrSink::if_(const wasm::BlockType&, Frame& frame, Value c, In) {
  before_branch();
  const ir::Block then = builder_.make_block();
  frame.other = builder_.make_block();
  if (assignments_ != nullptr) {
    const ir::Block from = builder_.current_block();
    assignments_->reached_open(from, ir::Block::none());
    assignments_->reached_open(from, ir::Block::none());
  }
  builder_.brif(condition(c), then, {}, frame.other, {});
  builder_.switch_to(then);
  builder_.seal(then);
}

void IrSink::else_(const wasm::BlockType& block, Frame& frame, bool reachable, In results,
                   bool implicit) {
  free_of_charge();
  if (reachable) before_branch();
  if (assignments_ != nullptr) {
    assignments_->reached_close(ir::Block::none());
    assignments_->reached_open(assignments_->opened_from(), ir::Block::none());
  }
  // The `end` that implies it has been counted already, and takes that back itself.
  if (implicit) ++fuel_used_;
  if (implicit && frame.target.is_none() && block.results.empty()) {
    // No else part and nothing to merge: the false edge goes where the then part ends.
    frame.target = frame.other;
    if (reachable) builder_.jump(frame.target);
    return;
  }
  if (reachable) builder_.jump(label_block(frame, block.results), values(results));
  builder_.switch_to(frame.other);
  builder_.seal(frame.other);
}

void IrSink::end(FrameKind kind, const wasm::BlockType& block, Frame& frame, bool falls_through,
                 bool continues, Out results) {
  free_of_charge();
  const ir::Block before = builder_.current_block();
  finish_frame(kind, block, frame, falls_through, continues, results);
  if (assignments_ != nullptr) finish_regions(kind, before);
}

/// The frame's regions end; a block begun since `before` is behind them.
void IrSink::finish_regions(FrameKind kind, ir::Block before) {
  if (kind == FrameKind::Func) return;
  const ir::Block now = builder_.current_block();
  const ir::Block after = builder_.is_open() ? now : ir::Block::none();
  assignments_->reached_close(after);
  if (kind == FrameKind::If || kind == FrameKind::Else) assignments_->reached_close(after);
  if (now != before && builder_.is_open()) assignments_->reached_block(now);
}

void IrSink::finish_frame(FrameKind kind, const wasm::BlockType& block, Frame& frame,
                          bool falls_through, bool continues, Out results) {
  switch (kind) {
    case FrameKind::Func:
      if (falls_through) return_(results);
      if (frame.target.is_some()) {
        continue_at(frame.target, results);
        return_(results);
      }
      return;
    case FrameKind::Loop:
      // The header has its last back edge. What falls out of the body needs no merging.
      builder_.seal(frame.target);
      return;
    case FrameKind::Block:
    case FrameKind::If:
    case FrameKind::Else:
    case FrameKind::Catch:
    case FrameKind::CatchAll: break;
    case FrameKind::TryTable:
    case FrameKind::Try:
      end_try(block, frame, falls_through, results);
      // Then it has gone to the label's block.
      if (!builder_.is_open()) falls_through = false;
      break;
  }
  if (frame.target.is_none()) return;  // one way leads here, or none
  if (kind == FrameKind::Else && frame.target == frame.other) {
    continue_at(frame.target, results);
    return;
  }
  if (falls_through) {
    before_branch();
    builder_.jump(label_block(frame, block.results), values(results));
  }
  if (continues) continue_at(frame.target, results);
}

void IrSink::br(const Label& label, In in) {
  if (label.kind == FrameKind::Func) {
    return_(in);
  } else {
    before_branch();
    builder_.jump(label_block(label), values(in));
  }
}

void IrSink::br_if(const Label& label, Value c, In in) {
  before_branch();
  const ir::Block next = builder_.make_block();
  const Value taken = condition(c);
  const ir::Block target = label_block(label);
  builder_.brif(taken, target, values(in), next, {});
  builder_.switch_to(next);
  builder_.seal(next);
}

void IrSink::br_table(const wasm::Labels<Frame>& labels, Value index,
                      std::span<const std::uint32_t> depths, In in) {
  before_branch();
  // With values to carry, each distinct target gets one block that passes them on: a table may have
  // tens of thousands of entries.
  edges_.clear();
  targets_.clear();
  ++table_epoch_;
  for (const std::uint32_t depth : depths) {
    const Label label = labels[depth];
    if (in.empty()) {
      targets_.push_back({label_block(label), {}});
      continue;
    }
    if (edge_of_depth_.size() <= depth) edge_of_depth_.resize(std::size_t{depth} + 1);
    ir::Block& stub = edge_of_depth_.at(depth, table_epoch_);
    if (stub.is_none()) {
      stub = builder_.make_block();
      edges_.push_back({stub, label_block(label)});
    }
    targets_.push_back({stub, {}});
  }
  const ir::FunctionBuilder::Target default_target = targets_.back();
  targets_.pop_back();
  builder_.br_table(index, default_target, targets_);
  for (const TableEdge& edge : edges_) {
    builder_.switch_to(edge.stub);
    builder_.seal(edge.stub);
    builder_.jump(edge.target, values(in));
  }
}

void IrSink::return_(In in) {
  before_leaving();
  builder_.ret(values(in));
}

void IrSink::unreachable() {
  const ir::Block here = builder_.current_block();
  before_leaving();
  if (here != entry_) func().set_cold(here);
  builder_.trap(ir::TrapCode::Unreachable);
}

}  // namespace hoist::translate
