// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simple allocator is the scan without knowledge beyond the block. See simple.hpp.

#include "codegen/regalloc/simple.hpp"

#include "codegen/regalloc/annotate.hpp"
#include "codegen/regalloc/liveness.hpp"
#include "codegen/regalloc/resolve.hpp"
#include "codegen/regalloc/scan.hpp"
#include "codegen/regalloc/spill_slots.hpp"

namespace hoist::codegen {

struct SimpleAllocator::State {
  ValueTable values;
  Liveness live;
  Annotations notes;
  Scan scan;
  SpillSlots slots;
  Resolver resolver;
};

SimpleAllocator::SimpleAllocator() : state_(std::make_unique<State>()) {}
SimpleAllocator::~SimpleAllocator() = default;

Result<void> SimpleAllocator::run(const MachFunction& func, const RegisterFile& regs,
                                  Allocation& out) {
  State& s = *state_;
  out.clear();
  out.allocs.resize(func.operands.size());
  s.live.scan(func, s.values);
  s.notes.compute_local(func, s.values);
  HOIST_TRY_VOID(s.scan.run(func, regs, nullptr, nullptr, s.notes, s.values, out));
  HOIST_TRY(const std::uint32_t slots, s.slots.assign_local(func, s.values));
  return s.resolver.run(func, regs, nullptr, nullptr, s.scan.result(), s.values, slots, out);
}

}  // namespace hoist::codegen
