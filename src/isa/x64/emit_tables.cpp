// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Side tables of a function from the records in its code: calls with handlers, stack maps, debug
// tags, patchable calls, the description of its frame.
#include "isa/x64/emit_internal.hpp"

namespace hoist::isa::x64 {

using codegen::CallNote;
using codegen::CompiledCode;
using codegen::MachHandler;

void Emitter::record_call(const MachInst& inst) {
  if (inst.imm == 0) return mark(Mark::Call);
  state_.calls.push_back({static_cast<std::uint32_t>(&inst - func_.insts.data()), block_});
  mark(Mark::Call, static_cast<std::uint32_t>(state_.calls.size()));
}

void Emitter::fill_tables(CompiledCode& out) const {
  fill_slots(out);
  std::vector<EpilogueRange>& epilogues = state_.epilogues;
  epilogues.clear();
  for (const masm::CallRecord& record : buffer_.calls()) {
    const std::uint32_t number = record.data >> 2;
    switch (static_cast<Mark>(record.data & 3)) {
      case Mark::Call:
        out.call_returns.push_back(record.offset);
        if (number != 0) fill_call(record.offset, state_.calls[number - 1], out);
        break;
      case Mark::SequencePoint: fill_tags(func_.notes[number - 1], record.offset, true, out); break;
      case Mark::EpilogueBegin: epilogues.push_back({record.offset, out.code_size}); break;
      case Mark::EpilogueEnd: epilogues.back().end = record.offset; break;
    }
  }
  describe_frame(frame_, out.prologue_end, out.code_size, epilogues, out.tables.unwind);
}

/// Slots that a key or a tag names: all of the function's, so that tags keep their numbers.
void Emitter::fill_slots(CompiledCode& out) const {
  bool wanted = !func_.debug_tags.empty();
  for (const ir::StackSlotData& slot : func_.stack_slots) wanted |= slot.has_key;
  if (!wanted) return;
  for (std::size_t i = 0; i < func_.stack_slots.size(); ++i) {
    const ir::StackSlotData& slot = func_.stack_slots[i];
    out.tables.slots.push_back(
        {slot.key, slot.has_key, static_cast<std::uint32_t>(-frame_.stack_slots[i]), slot.bytes});
  }
}

void Emitter::fill_call(std::uint32_t return_offset, const NotedCall& call,
                        CompiledCode& out) const {
  constexpr std::uint32_t kCallBytes = 5;  // call rel32
  const CallNote& note = func_.notes[static_cast<std::size_t>(inst_at(call.inst).imm) - 1];
  if (note.patchable) out.tables.patch_sites.push_back({return_offset, kCallBytes});
  fill_tags(note, return_offset, false, out);
  if (note.map_entry_count != 0) {
    for (std::uint32_t i = 0; i < note.map_entry_count; ++i) {
      const ir::StackMapEntry& entry = func_.stack_map[note.first_map_entry + i];
      const std::int32_t slot = frame_.stack_slots[entry.slot.index()];
      out.tables.stack_map.push_back(
          {frame_.frame_bytes - static_cast<std::uint32_t>(-slot) + entry.offset,
           entry.type.bytes()});
    }
    out.tables.safe_points.push_back({return_offset, frame_.frame_bytes,
                                      static_cast<std::uint32_t>(out.tables.stack_map.size())});
  }
  if (note.handler_count == 0) return;
  fill_handlers(note, call, out);
  out.tables.call_sites.push_back(
      {return_offset, frame_.frame_bytes, static_cast<std::uint32_t>(out.tables.handlers.size())});
}

void Emitter::fill_tags(const CallNote& note, std::uint32_t offset, bool before,
                        CompiledCode& out) const {
  if (note.tag_count == 0) return;
  for (std::uint32_t i = 0; i < note.tag_count; ++i) {
    const ir::DebugTag& tag = func_.debug_tags[note.first_tag + i];
    out.tables.tags.push_back({tag.kind == ir::DebugTag::Kind::StackSlot, tag.value});
  }
  out.tables.points.push_back({offset, before, static_cast<std::uint32_t>(out.tables.tags.size())});
}

void Emitter::fill_handlers(const CallNote& note, const NotedCall& call, CompiledCode& out) const {
  const Allocs ops = allocs_of(inst_at(call.inst));
  const auto succs = func_.succs_of(func_.blocks[call.block]);
  std::uint32_t context = image::kAbsent;
  for (std::uint32_t i = 0; i < note.handler_count; ++i) {
    const MachHandler& handler = func_.handlers[note.first_handler + i];
    if (handler.kind == MachHandler::Kind::Context) {
      const Alloc at = ops[handler.where];
      HOIST_CHECK(at.is_slot(), "a dynamic context is in a spill slot");
      const std::int32_t below = frame_.spill_base + 8 * std::int32_t{at.slot};
      context = static_cast<std::uint32_t>(static_cast<std::int32_t>(frame_.frame_bytes) + below);
      continue;
    }
    const Label landing = block_label(succs[handler.where].target);
    const bool any = handler.kind == MachHandler::Kind::Default;
    out.tables.handlers.push_back({any, handler.tag, context, buffer_.label_offset(landing)});
  }
}

}  // namespace hoist::isa::x64
