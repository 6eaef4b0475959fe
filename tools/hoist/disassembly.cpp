// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/disassembly.hpp"

#include <capstone/capstone.h>
#include <fmt/core.h>

#include <algorithm>

#include "base/bits.hpp"
#include "demangle/demangle.hpp"

namespace hoist::cli {

using image::FunctionEntry;

struct Disassembler::Decoder {
  csh handle = 0;
  cs_insn* insn = nullptr;
};

Disassembler::Disassembler(const image::Image& image, const runtime::SymbolNames& names,
                           bool raw_names)
    : image_(image), names_(names), raw_names_(raw_names), decoder_(new Decoder) {
  if (image.target() != "x86_64" ||
      cs_open(CS_ARCH_X86, CS_MODE_64, &decoder_->handle) != CS_ERR_OK) {
    return;
  }
  cs_option(decoder_->handle, CS_OPT_DETAIL, CS_OPT_ON);
  decoder_->insn = cs_malloc(decoder_->handle);
}

Disassembler::~Disassembler() {
  if (decoder_->insn != nullptr) cs_free(decoder_->insn, 1);
  if (decoder_->handle != 0) cs_close(&decoder_->handle);
  delete decoder_;
}

/// "fib", "fib+0x10"; within `from` itself "+0x10".
std::string Disassembler::place_name(std::uint64_t text_offset, const FunctionEntry& from) const {
  if (text_offset >= image_.text().size()) return {};
  const FunctionEntry* entry = image_.find_function(static_cast<std::uint32_t>(text_offset));
  if (entry == nullptr) return {};
  const std::uint64_t distance = text_offset - entry->offset;
  std::string name = entry == &from && distance != 0
                         ? std::string()
                         : demangle::display_name(names_(entry->key), raw_names_);
  if (distance != 0) name += fmt::format("+0x{:x}", distance);
  return name;
}

/// What the operands of an instruction refer to: a target of a branch or call, or a constant.
static std::uint64_t target_of(csh handle, const cs_insn& insn, bool& found) {
  const cs_x86& x86 = insn.detail->x86;
  found = true;
  for (std::uint8_t i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    const bool branches =
        cs_insn_group(handle, &insn, CS_GRP_JUMP) || cs_insn_group(handle, &insn, CS_GRP_CALL);
    if (operand.type == X86_OP_IMM && branches) return static_cast<std::uint64_t>(operand.imm);
    if (operand.type == X86_OP_MEM && operand.mem.base == X86_REG_RIP) {
      return insn.address + insn.size + static_cast<std::uint64_t>(operand.mem.disp);
    }
  }
  found = false;
  return 0;
}

/// The instruction in the decoder.
void Disassembler::instruction(const FunctionEntry& entry, std::string& out,
                               std::uint32_t& source) const {
  const cs_insn& insn = *decoder_->insn;
  const auto offset = static_cast<std::uint32_t>(insn.address - image::kTextAt);
  const std::uint32_t here = image_.source_at(offset);
  const bool is_new = here != source && here != image::AddressEntry::kNone;
  out += fmt::format("{:8x}  {:>8}  {}", insn.address,
                     is_new ? fmt::format("@0x{:x}", here) : std::string(),
                     static_cast<const char*>(insn.mnemonic));
  source = here;
  if (insn.op_str[0] != 0) out += fmt::format(" {}", static_cast<const char*>(insn.op_str));

  std::string notes;
  const auto note = [&notes](const std::string& text) {
    notes += (notes.empty() ? "  ; " : ", ") + text;
  };
  bool refers = false;
  const std::uint64_t target = target_of(decoder_->handle, insn, refers);
  if (refers && target >= image::kTextAt) {
    const std::uint64_t offset_in = target - image::kTextAt - entry.offset;
    if (offset_in >= entry.code_size && offset_in + 8 <= entry.size) {
      const std::uint8_t* constant = image_.text().data() + entry.offset + offset_in;
      note(fmt::format("constant 0x{:016x}", base::load_le<std::uint64_t>(constant)));
    } else if (const std::string name = place_name(target - image::kTextAt, entry); !name.empty()) {
      note(fmt::format("<{}>", name));
    }
  }
  for (std::uint32_t i = 0; i < insn.size; ++i) {
    const image::TrapCode code = image_.trap_at(offset + i);
    if (code != image::TrapCode::None) note(fmt::format("trap: {}", image::trap_message(code)));
  }
  out += notes + "\n";
}

void Disassembler::constants(const FunctionEntry& entry, std::string& out) const {
  const std::span<const std::uint8_t> text = image_.text();
  std::uint32_t begin = entry.code_size;
  while (begin < entry.size && begin % 4 != 0) ++begin;  // the pool is aligned
  for (std::uint32_t at = begin; at < entry.size; at += 16) {
    out += fmt::format("{:8x}           constant", image::kTextAt + entry.offset + at);
    for (std::uint32_t i = at; i < std::min(entry.size, at + 16); ++i) {
      out += fmt::format("{}{:02x}", i % 8 == at % 8 ? " " : "", text[entry.offset + i]);
    }
    out += "\n";
  }
}

void Disassembler::function(const FunctionEntry& entry, std::string& out) const {
  out += fmt::format("{:016x} <{}>:  ", image::kTextAt + entry.offset,
                     demangle::display_name(names_(entry.key), raw_names_));
  if (entry.key.kind() == image::FuncKind::WasmFunction) {
    out += fmt::format("function {}, ", entry.key.index());
  }
  out += fmt::format("{} bytes{}\n", entry.size, entry.has_frame != 0 ? "" : ", no frame");
  if (decoder_->insn == nullptr) return;
  const std::uint8_t* at = image_.text().data() + entry.offset;
  std::size_t left = entry.code_size;
  std::uint64_t address = image::kTextAt + entry.offset;
  std::uint32_t source = image::AddressEntry::kNone;
  while (left != 0) {
    if (cs_disasm_iter(decoder_->handle, &at, &left, &address, decoder_->insn)) {
      instruction(entry, out, source);
      continue;
    }
    out += fmt::format("{:8x}           (byte 0x{:02x})\n", address, *at);
    ++at, --left, ++address;
  }
  constants(entry, out);
}

}  // namespace hoist::cli
