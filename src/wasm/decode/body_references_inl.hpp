// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The part of body_decoder_inl.hpp that is about typed references, tail calls and heap objects.
/// Included by it.

#include "wasm/decode/body_decoder.hpp"
#include "wasm/format/subtyping.hpp"

namespace hoist::wasm {

// ---- Calls

template <Sink S>
bool BodyDecoder<S>::return_call(Group group) {
  std::uint32_t index = 0;
  std::uint32_t table = 0;
  const FuncType* type = nullptr;
  Value callee{};
  if (group == Group::ReturnCall) {
    if (!read_function(index)) return false;
    type = &module_->function_type(index);
  } else {
    if (!read_func_type(index)) return false;
    type = &module_->types[index];
    if (group == Group::ReturnCallIndirect) {
      if (!read_table(table) || !check_callee_table(table)) return false;
    }
  }
  if (!check_tail_call(*type)) return false;
  if (group == Group::ReturnCallIndirect) {
    if (!pop(module_->tables[table].type.index_type(), callee)) return false;
  } else if (group == Group::ReturnCallRef) {
    if (!pop(type_ref(index, true), callee)) return false;
  }
  if (!want_top(type->params())) return false;
  if (live_) {
    const std::span<Entry> args = top(type->params().size());
    if (group == Group::ReturnCall) {
      sink_->return_call(index, *type, args);
    } else if (group == Group::ReturnCallIndirect) {
      sink_->return_call_indirect(index, table, *type, callee, args);
    } else {
      sink_->return_call_ref(index, *type, callee, args);
    }
  }
  set_dead();
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::call_ref() {
  std::uint32_t index = 0;
  Value callee{};
  if (!read_func_type(index) || !pop(type_ref(index, true), callee)) return false;
  const FuncType& type = module_->types[index];
  const std::span<const ValType> results = type.results();
  if (!want_top(type.params()) || !push_all(results)) return false;
  if (live_) {
    sink_->call_ref(index, type, callee,
                    top(results.size() + type.params().size()).first(type.params().size()),
                    top(results.size()));
  }
  drop_below(results.size(), type.params().size());
  return taken();
}

// ---- References

template <Sink S>
bool BodyDecoder<S>::ref_eq() {
  const ValType eq = ValType::ref(HeapType(HeapType::Eq), true);
  Value a{};
  Value b{};
  if (!pop(eq, b) || !pop(eq, a)) return false;
  push(TypeKind::I32, live_ ? sink_->ref_eq(a, b) : Value{});
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::ref_as_non_null() {
  Entry entry;
  if (!pop_ref(entry)) return false;
  push(entry.type.non_null(), live_ ? sink_->ref_as_non_null(entry.value) : Value{});
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::br_on_null() {
  std::uint32_t depth = 0;
  Entry entry;
  if (!read_label(controls_.size(), depth) || !pop_ref(entry)) return false;
  const std::span<const ValType> types = target(depth).label_types();
  if (!want_top(types)) return false;
  Value value{};
  if (live_) value = sink_->br_on_null(label(depth), entry.value, top(types.size()));
  push(entry.type.non_null(), value);
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::br_on_non_null() {
  std::uint32_t depth = 0;
  Entry entry;
  if (!read_label(controls_.size(), depth)) return false;
  const std::span<const ValType> types = target(depth).label_types();
  if (!check_ref_label(types) || !pop_ref(entry)) return false;
  if (!is_subtype(*module_, entry.type.non_null(), types.back())) {
    return fail_type(types.back(), entry.type);
  }
  const std::span<const ValType> others = types.first(types.size() - 1);
  if (!want_top(others)) return false;
  if (live_) sink_->br_on_non_null(label(depth), entry.value, top(others.size()));
  return taken();
}

// ---- Heap objects

template <Sink S>
bool BodyDecoder<S>::heap_op() {
  HeapImm imm;
  if (!read_heap(imm)) return false;
  ValType result = heap_out_;
  if (op_ == Op::AnyConvertExtern || op_ == Op::ExternConvertAny) {
    // The result is null exactly if the operand is.
    Entry entry;
    if (!pop_ref(entry)) return false;
    if (!is_subtype(*module_, entry.type, heap_in_[0])) return fail_type(heap_in_[0], entry.type);
    if (!entry.type.is_nullable()) {
      heap_in_[0] = heap_in_[0].non_null();
      result = result.non_null();
    }
    push(entry.type, entry.value);
  }
  const std::size_t results = result.is_bottom() ? 0 : 1;
  if (!want_top(heap_in_)) return false;
  if (results != 0) push(result, Value{});
  if (live_) {
    sink_->heap(op_, imm, top(results + heap_in_.size()).first(heap_in_.size()), top(results));
  }
  drop_below(results, heap_in_.size());
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::br_on_cast() {
  HeapImm imm;
  std::uint8_t flags = 0;
  if (!read_cast_flags(flags) || !read_label(controls_.size(), imm.first)) return false;
  if (!read_heap_type_ref((flags & 1) != 0, imm.from)) return false;
  if (!read_heap_type_ref((flags & 2) != 0, imm.to)) return false;
  if (!is_subtype(*module_, imm.to, imm.from)) return fail_type(imm.from, imm.to);
  const std::span<const ValType> types = target(imm.first).label_types();
  if (!check_ref_label(types)) return false;
  // What is not of type `to`: of type `from`, and not null if null is of type `to`.
  const ValType rest = imm.to.is_nullable() ? imm.from.non_null() : imm.from;
  const bool on_fail = op_ == Op::BrOnCastFail;
  const ValType sent = on_fail ? rest : imm.to;
  const ValType stays = on_fail ? imm.to : rest;
  if (!is_subtype(*module_, sent, types.back())) return fail_type(types.back(), sent);
  Value value{};
  if (!pop(imm.from, value)) return false;
  if (!want_top(types.first(types.size() - 1))) return false;
  push(imm.from, value);
  push(stays, Value{});
  if (live_) {
    target(imm.first).branched_to = true;
    sink_->heap(op_, imm, top(types.size() + 1).first(types.size()), top(1));
  }
  drop_below(1, 1);
  return taken();
}

}  // namespace hoist::wasm
