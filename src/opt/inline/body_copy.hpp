// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// One call replaced by one body.
///
/// The call's block is split behind the call (unless it ends there), the blocks that the body's
/// entry reaches are put in between in the body's layout order, and their instructions copied in
/// the order of discovery, so that definitions come before uses.

#include <vector>

#include "ir/function.hpp"
#include "opt/inline/entity_translation.hpp"

namespace hoist::opt {

/// What one walk over the reachable part of a body finds.
struct BodyFacts {
  std::uint64_t insts = 0;
  std::uint64_t calls = 0;       ///< that come back: they get the site's handlers and stack maps
  std::uint64_t tagged = 0;      ///< instructions with debug tags
  bool entry_is_target = false;  ///< a branch goes to the entry block
  bool reads_frame = false;      ///< its frame, stack or return address
  bool has_handler_address = false;
  bool names_unreachable = false;         ///< a handler address of an unreachable block
  bool has_context = false;               ///< a try_call with a dynamic context
  bool has_long_context_globals = false;  ///< too long to spell out
  unsigned min_payload_words = 2;         ///< of calls that can throw
};

class BodyCopy {
 public:
  void begin(ir::Function& caller);
  /// How many global values, one based on the other, are spelled out at most.
  static constexpr unsigned kMaxContextGlobals = 8;
  BodyFacts facts(const ir::Function& body);

  struct Copied {
    ir::Block behind;  ///< the new block behind the call, or none; all other new ones are the copy
    bool terminator_moved = false;  ///< the call's block ends in what `behind` ends in now
  };
  /// Replaces `call`. A block of the copy whose terminator is in another block than its begin is
  /// entered in `moved`.
  Copied replace(ir::Inst call, const ir::Function& body, const BodyFacts& facts,
                 base::EntityMap<ir::Block, ir::Block>& moved);
  ir::InlineFrame frame() const { return frame_; }
  bool out_of_flags() const { return entities_.out_of_flags(); }
  /// The value of the caller's own parameter for the context, or none.
  static ir::Value context_param(const ir::Function& func);
  /// The argument of `call` for the context of a callee with this signature, or none.
  static ir::Value context_argument(const ir::Function& func, ir::Inst call,
                                    const ir::Signature& signature);

 private:
  enum class SiteKind : std::uint8_t { Call, TailCall, TryCall };

  void discover(const ir::Function& body);
  void take_site(ir::Inst call);
  void split(ir::Inst call, Copied& copied);
  void make_blocks(const ir::Function& body, const BodyFacts& facts, ir::Block site_block);
  void copy_block(ir::Block block);
  void copy_inst(ir::Inst inst);
  void copy_plain(ir::Inst inst);
  void copy_return(ir::Inst inst);
  void copy_call(ir::Inst inst, bool is_tail);
  void make_try(ir::Inst inst, ir::InstData data, ir::SigRef sig, bool is_tail);
  void spell_out(ir::Inst inst);
  ir::InstData translate(ir::Inst inst);
  ir::Inst append(const ir::InstData& data, ir::Inst original);
  void copy_results(ir::Inst inst, ir::Inst made);
  void copy_extras(ir::Inst inst, ir::Inst made, bool is_safepoint);
  void jump_to_return(std::span<const ir::Value> values);
  bool can_throw_here(ir::SigRef sig) const;

  ir::Value value(ir::Value v);
  base::ListRef list(std::span<const ir::Value> values);
  ir::BlockCall block_call(ir::BlockCall call);
  ir::JumpTable jump_table(ir::JumpTable table);
  ir::ExceptionTable exception_table(ir::Inst inst);
  void append_site_items();
  ir::SourceLoc location(ir::SourceLoc loc);

  ir::Function* caller_ = nullptr;
  const ir::Function* body_ = nullptr;
  EntityTranslation entities_;

  // The site.
  SiteKind kind_ = SiteKind::Call;
  std::vector<ir::Value> args_;
  std::vector<ir::StackMapEntry> site_map_;
  std::vector<ir::DebugTag> site_tags_;
  std::vector<ir::ExceptionItem> site_items_;
  ir::SourceLoc site_loc_;
  ir::BlockCall site_normal_;
  ir::InlineFrame frame_;
  ir::Block return_block_;
  ir::Value context_;  // of the body, where it is not the caller's

  // The copy.
  std::vector<bool> seen_;
  std::vector<ir::Block> order_, work_;
  base::EntityMap<ir::Block, ir::Block> blocks_;
  std::vector<ir::Value> values_;
  std::vector<ir::InlineFrame> frames_;
  ir::Block current_;
  std::vector<ir::Value> scratch_, results_;
  std::vector<ir::BlockCall> calls_;
  std::vector<ir::ExceptionItem> items_;
  std::vector<ir::DebugTag> tags_;
  std::vector<ir::StackMapEntry> map_;
  std::vector<ir::GlobalValue> chain_;
};

}  // namespace hoist::opt
