// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What the allocators know about each virtual register, and the measure of next-use distances.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/mach/machine.hpp"

namespace hoist::codegen {

inline constexpr std::uint8_t kNoReg = 0xff;
inline constexpr std::uint32_t kNoInst = 0xffff'ffff;

/// Next uses are instruction numbers of the same block; what lies beyond the block is the number of
/// its end plus a distance in instructions. Saturating.
inline constexpr std::uint32_t kDead = 0xffff'ffff;   ///< no further use
inline constexpr std::uint32_t kFar = 0xffff'0000;    ///< live, but the distance is not known
inline constexpr std::uint32_t kBlockCap = 1u << 20;  ///< most that one block adds
inline constexpr std::uint32_t kColdEdge = 1u << 24;  ///< added by an edge into a cold block
inline constexpr std::uint32_t kLoopExit = 1u << 27;  ///< added by an edge that leaves loops
/// From here on a distance means: not used, or only in cold code, before the loop is left.
inline constexpr std::uint32_t kUnneeded = kColdEdge;

constexpr std::uint32_t add_distance(std::uint32_t a, std::uint32_t b) {
  return a >= kFar - b ? kFar : a + b;
}

struct ValueInfo {
  static constexpr std::uint32_t kLocal = 0xffff'ffff;

  std::uint32_t def_block = kNoInst;
  std::uint32_t def_inst = kNoInst;  ///< kNoInst for a block parameter
  std::uint32_t global = kLocal;     ///< index among the values used outside of their block
  std::uint32_t local_end = 0;       ///< last use in the defining block; its end where live out
  std::uint32_t use_weight = 0;      ///< frequencies of all uses
  std::uint32_t cross_weight = 0;    ///< frequencies of all calls that it is live across
  std::uint32_t hint_weight = 0;
  std::uint32_t store_weight = 0;  ///< frequencies of the stores where it leaves a register
  VReg affinity;                   ///< the block parameter that it becomes
  std::uint32_t affinity_weight = 0;
  std::uint32_t slot = 0;
  std::uint8_t hint = kNoReg;     ///< the register that a use wants
  std::uint8_t def_reg = kNoReg;  ///< where it was defined; block parameters: register at entry
  RegClass cls = RegClass::Int;
  std::uint8_t bytes = 8;
  bool remat = false;      ///< made again from def_inst instead of spilled
  bool in_memory = false;  ///< needs a spill slot
  bool store_at_def = false;
};

using ValueTable = std::vector<ValueInfo>;

/// Weights stop well below the point where a sum of two overflows.
inline void saturating_add(std::uint32_t& sum, std::uint32_t add) {
  sum = sum > 0x7fff'ffffu - add ? 0x7fff'ffffu : sum + add;
}

}  // namespace hoist::codegen
