// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The site and the blocks of a copy; the instructions are in inst_copy.cpp.
#include "opt/inline/body_copy.hpp"

#include <algorithm>

namespace hoist::opt {

using ir::Block;
using ir::BlockCall;
using ir::Function;
using ir::GlobalValueData;
using ir::Inst;
using ir::Op;
using ir::Value;

void BodyCopy::begin(Function& caller) {
  caller_ = &caller;
  entities_.begin(caller);
}

// ---- What a body is like.

/// Fills `order_` with the blocks that the entry reaches; each comes after one that leads to it, so
/// definitions come before uses.
void BodyCopy::discover(const Function& body) {
  seen_.assign(body.block_count(), false);
  order_.clear();
  work_.assign(1, body.entry_block());
  while (!work_.empty()) {
    const Block block = work_.back();
    work_.pop_back();
    if (seen_[block.index()]) continue;
    seen_[block.index()] = true;
    order_.push_back(block);
    const Inst end = body.last_inst(block);
    const std::size_t first = work_.size();
    body.for_each_target(end, [&](BlockCall call) { work_.push_back(body.call_target(call)); });
    std::reverse(work_.begin() + static_cast<std::ptrdiff_t>(first), work_.end());
  }
}

namespace {

/// Does the global value rest on the context, over more than `limit` others?
bool is_long_context_global(const Function& func, ir::GlobalValue global, unsigned limit) {
  for (unsigned length = 0; global.is_some(); ++length) {
    const GlobalValueData& data = func.global_values[global];
    if (data.kind == GlobalValueData::Kind::VmContext) return length > limit;
    // Walked this far, it may or may not end at the context: no need to know.
    if (length > limit) return true;
    global = data.base;
  }
  return false;
}

}  // namespace

BodyFacts BodyCopy::facts(const Function& body) {
  BodyFacts facts;
  discover(body);
  for (const Block block : order_) {
    for (Inst inst = body.first_inst(block); inst.is_some(); inst = body.next_inst(inst)) {
      ++facts.insts;
      const Op op = body.op(inst);
      if (!body.debug_tags(inst).empty()) ++facts.tagged;
      if (ir::is_call(op)) {
        ++facts.calls;
        const ir::CallConv conv = body.signatures[body.call_signature(inst)].call_conv;
        if (supports_exceptions(conv)) {
          facts.min_payload_words =
              std::min(facts.min_payload_words, ir::exception_payload_words(conv));
        }
        if (ir::is_try(op)) {
          for (const ir::ExceptionItem& item : body.exception_items(inst)) {
            facts.has_context |= item.kind == ir::ExceptionItem::Kind::Context;
          }
        }
      } else if (op == Op::GetFramePointer || op == Op::GetStackPointer ||
                 op == Op::GetReturnAddress) {
        facts.reads_frame = true;
      } else if (op == Op::GetExceptionHandlerAddress) {
        facts.has_handler_address = true;
        facts.names_unreachable |= !seen_[body.data(inst).a];
      } else if (op == Op::GlobalValue) {
        facts.has_long_context_globals |=
            is_long_context_global(body, ir::GlobalValue(body.data(inst).a), kMaxContextGlobals);
      }
    }
    body.for_each_target(body.last_inst(block), [&](BlockCall call) {
      facts.entry_is_target |= body.call_target(call) == body.entry_block();
    });
  }
  return facts;
}

Value BodyCopy::context_param(const Function& func) {
  const std::span<const Value> params = func.block_params(func.entry_block());
  for (std::size_t i = 0; i < func.signature.params.size(); ++i) {
    if (func.signature.params[i].purpose == ir::ArgPurpose::VmCtx) return func.resolve(params[i]);
  }
  return Value::none();
}

Value BodyCopy::context_argument(const Function& func, Inst call, const ir::Signature& signature) {
  for (std::size_t i = 0; i < signature.params.size(); ++i) {
    if (signature.params[i].purpose == ir::ArgPurpose::VmCtx) {
      return func.resolve(func.call_operands(call)[i]);
    }
  }
  return Value::none();
}

// ---- The site.

void BodyCopy::take_site(Inst call) {
  const Function& func = *caller_;
  const Op op = func.op(call);
  kind_ = op == Op::Call         ? SiteKind::Call
          : op == Op::ReturnCall ? SiteKind::TailCall
                                 : SiteKind::TryCall;
  const auto keep = [](auto& to, const auto& from) { to.assign(from.begin(), from.end()); };
  keep(args_, func.call_operands(call));
  keep(site_map_, func.stack_map(call));
  keep(site_tags_, func.debug_tags(call));
  site_items_.clear();
  if (kind_ == SiteKind::TryCall) {
    keep(site_items_, func.exception_items(call));
    site_normal_ = func.exception_table(call).normal;
  }
  site_loc_ = func.loc(call);
  return_block_ = Block::none();
}

/// Makes `return_block_`, with one parameter for each result, and takes the call away.
void BodyCopy::split(Inst call, Copied& copied) {
  Function& func = *caller_;
  const Block block = func.inst_block(call);
  if (kind_ == SiteKind::TailCall) return func.remove_inst(call);
  const auto make_behind = [&] {
    copied.behind = return_block_ = func.make_block();
    func.set_cold(return_block_, func.is_cold(block));
    func.insert_block_after(return_block_, block);
  };
  if (kind_ == SiteKind::Call) {
    make_behind();
    for (Inst inst = func.next_inst(call); inst.is_some();) {
      const Inst next = func.next_inst(inst);
      func.remove_inst(inst);
      func.append_inst(inst, return_block_);
      inst = next;
    }
    copied.terminator_moved = true;
    // The results become the parameters, so that their uses stay.
    results_.assign(func.results(call).begin(), func.results(call).end());
    func.remove_inst(call);
    for (const Value result : results_) {
      if (func.value(result).kind == ir::ValueKind::Result) {
        func.attach_block_param(return_block_, result);
      } else {
        func.append_block_param(return_block_, func.type(result));
      }
    }
    return;
  }
  const ir::Signature signature = func.signatures[func.call_signature(call)];
  func.remove_inst(call);
  scratch_.assign(func.call_args(site_normal_).begin(), func.call_args(site_normal_).end());
  bool is_plain = scratch_.size() == signature.returns.size();
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const ir::ValueData& data = func.value(scratch_[i]);
    is_plain = is_plain && data.kind == ir::ValueKind::TryReturn && data.number == i;
  }
  if (is_plain) {
    return_block_ = func.call_target(site_normal_);
    return;
  }
  make_behind();
  for (const ir::AbiParam& result : signature.returns) {
    func.append_block_param(return_block_, result.type);
  }
  for (Value& arg : scratch_) {
    const ir::ValueData& data = func.value(arg);
    if (data.kind == ir::ValueKind::TryReturn) arg = func.block_params(return_block_)[data.number];
  }
  const BlockCall target = func.make_block_call(func.call_target(site_normal_), scratch_);
  func.append_inst(func.make_inst({Op::Jump, 0, target.index()}, site_loc_), return_block_);
}

void BodyCopy::make_blocks(const Function& body, const BodyFacts& facts, Block site_block) {
  Function& func = *caller_;
  blocks_.clear();
  values_.assign(body.value_count(), Value::none());
  const bool is_cold = func.is_cold(site_block);
  Block after = site_block;
  for (Block block = body.first_block(); block.is_some(); block = body.next_block(block)) {
    if (!seen_[block.index()]) continue;
    const Block made = func.make_block();
    func.set_cold(made, is_cold || body.is_cold(block));
    func.insert_block_after(made, after);
    after = blocks_[block] = made;
    const bool is_entry = block == body.entry_block();
    const std::span<const Value> params = body.block_params(block);
    for (std::size_t i = 0; i < params.size(); ++i) {
      values_[params[i].index()] = is_entry && !facts.entry_is_target
                                       ? args_[i]
                                       : func.append_block_param(made, body.type(params[i]));
      if (body.is_reference(params[i])) func.mark_reference(values_[params[i].index()]);
    }
  }
}

BodyCopy::Copied BodyCopy::replace(Inst call, const Function& body, const BodyFacts& facts,
                                   base::EntityMap<Block, Block>& moved) {
  Function& func = *caller_;
  body_ = &body;
  take_site(call);
  const Block site_block = func.inst_block(call);
  const Value argument = context_argument(func, call, body.signature);
  context_ = argument == context_param(func) ? Value::none() : argument;
  frame_ =
      func.inline_frames.push({func.ext_funcs[ir::FuncRef(func.data(call).a)].name, site_loc_});
  frames_.clear();
  for (const ir::InlineFrameData& inner : body.inline_frames) {
    frames_.push_back(func.inline_frames.push({inner.callee, location(inner.call_site)}));
  }
  entities_.begin_body(body);
  discover(body);

  Copied copied;
  split(call, copied);
  make_blocks(body, facts, site_block);
  const Block entry = blocks_[body.entry_block()];
  const BlockCall to_entry = func.make_block_call(
      entry, facts.entry_is_target ? std::span<const Value>(args_) : std::span<const Value>());
  func.append_inst(func.make_inst({Op::Jump, 0, to_entry.index()}, site_loc_), site_block);

  for (const Block block : order_) {
    const Block made = blocks_[block];
    copy_block(block);
    if (current_ != made && facts.has_handler_address) moved[made] = current_;
  }
  return copied;
}

}  // namespace hoist::opt
