// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The optimising register allocator: one scan over the blocks in reverse postorder that carries
/// the contents of the register file along the control flow (not along the layout).
///
/// Before the scan: liveness, next-use distances across blocks, loops with their register pressure,
/// and hints. In the scan a value leaves its register when the register is needed and the value's
/// next use is the farthest (loop exits and cold blocks count as far); where control flow meets,
/// the state of the most frequent predecessor is taken over, and a loop is entered with what its
/// body uses. A value is stored at most once per path: after its definition or where it leaves its
/// register, whichever is executed less often. After the scan: spill slots are shared by values
/// that are never live together, and the differences on edges become parallel copies.
///
/// Cost: near-linear; memory is kept between functions.
/// Source: S. Hack, "Register Spilling and Live-Range Splitting for SSA-Form Programs" (with M.
/// Braun, 2009) for the choice of what to keep; C. Wimmer, M. Franz, "Linear Scan Register
/// Allocation on SSA Form" (2010) for allocating out of SSA form.

#include <memory>

#include "codegen/regalloc/allocation.hpp"

namespace hoist::codegen {

class LinearScanAllocator final : public RegAllocator {
 public:
  LinearScanAllocator();
  ~LinearScanAllocator() override;
  Result<void> run(const MachFunction& func, const RegisterFile& regs, Allocation& out) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hoist::codegen
