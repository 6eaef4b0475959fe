// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector loads and stores. Each reads or writes exactly the bytes that the instruction names: what
// is narrower than a vector is a scalar access with an operation that the back end may join to it.
#include "base/check.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using ir::I16;
using ir::I32;
using ir::I32x4;
using ir::I64;
using ir::I64x2;
using ir::I8;
using ir::I8x16;
using wasm::Op;

namespace {

enum class Form : std::uint8_t { Whole, Widened, Splat, Zero };

struct VectorLoad {
  Form form;
  ir::Op op;
  ir::Type type;  ///< of the load
  std::uint32_t bytes;
};

VectorLoad vector_load(Op op) {
  switch (op) {
    case Op::V128Load: return {Form::Whole, ir::Op::Load, I8x16, 16};
    case Op::V128Load8x8S: return {Form::Widened, ir::Op::Sload8x8, ir::I16x8, 8};
    case Op::V128Load8x8U: return {Form::Widened, ir::Op::Uload8x8, ir::I16x8, 8};
    case Op::V128Load16x4S: return {Form::Widened, ir::Op::Sload16x4, I32x4, 8};
    case Op::V128Load16x4U: return {Form::Widened, ir::Op::Uload16x4, I32x4, 8};
    case Op::V128Load32x2S: return {Form::Widened, ir::Op::Sload32x2, I64x2, 8};
    case Op::V128Load32x2U: return {Form::Widened, ir::Op::Uload32x2, I64x2, 8};
    case Op::V128Load8Splat: return {Form::Splat, ir::Op::Load, I8, 1};
    case Op::V128Load16Splat: return {Form::Splat, ir::Op::Load, I16, 2};
    case Op::V128Load32Splat: return {Form::Splat, ir::Op::Load, I32, 4};
    case Op::V128Load64Splat: return {Form::Splat, ir::Op::Load, I64, 8};
    case Op::V128Load32Zero: return {Form::Zero, ir::Op::Load, I32, 4};
    case Op::V128Load64Zero: return {Form::Zero, ir::Op::Load, I64, 8};
    default: HOIST_UNREACHABLE("opcode is a vector load");
  }
}

/// The vectors whose lanes are `scalar`.
ir::Type lanes_of(ir::Type scalar) {
  switch (scalar.lane()) {
    case ir::Type::Lane::I8: return I8x16;
    case ir::Type::Lane::I16: return ir::I16x8;
    case ir::Type::Lane::I32: return I32x4;
    default: return I64x2;  // no other lane is loaded
  }
}

/// Lanes of load_lane and store_lane.
ir::Type lane_type(Op op) {
  switch (op) {
    case Op::V128Load8Lane:
    case Op::V128Store8Lane: return I8;
    case Op::V128Load16Lane:
    case Op::V128Store16Lane: return I16;
    case Op::V128Load32Lane:
    case Op::V128Store32Lane: return I32;
    case Op::V128Load64Lane:
    case Op::V128Store64Lane: return I64;
    default: HOIST_UNREACHABLE("opcode accesses a lane");
  }
}

}  // namespace

IrSink::Value IrSink::load_vector(Op op, const wasm::MemArg& mem, Value address) {
  const VectorLoad load = vector_load(op);
  const Address at = heap_address(mem, address, load.bytes);
  const Value loaded = builder_.load(load.op, load.type, at.flags, at.base, at.offset);
  switch (load.form) {
    case Form::Whole: return loaded;
    case Form::Widened: return as_lanes(I8x16, loaded);
    case Form::Splat:
      return as_lanes(I8x16, builder_.unary(ir::Op::Splat, lanes_of(load.type), loaded));
    case Form::Zero:
      return as_lanes(I8x16, builder_.unary(ir::Op::ScalarToVector, lanes_of(load.type), loaded));
  }
  return loaded;
}

IrSink::Value IrSink::load_lane(Op op, const wasm::MemArg& mem, std::uint8_t lane, Value address,
                                Value vector) {
  const ir::Type type = lane_type(op);
  const Address at = heap_address(mem, address, type.bytes());
  const Value loaded = builder_.load(ir::Op::Load, type, at.flags, at.base, at.offset);
  const Value lanes = as_lanes(lanes_of(type), vector);
  return as_lanes(I8x16, builder_.insertlane(lanes, loaded, lane));
}

void IrSink::store_lane(Op op, const wasm::MemArg& mem, std::uint8_t lane, Value address,
                        Value vector) {
  const ir::Type type = lane_type(op);
  const Value x = builder_.extractlane(as_lanes(lanes_of(type), vector), lane);
  const Address at = heap_address(mem, address, type.bytes());
  builder_.store(ir::Op::Store, at.flags, x, at.base, at.offset);
}

}  // namespace hoist::translate
