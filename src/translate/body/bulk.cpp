// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that the runtime does: growth, bulk copies, segments. Indexes and lengths are unsigned
// numbers and go as i64; the runtime checks bounds.
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using image::Builtin;
using ir::I32;
using ir::I64;

IrSink::Value IrSink::widen(Value x, bool is64) {
  return is64 ? x : builder_.unary(ir::Op::Uextend, I64, x);
}

IrSink::Value IrSink::narrow(Value x, bool is64) {
  return is64 ? x : builder_.unary(ir::Op::Ireduce, I32, x);
}

IrSink::Value IrSink::index_constant(std::uint32_t index) {
  return builder_.iconst(I32, index);
}

IrSink::Value IrSink::memory_grow(std::uint32_t memory, Value delta) {
  const bool wide = is_memory64(memory);
  const Value old =
      builtin_result(Builtin::memory_grow, {index_constant(memory), widen(delta, wide)});
  return narrow(old, wide);
}

void IrSink::memory_fill(std::uint32_t memory, Value to, Value byte, Value length) {
  const bool wide = is_memory64(memory);
  call_builtin(Builtin::memory_fill,
               {index_constant(memory), widen(to, wide), byte, widen(length, wide)});
}

/// Lengths of copies have the smaller of the two address types.
void IrSink::memory_copy(std::uint32_t to_memory, std::uint32_t from_memory, Value to, Value from,
                         Value length) {
  const bool to_wide = is_memory64(to_memory);
  const bool from_wide = is_memory64(from_memory);
  call_builtin(Builtin::memory_copy,
               {index_constant(to_memory), index_constant(from_memory), widen(to, to_wide),
                widen(from, from_wide), widen(length, to_wide && from_wide)});
}

/// Places in segments, and lengths with them, are i32 whatever the memory.
void IrSink::memory_init(std::uint32_t segment, std::uint32_t memory, Value to, Value from,
                         Value length) {
  call_builtin(Builtin::memory_init, {index_constant(memory), index_constant(segment),
                                      widen(to, is_memory64(memory)), widen(from), widen(length)});
}

void IrSink::data_drop(std::uint32_t segment) {
  call_builtin(Builtin::data_drop, {index_constant(segment)});
}

IrSink::Value IrSink::table_grow(std::uint32_t table, Value init, Value delta) {
  const bool wide = is_table64(table);
  const Value old =
      builtin_result(Builtin::table_grow, {index_constant(table), init, widen(delta, wide)});
  return narrow(old, wide);
}

void IrSink::table_fill(std::uint32_t table, Value place, Value value, Value length) {
  const bool wide = is_table64(table);
  call_builtin(Builtin::table_fill,
               {index_constant(table), widen(place, wide), value, widen(length, wide)});
}

void IrSink::table_copy(std::uint32_t to_table, std::uint32_t from_table, Value to, Value from,
                        Value length) {
  const bool to_wide = is_table64(to_table);
  const bool from_wide = is_table64(from_table);
  call_builtin(Builtin::table_copy,
               {index_constant(to_table), index_constant(from_table), widen(to, to_wide),
                widen(from, from_wide), widen(length, to_wide && from_wide)});
}

void IrSink::table_init(std::uint32_t segment, std::uint32_t table, Value to, Value from,
                        Value length) {
  call_builtin(Builtin::table_init, {index_constant(table), index_constant(segment),
                                     widen(to, is_table64(table)), widen(from), widen(length)});
}

void IrSink::elem_drop(std::uint32_t segment) {
  call_builtin(Builtin::elem_drop, {index_constant(segment)});
}

}  // namespace hoist::translate
