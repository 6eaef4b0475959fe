// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Where everything of a frame lies; the picture is in abi.hpp.

#include <cstdint>
#include <vector>

#include "asm/x64/regs.hpp"
#include "base/result.hpp"
#include "codegen/mach/machine.hpp"
#include "codegen/regalloc/allocation.hpp"

namespace hoist::isa::x64 {

struct FrameLayout {
  std::vector<masm::x64::Gpr> saved;      ///< in the order of pushes
  std::vector<std::int32_t> stack_slots;  ///< offsets from rbp
  std::int32_t spill_base = 0;            ///< offset of spill slot 0 from rbp
  std::uint32_t frame_bytes = 0;          ///< below rbp, a multiple of 16
  std::uint32_t below_saved = 0;          ///< frame_bytes without the saved registers
  bool has_frame = true;                  ///< false: no rbp, nothing on the stack
};

/// Fills `out`. Errors: see emit_function.
Result<void> layout_frame(const codegen::MachFunction& func, const codegen::Allocation& alloc,
                          FrameLayout& out);

}  // namespace hoist::isa::x64
