// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The scan: walks the blocks once, forward, with the contents of the register file, and decides
/// the location of each operand, what is evicted, reloaded and moved within blocks, and the
/// register state at block borders. Spill slots are not numbered yet: copies name values (see
/// resolve.hpp).
///
/// Between instructions a value is in at most one register (its home) and, once it was stored or
/// where it can be rematerialised, in memory. Around one instruction it may be in more registers:
/// copies for Fixed and Same constraints live for that instruction only.
///
/// The order of what is inserted before an instruction: stores of values that lose their register,
/// then copies (all at once), then loads. Each of the three assumes it: stores read the registers
/// as they were before the copies, loads write registers that no copy reads any more.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "codegen/regalloc/annotate.hpp"
#include "codegen/regalloc/flow.hpp"
#include "codegen/regalloc/liveness.hpp"
#include "codegen/regalloc/parallel_moves.hpp"
#include "codegen/regalloc/values.hpp"

namespace hoist::codegen {

/// Register `reg` in a set of registers.
constexpr std::uint64_t bit(unsigned reg) {
  return std::uint64_t{1} << reg;
}

/// What the scan leaves for the steps after it.
struct ScanResult {
  enum class Kind : std::uint8_t {
    Copy,      ///< register to register
    Exchange,  ///< two integer registers
    Store,  ///< register to the value's slot; dropped where the value is stored at its definition
    Load,   ///< slot to register, or rematerialise
  };
  struct Move {
    std::uint32_t before;
    std::uint32_t vreg;
    Kind kind;
    std::uint8_t to;    ///< register, unless Store
    std::uint8_t from;  ///< register, unless Load
  };
  /// A value in a register at a block border.
  struct Entry {
    std::uint32_t vreg;
    std::uint8_t reg;
    bool stored;  ///< its slot holds it too
  };
  struct Block {
    std::uint32_t entry_first = 0, entry_end = 0;  ///< in `entries`
    std::uint32_t exit_first = 0, exit_end = 0;
    std::uint32_t move_first = 0, move_end = 0;  ///< in `moves`
    bool inherits = false;  ///< entered with exactly what its only predecessor left
    bool done = false;
  };

  std::vector<Move> moves;
  std::vector<Entry> entries;
  std::vector<Block> blocks;
  std::vector<std::uint32_t> slot_operands;  ///< operands that are read from their value's slot
  std::uint64_t used = 0;

  std::span<const Entry> entry(std::uint32_t block) const {
    const Block& b = blocks[block];
    return {entries.data() + b.entry_first, b.entry_end - b.entry_first};
  }
  std::span<const Entry> exit(std::uint32_t block) const {
    const Block& b = blocks[block];
    return {entries.data() + b.exit_first, b.exit_end - b.exit_first};
  }
};

class Scan {
 public:
  /// `flow` and `live` are null for the simple allocator: then nothing is in a register at block
  /// borders and each value that is used in several blocks is stored at its definition.
  Result<void> run(const MachFunction& func, const RegisterFile& regs, const Flow* flow,
                   const Liveness* live, const Annotations& notes, ValueTable& values,
                   Allocation& out);
  const ScanResult& result() const { return result_; }

 private:
  /// A virtual register now.
  struct Current {
    std::uint32_t next = kDead;  ///< next use
    std::uint32_t stamp = 0;     ///< the instruction (epoch) for which `source` and `marks` hold
    std::uint8_t home = kNoReg;
    std::uint8_t source = kNoReg;  ///< home before the instruction's copies
    std::uint8_t marks = 0;
    bool stored = false;
  };
  enum Marks : std::uint8_t { kUsed = 1, kPlainUse = 2, kLate = 4, kSurvives = 8 };

  // scan.cpp: state and choices.
  void prepare(const RegisterFile& regs);
  void scan_block(std::uint32_t block);
  void set_home(std::uint32_t vreg, unsigned reg);
  void release(std::uint32_t vreg);
  void evict(std::uint32_t vreg);
  void store(std::uint32_t vreg);
  void begin_inst(std::uint32_t inst);
  void flush();
  std::uint64_t class_of(std::uint32_t vreg) const {
    return class_regs_[static_cast<std::size_t>((*values_)[vreg].cls)];
  }
  unsigned first_in_order(std::uint64_t set) const;
  unsigned pick(std::uint32_t vreg, std::uint64_t free, std::uint32_t horizon, unsigned wish,
                std::uint64_t avoid);
  unsigned victim(std::uint64_t candidates) const;
  std::uint32_t urgency(std::uint32_t vreg) const;
  unsigned allocate(std::uint32_t vreg, std::uint64_t allowed, std::uint32_t horizon,
                    unsigned wish = kNoReg);
  unsigned wished_register(std::uint32_t vreg) const;
  bool worth_callee_saved(std::uint32_t vreg) const;
  bool deserves_more(std::uint32_t a, std::uint32_t b) const;
  unsigned least_deserving(std::uint64_t candidates) const;
  void fail(const char* what);

  // scan_inst.cpp: one instruction.
  void visit_plain();
  void visit_event(const Annotations::Event& event);
  Current& mark_use(std::uint32_t number);
  void load(std::uint32_t vreg, unsigned reg);
  void assign(std::uint32_t number, unsigned reg) {
    out_->allocs[number] = Alloc::of(PReg{static_cast<std::uint8_t>(reg)});
  }
  void read_slot(std::uint32_t number);
  void plain_uses();
  void early_defs();
  void same_def(std::uint32_t number);
  unsigned same_register(std::uint32_t number, std::uint32_t source_number);
  void finish_uses();
  void define(std::uint32_t number, unsigned reg);
  void late_defs();
  void finish_defs();
  bool reads_slot(std::uint32_t number) const;
  bool is_same_source(std::uint32_t number) const;
  std::uint32_t reload_horizon(std::uint32_t number) const;
  std::uint32_t def_horizon(std::uint32_t vreg) const;

  // scan_event.cpp: fixed registers and clobbers.
  void gather_event();
  void slot_uses();
  void make_way(const Annotations::Event& event);
  void move_away(std::uint32_t vreg, bool call);
  void fixed_uses();
  void event_plain_uses();
  void event_missing_use(std::uint32_t number);
  unsigned fixed_copy(std::uint32_t vreg) const;

  // scan_border.cpp: block borders.
  void enter(std::uint32_t block);
  void enter_inherited(std::uint32_t block, std::uint32_t pred);
  void enter_empty(std::uint32_t block);
  void enter_joined(std::uint32_t block);
  void collect(std::uint32_t block);
  void collect_params(std::uint32_t block, std::uint32_t main_pred);
  void drop_unneeded(std::uint32_t block);
  void limit_to_registers();
  void place_candidates(std::uint32_t block);
  void place_in_loop(std::uint32_t block);
  void record_entry(std::uint32_t block);
  void leave(std::uint32_t block);
  void account_edge(std::uint32_t pred, std::uint32_t succ);

  bool simple() const { return live_ == nullptr; }

  const MachFunction* func_ = nullptr;
  const Flow* flow_ = nullptr;
  const Liveness* live_ = nullptr;
  const Annotations* notes_ = nullptr;
  ValueTable* values_ = nullptr;
  Allocation* out_ = nullptr;
  ScanResult result_;
  ParallelMoves parallel_;
  PReg scratch_;
  const char* failure_ = nullptr;
  std::uint32_t failed_inst_ = 0;

  // The register file.
  std::uint8_t order_[2][64] = {};
  std::uint8_t order_count_[2] = {0, 0};
  std::uint64_t class_regs_[2] = {0, 0};
  std::uint64_t callee_saved_ = 0;
  std::uint64_t occupied_ = 0;
  std::uint64_t used_ = 0;
  std::uint32_t content_[64] = {};
  std::vector<Current> current_;

  // The block.
  std::uint32_t block_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t frequency_ = 0;
  std::span<const Annotations::Event> events_;
  std::size_t next_event_ = 0;

  // The instruction.
  std::uint32_t inst_ = 0;
  std::uint32_t epoch_ = 0;
  std::uint32_t first_operand_ = 0;
  std::uint32_t end_operand_ = 0;
  std::uint64_t pinned_ = 0;  ///< not to be evicted
  std::uint64_t early_ =
      0;  ///< read or written early although no value's home: not to be handed out
  std::uint64_t taken_ = 0;  ///< registers of dying operands that a Same definition took over
  std::vector<ScanResult::Move> stores_;
  std::vector<ScanResult::Move> copies_;
  std::vector<ScanResult::Move> loads_;
  std::vector<std::uint32_t> displaced_;

  // The event.
  std::uint64_t early_blocked_ = 0;  ///< registers of fixed uses and early definitions
  std::uint64_t early_defs_ = 0;
  std::uint64_t late_blocked_ = 0;  ///< clobbers and registers of fixed definitions
  std::uint64_t fixed_defs_ = 0;
  std::uint64_t held_ = 0;  ///< registers of fixed late uses
  std::uint32_t fixed_content_[64] = {};
  std::uint64_t fixed_done_ = 0;

  // The border.
  struct Candidate {
    std::uint32_t vreg;
    std::uint32_t weight;
    std::uint32_t distance;
    std::uint8_t reg;
    bool stored;
    bool param;
    bool placed;
  };
  std::vector<Candidate> candidates_;
  std::vector<Candidate> sorted_;
  std::uint32_t total_weight_ = 0;
  std::uint32_t border_epoch_ = 0;
  struct Mark {
    std::uint32_t stamp = 0;
    std::uint32_t index = 0;
  };
  std::vector<Mark> border_marks_;
};

}  // namespace hoist::codegen
