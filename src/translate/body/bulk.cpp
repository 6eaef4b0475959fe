// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that the runtime does: growth, bulk copies, segments. Indexes and lengths are unsigned
// 32-bit numbers and go as i64; the runtime checks bounds.
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using image::Builtin;
using ir::I32;
using ir::I64;

/// Zero-extended to 64 bits.
IrSink::Value IrSink::widen(Value x) {
  return builder_.unary(ir::Op::Uextend, I64, x);
}

IrSink::Value IrSink::index_constant(std::uint32_t index) {
  return builder_.iconst(I32, index);
}

IrSink::Value IrSink::memory_grow(std::uint32_t memory, Value delta) {
  const Value old = builtin_result(Builtin::memory_grow, {index_constant(memory), widen(delta)});
  return builder_.unary(ir::Op::Ireduce, I32, old);
}

void IrSink::memory_fill(std::uint32_t memory, Value to, Value byte, Value length) {
  call_builtin(Builtin::memory_fill, {index_constant(memory), widen(to), byte, widen(length)});
}

void IrSink::memory_copy(std::uint32_t to_memory, std::uint32_t from_memory, Value to, Value from,
                         Value length) {
  call_builtin(Builtin::memory_copy, {index_constant(to_memory), index_constant(from_memory),
                                      widen(to), widen(from), widen(length)});
}

void IrSink::memory_init(std::uint32_t segment, std::uint32_t memory, Value to, Value from,
                         Value length) {
  call_builtin(Builtin::memory_init, {index_constant(memory), index_constant(segment), widen(to),
                                      widen(from), widen(length)});
}

void IrSink::data_drop(std::uint32_t segment) {
  call_builtin(Builtin::data_drop, {index_constant(segment)});
}

IrSink::Value IrSink::table_grow(std::uint32_t table, Value init, Value delta) {
  const Value old =
      builtin_result(Builtin::table_grow, {index_constant(table), init, widen(delta)});
  return builder_.unary(ir::Op::Ireduce, I32, old);
}

void IrSink::table_fill(std::uint32_t table, Value place, Value value, Value length) {
  call_builtin(Builtin::table_fill, {index_constant(table), widen(place), value, widen(length)});
}

void IrSink::table_copy(std::uint32_t to_table, std::uint32_t from_table, Value to, Value from,
                        Value length) {
  call_builtin(Builtin::table_copy, {index_constant(to_table), index_constant(from_table),
                                     widen(to), widen(from), widen(length)});
}

void IrSink::table_init(std::uint32_t segment, std::uint32_t table, Value to, Value from,
                        Value length) {
  call_builtin(Builtin::table_init, {index_constant(table), index_constant(segment), widen(to),
                                     widen(from), widen(length)});
}

void IrSink::elem_drop(std::uint32_t segment) {
  call_builtin(Builtin::elem_drop, {index_constant(segment)});
}

}  // namespace hoist::translate
