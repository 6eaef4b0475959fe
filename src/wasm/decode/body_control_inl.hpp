// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The part of body_decoder_inl.hpp that is about control: blocks, branches, calls. Included by it.

#include <algorithm>

#include "wasm/decode/body_decoder.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {

// ---- Control

template <Sink S>
Label<typename S::Frame> BodyDecoder<S>::label(std::uint32_t depth) {
  target(depth).branched_to = true;
  return Labels<Frame>(controls_)[depth];
}

/// The block's parameters are on the stack already.
template <Sink S>
bool BodyDecoder<S>::push_control(FrameKind kind, const BlockType& type) {
  if (controls_.size() >= kMaxNesting) {
    return fail(ErrorKind::Limit, "blocks are nested too deeply", at_);
  }
  base_ = sp_ - type.params.size();
  Control& frame = controls_.emplace_back();
  frame.type = type;
  frame.height = static_cast<std::uint32_t>(base_ - stack_.get());
  frame.saved_params = static_cast<std::uint32_t>(saved_.size());
  frame.init_mark = init_mark();
  frame.kind = kind;
  frame.reported = live_;
  return true;
}

template <Sink S>
void BodyDecoder<S>::set_dead() {
  live_ = false;
  control().polymorphic = true;
  sp_ = base_;
}

template <Sink S>
bool BodyDecoder<S>::block(FrameKind kind) {
  BlockType type;
  Value condition{};
  if (!read_block_type(type)) return false;
  if (kind == FrameKind::If && !pop(TypeKind::I32, condition)) return false;
  if (!want_top(type.params) || !push_control(kind, type)) return false;
  if (!live_) return true;
  const std::span<Entry> params = top(type.params.size());
  Frame& frame = control().frame;
  switch (kind) {
    case FrameKind::Loop: sink_->loop(type, frame, params); break;
    case FrameKind::If:
      if (saved_.size() + params.size() > kMaxOperands) {
        return fail(ErrorKind::Limit, "too many parameters of open ifs", at_);
      }
      saved_.insert(saved_.end(), params.begin(), params.end());
      sink_->if_(type, frame, condition, params);
      break;
    case FrameKind::Try: sink_->try_(type, frame); return taken();
    case FrameKind::Block:
    case FrameKind::Else:
    case FrameKind::TryTable:
    case FrameKind::Catch:
    case FrameKind::CatchAll:
    case FrameKind::Func: sink_->block(type, frame); break;
  }
  return true;
}

/// The results of the block are on the stack, and nothing else.
template <Sink S>
bool BodyDecoder<S>::check_end() {
  const std::span<const ValType> results = control().type.results;
  if (!want_top(results)) return false;
  const std::size_t height = static_cast<std::size_t>(sp_ - base_);
  if (height == results.size()) [[likely]]
    return true;
  std::vector<ValType> found;
  for (const Entry& entry : top(height)) found.push_back(entry.type);
  return fail_stack("block", results, found);
}

template <Sink S>
bool BodyDecoder<S>::else_part(bool implicit) {
  Control& frame = control();
  if (frame.kind != FrameKind::If) {
    return fail(ErrorKind::Malformed, "unexpected else: END opcode expected", at_);
  }
  if (!check_end()) return false;
  unset_to(frame.init_mark);
  frame.kind = FrameKind::Else;
  frame.polymorphic = false;
  const bool then_live = live_;
  frame.branched_to |= then_live;  // the end of the then part goes to the end of the else part
  if (frame.reported) {
    if (!live_) sink_->at(at_);
    sink_->else_(frame.type, frame.frame, then_live, top(frame.type.results.size()), implicit);
  }
  live_ = frame.reported;
  sp_ = base_;
  if (!push_all(frame.type.params)) return false;
  if (live_) {
    std::copy_n(saved_.begin() + frame.saved_params, frame.type.params.size(), base_);
  }
  return true;
}

template <Sink S>
bool BodyDecoder<S>::end() {
  if (control().kind == FrameKind::If) {
    const BlockType& type = control().type;
    if (!are_subtypes(type.params, type.results)) {
      return invalid("type mismatch: an if without else has " + to_string(type.params) +
                     " as parameters and " + to_string(type.results) + " as results");
    }
    if (!else_part(true)) return false;
  }
  if (!check_end()) return false;
  Control& frame = control();
  const bool continues = live_ || (frame.branched_to && frame.kind != FrameKind::Loop);
  if (frame.reported) {
    if (!live_) sink_->at(at_);
    sink_->end(frame.kind, frame.type, frame.frame, live_, continues,
               top(frame.type.results.size()));
  }
  leave_block(continues);
  return true;
}

template <Sink S>
void BodyDecoder<S>::leave_block(bool continues) {
  const Control& frame = control();
  live_ = frame.reported && continues;
  unset_to(frame.init_mark);
  saved_.resize(frame.saved_params);
  controls_.pop_back();
  if (!controls_.empty()) base_ = stack_.get() + control().height;
}

template <Sink S>
bool BodyDecoder<S>::br(bool conditional) {
  std::uint32_t depth = 0;
  Value condition{};
  if (!read_label(controls_.size(), depth)) return false;
  if (conditional && !pop(TypeKind::I32, condition)) return false;
  const std::span<const ValType> types = target(depth).label_types();
  if (!want_top(types)) return false;
  if (live_) {
    const Label<Frame> to = label(depth);
    if (conditional) {
      sink_->br_if(to, condition, top(types.size()));
    } else {
      sink_->br(to, top(types.size()));
    }
  }
  if (!conditional) set_dead();
  return true;
}

template <Sink S>
bool BodyDecoder<S>::br_table() {
  Value index{};
  if (!read_label_table(controls_.size()) || !pop(TypeKind::I32, index)) return false;
  const std::size_t arity = target(depths_.back()).label_types().size();
  // Tables repeat their labels; each is checked once.
  const std::uint32_t mark = ++br_table_mark_;
  for (const std::uint32_t depth : depths_) {
    Control& to = target(depth);
    if (to.br_table_mark == mark) continue;
    to.br_table_mark = mark;
    const std::span<const ValType> types = to.label_types();
    if (types.size() != arity) {
      return invalid("type mismatch: labels of a br_table carry " + to_string(types) + " and " +
                     to_string(target(depths_.back()).label_types()));
    }
    if (!check_top(types)) return false;
    if (live_) to.branched_to = true;
  }
  if (live_) sink_->br_table(Labels<Frame>(controls_), index, depths_, top(arity));
  set_dead();
  return true;
}

template <Sink S>
bool BodyDecoder<S>::return_values() {
  if (!want_top(type_->results())) return false;
  if (live_) sink_->return_(top(type_->results().size()));
  set_dead();
  return true;
}

// ---- Calls

template <Sink S>
bool BodyDecoder<S>::call_direct() {
  std::uint32_t callee = 0;
  if (!read_function(callee)) return false;
  const FuncType& type = module_->function_type(callee);
  const std::span<const ValType> results = type.results();
  if (!want_top(type.params()) || !push_all(results)) return false;
  if (live_) {
    sink_->call(callee, type,
                top(results.size() + type.params().size()).first(type.params().size()),
                top(results.size()));
  }
  drop_below(results.size(), type.params().size());
  return true;
}

template <Sink S>
bool BodyDecoder<S>::call_indirect() {
  std::uint32_t type_index = 0;
  std::uint32_t table = 0;
  if (!read_func_type(type_index) || !read_table(table) || !check_callee_table(table)) return false;
  const TableType& table_type = module_->tables[table].type;
  Value callee{};
  if (!pop(table_type.index_type(), callee)) return false;
  const FuncType& type = module_->types[type_index];
  const std::span<const ValType> results = type.results();
  if (!want_top(type.params()) || !push_all(results)) return false;
  if (live_) {
    sink_->call_indirect(type_index, table, type, callee,
                         top(results.size() + type.params().size()).first(type.params().size()),
                         top(results.size()));
  }
  drop_below(results.size(), type.params().size());
  return true;
}

/// Removes `count` entries under the top `keep` ones. Results lie above the arguments during a
/// call, so that a sink can write the one while it reads the other.
template <Sink S>
void BodyDecoder<S>::drop_below(std::size_t keep, std::size_t count) {
  std::copy(sp_ - keep, sp_, sp_ - keep - count);
  sp_ -= count;
}

}  // namespace hoist::wasm
