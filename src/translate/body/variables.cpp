// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locals, globals, select.
#include "translate/ir_sink.hpp"

namespace hoist::translate {

// Locals are declared first and in order: the variable of a local has its number.

IrSink::Value IrSink::local_get(std::uint32_t local, wasm::ValType type) {
  if (too_complex_) [[unlikely]]
    return zero(ir_type(type));
  return builder_.use(ir::Variable(local));
}

void IrSink::local_set(std::uint32_t local, wasm::ValType, Value value) {
  builder_.define(ir::Variable(local), value);
  note_assignment();
}

IrSink::Value IrSink::local_tee(std::uint32_t local, wasm::ValType, Value value) {
  builder_.define(ir::Variable(local), value);
  note_assignment();
  return value;
}

IrSink::Value IrSink::zero(ir::Type type) {
  if (type == ir::F32) return builder_.f32const(0);
  if (type == ir::F64) return builder_.f64const(0);
  if (type == ir::I8x16) {
    static constexpr std::uint8_t kZero[16] = {};
    return builder_.vconst(type, kZero);
  }
  return builder_.iconst(type, 0);
}

IrSink::Value IrSink::select(wasm::ValType, Value if_nonzero, Value if_zero, Value c) {
  return builder_.ternary(ir::Op::Select, condition(c), if_nonzero, if_zero);
}

IrSink::Value IrSink::global_get(std::uint32_t global, const wasm::GlobalType& type) {
  const ir::Type value_type = ir_type(type.type);
  const ModuleEnv::ConstGlobal& constant = env_.globals[global];
  if (constant.known) {
    if (value_type == ir::F32) return builder_.f32const(static_cast<std::uint32_t>(constant.bits));
    if (value_type == ir::F64) return builder_.f64const(constant.bits);
    return builder_.iconst(value_type, constant.bits);
  }
  const GlobalPlace place = global_place(global);
  const ir::MemFlagsRef flags =
      type.is_mutable ? state_flags(Region::Global, global) : constant_flags_;
  const Value value = builder_.load(ir::Op::Load, value_type, flags, place.base, place.offset);
  note_reference(type.type, value);
  return value;
}

void IrSink::global_set(std::uint32_t global, const wasm::GlobalType&, Value value) {
  const GlobalPlace place = global_place(global);
  builder_.store(ir::Op::Store, state_flags(Region::Global, global), value, place.base,
                 place.offset);
}

IrSink::GlobalPlace IrSink::global_place(std::uint32_t global) {
  const std::uint32_t imported = env_.module.num_imported_globals;
  if (global >= imported) return {ctx_, env_.layout.global(global - imported)};
  const Value pointer = builder_.load(ir::Op::Load, ir::I64, constant_flags_, ctx_,
                                      env_.layout.imported_global(global));
  return {pointer, 0};
}

// ---- Alias regions. Imported globals, tables and memories may be the same object under two
// indexes, so all imported ones of a kind share one region; what a module defines is never one of
// its imports.

ir::AliasRegion IrSink::region(Region kind, std::uint32_t index) {
  Cache<ir::AliasRegion>* cache = nullptr;
  std::uint32_t imported = 0;
  const char* name = "";
  switch (kind) {
    case Region::Global:
      cache = &global_regions_;
      imported = env_.module.num_imported_globals;
      name = "global";
      break;
    case Region::Table:
      cache = &table_regions_;
      imported = env_.module.num_imported_tables;
      name = "table";
      break;
    case Region::Memory:
      cache = &memory_regions_;
      imported = env_.module.num_imported_memories;
      name = "memory";
      break;
    case Region::State:
      cache = &state_region_;
      name = "state";
      break;
    case Region::Limits:
      cache = &limits_region_;
      name = "limits";
      break;
  }
  if (index < imported) index = 0;
  ir::AliasRegion& made = cache->at(index, epoch_);
  if (made.is_none()) {
    made = func().alias_regions.push({static_cast<std::uint32_t>(kind) << 28 | index, name});
  }
  return made;
}

ir::MemFlagsRef IrSink::state_flags(Region kind, std::uint32_t index) {
  ir::MemFlags flags = ir::MemFlags::trusted();
  flags.region = region(kind, index);
  // Lengths and bases of memories and tables: always there to be read.
  flags.can_move = kind == Region::State;
  return func().intern(flags);
}

}  // namespace hoist::translate
