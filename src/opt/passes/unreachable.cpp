// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/passes.hpp"

namespace hoist::opt {

std::uint64_t remove_unreachable(ir::Function& func, const ir::ControlFlow& flow) {
  std::uint64_t removed = 0;
  for (ir::Block block = func.first_block(); block.is_some();) {
    const ir::Block next = func.next_block(block);
    if (!flow.is_reachable(block)) {
      func.remove_block(block);
      ++removed;
    }
    block = next;
  }
  return removed;
}

}  // namespace hoist::opt
