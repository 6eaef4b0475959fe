// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Numbers the spill slots: values that are never live at once share a slot.

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "codegen/regalloc/flow.hpp"
#include "codegen/regalloc/liveness.hpp"
#include "codegen/regalloc/values.hpp"

namespace hoist::codegen {

class SpillSlots {
 public:
  /// Gives `slot` to each value with `in_memory`. Lifetimes are taken as one stretch of blocks in
  /// reverse postorder, from the definition to the end of the last block that the value is live
  /// into.
  /// @return  the number of slots. Error: Limit above 65,535.
  Result<std::uint32_t> assign(const MachFunction& func, const Flow& flow, const Liveness& live,
                               ValueTable& values);
  /// Without liveness: a value that is used outside of its block has a slot for itself.
  Result<std::uint32_t> assign_local(const MachFunction& func, ValueTable& values);

 private:
  struct Span {
    std::uint32_t start;
    std::uint32_t end;  ///< exclusive
    std::uint32_t vreg;
  };
  struct Busy {
    std::uint32_t end;
    std::uint32_t slot;
  };

  void place_blocks(const MachFunction& func, const Flow* flow);
  std::uint32_t share(const MachFunction& func, ValueTable& values, unsigned bytes,
                      std::uint32_t first_slot);

  std::vector<Span> spans_;
  std::vector<std::uint32_t> block_start_;  // in the order of the scan
  std::vector<std::uint32_t> last_block_;   // by global
  std::vector<Busy> heap_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> slot_end_;
};

}  // namespace hoist::codegen
