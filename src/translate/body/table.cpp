// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Table accesses and references, inline with explicit bounds checks.
#include "base/check.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using ir::I32;
using ir::I64;

IrSink::TableFacts IrSink::table_facts(std::uint32_t table) const {
  // An imported table matches its declared limits, so equal bounds fix its size too. Its elements
  // never move then: growth, by nothing, changes nothing.
  const wasm::Limits& limits = env_.module.tables[table].type.limits;
  const bool fixed = limits.has_max && limits.min == limits.max && limits.min <= 0xffff'ffff;
  return {fixed, limits.min};
}

IrSink::Value IrSink::table_pointer(std::uint32_t table) {
  return builder_.load(ir::Op::Load, I64, constant_flags_, ctx_, env_.layout.table(table));
}

IrSink::Value IrSink::table_length(std::uint32_t table) {
  return builder_.load(ir::Op::Load, I64, state_flags(Region::State, 0), table_pointer(table),
                       offsetof(image::VmTable, length));
}

IrSink::Value IrSink::table_slot(std::uint32_t table, Value place, ir::TrapCode out_of_bounds) {
  const TableFacts facts = table_facts(table);
  const bool is64 = is_table64(table);
  const Value wide = widen(place, is64);
  Value outside;
  if (facts.fixed) {
    outside = builder_.icmp(ir::IntCC::Uge, place, builder_.iconst(is64 ? I64 : I32, facts.length));
  } else {
    outside = builder_.icmp(ir::IntCC::Uge, wide, table_length(table));
  }
  builder_.trapnz(outside, out_of_bounds);
  const ir::MemFlagsRef flags = facts.fixed ? constant_flags_ : state_flags(Region::State, 0);
  const Value elements = builder_.load(ir::Op::Load, I64, flags, table_pointer(table),
                                       offsetof(image::VmTable, elements));
  const Value offset = builder_.binary(ir::Op::Ishl, wide, builder_.iconst(I64, 3));
  return builder_.binary(ir::Op::Iadd, elements, offset);
}

IrSink::Value IrSink::table_get(std::uint32_t table, Value place) {
  const Value slot = table_slot(table, place, ir::TrapCode::TableOutOfBounds);
  const Value element =
      builder_.load(ir::Op::Load, I64, state_flags(Region::Table, table), slot, 0);
  note_reference(env_.module.tables[table].type.element, element);
  return element;
}

void IrSink::table_set(std::uint32_t table, Value place, Value value) {
  const Value slot = table_slot(table, place, ir::TrapCode::TableOutOfBounds);
  builder_.store(ir::Op::Store, state_flags(Region::Table, table), value, slot, 0);
}

IrSink::Value IrSink::table_size(std::uint32_t table) {
  const TableFacts facts = table_facts(table);
  const bool is64 = is_table64(table);
  if (facts.fixed) return builder_.iconst(is64 ? I64 : I32, facts.length);
  return narrow(table_length(table), is64);
}

IrSink::Value IrSink::ref_null(wasm::ValType) {
  return builder_.iconst(I64, 0);
}

IrSink::Value IrSink::ref_is_null(wasm::ValType, Value value) {
  return to_i32(builder_.icmp(ir::IntCC::Eq, value, builder_.iconst(I64, 0)));
}

IrSink::Value IrSink::ref_func(std::uint32_t target) {
  const std::uint32_t number = env_.func_refs.number(target);
  HOIST_CHECK(number != image::FuncRefNumbers::kNone, "ref.func names a declared function");
  const auto offset = static_cast<std::uint64_t>(env_.layout.func_ref(number));
  return builder_.binary(ir::Op::Iadd, ctx_, builder_.iconst(I64, offset));
}

}  // namespace hoist::translate
