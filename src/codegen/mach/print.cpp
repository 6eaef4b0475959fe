// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printing of machine IR; see print.hpp for the form. The reader is in parse.cpp.

#include "codegen/mach/print.hpp"

#include <algorithm>

namespace hoist::codegen {

void print(base::Printer& out, PReg reg) {
  if (reg.is_none()) {
    out << "none";
    return;
  }
  out << (reg.cls() == RegClass::Int ? 'r' : 'f') << reg.number();
}

void print(base::Printer& out, Alloc alloc) {
  switch (alloc.kind) {
    case Alloc::Kind::None: out << '-'; break;
    case Alloc::Kind::Reg: print(out, alloc.reg); break;
    case Alloc::Kind::Slot: out << 's' << alloc.slot; break;
  }
}

void print(base::Printer& out, const AllocMove& move) {
  print(out, move.to);
  if (move.remat_inst != AllocMove::kNoRemat) {
    out << " <- remat " << move.remat_inst;
    return;
  }
  out << (move.kind == AllocMove::Kind::Exchange ? " <-> " : " <- ");
  print(out, move.from);
}

static void print_class(base::Printer& out, const VRegData& data) {
  out << ':' << (data.cls == RegClass::Int ? 'i' : data.bytes == 16 ? 'v' : 'f');
}

void print_operand(base::Printer& out, const MachFunction& func, std::uint32_t number,
                   const Allocation* alloc) {
  const Operand& op = func.operands[number];
  bool is_def = false;
  switch (op.role) {
    case Role::Use:
      out << (op.constraint == Constraint::RegOrSlot ? "any "
              : op.constraint == Constraint::Slot    ? "slot "
                                                     : "use ");
      break;
    case Role::LateUse:
      out << (op.constraint == Constraint::RegOrSlot ? "lateany " : "late ");
      break;
    case Role::Def:
      out << "def ";
      is_def = true;
      break;
    case Role::EarlyDef:
      out << "early ";
      is_def = true;
      break;
  }
  out << op.vreg;
  if (is_def) print_class(out, func.vregs[op.vreg]);
  if (op.constraint == Constraint::Fixed) {
    out << '=';
    print(out, op.fixed);
  } else if (op.constraint == Constraint::Same) {
    out << '~' << op.same_as;
  }
  if (alloc == nullptr) return;
  out << '@';
  print(out, alloc->allocs[number]);
}

static void print_registers(base::Printer& out, RegMask mask) {
  for (unsigned r = 0; r < 64; ++r) {
    const PReg reg{static_cast<std::uint8_t>(r)};
    if (!mask.contains(reg)) continue;
    out << ' ';
    print(out, reg);
  }
}

// The block whose terminator `inst` is, or null.
static const MachBlockData* block_ended_by(const MachFunction& func, const MachInst& inst) {
  if ((inst.flags & kTerminator) == 0) return nullptr;
  const auto end = static_cast<std::uint32_t>(&inst - func.insts.data() + 1);
  const auto blocks = func.blocks.span();
  const auto at = std::lower_bound(
      blocks.begin(), blocks.end(), end,
      [](const MachBlockData& block, std::uint32_t number) { return block.end_inst < number; });
  return at != blocks.end() && at->end_inst == end ? &*at : nullptr;
}

void print_inst(base::Printer& out, const MachFunction& func, const MachInst& inst,
                const Allocation* alloc) {
  out << "op" << inst.op;
  for (std::uint32_t i = 0; i < inst.operand_count; ++i) {
    out << (i == 0 ? " " : ", ");
    print_operand(out, func, inst.first_operand + i, alloc);
  }
  if (inst.clobbers != 0) {
    out << " clobber";
    print_registers(out, func.clobber_sets[inst.clobbers]);
  }
  if ((inst.flags & kCall) != 0) out << " call";
  if ((inst.flags & kMove) != 0) out << " move";
  if ((inst.flags & kRemat) != 0) out << " remat";
  if ((inst.flags & kTry) != 0) out << " try";
  const MachBlockData* block = block_ended_by(func, inst);
  if (block == nullptr) return;
  if (block->succ_count == 0) {
    out << " end";
    return;
  }
  out << " ->";
  bool first = true;
  for (const MachEdge& edge : func.succs_of(*block)) {
    out << (first ? " " : ", ") << edge.target;
    first = false;
    const auto args = func.args_of(edge);
    if (args.empty()) continue;
    out << '(';
    for (std::size_t i = 0; i < args.size(); ++i) out << (i == 0 ? "" : ", ") << args[i];
    out << ')';
  }
}

static void print_block_head(base::Printer& out, const MachFunction& func, MachBlock block) {
  const MachBlockData& data = func.blocks[block];
  out << block;
  if (data.param_count != 0) {
    out << '(';
    bool first = true;
    for (const VReg param : func.params_of(data)) {
      out << (first ? "" : ", ") << param;
      print_class(out, func.vregs[param]);
      first = false;
    }
    out << ')';
  }
  if (data.loop_depth != 0) out << " depth " << data.loop_depth;
  if (data.loop_header) out << " loop";
  if (data.cold) out << " cold";
  out << ":\n";
}

void print_function(base::Printer& out, const MachFunction& func, const Allocation* alloc,
                    InstPrinter print_one) {
  std::size_t move = 0;
  for (std::uint32_t b = 0; b < func.blocks.size(); ++b) {
    print_block_head(out, func, MachBlock(b));
    const MachBlockData& data = func.blocks[MachBlock(b)];
    for (std::uint32_t i = data.first_inst; i < data.end_inst; ++i) {
      for (; alloc != nullptr && move < alloc->moves.size() && alloc->moves[move].before <= i;
           ++move) {
        out << "    ";
        print(out, alloc->moves[move]);
        out << '\n';
      }
      out << "  ";
      print_one(out, func.insts[i]);
      out << '\n';
    }
  }
  if (alloc != nullptr && alloc->spill_slots != 0) out << "slots " << alloc->spill_slots << '\n';
}

void print_function(base::Printer& out, const MachFunction& func, const Allocation* alloc) {
  print_function(out, func, alloc, [&](base::Printer& to, const MachInst& inst) {
    print_inst(to, func, inst, alloc);
  });
}

}  // namespace hoist::codegen
