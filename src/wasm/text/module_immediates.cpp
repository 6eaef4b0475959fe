// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows the name of a plain instruction. Source: WebAssembly core specification 3.0,
// sections 5.4 and 6.5.
#include <fmt/core.h>

#include <bit>

#include "wasm/text/module_assembler.hpp"
#include "wasm/text/numbers.hpp"

namespace hoist::wasm {

namespace {

void write_fixed(Bytes& out, std::uint64_t value, unsigned bits) {
  for (unsigned shift = 0; shift < bits; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

/// Lanes of a vector by the name of its shape in front of the first dot; 0 if it is none.
std::uint32_t lanes_of(std::string_view name) {
  if (name.starts_with("i8x16")) return 16;
  if (name.starts_with("i16x8")) return 8;
  if (name.starts_with("i32x4") || name.starts_with("f32x4")) return 4;
  if (name.starts_with("i64x2") || name.starts_with("f64x2")) return 2;
  return 0;
}

}  // namespace

/// Opcode and immediates of the instruction whose name was just read.
bool ModuleAssembler::immediates(const OpInfo& info, Bytes& out) {
  std::uint64_t bits64 = 0;
  std::uint32_t bits32 = 0;
  // The rows that share their name with others choose their opcode by what follows.
  if (info.imm == Imm::HeapType) return reference_operator(info, out);
  if (&info == &op_info(Op::Select)) return select(out);
  write_opcode(info, out);
  switch (info.imm) {
    case Imm::None: return true;
    case Imm::Label: return label(out);
    case Imm::LabelTable: return label_table(out);
    case Imm::Func: return one_index(funcs_, out);
    case Imm::CallIndirect: return call_indirect(out);
    case Imm::Type: return one_index(types_, out);
    case Imm::TypeField: return type_field(out);
    case Imm::TypeCount: return type_and(nullptr, out);
    case Imm::TypeType: return type_and(&types_, out);
    case Imm::TypeData: uses_data_index_ = true; return type_and(&datas_, out);
    case Imm::TypeElem: return type_and(&elems_, out);
    case Imm::Local: return one_index(locals_, out);
    case Imm::Global: return one_index(globals_, out);
    case Imm::Table: return table_or_memory(tables_, out);
    case Imm::TableTable: return copy_operands(tables_, out);
    case Imm::Memory: return table_or_memory(memories_, out);
    case Imm::MemoryMemory: return copy_operands(memories_, out);
    case Imm::Data: uses_data_index_ = true; return one_index(datas_, out);
    case Imm::DataMemory: uses_data_index_ = true; return init_operands(datas_, memories_, out);
    case Imm::Elem: return one_index(elems_, out);
    case Imm::ElemTable: return init_operands(elems_, tables_, out);
    case Imm::Tag: return one_index(tags_, out);
    case Imm::BrOnCast: return br_on_cast(out);
    case Imm::I32:
      if (!integer(32, bits64)) return false;
      base::write_sleb(out, static_cast<std::int32_t>(static_cast<std::uint32_t>(bits64)));
      return true;
    case Imm::I64:
      if (!integer(64, bits64)) return false;
      base::write_sleb(out, static_cast<std::int64_t>(bits64));
      return true;
    case Imm::F32:
      if (!single(bits32)) return false;
      write_fixed(out, bits32, 32);
      return true;
    case Imm::F64:
      if (!double_(bits64)) return false;
      write_fixed(out, bits64, 64);
      return true;
    case Imm::V128: return v128_constant(out);
    case Imm::Shuffle: return shuffle_lanes(out);
    case Imm::Lane: return lane(out);
    case Imm::Fence: out.push_back(0); return true;
    case Imm::Mem1:
    case Imm::Mem2:
    case Imm::Mem4:
    case Imm::Mem8:
    case Imm::Mem16: return memory_argument(info, out);
    case Imm::MemLane1:
    case Imm::MemLane2:
    case Imm::MemLane4:
    case Imm::MemLane8: return memory_argument(info, out) && lane(out);
    case Imm::Block:
    case Imm::TryTable:
    case Imm::HeapType:
    case Imm::SelectTypes: break;  // structured instructions; chosen above
  }
  return fail_unexpected("an instruction");
}

// ---- Indexes.

bool ModuleAssembler::one_index(const IndexSpace& space, Bytes& out) {
  std::uint32_t value = 0;
  if (!index(space, value)) return false;
  base::write_uleb(out, value);
  return true;
}

/// Without an index it is the first one.
bool ModuleAssembler::table_or_memory(const IndexSpace& space, Bytes& out) {
  if (at_index()) return one_index(space, out);
  out.push_back(0);
  return true;
}

/// Both indexes or none.
bool ModuleAssembler::copy_operands(const IndexSpace& space, Bytes& out) {
  if (at_index()) return one_index(space, out) && one_index(space, out);
  out.push_back(0);
  out.push_back(0);
  return true;
}

/// `target? segment`; in the binary format the segment comes first.
bool ModuleAssembler::init_operands(const IndexSpace& segments, const IndexSpace& targets,
                                    Bytes& out) {
  std::uint32_t target = 0;
  const TokenKind second = peek(1).kind;
  if (at_index() && (second == TokenKind::Nat || second == TokenKind::Id)) {
    if (!index(targets, target)) return false;
  }
  if (!one_index(segments, out)) return false;
  base::write_uleb(out, target);
  return true;
}

/// A type and an index of `second`, or a number where that is null.
bool ModuleAssembler::type_and(const IndexSpace* second, Bytes& out) {
  if (!one_index(types_, out)) return false;
  if (second != nullptr) return one_index(*second, out);
  std::uint32_t count = 0;
  if (!u32(count)) return false;
  base::write_uleb(out, count);
  return true;
}

bool ModuleAssembler::type_field(Bytes& out) {
  std::uint32_t type = 0;
  std::uint32_t field = 0;
  if (!index(types_, type)) return false;
  if (at_kind(TokenKind::Id)) {
    const Token& id = next();
    const auto found = struct_fields_.find((std::uint64_t{type} << 32) | symbol_of(id));
    if (found == struct_fields_.end()) {
      return fail(id, fmt::format("unknown field {}", text_of(id)));
    }
    field = found->second;
  } else if (!u32(field)) {
    return false;
  }
  base::write_uleb(out, type);
  base::write_uleb(out, field);
  return true;
}

bool ModuleAssembler::label(Bytes& out) {
  std::uint32_t depth = 0;
  if (!label_index(depth)) return false;
  base::write_uleb(out, depth);
  return true;
}

bool ModuleAssembler::label_table(Bytes& out) {
  std::uint32_t depth = 0;
  if (!label_index(depth)) return false;
  Bytes table;
  std::uint32_t count = 0;
  while (at_index()) {
    base::write_uleb(table, depth);
    ++count;
    if (!label_index(depth)) return false;
  }
  base::write_uleb(out, count);
  out.insert(out.end(), table.begin(), table.end());
  base::write_uleb(out, depth);
  return true;
}

/// `table? typeuse`; in the binary format the type comes first.
bool ModuleAssembler::call_indirect(Bytes& out) {
  std::uint32_t table = 0;
  std::uint32_t type = 0;
  if (at_index() && !index(tables_, table)) return false;
  if (!type_use(type, sig_, ParamNames::Forbidden)) return false;
  base::write_uleb(out, type);
  base::write_uleb(out, table);
  return true;
}

// ---- Typed operators.

bool ModuleAssembler::select(Bytes& out) {
  if (!at_list("result")) {
    write_opcode(op_info(Op::Select), out);
    return true;
  }
  write_opcode(op_info(Op::SelectTyped), out);
  Bytes types;
  std::uint32_t count = 0;
  TextValType type;
  while (accept_list("result")) {
    while (!at_kind(TokenKind::RParen)) {
      if (!val_type(type)) return false;
      write_val_type(types, type);
      ++count;
    }
    next();
  }
  base::write_uleb(out, count);
  out.insert(out.end(), types.begin(), types.end());
  return true;
}

/// `ref.null ht`; the others take a reference type and have an opcode for each nullness.
bool ModuleAssembler::reference_operator(const OpInfo& info, Bytes& out) {
  TextHeapType heap;
  if (&info == &op_info(Op::RefNull)) {
    write_opcode(info, out);
    if (!heap_type(heap)) return false;
    write_heap_type(out, heap);
    return true;
  }
  bool nullable = false;
  if (!cast_type(heap, nullable)) return false;
  // The row for nullable types follows the other one.
  write_opcode(nullable
                   ? op_info_at(static_cast<std::uint16_t>(op_number(info.prefix, info.code + 1u)))
                   : info,
               out);
  write_heap_type(out, heap);
  return true;
}

/// A reference type as nullness and heap type.
bool ModuleAssembler::cast_type(TextHeapType& heap, bool& nullable) {
  TextValType type;
  if (!ref_type(type)) return false;
  nullable = type.lead != kRef;
  heap = type.lead == kRef || type.lead == kRefNull
             ? type.heap
             : TextHeapType{.value = type.lead, .abstract = true};
  return true;
}

bool ModuleAssembler::br_on_cast(Bytes& out) {
  std::uint32_t depth = 0;
  TextHeapType from;
  TextHeapType to;
  bool from_null = false;
  bool to_null = false;
  if (!label_index(depth) || !cast_type(from, from_null) || !cast_type(to, to_null)) return false;
  out.push_back(static_cast<std::uint8_t>((from_null ? 1 : 0) | (to_null ? 2 : 0)));
  base::write_uleb(out, depth);
  write_heap_type(out, from);
  write_heap_type(out, to);
  return true;
}

// ---- Memory arguments.

bool ModuleAssembler::number_after(std::string_view prefix, std::uint64_t& value) {
  const Token& token = next();
  const std::string_view digits = text_of(token).substr(prefix.size());
  const Number<std::uint64_t> number = parse_nat(digits);
  if (number.status == NumberStatus::Ok) {
    value = number.bits;
    return true;
  }
  if (number.status == NumberStatus::OutOfRange) {
    return fail(token, fmt::format("{} out of range", stream_.shown(token)));
  }
  return fail_unknown(token);
}

bool ModuleAssembler::offset_and_align(const OpInfo& info, std::uint64_t& offset,
                                       std::uint32_t& align_log2) {
  align_log2 = static_cast<std::uint32_t>(std::countr_zero(access_bytes(info.imm)));
  if (at_kind(TokenKind::Keyword) && text_of(peek()).starts_with("offset=")) {
    if (!number_after("offset=", offset)) return false;
  }
  if (at_kind(TokenKind::Keyword) && text_of(peek()).starts_with("align=")) {
    const Token& at = peek();
    std::uint64_t align = 0;
    if (!number_after("align=", align)) return false;
    if (!std::has_single_bit(align)) {
      return fail(at, fmt::format("alignment must be a power of two, found {}", align));
    }
    align_log2 = static_cast<std::uint32_t>(std::countr_zero(align));
  }
  return true;
}

/// The optional memory index. A lone number in front of nothing else is a lane, if one is due.
bool ModuleAssembler::memory_index(const OpInfo& info, std::uint32_t& memory) {
  if (at_kind(TokenKind::Id)) return index(memories_, memory);
  if (!at_kind(TokenKind::Nat)) return true;
  const Token& after = peek(1);
  const bool more = after.kind == TokenKind::Nat ||
                    (after.kind == TokenKind::Keyword && (text_of(after).starts_with("offset=") ||
                                                          text_of(after).starts_with("align=")));
  if (info.imm >= Imm::MemLane1 && !more) return true;
  return index(memories_, memory);
}

bool ModuleAssembler::memory_argument(const OpInfo& info, Bytes& out) {
  std::uint32_t memory = 0;
  std::uint64_t offset = 0;
  std::uint32_t align_log2 = 0;
  if (!memory_index(info, memory) || !offset_and_align(info, offset, align_log2)) return false;
  constexpr std::uint32_t kHasMemory = 0x40;
  base::write_uleb(out, memory == 0 ? align_log2 : align_log2 | kHasMemory);
  if (memory != 0) base::write_uleb(out, memory);
  base::write_uleb(out, offset);
  return true;
}

// ---- Constants.

bool ModuleAssembler::integer(unsigned width, std::uint64_t& bits) {
  const Token& token = peek();
  if (token.kind != TokenKind::Nat && token.kind != TokenKind::Int) {
    return fail_unexpected(fmt::format("an i{} constant", width));
  }
  const Number<std::uint64_t> number = parse_int(text_of(token), width);
  if (number.status != NumberStatus::Ok) {
    return fail(token, fmt::format("i{} constant out of range: {}", width, stream_.shown(token)));
  }
  bits = number.bits;
  next();
  return true;
}

template <typename Bits>
bool ModuleAssembler::take_float(const Number<Bits>& number, const char* type, Bits& bits) {
  const Token& token = peek();
  if (number.status == NumberStatus::OutOfRange) {
    return fail(token, fmt::format("{} constant out of range: {}", type, stream_.shown(token)));
  }
  if (number.status == NumberStatus::Malformed) {
    // Scripts have nan:canonical and nan:arithmetic, so these are words of the language.
    const bool is_nan = token.kind == TokenKind::Keyword && text_of(token).starts_with("nan:") &&
                        !is_keyword(token, "nan:canonical") && !is_keyword(token, "nan:arithmetic");
    return is_nan ? fail_unknown(token) : fail_unexpected(fmt::format("an {} constant", type));
  }
  bits = number.bits;
  next();
  return true;
}

bool ModuleAssembler::single(std::uint32_t& bits) {
  return take_float(parse_f32(text_of(peek())), "f32", bits);
}

bool ModuleAssembler::double_(std::uint64_t& bits) {
  return take_float(parse_f64(text_of(peek())), "f64", bits);
}

bool ModuleAssembler::v128_constant(Bytes& out) {
  const std::string_view shape = at_kind(TokenKind::Keyword) ? text_of(peek()) : "";
  const std::uint32_t lanes = lanes_of(shape);
  if (lanes == 0 || shape.size() != 5) return fail_unexpected("the shape of a v128 constant");
  const bool is_float = shape[0] == 'f';
  next();
  if (at_kind(TokenKind::Reserved)) return fail_unknown(peek());
  if (const std::uint32_t given = numbers_ahead(); given != lanes) {
    return fail(peek(),
                fmt::format("wrong number of lane literals: {}, expected {}", given, lanes));
  }
  for (std::uint32_t i = 0; i < lanes; ++i) {
    const unsigned width = 128 / lanes;
    std::uint64_t bits = 0;
    std::uint32_t bits32 = 0;
    if (!is_float) {
      if (!integer(width, bits)) return false;
    } else if (width == 64) {
      if (!double_(bits)) return false;
    } else {
      if (!single(bits32)) return false;
      bits = bits32;
    }
    write_fixed(out, bits, width);
  }
  return true;
}

std::uint32_t ModuleAssembler::numbers_ahead() const {
  for (std::uint32_t count = 0;; ++count) {
    const Token& token = peek(count);
    const bool number = token.kind == TokenKind::Nat || token.kind == TokenKind::Int ||
                        token.kind == TokenKind::Float || token.kind == TokenKind::Reserved ||
                        is_keyword(token, "inf") ||
                        (token.kind == TokenKind::Keyword && text_of(token).starts_with("nan"));
    if (!number) return count;
  }
}

bool ModuleAssembler::shuffle_lanes(Bytes& out) {
  constexpr std::uint32_t kLanes = 16;
  if (const std::uint32_t given = numbers_ahead(); given != kLanes) {
    return fail(peek(), fmt::format("invalid lane length: {} lanes, expected {}", given, kLanes));
  }
  for (std::uint32_t i = 0; i < kLanes; ++i) {
    const Token& token = peek();
    if (token.kind != TokenKind::Nat) {
      return fail(token, fmt::format("i8 constant out of range: {} is no lane index",
                                     stream_.shown(token)));
    }
    if (!lane(out)) return false;
  }
  return true;
}

bool ModuleAssembler::lane(Bytes& out) {
  std::uint64_t value = 0;
  if (!nat(255, "lane index", value)) return false;
  out.push_back(static_cast<std::uint8_t>(value));
  return true;
}

}  // namespace hoist::wasm
