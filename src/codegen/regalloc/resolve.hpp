// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The last step: turns what the scan decided into an Allocation. Chooses for each spilled value
/// whether it is stored after its definition or where it leaves its register, makes the copies on
/// edges, and puts all copies into the order of the instructions.

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "codegen/regalloc/flow.hpp"
#include "codegen/regalloc/liveness.hpp"
#include "codegen/regalloc/parallel_moves.hpp"
#include "codegen/regalloc/scan.hpp"
#include "codegen/regalloc/values.hpp"

namespace hoist::codegen {

class Resolver {
 public:
  /// `flow` and `live` are null for the simple allocator. `values` have their slots, of `slots` in
  /// all.
  Result<void> run(const MachFunction& func, const RegisterFile& regs, const Flow* flow,
                   const Liveness* live, const ScanResult& scan, ValueTable& values,
                   std::uint32_t slots, Allocation& out);

 private:
  struct DefStore {
    std::uint32_t before;
    std::uint32_t vreg;
  };

  void choose_stores();
  void collect_def_stores();
  void emit_block(std::uint32_t block);
  void emit_scan_move(const ScanResult::Move& move);
  void emit_def_store(const DefStore& store);
  void edge(std::uint32_t pred, std::uint32_t succ, const MachEdge& data, std::uint32_t before);
  void remat_to_slots(std::uint32_t succ, std::uint32_t before);
  void add_load(std::uint32_t vreg, std::uint32_t to);
  void append(const ParallelMoves::Move& move, std::uint32_t before);
  std::uint32_t slot_place(std::uint32_t vreg) const {
    return kFirstSlotPlace + (*values_)[vreg].slot;
  }

  const MachFunction* func_ = nullptr;
  const Flow* flow_ = nullptr;
  const Liveness* live_ = nullptr;
  const ScanResult* scan_ = nullptr;
  ValueTable* values_ = nullptr;
  Allocation* out_ = nullptr;
  ParallelMoves parallel_;
  std::vector<ParallelMoves::Move> to_slots_;
  std::uint32_t scratch_ = kNoPlace;
  std::uint32_t temp8_place_ = kNoPlace;
  RegMask written_;
  RegMask callee_saved_;
  RegMask int_regs_;
  std::vector<DefStore> def_stores_;
  std::size_t next_def_store_ = 0;
  struct Exit {
    std::uint32_t stamp = 0;
    std::uint8_t reg = kNoReg;
    bool kept = false;  // in a register at the entry of the successor
  };
  std::vector<Exit> exits_;
  std::uint32_t stamp_ = 0;
  bool temp8_ = false;
  bool temp16_ = false;
};

}  // namespace hoist::codegen
