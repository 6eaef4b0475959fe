// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See linear_scan.hpp.

#include "codegen/regalloc/linear_scan.hpp"

#include "codegen/regalloc/annotate.hpp"
#include "codegen/regalloc/flow.hpp"
#include "codegen/regalloc/liveness.hpp"
#include "codegen/regalloc/resolve.hpp"
#include "codegen/regalloc/scan.hpp"
#include "codegen/regalloc/simple.hpp"
#include "codegen/regalloc/spill_slots.hpp"

namespace hoist::codegen {

struct LinearScanAllocator::State {
  ValueTable values;
  Flow flow;
  Liveness live;
  Annotations notes;
  Scan scan;
  SpillSlots slots;
  Resolver resolver;
};

LinearScanAllocator::LinearScanAllocator() : state_(std::make_unique<State>()) {}
LinearScanAllocator::~LinearScanAllocator() = default;

Result<void> LinearScanAllocator::run(const MachFunction& func, const RegisterFile& regs,
                                      Allocation& out) {
  State& s = *state_;
  out.clear();
  out.allocs.resize(func.operands.size());
  s.live.scan(func, s.values);
  s.flow.compute(func);
  if (!s.live.solve(func, s.flow, s.values)) {
    // Its live sets would not fit into memory; the simple allocator needs none.
    return SimpleAllocator().run(func, regs, out);
  }
  s.notes.compute(func, s.flow, s.live, s.values);
  HOIST_TRY_VOID(s.scan.run(func, regs, &s.flow, &s.live, s.notes, s.values, out));
  HOIST_TRY(const std::uint32_t slots, s.slots.assign(func, s.flow, s.live, s.values));
  return s.resolver.run(func, regs, &s.flow, &s.live, s.scan.result(), s.values, slots, out);
}

std::unique_ptr<RegAllocator> make_allocator(AllocatorKind kind) {
  switch (kind) {
    case AllocatorKind::LinearScan: return std::make_unique<LinearScanAllocator>();
    case AllocatorKind::Simple: return std::make_unique<SimpleAllocator>();
  }
  HOIST_UNREACHABLE("an allocator kind");
}

}  // namespace hoist::codegen
