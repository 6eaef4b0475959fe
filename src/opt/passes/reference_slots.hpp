// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// ReferenceSlots: makes references findable during calls. Each marked value (see
/// ir::Function::mark_reference) that is live across a call is stored once, right behind its
/// definition, into a stack slot that is its own as long as it lives; each call gets a stack map of
/// the slots of what is live across it.
///
/// Assumes: collectors do not move objects, so nothing is ever read back from the slots and values
/// may stay in registers too; a reference that is only an argument of a call is kept by the callee.
/// It runs after the mid-end: nobody after it may lengthen the life of a reference across a call or
/// remove the stores.
/// Guarantees: a slot that a stack map names holds a reference that was marked, or null.
/// A function without marked values is left alone.
/// Cost: near-linear in instructions + live ranges in blocks + entries of stack maps.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ir/analysis/control_flow.hpp"
#include "ir/function.hpp"

namespace hoist::opt {

class ReferenceSlots {
 public:
  /// @error Limit: more entries than any sensible function has.
  Result<void> run(ir::Function& func);

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Reference {
    ir::Value value;
    ir::Block block;  ///< of the definition
    std::uint32_t first = 0;
    std::uint32_t last = 0;  ///< positions between which it lives
    std::uint32_t slot = kNone;
    bool crosses = false;  ///< a call
  };
  /// A pair of numbers, sorted by the first.
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  struct Call {
    ir::Inst inst;
    std::uint32_t first = 0;
    std::uint32_t end = 0;  ///< in live_at_calls_
  };

  void spread_marks(ir::Function& func);
  void find_definitions(const ir::Function& func);
  void find_uses(const ir::Function& func);
  bool find_live_blocks(std::uint64_t budget);
  bool find_live_at_calls(const ir::Function& func, std::uint64_t budget);
  void assign_slots();
  void insert_stores(ir::Function& func, ir::StackSlot slot);
  std::uint32_t number(const ir::Function& func, ir::Value v) const {
    return numbers_[func.resolve(v).index()];
  }
  /// Calls visit(value) for what `inst` reads, the arguments of its targets included.
  template <typename F>
  static void for_each_use(const ir::Function& func, ir::Inst inst, F&& visit);

  ir::ControlFlow flow_;
  std::vector<std::uint8_t> marked_;    // by value
  std::vector<std::uint32_t> numbers_;  // by value: in references_
  std::vector<Reference> references_;   // in order of definition, blocks in reverse postorder
  std::vector<std::uint32_t> block_first_, block_end_;  // positions, by block
  std::vector<Pair> flows_;                             // from value, to value
  std::vector<Pair> exposed_;  // reference, block: uses of what comes from elsewhere
  std::vector<Pair> live_in_;  // block, reference
  std::vector<std::uint32_t> live_in_first_;
  std::vector<std::uint32_t> stamps_;  // by block or reference
  std::vector<std::uint32_t> live_, place_;
  std::vector<std::uint32_t> live_at_calls_;
  std::vector<Call> calls_;
  std::vector<std::uint32_t> work_, order_;
  std::vector<Pair> busy_;
  std::uint32_t slots_ = 0;
};

/// Proves what ReferenceSlots did, without its data: at each call, every marked value that is live
/// behind it lies in a slot of the call's stack map on all paths, and every slot of the map holds a
/// marked value or null. Empty if so, else a message. For tests, fuzzing and --verify: quadratic.
std::string check_reference_slots(const ir::Function& func);

}  // namespace hoist::opt
