// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Opcodes as dense numbers, and what opcodes.def says about each.

#include <array>
#include <cstdint>
#include <string_view>

#include "wasm/format/features.hpp"

namespace hoist::wasm {

/// Number of `code` after `prefix` in one dense range: a one-byte opcode is its own number. All
/// ones for a prefix or code outside of the ranges.
constexpr std::uint16_t op_number(std::uint32_t prefix, std::uint32_t code) {
  switch (prefix) {
    case 0x00: return code < 0x100 ? static_cast<std::uint16_t>(code) : 0xffff;
    case 0xfb: return code < 0x40 ? static_cast<std::uint16_t>(0x100 + code) : 0xffff;
    case 0xfc: return code < 0x20 ? static_cast<std::uint16_t>(0x140 + code) : 0xffff;
    case 0xfd: return code < 0x120 ? static_cast<std::uint16_t>(0x160 + code) : 0xffff;
    case 0xfe: return code < 0x50 ? static_cast<std::uint16_t>(0x280 + code) : 0xffff;
    default: return 0xffff;
  }
}
inline constexpr std::size_t kOpNumbers = 0x2d0;

enum class Op : std::uint16_t {
#define HOIST_WASM_OP(group, name, prefix, code, text, imm, sig, feature) \
  name = op_number(prefix, code),
#include "wasm/format/opcodes.def"
};

/// What the body decoder does with an opcode. `Illegal` is no opcode at all.
enum class Group : std::uint8_t {
  Illegal,
  Later,
  Unreachable,
  Nop,
  Block,
  Loop,
  If,
  Else,
  End,
  Br,
  BrIf,
  BrTable,
  Return,
  Call,
  CallIndirect,
  Drop,
  Select,
  SelectTyped,
  LocalGet,
  LocalSet,
  LocalTee,
  GlobalGet,
  GlobalSet,
  TableGet,
  TableSet,
  Load,
  Store,
  MemorySize,
  MemoryGrow,
  ConstI32,
  ConstI64,
  ConstF32,
  ConstF64,
  Test,
  Compare,
  Unary,
  Binary,
  Convert,
  RefNull,
  RefIsNull,
  RefFunc,
  MemoryInit,
  DataDrop,
  MemoryCopy,
  MemoryFill,
  TableInit,
  ElemDrop,
  TableCopy,
  TableGrow,
  TableSize,
  TableFill,
  Try,
  Catch,
  CatchAll,
  Delegate,
  Rethrow,
  Throw,
  ThrowRef,
  TryTable,
  ReturnCall,
  ReturnCallIndirect,
  CallRef,
  ReturnCallRef,
  RefEq,
  RefAsNonNull,
  BrOnNull,
  BrOnNonNull,
  Wide,
  Heap,
  BrOnCast,
  ConstV128,
  Vector,
  VectorLane,
  Shuffle,
  LoadLane,
  StoreLane,
  AtomicLoad,
  AtomicStore,
  AtomicRmw,
  AtomicCmpxchg,
  AtomicNotify,
  AtomicWait,
  AtomicFence
};

/// The immediates that follow an opcode, in binary order.
enum class Imm : std::uint8_t {
  None,
  Block,         ///< block type
  Label,         ///< label
  LabelTable,    ///< vector of labels, default label
  Func,          ///< function
  CallIndirect,  ///< type, table (in the text the table comes first)
  Type,          ///< type
  TypeField,     ///< type, field
  TypeCount,     ///< type, u32
  TypeType,      ///< type, type
  TypeData,      ///< type, data segment
  TypeElem,      ///< type, element segment
  Local,         ///< local
  Global,        ///< global
  Table,         ///< table
  TableTable,    ///< destination table, source table
  Memory,        ///< memory
  MemoryMemory,  ///< destination memory, source memory
  Data,          ///< data segment
  DataMemory,    ///< data segment, memory (in the text the memory comes first)
  Elem,          ///< element segment
  ElemTable,     ///< element segment, table (in the text the table comes first)
  Tag,           ///< tag
  HeapType,      ///< heap type
  SelectTypes,   ///< vector of value types
  BrOnCast,      ///< flags byte, label, heap type, heap type
  TryTable,      ///< block type, vector of catch clauses
  I32,           ///< s32
  I64,           ///< s64
  F32,           ///< 4 bytes
  F64,           ///< 8 bytes
  V128,          ///< 16 bytes
  Shuffle,       ///< 16 lane bytes
  Lane,          ///< 1 lane byte
  Fence,         ///< one zero byte
  Mem1,          ///< memory argument of an access of 1 byte, and so on
  Mem2,
  Mem4,
  Mem8,
  Mem16,
  MemLane1,  ///< memory argument, lane byte
  MemLane2,
  MemLane4,
  MemLane8
};

/// Bytes accessed by an operator with a memory argument; 0 for other immediates.
constexpr std::uint32_t access_bytes(Imm imm) {
  if (imm >= Imm::Mem1 && imm <= Imm::Mem16) {
    return 1u << (static_cast<unsigned>(imm) - static_cast<unsigned>(Imm::Mem1));
  }
  if (imm >= Imm::MemLane1) {
    return 1u << (static_cast<unsigned>(imm) - static_cast<unsigned>(Imm::MemLane1));
  }
  return 0;
}

/// One row of opcodes.def. `text` is empty where there is no such opcode.
struct OpInfo {
  std::string_view text;
  std::string_view signature;
  std::uint8_t prefix = 0;
  std::uint16_t code = 0;
  Imm imm = Imm::None;
  Group group = Group::Illegal;
  Feature feature = Feature::Core;
};

/// The row of `op`; `op_info_at` also takes numbers that are no opcode (group Illegal).
const OpInfo& op_info(Op op);
const OpInfo& op_info_at(std::uint16_t number);
/// "i32.add"
std::string_view text(Op op);

}  // namespace hoist::wasm
