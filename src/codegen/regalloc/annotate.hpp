// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// One backward walk over each block that tells the scan what is ahead of it: for each operand the
/// next use of its register, for each block the instructions that fix or clobber registers, for
/// each loop its register pressure, for each value its weights and hints.

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/regalloc/flow.hpp"
#include "codegen/regalloc/liveness.hpp"
#include "codegen/regalloc/values.hpp"

namespace hoist::codegen {

class Annotations {
 public:
  /// An instruction that fixes or clobbers registers.
  struct Event {
    std::uint32_t inst;
    bool call;
    RegMask regs;
  };
  /// What the frequent blocks of a loop, inner loops included, need.
  struct LoopNeeds {
    RegMask busy;                         ///< registers of its events
    RegMask clobbered;                    ///< registers that its calls clobber
    std::uint32_t max_live[2] = {0, 0};   ///< values live at once, by class
    std::uint32_t max_cross[2] = {0, 0};  ///< values live across one call, by class
  };

  /// With liveness. Updates `values`.
  void compute(const MachFunction& func, const Flow& flow, Liveness& live, ValueTable& values);
  /// Without: every value that is used outside of its block counts as live out of each block that
  /// mentions it.
  void compute_local(const MachFunction& func, ValueTable& values);

  /// By operand number: the next use after that operand's instruction (see values.hpp).
  std::span<const std::uint32_t> next() const { return {next_.data(), next_.size()}; }
  /// By index into MachFunction::block_params: the first use.
  std::uint32_t param_next(std::uint32_t index) const { return param_next_[index]; }
  std::span<const Event> events(std::uint32_t block) const {
    return {events_.data() + event_first_[block], event_end_[block] - event_first_[block]};
  }
  const LoopNeeds& needs(std::uint32_t loop) const { return needs_[loop]; }

 private:
  struct Ahead {
    std::uint32_t stamp = 0;
    std::uint32_t next = 0;
    std::uint32_t calls = 0;  ///< calls between its last use and the end of the block
  };
  struct Pressure {
    std::uint32_t live[2] = {0, 0};
    std::uint32_t early_defs[2] = {0, 0};  ///< of the instruction
    std::uint32_t max_live[2] = {0, 0};
    std::uint32_t max_cross[2] = {0, 0};
  };

  void start(const MachFunction& func, const ValueTable& values);
  void walk(const MachFunction& func, ValueTable& values, std::uint32_t block);
  void visit_defs(const MachFunction& func, ValueTable& values, std::uint32_t inst);
  void visit_uses(const MachFunction& func, ValueTable& values, std::uint32_t inst);
  void pass_hints(const MachFunction& func, ValueTable& values, std::uint32_t inst);
  void add_event(const MachFunction& func, std::uint32_t inst);
  void see_last(const MachFunction& func, ValueTable& values, std::uint32_t vreg, std::uint32_t at);
  void visit_edges(const MachFunction& func, ValueTable& values);
  void cross_through(ValueTable& values, std::uint32_t vreg, std::uint32_t calls);
  void record_loop(const MachFunction& func);

  const Flow* flow_ = nullptr;
  Liveness* live_ = nullptr;

  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> param_next_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> event_first_;
  std::vector<std::uint32_t> event_end_;
  std::vector<LoopNeeds> needs_;

  // The block being walked.
  std::vector<Ahead> ahead_;
  std::uint32_t block_ = 0;
  std::uint32_t stamp_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t frequency_ = 0;
  std::uint32_t calls_ = 0;
  RegMask busy_;
  RegMask clobbered_;
  Pressure pressure_;
};

}  // namespace hoist::codegen
