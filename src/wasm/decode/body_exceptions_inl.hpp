// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The part of body_decoder_inl.hpp that is about exceptions, also the legacy ones. Included by it.
///
/// Source: WebAssembly core specification 3.0, section 3.4 (try_table, throw, throw_ref); the
/// legacy instructions: "Exception handling proposal (legacy)".

#include <algorithm>

#include "wasm/decode/body_decoder.hpp"

namespace hoist::wasm {

template <Sink S>
bool BodyDecoder<S>::try_table() {
  BlockType type;
  if (!read_block_type(type) || !read_clauses(controls_.size())) return false;
  for (const CatchClause& clause : clauses_) {
    Control& to = target(clause.depth);
    if (!check_clause(clause, to.label_types())) return false;
    if (live_) to.branched_to = true;
  }
  if (!want_top(type.params) || !push_control(FrameKind::TryTable, type)) return false;
  if (!live_) return true;
  const std::span<Control> outside = std::span<Control>(controls_).first(controls_.size() - 1);
  sink_->try_table(type, control().frame, clauses_, Labels<Frame>(outside));
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::throw_tag() {
  std::uint32_t tag = 0;
  if (!read_tag(tag)) return false;
  const std::span<const ValType> params = module_->tag_type(tag).params();
  if (!want_top(params)) return false;
  if (live_) sink_->throw_(tag, top(params.size()));
  set_dead();
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::throw_reference() {
  Value exception{};
  if (!pop(ValType::ref(HeapType(HeapType::Exn), true), exception)) return false;
  if (live_) sink_->throw_ref(exception);
  set_dead();
  return taken();
}

// ---- Legacy exceptions

/// catch and catch_all: like an else, with the values of the exception instead of the parameters.
template <Sink S>
bool BodyDecoder<S>::catch_part(FrameKind kind) {
  std::uint32_t tag = 0;
  if (kind == FrameKind::Catch && !read_tag(tag)) return false;
  Control& frame = control();
  if (frame.kind != FrameKind::Try && frame.kind != FrameKind::Catch) {
    return fail(ErrorKind::Malformed,
                "unexpected token " + std::string(text(op_)) + ": END opcode expected", at_);
  }
  if (!check_end()) return false;
  unset_to(frame.init_mark);
  frame.kind = kind;
  frame.polymorphic = false;
  const bool part_live = live_;
  frame.branched_to |= part_live;
  const std::size_t num_results = frame.type.results.size();
  std::span<const ValType> values;
  if (kind == FrameKind::Catch) values = module_->tag_type(tag).params();
  if (!push_all(values)) return false;
  if (frame.reported) {
    if (!part_live) sink_->at(at_);
    const std::span<Entry> both = top(num_results + values.size());
    if (kind == FrameKind::Catch) {
      sink_->catch_(frame.type, frame.frame, tag, part_live, both.first(num_results),
                    both.subspan(num_results));
    } else {
      sink_->catch_all(frame.type, frame.frame, part_live, both.first(num_results));
    }
  }
  drop_below(values.size(), num_results);
  live_ = frame.reported;
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::delegate() {
  Control& frame = control();
  if (frame.kind != FrameKind::Try) {
    return fail(ErrorKind::Malformed, "unexpected token delegate: END opcode expected", at_);
  }
  std::uint32_t depth = 0;
  if (!read_label(controls_.size() - 1, depth) || !check_end()) return false;
  const bool continues = live_ || frame.branched_to;
  if (frame.reported) {
    if (!live_) sink_->at(at_);
    const std::span<Control> outside = std::span<Control>(controls_).first(controls_.size() - 1);
    sink_->delegate(frame.type, frame.frame, Labels<Frame>(outside)[depth], live_, continues,
                    top(frame.type.results.size()));
  }
  leave_block(continues);
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::rethrow() {
  std::uint32_t depth = 0;
  if (!read_label(controls_.size(), depth)) return false;
  const FrameKind kind = target(depth).kind;
  if (kind != FrameKind::Catch && kind != FrameKind::CatchAll) {
    return invalid("invalid rethrow label " + std::to_string(depth) + ": it is not a catch");
  }
  if (live_) sink_->rethrow(Labels<Frame>(controls_)[depth]);
  set_dead();
  return taken();
}

}  // namespace hoist::wasm
