// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic accesses, fences, waiting and waking. Alignment is checked before bounds: where the
// processor finds out about bounds, it does so with the access itself. Memories need not be shared.
// Source: threads proposal, "Atomic Memory Accesses".
#include "base/check.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using image::Builtin;
using ir::I32;
using ir::I64;
using wasm::Op;

namespace {

/// The table of opcodes has seven widths of each access, always in this order.
struct Width {
  ir::Type result;
  ir::Type access;
};
constexpr std::uint32_t kWidths = 7;

std::uint32_t distance(Op op, Op from) {
  return static_cast<std::uint32_t>(op) - static_cast<std::uint32_t>(from);
}

Width width_at(std::uint32_t number) {
  switch (number % kWidths) {
    case 0: return {I32, I32};
    case 1: return {I64, I64};
    case 2: return {I32, ir::I8};
    case 3: return {I32, ir::I16};
    case 4: return {I64, ir::I8};
    case 5: return {I64, ir::I16};
    case 6: return {I64, I32};
    default: HOIST_UNREACHABLE("a remainder");
  }
}

constexpr bool follows(Op op, Op from, std::uint32_t distance) {
  return static_cast<std::uint32_t>(op) == static_cast<std::uint32_t>(from) + distance;
}
static_assert(follows(Op::I64AtomicLoad32U, Op::I32AtomicLoad, 6) &&
              follows(Op::I64AtomicStore32, Op::I32AtomicStore, 6) &&
              follows(Op::I64AtomicRmw32XchgU, Op::I32AtomicRmwAdd, 6 * kWidths - 1) &&
              follows(Op::I64AtomicRmw32CmpxchgU, Op::I32AtomicRmwCmpxchg, 6));

}  // namespace

/// Where the access goes, with the flags for it.
IrSink::Value IrSink::atomic_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                                     ir::MemFlagsRef& flags) {
  if (bytes > 1) {
    const ir::Type type = is_memory64(mem.memory) ? I64 : I32;
    Value sum = index;
    // Whether the sum wraps makes no difference for its lower bits.
    if (const std::uint64_t offset = mem.offset % bytes; offset != 0) {
      const Value addend = builder_.iconst(type, offset);
      sum = builder_.binary(ir::Op::Iadd, index, addend);
    }
    const Value mask = builder_.iconst(type, bytes - 1);
    const Value misplaced = builder_.binary(ir::Op::Band, sum, mask);
    builder_.trapnz(misplaced, ir::TrapCode::UnalignedAtomic);
  }
  const Address at = heap_address(mem, index, bytes);
  flags = at.flags;
  if (at.offset == 0) return at.base;
  const Value offset = builder_.iconst(I64, static_cast<std::uint64_t>(std::int64_t{at.offset}));
  return builder_.binary(ir::Op::Iadd, at.base, offset);
}

IrSink::Value IrSink::atomic_load(Op op, const wasm::MemArg& mem, Value address) {
  const Width width = width_at(distance(op, Op::I32AtomicLoad));
  ir::MemFlagsRef flags;
  const Value at = atomic_address(mem, address, width.access.bytes(), flags);
  const Value old = builder_.atomic_load(width.access, flags, at);
  return width.access == width.result ? old : builder_.unary(ir::Op::Uextend, width.result, old);
}

void IrSink::atomic_store(Op op, const wasm::MemArg& mem, Value address, Value value) {
  const Width width = width_at(distance(op, Op::I32AtomicStore));
  ir::MemFlagsRef flags;
  const Value at = atomic_address(mem, address, width.access.bytes(), flags);
  if (width.access != width.result) {
    value = builder_.unary(ir::Op::Ireduce, width.access, value);
  }
  builder_.atomic_store(flags, value, at);
}

IrSink::Value IrSink::atomic_rmw(Op op, const wasm::MemArg& mem, Value address, Value value) {
  static constexpr ir::AtomicOp kOps[] = {ir::AtomicOp::Add, ir::AtomicOp::Sub, ir::AtomicOp::And,
                                          ir::AtomicOp::Or,  ir::AtomicOp::Xor, ir::AtomicOp::Xchg};
  const std::uint32_t number = distance(op, Op::I32AtomicRmwAdd);
  const Width width = width_at(number);
  ir::MemFlagsRef flags;
  const Value at = atomic_address(mem, address, width.access.bytes(), flags);
  if (width.access != width.result) {
    value = builder_.unary(ir::Op::Ireduce, width.access, value);
  }
  const Value old = builder_.atomic_rmw(width.access, flags, kOps[number / kWidths], at, value);
  return width.access == width.result ? old : builder_.unary(ir::Op::Uextend, width.result, old);
}

IrSink::Value IrSink::atomic_cmpxchg(Op op, const wasm::MemArg& mem, Value address, Value expected,
                                     Value replacement) {
  const Width width = width_at(distance(op, Op::I32AtomicRmwCmpxchg));
  ir::MemFlagsRef flags;
  const Value at = atomic_address(mem, address, width.access.bytes(), flags);
  if (width.access != width.result) {
    // Only the part that is in memory is compared.
    expected = builder_.unary(ir::Op::Ireduce, width.access, expected);
    replacement = builder_.unary(ir::Op::Ireduce, width.access, replacement);
  }
  const Value old = builder_.atomic_cas(flags, at, expected, replacement);
  return width.access == width.result ? old : builder_.unary(ir::Op::Uextend, width.result, old);
}

// ---- In the runtime, which checks alignment and bounds.

IrSink::Value IrSink::atomic_notify(const wasm::MemArg& mem, Value address, Value count) {
  const Value offset = builder_.iconst(I64, mem.offset);
  const Value woken = builtin_result(
      Builtin::atomic_notify,
      {index_constant(mem.memory), widen(address, is_memory64(mem.memory)), offset, count});
  return builder_.unary(ir::Op::Ireduce, I32, woken);
}

IrSink::Value IrSink::atomic_wait(Op op, const wasm::MemArg& mem, Value address, Value expected,
                                  Value timeout) {
  const Builtin builtin =
      op == Op::MemoryAtomicWait32 ? Builtin::atomic_wait32 : Builtin::atomic_wait64;
  const Value offset = builder_.iconst(I64, mem.offset);
  const Value outcome =
      builtin_result(builtin, {index_constant(mem.memory), widen(address, is_memory64(mem.memory)),
                               offset, expected, timeout});
  return builder_.unary(ir::Op::Ireduce, I32, outcome);
}

void IrSink::atomic_fence() {
  builder_.nullary(ir::Op::Fence, ir::Type());
}

}  // namespace hoist::translate
