// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Which values are live where, and how far away their next use is.
///
/// Only values that are used outside of their block ("globals") are tracked. Their live-in sets are
/// bit rows, one per block, where that is small; else sorted lists filled by walking up from the
/// uses. Next-use distances are kept for the nearest values of each block only, so that a function
/// with thousands of live values stays near-linear; what is missing counts as far.

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/regalloc/flow.hpp"
#include "codegen/regalloc/values.hpp"

namespace hoist::codegen {

class Liveness {
 public:
  struct Exposed {
    std::uint32_t vreg;
    std::uint32_t at;  ///< instruction number of the first use in the block
  };
  struct Distance {
    std::uint32_t vreg;
    std::uint32_t distance;  ///< from the start of the block
    friend bool operator==(const Distance&, const Distance&) = default;
  };

  /// Step 1: definitions, and for each block the uses of values from elsewhere. Fills `values`.
  /// Blocks in any order.
  void scan(const MachFunction& func, ValueTable& values);
  /// Step 2: live-in sets and distances. Returns false where the sets would be too large (only a
  /// function made for it gets there: more than 128 pairs of block and live value per instruction).
  enum class Form : std::uint8_t { Auto, Rows, Lists };
  bool solve(const MachFunction& func, const Flow& flow, const ValueTable& values,
             Form form = Form::Auto);

  std::size_t global_count() const { return globals_.size(); }
  /// The register of a global.
  std::uint32_t global(std::size_t index) const { return globals_[index]; }

  bool live_in(std::uint32_t block, const ValueInfo& value) const;
  std::uint32_t count_live_in(std::uint32_t block, RegClass cls) const {
    return live_in_counts_[block][static_cast<std::size_t>(cls)];
  }
  /// The nearest live-in values with their distances, unordered.
  std::span<const Distance> nearest(std::uint32_t block) const {
    return {distances_.data() + block * std::size_t{kNearest}, distance_counts_[block]};
  }

  /// Instructions from the start of the block to the nearest call on any path, or kFar.
  std::uint32_t call_distance(std::uint32_t block) const { return call_distance_[block]; }

  /// Makes `live_out`, `out_distance` and `nearest_out` answer for this block.
  void load_out(const MachFunction& func, const Flow& flow, std::uint32_t block);
  bool live_out(const ValueInfo& value) const;
  /// Of a value that is live out.
  std::uint32_t out_distance(std::uint32_t vreg) const {
    return stamp_[vreg] == epoch_ ? distance_[vreg] : kFar;
  }
  std::uint32_t count_live_out(RegClass cls) const {
    return out_counts_[static_cast<std::size_t>(cls)];
  }
  std::span<const std::uint32_t> nearest_out() const { return {merged_.data(), merged_.size()}; }

  /// Calls `visit(global index)` for the globals that are live into `block`, ascending.
  template <typename F>
  void for_each_live_in(std::uint32_t block, F&& visit) const {
    if (!dense_) {
      for (std::uint32_t i = list_first_[block]; i < list_first_[block + 1]; ++i) visit(lists_[i]);
      return;
    }
    const std::uint64_t* row = rows_.data() + block * words_;
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t bits = row[w]; bits != 0; bits &= bits - 1) {
        visit(static_cast<std::uint32_t>(w * 64) +
              static_cast<std::uint32_t>(__builtin_ctzll(bits)));
      }
    }
  }

 private:
  static constexpr std::uint32_t kNearest = 32;

  void group_definitions(const MachFunction& func, const ValueTable& values);
  void solve_dense(const MachFunction& func, const Flow& flow, const ValueTable& values);
  bool solve_sparse(const MachFunction& func, const ValueTable& values);
  void solve_distances(const MachFunction& func, const Flow& flow, const ValueTable& values);
  bool solve_block_distances(const MachFunction& func, const Flow& flow, const ValueTable& values,
                             std::uint32_t b);
  void merge_distances(const MachFunction& func, const Flow& flow, std::uint32_t block);
  std::uint32_t merge_call_distance(const MachFunction& func, const Flow& flow,
                                    std::uint32_t block);

  std::vector<std::uint32_t> globals_;
  std::vector<Exposed> exposed_;
  std::vector<std::uint32_t> exposed_first_;  // per block, and its end
  std::vector<std::uint32_t> exposed_end_;
  std::vector<std::uint32_t> defined_;  // globals grouped by defining block
  std::vector<std::uint32_t> defined_first_;

  bool dense_ = true;
  std::size_t words_ = 0;
  std::size_t most_pairs_ = 0;
  std::vector<std::uint64_t> rows_;
  std::vector<std::uint64_t> float_mask_;
  std::vector<std::uint64_t> out_row_;
  std::vector<std::uint32_t> list_first_;
  std::vector<std::uint32_t> lists_;
  std::vector<std::uint32_t> out_stamp_;  // by global, sparse form
  struct Counts {
    std::uint32_t of[2] = {0, 0};
    std::uint32_t& operator[](std::size_t i) { return of[i]; }
    const std::uint32_t& operator[](std::size_t i) const { return of[i]; }
  };
  std::vector<Counts> live_in_counts_;
  Counts out_counts_;

  std::vector<Distance> distances_;
  std::vector<std::uint32_t> distance_counts_;
  std::vector<std::uint32_t> first_call_;  // distance within the block, or kFar
  std::vector<std::uint32_t> call_distance_;

  // Scratch: values by stamp.
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> stamp_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> merged_;
  std::vector<Distance> candidates_;
  std::vector<std::uint8_t> dirty_;
  std::vector<std::uint32_t> work_;
  struct Pair {
    std::uint32_t block;
    std::uint32_t global;
  };
  std::vector<Pair> pairs_;
};

}  // namespace hoist::codegen
