// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, comparisons, arithmetic, conversions: one IR operation each, nearly always.
#include "base/check.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using ir::F32;
using ir::F64;
using ir::FloatCC;
using ir::I16;
using ir::I32;
using ir::I64;
using ir::I8;
using ir::IntCC;
using wasm::Op;

IrSink::Value IrSink::const_i32(std::int32_t value) {
  return builder_.iconst(I32, static_cast<std::uint32_t>(value));
}
IrSink::Value IrSink::const_i64(std::int64_t value) {
  return builder_.iconst(I64, static_cast<std::uint64_t>(value));
}
IrSink::Value IrSink::const_f32(std::uint32_t bits) {
  return builder_.f32const(bits);
}
IrSink::Value IrSink::const_f64(std::uint64_t bits) {
  return builder_.f64const(bits);
}

IrSink::Value IrSink::to_i32(Value boolean) {
  return builder_.unary(ir::Op::Uextend, I32, boolean);
}

IrSink::Value IrSink::test(Op, Value x) {  // i32.eqz, i64.eqz
  const Value zero_of_type = builder_.iconst(func().type(x), 0);
  return to_i32(builder_.icmp(IntCC::Eq, x, zero_of_type));
}

IrSink::Value IrSink::compare(Op op, Value x, Value y) {
  const auto ints = [&](IntCC cc) { return to_i32(builder_.icmp(cc, x, y)); };
  const auto floats = [&](FloatCC cc) { return to_i32(builder_.fcmp(cc, x, y)); };
  switch (op) {
    case Op::I32Eq:
    case Op::I64Eq: return ints(IntCC::Eq);
    case Op::I32Ne:
    case Op::I64Ne: return ints(IntCC::Ne);
    case Op::I32LtS:
    case Op::I64LtS: return ints(IntCC::Slt);
    case Op::I32LtU:
    case Op::I64LtU: return ints(IntCC::Ult);
    case Op::I32GtS:
    case Op::I64GtS: return ints(IntCC::Sgt);
    case Op::I32GtU:
    case Op::I64GtU: return ints(IntCC::Ugt);
    case Op::I32LeS:
    case Op::I64LeS: return ints(IntCC::Sle);
    case Op::I32LeU:
    case Op::I64LeU: return ints(IntCC::Ule);
    case Op::I32GeS:
    case Op::I64GeS: return ints(IntCC::Sge);
    case Op::I32GeU:
    case Op::I64GeU: return ints(IntCC::Uge);
    case Op::F32Eq:
    case Op::F64Eq: return floats(FloatCC::Eq);
    case Op::F32Ne:
    case Op::F64Ne: return floats(FloatCC::Ne);
    case Op::F32Lt:
    case Op::F64Lt: return floats(FloatCC::Lt);
    case Op::F32Gt:
    case Op::F64Gt: return floats(FloatCC::Gt);
    case Op::F32Le:
    case Op::F64Le: return floats(FloatCC::Le);
    case Op::F32Ge:
    case Op::F64Ge: return floats(FloatCC::Ge);
    default: HOIST_UNREACHABLE("opcode is a comparison");
  }
}

IrSink::Value IrSink::unary(Op op, Value x) {
  const auto same = [&](ir::Op ir_op) { return builder_.unary(ir_op, func().type(x), x); };
  const auto arithmetic = [&](ir::Op ir_op) { return canonical_nan(same(ir_op)); };
  const auto extend = [&](ir::Type narrow) {
    const Value low = builder_.unary(ir::Op::Ireduce, narrow, x);
    return builder_.unary(ir::Op::Sextend, func().type(x), low);
  };
  switch (op) {
    case Op::I32Clz:
    case Op::I64Clz: return same(ir::Op::Clz);
    case Op::I32Ctz:
    case Op::I64Ctz: return same(ir::Op::Ctz);
    case Op::I32Popcnt:
    case Op::I64Popcnt: return same(ir::Op::Popcnt);
    case Op::F32Abs:
    case Op::F64Abs: return same(ir::Op::Fabs);
    case Op::F32Neg:
    case Op::F64Neg: return same(ir::Op::Fneg);
    case Op::F32Ceil:
    case Op::F64Ceil: return arithmetic(ir::Op::Ceil);
    case Op::F32Floor:
    case Op::F64Floor: return arithmetic(ir::Op::Floor);
    case Op::F32Trunc:
    case Op::F64Trunc: return arithmetic(ir::Op::Trunc);
    case Op::F32Nearest:
    case Op::F64Nearest: return arithmetic(ir::Op::Nearest);
    case Op::F32Sqrt:
    case Op::F64Sqrt: return arithmetic(ir::Op::Sqrt);
    case Op::I32Extend8S:
    case Op::I64Extend8S: return extend(I8);
    case Op::I32Extend16S:
    case Op::I64Extend16S: return extend(I16);
    case Op::I64Extend32S: return extend(I32);
    default: HOIST_UNREACHABLE("opcode is a unary operation");
  }
}

/// The IR operation of a binary WebAssembly operation: they mean the same, traps included.
static ir::Op binary_op(Op op) {
  switch (op) {
    case Op::I32Add:
    case Op::I64Add: return ir::Op::Iadd;
    case Op::I32Sub:
    case Op::I64Sub: return ir::Op::Isub;
    case Op::I32Mul:
    case Op::I64Mul: return ir::Op::Imul;
    case Op::I32DivS:
    case Op::I64DivS: return ir::Op::Sdiv;
    case Op::I32DivU:
    case Op::I64DivU: return ir::Op::Udiv;
    case Op::I32RemS:
    case Op::I64RemS: return ir::Op::Srem;
    case Op::I32RemU:
    case Op::I64RemU: return ir::Op::Urem;
    case Op::I32And:
    case Op::I64And: return ir::Op::Band;
    case Op::I32Or:
    case Op::I64Or: return ir::Op::Bor;
    case Op::I32Xor:
    case Op::I64Xor: return ir::Op::Bxor;
    case Op::I32Shl:
    case Op::I64Shl: return ir::Op::Ishl;
    case Op::I32ShrS:
    case Op::I64ShrS: return ir::Op::Sshr;
    case Op::I32ShrU:
    case Op::I64ShrU: return ir::Op::Ushr;
    case Op::I32Rotl:
    case Op::I64Rotl: return ir::Op::Rotl;
    case Op::I32Rotr:
    case Op::I64Rotr: return ir::Op::Rotr;
    case Op::F32Add:
    case Op::F64Add: return ir::Op::Fadd;
    case Op::F32Sub:
    case Op::F64Sub: return ir::Op::Fsub;
    case Op::F32Mul:
    case Op::F64Mul: return ir::Op::Fmul;
    case Op::F32Div:
    case Op::F64Div: return ir::Op::Fdiv;
    case Op::F32Min:
    case Op::F64Min: return ir::Op::Fmin;
    case Op::F32Max:
    case Op::F64Max: return ir::Op::Fmax;
    case Op::F32Copysign:
    case Op::F64Copysign: return ir::Op::Fcopysign;
    default: HOIST_UNREACHABLE("opcode is a binary operation");
  }
}

IrSink::Value IrSink::binary(Op op, Value x, Value y) {
  const ir::Op ir_op = binary_op(op);
  if (!env_.settings.signals && (ir_op == ir::Op::Sdiv || ir_op == ir::Op::Udiv ||
                                 ir_op == ir::Op::Srem || ir_op == ir::Op::Urem)) {
    check_division(op, x, y);
  }
  const Value made = builder_.binary(ir_op, x, y);
  const bool may_be_new_nan = func().type(made).is_float() && ir_op != ir::Op::Fcopysign;
  return may_be_new_nan ? canonical_nan(made) : made;
}

IrSink::Value IrSink::convert(Op op, Value x) {
  const auto to = [&](ir::Op ir_op, ir::Type type) { return builder_.unary(ir_op, type, x); };
  switch (op) {
    case Op::I32WrapI64: return to(ir::Op::Ireduce, I32);
    case Op::I32TruncF32S:
    case Op::I32TruncF64S: return to(ir::Op::FcvtToSint, I32);
    case Op::I32TruncF32U:
    case Op::I32TruncF64U: return to(ir::Op::FcvtToUint, I32);
    case Op::I64TruncF32S:
    case Op::I64TruncF64S: return to(ir::Op::FcvtToSint, I64);
    case Op::I64TruncF32U:
    case Op::I64TruncF64U: return to(ir::Op::FcvtToUint, I64);
    case Op::I32TruncSatF32S:
    case Op::I32TruncSatF64S: return to(ir::Op::FcvtToSintSat, I32);
    case Op::I32TruncSatF32U:
    case Op::I32TruncSatF64U: return to(ir::Op::FcvtToUintSat, I32);
    case Op::I64TruncSatF32S:
    case Op::I64TruncSatF64S: return to(ir::Op::FcvtToSintSat, I64);
    case Op::I64TruncSatF32U:
    case Op::I64TruncSatF64U: return to(ir::Op::FcvtToUintSat, I64);
    case Op::I64ExtendI32S: return to(ir::Op::Sextend, I64);
    case Op::I64ExtendI32U: return to(ir::Op::Uextend, I64);
    case Op::F32ConvertI32S:
    case Op::F32ConvertI64S: return to(ir::Op::FcvtFromSint, F32);
    case Op::F32ConvertI32U:
    case Op::F32ConvertI64U: return to(ir::Op::FcvtFromUint, F32);
    case Op::F64ConvertI32S:
    case Op::F64ConvertI64S: return to(ir::Op::FcvtFromSint, F64);
    case Op::F64ConvertI32U:
    case Op::F64ConvertI64U: return to(ir::Op::FcvtFromUint, F64);
    case Op::F32DemoteF64: return canonical_nan(to(ir::Op::Fdemote, F32));
    case Op::F64PromoteF32: return canonical_nan(to(ir::Op::Fpromote, F64));
    case Op::I32ReinterpretF32: return builder_.bitcast(I32, x);
    case Op::I64ReinterpretF64: return builder_.bitcast(I64, x);
    case Op::F32ReinterpretI32: return builder_.bitcast(F32, x);
    case Op::F64ReinterpretI64: return builder_.bitcast(F64, x);
    default: HOIST_UNREACHABLE("opcode is a conversion");
  }
}

}  // namespace hoist::translate
