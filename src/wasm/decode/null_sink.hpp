// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A sink that does nothing: what the validator decodes with, and a base for sinks that look at few
/// instructions (their members hide these).

#include "wasm/decode/sink.hpp"

namespace hoist::wasm {

struct NoValue {};
struct NoFrame {};

template <typename V, typename F>
struct IgnoringSink {
  using Value = V;
  using Frame = F;
  using In = std::span<const Operand<Value>>;
  using Out = std::span<Operand<Value>>;

  void begin(const BodyInfo&, Frame&) {}
  void declare_locals(std::uint32_t, ValType) {}
  void at(std::uint32_t) {}
  void block(const BlockType&, Frame&) {}
  void loop(const BlockType&, Frame&, Out) {}
  void if_(const BlockType&, Frame&, Value, In) {}
  void else_(const BlockType&, Frame&, bool, In, bool) {}
  void end(FrameKind, const BlockType&, Frame&, bool, bool, Out) {}
  void br(const Label<Frame>&, In) {}
  void br_if(const Label<Frame>&, Value, In) {}
  void br_table(const Labels<Frame>&, Value, std::span<const std::uint32_t>, In) {}
  void return_(In) {}
  void unreachable() {}
  void call(std::uint32_t, const FuncType&, In, Out) {}
  void call_indirect(std::uint32_t, std::uint32_t, const FuncType&, Value, In, Out) {}
  void drop(ValType, Value) {}
  Value select(ValType, Value, Value, Value) { return {}; }
  Value local_get(std::uint32_t, ValType) { return {}; }
  void local_set(std::uint32_t, ValType, Value) {}
  Value local_tee(std::uint32_t, ValType, Value) { return {}; }
  Value global_get(std::uint32_t, const GlobalType&) { return {}; }
  void global_set(std::uint32_t, const GlobalType&, Value) {}
  Value const_i32(std::int32_t) { return {}; }
  Value const_i64(std::int64_t) { return {}; }
  Value const_f32(std::uint32_t) { return {}; }
  Value const_f64(std::uint64_t) { return {}; }
  Value test(Op, Value) { return {}; }
  Value compare(Op, Value, Value) { return {}; }
  Value unary(Op, Value) { return {}; }
  Value binary(Op, Value, Value) { return {}; }
  Value convert(Op, Value) { return {}; }
  Value load(Op, const MemArg&, Value) { return {}; }
  void store(Op, const MemArg&, Value, Value) {}
  Value memory_size(std::uint32_t) { return {}; }
  Value memory_grow(std::uint32_t, Value) { return {}; }
  void memory_fill(std::uint32_t, Value, Value, Value) {}
  void memory_copy(std::uint32_t, std::uint32_t, Value, Value, Value) {}
  void memory_init(std::uint32_t, std::uint32_t, Value, Value, Value) {}
  void data_drop(std::uint32_t) {}
  Value table_get(std::uint32_t, Value) { return {}; }
  void table_set(std::uint32_t, Value, Value) {}
  Value table_size(std::uint32_t) { return {}; }
  Value table_grow(std::uint32_t, Value, Value) { return {}; }
  void table_fill(std::uint32_t, Value, Value, Value) {}
  void table_copy(std::uint32_t, std::uint32_t, Value, Value, Value) {}
  void table_init(std::uint32_t, std::uint32_t, Value, Value, Value) {}
  void elem_drop(std::uint32_t) {}
  Value ref_null(ValType) { return {}; }
  Value ref_is_null(ValType, Value) { return {}; }
  Value ref_func(std::uint32_t) { return {}; }
  static constexpr const Refusal* refused() { return nullptr; }
  void call_ref(std::uint32_t, const FuncType&, Value, In, Out) {}
  Value ref_as_non_null(Value) { return {}; }
  Value ref_eq(Value, Value) { return {}; }
  Value br_on_null(const Label<Frame>&, Value, In) { return {}; }
  void br_on_non_null(const Label<Frame>&, Value, In) {}
  void return_call(std::uint32_t, const FuncType&, In) {}
  void return_call_indirect(std::uint32_t, std::uint32_t, const FuncType&, Value, In) {}
  void return_call_ref(std::uint32_t, const FuncType&, Value, In) {}
  void try_table(const BlockType&, Frame&, std::span<const CatchClause>, const Labels<Frame>&) {}
  void throw_(std::uint32_t, In) {}
  void throw_ref(Value) {}
  void try_(const BlockType&, Frame&) {}
  void catch_(const BlockType&, Frame&, std::uint32_t, bool, In, Out) {}
  void catch_all(const BlockType&, Frame&, bool, In) {}
  void rethrow(const Label<Frame>&) {}
  void delegate(const BlockType&, Frame&, const Label<Frame>&, bool, bool, Out) {}
  Value const_v128(std::span<const std::uint8_t, 16>) { return {}; }
  Value vector(Op, In, std::uint8_t) { return {}; }
  Value shuffle(std::span<const std::uint8_t, 16>, Value, Value) { return {}; }
  Value load_lane(Op, const MemArg&, std::uint8_t, Value, Value) { return {}; }
  void store_lane(Op, const MemArg&, std::uint8_t, Value, Value) {}
  Value atomic_load(Op, const MemArg&, Value) { return {}; }
  void atomic_store(Op, const MemArg&, Value, Value) {}
  Value atomic_rmw(Op, const MemArg&, Value, Value) { return {}; }
  Value atomic_cmpxchg(Op, const MemArg&, Value, Value, Value) { return {}; }
  Value atomic_notify(const MemArg&, Value, Value) { return {}; }
  Value atomic_wait(Op, const MemArg&, Value, Value, Value) { return {}; }
  void atomic_fence() {}
  void wide(Op, In, Out) {}
  void heap(Op, const HeapImm&, In, Out) {}
};

struct NullSink : IgnoringSink<NoValue, NoFrame> {};

}  // namespace hoist::wasm
