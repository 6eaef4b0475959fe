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
    open_.assign(1, Open());
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
    ++open_.back().catching;
  }
  void try_(const wasm::BlockType&, Frame&) {
    open(ir::RegionKind::Plain);
    open_.back().number = static_cast<std::uint32_t>(legacy.tries.size());
    ++open_.back().catching;
    legacy.tries.emplace_back();
  }
  void catch_(const wasm::BlockType&, Frame&, std::uint32_t tag, bool, In, Out) { part(tag); }
  void catch_all(const wasm::BlockType&, Frame&, bool, In) { part(LegacyTries::kAll); }
  void rethrow(const wasm::Label<Frame>&) { legacy.has_rethrow = true; }
  void delegate(const wasm::BlockType&, Frame&, const wasm::Label<Frame>& to, bool, bool, Out) {
    LegacyTries::Try& ended = legacy.tries[open_.back().number];
    assignments.close();
    open_.pop_back();
    ended.delegates = true;
    const std::size_t target = open_.size() - 1 - to.depth;
    ended.skipped = open_.back().catching - open_[target].catching;
  }

 private:
  /// The function or an open block.
  struct Open {
    std::uint32_t number = 0;    ///< of a legacy try
    std::uint32_t catching = 0;  ///< blocks up to this one whose clauses hold here
  };

  void open(ir::RegionKind kind) {
    assignments.open(kind);
    open_.push_back({0, open_.back().catching});
  }
  /// The clauses of a legacy try do not hold in its catch parts.
  void part(std::uint32_t tag) {
    legacy.tries[open_.back().number].tags.push_back(tag);
    open_.back().catching = open_[open_.size() - 2].catching;
  }

  std::vector<Open> open_;
};

}  // namespace hoist::translate
