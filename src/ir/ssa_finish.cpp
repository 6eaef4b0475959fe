// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// End of SSA construction: the phis that are left become block parameters and branch arguments.
#include <algorithm>

#include "ir/ssa.hpp"

namespace hoist::ir {

void SsaConstruction::finish() {
  seal_all();
  if (attached_phis_ != phis_.size()) {
    attach_params();
    const std::size_t count = groups_.size();  // splitting edges adds some that are complete
    for (std::size_t i = 0; i < count;) {
      std::size_t end = i + 1;
      while (end < count && groups_[end].branch == groups_[i].branch) ++end;
      attach_args(i, end);
      i = end;
    }
    for (std::size_t i = attached_phis_; i < phis_.size(); ++i) {
      states_[phis_[i].block].first_incomplete = kNone;
    }
    attached_phis_ = phis_.size();
  }
  if (have_aliases_) func_->resolve_all_aliases();
  have_aliases_ = false;
}

void SsaConstruction::attach_params() {
  for (std::size_t i = attached_phis_; i < phis_.size(); ++i) {
    Phi& phi = phis_[i];
    if (phi.dead) continue;
    func_->attach_block_param(phi.block, phi.value);
    BlockState& state = states_[phi.block];
    if (state.first_incomplete == kNone) {
      state.first_incomplete = static_cast<std::uint32_t>(i);
    } else {
      phis_[state.last_phi].next = static_cast<std::uint32_t>(i);
    }
    state.last_phi = static_cast<std::uint32_t>(i);
    phi.next = kNone;
  }
}

/// The groups from `begin` to `end` are those of one branch.
void SsaConstruction::attach_args(std::size_t begin, std::size_t end) {
  const Inst branch = groups_[begin].branch;
  run_begin_ = begin;
  run_end_ = end;
  bool any = false;
  for (std::size_t group = begin; group < end; ++group) {
    BlockState& state = states_[groups_[group].target];
    state.group = static_cast<std::uint32_t>(group);
    state.slots = 0;
    state.split = Block::none();
    state.same_args = true;
    any |= state.first_incomplete != kNone;
  }
  if (!any) return;
  InstData& data = func_->data(branch);
  switch (format(data.op)) {
    case Format::Jump: data.a = with_phi_args(BlockCall(data.a)).index(); break;
    case Format::Brif:
      data.b = with_phi_args(BlockCall(data.b)).index();
      data.c = with_phi_args(BlockCall(data.c)).index();
      break;
    case Format::BrTable: attach_table_args(branch); break;
    default:  // try_call: arguments may be values of its edges, which no block in between can pass
      func_->map_targets(branch, [&](BlockCall call) { return with_phi_args(call); });
      break;
  }
}

void SsaConstruction::attach_table_args(Inst branch) {
  JumpTableData& table = func_->jump_tables[JumpTable(func_->data(branch).b)];
  func_->for_each_target(branch, [&](BlockCall call) {
    BlockState& state = states_[func_->call_target(call)];
    if (state.slots++ == 0) {
      state.first_slot = call;
    } else {
      state.same_args = state.same_args && std::ranges::equal(func_->call_args(state.first_slot),
                                                              func_->call_args(call));
    }
  });
  const auto attach = [&](BlockCall call) {
    const BlockState& state = states_[func_->call_target(call)];
    if (!takes_args(state)) return call;
    return state.slots > 1 && state.same_args ? split_edge(branch, call) : with_phi_args(call);
  };
  table.default_call = attach(table.default_call);
  for (BlockCall& call : func_->call_list(table.targets)) call = attach(call);
}

BlockCall SsaConstruction::with_phi_args(BlockCall call) {
  const Block target = func_->call_target(call);
  const BlockState& state = states_[target];
  if (!takes_args(state)) return call;
  const std::span<const Value> args = func_->call_args(call);
  scratch_.assign(args.begin(), args.end());
  for (std::uint32_t phi = state.first_incomplete; phi != kNone; phi = phis_[phi].next) {
    scratch_.push_back(resolved(inputs_[phis_[phi].inputs + groups_[state.group].number]));
  }
  return func_->make_block_call(target, scratch_);
}

/// Many slots of a table go to one block with the same arguments: they share one block in between,
/// so that the arguments exist once and not per slot.
BlockCall SsaConstruction::split_edge(Inst branch, BlockCall call) {
  const Block target = func_->call_target(call);
  Block middle = states_[target].split;
  if (middle.is_none()) {
    const BlockCall onward = with_phi_args(call);
    middle = func_->make_block();
    func_->insert_block_after(middle, func_->inst_block(branch));
    const Inst jump = func_->make_inst({.op = Op::Jump, .a = onward.index()}, func_->loc(branch));
    func_->append_inst(jump, middle);
    const std::uint32_t group = states_[target].group;
    states_[target].split = middle;
    // For later look-ups: branch -> middle -> target.
    BlockState& state = states_[middle];
    state.sealed = true;
    state.group_count = 1;
    state.first_group = state.last_group = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back({branch, middle, 0, kNone});
    groups_[group].branch = jump;
  }
  return func_->make_block_call(middle, {});
}

}  // namespace hoist::ir
