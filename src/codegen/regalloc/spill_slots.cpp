// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See spill_slots.hpp.

#include "codegen/regalloc/spill_slots.hpp"

#include <algorithm>
#include <string>

namespace hoist::codegen {

namespace {
constexpr std::uint32_t kMostSlots = 65'535;
constexpr std::uint32_t kForever = 0xffff'ffff;

Result<std::uint32_t> checked(std::uint32_t slots) {
  if (slots <= kMostSlots) return slots;
  return Error(ErrorKind::Limit, "the function needs " + std::to_string(slots) +
                                     " spill slots, allowed are " + std::to_string(kMostSlots));
}
}  // namespace

void SpillSlots::place_blocks(const MachFunction& func, const Flow* flow) {
  block_start_.resize(func.blocks.size());
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < func.blocks.size(); ++i) {
    const std::uint32_t b = flow != nullptr ? flow->order()[i] : i;
    block_start_[b] = at;
    at += func.blocks[MachBlock(b)].end_inst - func.blocks[MachBlock(b)].first_inst;
  }
}

Result<std::uint32_t> SpillSlots::assign(const MachFunction& func, const Flow& flow,
                                         const Liveness& live, ValueTable& values) {
  spans_.clear();
  place_blocks(func, &flow);
  std::size_t open = 0;
  for (std::uint32_t v = 0; v < values.size(); ++v) {
    if (!values[v].in_memory) continue;
    const MachBlockData& block = func.blocks[MachBlock(values[v].def_block)];
    const std::uint32_t base = block_start_[values[v].def_block];
    const std::uint32_t at =
        values[v].def_inst == kNoInst ? base : base + values[v].def_inst - block.first_inst;
    const std::uint32_t end =
        base + std::min(values[v].local_end + 1, block.end_inst) - block.first_inst;
    spans_.push_back({at, end, v});
    if (values[v].global != ValueInfo::kLocal) ++open;
  }
  if (spans_.empty()) return std::uint32_t{0};
  if (open != 0) {
    constexpr std::uint32_t kWanted = 0xffff'fffe;
    last_block_.assign(live.global_count(), Flow::kNone);
    for (const Span& span : spans_) {
      if (values[span.vreg].global != ValueInfo::kLocal)
        last_block_[values[span.vreg].global] = kWanted;
    }
    const auto order = flow.order();
    for (std::size_t i = order.size(); i-- > 0 && open != 0;) {
      live.for_each_live_in(order[i], [&](std::uint32_t g) {
        if (last_block_[g] != kWanted) return;
        last_block_[g] = order[i];
        --open;
      });
    }
    for (Span& span : spans_) {
      const std::uint32_t g = values[span.vreg].global;
      if (g == ValueInfo::kLocal || last_block_[g] == kWanted) continue;
      const MachBlockData& block = func.blocks[MachBlock(last_block_[g])];
      span.end = block_start_[last_block_[g]] + block.end_inst - block.first_inst;
    }
  }
  const std::uint32_t wide = share(func, values, 16, 0);
  return checked(share(func, values, 8, wide));
}

Result<std::uint32_t> SpillSlots::assign_local(const MachFunction& func, ValueTable& values) {
  spans_.clear();
  place_blocks(func, nullptr);
  for (std::uint32_t v = 0; v < values.size(); ++v) {
    if (!values[v].in_memory) continue;
    const MachBlockData& block = func.blocks[MachBlock(values[v].def_block)];
    const std::uint32_t base = block_start_[values[v].def_block];
    const bool is_param = values[v].def_inst == kNoInst;
    const std::uint32_t at = is_param ? base : base + values[v].def_inst - block.first_inst;
    // Parameters are written at the end of other blocks.
    if (is_param || values[v].global != ValueInfo::kLocal) {
      spans_.push_back({0, kForever, v});
    } else {
      const std::uint32_t end =
          base + std::min(values[v].local_end + 1, block.end_inst) - block.first_inst;
      spans_.push_back({at, end, v});
    }
  }
  const std::uint32_t wide = share(func, values, 16, 0);
  return checked(share(func, values, 8, wide));
}

// Slots of one width, from `first_slot` on; returns the end. A value prefers the slot of the
// parameter that it becomes.
std::uint32_t SpillSlots::share(const MachFunction& func, ValueTable& values, unsigned bytes,
                                std::uint32_t first_slot) {
  static_cast<void>(func);
  const std::uint32_t width = bytes / 8;
  std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    return a.start != b.start ? a.start < b.start : a.vreg < b.vreg;
  });
  const auto later = [](const Busy& a, const Busy& b) {
    return a.end != b.end ? a.end > b.end : a.slot > b.slot;
  };
  heap_.clear();
  free_.clear();
  slot_end_.clear();
  for (const Span& span : spans_) {
    ValueInfo& value = values[span.vreg];
    if (value.bytes != bytes) continue;
    while (!heap_.empty() && heap_.front().end <= span.start) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      if (slot_end_[heap_.back().slot] == heap_.back().end) free_.push_back(heap_.back().slot);
      heap_.pop_back();
    }
    // An entry of the free list is stale where its slot was taken by preference meanwhile.
    while (!free_.empty() && slot_end_[free_.back()] > span.start) free_.pop_back();
    std::uint32_t slot = static_cast<std::uint32_t>(slot_end_.size());
    const ValueInfo* param = value.affinity.is_some() ? &values[value.affinity.index()] : nullptr;
    const std::uint32_t wish = param != nullptr && param->in_memory && param->bytes == bytes
                                   ? (param->slot - first_slot) / width
                                   : slot;
    if (wish < slot_end_.size() && slot_end_[wish] <= span.start) {
      slot = wish;
    } else if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    } else {
      slot_end_.push_back(0);
    }
    slot_end_[slot] = span.end;
    value.slot = first_slot + slot * width;
    heap_.push_back({span.end, slot});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  return first_slot + static_cast<std::uint32_t>(slot_end_.size()) * width;
}

}  // namespace hoist::codegen
