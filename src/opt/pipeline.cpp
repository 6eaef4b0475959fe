// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/pipeline.hpp"

#include "ir/analysis/control_flow.hpp"
#include "ir/analysis/dominators.hpp"
#include "opt/passes/checks.hpp"
#include "opt/passes/passes.hpp"
#include "opt/passes/simplify_walk.hpp"

namespace hoist::opt {

const PassInfo& info(Pass pass) {
  static constexpr PassInfo kInfos[] = {
#define HOIST_OPT_PASS(name, text, description) {text, description},
#include "opt/passes.def"
  };
  return kInfos[static_cast<unsigned>(pass)];
}

struct OptContext::State {
  ir::ControlFlow flow;
  ir::DominatorTree dominators;
  MemoryState memory;
  SimplifyScratch simplify;
  BlockParamsScratch block_params;
  ChecksScratch checks;
  DeadCodeScratch dead;
};

OptContext::OptContext() : state_(std::make_unique<State>()) {}
OptContext::~OptContext() = default;

bool optimise(ir::Function& func, OptContext& context) {
  if (func.entry_block().is_none()) return false;
  OptContext::State& state = context.state();
  std::uint64_t total = 0;
  const auto changed = [&](Pass pass, std::uint64_t count) {
    context.count(pass, count);
    total += count;
  };

  state.flow.compute(func);
  // Not optional: the other passes and the walk over arguments rely on it.
  changed(Pass::Unreachable, remove_unreachable(func, state.flow));
  bool graph_changed = false;
  bool has_checks = false;
  if (context.enabled(Pass::Simplify)) {
    state.dominators.compute(func, state.flow);
    const bool loads = context.enabled(Pass::Loads);
    if (loads) state.memory.compute(func, state.flow);
    const SimplifyResult result =
        simplify_walk(func, state.dominators, loads ? &state.memory : nullptr, state.simplify,
                      context.rewrites_left());
    changed(Pass::Simplify, result.changes);
    changed(Pass::Loads, result.loads);
    graph_changed = result.graph_changed;
    has_checks = loads && result.checks != 0;
    if (graph_changed) {
      state.flow.compute(func);
      changed(Pass::Unreachable, remove_unreachable(func, state.flow));
    }
  }
  if (context.enabled(Pass::BlockParams)) {
    changed(Pass::BlockParams, remove_redundant_params(func, state.flow, state.block_params));
  }
  if (has_checks && context.enabled(Pass::Checks)) {
    if (graph_changed) state.dominators.compute(func, state.flow);
    changed(Pass::Checks, move_checks(func, state.flow, state.dominators, state.memory,
                                      state.checks, context.rewrites_left()));
  }
  if (context.enabled(Pass::Dead)) {
    changed(Pass::Dead, remove_dead(func, state.flow, state.dead));
  }
  if (!context.enabled(Pass::Dead)) {
    func.resolve_all_aliases();
  } else {
    // What the last pass left names no alias; later readers follow short chains only.
    for (std::size_t i = 0; i < func.value_count(); ++i) func.resolve_and_compress(ir::Value(i));
  }
  return total != 0;
}

}  // namespace hoist::opt
