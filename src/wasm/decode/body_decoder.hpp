// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Decodes and validates one function body and reports it to a sink: see sink.hpp. The members are
/// defined in body_decoder_inl.hpp; instantiate in one .cpp per sink:
///
///     #include "wasm/decode/body_decoder_inl.hpp"
///     template class hoist::wasm::BodyDecoder<MySink>;
///
/// A decoder keeps its memory from one function to the next. One thread at a time.
///
/// Source: WebAssembly core specification, appendix "Validation Algorithm".

#include <memory>
#include <vector>

#include "wasm/decode/body_reader.hpp"

namespace hoist::wasm {

template <Sink S>
class BodyDecoder : private BodyReader {
 public:
  using Value = typename S::Value;
  using Frame = typename S::Frame;

  /// `func` is a defined function of a module that `validate_module` accepted. The error is the
  /// first one of the body: Malformed, Invalid, Unsupported or Limit, with its offset in the
  /// module.
  Result<void> decode(const Module& module, std::uint32_t func, S& sink);

 private:
  using Entry = Operand<Value>;
  using Control = ControlFrame<Frame>;

  bool run();
  bool instruction(const OpMeta& meta);

  // Operand stack.
  void push(ValType type, Value value) {
    if (sp_ == stack_end_) [[unlikely]]
      grow(1);
    *sp_++ = Entry{type, value};
  }
  bool pop(ValType expected, Value& value) {
    if (sp_ > base_ && sp_[-1].type == expected) [[likely]] {
      value = (--sp_)->value;
      return true;
    }
    return pop_slow(expected, value);
  }
  bool pop_slow(ValType expected, Value& value);
  bool pop_any(Entry& out);
  /// Pops a reference; of dead code, one of type (ref bot).
  bool pop_ref(Entry& out);
  bool pop3(ValType first, ValType second, ValType third, Value (&values)[3]);
  bool push_all(std::span<const ValType> types);
  bool check_top(std::span<const ValType> types);
  /// As check_top; the entries then have exactly these types, in dead code they exist.
  bool want_top(std::span<const ValType> types);
  bool fail_values(std::span<const ValType> types);
  std::span<Entry> top(std::size_t count) { return {sp_ - count, count}; }
  void drop_below(std::size_t keep, std::size_t count);
  void grow(std::size_t count);
  bool reserve(std::size_t count);

  // Control stack.
  Control& control() { return controls_.back(); }
  Control& target(std::uint32_t depth) { return controls_[controls_.size() - 1 - depth]; }
  Label<Frame> label(std::uint32_t depth);
  bool push_control(FrameKind kind, const BlockType& type);
  void set_dead();
  bool check_end();
  /// The block ends; its results are on the stack. `continues`: control goes on behind it.
  void leave_block(bool continues);

  // Instructions that are more than a few lines.
  bool block(FrameKind kind);
  bool else_part(bool implicit);
  bool end();
  bool br(bool conditional);
  bool br_table();
  bool return_values();
  bool call_direct();
  bool call_indirect();
  bool select();
  bool select_typed();
  bool global_op(Group group);
  bool table_op(Group group);
  bool bulk_op(Group group);

  // Exceptions: body_exceptions_inl.hpp.
  bool try_table();
  bool throw_tag();
  bool throw_reference();
  bool catch_part(FrameKind kind);
  bool delegate();
  bool rethrow();

  // Typed references, tail calls, heap objects: body_references_inl.hpp.
  bool return_call(Group group);
  bool call_ref();
  bool ref_eq();
  bool ref_as_non_null();
  bool br_on_null();
  bool br_on_non_null();
  bool heap_op();
  bool br_on_cast();

  // Vectors, atomics, wide arithmetic: body_vectors_inl.hpp.
  bool pop_shape(const OpShape& shape, Entry (&out)[4]);
  bool vector_op(bool has_lane);
  bool vector_const();
  bool shuffle();
  bool lane_access(Group group);
  bool atomic_op(Group group);
  bool wide_op();

  /// Whether the sink took the instruction.
  bool taken() {
    const Refusal* refusal = sink_->refused();
    return refusal == nullptr || fail_refused(*refusal);
  }

  S* sink_ = nullptr;
  bool live_ = true;
  std::unique_ptr<Entry[]> stack_;
  Entry* sp_ = nullptr;
  Entry* base_ = nullptr;  // height of the innermost block
  Entry* stack_end_ = nullptr;
  std::vector<Control> controls_;
  std::vector<Entry> saved_;  // parameters of open ifs
  std::uint32_t br_table_mark_ = 0;
};

}  // namespace hoist::wasm
