// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Typed references: null checks, calls, types of functions at run time; what the collector is told.
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using ir::I32;
using ir::I64;

void IrSink::mark_reference(wasm::ValType type, Value v) {
  if (is_collected(type)) func().mark_reference(v);
}

IrSink::Value IrSink::ref_as_non_null(Value value) {
  builder_.trapz(value, ir::TrapCode::NullReference);
  return value;
}

IrSink::Value IrSink::ref_eq(Value x, Value y) {
  return to_i32(builder_.icmp(ir::IntCC::Eq, x, y));
}

IrSink::Value IrSink::br_on_null(const Label& label, Value value, In in) {
  const Value is_null = builder_.icmp(ir::IntCC::Eq, value, builder_.iconst(I64, 0));
  br_if(label, is_null, in);
  return value;
}

void IrSink::br_on_non_null(const Label& label, Value value, In in) {
  const Value is_there = builder_.icmp(ir::IntCC::Ne, value, builder_.iconst(I64, 0));
  operands_.assign(in.begin(), in.end());
  operands_.push_back({label.types.back(), value});
  br_if(label, is_there, operands_);
}

// ---- Functions.

ir::MemFlagsRef IrSink::func_ref_flags() {
  // What a reference points to never changes, but loads must stay behind the check for null.
  ir::MemFlags flags = ir::MemFlags::trusted();
  flags.readonly = true;
  return func().intern(flags);
}

void IrSink::call_ref(std::uint32_t type, const wasm::FuncType&, Value callee, In args,
                      Out results) {
  const Callee target = referenced_callee(callee);
  before_leaving();
  set_args(target.context, args);
  make_call({}, signature(type), target.code, results);
}

bool IrSink::is_known_type(wasm::ValType element, std::uint32_t type) const {
  if (element.heap().is_abstract()) return false;
  const std::uint32_t wanted = env_.module.canonical_type(type);
  std::uint32_t at = element.heap().type_index();
  while (at != wanted && at != wasm::TypeDef::kNoSuper) at = env_.module.type_defs[at].super;
  return at == wanted;
}

void IrSink::check_func_type(Value ref, std::uint32_t type) {
  const std::uint32_t canonical = env_.module.canonical_type(type);
  const wasm::TypeDef& def = env_.module.type_defs[canonical];
  const ir::MemFlagsRef flags = func_ref_flags();
  const Value wanted =
      builder_.load(ir::Op::Load, I32, constant_flags_, ctx_, env_.layout.type_id(canonical));
  Value actual;
  if (def.is_final) {
    actual = builder_.load(ir::Op::Load, I32, flags, ref, offsetof(image::VmFuncRef, type_id));
  } else {
    const Value supers =
        builder_.load(ir::Op::Load, I64, flags, ref, offsetof(image::VmFuncRef, supertypes));
    if (def.depth >= image::kSupertypesAtLeast) {
      const Value count = builder_.load(ir::Op::Load, I32, flags, supers, 0);
      const Value depth = builder_.iconst(I32, def.depth);
      const Value shallow = builder_.icmp(ir::IntCC::Ule, count, depth);
      builder_.trapnz(shallow, ir::TrapCode::IndirectTypeMismatch);
    }
    actual = builder_.load(ir::Op::Load, I32, flags, supers, 4 * (1 + std::int32_t{def.depth}));
  }
  const Value differs = builder_.icmp(ir::IntCC::Ne, actual, wanted);
  builder_.trapnz(differs, ir::TrapCode::IndirectTypeMismatch);
}

}  // namespace hoist::translate
