// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The allocator of optimisation level 0: block by block, no liveness, no loops. A value that is
/// used outside of its block is stored right after its definition and read from its spill slot
/// elsewhere; block parameters live in their slots.

#include <memory>

#include "codegen/regalloc/allocation.hpp"

namespace hoist::codegen {

class SimpleAllocator final : public RegAllocator {
 public:
  SimpleAllocator();
  ~SimpleAllocator() override;
  Result<void> run(const MachFunction& func, const RegisterFile& regs, Allocation& out) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hoist::codegen
