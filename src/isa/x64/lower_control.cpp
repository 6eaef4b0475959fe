// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Branches and edges.
#include <array>
#include <cstring>

#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

void Lowering::terminator(Pseudo op, Cc cc) {
  MachInst& end = emit(mi(op), {});
  end.cc = static_cast<std::uint8_t>(cc);
  end.flags |= codegen::kTerminator;
}

void Lowering::lower_edge(const codegen::BlockOrder::Edge& edge) {
  if (edge.exceptional) return lower_handler_edge(edge);
  edge_args_.clear();
  if (!order().has_single_edge(edge.to)) {
    for (const ir::Value v : func().call_args(edge.call)) push_registers(v, edge_args_);
  }
  terminator(Pseudo::Jump);
  add_successor(order().item_of(edge.to), edge_args_);
}

void Lowering::lower_brif(ir::Inst inst) {
  const auto edges = order().edges_from(func().inst_block(inst));
  std::uint32_t then = order().target_item(edges[0]);
  std::uint32_t otherwise = order().target_item(edges[1]);
  const Condition c = condition(func().arg_a(inst), inst);
  if (c.kind == Condition::Kind::Feq) std::swap(then, otherwise);
  terminator(c.kind == Condition::Kind::One ? Pseudo::Branch : Pseudo::BranchFne, c.cc);
  add_successor(then);
  add_successor(otherwise);
}

void Lowering::lower_br_table(ir::Inst inst) {
  const ir::Block block = func().inst_block(inst);
  const auto edges = order().edges_from(block);
  const auto entries = order().table_edges(block);
  if (edges.size() == 1) return lower_edge(edges[0]);
  const VReg index = reg(func().arg_a(inst));
  if (entries.size() == 1) {
    emit(mi(Op::TestRR, 4), {codegen::use(index), codegen::use(index)});
    terminator(Pseudo::Branch, Cc::E);
    add_successor(order().target_item(edges[entries[0]]));
    add_successor(order().target_item(edges[0]));
    return;
  }
  MachInst jump = mi(Pseudo::JumpTable, 4, static_cast<std::int64_t>(out().jump_tables.size()));
  jump.aux = static_cast<std::uint32_t>(entries.size());
  jump.flags |= codegen::kTerminator;
  out().jump_tables.insert(out().jump_tables.end(), entries.begin(), entries.end());
  emit(jump,
       {codegen::early_def(new_int()), codegen::early_def(new_int()), codegen::late_use(index)});
  for (const auto& edge : edges) add_successor(order().target_item(edge));
}

void Lowering::lower_return(ir::Inst inst) {
  const ir::Function& f = func();
  const auto values = f.arg_list(inst);
  // First the results in memory, then those in registers, which must all be live at the end.
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (own_.results[i].in_reg()) continue;
    store_argument(codegen::AddrKind::IncomingArg, own_.results[i].offset, values[i],
                   f.signature.returns[i].type);
  }
  std::array<Operand, 32> uses;
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!own_.results[i].in_reg()) continue;
    count = use_argument(values[i], f.signature.returns[i], f.signature.call_conv, own_.results[i],
                         uses, count);
  }
  if (values.empty() && f.signature.call_conv == ir::CallConv::SystemV) {
    const auto params = f.block_params(f.entry_block());
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (f.signature.params[i].purpose != ir::ArgPurpose::StructReturn) continue;
      uses[count++] = codegen::use_fixed(reg(params[i]), preg(Gpr::Rax));
      break;
    }
  }
  operand_list().assign(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(count));
  emit_list(mi(Pseudo::Return)).flags |= codegen::kTerminator;
}

}  // namespace hoist::isa::x64
