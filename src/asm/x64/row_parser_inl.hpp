// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Reads the notation of insts.def at compile time: operands to OpInfo, encodings to EncRow. A row
/// with a mistake does not compile (it calls bad_row, which no constant expression may). For
/// insts.cpp and encoder.cpp only.

#include <cstdint>
#include <string_view>

#include "asm/x64/insts.hpp"

namespace hoist::masm::x64 {

/// Ends constant evaluation: the row named in the compiler's note has a mistake.
[[noreturn]] void bad_row();

enum class ImmKind : std::uint8_t { None, Ib, Iw, Iz, Is, It, I1, Im, Iq, Rel };

/// One row's encoding, laid out so that the encoder needs few branches. A "slot" is the number of
/// a register operand (not counting fixed ones), or kDigit.
struct EncRow {
  static constexpr std::uint8_t kDigit = 3;
  enum Flag : std::uint8_t {
    kVex = 1,
    kLock = 2,
    kOpReg = 4,
    kFixedWidth = 8,
    kW1 = 16,
    kEvex = 32,
    kBroadcast = 64
  };

  std::uint8_t opcode = 0;
  std::uint8_t prefix = 0;  ///< 0, 66, F2 or F3
  std::uint8_t map = 0;     ///< 0 none, 1 0F, 2 0F38, 3 0F3A: VEX.mmmmm's numbers
  std::uint8_t digit = 0;
  std::uint8_t flags = 0;
  std::uint8_t width_mask = 0;  ///< widths that change the encoding: 2 for 66, 8 for REX.W
  std::uint8_t fixed_width = 0;
  std::uint8_t w_bit = 0;  ///< or-ed into the opcode unless the width is 1
  std::uint8_t reg_slot = kDigit;
  std::uint8_t rm_slot = kDigit;
  std::uint8_t v_slot = kDigit;
  std::uint8_t byte_reg = 0;  ///< widths at which ModRM.reg is a byte register
  std::uint8_t byte_rm = 0;   ///< the same for ModRM.rm or the opcode's register
  std::uint8_t shape = 0;     ///< see make_shape
  ImmKind imm = ImmKind::None;
  std::uint8_t suffix = 0;  ///< a third opcode byte in place of ModRM, 0: none; with EVEX log2 of
                            ///< what a one-byte displacement counts
};
static_assert(sizeof(EncRow) == 16);

constexpr std::uint8_t make_shape(unsigned regs, bool mem, bool imm) {
  return static_cast<std::uint8_t>(regs | (mem ? unsigned{kShapeMem} : 0u) |
                                   (imm ? unsigned{kShapeImm} : 0u));
}

// Rows are many and the functions below run at compile time only. They are constexpr, not consteval
// (a consteval call inside another is evaluated more than once), walk characters by themselves and
// compare words as numbers: that is a quarter of the time that std::string_view's functions take.

/// Takes the text before `separator`, which is no space, off the front, and spaces behind it.
constexpr std::string_view take_token(std::string_view& rest, char separator) {
  const char* const text = rest.data();
  const std::size_t size = rest.size();
  std::size_t end = 0;
  while (end < size && text[end] != separator) ++end;
  std::size_t next = end < size ? end + 1 : end;
  while (next < size && text[next] == ' ') ++next;
  rest = std::string_view(text + next, size - next);
  return std::string_view(text, end);
}

/// Up to eight characters as a number.
constexpr std::uint64_t word(std::string_view text) {
  if (text.size() > 8) bad_row();
  std::uint64_t out = 0;
  for (const char c : text) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

constexpr std::uint8_t parse_number(std::string_view text, unsigned radix) {
  unsigned value = 0;
  if (text.empty()) bad_row();
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
    if (digit >= static_cast<int>(radix)) bad_row();
    value = value * radix + static_cast<unsigned>(digit);
  }
  if (value > 0xff) bad_row();
  return static_cast<std::uint8_t>(value);
}

constexpr Role parse_role(std::string_view text) {
  switch (word(text)) {
    case word("r"): return Role::Read;
    case word("w"): return Role::Write;
    case word("rw"): return Role::ReadWrite;
    case word("a"): return Role::Address;
    default: bad_row();
  }
}

/// False where there is no such place.
constexpr bool parse_place(std::uint64_t text, Place& out) {
  switch (text) {
    case word("reg"): out = Place::Reg; return true;
    case word("rm"): out = Place::Rm; return true;
    case word("op"): out = Place::OpReg; return true;
    case word("vreg"): out = Place::VReg; return true;
    case word("xreg"): out = Place::XReg; return true;
    case word("xrm"): out = Place::Xrm; return true;
    case word("xv"): out = Place::XVReg; return true;
    case word("xis4"): out = Place::XIs4; return true;
    case word("mem"): out = Place::Mem; return true;
    case word("imm"): out = Place::Imm; return true;
    case word("imm8"): out = Place::Imm8; return true;
    case word("imm64"): out = Place::Imm64; return true;
    case word("rel"): out = Place::Rel; return true;
    case word("cl"): out = Place::Cl; return true;
    case word("xmm0"): out = Place::Xmm0; return true;
    case word("<rax>"): out = Place::Rax; return true;
    case word("<rbx>"): out = Place::Rbx; return true;
    case word("<rcx>"): out = Place::Rcx; return true;
    case word("<rdx>"): out = Place::Rdx; return true;
    default: return false;
  }
}

constexpr OperandInfo parse_operand(std::string_view text) {
  OperandInfo out{};
  out.role = parse_role(take_token(text, ':'));
  if (parse_place(word(text), out.place)) return out;
  std::size_t name_end = text.size();
  while (name_end != 0 && text[name_end - 1] >= '0' && text[name_end - 1] <= '9') --name_end;
  out.bits = parse_number(text.substr(name_end), 10);
  if (!parse_place(word(text.substr(0, name_end)), out.place)) bad_row();
  return out;
}

/// Widths in bytes, or-ed.
constexpr std::uint8_t parse_widths(std::string_view text) {
  unsigned mask = 0;
  if (word(text.substr(0, 1)) == '-') return 0;
  while (!text.empty()) mask |= parse_number(take_token(text, ' '), 10) / 8u;
  return static_cast<std::uint8_t>(mask);
}

constexpr std::uint8_t parse_flags(std::string_view text) {
  unsigned mask = 0;
  for (const char c : text) {
    switch (c) {
      case 'c': mask |= kFlagsOfCc; break;  // "cc"
      case 'O': mask |= kFlagO; break;
      case 'S': mask |= kFlagS; break;
      case 'Z': mask |= kFlagZ; break;
      case 'A': mask |= kFlagA; break;
      case 'P': mask |= kFlagP; break;
      case 'C': mask |= kFlagC; break;
      default: bad_row();
    }
  }
  return static_cast<std::uint8_t>(mask);
}

/// Shape and places in machine IR follow from the operands.
constexpr void place_in_machine_ir(OpInfo& op) {
  unsigned regs = 0;
  int defs = 0;
  int uses = 0;
  for (const OperandInfo& o : op.operands()) {
    const bool is_reg = o.place < Place::Mem || o.place >= Place::Cl;
    if (is_reg && o.role != Role::Write) ++uses;
  }
  unsigned shape = (op.flags_read & kFlagsOfCc) != 0 ? unsigned{kShapeCc} : 0u;
  for (const OperandInfo& o : op.operands()) {
    const bool is_reg = o.place < Place::Mem || o.place >= Place::Cl;
    if (o.place == Place::Mem) shape |= kShapeMem;
    if (o.place == Place::Rel) shape |= kShapeRel;
    if (o.place == Place::Imm || o.place == Place::Imm8 || o.place == Place::Imm64) {
      shape |= kShapeImm;
    }
    if (!is_reg) continue;
    // A use counts from the end: forms that omit the Use of their rw have it first.
    const int place = o.role == Role::Read ? -uses : defs;
    if (o.role != Role::Read) ++defs;
    if (o.role != Role::Write) --uses;
    if (o.place == Place::XIs4) {
      op.mach_operand[3] = static_cast<std::int8_t>(place);
      shape |= kShapeIs4;
    } else if (o.place < Place::Mem) {
      op.mach_operand[regs++] = static_cast<std::int8_t>(place);
    }
  }
  op.shape = static_cast<std::uint8_t>(shape | regs);
}

constexpr OpInfo parse_info(const char* mnemonic, std::string_view operands,
                            std::string_view widths, Feature feature, std::string_view flags_read,
                            std::string_view flags_written) {
  OpInfo out{};
  out.mnemonic = mnemonic;
  while (!operands.empty()) {
    if (out.operand_count == OpInfo::kMaxOperands) bad_row();
    out.operand[out.operand_count++] = parse_operand(take_token(operands, ','));
  }
  out.widths = parse_widths(widths);
  out.feature = feature;
  out.flags_read = parse_flags(flags_read);
  out.flags_written = parse_flags(flags_written);
  place_in_machine_ir(out);
  return out;
}

constexpr std::uint8_t log2_bytes(unsigned bits) {
  switch (bits) {
    case 8: return 0;
    case 16: return 1;
    case 32: return 2;
    case 64: return 3;
    case 128: return 4;
    default: bad_row();
  }
}

/// Slots, shape and byte registers follow from the operands.
constexpr void place_operands(EncRow& row, const OpInfo& op) {
  unsigned regs = 0;
  const auto byte_widths = static_cast<std::uint8_t>(op.widths & 1);
  for (const OperandInfo& o : op.operands()) {
    const auto slot = static_cast<std::uint8_t>(regs);
    switch (o.place) {
      case Place::Reg: row.byte_reg = byte_widths; [[fallthrough]];
      case Place::XReg:
        row.reg_slot = slot;
        ++regs;
        break;
      case Place::OpReg: row.flags |= EncRow::kOpReg; [[fallthrough]];
      case Place::Rm: row.byte_rm = o.bits == 8 ? 0xff : byte_widths; [[fallthrough]];
      case Place::Xrm:
        row.rm_slot = slot;
        ++regs;
        break;
      case Place::VReg:
      case Place::XVReg:
        row.v_slot = slot;
        ++regs;
        break;
      case Place::Mem:
        if ((row.flags & EncRow::kEvex) != 0) row.suffix = log2_bytes(o.bits);
        break;
      case Place::XIs4:
      case Place::Imm:
      case Place::Imm8:
      case Place::Imm64:
      case Place::Rel:
      case Place::Cl:
      case Place::Xmm0:
      case Place::Rax:
      case Place::Rbx:
      case Place::Rcx:
      case Place::Rdx: break;
    }
  }
  row.shape = static_cast<std::uint8_t>(op.shape & (15 | kShapeIs4));
}

/// One token of the encoding that is not an opcode byte; false where it is one.
constexpr bool parse_encoding_word(EncRow& row, std::string_view text) {
  if (text.front() == '/') {
    if (text != "/r") row.digit = parse_number(text.substr(1), 8);
    return true;
  }
  switch (word(text)) {
    case word("ib"): row.imm = ImmKind::Ib; return true;
    case word("iw"): row.imm = ImmKind::Iw; return true;
    case word("iz"): row.imm = ImmKind::Iz; return true;
    case word("is"): row.imm = ImmKind::Is; return true;
    case word("it"): row.imm = ImmKind::It; return true;
    case word("i1"): row.imm = ImmKind::I1; return true;
    case word("im"): row.imm = ImmKind::Im; return true;
    case word("iq"): row.imm = ImmKind::Iq; return true;
    case word("rel"): row.imm = ImmKind::Rel; return true;
    case word("VEX"): row.flags |= EncRow::kVex; return true;
    case word("EVEX"): row.flags |= EncRow::kVex | EncRow::kEvex; return true;
    case word("W1"): row.flags |= EncRow::kW1; return true;
    case word("bcst"): row.flags |= EncRow::kBroadcast; return true;
    case word("d64"): row.width_mask = static_cast<std::uint8_t>(row.width_mask & ~8u); return true;
    case word("0F38"): row.map = 2; return true;
    case word("0F3A"): row.map = 3; return true;
    case word("F0"):
      if (row.map != 0) return false;
      row.flags |= EncRow::kLock;
      return true;
    case word("0F"):
      if (row.map != 0) return false;
      row.map = 1;
      return true;
    default: return false;
  }
}

constexpr EncRow parse_encoding(const OpInfo& op, std::string_view text) {
  EncRow row;
  row.width_mask = op.widths;
  if ((op.widths & (op.widths - 1)) == 0) {
    row.flags |= EncRow::kFixedWidth;
    row.fixed_width = op.widths == 0 ? 4 : op.widths;
  }
  bool have_opcode = false;
  while (!text.empty()) {
    std::string_view token = take_token(text, ' ');
    if (parse_encoding_word(row, token)) continue;
    const bool is_prefix = row.map == 0 && !have_opcode && !text.empty();
    if (is_prefix && (token == "66" || token == "F2" || token == "F3")) {
      row.prefix = parse_number(token, 16);
      continue;
    }
    if (have_opcode) {
      row.suffix = parse_number(token, 16);
      continue;
    }
    row.opcode = parse_number(take_token(token, '+'), 16);
    row.w_bit = token == "w" ? 1 : 0;
    have_opcode = true;
  }
  if (!have_opcode) bad_row();
  place_operands(row, op);
  return row;
}

}  // namespace hoist::masm::x64
