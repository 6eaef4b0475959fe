// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Trap values: from raw addresses to frames with names, and as Errors on their way to the caller.

#include "hoist/trap.hpp"
#include "image/layout/trap_code.hpp"
#include "jit/frame_walk.hpp"

namespace hoist::runtime {

/// Frames that one trap keeps at most; the middle of a deeper stack is left out.
inline constexpr std::size_t kMostFrames = std::size_t{2} * jit::RawTrace::kEnds;

struct TrapDetail : hoist::detail::ErrorDetail {
  explicit TrapDetail(hoist::Trap::Parts parts);
  hoist::Trap trap;
};

/// A trap without frames; `what` is appended to the specification's message if not empty.
Error trap_error(image::TrapCode code, std::string what = {});
/// `error` with the frames of one activation appended to those it has. A carried exception and a
/// guest's exit stay as they are.
Error with_frames(Error error, const jit::RawTrace& trace);
/// Frames of `trace`, appended.
void append_frames(hoist::Trap::Parts& parts, const jit::RawTrace& trace);

}  // namespace hoist::runtime
