// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of linear memory, and where they go. Three ways (image::memory_check):
//
//  - Reserved: a 32-bit memory has 4 GiB of address space and a guard behind it, none of it
//    accessible beyond the memory's length. So base + zero-extended index + offset lies in the
//    reservation or the guard for every index as long as the offset is at most kMemoryGuard - 16:
//    the processor finds the access out of bounds, and the trap table says what that means. Larger
//    offsets are compared.
//  - Guarded: a 64-bit memory has only a guard. An index below the length plus an offset within the
//    guard is found out by the processor; so one comparison serves all accesses with that index.
//  - Exact: every end of an access is compared, and neither reservation nor fixed place is assumed.
//
// Whatever the way, an address never wraps around: index and offset are added in full.
#include <algorithm>

#include "base/check.hpp"
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using ir::I32;
using ir::I64;
using wasm::Op;

namespace {

/// How a WebAssembly access looks in IR.
struct Access {
  ir::Op op;
  ir::Type type;
  std::uint32_t bytes;
};

Access access_of(Op op) {
  switch (op) {
    case Op::I32Load: return {ir::Op::Load, I32, 4};
    case Op::I64Load: return {ir::Op::Load, I64, 8};
    case Op::F32Load: return {ir::Op::Load, ir::F32, 4};
    case Op::F64Load: return {ir::Op::Load, ir::F64, 8};
    case Op::I32Load8S: return {ir::Op::Sload8, I32, 1};
    case Op::I32Load8U: return {ir::Op::Uload8, I32, 1};
    case Op::I32Load16S: return {ir::Op::Sload16, I32, 2};
    case Op::I32Load16U: return {ir::Op::Uload16, I32, 2};
    case Op::I64Load8S: return {ir::Op::Sload8, I64, 1};
    case Op::I64Load8U: return {ir::Op::Uload8, I64, 1};
    case Op::I64Load16S: return {ir::Op::Sload16, I64, 2};
    case Op::I64Load16U: return {ir::Op::Uload16, I64, 2};
    case Op::I64Load32S: return {ir::Op::Sload32, I64, 4};
    case Op::I64Load32U: return {ir::Op::Uload32, I64, 4};
    case Op::I32Store:
    case Op::F32Store: return {ir::Op::Store, I32, 4};
    case Op::I64Store:
    case Op::F64Store: return {ir::Op::Store, I64, 8};
    case Op::I32Store8:
    case Op::I64Store8: return {ir::Op::Istore8, I32, 1};
    case Op::I32Store16:
    case Op::I64Store16: return {ir::Op::Istore16, I32, 2};
    case Op::I64Store32: return {ir::Op::Istore32, I64, 4};
    case Op::V128Store: return {ir::Op::Store, ir::I8x16, 16};
    default: HOIST_UNREACHABLE("opcode is a memory access");
  }
}

constexpr std::uint64_t kMaxUncheckedOffset = image::kMemoryGuard - 16;
static_assert(kMaxUncheckedOffset <= 0x7fff'ffff, "unchecked offsets fit a displacement");

/// Bytes that every memory of the type has.
std::uint64_t covered_bytes(const wasm::MemoryType& type) {
  return std::min(type.limits.min, image::kMostMemoryBytes >> type.page_size_log2)
         << type.page_size_log2;
}

}  // namespace

IrSink::Value IrSink::load_at_entry(std::int32_t offset) {
  ir::Function& f = func();
  const ir::InstData data{ir::Op::Load, static_cast<std::uint16_t>(constant_flags_.index()),
                          ctx_.index(), static_cast<std::uint32_t>(offset), 0};
  const ir::Inst inst = f.make_inst(data);
  const Value value = f.append_result(inst, I64);
  const ir::Inst first = f.first_inst(entry_);
  if (first.is_some()) {
    f.insert_inst_before(inst, first);
  } else {
    f.append_inst(inst, entry_);
  }
  return value;
}

IrSink::Value IrSink::memory_base(std::uint32_t memory) {
  if (image::memory_may_move(memory_type(memory), explicit_bounds())) {
    const Value pointer =
        builder_.load(ir::Op::Load, I64, constant_flags_, ctx_, env_.layout.memory(memory));
    return builder_.load(ir::Op::Load, I64, state_flags(Region::State, 0), pointer,
                         offsetof(image::VmMemory, base));
  }
  MemoryCache& cache = memories_.at(memory, epoch_);
  if (cache.base.is_none()) cache.base = load_at_entry(env_.layout.memory_base(memory));
  return cache.base;
}

IrSink::Value IrSink::memory_length(std::uint32_t memory) {
  const Value pointer =
      builder_.load(ir::Op::Load, I64, constant_flags_, ctx_, env_.layout.memory(memory));
  return builder_.load(ir::Op::Load, I64, state_flags(Region::State, 0), pointer,
                       offsetof(image::VmMemory, length));
}

IrSink::Address IrSink::heap_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes) {
  MemoryCache& cache = memories_.at(mem.memory, epoch_);
  if (cache.flags.is_none()) {
    ir::MemFlags flags;
    flags.endian = 1;
    flags.region = region(Region::Memory, mem.memory);
    cache.flags = func().intern(flags);
  }
  const ir::MemFlagsRef flags = cache.flags;
  const wasm::MemoryType& type = memory_type(mem.memory);
  if (type.is64) return wide_address(mem, index, bytes, flags);
  return image::memory_check(type, explicit_bounds()) == image::MemoryCheck::Reserved
             ? reserved_address(mem, index, bytes, flags)
             : exact_address(mem, index, bytes, flags);
}

IrSink::Address IrSink::reserved_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                                         ir::MemFlagsRef flags) {
  const Value base = memory_base(mem.memory);
  const ir::Inst def = func().def_inst(index);
  if (def.is_some() && func().op(def) == ir::Op::Iconst) {
    const std::uint64_t sum = (func().data(def).imm64() & 0xffff'ffff) + mem.offset;
    if (sum <= kMaxUncheckedOffset) return {base, static_cast<std::int32_t>(sum), flags};
  }
  const Value wide = builder_.unary(ir::Op::Uextend, I64, index);
  if (mem.offset <= kMaxUncheckedOffset) {
    const Value address = builder_.binary(ir::Op::Iadd, base, wide);
    return {address, static_cast<std::int32_t>(mem.offset), flags};
  }
  // Index and offset are below 2^32 each: the end of the access does not wrap in 64 bits.
  const Value end = builder_.binary(ir::Op::Iadd, wide, builder_.iconst(I64, mem.offset + bytes));
  const Value outside = builder_.icmp(ir::IntCC::Ugt, end, memory_length(mem.memory));
  builder_.trapnz(outside, ir::TrapCode::HeapOutOfBounds);
  const Value place = builder_.binary(ir::Op::Iadd, wide, builder_.iconst(I64, mem.offset));
  return {builder_.binary(ir::Op::Iadd, base, place), 0, flags};
}

/// What the declared minimum covers, since memories never shrink.
std::optional<IrSink::Address> IrSink::constant_address(const wasm::MemArg& mem, Value index,
                                                        std::uint32_t bytes,
                                                        ir::MemFlagsRef flags) {
  const ir::Inst def = func().def_inst(index);
  if (def.is_none() || func().op(def) != ir::Op::Iconst) return std::nullopt;
  const wasm::MemoryType& type = memory_type(mem.memory);
  const std::uint64_t imm = func().data(def).imm64();
  const std::uint64_t constant = type.is64 ? imm : imm & 0xffff'ffff;
  const std::uint64_t covered = covered_bytes(type);
  if (bytes > covered || constant > covered - bytes || mem.offset > covered - bytes - constant) {
    return std::nullopt;
  }
  const std::uint64_t place = constant + mem.offset;
  const Value base = memory_base(mem.memory);
  if (place <= 0x7fff'ffff) return Address{base, static_cast<std::int32_t>(place), flags};
  return Address{builder_.binary(ir::Op::Iadd, base, builder_.iconst(I64, place)), 0, flags};
}

IrSink::Address IrSink::place_at(std::uint32_t memory, Value wide, std::uint64_t offset,
                                 ir::MemFlagsRef flags) {
  const Value base = memory_base(memory);
  const Value address = builder_.binary(ir::Op::Iadd, base, wide);
  if (offset <= 0x7fff'ffff) return {address, static_cast<std::int32_t>(offset), flags};
  const Value offset_value = builder_.iconst(I64, offset);
  return {builder_.binary(ir::Op::Iadd, address, offset_value), 0, flags};
}

/// A 32-bit index. Equal comparisons are equal instructions, for the optimiser to find.
IrSink::Address IrSink::exact_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                                      ir::MemFlagsRef flags) {
  if (const auto address = constant_address(mem, index, bytes, flags)) return *address;
  const std::uint64_t extent = mem.offset + bytes;  // at most 2^32 + 16
  const Value wide = builder_.unary(ir::Op::Uextend, I64, index);
  const Value extent_value = builder_.iconst(I64, extent);
  const Value end = builder_.binary(ir::Op::Iadd, wide, extent_value);
  const Value length = memory_length(mem.memory);
  const Value outside = builder_.icmp(ir::IntCC::Ugt, end, length);
  builder_.trapnz(outside, ir::TrapCode::HeapOutOfBounds);
  return place_at(mem.memory, wide, mem.offset, flags);
}

/// A 64-bit index, with or without a guard.
IrSink::Address IrSink::wide_address(const wasm::MemArg& mem, Value index, std::uint32_t bytes,
                                     ir::MemFlagsRef flags) {
  if (const auto address = constant_address(mem, index, bytes, flags)) return *address;
  const std::uint64_t most_offset = image::kMostMemoryBytes - bytes;
  const bool guarded = image::memory_check(memory_type(mem.memory), explicit_bounds()) ==
                       image::MemoryCheck::Guarded;
  if (guarded && mem.offset <= image::kOffsetGuard - bytes) {
    const Value length = memory_length(mem.memory);
    const Value outside = builder_.icmp(ir::IntCC::Uge, index, length);
    builder_.trapnz(outside, ir::TrapCode::HeapOutOfBounds);
  } else {
    // No memory is so large that an offset beyond this makes a difference.
    check_end(mem, index, std::min(mem.offset, most_offset) + bytes);
  }
  return place_at(mem.memory, index, std::min(mem.offset, most_offset), flags);
}

/// Traps unless index + extent is at most the length: by comparing the index with their
/// difference, which like the length is the same for many accesses.
void IrSink::check_end(const wasm::MemArg& mem, Value index, std::uint64_t extent) {
  const Value length = memory_length(mem.memory);
  const Value extent_value = builder_.iconst(I64, extent);
  if (extent > covered_bytes(memory_type(mem.memory))) {
    const Value too_short = builder_.icmp(ir::IntCC::Ult, length, extent_value);
    builder_.trapnz(too_short, ir::TrapCode::HeapOutOfBounds);
  }
  const Value last = builder_.binary(ir::Op::Isub, length, extent_value);
  const Value outside = builder_.icmp(ir::IntCC::Ugt, index, last);
  builder_.trapnz(outside, ir::TrapCode::HeapOutOfBounds);
}

IrSink::Value IrSink::load(Op op, const wasm::MemArg& mem, Value address) {
  if (op >= Op::V128Load) return load_vector(op, mem, address);
  const Access access = access_of(op);
  const Address at = heap_address(mem, address, access.bytes);
  return builder_.load(access.op, access.type, at.flags, at.base, at.offset);
}

void IrSink::store(Op op, const wasm::MemArg& mem, Value address, Value value) {
  const Access access = access_of(op);
  const Address at = heap_address(mem, address, access.bytes);
  builder_.store(access.op, at.flags, value, at.base, at.offset);
}

IrSink::Value IrSink::memory_size(std::uint32_t memory) {
  const wasm::MemoryType& type = memory_type(memory);
  // One statement each: compilers order arguments differently, and the order numbers the values.
  Value pages;
  if (type.shared) {
    // Whoever learns of a growth by an atomic access may ask for the size next.
    const Value pointer =
        builder_.load(ir::Op::Load, I64, constant_flags_, ctx_, env_.layout.memory(memory));
    const Value field = builder_.iconst(I64, offsetof(image::VmMemory, length));
    const Value place = builder_.binary(ir::Op::Iadd, pointer, field);
    pages = builder_.atomic_load(I64, state_flags(Region::State, 0), place);
  } else {
    pages = memory_length(memory);
  }
  if (type.page_size_log2 != 0) {
    const Value shift = builder_.iconst(I64, type.page_size_log2);
    pages = builder_.binary(ir::Op::Ushr, pages, shift);
  }
  return narrow(pages, type.is64);
}

}  // namespace hoist::translate
