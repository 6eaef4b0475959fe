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
  for (std::size_t i = 0; i < results.size(); ++i) results[i].value = made[i];
}

void IrSink::call(std::uint32_t target, const wasm::FuncType&, In args, Out results) {
  before_leaving();
  values_.clear();
  if (env_.module.is_imported_function(target)) {
    const std::int32_t import = env_.layout.func_import(target);
    const auto field = [&](std::size_t offset) {
      return builder_.load(ir::Op::Load, I64, constant_flags_, ctx_,
                           import + static_cast<std::int32_t>(offset));
    };
    const Value code = field(offsetof(image::VmFuncImport, code));
    values_.push_back(field(offsetof(image::VmFuncImport, ctx)));
    for (const auto& arg : args) values_.push_back(arg.value);
    const ir::SigRef sig = signature(env_.module.functions[target].type_index);
    take_results(builder_.call_indirect(sig, code, values_), results);
    after_call();
    return;
  }
  values_.push_back(ctx_);
  for (const auto& arg : args) values_.push_back(arg.value);
  take_results(builder_.call(function(target), values_), results);
  after_call();
}

void IrSink::call_indirect(std::uint32_t type, std::uint32_t table, const wasm::FuncType&,
                           Value callee, In args, Out results) {
  const Value slot = table_slot(table, callee, ir::TrapCode::UndefinedElement);
  const Value ref = builder_.load(ir::Op::Load, I64, state_flags(Region::Table, table), slot, 0);
  builder_.trapz(ref, ir::TrapCode::UninitializedElement);
  // What a reference points to never changes, but these loads must stay behind the check for null.
  ir::MemFlags flags = ir::MemFlags::trusted();
  flags.readonly = true;
  const ir::MemFlagsRef ref_flags = func().intern(flags);
  const auto field = [&](ir::Type field_type, std::size_t offset) {
    return builder_.load(ir::Op::Load, field_type, ref_flags, ref,
                         static_cast<std::int32_t>(offset));
  };
  const Value actual = field(I32, offsetof(image::VmFuncRef, type_id));
  const Value wanted = builder_.load(ir::Op::Load, I32, constant_flags_, ctx_,
                                     env_.layout.type_id(env_.module.canonical_type(type)));
  const Value differs = builder_.icmp(ir::IntCC::Ne, actual, wanted);
  builder_.trapnz(differs, ir::TrapCode::IndirectTypeMismatch);
  const Value code = field(I64, offsetof(image::VmFuncRef, code));
  before_leaving();
  values_.clear();
  values_.push_back(field(I64, offsetof(image::VmFuncRef, ctx)));
  for (const auto& arg : args) values_.push_back(arg.value);
  take_results(builder_.call_indirect(signature(type), code, values_), results);
  after_call();
}

ir::Inst IrSink::call_builtin(image::Builtin builtin, std::initializer_list<Value> args) {
  ir::FuncRef& callee = builtins_.at(static_cast<std::uint32_t>(builtin), epoch_);
  if (callee.is_none()) {
    const FuncKey key(FuncKind::BuiltinTrampoline, 0, static_cast<std::uint32_t>(builtin));
    ir::ExtFunc made;
    made.name = ir::ExternalName::user(key.name_space(), key.index());
    made.signature = func().signatures.push(builtin_signature(builtin));
    made.colocated = true;
    callee = func().ext_funcs.push(std::move(made));
  }
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
