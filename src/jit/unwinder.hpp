// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Finding the handler of an exception: walks frames by their frame pointers, looks up each return
/// address in the exception table of its image, and decodes nothing. Reads only the stack and
/// tables and takes no lock, so that it can run in a signal handler too.
///
/// An exception leaves compiled code only towards frames of the same activation: the walk ends at
/// the frame pointer of the entry. Frames without entries in a table are passed over.

#include <cstdint>
#include <optional>

#include "base/function_ref.hpp"

namespace hoist::jit {

/// Where to go on, with what platform::resume_at or a signal context needs. The payload words are
/// for whoever resumes.
struct Handler {
  std::uintptr_t pc = 0;
  std::uintptr_t sp = 0;
  std::uintptr_t fp = 0;
};

/// Whether a handler for `tag` takes the exception; `context` is the value of the dynamic context
/// that its list gave last before it, nothing if there was none. Contexts narrower than 64 bits
/// have unspecified upper bits, but i32 has zeros.
using MatchTag =
    base::FunctionRef<bool(std::uint32_t tag, const std::optional<std::uint64_t>& context)>;

/// The first handler that takes the exception, from the call that returns to `pc` in the frame of
/// `fp` outwards; the frame of `end_fp` is not looked at. Handlers of a call are asked in their
/// order.
std::optional<Handler> find_handler(std::uintptr_t pc, std::uintptr_t fp, std::uintptr_t end_fp,
                                    MatchTag matches);

/// Calls `visit` with each reference that a stack map of the same frames names.
void visit_references(std::uintptr_t pc, std::uintptr_t fp, std::uintptr_t end_fp,
                      base::FunctionRef<void(std::uint64_t word)> visit);

}  // namespace hoist::jit
