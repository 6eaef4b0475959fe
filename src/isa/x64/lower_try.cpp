// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Calls with exception handlers, and what calls and sequence points say about themselves.
///
/// A try_call becomes the call, which clobbers every register, and behind it the terminator
/// TryBranch. The results belong to the call; a handler begins with Landing, which defines the
/// payload words.
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

using codegen::MachHandler;

/// Makes the note of a call or sequence point, if there is anything to say; MachInst::imm.
std::int64_t Lowering::call_note(ir::Inst inst) {
  const ir::Function& f = func();
  const bool direct = f.op(inst) == ir::Op::Call || f.op(inst) == ir::Op::TryCall;
  const bool patchable = direct && f.ext_funcs[ir::FuncRef(f.data(inst).a)].patchable;
  if (!patchable && !f.has_debug_tags() && !f.has_stack_maps()) return 0;
  const auto tags = f.debug_tags(inst);
  const auto map = f.stack_map(inst);
  if (!patchable && tags.empty() && map.empty()) return 0;
  codegen::CallNote note;
  note.patchable = patchable;
  note.first_tag = static_cast<std::uint32_t>(out().debug_tags.size());
  note.tag_count = static_cast<std::uint32_t>(tags.size());
  out().debug_tags.insert(out().debug_tags.end(), tags.begin(), tags.end());
  note.first_map_entry = static_cast<std::uint32_t>(out().stack_map.size());
  note.map_entry_count = static_cast<std::uint32_t>(map.size());
  out().stack_map.insert(out().stack_map.end(), map.begin(), map.end());
  out().notes.push_back(note);
  return static_cast<std::int64_t>(out().notes.size());
}

/// The register of a dynamic context, one that can be kept in a spill slot: one of 16 bytes for an
/// i128, so that its halves stand side by side.
VReg Lowering::context(ir::Value v) {
  if (type(v) == ir::I128) return joined(wide(v));
  const VReg from = reg(v);
  if (!is_made_again(from)) return from;
  const VReg copy = new_vreg_for(type(v));
  move(copy, from, class_of(type(v)));
  return copy;
}

void Lowering::lower_try(ir::Inst inst) {
  const ir::Function& f = func();
  const auto edges = order().edges_from(f.inst_block(inst));
  const ir::SigRef ref = f.call_signature(inst);
  std::vector<ir::Value>& results = try_results_;
  results.assign(f.signatures[ref].returns.size(), ir::Value::none());
  for (const ir::Value arg : f.call_args(edges[0].call)) {
    const ir::Value v = f.resolve(arg);
    const ir::ValueData& data = f.value(v);
    if (data.kind == ir::ValueKind::TryReturn && data.number < results.size()) {
      results[data.number] = v;
    }
  }
  std::int64_t note = call_note(inst);
  if (edges.size() == 1) {
    // Nobody looks at contexts without handlers.
    lower_call(inst, results, note, nullptr);
    return lower_edge(edges[0]);
  }
  TryPart part;
  try_contexts_.clear();
  const auto first_handler = static_cast<std::uint32_t>(out().handlers.size());
  std::uint32_t successor = 0;
  for (const ir::ExceptionItem& item : f.exception_items(inst)) {
    switch (item.kind) {
      case ir::ExceptionItem::Kind::Tag:
        out().handlers.push_back({MachHandler::Kind::Tag, item.tag, ++successor});
        break;
      case ir::ExceptionItem::Kind::Default:
        out().handlers.push_back({MachHandler::Kind::Default, 0, ++successor});
        break;
      case ir::ExceptionItem::Kind::Context:
        out().handlers.push_back(
            {MachHandler::Kind::Context, 0, static_cast<std::uint32_t>(try_contexts_.size())});
        try_contexts_.push_back(context(item.context));
        break;
    }
  }
  part.contexts = try_contexts_;
  if (note == 0) {
    out().notes.push_back({});
    note = static_cast<std::int64_t>(out().notes.size());
  }
  codegen::CallNote& data = out().notes.back();
  data.first_handler = first_handler;
  data.handler_count = static_cast<std::uint32_t>(out().handlers.size()) - first_handler;
  lower_call(inst, results, note, &part);
  for (std::size_t i = first_handler; i < out().handlers.size(); ++i) {
    MachHandler& handler = out().handlers[i];
    if (handler.kind == MachHandler::Kind::Context) handler.where += part.first_context;
  }
  terminator(Pseudo::TryBranch);
  set_last_flags(codegen::kTry);
  for (const auto& edge : edges) add_successor(order().target_item(edge));
}

/// `words[n]`: the register that wants payload word n, or none.
void Lowering::emit_landing(const PayloadRegs& words) {
  std::vector<Operand>& defs = operand_list();
  defs.clear();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].is_some()) defs.push_back(codegen::def_fixed(words[i], kPayloadRegs[i]));
  }
  if (!defs.empty()) emit_list(mi(Pseudo::Landing));
}

void Lowering::lower_landing_pad(ir::Block block) {
  const ir::Function& f = func();
  const auto params = f.block_params(block);
  const auto args = f.call_args(order().single_edge_into(block).call);
  PayloadRegs words;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ir::ValueData& data = f.value(f.resolve(args[i]));
    if (data.kind != ir::ValueKind::TryException || data.number >= words.size()) continue;
    if (is_used(params[i])) words[data.number] = vreg_of(params[i]);
  }
  emit_landing(words);
}

/// The jump of a split edge to a handler that has other edges too.
void Lowering::lower_handler_edge(const codegen::BlockOrder::Edge& edge) {
  const ir::Function& f = func();
  const auto args = f.call_args(edge.call);
  PayloadRegs words;
  const auto word_of = [&](ir::Value arg) -> VReg* {
    const ir::ValueData& data = f.value(f.resolve(arg));
    const bool is_word = data.kind == ir::ValueKind::TryException && data.number < words.size();
    return is_word ? &words[data.number] : nullptr;
  };
  for (const ir::Value arg : args) {
    VReg* word = word_of(arg);
    if (word != nullptr && word->is_none()) *word = new_vreg_for(type(arg));
  }
  emit_landing(words);
  edge_args_.clear();
  for (const ir::Value arg : args) {
    const VReg* word = word_of(arg);
    if (word != nullptr) {
      edge_args_.push_back(*word);
    } else {
      push_registers(arg, edge_args_);
    }
  }
  terminator(Pseudo::Jump);
  add_successor(order().item_of(edge.to), edge_args_);
}

void Lowering::lower_handler_address(ir::Inst inst) {
  const ir::InstData& data = func().data(inst);
  const ir::Block block(data.a);
  const VReg d = result(inst);
  const auto edges = order().is_reachable(block) ? order().edges_from(block)
                                                 : decltype(order().edges_from(block)){};
  const std::size_t number = std::size_t{data.b} + 1;
  if (number >= edges.size() || !edges[number].exceptional) {
    // The call was found to be unreachable: nothing resumes at its handlers.
    emit(mi(Op::MovRI, 8, 0), {codegen::def(d)}).flags |= codegen::kRemat;
    return;
  }
  MachInst address = mi(Pseudo::HandlerAddress, 8);
  address.aux = order().position(order().target_item(edges[number]));
  emit(address, {codegen::def(d)}).flags |= codegen::kRemat;
}

}  // namespace hoist::isa::x64
