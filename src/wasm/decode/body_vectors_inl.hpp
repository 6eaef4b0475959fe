// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The part of body_decoder_inl.hpp that is about vectors, atomics and wide arithmetic. Included by
/// it.

#include "wasm/decode/body_decoder.hpp"

namespace hoist::wasm {

template <Sink S>
bool BodyDecoder<S>::pop_shape(const OpShape& shape, Entry (&out)[4]) {
  for (std::size_t i = shape.num_in; i-- > 0;) {
    out[i].type = shape.in[i];
    if (!pop(shape.in[i], out[i].value)) return false;
  }
  return true;
}

template <Sink S>
bool BodyDecoder<S>::vector_const() {
  std::span<const std::uint8_t, 16> bytes = module_->bytes.span().first<16>();
  if (!read_16_bytes(bytes)) return false;
  push(TypeKind::V128, live_ ? sink_->const_v128(bytes) : Value{});
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::vector_op(bool has_lane) {
  const auto number = static_cast<std::uint16_t>(op_);
  const OpShape& shape = kOpShapes[number];
  std::uint8_t lane = 0;
  if (has_lane && !read_lane(kOpMeta[number].align_log2, lane)) return false;
  Entry in[4];
  if (!pop_shape(shape, in)) return false;
  Value value{};
  if (live_) value = sink_->vector(op_, std::span<const Entry>(in, shape.num_in), lane);
  push(shape.out[0], value);
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::shuffle() {
  std::span<const std::uint8_t, 16> lanes = module_->bytes.span().first<16>();
  if (!read_16_bytes(lanes)) return false;
  for (const std::uint8_t lane : lanes) {
    if (lane >= 32) return invalid("invalid lane index " + std::to_string(lane) + ", at most 31");
  }
  Value a{};
  Value b{};
  if (!pop(TypeKind::V128, b) || !pop(TypeKind::V128, a)) return false;
  push(TypeKind::V128, live_ ? sink_->shuffle(lanes, a, b) : Value{});
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::lane_access(Group group) {
  const std::uint8_t align = kOpMeta[static_cast<std::uint16_t>(op_)].align_log2;
  MemArg mem;
  std::uint8_t lane = 0;
  if (!read_mem_arg(align, mem) || !read_lane(16u >> align, lane)) return false;
  Value vector{};
  Value address{};
  if (!pop(TypeKind::V128, vector)) return false;
  if (!pop(module_->memories[mem.memory].type.address_type(), address)) return false;
  if (group == Group::LoadLane) {
    push(TypeKind::V128, live_ ? sink_->load_lane(op_, mem, lane, address, vector) : Value{});
  } else if (live_) {
    sink_->store_lane(op_, mem, lane, address, vector);
  }
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::atomic_op(Group group) {
  if (group == Group::AtomicFence) {
    if (!read_fence()) return false;
    if (live_) sink_->atomic_fence();
    return taken();
  }
  const auto number = static_cast<std::uint16_t>(op_);
  const OpShape& shape = kOpShapes[number];
  MemArg mem;
  if (!read_atomic_arg(kOpMeta[number].align_log2, mem)) return false;
  // Behind the address come up to two values.
  Value v[2] = {};
  for (std::size_t i = shape.num_in; i-- > 1;) {
    if (!pop(shape.in[i], v[i - 1])) return false;
  }
  Value address{};
  if (!pop(module_->memories[mem.memory].type.address_type(), address)) return false;
  Value result{};
  if (live_) {
    if (group == Group::AtomicLoad) {
      result = sink_->atomic_load(op_, mem, address);
    } else if (group == Group::AtomicStore) {
      sink_->atomic_store(op_, mem, address, v[0]);
    } else if (group == Group::AtomicRmw) {
      result = sink_->atomic_rmw(op_, mem, address, v[0]);
    } else if (group == Group::AtomicCmpxchg) {
      result = sink_->atomic_cmpxchg(op_, mem, address, v[0], v[1]);
    } else if (group == Group::AtomicNotify) {
      result = sink_->atomic_notify(mem, address, v[0]);
    } else {
      result = sink_->atomic_wait(op_, mem, address, v[0], v[1]);
    }
  }
  if (shape.num_out != 0) push(shape.out[0], result);
  return taken();
}

template <Sink S>
bool BodyDecoder<S>::wide_op() {
  const OpShape& shape = kOpShapes[static_cast<std::uint16_t>(op_)];
  Entry in[4];
  if (!pop_shape(shape, in)) return false;
  Entry out[2];
  for (Entry& entry : out) entry.type = TypeKind::I64;
  if (live_) sink_->wide(op_, std::span<const Entry>(in, shape.num_in), out);
  for (const Entry& entry : out) push(entry.type, entry.value);
  return taken();
}

}  // namespace hoist::wasm
