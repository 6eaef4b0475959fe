// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: of functions of the module, of imports, through tables, of the runtime.
#include "image/layout/func_key.hpp"
#include "translate/calls/trampolines.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using image::FuncKey;
using image::FuncKind;
using ir::I32;
using ir::I64;

ir::SigRef IrSink::signature(std::uint32_t type) {
  const std::uint32_t canonical = env_.module.canonical_type(type);
  ir::SigRef& made = signatures_.at(canonical, epoch_);
  if (made.is_none()) made = func().signatures.push(ir_signature(env_.module.types[canonical]));
  return made;
}

ir::FuncRef IrSink::function(std::uint32_t target) {
  ir::FuncRef& made = functions_.at(target, epoch_);
  if (made.is_none()) {
    const FuncKey key(FuncKind::WasmFunction, 0, target);
    ir::ExtFunc callee;
    callee.name = ir::ExternalName::user(key.name_space(), key.index());
    callee.signature = signature(env_.module.functions[target].type_index);
    callee.colocated = true;
    made = func().ext_funcs.push(std::move(callee));
  }
  return made;
}

void IrSink::take_results(ir::Inst call, Out results) {
  const std::span<const Value> made = func().results(call);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].value = made[i];
    note_reference(results[i].type, made[i]);
  }
}

void IrSink::set_args(Value context, In args) {
  values_.assign(1, context);
  for (const auto& arg : args) values_.push_back(arg.value);
}

void IrSink::make_call(ir::FuncRef callee, ir::SigRef sig, Value code, Out results) {
  if (in_scope()) {
    call_in_scope(callee, sig, code, results);
  } else if (callee.is_some()) {
    take_results(builder_.call(callee, values_), results);
  } else {
    take_results(builder_.call_indirect(sig, code, values_), results);
  }
  after_call();
}

IrSink::Callee IrSink::imported_callee(std::uint32_t target) {
  const std::int32_t import = env_.layout.func_import(target);
  const auto field = [&](std::size_t offset) {
    return builder_.load(ir::Op::Load, I64, constant_flags_, ctx_,
                         import + static_cast<std::int32_t>(offset));
  };
  const Value code = field(offsetof(image::VmFuncImport, code));
  return {code, field(offsetof(image::VmFuncImport, ctx))};
}

void IrSink::call(std::uint32_t target, const wasm::FuncType&, In args, Out results) {
  before_leaving();
  const std::uint32_t type = env_.module.functions[target].type_index;
  if (env_.module.is_imported_function(target)) {
    const Callee callee = imported_callee(target);
    set_args(callee.context, args);
    make_call({}, signature(type), callee.code, results);
  } else {
    set_args(ctx_, args);
    make_call(function(target), signature(type), {}, results);
  }
}

/// Checked for null and for the type.
IrSink::Callee IrSink::table_callee(std::uint32_t type, std::uint32_t table, Value place) {
  const Value slot = table_slot(table, place, ir::TrapCode::UndefinedElement);
  const Value ref = builder_.load(ir::Op::Load, I64, state_flags(Region::Table, table), slot, 0);
  const wasm::ValType element = env_.module.tables[table].type.element;
  if (element.is_nullable()) builder_.trapz(ref, ir::TrapCode::UninitializedElement);
  if (!is_known_type(element, type)) check_func_type(ref, type);
  return callee_of(ref);
}

/// A reference of the right type; checked for null.
IrSink::Callee IrSink::referenced_callee(Value reference) {
  builder_.trapz(reference, ir::TrapCode::NullFunctionReference);
  return callee_of(reference);
}

IrSink::Callee IrSink::callee_of(Value reference) {
  const ir::MemFlagsRef ref_flags = func_ref_flags();
  const Value code =
      builder_.load(ir::Op::Load, I64, ref_flags, reference, offsetof(image::VmFuncRef, code));
  return {code,
          builder_.load(ir::Op::Load, I64, ref_flags, reference, offsetof(image::VmFuncRef, ctx))};
}

void IrSink::call_indirect(std::uint32_t type, std::uint32_t table, const wasm::FuncType&,
                           Value place, In args, Out results) {
  const Callee callee = table_callee(type, table, place);
  before_leaving();
  set_args(callee.context, args);
  make_call({}, signature(type), callee.code, results);
}

// ---- Tail calls: they leave the function's frame, and the handlers in it, before the callee runs.

void IrSink::make_tail_call(Callee callee, std::uint32_t type, In args) {
  check_interrupts();
  before_leaving();
  set_args(callee.context, args);
  builder_.return_call_indirect(signature(type), callee.code, values_);
}

void IrSink::return_call(std::uint32_t target, const wasm::FuncType&, In args) {
  const std::uint32_t type = env_.module.functions[target].type_index;
  if (env_.module.is_imported_function(target)) {
    return make_tail_call(imported_callee(target), type, args);
  }
  check_interrupts();
  before_leaving();
  set_args(ctx_, args);
  builder_.return_call(function(target), values_);
}

void IrSink::return_call_indirect(std::uint32_t type, std::uint32_t table, const wasm::FuncType&,
                                  Value place, In args) {
  make_tail_call(table_callee(type, table, place), type, args);
}

void IrSink::return_call_ref(std::uint32_t type, const wasm::FuncType&, Value reference, In args) {
  make_tail_call(referenced_callee(reference), type, args);
}

// ---- Builtins.

ir::FuncRef IrSink::builtin_function(image::Builtin builtin) {
  ir::FuncRef& callee = builtins_.at(static_cast<std::uint32_t>(builtin), epoch_);
  if (callee.is_none()) {
    const FuncKey key(FuncKind::BuiltinTrampoline, 0, static_cast<std::uint32_t>(builtin));
    ir::ExtFunc made;
    made.name = ir::ExternalName::user(key.name_space(), key.index());
    made.signature = func().signatures.push(builtin_signature(builtin));
    made.colocated = true;
    callee = func().ext_funcs.push(std::move(made));
  }
  return callee;
}

ir::Inst IrSink::call_builtin(image::Builtin builtin, std::initializer_list<Value> args) {
  const ir::FuncRef callee = builtin_function(builtin);
  before_leaving();
  values_.assign(1, ctx_);
  values_.insert(values_.end(), args.begin(), args.end());
  const ir::Inst made = builder_.call(callee, values_);
  after_call();
  return made;
}

IrSink::Value IrSink::builtin_result(image::Builtin builtin, std::initializer_list<Value> args) {
  return func().result(call_builtin(builtin, args));
}

}  // namespace hoist::translate
