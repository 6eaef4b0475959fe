// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Walks compiled frames by their frame pointers. Reads only the stack, so that it can run in a
/// signal handler; what the addresses mean is looked up later.

#include <cstdint>

#include "base/bits.hpp"

namespace hoist::jit {

/// The pcs of a walk, innermost first: all of them, or the first and the last kEnds of a deep
/// stack.
class RawTrace {
 public:
  static constexpr std::uint32_t kEnds = 48;

  void clear() { total_ = 0; }
  void add(std::uintptr_t pc) {
    if (total_ < kEnds) {
      first_[total_] = pc;
    } else {
      last_[total_ % kEnds] = pc;
    }
    ++total_;
  }
  std::uint64_t total() const { return total_; }
  std::uint32_t kept() const {
    return total_ <= std::uint64_t{2} * kEnds ? static_cast<std::uint32_t>(total_) : 2 * kEnds;
  }
  std::uint64_t omitted() const { return total_ - kept(); }
  /// `i` counts the kept ones; omitted ones lie before kept number kEnds.
  std::uintptr_t pc(std::uint32_t i) const {
    return i < kEnds ? first_[i] : last_[(i + omitted()) % kEnds];
  }

 private:
  std::uint64_t total_ = 0;
  std::uintptr_t first_[kEnds];
  std::uintptr_t last_[kEnds];
};

/// Walks from `pc` in the frame of `fp` outwards to the frame pointer `end_fp` (not included) and
/// calls `visit(pc)` for each frame: the first pc is that of the innermost instruction, the others
/// are return addresses. Stops early at anything that is not a chain of frames going up.
template <typename Visit>
void walk_frames(std::uintptr_t pc, std::uintptr_t fp, std::uintptr_t end_fp, Visit&& visit) {
  while (fp != end_fp && fp < end_fp && fp % 8 == 0 && fp != 0) {
    visit(pc);
    const auto* frame = reinterpret_cast<const std::uintptr_t*>(fp);
    const std::uintptr_t next = frame[0];
    pc = frame[1];
    if (next <= fp) return;
    fp = next;
  }
}

}  // namespace hoist::jit
