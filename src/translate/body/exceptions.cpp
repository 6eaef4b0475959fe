// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions: docs/exceptions.md says how. A scope is a try_table, or a legacy try up to its first
// catch; its clauses hold for the code in it, after them those of the scopes around it. Calls with
// clauses around become try_calls; each clause has one landing block, made with the first call that
// needs it, which reads the payload and jumps to the clause's target. A throw whose clause is in
// the same function jumps to the target at once.
#include <cstddef>

#include "image/layout/vm_layout.hpp"
#include "translate/body/body_scan.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using image::Builtin;
using image::VmException;
using ir::I32;
using ir::I64;
using wasm::FrameKind;
using wasm::Op;

// ---- Scopes.

void IrSink::open_scope(Frame& frame, std::uint32_t next) {
  frame.scope = static_cast<std::uint32_t>(scopes_.size());
  Scope scope;
  scope.outer = scope_;
  scope.next = next;
  scope.first_clause = static_cast<std::uint32_t>(clauses_.size());
  scopes_.push_back(scope);
  open_scopes_.push_back(frame.scope);
  scope_ = frame.scope;
}

void IrSink::leave_scope() {
  open_scopes_.pop_back();
  scope_ = scopes_[scope_].outer;
}

void IrSink::add_clause(std::uint32_t tag, bool with_reference, ir::Block target) {
  Clause clause;
  clause.tag = tag;
  clause.with_reference = with_reference;
  clause.target = target;
  clauses_.push_back(clause);
  ++scopes_[scope_].clause_count;
}

/// The code of the innermost scope ends: goes on with the scope around it, after the landing
/// blocks. Control must have left the present block.
void IrSink::close_scope() {
  const Scope closed = scopes_[scope_];
  leave_scope();
  const std::uint32_t fuel_used = fuel_used_;
  for (std::uint32_t i = 0; i < closed.clause_count; ++i) {
    const Clause& clause = clauses_[closed.first_clause + i];
    if (clause.landing.is_some()) translate_landing(clause);
  }
  fuel_used_ = fuel_used;
}

bool IrSink::has_landings(const Scope& scope) const {
  for (std::uint32_t i = 0; i < scope.clause_count; ++i) {
    if (clauses_[scope.first_clause + i].landing.is_some()) return true;
  }
  return false;
}

void IrSink::translate_landing(const Clause& clause) {
  builder_.switch_to(clause.landing);
  if (assignments_ != nullptr) assignments_->reached_handler(clause.landing);
  builder_.seal(clause.landing);
  func().set_cold(clause.landing);
  fuel_used_ = 0;
  after_call();
  const Value exception = func().block_params(clause.landing)[0];
  // The payload comes first: the exception's memory may be the next one's.
  payload_.clear();
  if (clause.tag != image::kAnyTag) {
    const ir::MemFlagsRef flags = func().intern(ir::MemFlags::trusted());
    std::int32_t offset = image::kPayloadOffset;
    for (const wasm::ValType type : env_.module.tag_type(clause.tag).params()) {
      const Value word = builder_.load(ir::Op::Load, ir_type(type), flags, exception, offset);
      if (is_collected(type)) func().mark_reference(word);
      payload_.push_back(word);
      offset += static_cast<std::int32_t>(sizeof(image::VmGlobal));
    }
  }
  if (clause.with_reference) {
    func().mark_reference(exception);
    payload_.push_back(exception);
  }
  builder_.jump(clause.target, payload_);
}

/// The clauses that hold here, in order, without those that others hide.
std::span<const std::uint32_t> IrSink::active_clauses() {
  if (active_of_ == scope_) return active_;
  active_of_ = scope_;
  active_.clear();
  ++caught_epoch_;
  for (std::uint32_t at = scope_; at != kNoScope; at = scopes_[at].next) {
    const Scope& scope = scopes_[at];
    ++handler_work_;
    for (std::uint32_t i = scope.first_clause; i < scope.first_clause + scope.clause_count; ++i) {
      ++handler_work_;
      if (clauses_[i].tag == image::kAnyTag) {
        active_.push_back(i);
        return active_;
      }
      bool& caught = caught_tags_.at(clauses_[i].tag, caught_epoch_);
      if (!caught) active_.push_back(i);
      caught = true;
    }
    if (!count_handlers(0)) break;  // the function is refused
  }
  return active_;
}

bool IrSink::in_scope() {
  return scope_ != kNoScope && !active_clauses().empty();
}

/// What the handlers of all calls of a function may cost together, beyond any sensible program.
bool IrSink::count_handlers(std::size_t count) {
  handler_work_ += count;
  if (handler_work_ <= most_handler_work_) return true;
  unsupported(
      "a function with more ways from calls to exception handlers than 100000 and 1 for each byte "
      "of it, 1000000 in all");
  return false;
}

void IrSink::call_in_scope(ir::FuncRef callee, ir::SigRef sig, Value code, Out results) {
  const std::span<const std::uint32_t> active = active_clauses();
  if (!count_handlers(active.size())) active_.resize(1);
  const ir::Block normal = builder_.make_block();
  try_results_.clear();
  const std::size_t count = func().signatures[sig].returns.size();
  for (std::uint32_t i = 0; i < count; ++i) {
    func().append_block_param(normal, func().signatures[sig].returns[i].type);
    try_results_.push_back(builder_.try_return(sig, i));
  }
  const Value thrown = builder_.try_exception(0, I64);
  handlers_.clear();
  handlers_.push_back({ir::ExceptionItem::Kind::Context, 0, {}, {}, ctx_});
  for (const std::uint32_t number : active_) {
    Clause& clause = clauses_[number];
    if (clause.landing.is_none()) {
      clause.landing = builder_.make_block();
      func().append_block_param(clause.landing, I64);
    }
    handlers_.push_back({ir::ExceptionItem::Kind::Tag,
                         image::handler_tag(clause.tag, clause.with_reference),
                         clause.landing,
                         std::span(&thrown, 1),
                         {}});
  }
  if (callee.is_some()) {
    builder_.try_call(callee, values_, normal, try_results_, handlers_);
  } else {
    builder_.try_call_indirect(sig, code, values_, normal, try_results_, handlers_);
  }
  builder_.switch_to(normal);
  builder_.seal(normal);
  const std::span<const Value> made = func().block_params(normal);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].value = made[i];
    note_reference(results[i].type, made[i]);
  }
}

// ---- Throwing.

bool IrSink::is_collected(wasm::ValType type) {
  if (!type.is_ref()) return false;
  const wasm::HeapType heap = type.heap();
  return heap.is_abstract() && heap.abstract() != wasm::HeapType::Func &&
         heap.abstract() != wasm::HeapType::NoFunc;
}

/// `listed`: references to it will exist.
IrSink::Value IrSink::new_exception(std::uint32_t tag, In args, bool listed) {
  const Value tag_index = index_constant(tag);
  const Value is_listed = builder_.iconst(I32, listed ? 1 : 0);
  const Value exception = builtin_result(Builtin::exception_new, {tag_index, is_listed});
  if (listed) func().mark_reference(exception);
  const ir::MemFlagsRef flags = func().intern(ir::MemFlags::trusted());
  std::int32_t offset = image::kPayloadOffset;
  for (const auto& arg : args) {
    Value word = arg.value;
    // The upper half of an i32's slot is zero, as everywhere.
    if (func().type(word) == I32) word = builder_.unary(ir::Op::Uextend, I64, word);
    builder_.store(ir::Op::Store, flags, word, exception, offset);
    offset += static_cast<std::int32_t>(sizeof(image::VmGlobal));
  }
  return exception;
}

/// Goes to a clause of this function with what is thrown.
void IrSink::throw_to(std::uint32_t clause_number, std::uint32_t tag, In args) {
  const bool with_reference = clauses_[clause_number].with_reference;
  const bool with_values = clauses_[clause_number].tag != image::kAnyTag;
  Value exception;
  if (with_reference) exception = new_exception(tag, args, true);
  before_branch();
  payload_.clear();
  if (with_values) {
    for (const auto& arg : args) payload_.push_back(arg.value);
  }
  if (with_reference) payload_.push_back(exception);
  builder_.jump(clauses_[clause_number].target, payload_);
}

/// Whether a tag of this module may be the same as another: only imported ones may.
bool IrSink::may_be_same_tag(std::uint32_t a, std::uint32_t b) const {
  const wasm::Module& module = env_.module;
  return a < module.num_imported_tags && b < module.num_imported_tags &&
         module.canonical_type(module.tags[a].type_index) ==
             module.canonical_type(module.tags[b].type_index);
}

IrSink::Value IrSink::tag_object(std::uint32_t tag) {
  return builder_.load(ir::Op::Load, I64, constant_flags_, ctx_, env_.layout.tag(tag));
}

void IrSink::throw_(std::uint32_t tag, In args) {
  if (scope_ != kNoScope) {
    const std::span<const std::uint32_t> active = active_clauses();
    if (!count_handlers(active.size())) return builder_.trap(ir::TrapCode::Unreachable);
    for (const std::uint32_t number : active) {
      const std::uint32_t caught = clauses_[number].tag;
      if (caught == tag || caught == image::kAnyTag) return throw_to(number, tag, args);
      if (!may_be_same_tag(caught, tag)) continue;
      // Two blocks each: several times what a handler of a call is.
      if (!count_handlers(kComparisonWork)) return builder_.trap(ir::TrapCode::Unreachable);
      before_branch();
      const Value thrown_tag = tag_object(tag);
      const Value caught_tag = tag_object(caught);
      const Value same = builder_.icmp(ir::IntCC::Eq, thrown_tag, caught_tag);
      const ir::Block taken = builder_.make_block();
      const ir::Block next = builder_.make_block();
      builder_.brif(same, taken, {}, next, {});
      builder_.switch_to(taken);
      builder_.seal(taken);
      throw_to(number, tag, args);
      builder_.switch_to(next);
      builder_.seal(next);
    }
  }
  // No clause of this function takes it.
  const Value exception = new_exception(tag, args, false);
  call_builtin(Builtin::throw_exception, {exception});
  if (builder_.current_block() != entry_) func().set_cold(builder_.current_block());
  builder_.trap(ir::TrapCode::Unreachable);
}

void IrSink::throw_again(Value exception) {
  if (in_scope()) {
    const ir::FuncRef callee = builtin_function(Builtin::throw_exception);
    before_leaving();
    const Value args[] = {ctx_, exception};
    values_.assign(args, args + 2);
    call_in_scope(callee, func().ext_funcs[callee].signature, {}, {});
  } else {
    call_builtin(Builtin::throw_exception, {exception});
  }
  builder_.trap(ir::TrapCode::Unreachable);
}

void IrSink::throw_ref(Value exception) {
  builder_.trapz(exception, ir::TrapCode::NullReference);
  throw_again(exception);
}

// ---- try_table.

void IrSink::try_table(const wasm::BlockType&, Frame& frame,
                       std::span<const wasm::CatchClause> clauses,
                       const wasm::Labels<Frame>& labels) {
  free_of_charge();
  if (assignments_ != nullptr) {
    assignments_->reached_open(builder_.current_block(), ir::Block::none());
  }
  open_scope(frame, scope_);
  for (const wasm::CatchClause& clause : clauses) {
    const Label label = labels[clause.depth];
    const ir::Block target = label_block(label);
    add_clause(clause.has_tag() ? clause.tag : image::kAnyTag, clause.has_ref(), target);
  }
}

void IrSink::end_try(const wasm::BlockType& block, Frame& frame, bool falls_through, Out results) {
  if (!has_landings(scopes_[scope_])) {
    leave_scope();
    return;
  }
  if (falls_through) {
    before_branch();
    builder_.jump(label_block(frame, block.results), values(results));
  }
  close_scope();
}

// ---- Legacy exceptions.

void IrSink::try_(const wasm::BlockType&, Frame& frame) {
  free_of_charge();
  HOIST_CHECK(legacy_ != nullptr && next_legacy_ < legacy_->tries.size(),
              "functions with legacy try blocks are scanned first");
  const LegacyTries::Try& found = legacy_->tries[next_legacy_++];
  const std::size_t around = open_scopes_.size();
  HOIST_CHECK(found.skipped <= around, "the scan counts scopes as the translation does");
  open_scope(frame, found.skipped == around ? kNoScope : open_scopes_[around - 1 - found.skipped]);
  for (const std::uint32_t tag : found.tags) {
    const bool is_all = tag == LegacyTries::kAll;
    const ir::Block part =
        is_all ? builder_.make_block() : block_with_params(env_.module.tag_type(tag).params());
    if (legacy_->has_rethrow) func().append_block_param(part, I64);
    add_clause(is_all ? image::kAnyTag : tag, legacy_->has_rethrow, part);
  }
}

void IrSink::begin_part(const wasm::BlockType& block, Frame& frame, bool reachable, In results) {
  free_of_charge();
  if (reachable) {
    before_branch();
    builder_.jump(label_block(frame, block.results), values(results));
  }
  const bool is_first = scopes_[frame.scope].parts == 0;
  if (is_first) close_scope();
  const Scope& scope = scopes_[frame.scope];
  if (is_first) {
    for (std::uint32_t i = 0; i < scope.clause_count; ++i) {
      builder_.seal(clauses_[scope.first_clause + i].target);
    }
  }
  const ir::Block part = clauses_[scope.first_clause + scope.parts].target;
  ++scopes_[frame.scope].parts;
  builder_.switch_to(part);
  const std::span<const Value> params = func().block_params(part);
  if (legacy_->has_rethrow) frame.caught = params.back();
}

void IrSink::catch_(const wasm::BlockType& block, Frame& frame, std::uint32_t, bool reachable,
                    In results, Out caught) {
  begin_part(block, frame, reachable, results);
  const std::span<const Value> params = func().block_params(builder_.current_block());
  for (std::size_t i = 0; i < caught.size(); ++i) caught[i].value = params[i];
}

void IrSink::catch_all(const wasm::BlockType& block, Frame& frame, bool reachable, In results) {
  begin_part(block, frame, reachable, results);
}

void IrSink::rethrow(const Label& label) {
  throw_again(label.frame.caught);
}

void IrSink::delegate(const wasm::BlockType& block, Frame& frame, const Label&, bool falls_through,
                      bool continues, Out results) {
  end(FrameKind::Try, block, frame, falls_through, continues, results);
}

}  // namespace hoist::translate
