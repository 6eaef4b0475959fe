// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Loads, stores and global values, checked against the memory that exists.
#include <algorithm>

#include "ir/interp/interpreter.hpp"
#include "ir/text/printer.hpp"

namespace hoist::ir {

namespace {

/// Bytes that a load or store accesses.
unsigned access_bytes(Op op, Type type) {
  switch (op) {
    case Op::Uload8:
    case Op::Sload8:
    case Op::Istore8: return 1;
    case Op::Uload16:
    case Op::Sload16:
    case Op::Istore16: return 2;
    case Op::Uload32:
    case Op::Sload32:
    case Op::Istore32: return 4;
    case Op::Uload8x8:
    case Op::Sload8x8:
    case Op::Uload16x4:
    case Op::Sload16x4:
    case Op::Uload32x2:
    case Op::Sload32x2: return 8;
    default: return type.bytes();
  }
}

/// The type in memory of what a load or store accesses.
Type memory_type(Op op, Type type) {
  const Type lane = Type::int_of_bits(access_bytes(op, type) * 8 / type.lane_count());
  const bool is_whole = access_bytes(op, type) == type.bytes();
  return is_whole ? type : Type(lane.lane(), type.log2_lane_count());
}

bool is_sign_extending(Op op) {
  return op == Op::Sload8 || op == Op::Sload16 || op == Op::Sload32 || op == Op::Sload8x8 ||
         op == Op::Sload16x4 || op == Op::Sload32x2;
}

/// Each lane of `from` extended to a lane of `to`.
interp::U128 extend(interp::U128 bits, Type from, Type to, bool is_signed) {
  interp::U128 out = 0;
  for (unsigned i = 0; i < from.lane_count(); ++i) {
    interp::U128 lane = bits >> (i * from.lane_bits()) & interp::mask(from.lane_bits());
    if (is_signed) {
      lane = static_cast<interp::U128>(interp::sign_extended(lane, from.lane_bits())) &
             interp::mask(to.lane_bits());
    }
    out |= lane << (i * to.lane_bits());
  }
  return out;
}

interp::U128 combine(AtomicOp op, interp::U128 old, interp::U128 x, unsigned bits) {
  const interp::S128 signed_old = interp::sign_extended(old, bits);
  const interp::S128 signed_x = interp::sign_extended(x, bits);
  switch (op) {
    case AtomicOp::Add: return old + x;
    case AtomicOp::Sub: return old - x;
    case AtomicOp::And: return old & x;
    case AtomicOp::Nand: return ~(old & x);
    case AtomicOp::Or: return old | x;
    case AtomicOp::Xor: return old ^ x;
    case AtomicOp::Xchg: return x;
    case AtomicOp::Umin: return old < x ? old : x;
    case AtomicOp::Umax: return old > x ? old : x;
    case AtomicOp::Smin: return signed_old < signed_x ? old : x;
    case AtomicOp::Smax: return signed_old > signed_x ? old : x;
  }
  HOIST_UNREACHABLE("atomic operation");
}

}  // namespace

void Interpreter::map_memory(std::uint64_t address, std::span<std::uint8_t> memory) {
  mapped_.push_back({address, memory.size(), memory.data()});
}

/// Host memory of the guest's [address, address + size), or null.
std::uint8_t* Interpreter::find(std::uint64_t address, std::uint64_t size) {
  const auto inside = [&](const Region& region) {
    const std::uint64_t offset = address - region.address;
    return address >= region.address && offset <= region.size && size <= region.size - offset;
  };
  const auto after = std::ranges::upper_bound(regions_, address, {}, &Region::address);
  if (after != regions_.begin() && inside(*(after - 1))) {
    return (after - 1)->memory + (address - (after - 1)->address);
  }
  for (const Region& region : mapped_) {
    if (inside(region)) return region.memory + (address - region.address);
  }
  // The cells of frames are readable as frame pointers promise; they lie downwards.
  const std::uint64_t below = frame_pointer(0) + sizeof(FrameCell) - address;
  if (address < frame_pointer(0) + sizeof(FrameCell) &&
      below <= frame_cells_.size() * sizeof(FrameCell) && address % 8 == 0 && size <= 8) {
    const std::size_t frame = static_cast<std::size_t>((below - 1) / sizeof(FrameCell));
    FrameCell& cell = frame_cells_[frame];
    return reinterpret_cast<std::uint8_t*>(address == frame_pointer(frame) ? &cell.outer
                                                                           : &cell.return_address);
  }
  return nullptr;
}

Result<Interpreter::Access> Interpreter::access(Inst inst, Value address, std::int32_t offset,
                                                unsigned bytes) {
  const std::uint64_t at =
      static_cast<std::uint64_t>(value(address)) + static_cast<std::uint64_t>(std::int64_t{offset});
  Access found;
  found.memory = find(at, bytes);
  if (found.memory != nullptr) return found;
  const MemFlags& flags = func().mem_flags(inst);
  if (!flags.notrap()) {
    found.step = trap(flags.trap);
    return found;
  }
  return Error(ErrorKind::Invalid,
               "an access that cannot trap is out of bounds: `" + to_string(func(), inst) + "`");
}

Result<Interpreter::Step> Interpreter::load(Inst inst) {
  const InstData& data = func().data(inst);
  const Value result = func().result(inst);
  const Type type = func().type(result).fixed_part();
  const Type in_memory = memory_type(data.op, type);
  const std::int32_t offset = format(data.op) == Format::Load ? func().load_offset(inst) : 0;
  HOIST_TRY(const Access found, access(inst, Value(data.a), offset, in_memory.bytes()));
  if (found.memory == nullptr) return found.step;
  const U128 bits =
      interp::from_memory(found.memory, in_memory, func().mem_flags(inst).endian == 2);
  value(result) = extend(bits, in_memory, type, is_sign_extending(data.op));
  frames_.back().at = func().next_inst(inst);
  return Step::Continue;
}

Result<Interpreter::Step> Interpreter::store(Inst inst) {
  const InstData& data = func().data(inst);
  const Type type = func().type(Value(data.a)).fixed_part();
  const Type in_memory = memory_type(data.op, type);
  const std::int32_t offset = format(data.op) == Format::Store ? func().store_offset(inst) : 0;
  HOIST_TRY(const Access found, access(inst, Value(data.b), offset, in_memory.bytes()));
  if (found.memory == nullptr) return found.step;
  interp::to_memory(value(Value(data.a)), in_memory, func().mem_flags(inst).endian == 2,
                    found.memory);
  frames_.back().at = func().next_inst(inst);
  return Step::Continue;
}

Result<Interpreter::Step> Interpreter::atomic(Inst inst) {
  const InstData& data = func().data(inst);
  const Value result = func().result(inst);
  const Type type = func().type(result);
  HOIST_TRY(const Access found, access(inst, Value(data.a), 0, type.bytes()));
  if (found.memory == nullptr) return found.step;
  const bool big = func().mem_flags(inst).endian == 2;
  const U128 old = interp::from_memory(found.memory, type, big);
  U128 next = old;
  if (data.op == Op::AtomicCas) {
    if (old == value(Value(data.b))) next = value(Value(data.c));
  } else {
    next = combine(func().atomic_op(inst), old, value(Value(data.b)), type.bits());
  }
  interp::to_memory(next, type, big, found.memory);
  value(result) = old;
  frames_.back().at = func().next_inst(inst);
  return Step::Continue;
}

Result<interp::U128> Interpreter::global_value(GlobalValue global) {
  using Kind = GlobalValueData::Kind;
  // From the root of the chain back to `global`; the verifier refuses cycles.
  std::vector<GlobalValue> chain(1, global);
  for (;;) {
    const GlobalValueData& data = func().global_values[chain.back()];
    if (data.kind != Kind::Load && data.kind != Kind::IaddImm) break;
    chain.push_back(data.base);
  }
  U128 bits = 0;
  for (std::size_t i = chain.size(); i-- > 0;) {
    const GlobalValueData& data = func().global_values[chain[i]];
    switch (data.kind) {
      case Kind::VmContext: {
        const std::span<const Value> params = func().block_params(func().entry_block());
        for (std::size_t p = 0; p < params.size(); ++p) {
          if (func().signature.params[p].purpose == ArgPurpose::VmCtx) bits = value(params[p]);
        }
        break;
      }
      case Kind::IaddImm:
        bits = (bits + static_cast<U128>(data.offset)) & interp::mask(data.type.bits());
        break;
      case Kind::Load: {
        const std::uint8_t* memory =
            find(static_cast<std::uint64_t>(bits) + static_cast<std::uint64_t>(data.offset),
                 data.type.bytes());
        if (memory == nullptr) {
          base::Printer text;
          text << "the load of " << chain[i] << " is out of bounds";
          return Error(ErrorKind::Invalid, text.take());
        }
        bits = interp::from_memory(memory, data.type, func().mem_flags(data.flags).endian == 2);
        break;
      }
      case Kind::Symbol: return Error(ErrorKind::Unsupported, "symbols in the interpreter");
      case Kind::DynScale: bits = 1; break;
    }
  }
  return bits;
}

}  // namespace hoist::ir
