// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// BodyScan: what the translation of some functions must know before it begins: which parts of the
/// function assign which locals (of large ones), and the clauses of legacy try blocks, which stand
/// behind the code that they are for.

#include <cstdint>
#include <span>
#include <vector>

#include "ir/assignments.hpp"
#include "wasm/decode/null_sink.hpp"

namespace hoist::translate {

/// The legacy try blocks of a function in the order of their beginnings; those in dead code are not
/// there, as they are not for the translation.
struct LegacyTries {
  static constexpr std::uint32_t kAll = 0xffff'ffff;
  struct Try {
    std::vector<std::uint32_t> tags;  ///< of its catch parts, in order; kAll for catch_all
    bool delegates = false;
    std::uint32_t skipped = 0;  ///< delegates: so many try blocks around it are passed over
  };
  std::vector<Try> tries;
  bool has_rethrow = false;
};

class BodyScan : public wasm::NullSink {
 public:
  ir::Assignments assignments;
  LegacyTries legacy;

  void begin(const wasm::BodyInfo& info, Frame&) {
    assignments.start(info.num_locals);
    legacy.tries.clear();
    legacy.has_rethrow = false;
    open_.assign(1, kPlain);
  }
  void block(const wasm::BlockType&, Frame&) { open(ir::RegionKind::Plain); }
  void loop(const wasm::BlockType&, Frame&, Out) { open(ir::RegionKind::Loop); }
  void if_(const wasm::BlockType&, Frame&, Value, In) {
    open(ir::RegionKind::Choice);
    assignments.open(ir::RegionKind::Plain);
  }
  void else_(const wasm::BlockType&, Frame&, bool, In, bool) {
    assignments.close();
    assignments.open(ir::RegionKind::Plain);
  }
  void end(wasm::FrameKind kind, const wasm::BlockType&, Frame&, bool, bool, Out) {
    if (kind == wasm::FrameKind::Func) return;
    if (kind == wasm::FrameKind::If || kind == wasm::FrameKind::Else) assignments.close();
    assignments.close();
    open_.pop_back();
  }
  void local_set(std::uint32_t local, wasm::ValType, Value) {
    assignments.assign(ir::Variable(local));
  }
  Value local_tee(std::uint32_t local, wasm::ValType, Value) {
    assignments.assign(ir::Variable(local));
    return {};
  }

  void try_table(const wasm::BlockType&, Frame&, std::span<const wasm::CatchClause>,
                 const wasm::Labels<Frame>&) {
    open(ir::RegionKind::Plain);
    open_.back() = kTryTable;
  }
  void try_(const wasm::BlockType&, Frame&) {
    open(ir::RegionKind::Plain);
    open_.back() = static_cast<std::uint32_t>(legacy.tries.size());
    legacy.tries.emplace_back();
    caught_.resize(legacy.tries.size());
    caught_.back() = false;
  }
  void catch_(const wasm::BlockType&, Frame&, std::uint32_t tag, bool, In, Out) { part(tag); }
  void catch_all(const wasm::BlockType&, Frame&, bool, In) { part(LegacyTries::kAll); }
  void rethrow(const wasm::Label<Frame>&) { legacy.has_rethrow = true; }
  void delegate(const wasm::BlockType&, Frame&, const wasm::Label<Frame>& to, bool, bool, Out) {
    LegacyTries::Try& ended = legacy.tries[open_.back()];
    assignments.close();
    open_.pop_back();
    ended.delegates = true;
    const std::size_t target = open_.size() - 1 - to.depth;
    for (std::size_t i = target + 1; i < open_.size(); ++i) {
      const bool catches = open_[i] == kTryTable || (open_[i] < kTryTable && !caught_[open_[i]]);
      ended.skipped += catches ? 1 : 0;
    }
  }

 private:
  static constexpr std::uint32_t kPlain = 0xffff'ffff;
  static constexpr std::uint32_t kTryTable = 0xffff'fffe;

  void open(ir::RegionKind kind) {
    assignments.open(kind);
    open_.push_back(kPlain);
  }
  void part(std::uint32_t tag) {
    const std::uint32_t number = open_.back();
    legacy.tries[number].tags.push_back(tag);
    caught_[number] = true;
  }

  std::vector<std::uint32_t> open_;  // the function and its open blocks: the number of a legacy try
  std::vector<bool> caught_;         // by number: one of its catch parts has begun
};

}  // namespace hoist::translate
