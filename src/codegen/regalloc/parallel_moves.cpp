// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See parallel_moves.hpp.

#include "codegen/regalloc/parallel_moves.hpp"

namespace hoist::codegen {

void ParallelMoves::start(std::size_t places, PReg scratch, std::uint32_t temp8,
                          std::uint32_t temp16) {
  moves_.clear();
  if (writer_.size() < places) {
    writer_.resize(places, 0);
    readers_.resize(places, 0);
  }
  scratch_ = scratch.index;
  temp8_ = temp8;
  temp16_ = temp16;
  used_temp8_ = used_temp16_ = false;
}

void ParallelMoves::add(const Move& move) {
  if (move.to != move.from) moves_.push_back(move);
}

std::span<const ParallelMoves::Move> ParallelMoves::resolve() {
  steps_.clear();
  if (moves_.size() <= 1) {
    steps_ = moves_;
    moves_.clear();
    return steps_;
  }
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    writer_[moves_[i].to] = static_cast<std::uint32_t>(i + 1);
    if (moves_[i].from != kNoPlace) ++readers_[moves_[i].from];
  }
  ready_.clear();
  done_.assign(moves_.size(), 0);
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    if (readers_[moves_[i].to] == 0) ready_.push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t next = 0; next < ready_.size(); ++next) {
    const Move& move = moves_[ready_[next]];
    done_[ready_[next]] = 1;
    steps_.push_back(move);
    if (move.from == kNoPlace || --readers_[move.from] != 0) continue;
    const std::uint32_t blocked = writer_[move.from];
    if (blocked != 0 && done_[blocked - 1] == 0) ready_.push_back(blocked - 1);
  }
  // What is left are cycles: each place in them is read once and written once.
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    if (done_[i] == 0) break_cycle(i);
  }
  for (const Move& move : moves_) {
    writer_[move.to] = 0;
    if (move.from != kNoPlace) readers_[move.from] = 0;
  }
  moves_.clear();
  return steps_;
}

// The place that keeps what moves_[first] overwrites, or kNoPlace for exchanges.
std::uint32_t ParallelMoves::temporary(std::size_t first) {
  bool all_int = true;
  bool all_float = true;
  std::size_t i = first;
  do {
    all_int = all_int && moves_[i].to < 32;
    all_float = all_float && moves_[i].to >= 32 && moves_[i].to < kFirstSlotPlace;
    i = writer_[moves_[i].from] - 1;
  } while (i != first);
  if (all_int) return kNoPlace;
  if (all_float) return scratch_;
  // The slot must be as wide as the value, which is known to the move that reads it.
  while (moves_[i].from != moves_[first].to) i = writer_[moves_[i].from] - 1;
  const bool wide = moves_[i].bytes == 16;
  (wide ? used_temp16_ : used_temp8_) = true;
  return wide ? temp16_ : temp8_;
}

void ParallelMoves::break_cycle(std::size_t first) {
  const std::uint32_t temp = temporary(first);
  const std::uint32_t start = moves_[first].to;
  const std::size_t saved = steps_.size();
  if (temp != kNoPlace) steps_.push_back({});  // filled in below
  for (std::size_t i = first;;) {
    Move move = moves_[i];
    done_[i] = 1;
    const bool last = move.from == start;
    if (temp == kNoPlace) {
      if (last) return;  // the exchanges have brought it there
      move.kind = AllocMove::Kind::Exchange;
      steps_.push_back(move);
    } else if (last) {
      Move save = move;
      save.to = temp;
      steps_[saved] = save;
      move.from = temp;
      steps_.push_back(move);
      return;
    } else {
      steps_.push_back(move);
    }
    i = writer_[move.from] - 1;
  }
}

}  // namespace hoist::codegen
