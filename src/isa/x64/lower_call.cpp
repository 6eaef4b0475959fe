// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Calls, tail calls, arguments in memory, global values.
#include <algorithm>
#include <array>

#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;

/// Leaves room for the registers of a callee's address.
static constexpr std::size_t kMaxCallOperands = 250;

const SignatureLayout* Lowering::layout_of(ir::SigRef sig) {
  SignatureLayout& layout = layouts_[sig.index()];
  if (layout_known_[sig.index()] == 0) {
    if (auto assigned = assign_signature(func().signatures[sig], layout); !assigned) {
      fail(std::move(assigned).error());
      return nullptr;
    }
    layout_known_[sig.index()] = 1;
  }
  return &layout;
}

/// The register to pass `v` in. System V extends what it is told to.
VReg Lowering::argument(ir::Value v, const ir::AbiParam& param, ir::CallConv conv) {
  const unsigned bits = param.type.bits();
  if (!follows_system_abi(conv) || param.type.is_float() ||
      param.extension == ir::ArgExtension::None || bits == 64) {
    return reg(v);
  }
  const bool is_signed = param.extension == ir::ArgExtension::Sext;
  if (bits == 32) return is_signed ? mov(Op::MovsxdRR, 8, reg(v)) : reg(v);
  const Op form = bits == 8 ? (is_signed ? Op::Movsx8RR : Op::Movzx8RR)
                            : (is_signed ? Op::Movsx16RR : Op::Movzx16RR);
  return mov(form, is_signed ? 8 : 4, reg(v));
}

/// Adds the register or registers of an argument or result at `uses[count]`; the new count.
std::size_t Lowering::use_argument(ir::Value v, const ir::AbiParam& param, ir::CallConv conv,
                                   const ArgLocation& location, std::span<Operand> uses,
                                   std::size_t count) {
  if (param.type == ir::I128) {
    const Halves x = wide(v);
    uses[count++] = codegen::use_fixed(x.lo, location.reg);
    uses[count++] = codegen::use_fixed(x.hi, location.high);
  } else {
    uses[count++] = codegen::use_fixed(argument(v, param, conv), location.reg);
  }
  return count;
}

/// Whole 8-byte units, but for floats: the upper half of an f32's is undefined.
void Lowering::store_argument(AddrKind area, std::uint32_t offset, ir::Value v, ir::Type t) {
  Address to;
  to.kind = area;
  to.disp = static_cast<std::int32_t>(offset);
  if (t == ir::I128) {
    const Halves x = wide(v);
    emit(mi(Op::MovMR, 8), {codegen::use(x.lo)}, to);
    to.disp += 8;
    emit(mi(Op::MovMR, 8), {codegen::use(x.hi)}, to);
    return;
  }
  if (t.is_vector() || t == ir::F128 || t == ir::F16) {
    const bool whole = t.bytes() == 16;
    emit(mi(whole ? Op::MovupsMR : Op::MovsdMR, whole ? 16 : 8), {codegen::use(reg(v))}, to);
    return;
  }
  if (t.is_float()) {
    emit(mi(t == ir::F32 ? Op::MovssMR : Op::MovsdMR, t.bytes()), {codegen::use(reg(v))}, to);
    return;
  }
  if (const auto imm = constant(v); imm && fits_imm32(static_cast<std::int64_t>(*imm))) {
    emit(mi(Op::MovMI, 8, static_cast<std::int64_t>(*imm)), {}, to);
    return;
  }
  emit(mi(Op::MovMR, 8), {codegen::use(reg(v))}, to);
}

void Lowering::load_argument(AddrKind area, std::uint32_t offset, VReg d, ir::Type t) {
  Address from;
  from.kind = area;
  from.disp = static_cast<std::int32_t>(offset);
  if (t.is_vector() || t == ir::F128 || t == ir::F16) {
    const bool whole = t.bytes() == 16;
    return load_into(whole ? Op::MovupsRM : Op::MovsdRM, whole ? 16 : 8, d, from);
  }
  if (t.is_float()) return load_into(t == ir::F32 ? Op::MovssRM : Op::MovsdRM, t.bytes(), d, from);
  load_into(Op::MovRM, op_width(t), d, from);
}

/// By value: to the outgoing arguments.
void Lowering::copy_structure(std::uint32_t offset, ir::Value pointer, std::uint32_t bytes) {
  const VReg base = reg(pointer);
  const auto copy = [&](std::uint32_t at, unsigned size, Op load, Op store, VReg temp) {
    Address from;
    from.kind = AddrKind::Base;
    from.base = base;
    from.disp = static_cast<std::int32_t>(at);
    load_into(load, size < 4 ? 4u : size, temp, from);
    Address to;
    to.kind = AddrKind::OutgoingArg;
    to.disp = static_cast<std::int32_t>(offset + at);
    emit(mi(store, size), {codegen::use(temp)}, to);
  };
  constexpr std::uint32_t kUnrolledBytes = 128;
  std::uint32_t at = 0;
  if (bytes > kUnrolledBytes) {
    at = bytes & ~std::uint32_t{15};
    MachInst loop = mi(Pseudo::CopyBlock, 16, at);
    loop.disp = static_cast<std::int32_t>(offset);
    emit(loop,
         {codegen::early_def(new_int()), codegen::early_def(new_vec()), codegen::late_use(base)});
  }
  for (; at + 16 <= bytes; at += 16) copy(at, 16, Op::MovupsRM, Op::MovupsMR, new_vec());
  for (const std::uint32_t size : {8u, 4u, 2u, 1u}) {
    for (; at + size <= bytes; at += size)
      copy(at, size,
           size == 1   ? Op::Movzx8RM
           : size == 2 ? Op::Movzx16RM
                       : Op::MovRM,
           Op::MovMR, new_int());
  }
}

/// `call` is Call with its symbol set, CallR with `target`, or CallM with `target_address`. Results
/// that are none are left where they are.
void Lowering::emit_call(const ir::Signature& sig, const SignatureLayout& layout,
                         std::span<const ir::Value> args, std::span<const ir::Value> results,
                         MachInst call, Operand target, const Address& target_address,
                         TryPart* try_part) {
  out().has_calls = true;
  out().outgoing_arg_bytes = std::max(out().outgoing_arg_bytes, layout.stack_bytes);
  // Memory arguments first: the registers of the others then live up to the call only.
  std::array<Operand, 32> uses;
  std::size_t use_count = 0;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (layout.params[i].in_reg()) continue;
    if (sig.params[i].purpose == ir::ArgPurpose::StructArgument) {
      copy_structure(layout.params[i].offset, args[i], sig.params[i].struct_bytes);
      continue;
    }
    const bool extend = follows_system_abi(sig.call_conv) &&
                        sig.params[i].extension != ir::ArgExtension::None &&
                        sig.params[i].type.is_int();
    if (!extend) {
      store_argument(AddrKind::OutgoingArg, layout.params[i].offset, args[i], sig.params[i].type);
      continue;
    }
    Address to;
    to.kind = AddrKind::OutgoingArg;
    to.disp = static_cast<std::int32_t>(layout.params[i].offset);
    emit(mi(Op::MovMR, 8), {codegen::use(argument(args[i], sig.params[i], sig.call_conv))}, to);
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!layout.params[i].in_reg()) continue;
    use_count =
        use_argument(args[i], sig.params[i], sig.call_conv, layout.params[i], uses, use_count);
  }
  // The results' registers are defined, not clobbered.
  RegMask clobbers =
      not_pinned(try_part != nullptr ? allocatable_registers() : call_clobbers(sig.call_conv));
  struct Rezero {
    VReg to;
    VReg from;
  };
  std::array<Rezero, 8> rezero;
  std::size_t rezero_count = 0;
  std::vector<Operand>& list = operand_list();
  list.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ArgLocation& loc = layout.results[i];
    if (!loc.in_reg() || results[i].is_none()) continue;
    VReg d = vreg_of(results[i]);
    if (follows_system_abi(sig.call_conv) && type(results[i]) == ir::I32) {
      const VReg raw_result = new_int();
      rezero[rezero_count++] = {d, raw_result};
      d = raw_result;
    }
    clobbers.remove(loc.reg);
    list.push_back(codegen::def_fixed(d, loc.reg));
    if (loc.high.is_none()) continue;
    clobbers.remove(loc.high);
    list.push_back(codegen::def_fixed(high_of(results[i]), loc.high));
  }
  if (target.vreg.is_some()) list.push_back(target);
  list.insert(list.end(), uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(use_count));
  if (try_part != nullptr) {
    try_part->first_context = static_cast<std::uint32_t>(list.size());
    for (const VReg context : try_part->contexts) list.push_back(codegen::use_slot(context));
    if (list.size() > kMaxCallOperands) {
      list.clear();
      fail(Error(ErrorKind::Limit, "try_call with too many contexts on x86_64"));
    }
  }
  if (target_address.base.is_some()) list.push_back(codegen::use(target_address.base));
  if (target_address.index.is_some()) list.push_back(codegen::use(target_address.index));
  if (target_address.kind != AddrKind::None) {
    call.addr = target_address.kind;
    call.scale = target_address.scale;
    call.disp = target_address.disp;
    call.trap = target_address.trap;
    if (target_address.kind == AddrKind::StackSlot) call.aux = target_address.aux;
  }
  call.flags |= codegen::kCall;
  call.clobbers = static_cast<std::uint16_t>(add_clobbers(clobbers));
  emit_list(call);
  if (layout.popped_bytes != 0) emit(mi(Pseudo::TakeBack, 8, layout.popped_bytes), {});
  for (std::size_t i = 0; i < rezero_count; ++i) mov(Op::MovRR, 4, rezero[i].to, rezero[i].from);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (layout.results[i].in_reg() || results[i].is_none() || !is_used(results[i])) continue;
    const bool is_wide = type(results[i]) == ir::I128;
    load_argument(AddrKind::OutgoingArg, layout.results[i].offset, vreg_of(results[i]),
                  is_wide ? ir::I64 : type(results[i]));
    if (is_wide) {
      load_argument(AddrKind::OutgoingArg, layout.results[i].offset + 8, high_of(results[i]),
                    ir::I64);
    }
  }
}

/// A function of floats in the system's convention.
void Lowering::call_library(VReg target, std::span<const VReg> args, VReg d) {
  out().has_calls = true;
  RegMask clobbers = not_pinned(call_clobbers(ir::CallConv::SystemV));
  clobbers.remove(preg(Xmm::Xmm0));
  std::vector<Operand>& list = operand_list();
  list.assign({codegen::def_fixed(d, preg(Xmm::Xmm0)), codegen::use(target)});
  for (std::size_t i = 0; i < args.size(); ++i) {
    list.push_back(codegen::use_fixed(args[i], PReg::fpr(static_cast<unsigned>(i))));
  }
  MachInst call = mi(Op::CallR, 8);
  call.flags |= codegen::kCall;
  call.clobbers = static_cast<std::uint16_t>(add_clobbers(clobbers));
  emit_list(call);
}

/// Any call but a tail call. `note` is MachInst::imm.
void Lowering::lower_call(ir::Inst inst, std::span<const ir::Value> results, std::int64_t note,
                          TryPart* try_part) {
  const ir::Function& f = func();
  const auto args = f.call_operands(inst);
  const ir::SigRef ref = f.call_signature(inst);
  const SignatureLayout* layout = layout_of(ref);
  if (layout == nullptr) return unsupported(inst);
  const ir::Signature& sig = f.signatures[ref];
  if (f.op(inst) == ir::Op::Call || f.op(inst) == ir::Op::TryCall) {
    const ir::ExtFunc& callee = f.ext_funcs[ir::FuncRef(f.data(inst).a)];
    if (callee.colocated) {
      MachInst call = mi(Op::Call, 8, note);
      call.aux = add_symbol(callee.name);
      return emit_call(sig, *layout, args, results, call, {}, {}, try_part);
    }
    if (callee.patchable) {
      return fail(Error(ErrorKind::Unsupported, "patchable call to a far function on x86_64"));
    }
    const VReg target = make_symbol(callee.name, false, 0);
    return emit_call(sig, *layout, args, results, mi(Op::CallR, 8, note), codegen::use(target), {},
                     try_part);
  }
  const ir::Value callee = f.arg_list(inst)[0];
  // Without memory arguments nothing is stored between the load of the target and the call.
  Address memory;
  if (layout->stack_bytes == 0 && fold_load(callee, inst, memory)) {
    return emit_call(sig, *layout, args, results, mi(Op::CallM, 8, note), {}, memory, try_part);
  }
  const VReg target = reg(callee);
  emit_call(sig, *layout, args, results, mi(Op::CallR, 8, note), codegen::use(target), {},
            try_part);
}

void Lowering::lower_tail_call(ir::Inst inst) {
  const ir::Function& f = func();
  auto args = f.arg_list(inst);
  const bool direct = f.op(inst) == ir::Op::ReturnCall;
  const ir::SigRef ref =
      direct ? f.ext_funcs[ir::FuncRef(f.data(inst).a)].signature : ir::SigRef(f.data(inst).a);
  const SignatureLayout* layout = layout_of(ref);
  const auto give_up = [&](const char* why) {
    fail(Error(ErrorKind::Unsupported, why));
    terminator(Pseudo::Return);
  };
  if (layout == nullptr) return give_up("tail call of this signature on x86_64");
  const ir::Signature& sig = f.signatures[ref];
  // Where the callee removes its arguments, they may take any room: the frame is moved. Results in
  // memory are above them.
  const bool pops = own_.popped_bytes != 0 || layout->popped_bytes != 0;
  const bool has_structure = std::ranges::any_of(sig.params, [](const ir::AbiParam& param) {
    return param.purpose == ir::ArgPurpose::StructArgument;
  });
  const bool moves = (pops && layout->popped_bytes != own_.popped_bytes) || has_structure;
  if (sig.call_conv != ir::CallConv::Tail &&
      (layout->stack_bytes > own_.stack_bytes || has_structure)) {
    return give_up("tail call with more stack arguments than its caller has on x86_64");
  }
  for (std::size_t i = 0; i < layout->results.size(); ++i) {
    const ArgLocation& theirs = layout->results[i];
    if (i >= own_.results.size() || theirs.reg != own_.results[i].reg ||
        theirs.high != own_.results[i].high ||
        (!theirs.in_reg() &&
         theirs.offset - layout->popped_bytes != own_.results[i].offset - own_.popped_bytes)) {
      return give_up("tail call whose results are in other places than its caller's on x86_64");
    }
  }
  if (sig.call_conv != f.signature.call_conv) {
    return give_up("tail call between calling conventions on x86_64");
  }
  VReg target;
  const bool near = direct && f.ext_funcs[ir::FuncRef(f.data(inst).a)].colocated;
  if (!direct) {
    target = reg(args[0]);
    args = args.subspan(1);
  } else if (!near) {
    target = make_symbol(f.ext_funcs[ir::FuncRef(f.data(inst).a)].name, false, 0);
  }
  // This function's own arguments were read at its entry, so their places are free.
  if (moves) out().outgoing_arg_bytes = std::max(out().outgoing_arg_bytes, layout->popped_bytes);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (layout->params[i].in_reg()) continue;
    const std::uint32_t offset = layout->params[i].offset;
    if (sig.params[i].purpose == ir::ArgPurpose::StructArgument) {
      copy_structure(offset, args[i], sig.params[i].struct_bytes);
      continue;
    }
    store_argument(moves ? AddrKind::OutgoingArg : AddrKind::IncomingArg, offset, args[i],
                   sig.params[i].type);
  }
  std::array<Operand, 32> uses;
  std::size_t count = 0;
  if (!near) uses[count++] = codegen::use_fixed(target, preg(Gpr::R11));
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!layout->params[i].in_reg()) continue;
    count = use_argument(args[i], sig.params[i], sig.call_conv, layout->params[i], uses, count);
  }
  // Tags of a tail call describe the state just before it: there is nothing behind.
  if (const std::int64_t note = call_note(inst); note != 0) {
    emit(mi(Pseudo::SequencePoint, 0, note), {});
  }
  MachInst jump = mi(near ? Pseudo::TailCall : Pseudo::TailCallReg, moves ? 8 : 0,
                     moves ? layout->popped_bytes : 0);
  if (near) jump.aux = add_symbol(f.ext_funcs[ir::FuncRef(f.data(inst).a)].name);
  jump.flags |= codegen::kTerminator;
  operand_list().assign(uses.begin(), uses.begin() + static_cast<std::ptrdiff_t>(count));
  emit_list(jump);
}

// ---- Global values.

VReg Lowering::context_register() {
  const ir::Function& f = func();
  const auto params = f.block_params(f.entry_block());
  for (std::size_t i = 0; i < params.size() && i < f.signature.params.size(); ++i) {
    if (f.signature.params[i].purpose == ir::ArgPurpose::VmCtx) return reg(params[i]);
  }
  fail(Error(ErrorKind::Unsupported, "global value of a context that is no parameter"));
  return make_int(0);
}

VReg Lowering::global_value(ir::GlobalValue gv, unsigned depth) {
  const ir::GlobalValueData& data = func().global_values[gv];
  if (depth == 0) {
    fail(Error(ErrorKind::Unsupported, "chain of more than 64 global values on x86_64"));
    return make_int(0);
  }
  switch (data.kind) {
    case ir::GlobalValueData::Kind::VmContext: return context_register();
    case ir::GlobalValueData::Kind::Load: {
      const VReg base = global_value(data.base, depth - 1);
      Address from;
      from.kind = AddrKind::Base;
      from.base = base;
      from.disp = static_cast<std::int32_t>(data.offset);
      const VReg d = new_int();
      load_into(Op::MovRM, op_width(data.type), d, from);
      return d;
    }
    case ir::GlobalValueData::Kind::IaddImm: {
      const VReg base = global_value(data.base, depth - 1);
      if (fits_imm32(data.offset)) {
        const VReg d = new_int();
        emit(mi(Pseudo::AddImm, 8, data.offset), {codegen::def(d), codegen::use(base)});
        return d;
      }
      return rr(Op::AddRR, 8, make_int(static_cast<std::uint64_t>(data.offset)), base);
    }
    case ir::GlobalValueData::Kind::Symbol: {
      if (data.tls) {
        fail(Error(ErrorKind::Unsupported,
                   "the address of a thread-local symbol by other operations than tls_value"));
        return make_int(0);
      }
      return make_symbol(data.name, data.colocated, data.offset);
    }
    case ir::GlobalValueData::Kind::DynScale:
      return make_int(1);  // the vectors of this target have one size
  }
  return make_int(0);
}

/// Saves this context, continues another; all registers are lost but for those that the contexts
/// keep.
void Lowering::lower_stack_switch(ir::Inst inst) {
  out().has_calls = true;
  const VReg d = result(inst);
  const VReg save = reg(func().arg_a(inst));
  const VReg load = reg(func().arg_b(inst));
  const VReg payload = reg(func().arg_c(inst));
  RegMask clobbers = not_pinned(allocatable_registers());
  clobbers.remove(preg(Gpr::Rdi));
  MachInst leave = mi(Pseudo::StackSwitch, 8);
  leave.flags |= codegen::kCall;
  leave.clobbers = static_cast<std::uint16_t>(add_clobbers(clobbers));
  emit(leave, {codegen::def_fixed(d, preg(Gpr::Rdi)), codegen::use_fixed(payload, preg(Gpr::Rdi)),
               codegen::use_fixed(save, preg(Gpr::Rsi)), codegen::use_fixed(load, preg(Gpr::Rdx))});
}

/// The general dynamic model of ELF: a function of the C library looks the variable up for the
/// running thread.
void Lowering::lower_tls_value(ir::Inst inst) {
  const ir::GlobalValueData& data = func().global_values[ir::GlobalValue(func().data(inst).a)];
  if (data.kind != ir::GlobalValueData::Kind::Symbol || !data.tls || !fits_imm32(data.offset)) {
    fail(Error(ErrorKind::Unsupported,
               "tls_value of another global value than a thread-local symbol within 2 GiB"));
    return;
  }
  out().has_calls = true;
  const VReg d = result(inst);
  const VReg found = data.offset == 0 ? d : new_int();
  RegMask clobbers = not_pinned(call_clobbers(ir::CallConv::SystemV));
  clobbers.remove(preg(Gpr::Rax));
  MachInst call = mi(Pseudo::TlsAddress, 8);
  call.aux = add_symbol(data.name);
  call.imm = add_symbol(ir::ExternalName::testcase("ElfTlsGetAddr"));
  call.flags |= codegen::kCall;
  call.clobbers = static_cast<std::uint16_t>(add_clobbers(clobbers));
  emit(call, {codegen::def_fixed(found, preg(Gpr::Rax))});
  if (data.offset != 0) {
    emit(mi(Pseudo::AddImm, 8, data.offset), {codegen::def(d), codegen::use(found)});
  }
}

void Lowering::lower_global_value(ir::Inst inst) {
  move(result(inst), global_value(ir::GlobalValue(func().data(inst).a), 64));
}

}  // namespace hoist::isa::x64
