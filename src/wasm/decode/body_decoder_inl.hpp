// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Bodies of BodyDecoder; for the one .cpp of each sink.
///
/// Two notions of dead code, both needed. `live_` is about control: can the code run? It decides
/// whether the sink hears of it. `polymorphic` of the innermost block is about types: after an
/// unconditional branch the stack yields whatever is asked for. Behind a block that never reaches
/// its end the code is dead, but its stack has types as usual.

#include <algorithm>

#include "wasm/decode/body_control_inl.hpp"
#include "wasm/decode/body_decoder.hpp"
#include "wasm/decode/body_exceptions_inl.hpp"
#include "wasm/decode/body_references_inl.hpp"
#include "wasm/decode/body_vectors_inl.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/format/subtyping.hpp"

namespace hoist::wasm {

template <Sink S>
Result<void> BodyDecoder<S>::decode(const Module& module, std::uint32_t func, S& sink) {
  reset(module, func);
  sink_ = &sink;
  live_ = true;
  controls_.clear();
  saved_.clear();
  br_table_mark_ = 0;
  if (!stack_) grow(256);
  sp_ = base_ = stack_.get();
  if (!run()) return take_error();
  return {};
}

template <Sink S>
bool BodyDecoder<S>::run() {
  if (!read_locals()) return false;
  if (!push_control(FrameKind::Func, {{}, type_->results()})) return false;
  sink_->begin(BodyInfo{*module_, *type_, func_, module_->body(func_), num_locals_},
               control().frame);
  std::uint32_t first = static_cast<std::uint32_t>(type_->params().size());
  for (const LocalRun& run : local_runs_) {
    sink_->declare_locals(run.end - first, run.type);
    first = run.end;
  }
  while (!controls_.empty()) {
    at_ = reader_.offset();
    std::uint8_t byte = 0;
    if (!reader_.u8(byte)) [[unlikely]] {
      return fail(ErrorKind::Malformed,
                  "unexpected end of section or function: END opcode expected (or section size "
                  "mismatch)",
                  at_);
    }
    std::uint16_t number = byte;
    if (byte >= 0xfb && byte <= 0xfe) {
      if (!read_prefixed(byte, number)) return false;
    }
    op_ = static_cast<Op>(number);
    if (live_) sink_->at(at_);
    if (!instruction(meta_[number])) return false;
  }
  if (!taken()) return false;
  if (!reader_.at_end()) {
    at_ = reader_.offset();
    return fail(ErrorKind::Malformed,
                "section size mismatch: operators remaining after end of function", at_);
  }
  return true;
}

template <Sink S>
bool BodyDecoder<S>::instruction(const OpMeta& meta) {
  Value a{};
  Value b{};
  std::uint32_t index = 0;
  switch (meta.group) {
    case Group::Illegal: return fail_opcode(static_cast<std::uint16_t>(op_));
    case Group::Later: return fail_feature(op_info(op_).feature, text(op_), at_);
    case Group::Unreachable:
      if (live_) sink_->unreachable();
      set_dead();
      return true;
    case Group::Nop: return true;
    case Group::Block: return block(FrameKind::Block);
    case Group::Loop: return block(FrameKind::Loop);
    case Group::If: return block(FrameKind::If);
    case Group::Else: return else_part(false);
    case Group::End: return end();
    case Group::Br: return br(false);
    case Group::BrIf: return br(true);
    case Group::BrTable: return br_table();
    case Group::Return: return return_values();
    case Group::Call: return call_direct();
    case Group::CallIndirect: return call_indirect();
    case Group::Drop: {
      Entry entry;
      if (!pop_any(entry)) return false;
      if (live_) sink_->drop(entry.type, entry.value);
      return true;
    }
    case Group::Select: return select();
    case Group::SelectTyped: return select_typed();
    case Group::LocalGet: {
      if (!read_local(index)) return false;
      const ValType type = local_type(index);
      if (!type.is_defaultable() && !check_set(index)) [[unlikely]]
        return false;
      push(type, live_ ? sink_->local_get(index, type) : Value{});
      return true;
    }
    case Group::LocalSet: {
      if (!read_local(index)) return false;
      const ValType type = local_type(index);
      if (!pop(type, a)) return false;
      if (!type.is_defaultable()) [[unlikely]]
        mark_set(index);
      if (live_) sink_->local_set(index, type, a);
      return true;
    }
    case Group::LocalTee: {
      if (!read_local(index)) return false;
      const ValType type = local_type(index);
      if (!pop(type, a)) return false;
      if (!type.is_defaultable()) [[unlikely]]
        mark_set(index);
      push(type, live_ ? sink_->local_tee(index, type, a) : Value{});
      return true;
    }
    case Group::GlobalGet:
    case Group::GlobalSet: return global_op(meta.group);
    case Group::TableGet:
    case Group::TableSet:
    case Group::TableGrow:
    case Group::TableSize:
    case Group::TableFill: return table_op(meta.group);
    case Group::Load: {
      MemArg mem;
      if (!read_mem_arg(meta.align_log2, mem)) return false;
      if (!pop(module_->memories[mem.memory].type.address_type(), a)) return false;
      push(meta.out, live_ ? sink_->load(op_, mem, a) : Value{});
      return true;
    }
    case Group::Store: {
      MemArg mem;
      if (!read_mem_arg(meta.align_log2, mem)) return false;
      if (!pop(meta.in, b) || !pop(module_->memories[mem.memory].type.address_type(), a)) {
        return false;
      }
      if (live_) sink_->store(op_, mem, a, b);
      return true;
    }
    case Group::MemorySize: {
      if (!read_memory(index)) return false;
      push(module_->memories[index].type.address_type(),
           live_ ? sink_->memory_size(index) : Value{});
      return true;
    }
    case Group::MemoryGrow: {
      if (!read_memory(index)) return false;
      const ValType type = module_->memories[index].type.address_type();
      if (!pop(type, a)) return false;
      push(type, live_ ? sink_->memory_grow(index, a) : Value{});
      return true;
    }
    case Group::ConstI32: {
      std::int32_t value = 0;
      if (!reader_.s32(value)) return fail_read();
      push(TypeKind::I32, live_ ? sink_->const_i32(value) : Value{});
      return true;
    }
    case Group::ConstI64: {
      std::int64_t value = 0;
      if (!reader_.s64(value)) return fail_read();
      push(TypeKind::I64, live_ ? sink_->const_i64(value) : Value{});
      return true;
    }
    case Group::ConstF32: {
      if (!reader_.f32_bits(index)) return fail_read();
      push(TypeKind::F32, live_ ? sink_->const_f32(index) : Value{});
      return true;
    }
    case Group::ConstF64: {
      std::uint64_t bits = 0;
      if (!reader_.f64_bits(bits)) return fail_read();
      push(TypeKind::F64, live_ ? sink_->const_f64(bits) : Value{});
      return true;
    }
    case Group::Test:
      if (!pop(meta.in, a)) return false;
      push(meta.out, live_ ? sink_->test(op_, a) : Value{});
      return true;
    case Group::Compare:
      if (!pop(meta.in, b) || !pop(meta.in, a)) return false;
      push(meta.out, live_ ? sink_->compare(op_, a, b) : Value{});
      return true;
    case Group::Unary:
      if (!pop(meta.in, a)) return false;
      push(meta.out, live_ ? sink_->unary(op_, a) : Value{});
      return true;
    case Group::Binary:
      if (!pop(meta.in, b) || !pop(meta.in, a)) return false;
      push(meta.out, live_ ? sink_->binary(op_, a, b) : Value{});
      return true;
    case Group::Convert:
      if (!pop(meta.in, a)) return false;
      push(meta.out, live_ ? sink_->convert(op_, a) : Value{});
      return true;
    case Group::RefNull: {
      ValType type;
      if (!read_null_type(type)) return false;
      push(type, live_ ? sink_->ref_null(type) : Value{});
      return true;
    }
    case Group::RefIsNull: {
      Entry entry;
      if (!pop_ref(entry)) return false;
      push(TypeKind::I32, live_ ? sink_->ref_is_null(entry.type, entry.value) : Value{});
      return true;
    }
    case Group::RefFunc:
      if (!read_function(index) || !check_declared(index)) return false;
      push(module_->func_ref_type(index), live_ ? sink_->ref_func(index) : Value{});
      return true;
    case Group::MemoryInit:
    case Group::DataDrop:
    case Group::MemoryCopy:
    case Group::MemoryFill:
    case Group::TableInit:
    case Group::ElemDrop:
    case Group::TableCopy: return bulk_op(meta.group);
    case Group::Try: return block(FrameKind::Try);
    case Group::TryTable: return try_table();
    case Group::Catch: return catch_part(FrameKind::Catch);
    case Group::CatchAll: return catch_part(FrameKind::CatchAll);
    case Group::Delegate: return delegate();
    case Group::Rethrow: return rethrow();
    case Group::Throw: return throw_tag();
    case Group::ThrowRef: return throw_reference();
    case Group::ReturnCall:
    case Group::ReturnCallIndirect:
    case Group::ReturnCallRef: return return_call(meta.group);
    case Group::CallRef: return call_ref();
    case Group::RefEq: return ref_eq();
    case Group::RefAsNonNull: return ref_as_non_null();
    case Group::BrOnNull: return br_on_null();
    case Group::BrOnNonNull: return br_on_non_null();
    case Group::Heap: return heap_op();
    case Group::BrOnCast: return br_on_cast();
    case Group::ConstV128: return vector_const();
    case Group::Vector: return vector_op(false);
    case Group::VectorLane: return vector_op(true);
    case Group::Shuffle: return shuffle();
    case Group::LoadLane:
    case Group::StoreLane: return lane_access(meta.group);
    case Group::AtomicLoad:
    case Group::AtomicStore:
    case Group::AtomicRmw:
    case Group::AtomicCmpxchg:
    case Group::AtomicNotify:
    case Group::AtomicWait:
    case Group::AtomicFence: return atomic_op(meta.group);
    case Group::Wide: return wide_op();
  }
  return false;
}

// ---- Operand stack

template <Sink S>
void BodyDecoder<S>::grow(std::size_t count) {
  const std::size_t used = stack_ ? static_cast<std::size_t>(sp_ - stack_.get()) : 0;
  const std::size_t base = stack_ ? static_cast<std::size_t>(base_ - stack_.get()) : 0;
  const std::size_t capacity = std::max(2 * used, used + count);
  auto bigger = std::make_unique<Entry[]>(capacity);
  if (stack_) std::copy(stack_.get(), sp_, bigger.get());
  stack_ = std::move(bigger);
  sp_ = stack_.get() + used;
  base_ = stack_.get() + base;
  stack_end_ = stack_.get() + capacity;
}

/// Room for `count` more entries. A few bytes of code can ask for a thousand values, so there is a
/// limit; single pushes are bounded by the size of the body.
template <Sink S>
bool BodyDecoder<S>::reserve(std::size_t count) {
  if (static_cast<std::size_t>(sp_ - stack_.get()) + count > kMaxOperands) [[unlikely]] {
    return fail(ErrorKind::Limit, "too many values on the operand stack", at_);
  }
  if (static_cast<std::size_t>(stack_end_ - sp_) < count) [[unlikely]]
    grow(count);
  return true;
}

template <Sink S>
bool BodyDecoder<S>::push_all(std::span<const ValType> types) {
  if (!reserve(types.size())) return false;
  for (const ValType type : types) *sp_++ = Entry{type, Value{}};
  return true;
}

template <Sink S>
bool BodyDecoder<S>::pop_slow(ValType expected, Value& value) {
  if (sp_ > base_) {
    if (!is_subtype(*module_, sp_[-1].type, expected)) return fail_type(expected, sp_[-1].type);
    value = (--sp_)->value;
    return true;
  }
  if (!control().polymorphic) return fail_empty(expected);
  value = Value{};
  return true;
}

template <Sink S>
bool BodyDecoder<S>::pop_any(Entry& out) {
  if (sp_ > base_) [[likely]] {
    out = *--sp_;
    return true;
  }
  if (!control().polymorphic) return fail_empty(ValType());
  out = Entry{};
  return true;
}

template <Sink S>
bool BodyDecoder<S>::pop3(ValType first, ValType second, ValType third, Value (&values)[3]) {
  return pop(third, values[2]) && pop(second, values[1]) && pop(first, values[0]);
}

template <Sink S>
bool BodyDecoder<S>::pop_ref(Entry& out) {
  if (!pop_any(out)) return false;
  if (out.type.is_ref()) [[likely]]
    return true;
  if (!out.type.is_bottom()) return fail_not_ref(out.type);
  out.type = ValType::ref(HeapType(HeapType::Bot), false);
  return true;
}

/// Checks without changing anything: a br_table asks for several lists of the same values.
template <Sink S>
bool BodyDecoder<S>::check_top(std::span<const ValType> types) {
  const Entry* entry = sp_;
  for (std::size_t i = types.size(); i-- > 0;) {
    if (entry == base_) return control().polymorphic || fail_values(types);
    --entry;
    if (!is_subtype(*module_, entry->type, types[i])) return fail_values(types);
  }
  return true;
}

/// The top of the stack is not what an instruction takes.
template <Sink S>
bool BodyDecoder<S>::fail_values(std::span<const ValType> types) {
  const std::size_t height = static_cast<std::size_t>(sp_ - base_);
  std::vector<ValType> found;
  for (const Entry& entry : top(std::min(height, types.size()))) found.push_back(entry.type);
  return fail_stack("instruction", types, found);
}

template <Sink S>
bool BodyDecoder<S>::want_top(std::span<const ValType> types) {
  Entry* entry = sp_;
  for (std::size_t i = types.size(); i-- > 0;) {
    if (entry == base_) [[unlikely]] {
      if (!control().polymorphic) return fail_values(types);
      // Values of any type: they are made, under those that are there.
      if (!reserve(i + 1)) return false;
      entry = base_;
      std::copy_backward(entry, sp_, sp_ + i + 1);
      for (std::size_t k = 0; k <= i; ++k) entry[k] = Entry{types[k], Value{}};
      sp_ += i + 1;
      return true;
    }
    --entry;
    if (entry->type == types[i]) [[likely]]
      continue;
    if (!is_subtype(*module_, entry->type, types[i])) return fail_values(types);
    entry->type = types[i];
  }
  return true;
}

// ---- Values, tables, bulk memory

template <Sink S>
bool BodyDecoder<S>::select() {
  Value condition{};
  Entry second;
  Entry first;
  if (!pop(TypeKind::I32, condition) || !pop_any(second) || !pop_any(first)) return false;
  const ValType type = first.type.is_bottom() ? second.type : first.type;
  if (type.is_ref() || second.type.is_ref()) {
    return invalid("type mismatch: select without a type expects numbers, found " +
                   to_string(type.is_ref() ? type : second.type));
  }
  if (!second.type.is_bottom() && second.type != type) return fail_type(type, second.type);
  push(type, live_ ? sink_->select(type, first.value, second.value, condition) : Value{});
  return true;
}

template <Sink S>
bool BodyDecoder<S>::select_typed() {
  ValType type;
  Value values[3];
  if (!read_select_type(type) || !pop3(type, type, TypeKind::I32, values)) return false;
  push(type, live_ ? sink_->select(type, values[0], values[1], values[2]) : Value{});
  return true;
}

template <Sink S>
bool BodyDecoder<S>::global_op(Group group) {
  std::uint32_t index = 0;
  if (!read_global(index)) return false;
  const GlobalType& type = module_->globals[index].type;
  if (group == Group::GlobalGet) {
    push(type.type, live_ ? sink_->global_get(index, type) : Value{});
    return true;
  }
  Value value{};
  if (!check_mutable(index) || !pop(type.type, value)) return false;
  if (live_) sink_->global_set(index, type, value);
  return true;
}

template <Sink S>
bool BodyDecoder<S>::table_op(Group group) {
  std::uint32_t table = 0;
  if (!read_table(table)) return false;
  const ValType element = module_->tables[table].type.element;
  const ValType place = module_->tables[table].type.index_type();
  Value a{};
  Value b{};
  if (group == Group::TableGet) {
    if (!pop(place, a)) return false;
    push(element, live_ ? sink_->table_get(table, a) : Value{});
  } else if (group == Group::TableSet) {
    if (!pop(element, b) || !pop(place, a)) return false;
    if (live_) sink_->table_set(table, a, b);
  } else if (group == Group::TableSize) {
    push(place, live_ ? sink_->table_size(table) : Value{});
  } else if (group == Group::TableGrow) {
    if (!pop(place, b) || !pop(element, a)) return false;
    push(place, live_ ? sink_->table_grow(table, a, b) : Value{});
  } else {
    Value values[3];
    if (!pop3(place, element, place, values)) return false;
    if (live_) sink_->table_fill(table, values[0], values[1], values[2]);
  }
  return true;
}

template <Sink S>
bool BodyDecoder<S>::bulk_op(Group group) {
  constexpr ValType kI32 = TypeKind::I32;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  Value v[3];
  const auto memory_type = [&](std::uint32_t i) {
    return module_->memories[i].type.address_type();
  };
  const auto table_type = [&](std::uint32_t i) { return module_->tables[i].type; };
  // The length of a copy has the narrower of the two address types.
  const auto narrower = [&](ValType a, ValType b) { return a == b ? a : kI32; };
  if (group == Group::MemoryInit) {
    if (!read_u32(first) || !read_memory(second) || !check_data(first)) return false;
    if (!pop3(memory_type(second), kI32, kI32, v)) return false;
    if (live_) sink_->memory_init(first, second, v[0], v[1], v[2]);
  } else if (group == Group::DataDrop) {
    if (!read_u32(first) || !check_data(first)) return false;
    if (live_) sink_->data_drop(first);
  } else if (group == Group::MemoryCopy) {
    if (!read_memory(first) || !read_memory(second)) return false;
    const ValType to = memory_type(first);
    const ValType from = memory_type(second);
    if (!pop3(to, from, narrower(to, from), v)) return false;
    if (live_) sink_->memory_copy(first, second, v[0], v[1], v[2]);
  } else if (group == Group::MemoryFill) {
    if (!read_memory(first)) return false;
    if (!pop3(memory_type(first), kI32, memory_type(first), v)) return false;
    if (live_) sink_->memory_fill(first, v[0], v[1], v[2]);
  } else if (group == Group::TableInit) {
    if (!read_u32(first) || !read_table(second) || !check_elem(first)) return false;
    if (!check_elements(module_->elements[first].type, table_type(second).element)) return false;
    if (!pop3(table_type(second).index_type(), kI32, kI32, v)) return false;
    if (live_) sink_->table_init(first, second, v[0], v[1], v[2]);
  } else if (group == Group::ElemDrop) {
    if (!read_u32(first) || !check_elem(first)) return false;
    if (live_) sink_->elem_drop(first);
  } else {
    if (!read_table(first) || !read_table(second)) return false;
    if (!check_elements(table_type(second).element, table_type(first).element)) return false;
    const ValType to = table_type(first).index_type();
    const ValType from = table_type(second).index_type();
    if (!pop3(to, from, narrower(to, from), v)) return false;
    if (live_) sink_->table_copy(first, second, v[0], v[1], v[2]);
  }
  return true;
}

}  // namespace hoist::wasm
