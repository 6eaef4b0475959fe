// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "asm/x64/encoder.hpp"

#include "asm/x64/row_parser_inl.hpp"
#include "base/bits.hpp"

namespace hoist::masm::x64 {
namespace {

// One constant per row: a compiler's limit on the steps of one constant evaluation is not the
// table's limit.
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) \
  constexpr EncRow kRow##id = parse_encoding(                                            \
      parse_info(mnemonic, operands, widths, Feature::feature, read, written), encoding);
#include "asm/x64/insts.def"

constexpr EncRow kRows[] = {
#define HOIST_X64_INST(id, mnemonic, operands, widths, encoding, feature, read, written) kRow##id,
#include "asm/x64/insts.def"
};

const EncRow& row_of(Op op) {
  return kRows[static_cast<std::uint16_t>(op)];
}

/// Register operands by slot; slot 3 is filled with the row's digit.
struct Slots {
  std::uint8_t reg[4];
};

struct Immediate {
  std::int64_t value = 0;
  std::uint8_t size = 0;  ///< bytes written
};

unsigned width_of(const EncRow& row, unsigned width) {
  return (row.flags & EncRow::kFixedWidth) != 0 ? row.fixed_width : width;
}

/// Debug builds: the caller chose a form of this shape and a width that it has.
void check_use([[maybe_unused]] Op op, [[maybe_unused]] const EncRow& row,
               [[maybe_unused]] unsigned width, [[maybe_unused]] std::uint8_t shape) {
  HOIST_DCHECK(row.shape == shape, "operands match the instruction form");
  HOIST_DCHECK(info(op).allows_width(width), "the instruction form has this width");
}

std::uint8_t* put_immediate(std::uint8_t* p, Immediate imm) {
  base::store_le(p, imm.value);
  return p + imm.size;
}

bool is_spl_to_dil(unsigned reg) {
  return (reg >> 2) == 1;
}

/// Prefixes, REX and opcode of a legacy encoding. `x` and `b` are the registers behind REX.X and
/// REX.B; `force_rex` is set where a byte register needs REX.
std::uint8_t* put_legacy(std::uint8_t* p, const EncRow& row, unsigned width, std::uint8_t opcode,
                         unsigned reg, unsigned x, unsigned b, bool force_rex) {
  *p = 0x66;
  p += (width & row.width_mask & 2u) >> 1;
  if ((row.flags & EncRow::kLock) != 0) *p++ = 0xf0;
  *p = row.prefix;
  p += row.prefix != 0;
  const unsigned rex =
      (width & row.width_mask & 8u) | ((reg >> 3) << 2) | ((x >> 3) << 1) | (b >> 3);
  *p = static_cast<std::uint8_t>(0x40u | rex);
  p += (rex != 0) | force_rex;
  if (row.map != 0) {
    *p++ = 0x0f;
    if (row.map != 1) *p++ = row.map == 2 ? 0x38 : 0x3a;
  }
  *p++ = opcode;
  return p;
}

/// VEX.pp of a mandatory prefix.
unsigned prefix_bits(const EncRow& row) {
  switch (row.prefix) {
    case 0x66: return 1;
    case 0xf3: return 2;
    case 0xf2: return 3;
    default: return 0;
  }
}

/// The EVEX prefix and the opcode, for 128 bits without masking and registers below 16.
std::uint8_t* put_evex(std::uint8_t* p, const EncRow& row, bool w, unsigned inverted, unsigned v) {
  constexpr unsigned kNoUpperRegister = 0x10;  // R', inverted
  constexpr unsigned kNoUpperVector = 8;       // V', inverted
  const bool broadcast = (row.flags & EncRow::kBroadcast) != 0;
  *p++ = 0x62;
  *p++ = static_cast<std::uint8_t>(inverted | kNoUpperRegister | row.map);
  *p++ = static_cast<std::uint8_t>((w ? 0x80u : 0u) | ((~v & 15u) << 3) | 4u | prefix_bits(row));
  *p++ = static_cast<std::uint8_t>((broadcast ? 0x10u : 0u) | kNoUpperVector);
  *p++ = row.opcode;
  return p;
}

/// The VEX prefix (of three bytes for maps other than 0F, W and registers behind X and B) or EVEX,
/// and the opcode. L is 0.
std::uint8_t* put_vex(std::uint8_t* p, const EncRow& row, unsigned width, unsigned reg, unsigned x,
                      unsigned b, unsigned v) {
  const bool w = (width & row.width_mask & 8u) != 0 || (row.flags & EncRow::kW1) != 0;
  const unsigned inverted = ~(((reg >> 3) << 7) | ((x >> 3) << 6) | ((b >> 3) << 5)) & 0xe0u;
  if ((row.flags & EncRow::kEvex) != 0) return put_evex(p, row, w, inverted, v);
  const unsigned last = ((~v & 15u) << 3) | prefix_bits(row);
  if (row.map == 1 && !w && (inverted & 0x60u) == 0x60u) {
    *p++ = 0xc5;
    *p++ = static_cast<std::uint8_t>((inverted & 0x80u) | last);
  } else {
    *p++ = 0xc4;
    *p++ = static_cast<std::uint8_t>(inverted | row.map);
    *p++ = static_cast<std::uint8_t>((w ? 0x80u : 0u) | last);
  }
  *p++ = row.opcode;
  return p;
}

std::uint8_t modrm(unsigned mod, unsigned reg, unsigned rm) {
  return static_cast<std::uint8_t>((mod << 6) | ((reg & 7) << 3) | (rm & 7));
}

/// Everything of a register form but the immediate.
std::uint8_t* put_reg_form(std::uint8_t* p, const EncRow& row, unsigned width, std::uint8_t opcode,
                           Slots slots) {
  slots.reg[EncRow::kDigit] = row.digit;
  const unsigned reg = slots.reg[row.reg_slot];
  const unsigned rm = slots.reg[row.rm_slot];
  if ((row.flags & EncRow::kVex) != 0) {
    p = put_vex(p, row, width, reg, 0, rm, slots.reg[row.v_slot]);
    *p++ = modrm(3, reg, rm);
    return p;
  }
  const bool force_rex = ((width & row.byte_reg) != 0 && is_spl_to_dil(reg)) ||
                         ((width & row.byte_rm) != 0 && is_spl_to_dil(rm));
  if ((row.flags & EncRow::kOpReg) != 0) {
    return put_legacy(p, row, width, static_cast<std::uint8_t>(opcode | (rm & 7)), 0, 0, rm,
                      force_rex);
  }
  p = put_legacy(p, row, width, opcode, reg, 0, rm, force_rex);
  *p++ = modrm(3, reg, rm);
  return p;
}

/// ModRM, SIB and displacement of [registers + disp]; one byte of displacement counts
/// 1 << disp_shift.
std::uint8_t* put_address(std::uint8_t* p, unsigned reg, const Mem& mem, unsigned disp_shift) {
  const bool has_index = mem.index != Mem::kNoReg;
  if (mem.base == Mem::kNoReg) {
    const unsigned index = has_index ? mem.index : 4u;
    *p++ = modrm(0, reg, 4);
    *p++ = modrm(mem.scale, index, 5);
    base::store_le(p, mem.disp);
    return p + 4;
  }
  const unsigned base = mem.base & 7u;
  // rbp and r13 have no form without displacement; rsp and r12 none without SIB.
  const std::int32_t units = mem.disp >> disp_shift;
  const bool is_short = base::fits_i8(units) && (mem.disp & ((1 << disp_shift) - 1)) == 0;
  const unsigned mod = mem.disp == 0 && base != 5 ? 0u : is_short ? 1u : 2u;
  if (has_index || base == 4) {
    *p++ = modrm(mod, reg, 4);
    *p++ = modrm(mem.scale, has_index ? mem.index : 4u, base);
  } else {
    *p++ = modrm(mod, reg, base);
  }
  base::store_le(p, is_short ? units : mem.disp);
  static constexpr std::uint8_t kDispSize[] = {0, 1, 4};
  return p + kDispSize[mod];
}

/// ModRM and the four bytes of a rip-relative place; `after` bytes of the instruction follow them.
std::uint8_t* put_rip(CodeBuffer& buffer, std::uint8_t* start, std::uint8_t* p, unsigned reg,
                      const Mem& mem, unsigned after) {
  *p++ = modrm(0, reg, 5);
  const std::uint32_t at = buffer.offset() + static_cast<std::uint32_t>(p - start);
  const std::int32_t addend = mem.disp - 4 - static_cast<std::int32_t>(after);
  base::store_le(p, std::uint32_t{0});
  switch (mem.kind) {
    case Mem::Kind::Label: buffer.add_fixup(FixupKind::Rel32, at, Label(mem.target), addend); break;
    case Mem::Kind::Constant: buffer.add_constant_fixup(at, Constant(mem.target), addend); break;
    case Mem::Kind::Symbol:
      buffer.add_reloc(RelocKind::PcRel32, at, Symbol(mem.target), addend);
      break;
    case Mem::Kind::Address: HOIST_UNREACHABLE("a rip-relative place");
  }
  return p + 4;
}

void emit_reg_form(CodeBuffer& buffer, const EncRow& row, unsigned width, std::uint8_t opcode,
                   Slots slots, Immediate imm) {
  std::uint8_t* p = buffer.reserve();
  p = put_reg_form(p, row, width, opcode, slots);
  buffer.commit(put_immediate(p, imm));
}

void emit_mem_form(CodeBuffer& buffer, const EncRow& row, unsigned width, std::uint8_t opcode,
                   Slots slots, const Mem& mem, Immediate imm) {
  HOIST_DCHECK(mem.index == Mem::kNoReg || mem.index != 4, "rsp is no index register");
  slots.reg[EncRow::kDigit] = row.digit;
  const unsigned reg = slots.reg[row.reg_slot];
  const unsigned base = mem.base == Mem::kNoReg ? 0u : mem.base;
  const unsigned index = mem.index == Mem::kNoReg ? 0u : mem.index;
  std::uint8_t* const start = buffer.reserve();
  std::uint8_t* p = start;
  if ((row.flags & EncRow::kVex) != 0) {
    p = put_vex(p, row, width, reg, index, base, slots.reg[row.v_slot]);
  } else {
    const bool force_rex = (width & row.byte_reg) != 0 && is_spl_to_dil(reg);
    p = put_legacy(p, row, width, opcode, reg, index, base, force_rex);
  }
  if (mem.kind == Mem::Kind::Address) {
    const bool evex = (row.flags & EncRow::kEvex) != 0;
    p = put_address(p, reg, mem, evex ? row.suffix : 0u);
  } else {
    p = put_rip(buffer, start, p, reg, mem, imm.size);
  }
  buffer.commit(put_immediate(p, imm));
}

std::uint8_t sized_opcode(const EncRow& row, unsigned width) {
  return static_cast<std::uint8_t>(row.opcode | (width != 1 ? row.w_bit : 0u));
}

struct ImmForm {
  Immediate imm;
  std::uint8_t opcode;
};

/// Chooses between an immediate of one byte and one of the width (at most four).
ImmForm choose_immediate(const EncRow& row, unsigned width, std::int64_t value) {
  std::uint8_t opcode = sized_opcode(row, width);
  switch (row.imm) {
    case ImmKind::Ib: return {{value, 1}, opcode};
    case ImmKind::Iw: return {{value, 2}, opcode};
    case ImmKind::Iq: return {{value, 8}, opcode};
    case ImmKind::I1:
      if ((value & 0xff) == 1) return {{}, static_cast<std::uint8_t>(opcode | 0x10)};
      return {{value, 1}, opcode};
    case ImmKind::Is:
    case ImmKind::Iz:
    case ImmKind::It: break;
    case ImmKind::Im:
    case ImmKind::Rel:
    case ImmKind::None: HOIST_UNREACHABLE("the form has an immediate");
  }
  const std::int64_t extended =
      width == 8 ? value : base::sign_extend(static_cast<std::uint64_t>(value), width * 8);
  HOIST_DCHECK(base::fits_i32(extended), "the immediate fits in 32 bits, sign-extended");
  if (row.imm == ImmKind::Is && width != 1 && base::fits_i8(extended)) {
    opcode |= 2;
    return {{extended, 1}, opcode};
  }
  return {{extended, static_cast<std::uint8_t>(width < 4 ? width : 4)}, opcode};
}

/// The forms of rax without ModRM: shorter where the immediate is not one byte of several.
bool put_rax_form(CodeBuffer& buffer, const EncRow& row, unsigned width, Reg a,
                  const ImmForm& form) {
  const bool group1 = row.imm == ImmKind::Is && (row.opcode & 0xfc) == 0x80;
  if (a.number != 0 || !(group1 || row.imm == ImmKind::It)) return false;
  if (form.imm.size == 1 && width != 1) return false;
  const unsigned opcode = (group1 ? row.digit * 8u + 4u : 0xa8u) | (width != 1 ? 1u : 0u);
  std::uint8_t* p = buffer.reserve();
  p = put_legacy(p, row, width, static_cast<std::uint8_t>(opcode), 0, 0, 0, false);
  buffer.commit(put_immediate(p, form.imm));
  return true;
}

/// MovRI: B0+r ib, 66 B8+r iw, B8+r id, REX.W C7 /0 id or REX.W B8+r iq.
void put_mov_immediate(CodeBuffer& buffer, const EncRow& row, unsigned width, Reg a,
                       std::int64_t value) {
  const Slots slots{{a.number, 0, 0, 0}};
  if (width == 8 && !base::fits_u32(static_cast<std::uint64_t>(value))) {
    if (base::fits_i32(value)) {
      std::uint8_t* p = buffer.reserve();
      p = put_legacy(p, row, 8, 0xc7, 0, 0, a.number, false);
      *p++ = modrm(3, 0, a.number);
      buffer.commit(put_immediate(p, {value, 4}));
    } else {
      emit_reg_form(buffer, row, 8, 0xb8, slots, {value, 8});
    }
    return;
  }
  const unsigned size = width < 4 ? width : 4;
  emit_reg_form(buffer, row, size, width == 1 ? 0xb0 : 0xb8, slots,
                {value, static_cast<std::uint8_t>(size)});
}

}  // namespace

void Encoder::none(Op op) {
  const EncRow& row = row_of(op);
  check_use(op, row, row.fixed_width, make_shape(0, false, false));
  std::uint8_t* p = put_legacy(buffer_.reserve(), row, row.fixed_width, row.opcode, 0, 0, 0, false);
  *p = row.suffix;
  buffer_.commit(p + (row.suffix != 0));
}

void Encoder::r(Op op, unsigned width, Reg a) {
  const EncRow& row = row_of(op);
  check_use(op, row, width_of(row, width), make_shape(1, false, false));
  width = width_of(row, width);
  emit_reg_form(buffer_, row, width, sized_opcode(row, width), {{a.number, 0, 0, 0}}, {});
}

void Encoder::m(Op op, unsigned width, const Mem& a) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(0, true, false));
  emit_mem_form(buffer_, row, width, sized_opcode(row, width), {}, a, {});
}

void Encoder::rr(Op op, unsigned width, Reg a, Reg b) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(2, false, false));
  emit_reg_form(buffer_, row, width, sized_opcode(row, width), {{a.number, b.number, 0, 0}}, {});
}

void Encoder::rm(Op op, unsigned width, Reg a, const Mem& b) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(1, true, false));
  emit_mem_form(buffer_, row, width, sized_opcode(row, width), {{a.number, 0, 0, 0}}, b, {});
}

void Encoder::mr(Op op, unsigned width, const Mem& a, Reg b) {
  rm(op, width, b, a);
}

void Encoder::ri(Op op, unsigned width, Reg a, std::int64_t imm) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(1, false, true));
  if (row.imm == ImmKind::Im) return put_mov_immediate(buffer_, row, width, a, imm);
  const ImmForm form = choose_immediate(row, width, imm);
  if (put_rax_form(buffer_, row, width, a, form)) return;
  emit_reg_form(buffer_, row, width, form.opcode, {{a.number, 0, 0, 0}}, form.imm);
}

void Encoder::mi(Op op, unsigned width, const Mem& a, std::int64_t imm) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(0, true, true));
  const ImmForm form = choose_immediate(row, width, imm);
  emit_mem_form(buffer_, row, width, form.opcode, {}, a, form.imm);
}

void Encoder::i(Op op, std::int64_t imm) {
  const EncRow& row = row_of(op);
  check_use(op, row, row.fixed_width, make_shape(0, false, true));
  const ImmForm form = choose_immediate(row, row.fixed_width, imm);
  std::uint8_t* p =
      put_legacy(buffer_.reserve(), row, row.fixed_width, form.opcode, 0, 0, 0, false);
  buffer_.commit(put_immediate(p, form.imm));
}

void Encoder::rri(Op op, unsigned width, Reg a, Reg b, std::int64_t imm) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(2, false, true));
  const ImmForm form = choose_immediate(row, width, imm);
  emit_reg_form(buffer_, row, width, form.opcode, {{a.number, b.number, 0, 0}}, form.imm);
}

void Encoder::rmi(Op op, unsigned width, Reg a, const Mem& b, std::int64_t imm) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(1, true, true));
  const ImmForm form = choose_immediate(row, width, imm);
  emit_mem_form(buffer_, row, width, form.opcode, {{a.number, 0, 0, 0}}, b, form.imm);
}

void Encoder::rrr(Op op, unsigned width, Reg a, Reg b, Reg c) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(3, false, false));
  emit_reg_form(buffer_, row, width, row.opcode, {{a.number, b.number, c.number, 0}}, {});
}

void Encoder::rmr(Op op, unsigned width, Reg a, const Mem& b, Reg c) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(2, true, false));
  emit_mem_form(buffer_, row, width, row.opcode, {{a.number, c.number, 0, 0}}, b, {});
}

void Encoder::rrm(Op op, unsigned width, Reg a, Reg b, const Mem& c) {
  rmr(op, width, a, c, b);
}

void Encoder::rrri(Op op, unsigned width, Reg a, Reg b, Reg c, std::int64_t imm) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(3, false, true));
  emit_reg_form(buffer_, row, width, row.opcode, {{a.number, b.number, c.number, 0}}, {imm, 1});
}

void Encoder::rrmi(Op op, unsigned width, Reg a, Reg b, const Mem& c, std::int64_t imm) {
  const EncRow& row = row_of(op);
  width = width_of(row, width);
  check_use(op, row, width, make_shape(2, true, true));
  emit_mem_form(buffer_, row, width, row.opcode, {{a.number, b.number, 0, 0}}, c, {imm, 1});
}

void Encoder::rrrr(Op op, Reg a, Reg b, Reg c, Reg d) {
  const EncRow& row = row_of(op);
  check_use(op, row, 0, make_shape(3, false, false) | kShapeIs4);
  emit_reg_form(buffer_, row, row.fixed_width, row.opcode, {{a.number, b.number, c.number, 0}},
                {d.number << 4, 1});
}

void Encoder::rrmr(Op op, Reg a, Reg b, const Mem& c, Reg d) {
  const EncRow& row = row_of(op);
  check_use(op, row, 0, make_shape(2, true, false) | kShapeIs4);
  emit_mem_form(buffer_, row, row.fixed_width, row.opcode, {{a.number, b.number, 0, 0}}, c,
                {d.number << 4, 1});
}

void Encoder::setcc(Cc cc, Reg dst) {
  const EncRow& row = row_of(Op::SetccR);
  const auto opcode = static_cast<std::uint8_t>(row.opcode | static_cast<unsigned>(cc));
  emit_reg_form(buffer_, row, 1, opcode, {{dst.number, 0, 0, 0}}, {});
}

void Encoder::setcc(Cc cc, const Mem& dst) {
  const EncRow& row = row_of(Op::SetccM);
  const auto opcode = static_cast<std::uint8_t>(row.opcode | static_cast<unsigned>(cc));
  emit_mem_form(buffer_, row, 1, opcode, {}, dst, {});
}

void Encoder::cmovcc(Cc cc, unsigned width, Reg dst, Reg src) {
  const EncRow& row = row_of(Op::CmovccRR);
  const auto opcode = static_cast<std::uint8_t>(row.opcode | static_cast<unsigned>(cc));
  emit_reg_form(buffer_, row, width, opcode, {{dst.number, src.number, 0, 0}}, {});
}

void Encoder::cmovcc(Cc cc, unsigned width, Reg dst, const Mem& src) {
  const EncRow& row = row_of(Op::CmovccRM);
  const auto opcode = static_cast<std::uint8_t>(row.opcode | static_cast<unsigned>(cc));
  emit_mem_form(buffer_, row, width, opcode, {{dst.number, 0, 0, 0}}, src, {});
}

void Encoder::jmp(Label target) {
  const std::uint32_t at = buffer_.offset();
  std::uint8_t* p = buffer_.reserve();
  // Only a bound label is known to be near; `CodeBuffer::finish` shortens the others.
  const bool is_short = buffer_.is_bound(target) && at + 2 - buffer_.label_offset(target) <= 128;
  p[0] = is_short ? 0xeb : 0xe9;
  buffer_.add_fixup(is_short ? FixupKind::X64JmpShort : FixupKind::X64JmpLong, at, target);
  buffer_.commit(p + (is_short ? 2 : 5));
}

void Encoder::jcc(Cc cc, Label target) {
  const std::uint32_t at = buffer_.offset();
  std::uint8_t* p = buffer_.reserve();
  const bool is_short = buffer_.is_bound(target) && at + 2 - buffer_.label_offset(target) <= 128;
  const auto code = static_cast<unsigned>(cc);
  p[0] = static_cast<std::uint8_t>(is_short ? 0x70u | code : 0x0fu);
  p[1] = static_cast<std::uint8_t>(0x80u | code);
  buffer_.add_fixup(is_short ? FixupKind::X64JccShort : FixupKind::X64JccLong, at, target);
  buffer_.commit(p + (is_short ? 2 : 6));
}

void Encoder::jmp(Symbol target) {
  std::uint8_t* p = buffer_.reserve();
  *p++ = 0xe9;
  buffer_.add_reloc(RelocKind::PcRel32, buffer_.offset() + 1, target, -4);
  base::store_le(p, std::uint32_t{0});
  buffer_.commit(p + 4);
}

void Encoder::jcc(Cc cc, Symbol target) {
  std::uint8_t* p = buffer_.reserve();
  *p++ = 0x0f;
  *p++ = static_cast<std::uint8_t>(0x80u | static_cast<unsigned>(cc));
  buffer_.add_reloc(RelocKind::PcRel32, buffer_.offset() + 2, target, -4);
  base::store_le(p, std::uint32_t{0});
  buffer_.commit(p + 4);
}

void Encoder::call(Symbol target) {
  std::uint8_t* p = buffer_.reserve();
  *p++ = 0xe8;
  buffer_.add_reloc(RelocKind::PcRel32, buffer_.offset() + 1, target, -4);
  base::store_le(p, std::uint32_t{0});
  buffer_.commit(p + 4);
}

void Encoder::call(Label target) {
  std::uint8_t* p = buffer_.reserve();
  *p++ = 0xe8;
  buffer_.add_fixup(FixupKind::Rel32, buffer_.offset() + 1, target, -4);
  base::store_le(p, std::uint32_t{0});
  buffer_.commit(p + 4);
}

void Encoder::nop(std::uint32_t bytes) {
  // The forms that the manual recommends, by length.
  static constexpr std::uint8_t kForms[9][9] = {
      {0x90},
      {0x66, 0x90},
      {0x0f, 0x1f, 0x00},
      {0x0f, 0x1f, 0x40, 0x00},
      {0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
      {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
      {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
      {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}};
  while (bytes != 0) {
    const std::uint32_t length = bytes < 9 ? bytes : 9;
    buffer_.put({kForms[length - 1], length});
    bytes -= length;
  }
}

}  // namespace hoist::masm::x64
