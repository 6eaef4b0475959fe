// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See liveness.hpp.

#include "codegen/regalloc/liveness.hpp"

#include <algorithm>
#include <bit>

namespace hoist::codegen {

namespace {
/// Bit rows are used up to this many words per instruction of the function.
constexpr std::size_t kWordsPerInst = 32;
/// Values live into blocks that every function may have, and more for each instruction: the work of
/// all later steps is bound by them.
constexpr std::size_t kFewPairs = std::size_t{1} << 20;
constexpr std::size_t kPairsPerInst = 128;

/// What an edge adds to the distance of the uses behind it.
std::uint32_t edge_penalty(const MachFunction& func, const Flow& flow, std::uint32_t from,
                           std::uint32_t to) {
  const std::uint32_t exits = std::min<std::uint32_t>(flow.loops_left(from, to), 8) * kLoopExit;
  const bool into_cold = func.blocks[MachBlock(to)].cold && !func.blocks[MachBlock(from)].cold;
  return into_cold ? add_distance(exits, kColdEdge) : exits;
}
}  // namespace

void Liveness::scan(const MachFunction& func, ValueTable& values) {
  values.assign(func.vregs.size(), ValueInfo{});
  for (std::uint32_t v = 0; v < values.size(); ++v) {
    values[v].cls = func.vregs[VReg(v)].cls;
    values[v].bytes = func.vregs[VReg(v)].bytes;
  }
  const auto block_count = static_cast<std::uint32_t>(func.blocks.size());
  stamp_.assign(values.size(), 0);
  distance_.resize(values.size());
  epoch_ = 0;
  globals_.clear();
  exposed_.clear();
  exposed_first_.resize(block_count);
  exposed_end_.resize(block_count);
  first_call_.assign(block_count, kFar);
  for (std::uint32_t b = 0; b < block_count; ++b) {
    const MachBlockData& block = func.blocks[MachBlock(b)];
    exposed_first_[b] = static_cast<std::uint32_t>(exposed_.size());
    ++epoch_;
    const auto use = [&](VReg vreg, std::uint32_t at) {
      const std::uint32_t v = vreg.index();
      if (values[v].def_block == b || stamp_[v] == epoch_) return;
      stamp_[v] = epoch_;
      exposed_.push_back({v, at});
      if (values[v].global != ValueInfo::kLocal) return;
      values[v].global = static_cast<std::uint32_t>(globals_.size());
      globals_.push_back(v);
    };
    for (const VReg param : func.params_of(block)) values[param.index()].def_block = b;
    for (std::uint32_t i = block.first_inst; i < block.end_inst; ++i) {
      const MachInst& inst = func.insts[i];
      if ((inst.flags & kCall) != 0 && first_call_[b] == kFar) {
        first_call_[b] = std::min(i - block.first_inst, kBlockCap);
      }
      for (const Operand& op : func.operands_of(inst)) {
        if (op.role == Role::Use || op.role == Role::LateUse) {
          use(op.vreg, i);
          continue;
        }
        ValueInfo& value = values[op.vreg.index()];
        value.def_block = b;
        value.def_inst = i;
        value.remat = (inst.flags & kRemat) != 0 && inst.operand_count == 1 &&
                      op.role == Role::Def && op.constraint == Constraint::Reg;
      }
    }
    for (const MachEdge& edge : func.succs_of(block)) {
      for (const VReg arg : func.args_of(edge)) use(arg, block.end_inst - 1);
    }
    exposed_end_[b] = static_cast<std::uint32_t>(exposed_.size());
  }
}

bool Liveness::solve(const MachFunction& func, const Flow& flow, const ValueTable& values,
                     Form form) {
  group_definitions(func, values);
  const std::size_t block_count = func.blocks.size();
  words_ = (globals_.size() + 63) / 64;
  const bool small = words_ * block_count <= kWordsPerInst * func.insts.size() + 4096;
  dense_ = form == Form::Auto ? small : form == Form::Rows;
  most_pairs_ = kFewPairs + kPairsPerInst * func.insts.size();
  live_in_counts_.assign(block_count, Counts{});
  if (dense_) {
    solve_dense(func, flow, values);
    std::size_t total = 0;
    for (const Counts& counts : live_in_counts_) total += counts[0] + counts[1];
    if (total > most_pairs_) return false;
  } else if (!solve_sparse(func, values)) {
    return false;
  }
  solve_distances(func, flow, values);
  return true;
}

void Liveness::group_definitions(const MachFunction& func, const ValueTable& values) {
  defined_first_.assign(func.blocks.size() + 1, 0);
  for (const std::uint32_t v : globals_) ++defined_first_[values[v].def_block + 1];
  for (std::size_t b = 1; b < defined_first_.size(); ++b)
    defined_first_[b] += defined_first_[b - 1];
  defined_.resize(globals_.size());
  work_.assign(defined_first_.begin(), defined_first_.end());
  for (std::uint32_t g = 0; g < globals_.size(); ++g) {
    defined_[work_[values[globals_[g]].def_block]++] = g;
  }
}

// Backwards over the blocks, again over those whose successors changed (back edges).
void Liveness::solve_dense(const MachFunction& func, const Flow& flow, const ValueTable& values) {
  const std::size_t block_count = func.blocks.size();
  rows_.assign(block_count * words_, 0);
  float_mask_.assign(words_, 0);
  for (std::uint32_t g = 0; g < globals_.size(); ++g) {
    if (values[globals_[g]].cls == RegClass::Float) {
      float_mask_[g / 64] |= std::uint64_t{1} << (g % 64);
    }
  }
  for (std::size_t b = 0; b < block_count; ++b) {
    for (std::uint32_t i = exposed_first_[b]; i < exposed_end_[b]; ++i) {
      const std::uint32_t g = values[exposed_[i].vreg].global;
      rows_[b * words_ + g / 64] |= std::uint64_t{1} << (g % 64);
    }
  }
  out_row_.resize(words_);
  dirty_.assign(block_count, 1);
  const auto order = flow.order();
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::uint32_t b = order[i];
      if (dirty_[b] == 0) continue;
      dirty_[b] = 0;
      const MachBlockData& block = func.blocks[MachBlock(b)];
      std::fill(out_row_.begin(), out_row_.end(), 0);
      for (const MachEdge& edge : func.succs_of(block)) {
        const std::uint64_t* row = rows_.data() + edge.target.index() * words_;
        for (std::size_t w = 0; w < words_; ++w) out_row_[w] |= row[w];
      }
      for (std::uint32_t d = defined_first_[b]; d < defined_first_[b + 1]; ++d) {
        out_row_[defined_[d] / 64] &= ~(std::uint64_t{1} << (defined_[d] % 64));
      }
      std::uint64_t* row = rows_.data() + b * words_;
      std::uint64_t fresh = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        fresh |= out_row_[w] & ~row[w];
        row[w] |= out_row_[w];
      }
      if (fresh == 0) continue;
      for (const MachBlock pred : func.preds_of(block)) {
        dirty_[pred.index()] = 1;
        again = again || flow.position(pred.index()) >= i;
      }
    }
  }
  for (std::size_t b = 0; b < block_count; ++b) {
    const std::uint64_t* row = rows_.data() + b * words_;
    Counts& counts = live_in_counts_[b];
    for (std::size_t w = 0; w < words_; ++w) {
      counts[1] += static_cast<std::uint32_t>(std::popcount(row[w] & float_mask_[w]));
      counts[0] += static_cast<std::uint32_t>(std::popcount(row[w] & ~float_mask_[w]));
    }
  }
}

// For each value: from its exposed uses up to its definition. Twice: count, then fill.
bool Liveness::solve_sparse(const MachFunction& func, const ValueTable& values) {
  const std::size_t block_count = func.blocks.size();
  // Exposed uses as (block, global), grouped by global.
  std::vector<std::uint32_t>& first = work_;
  first.assign(globals_.size() + 1, 0);
  for (const Exposed& use : exposed_) ++first[values[use.vreg].global + 1];
  for (std::size_t g = 1; g < first.size(); ++g) first[g] += first[g - 1];
  pairs_.resize(exposed_.size());
  for (std::size_t b = block_count; b-- > 0;) {
    for (std::uint32_t i = exposed_first_[b]; i < exposed_end_[b]; ++i) {
      const std::uint32_t g = values[exposed_[i].vreg].global;
      pairs_[--first[g + 1]] = {static_cast<std::uint32_t>(b), g};
    }
  }
  std::vector<std::uint32_t> seen;
  std::vector<std::uint32_t> stack;
  list_first_.assign(block_count + 1, 0);
  std::size_t total = 0;
  for (const bool fill : {false, true}) {
    seen.assign(block_count, ValueInfo::kLocal);
    for (std::size_t next = 0; next < pairs_.size();) {
      const std::uint32_t g = pairs_[next].global;
      const ValueInfo& value = values[globals_[g]];
      const auto reach = [&](std::uint32_t block) {
        if (block == value.def_block || seen[block] == g) return;
        seen[block] = g;
        stack.push_back(block);
      };
      for (; next < pairs_.size() && pairs_[next].global == g; ++next) reach(pairs_[next].block);
      while (!stack.empty()) {
        const std::uint32_t b = stack.back();
        stack.pop_back();
        if (fill) {
          lists_[list_first_[b]++] = g;
        } else {
          ++list_first_[b + 1];
          ++live_in_counts_[b][static_cast<std::size_t>(value.cls)];
          if (++total > most_pairs_) return false;
        }
        for (const MachBlock pred : func.preds_of(func.blocks[MachBlock(b)])) reach(pred.index());
      }
    }
    if (!fill) {
      for (std::size_t b = 1; b <= block_count; ++b) list_first_[b] += list_first_[b - 1];
      lists_.resize(total);
    }
  }
  for (std::size_t b = block_count; b > 0; --b) list_first_[b] = list_first_[b - 1];
  list_first_[0] = 0;
  out_stamp_.assign(globals_.size(), 0);
  return true;
}

bool Liveness::live_in(std::uint32_t block, const ValueInfo& value) const {
  const std::uint32_t g = value.global;
  if (g == ValueInfo::kLocal) return false;
  if (dense_) return ((rows_[block * words_ + g / 64] >> (g % 64)) & 1) != 0;
  return std::binary_search(lists_.begin() + list_first_[block],
                            lists_.begin() + list_first_[block + 1], g);
}

bool Liveness::live_out(const ValueInfo& value) const {
  const std::uint32_t g = value.global;
  if (g == ValueInfo::kLocal) return false;
  if (dense_) return ((out_row_[g / 64] >> (g % 64)) & 1) != 0;
  return out_stamp_[g] == epoch_;
}

void Liveness::load_out(const MachFunction& func, const Flow& flow, std::uint32_t block) {
  merge_distances(func, flow, block);
  out_counts_ = {};
  const auto succs = func.succs_of(func.blocks[MachBlock(block)]);
  if (!dense_) {
    for (const MachEdge& edge : succs) {
      for_each_live_in(edge.target.index(), [&](std::uint32_t g) { out_stamp_[g] = epoch_; });
    }
    // A count by class would cost as much again; the larger of the successors is near enough.
    for (const MachEdge& edge : succs) {
      const Counts& counts = live_in_counts_[edge.target.index()];
      for (std::size_t c = 0; c < 2; ++c) out_counts_[c] = std::max(out_counts_[c], counts[c]);
    }
    return;
  }
  std::fill(out_row_.begin(), out_row_.end(), 0);
  for (const MachEdge& edge : succs) {
    const std::uint64_t* row = rows_.data() + edge.target.index() * words_;
    for (std::size_t w = 0; w < words_; ++w) out_row_[w] |= row[w];
  }
  for (std::size_t w = 0; w < words_; ++w) {
    out_counts_[1] += static_cast<std::uint32_t>(std::popcount(out_row_[w] & float_mask_[w]));
    out_counts_[0] += static_cast<std::uint32_t>(std::popcount(out_row_[w] & ~float_mask_[w]));
  }
}

void Liveness::merge_distances(const MachFunction& func, const Flow& flow, std::uint32_t block) {
  ++epoch_;
  merged_.clear();
  const MachBlockData& data = func.blocks[MachBlock(block)];
  for (const MachEdge& edge : func.succs_of(data)) {
    const std::uint32_t succ = edge.target.index();
    const std::uint32_t penalty = edge_penalty(func, flow, block, succ);
    for (const Distance& entry : nearest(succ)) {
      const std::uint32_t distance = add_distance(entry.distance, penalty);
      if (stamp_[entry.vreg] != epoch_) {
        stamp_[entry.vreg] = epoch_;
        distance_[entry.vreg] = distance;
        merged_.push_back(entry.vreg);
      } else {
        distance_[entry.vreg] = std::min(distance_[entry.vreg], distance);
      }
    }
  }
}

std::uint32_t Liveness::merge_call_distance(const MachFunction& func, const Flow& flow,
                                            std::uint32_t block) {
  if (first_call_[block] != kFar) return first_call_[block];
  const MachBlockData& data = func.blocks[MachBlock(block)];
  std::uint32_t nearest_call = kFar;
  for (const MachEdge& edge : func.succs_of(data)) {
    const std::uint32_t succ = edge.target.index();
    nearest_call = std::min(
        nearest_call, add_distance(call_distance_[succ], edge_penalty(func, flow, block, succ)));
  }
  return add_distance(nearest_call, std::min(data.end_inst - data.first_inst, kBlockCap));
}

// Two rounds backwards: the second sees around the back edges. That is not the fixed point for deep
// nests, but distances only steer choices.
void Liveness::solve_distances(const MachFunction& func, const Flow& flow,
                               const ValueTable& values) {
  const std::size_t block_count = func.blocks.size();
  distances_.resize(block_count * kNearest);
  distance_counts_.assign(block_count, 0);
  call_distance_.assign(block_count, kFar);
  const auto order = flow.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    static_cast<void>(solve_block_distances(func, flow, values, order[i]));
  }
  if (flow.loops().empty()) return;
  // Only behind a back edge or before a block that changed is there something new to see.
  dirty_.assign(block_count, 0);
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::uint32_t b = order[i];
    bool is_new = false;
    for (const MachEdge& edge : func.succs_of(func.blocks[MachBlock(b)])) {
      const std::uint32_t succ = edge.target.index();
      is_new = is_new || dirty_[succ] != 0 || flow.position(succ) <= i;
    }
    if (is_new && solve_block_distances(func, flow, values, b)) dirty_[b] = 1;
  }
}

/// Returns whether what is known of the block changed.
bool Liveness::solve_block_distances(const MachFunction& func, const Flow& flow,
                                     const ValueTable& values, std::uint32_t b) {
  const MachBlockData& data = func.blocks[MachBlock(b)];
  const std::uint32_t call_distance = merge_call_distance(func, flow, b);
  bool changed = call_distance != call_distance_[b];
  call_distance_[b] = call_distance;
  merge_distances(func, flow, b);
  candidates_.clear();
  for (std::uint32_t e = exposed_first_[b]; e < exposed_end_[b]; ++e) {
    const Exposed& use = exposed_[e];
    candidates_.push_back({use.vreg, std::min(use.at - data.first_inst, kBlockCap)});
    if (stamp_[use.vreg] == epoch_) distance_[use.vreg] = kDead;  // taken
  }
  const std::uint32_t length = std::min(data.end_inst - data.first_inst, kBlockCap);
  for (const std::uint32_t v : merged_) {
    if (distance_[v] == kDead || values[v].def_block == b) continue;
    candidates_.push_back({v, add_distance(distance_[v], length)});
  }
  if (candidates_.size() > kNearest) {
    const auto nearer = [](const Distance& a, const Distance& c) {
      return a.distance != c.distance ? a.distance < c.distance : a.vreg < c.vreg;
    };
    std::nth_element(candidates_.begin(), candidates_.begin() + kNearest, candidates_.end(),
                     nearer);
    candidates_.resize(kNearest);
  }
  changed = changed || !std::ranges::equal(candidates_, nearest(b));
  std::copy(candidates_.begin(), candidates_.end(),
            distances_.begin() + static_cast<std::ptrdiff_t>(b * std::size_t{kNearest}));
  distance_counts_[b] = static_cast<std::uint32_t>(candidates_.size());
  return changed;
}

}  // namespace hoist::codegen
