// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Where everything of a frame lies; the picture is in abi.hpp.

#include <cstdint>
#include <span>
#include <vector>

#include "asm/x64/regs.hpp"
#include "base/result.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "image/tables/function_tables.hpp"

namespace hoist::isa::x64 {

struct FrameLayout {
  std::vector<masm::x64::Gpr> saved;      ///< in the order of pushes
  std::vector<masm::x64::Xmm> saved_xmm;  ///< 16 bytes each, downwards from below `saved`
  std::vector<std::int32_t> stack_slots;  ///< offsets from rbp
  std::int32_t spill_base = 0;            ///< offset of spill slot 0 from rbp
  std::uint32_t frame_bytes = 0;          ///< below rbp, a multiple of 16
  std::uint32_t context_bytes = 0;        ///< right below rbp: the context for traps that are calls
  std::uint32_t below_saved = 0;          ///< frame_bytes without context and saved registers
  bool has_frame = true;                  ///< false: no rbp, nothing on the stack
};

/// Offset from rbp of the vector register saved as number `index`.
std::int32_t saved_xmm_at(const FrameLayout& frame, std::size_t index);

/// An epilogue: from `begin` on the caller's frame is back, at `end` comes other code.
struct EpilogueRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};
/// Describes frames that begin with push rbp and mov rbp, rsp and have saved their registers at
/// `prologue_end`.
void describe_frame(const FrameLayout& frame, std::uint32_t prologue_end, std::uint32_t code_size,
                    std::span<const EpilogueRange> epilogues, std::vector<image::UnwindOp>& out);

/// Fills `out`. Errors: see emit_function.
Result<void> layout_frame(const codegen::MachFunction& func, const codegen::Allocation& alloc,
                          FrameLayout& out);

}  // namespace hoist::isa::x64
