// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the code generator says about one function besides its code: the input of the table
/// writers in this folder. Offsets are relative to the function's first byte; every list ascends by
/// offset. A function that uses none of it has empty lists (but for `unwind`).

#include <cstdint>
#include <vector>

#include "image/layout/func_key.hpp"

namespace hoist::image {

/// Stands for "none" in a column.
inline constexpr std::uint32_t kAbsent = 0xffff'ffff;

/// A call that may end in a handler. Its handlers are those from the previous site's
/// `handler_end` to its own.
struct CallSite {
  std::uint32_t return_offset = 0;
  std::uint32_t frame_bytes = 0;  ///< frame pointer minus stack pointer at the call
  std::uint32_t handler_end = 0;
};
struct HandlerEntry {
  bool catches_all = false;
  std::uint32_t tag = 0;            ///< unless it catches all
  std::uint32_t context = kAbsent;  ///< of 8 bytes, its distance above the stack pointer
  std::uint32_t landing = 0;        ///< code offset where execution resumes
};

/// A call with references in the frame; slots as for CallSite.
struct SafePoint {
  std::uint32_t return_offset = 0;
  std::uint32_t frame_bytes = 0;
  std::uint32_t slot_end = 0;
};
struct StackMapSlot {
  std::uint32_t sp_offset = 0;
  std::uint32_t bytes = 0;
};

/// A call instruction of fixed length that may be overwritten by no-operations.
struct PatchSite {
  std::uint32_t return_offset = 0;
  std::uint32_t length = 0;
};

/// A sized stack slot as metadata knows it.
struct DebugSlot {
  std::uint64_t key = 0;
  bool has_key = false;
  std::uint32_t below_fp = 0;  ///< frame pointer minus the slot's address
  std::uint32_t bytes = 0;
};
struct DebugTag {
  bool is_slot = false;  ///< `value` is a number in FunctionTables::slots
  std::uint32_t value = 0;
};
/// Tags of a call (at its return address) or of a sequence point (before the instruction at
/// `offset`).
struct DebugPoint {
  std::uint32_t offset = 0;
  bool before = false;
  std::uint32_t tag_end = 0;
};

/// One inlined call: what `callee` was inlined into (another inlined call or, kAbsent, the function
/// itself), and the source location of the call there.
struct InlineFrame {
  FuncKey callee;
  std::uint32_t parent = kAbsent;  ///< a smaller number in FunctionTables::inline_frames
  std::uint32_t call_source = kAbsent;
};
/// From `offset` to the next range, code belongs to `frame` (kAbsent: the function itself).
struct InlineRange {
  std::uint32_t offset = 0;
  std::uint32_t frame = kAbsent;
};

/// One step of the description of frames, in DWARF's terms; see eh_frame.hpp.
struct UnwindOp {
  enum class Kind : std::uint8_t {
    DefCfa,          ///< CFA = reg + value
    DefCfaOffset,    ///< CFA = the same register + value
    DefCfaRegister,  ///< CFA = reg + the same offset
    Saved,           ///< the caller's `reg` is at CFA - value
    Restore,         ///< the caller's `reg` is where it was at entry
    RememberState,
    RestoreState,
  };
  std::uint32_t offset = 0;  ///< holds from this code offset on
  Kind kind = Kind::DefCfa;
  std::uint8_t reg = 0;  ///< DWARF number
  std::uint32_t value = 0;
};

struct FunctionTables {
  std::vector<CallSite> call_sites;
  std::vector<HandlerEntry> handlers;
  std::vector<SafePoint> safe_points;
  std::vector<StackMapSlot> stack_map;
  std::vector<PatchSite> patch_sites;
  std::vector<DebugSlot> slots;
  std::vector<DebugPoint> points;
  std::vector<DebugTag> tags;
  std::vector<InlineFrame> inline_frames;
  std::vector<InlineRange> inline_ranges;
  std::vector<UnwindOp> unwind;

  /// Nothing but `unwind`.
  bool is_plain() const {
    return call_sites.empty() && safe_points.empty() && patch_sites.empty() && slots.empty() &&
           points.empty() && inline_frames.empty();
  }
  void clear() {
    call_sites.clear();
    handlers.clear();
    safe_points.clear();
    stack_map.clear();
    patch_sites.clear();
    slots.clear();
    points.clear();
    tags.clear();
    inline_frames.clear();
    inline_ranges.clear();
    unwind.clear();
  }
};

}  // namespace hoist::image
