// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/immediates.hpp"

#include "wasm/decode/type_reader.hpp"

namespace hoist::wasm {

static SkipResult result_of(bool ok) {
  return ok ? SkipResult::Ok : SkipResult::ReadFault;
}

static SkipResult result_of(TypeRead read) {
  switch (read) {
    case TypeRead::Ok: return SkipResult::Ok;
    case TypeRead::ReadFault: return SkipResult::ReadFault;
    case TypeRead::NotAType: return SkipResult::Malformed;
  }
  return SkipResult::Malformed;
}

static bool skip_u32s(ByteReader& in, std::uint64_t count) {
  std::uint32_t ignored = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!in.u32(ignored)) return false;
  }
  return true;
}

static SkipResult skip_val_type(ByteReader& in) {
  ValType type;
  Feature needs = Feature::Core;
  return result_of(read_val_type(in, type, needs));
}

static SkipResult skip_heap_type(ByteReader& in) {
  HeapType type(HeapType::Func);
  Feature needs = Feature::Core;
  return result_of(read_heap_type(in, type, needs));
}

static SkipResult skip_block_type(ByteReader& in) {
  const std::uint8_t first = in.peek();
  if (first == 0x40) return result_of(in.skip(1));
  if ((first & 0xc0) == 0x40) return skip_val_type(in);
  std::int64_t index = 0;
  if (!in.s33(index)) return SkipResult::ReadFault;
  return index < 0 ? SkipResult::Malformed : SkipResult::Ok;
}

static SkipResult skip_mem_arg(ByteReader& in) {
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  if (!in.u32(flags)) return SkipResult::ReadFault;
  if (flags >= 0x80) return SkipResult::Malformed;
  if ((flags & 0x40) != 0 && !skip_u32s(in, 1)) return SkipResult::ReadFault;
  return result_of(in.u64(offset));
}

static SkipResult skip_catches(ByteReader& in) {
  std::uint32_t count = 0;
  if (!in.u32(count)) return SkipResult::ReadFault;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint8_t kind = 0;
    if (!in.u8(kind)) return SkipResult::ReadFault;
    if (kind > 3) return SkipResult::Malformed;
    if (!skip_u32s(in, kind < 2 ? 2 : 1)) return SkipResult::ReadFault;
  }
  return SkipResult::Ok;
}

SkipResult skip_immediates(ByteReader& in, Imm imm) {
  std::uint32_t count = 0;
  std::int32_t s32 = 0;
  std::int64_t s64 = 0;
  SkipResult skipped = SkipResult::Ok;
  switch (imm) {
    case Imm::None: return SkipResult::Ok;
    case Imm::Block: return skip_block_type(in);
    case Imm::Label:
    case Imm::Func:
    case Imm::Type:
    case Imm::Local:
    case Imm::Global:
    case Imm::Table:
    case Imm::Memory:
    case Imm::Data:
    case Imm::Elem:
    case Imm::Tag: return result_of(skip_u32s(in, 1));
    case Imm::CallIndirect:
    case Imm::TypeField:
    case Imm::TypeCount:
    case Imm::TypeType:
    case Imm::TypeData:
    case Imm::TypeElem:
    case Imm::TableTable:
    case Imm::MemoryMemory:
    case Imm::DataMemory:
    case Imm::ElemTable: return result_of(skip_u32s(in, 2));
    case Imm::LabelTable:
      return result_of(in.u32(count) && skip_u32s(in, std::uint64_t{count} + 1));
    case Imm::HeapType: return skip_heap_type(in);
    case Imm::SelectTypes:
      if (!in.u32(count)) return SkipResult::ReadFault;
      for (std::uint32_t i = 0; i < count && skipped == SkipResult::Ok; ++i) {
        skipped = skip_val_type(in);
      }
      return skipped;
    case Imm::BrOnCast:
      if (!in.skip(1) || !skip_u32s(in, 1)) return SkipResult::ReadFault;
      skipped = skip_heap_type(in);
      return skipped == SkipResult::Ok ? skip_heap_type(in) : skipped;
    case Imm::TryTable:
      skipped = skip_block_type(in);
      return skipped == SkipResult::Ok ? skip_catches(in) : skipped;
    case Imm::I32: return result_of(in.s32(s32));
    case Imm::I64: return result_of(in.s64(s64));
    case Imm::F32: return result_of(in.skip(4));
    case Imm::F64: return result_of(in.skip(8));
    case Imm::V128:
    case Imm::Shuffle: return result_of(in.skip(16));
    case Imm::Lane:
    case Imm::Fence: return result_of(in.skip(1));
    case Imm::Mem1:
    case Imm::Mem2:
    case Imm::Mem4:
    case Imm::Mem8:
    case Imm::Mem16: return skip_mem_arg(in);
    case Imm::MemLane1:
    case Imm::MemLane2:
    case Imm::MemLane4:
    case Imm::MemLane8:
      skipped = skip_mem_arg(in);
      return skipped == SkipResult::Ok ? result_of(in.skip(1)) : skipped;
  }
  return SkipResult::Malformed;
}

bool read_opcode(ByteReader& in, std::uint16_t& number) {
  std::uint8_t byte = 0;
  if (!in.u8(byte)) return false;
  number = byte;
  if (byte < 0xfb || byte > 0xfe) return true;
  std::uint32_t code = 0;
  if (!in.u32(code)) return false;
  number = op_number(byte, code);
  return true;
}

}  // namespace hoist::wasm
