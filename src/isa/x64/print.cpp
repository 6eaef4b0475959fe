// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// See print.hpp.
#include "isa/x64/print.hpp"

#include <string_view>

#include "codegen/mach/print.hpp"
#include "isa/x64/pseudo.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;
using codegen::MachFunction;
using codegen::MachInst;

namespace {

unsigned address_registers(AddrKind kind) {
  switch (kind) {
    case AddrKind::Base:
    case AddrKind::Index: return 1;
    case AddrKind::BaseIndex: return 2;
    case AddrKind::None:
    case AddrKind::StackSlot:
    case AddrKind::IncomingArg:
    case AddrKind::OutgoingArg:
    case AddrKind::Constant: return 0;
  }
  return 0;
}

void print_disp(base::Printer& out, std::int32_t disp) {
  if (disp > 0) out << " + " << disp;
  if (disp < 0) out << " - " << -std::int64_t{disp};
}

void print_constant(base::Printer& out, const MachFunction::PoolEntry& entry) {
  std::uint64_t halves[2];
  __builtin_memcpy(halves, entry.bytes, sizeof halves);
  if (entry.size == 16 && halves[1] != 0) {
    out.hex(halves[1]);
    out << ":";
  }
  out.hex(entry.size == 4 ? halves[0] & 0xffff'ffff : halves[0]);
}

/// `first` is the index of the first address register in MachFunction::operands.
void print_address(base::Printer& out, const MachFunction& func, const MachInst& inst,
                   std::uint32_t first, const codegen::Allocation* alloc) {
  out << "[";
  switch (inst.addr) {
    case AddrKind::None: break;
    case AddrKind::Base: codegen::print_operand(out, func, first, alloc); break;
    case AddrKind::BaseIndex:
      codegen::print_operand(out, func, first, alloc);
      out << " + ";
      codegen::print_operand(out, func, first + 1, alloc);
      if (inst.scale != 0) out << "*" << (1u << inst.scale);
      break;
    case AddrKind::Index:
      codegen::print_operand(out, func, first, alloc);
      out << "*" << (1u << inst.scale);
      break;
    case AddrKind::StackSlot: out << ir::StackSlot(inst.aux); break;
    case AddrKind::IncomingArg: out << "incoming"; break;
    case AddrKind::OutgoingArg: out << "outgoing"; break;
    case AddrKind::Constant: print_constant(out, func.pool[inst.aux]); break;
  }
  print_disp(out, inst.disp);
  out << "]";
}

bool has_immediate(const MachInst& inst) {
  if (is_pseudo(inst.op)) {
    const auto op = static_cast<Pseudo>(inst.op);
    return op == Pseudo::AddImm || op == Pseudo::ShlSmall || op == Pseudo::SymbolNear ||
           op == Pseudo::SymbolFar;
  }
  for (const auto& operand : masm::x64::info(static_cast<masm::x64::Op>(inst.op)).operands()) {
    if (operand.place == masm::x64::Place::Imm || operand.place == masm::x64::Place::Imm8 ||
        operand.place == masm::x64::Place::Imm64) {
      return true;
    }
  }
  return false;
}

bool has_symbol(const MachInst& inst) {
  return inst.op == raw(masm::x64::Op::Call) || inst.op == raw(Pseudo::TailCall) ||
         inst.op == raw(Pseudo::SymbolNear) || inst.op == raw(Pseudo::SymbolFar);
}

/// Is `cc` a condition code here?
bool has_condition(const MachInst& inst) {
  if (is_pseudo(inst.op)) return info(static_cast<Pseudo>(inst.op)).reads_flags;
  const auto flags = masm::x64::info(static_cast<masm::x64::Op>(inst.op)).flags_read;
  return (flags & masm::x64::kFlagsOfCc) != 0;
}

void print_name(base::Printer& out, const MachInst& inst) {
  if (is_pseudo(inst.op)) {
    out << info(static_cast<Pseudo>(inst.op)).text;
  } else {
    std::string_view name = masm::x64::info(static_cast<masm::x64::Op>(inst.op)).mnemonic;
    if (const std::size_t cc = name.find('{'); cc != std::string_view::npos) {
      name = name.substr(0, cc);
    }
    out << name;
  }
  if (has_condition(inst)) out << "." << masm::x64::cc_name(static_cast<masm::x64::Cc>(inst.cc));
  if (inst.width != 0) out << "." << unsigned{inst.width};
}

void print_symbol(base::Printer& out, const ir::ExternalName& name) {
  if (name.kind == ir::ExternalName::Kind::User) {
    out << "u" << name.name_space << ":" << name.index;
  } else {
    out << "%" << std::string_view(name.text);
  }
}

/// Successors of the block that `inst` ends.
void print_successors(base::Printer& out, const MachFunction& func, const MachInst& inst) {
  const auto at = static_cast<std::uint32_t>(&inst - func.insts.data());
  std::size_t low = 0;
  std::size_t high = func.blocks.size();
  while (low + 1 < high) {
    const std::size_t middle = (low + high) / 2;
    (func.blocks[codegen::MachBlock(middle)].first_inst <= at ? low : high) = middle;
  }
  const char* separator = " -> ";
  for (const codegen::MachEdge& edge : func.succs_of(func.blocks[codegen::MachBlock(low)])) {
    out << separator << edge.target;
    separator = ", ";
    if (edge.arg_count == 0) continue;
    const char* open = "(";
    for (const codegen::VReg arg : func.args_of(edge)) {
      out << open << arg;
      open = ", ";
    }
    out << ")";
  }
}

}  // namespace

void print_inst(base::Printer& out, const MachFunction& func, const MachInst& inst,
                const codegen::Allocation* alloc) {
  print_name(out, inst);
  const unsigned in_address = address_registers(inst.addr);
  const std::uint32_t first_address = inst.first_operand + inst.operand_count - in_address;
  const char* separator = " ";
  for (std::uint32_t i = inst.first_operand; i < first_address; ++i) {
    out << separator;
    codegen::print_operand(out, func, i, alloc);
    separator = ", ";
  }
  if (inst.addr != AddrKind::None) {
    out << separator;
    print_address(out, func, inst, first_address, alloc);
    separator = ", ";
  }
  if (has_immediate(inst)) out << separator << inst.imm;
  if (has_symbol(inst)) {
    out << " ";
    print_symbol(out, func.symbols[inst.aux]);
  }
  if (inst.trap != image::TrapCode::None) {
    out << " trap ";
    if (const char* name = image::trap_clif_name(inst.trap); name != nullptr) {
      out << name;
    } else {
      out << "user" << static_cast<unsigned>(inst.trap);
    }
  }
  if ((inst.flags & codegen::kTerminator) != 0) print_successors(out, func, inst);
}

}  // namespace hoist::isa::x64
