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
    default: return type.bytes();
  }
}

bool is_sign_extending(Op op) {
  return op == Op::Sload8 || op == Op::Sload16 || op == Op::Sload32;
}

interp::U128 read(const std::uint8_t* memory, unsigned bytes, bool big_endian) {
  interp::U128 bits = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    bits |= interp::U128{memory[big_endian ? bytes - 1 - i : i]} << (8 * i);
  }
  return bits;
}

void write(std::uint8_t* memory, unsigned bytes, bool big_endian, interp::U128 bits) {
  for (unsigned i = 0; i < bytes; ++i) {
    memory[big_endian ? bytes - 1 - i : i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
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
  return nullptr;
}

Result<Interpreter::Step> Interpreter::load(Inst inst) {
  const InstData& data = func().data(inst);
  const Value result = func().result(inst);
  const Type type = func().type(result);
  const unsigned bytes = access_bytes(data.op, type);
  const std::uint64_t address = static_cast<std::uint64_t>(value(Value(data.a))) +
                                static_cast<std::uint64_t>(std::int64_t{func().load_offset(inst)});
  const MemFlags& flags = func().mem_flags(inst);
  const std::uint8_t* memory = find(address, bytes);
  if (memory == nullptr) {
    if (!flags.notrap()) return trap(flags.trap);
    return Error(ErrorKind::Invalid,
                 "an access that cannot trap is out of bounds: `" + to_string(func(), inst) + "`");
  }
  U128 bits = read(memory, bytes, flags.endian == 2);
  if (is_sign_extending(data.op)) {
    bits = static_cast<U128>(interp::sign_extended(bits, bytes * 8)) & interp::mask(type.bits());
  }
  value(result) = bits;
  frames_.back().at = func().next_inst(inst);
  return Step::Continue;
}

Result<Interpreter::Step> Interpreter::store(Inst inst) {
  const InstData& data = func().data(inst);
  const unsigned bytes = access_bytes(data.op, func().type(Value(data.a)));
  const std::uint64_t address = static_cast<std::uint64_t>(value(Value(data.b))) +
                                static_cast<std::uint64_t>(std::int64_t{func().store_offset(inst)});
  const MemFlags& flags = func().mem_flags(inst);
  std::uint8_t* memory = find(address, bytes);
  if (memory == nullptr) {
    if (!flags.notrap()) return trap(flags.trap);
    return Error(ErrorKind::Invalid,
                 "an access that cannot trap is out of bounds: `" + to_string(func(), inst) + "`");
  }
  write(memory, bytes, flags.endian == 2, value(Value(data.a)));
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
        bits = read(memory, data.type.bytes(), func().mem_flags(data.flags).endian == 2);
        break;
      }
      case Kind::Symbol: return Error(ErrorKind::Unsupported, "symbols in the interpreter");
    }
  }
  return bits;
}

}  // namespace hoist::ir
