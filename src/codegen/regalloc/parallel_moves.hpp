// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Puts copies that are meant to happen at once into an order in which they can happen one after
/// another.

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/regalloc/allocation.hpp"
#include "codegen/regalloc/values.hpp"

namespace hoist::codegen {

/// A place as one number: registers as in PReg, then spill slots.
inline constexpr std::uint32_t kFirstSlotPlace = 64;
inline constexpr std::uint32_t kNoPlace = 0xffff'ffff;

class ParallelMoves {
 public:
  struct Move {
    std::uint32_t to;
    std::uint32_t from = kNoPlace;  ///< kNoPlace: rematerialise
    std::uint32_t remat = kNoInst;
    RegClass cls = RegClass::Int;
    std::uint8_t bytes = 8;
    AllocMove::Kind kind = AllocMove::Kind::Copy;
  };

  /// `places`: one more than the highest place. Cycles of integer registers become exchanges, those
  /// of float registers go through `scratch`, all others through the slots at `temp8` and `temp16`.
  void start(std::size_t places, PReg scratch, std::uint32_t temp8, std::uint32_t temp16);
  /// Each `to` at most once; 16-byte slots never overlap 8-byte ones.
  void add(const Move& move);
  bool empty() const { return moves_.empty(); }
  /// The steps, in order; valid until the next `add`.
  std::span<const Move> resolve();
  bool used_temp8() const { return used_temp8_; }
  bool used_temp16() const { return used_temp16_; }

 private:
  void break_cycle(std::size_t first);
  std::uint32_t temporary(std::size_t first);

  std::vector<Move> moves_;
  std::vector<std::uint32_t> writer_;   // place -> 1 + index of the pending move to it
  std::vector<std::uint32_t> readers_;  // place -> pending moves from it
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint8_t> done_;
  std::vector<Move> steps_;
  std::uint32_t scratch_ = kNoPlace;
  std::uint32_t temp8_ = kNoPlace;
  std::uint32_t temp16_ = kNoPlace;
  bool used_temp8_ = false;
  bool used_temp16_ = false;
};

}  // namespace hoist::codegen
