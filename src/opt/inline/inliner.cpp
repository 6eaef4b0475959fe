// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The walk over the caller: sites are decided in order, block by block, and replaced from the last
/// to the first of a block, so that each instruction moves once however many calls are inlined.
#include "opt/inline/inliner.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/text/printer.hpp"
#include "opt/inline/body_copy.hpp"

namespace hoist::opt {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;

namespace {

struct BlockInfo {
  ir::InlineFrame frame;
  std::uint32_t depth = 0;
  bool is_done = false;  ///< its calls are decided, or not to be offered
};
struct ChosenSite {
  Inst call;
  const Function* body;
  BodyFacts facts;
  bool visit;
};

}  // namespace

struct Inliner::State {
  BodyCopy copy;
  base::EntityMap<Block, BlockInfo> info;
  base::EntityMap<Block, Block> moved;         // to the block that has the terminator now
  base::EntityMap<Block, std::uint8_t> named;  // by a get_exception_handler_address
  bool has_names = false;
  std::unordered_map<const Function*, BodyFacts> facts;  // of bodies met in this run
  std::vector<ChosenSite> sites;
  InlineReport report;
  std::uint64_t growth = 0;

  void begin(Function& caller);
  Result<void> choose(Function& caller, Block block, InlinePolicy& policy,
                      const InlineLimits& limits);
  bool is_allowed(const Function& caller, Inst call, const Function& body,
                  const BodyFacts& of_body) const;
  void replace(Function& caller, const ChosenSite& site);
  void fix_names(Function& caller);
};

bool is_recursive(const InlineSite& site, const ir::ExternalName& name) {
  if (site.caller.name == name) return true;
  ir::InlineFrame frame = site.frame;
  while (frame.is_some()) {
    const ir::InlineFrameData& data = site.caller.inline_frames[frame];
    if (data.callee == name) return true;
    frame = site.caller.position(data.call_site).frame;
  }
  return false;
}

void Inliner::State::begin(Function& caller) {
  copy.begin(caller);
  info.clear();
  moved.clear();
  named.clear();
  facts.clear();
  has_names = false;
  report = {};
  growth = 0;
  for (Block block = caller.first_block(); block.is_some(); block = caller.next_block(block)) {
    for (Inst inst = caller.first_inst(block); inst.is_some(); inst = caller.next_inst(inst)) {
      if (caller.op(inst) != Op::GetExceptionHandlerAddress) continue;
      named[Block(caller.data(inst).a)] = 1;
      has_names = true;
    }
  }
}

/// What a copy would give another meaning; docs/inliner.md lists it.
bool Inliner::State::is_allowed(const Function& caller, Inst call, const Function& body,
                                const BodyFacts& of_body) const {
  if (of_body.reads_frame || of_body.names_unreachable) return false;
  for (const ir::AbiParam& param : body.signature.params) {
    if (param.purpose == ir::ArgPurpose::StructArgument) return false;
  }
  if (body.stack_limit.is_some() && caller.stack_limit.is_none()) return false;
  if (body.trap_handler.is_some() || caller.trap_handler.is_some()) {
    if (body.trap_handler.is_none() || caller.trap_handler.is_none()) return false;
    if (body.ext_funcs[body.trap_handler].name != caller.ext_funcs[caller.trap_handler].name) {
      return false;
    }
    const auto args = caller.call_operands(call);
    const auto params = caller.block_params(caller.entry_block());
    if (args.empty() || params.empty() ||
        caller.resolve(args.front()) != caller.resolve(params.front())) {
      return false;
    }
  }
  if (of_body.has_long_context_globals &&
      BodyCopy::context_argument(caller, call, body.signature) != BodyCopy::context_param(caller)) {
    return false;
  }
  if (!ir::is_try(caller.op(call))) return true;

  if (named[caller.inst_block(call)] != 0) return false;
  bool in_context = false;
  for (const ir::ExceptionItem& item : caller.exception_items(call)) {
    using Kind = ir::ExceptionItem::Kind;
    in_context |= item.kind == Kind::Context;
    if (item.kind == Kind::Tag && !in_context && of_body.has_context) return false;
    if (item.kind == Kind::Context) continue;
    for (const ir::Value v : caller.call_args(item.target)) {
      const ir::ValueData& data = caller.value(v);
      if (data.kind == ir::ValueKind::TryException && data.number >= of_body.min_payload_words) {
        return false;
      }
    }
  }
  return true;
}

/// Asks about the calls of `block`; `sites` are those to inline.
Result<void> Inliner::State::choose(Function& caller, Block block, InlinePolicy& policy,
                                    const InlineLimits& limits) {
  sites.clear();
  const BlockInfo at = std::as_const(info)[block];
  for (Inst inst = caller.first_inst(block); inst.is_some(); inst = caller.next_inst(inst)) {
    const Op op = caller.op(inst);
    if (op != Op::Call && op != Op::ReturnCall && op != Op::TryCall) continue;
    const ir::FuncRef callee(caller.data(inst).a);
    const ir::ExtFunc& declared = caller.ext_funcs[callee];
    if (declared.patchable) continue;
    const InlineDecision decision = policy.decide({caller, inst, callee, at.depth, at.frame});
    if (decision.body == nullptr) continue;
    const Function& body = *decision.body;
    if (body.signature != caller.signatures[declared.signature]) {
      base::Printer text;
      text << "the body of " << body.name << " has another signature than the call";
      return Error(ErrorKind::Malformed, text.take());
    }
    if (&body == &caller || body.entry_block().is_none()) {
      ++report.kept_by_rules;
      continue;
    }
    if (at.depth >= limits.max_depth || growth >= limits.max_growth) {
      ++report.kept_by_limits;
      continue;
    }
    const auto [known, is_new] = facts.try_emplace(&body);
    if (is_new) known->second = copy.facts(body);
    const BodyFacts& of_body = known->second;
    if (!is_allowed(caller, inst, body, of_body)) {
      ++report.kept_by_rules;
      continue;
    }
    const std::uint64_t handlers = ir::is_try(op) ? caller.exception_items(inst).size() : 0;
    const std::uint64_t cost = of_body.insts + 2 +
                               of_body.calls * (caller.stack_map(inst).size() + 2 * handlers) +
                               of_body.tagged * caller.debug_tags(inst).size();
    if (cost > limits.max_growth - growth) {
      ++report.kept_by_limits;
      continue;
    }
    growth += cost;
    sites.push_back({inst, &body, of_body, decision.visit_callee});
  }
  return {};
}

void Inliner::State::replace(Function& caller, const ChosenSite& site) {
  const Block block = caller.inst_block(site.call);
  const BlockInfo around = std::as_const(info)[block];
  const std::size_t before = caller.block_count();
  const BodyCopy::Copied copied = copy.replace(site.call, *site.body, site.facts, moved);
  for (std::size_t i = before; i < caller.block_count(); ++i) {
    info[Block(i)] = {copy.frame(), around.depth + 1, !site.visit};
  }
  if (copied.behind.is_some()) info[copied.behind] = {around.frame, around.depth, true};
  // The first split of a block takes its terminator along; later ones leave a jump.
  if (copied.terminator_moved && std::as_const(moved)[block].is_none()) {
    moved[block] = copied.behind;
  }
  if (site.facts.has_handler_address) {
    // Blocks of the copy that are named keep their try_calls, should the copy be visited.
    for (Block b(before); b.index() < caller.block_count(); b = Block(b.index() + 1)) {
      named[b] = 1;
    }
    has_names = true;
  }
  ++report.inlined;
}

/// Lets each get_exception_handler_address name the block that has the try_call now.
void Inliner::State::fix_names(Function& caller) {
  for (Block block = caller.first_block(); block.is_some(); block = caller.next_block(block)) {
    for (Inst inst = caller.first_inst(block); inst.is_some(); inst = caller.next_inst(inst)) {
      if (caller.op(inst) != Op::GetExceptionHandlerAddress) continue;
      Block at(caller.data(inst).a);
      while (std::as_const(moved)[at].is_some()) at = std::as_const(moved)[at];
      caller.data(inst).a = at.index();
    }
  }
}

Inliner::Inliner() : state_(std::make_unique<State>()) {}
Inliner::~Inliner() = default;

Result<InlineReport> Inliner::run(Function& caller, InlinePolicy& policy,
                                  const InlineLimits& limits) {
  State& s = *state_;
  s.begin(caller);
  for (Block block = caller.first_block(); block.is_some(); block = caller.next_block(block)) {
    if (std::as_const(s.info)[block].is_done) continue;
    HOIST_TRY_VOID(s.choose(caller, block, policy, limits));
    for (std::size_t i = s.sites.size(); i-- > 0;) s.replace(caller, s.sites[i]);
    if (s.copy.out_of_flags()) {
      return Error(ErrorKind::Limit, "inlining needs more sets of memory flags than there are");
    }
  }
  if (s.has_names) s.fix_names(caller);
  return s.report;
}

}  // namespace hoist::opt
