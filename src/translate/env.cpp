// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts of a module that all its functions share, and the mapping of types.
#include "base/check.hpp"
#include "image/layout/func_key.hpp"
#include "translate/translator.hpp"

namespace hoist::translate {

namespace {

/// Value of an initialiser that is one constant instruction.
ModuleEnv::ConstGlobal constant_of(const wasm::Module& module, const wasm::Global& global) {
  const std::span<const wasm::ConstOp> ops = module.const_ops(global.init);
  if (global.type.is_mutable || ops.size() != 1) return {};
  // Other initialisers are known when the instance is made.
  switch (ops[0].op) {
    case wasm::Op::I32Const:
    case wasm::Op::I64Const:
    case wasm::Op::F32Const:
    case wasm::Op::F64Const: return {true, ops[0].operand};
    case wasm::Op::RefNull: return {true, 0};
    default: return {};
  }
}

}  // namespace

ModuleEnv::ModuleEnv(const wasm::Module& m, const image::CodeSettings& code_settings)
    : module(m),
      func_refs(m),
      layout(image::instance_layout(m, func_refs)),
      settings(code_settings) {
  globals.resize(m.globals.size());
  for (std::size_t i = m.num_imported_globals; i < globals.size(); ++i) {
    globals[i] = constant_of(m, m.globals[i]);
  }
}

ir::Type ir_type(wasm::ValType type) {
  switch (type.kind()) {
    case wasm::TypeKind::I32: return ir::I32;
    case wasm::TypeKind::F32: return ir::F32;
    case wasm::TypeKind::F64: return ir::F64;
    case wasm::TypeKind::I64:
    case wasm::TypeKind::FuncRef:
    case wasm::TypeKind::ExternRef:
    case wasm::TypeKind::Ref:
    case wasm::TypeKind::RefNull: return ir::I64;
    case wasm::TypeKind::V128: return ir::I8x16;
    case wasm::TypeKind::Bottom: break;
  }
  // Bottom only exists in dead code.
  HOIST_UNREACHABLE("value type has an IR type");
}

ir::Signature ir_signature(const wasm::FuncType& type) {
  ir::Signature out;
  out.call_conv = ir::CallConv::Tail;
  out.params.reserve(type.params().size() + 1);
  out.params.push_back({ir::I64, ir::ArgExtension::None, ir::ArgPurpose::VmCtx, 0});
  for (const wasm::ValType param : type.params()) out.params.push_back({ir_type(param)});
  out.returns.reserve(type.results().size());
  for (const wasm::ValType result : type.results()) out.returns.push_back({ir_type(result)});
  return out;
}

}  // namespace hoist::translate
