// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Dispatch over IR operations, registers of values, function entry.
#include "isa/x64/lower.hpp"

#include <algorithm>
#include <string>

#include "base/bits.hpp"
#include "codegen/lower/lower_inl.hpp"
#include "isa/x64/lower_function.hpp"

namespace hoist::isa::x64 {

using codegen::AddrKind;
using codegen::RegClass;

// ---- Registers of values.

/// Is the i64 value, which `inst` defines, known to be below 2^32?
static bool is_zero_extended(const ir::Function& func, ir::Inst inst) {
  switch (func.op(inst)) {
    case ir::Op::Uextend:
    case ir::Op::Uload8:
    case ir::Op::Uload16:
    case ir::Op::Uload32: return true;
    default: return false;  // any other operation of the open set
  }
}

VReg Lowering::reg(ir::Value value) {
  for (;;) {
    const ir::Value v = resolve(value);
    const ir::Inst inst = def_of(v);
    if (inst.is_none()) return vreg_of(v);
    const ir::InstData& data = func().data(inst);
    switch (data.op) {
      case ir::Op::Iconst: return make_int(*constant(v));
      case ir::Op::F32const: return make_float(4, data.b);
      case ir::Op::F64const: return make_float(8, data.imm64());
      case ir::Op::F16const: return make_float(4, data.b);
      case ir::Op::F128const:
      case ir::Op::Vconst:
        // Only what fits a register; lower_vector refuses the rest.
        return make_vector(*vector_constant(v));
      case ir::Op::StackAddr: {
        const VReg d = new_int();
        Address slot;
        slot.kind = AddrKind::StackSlot;
        slot.aux = data.a;
        slot.disp = static_cast<std::int32_t>(data.b);
        emit(mi(Op::LeaRM, 8), {codegen::def(d)}, slot).flags |= codegen::kRemat;
        return d;
      }
      case ir::Op::FuncAddr: {
        const ir::ExtFunc& callee = func().ext_funcs[ir::FuncRef(data.a)];
        return make_symbol(callee.name, callee.colocated, 0);
      }
      case ir::Op::Uextend:
        // An i32 in a register is zero-extended already.
        if (type(v) != ir::I64 || type(ir::Value(data.a)) != ir::I32) return vreg_of(v);
        value = ir::Value(data.a);
        break;
      case ir::Op::Ireduce: {
        const ir::Value from = ir::Value(data.a);
        if (type(v) == ir::I32) {
          const ir::Inst wide = def_of(from);
          if (type(from) != ir::I64 || wide.is_none() || !is_zero_extended(func(), wide)) {
            return vreg_of(v);
          }
        }
        if (type(from).bits() > 64) return vreg_of(v);
        value = from;
        break;
      }
      default: return vreg_of(v);  // everything else has a register of its own
    }
  }
}

VReg Lowering::low(ir::Value value, unsigned bits) {
  for (;;) {
    const ir::Value v = resolve(value);
    const ir::Inst inst = def_of(v);
    if (inst.is_none()) return vreg_of(v);
    const ir::InstData& data = func().data(inst);
    switch (data.op) {
      case ir::Op::Ireduce:
        if (type(ir::Value(data.a)).bits() > 64) return reg(v);
        break;
      case ir::Op::Uextend:
      case ir::Op::Sextend:
        if (type(ir::Value(data.a)).bits() < bits || type(v).bits() > 64) return reg(v);
        break;
      case ir::Op::Band: {
        const std::optional<std::uint64_t> mask = constant(ir::Value(data.b));
        const std::uint64_t wanted = base::zero_extend(~std::uint64_t{0}, bits);
        if (!mask || (*mask & wanted) != wanted || type(v).bits() > 64) return reg(v);
        break;
      }
      default: return reg(v);  // everything else keeps no bits of an operand
    }
    value = ir::Value(data.a);
  }
}

VReg Lowering::make_int(std::uint64_t bits) {
  const VReg d = new_int();
  const auto imm = static_cast<std::int64_t>(bits);
  const bool short_form = bits <= 0xffff'ffffu;
  MachInst load =
      mi(Op::MovRI, short_form ? 4 : 8, short_form ? static_cast<std::int32_t>(bits) : imm);
  if (!short_form && !fits_imm32(imm)) load.op = raw(Op::MovRI64);
  emit(load, {codegen::def(d)}).flags |= codegen::kRemat;
  return d;
}

VReg Lowering::make_float(unsigned bytes, std::uint64_t bits) {
  const VReg d = new_float();
  if (bits == 0) {
    emit(mi(Pseudo::FZero), {codegen::def(d)}).flags |= codegen::kRemat;
  } else {
    emit(mi(bytes == 4 ? Op::MovssRM : Op::MovsdRM, bytes), {codegen::def(d)},
         constant_address(bytes, bits))
        .flags |= codegen::kRemat;
  }
  return d;
}

VReg Lowering::make_symbol(const ir::ExternalName& name, bool colocated, std::int64_t offset) {
  const VReg d = new_int();
  const bool near = colocated && fits_imm32(offset);
  MachInst load = mi(near ? Pseudo::SymbolNear : Pseudo::SymbolFar, 8, offset);
  load.aux = add_symbol(name);
  emit(load, {codegen::def(d)}).flags |= codegen::kRemat;
  return d;
}

VReg Lowering::extended(ir::Value v, bool is_signed) {
  const unsigned bits = type(v).bits();
  if (bits >= 32) return reg(v);
  if (const auto imm = constant(v)) {
    return make_int(is_signed ? static_cast<std::uint32_t>(base::sign_extend(*imm, bits)) : *imm);
  }
  const Op op = bits == 8 ? (is_signed ? Op::Movsx8RR : Op::Movzx8RR)
                          : (is_signed ? Op::Movsx16RR : Op::Movzx16RR);
  return mov(op, 4, reg(v));
}

void Lowering::move(VReg to, VReg from, RegClass cls) {
  emit(cls == RegClass::Int ? mi(Op::MovRR, 8) : mi(Op::MovapsRR, 16),
       {codegen::def(to), codegen::use(from)})
      .flags |= codegen::kMove;
}

std::optional<std::int64_t> Lowering::immediate(ir::Value v, unsigned width) const {
  const std::optional<std::int64_t> imm = signed_constant(v);
  if (!imm || (width == 8 && !fits_imm32(*imm))) return std::nullopt;
  return *imm;
}

void Lowering::cmov(Cc cc, unsigned width, VReg d, VReg otherwise, VReg then) {
  emit(mi(Op::CmovccRR, width),
       {codegen::def_same(d, 1), codegen::use(otherwise), codegen::use_any(then)})
      .cc = static_cast<std::uint8_t>(cc);
}

void Lowering::setcc(Cc cc, VReg d, bool zero_extend) {
  emit(zero_extend ? mi(Pseudo::SetccZx, 4) : mi(Op::SetccR, 1), {codegen::def(d)}).cc =
      static_cast<std::uint8_t>(cc);
}

void Lowering::trap_if(Cc cc, image::TrapCode code) {
  MachInst& trap = emit(mi(Pseudo::TrapIf), {});
  trap.cc = static_cast<std::uint8_t>(cc);
  trap.trap = code;
}

void Lowering::unsupported(ir::Inst inst) {
  const ir::Op op = func().op(inst);
  base::Printer text;
  text << "operation " << ir::info(op).text;
  const auto results = func().results(inst);
  if (!results.empty()) text << " giving " << type(results[0]);
  text << " on x86_64";
  fail(Error(ErrorKind::Unsupported, text.take()));
  // Whatever was asked for gets a definition, so that the function stays well formed until the end.
  for (const ir::Value v : results) {
    emit(class_of(type(v)) == RegClass::Int ? mi(Op::MovRI, 4) : mi(Pseudo::FZero),
         {codegen::def(vreg_of(v))});
    if (type(v) == ir::I128) emit(mi(Op::MovRI, 4), {codegen::def(high_of(v))});
  }
}

// ---- Dispatch.

namespace {

/// By what is in its registers, an operation is in lower_operation, lower_wide or lower_vector.
enum class Family : std::uint8_t { Scalar, Wide, Vector };

Family family_of(ir::Type type) {
  if (type == ir::I128) return Family::Wide;
  if (type.is_int() || type == ir::F32 || type == ir::F64) return Family::Scalar;
  return Family::Vector;
}

}  // namespace

void Lowering::lower_inst(ir::Inst inst) {
  HOIST_DCHECK(flags_of_.is_none() || flags_of_ == inst,
               "nothing comes between the flags and the branch");
  lower_operation(inst);
  flags_of_ = ir::Inst::none();
}

void Lowering::lower_operation(ir::Inst inst) {
  Family family = Family::Scalar;
  const auto look = [&](ir::Value v) { family = std::max(family, family_of(type(v))); };
  for (const ir::Value v : func().results(inst)) look(v);
  func().for_each_operand(inst, look);
  if (family == Family::Vector) return lower_vector(inst);
  if (family == Family::Wide) {
    if (!lower_wide(inst)) unsupported(inst);
    return;
  }
  switch (func().op(inst)) {
    // Terminators are handled by lower_end.
    case ir::Op::Jump:
    case ir::Op::Brif:
    case ir::Op::BrTable:
    case ir::Op::Trap:
    case ir::Op::Return:
    case ir::Op::ReturnCall:
    case ir::Op::ReturnCallIndirect:
    case ir::Op::TryCall:
    case ir::Op::TryCallIndirect: HOIST_UNREACHABLE("a terminator is the last of its block");

    case ir::Op::Call:
    case ir::Op::CallIndirect:
      return lower_call(inst, func().results(inst), call_note(inst), nullptr);
    case ir::Op::SequencePoint: emit(mi(Pseudo::SequencePoint, 0, call_note(inst)), {}); return;
    case ir::Op::GetExceptionHandlerAddress: return lower_handler_address(inst);
    case ir::Op::GlobalValue:
    case ir::Op::SymbolValue: return lower_global_value(inst);
    case ir::Op::GetFramePointer:
      emit(mi(Pseudo::FramePointer, 8), {codegen::def(result(inst))});
      return;
    case ir::Op::GetStackPointer:
      emit(mi(Pseudo::StackPointer, 8), {codegen::def(result(inst))});
      return;
    case ir::Op::GetReturnAddress:
      emit(mi(Pseudo::ReturnAddress, 8), {codegen::def(result(inst))});
      return;

    case ir::Op::Trapz:
      return trap_on(condition(func().arg_a(inst), inst).inverted(), func().trap_code(inst));
    case ir::Op::Trapnz:
      return trap_on(condition(func().arg_a(inst), inst), func().trap_code(inst));
    case ir::Op::Debugtrap: emit(mi(Op::Int3, 0), {}); return;
    case ir::Op::Fence: emit(mi(Op::Mfence, 0), {}); return;
    case ir::Op::Nop: return;

    case ir::Op::Load:
    case ir::Op::Uload8:
    case ir::Op::Sload8:
    case ir::Op::Uload16:
    case ir::Op::Sload16:
    case ir::Op::Uload32:
    case ir::Op::Sload32: return lower_load(inst);
    case ir::Op::Store:
    case ir::Op::Istore8:
    case ir::Op::Istore16:
    case ir::Op::Istore32: return lower_store(inst);

    // Made at each use.
    case ir::Op::FuncAddr:
    case ir::Op::StackAddr:
    case ir::Op::Iconst:
    case ir::Op::F16const:
    case ir::Op::F32const:
    case ir::Op::F64const:
    case ir::Op::F128const:
    case ir::Op::Vconst: HOIST_UNREACHABLE("constants have no register of their own");

    case ir::Op::Select:
    case ir::Op::SelectSpectreGuard: return lower_select(inst);
    case ir::Op::Bitselect: return lower_bitselect(inst);

    case ir::Op::Iadd: return lower_add(inst);
    case ir::Op::Isub: return lower_sub(inst);
    case ir::Op::Ineg:
      return r(Op::NegR, op_width(type(func().result(inst))), result(inst),
               low(func().arg_a(inst), type(func().result(inst)).bits()));
    case ir::Op::Iabs: return lower_abs(inst);
    case ir::Op::Imul: return lower_mul(inst);
    case ir::Op::Umulhi: return lower_mul_high(inst, false);
    case ir::Op::Smulhi: return lower_mul_high(inst, true);
    case ir::Op::Smin: return lower_min_max(inst, Cc::L, true);
    case ir::Op::Smax: return lower_min_max(inst, Cc::G, true);
    case ir::Op::Umin: return lower_min_max(inst, Cc::B, false);
    case ir::Op::Umax: return lower_min_max(inst, Cc::A, false);
    case ir::Op::Udiv:
    case ir::Op::Sdiv:
    case ir::Op::Urem:
    case ir::Op::Srem: return lower_divide(inst);
    case ir::Op::UaddOverflow: return lower_overflow(inst, Op::AddRR, Cc::B);
    case ir::Op::SaddOverflow: return lower_overflow(inst, Op::AddRR, Cc::O);
    case ir::Op::UsubOverflow: return lower_overflow(inst, Op::SubRR, Cc::B);
    case ir::Op::SsubOverflow: return lower_overflow(inst, Op::SubRR, Cc::O);
    case ir::Op::UmulOverflow: return lower_mul_overflow(inst, false);
    case ir::Op::SmulOverflow: return lower_mul_overflow(inst, true);
    case ir::Op::UaddOverflowTrap: return lower_add_trap(inst);

    case ir::Op::Band: return lower_and(inst);
    case ir::Op::Bor: return lower_logic(inst, Op::OrRR, Op::OrpsRR);
    case ir::Op::Bxor: return lower_logic(inst, Op::XorRR, Op::XorpsRR);
    case ir::Op::Bnot: return lower_bnot(inst);
    case ir::Op::Rotl: return lower_rotate(inst, Op::RolRI);
    case ir::Op::Rotr: return lower_rotate(inst, Op::RorRI);
    case ir::Op::Ishl:
    case ir::Op::Ushr:
    case ir::Op::Sshr: return lower_shift(inst);
    case ir::Op::Bitrev: return lower_bitrev(inst);
    case ir::Op::Clz: return lower_clz(inst);
    case ir::Op::Cls: return lower_cls(inst);
    case ir::Op::Ctz: return lower_ctz(inst);
    case ir::Op::Bswap: return lower_bswap(inst);
    case ir::Op::Popcnt: return lower_popcnt(inst);

    case ir::Op::Icmp: return materialize(compare_ints(inst, inst, true), result(inst), false);
    case ir::Op::Fcmp: return materialize(compare_floats(inst, inst, true), result(inst), false);

    case ir::Op::Uextend: return lower_extend(inst, false);
    case ir::Op::Sextend: return lower_extend(inst, true);
    case ir::Op::Ireduce:
      // Only to i32: the upper half must become zero.
      emit(mi(Op::MovRR, 4),
           {codegen::def(result(inst)), codegen::use_any(reg(func().arg_a(inst)))});
      return;
    case ir::Op::Bmask: return lower_bmask(inst);
    case ir::Op::Bitcast: return lower_bitcast(inst);
    case ir::Op::Fpromote: return lower_float_unary(inst, Op::Cvtss2sdRR, Op::Cvtsd2ssRR, 0);
    case ir::Op::Fdemote: return lower_float_unary(inst, Op::Cvtss2sdRR, Op::Cvtsd2ssRR, 0);
    case ir::Op::FcvtToUint: return lower_to_int(inst, false, false);
    case ir::Op::FcvtToSint: return lower_to_int(inst, true, false);
    case ir::Op::FcvtToUintSat: return lower_to_int(inst, false, true);
    case ir::Op::FcvtToSintSat: return lower_to_int(inst, true, true);
    case ir::Op::FcvtFromUint: return lower_to_float(inst, false);
    case ir::Op::FcvtFromSint: return lower_to_float(inst, true);

    case ir::Op::Fadd: return lower_float_binary(inst, Op::AddssRR, Op::AddsdRR, true);
    case ir::Op::Fsub: return lower_float_binary(inst, Op::SubssRR, Op::SubsdRR, false);
    case ir::Op::Fmul: return lower_float_binary(inst, Op::MulssRR, Op::MulsdRR, true);
    case ir::Op::Fdiv: return lower_float_binary(inst, Op::DivssRR, Op::DivsdRR, false);
    case ir::Op::Sqrt: return lower_float_unary(inst, Op::SqrtssRR, Op::SqrtsdRR, 0);
    case ir::Op::Fma: return lower_fma(inst);
    case ir::Op::Fneg: return lower_float_sign(inst, Op::XorpsRM, true);
    case ir::Op::Fabs: return lower_float_sign(inst, Op::AndpsRM, false);
    case ir::Op::Fcopysign: return lower_copysign(inst);
    case ir::Op::Fmin: return lower_float_min_max(inst, false);
    case ir::Op::Fmax: return lower_float_min_max(inst, true);
    // Rounding mode in bits 0 and 1; 8: no precision exception.
    case ir::Op::Nearest: return lower_float_unary(inst, Op::RoundssRRI, Op::RoundsdRRI, 8 | 0);
    case ir::Op::Floor: return lower_float_unary(inst, Op::RoundssRRI, Op::RoundsdRRI, 8 | 1);
    case ir::Op::Ceil: return lower_float_unary(inst, Op::RoundssRRI, Op::RoundsdRRI, 8 | 2);
    case ir::Op::Trunc: return lower_float_unary(inst, Op::RoundssRRI, Op::RoundsdRRI, 8 | 3);

    case ir::Op::AtomicRmw: return lower_atomic_rmw(inst);
    case ir::Op::AtomicCas: return lower_atomic_cas(inst);
    case ir::Op::AtomicLoad: return lower_atomic_load(inst);
    case ir::Op::AtomicStore: return lower_atomic_store(inst);
    case ir::Op::UaddOverflowCin: return lower_carry(inst, Op::AdcRR, Cc::B);
    case ir::Op::SaddOverflowCin: return lower_carry(inst, Op::AdcRR, Cc::O);
    case ir::Op::UsubOverflowBin: return lower_carry(inst, Op::SbbRR, Cc::B);
    case ir::Op::SsubOverflowBin: return lower_carry(inst, Op::SbbRR, Cc::O);

    case ir::Op::TlsValue: return lower_tls_value(inst);
    case ir::Op::DynamicStackAddr: {
      // Behind the sized slots; see lower_signature.
      Address slot;
      slot.kind = AddrKind::StackSlot;
      slot.aux = static_cast<std::uint32_t>(func().stack_slots.size()) + func().data(inst).a;
      return load_into(Op::LeaRM, 8, result(inst), slot);
    }
    case ir::Op::GetPinnedReg:
    case ir::Op::SetPinnedReg:
      if (!pins_register_) {
        fail(Error(ErrorKind::Unsupported,
                   "the pinned register on x86_64 without the setting enable_pinned_reg"));
        break;
      }
      if (func().op(inst) == ir::Op::GetPinnedReg) {
        emit(mi(Pseudo::GetPinned, 8), {codegen::def(result(inst))});
      } else {
        emit(mi(Pseudo::SetPinned, 8), {codegen::use(reg(func().arg_a(inst)))});
      }
      return;
    case ir::Op::StackSwitch: return lower_stack_switch(inst);

    // On i128 only: see lower_wide.
    case ir::Op::Iconcat:
    case ir::Op::Isplit: break;

    // On vectors only: see lower_vector.
    case ir::Op::Uload8x8:
    case ir::Op::Sload8x8:
    case ir::Op::Uload16x4:
    case ir::Op::Sload16x4:
    case ir::Op::Uload32x2:
    case ir::Op::Sload32x2:
    case ir::Op::Blendv:
    case ir::Op::VanyTrue:
    case ir::Op::VallTrue:
    case ir::Op::VhighBits:
    case ir::Op::ScalarToVector:
    case ir::Op::Fvdemote:
    case ir::Op::FvpromoteLow:
    case ir::Op::X86Cvtt2dq:
    case ir::Op::Splat:
    case ir::Op::Swizzle:
    case ir::Op::X86Pshufb:
    case ir::Op::Insertlane:
    case ir::Op::Extractlane:
    case ir::Op::ExtractVector:
    case ir::Op::Shuffle:
    case ir::Op::AvgRound:
    case ir::Op::UaddSat:
    case ir::Op::SaddSat:
    case ir::Op::UsubSat:
    case ir::Op::SsubSat:
    case ir::Op::SqmulRoundSat:
    case ir::Op::X86Pmulhrsw:
    case ir::Op::Snarrow:
    case ir::Op::Unarrow:
    case ir::Op::Uunarrow:
    case ir::Op::SwidenLow:
    case ir::Op::SwidenHigh:
    case ir::Op::UwidenLow:
    case ir::Op::UwidenHigh:
    case ir::Op::IaddPairwise:
    case ir::Op::X86Pmaddubsw: break;
  }
  unsupported(inst);
}

void Lowering::lower_end(ir::Inst inst) {
  switch (func().op(inst)) {
    case ir::Op::Jump: return lower_edge(order().edges_from(func().inst_block(inst)).front());
    case ir::Op::Brif: return lower_brif(inst);
    case ir::Op::BrTable: return lower_br_table(inst);
    case ir::Op::Trap: {
      MachInst& trap = emit(mi(Op::Ud2, 0), {});
      trap.trap = func().trap_code(inst);
      trap.flags |= codegen::kTerminator;
      return;
    }
    case ir::Op::Return: return lower_return(inst);
    case ir::Op::ReturnCall:
    case ir::Op::ReturnCallIndirect: return lower_tail_call(inst);
    case ir::Op::TryCall:
    case ir::Op::TryCallIndirect: return lower_try(inst);
    default:  // no other operation ends a block; a later terminator is named here until it is done
      terminator(Pseudo::Return);
      return unsupported(inst);
  }
}

// ---- Function entry.

Result<void> Lowering::find_stack_limit() {
  const ir::Function& f = func();
  out().stack_limit_offset = -1;
  out().stack_limit_offset2 = -1;
  if (f.stack_limit.is_none()) return {};
  const auto unknown = [] {
    return Error(ErrorKind::Unsupported,
                 "stack_limit on x86_64 other than one or two i64 loads, the first from the "
                 "context in a register parameter");
  };
  std::int32_t offsets[2] = {};
  unsigned loads = 0;
  ir::GlobalValue gv = f.stack_limit;
  while (f.global_values[gv].kind == ir::GlobalValueData::Kind::Load) {
    const ir::GlobalValueData& data = f.global_values[gv];
    if (loads == 2 || data.offset < 0 || data.offset > 0x7fff'ffff) return unknown();
    offsets[loads++] = static_cast<std::int32_t>(data.offset);
    gv = data.base;
  }
  if (loads == 0 || f.global_values[gv].kind != ir::GlobalValueData::Kind::VmContext) {
    return unknown();
  }
  const auto& params = f.signature.params;
  const auto context = std::ranges::find(params, ir::ArgPurpose::VmCtx, &ir::AbiParam::purpose);
  if (context == params.end()) return unknown();
  out().stack_limit_base = own_.params[static_cast<std::size_t>(context - params.begin())].reg;
  if (out().stack_limit_base.is_none()) return unknown();
  // The chain was walked from its end.
  out().stack_limit_offset = offsets[loads - 1];
  if (loads == 2) out().stack_limit_offset2 = offsets[0];
  return {};
}

Result<void> Lowering::lower_signature() {
  HOIST_TRY_VOID(assign_signature(func().signature, own_));
  out().call_conv = func().signature.call_conv;
  out().incoming_arg_bytes = own_.stack_bytes;
  out().popped_arg_bytes = own_.popped_bytes;
  out().outgoing_arg_bytes = 0;
  out().has_calls = false;
  out().pins_register = pins_register_;
  out().stack_slots.assign(func().stack_slots.begin(), func().stack_slots.end());
  // A dynamic vector is its fixed part.
  for (const ir::DynamicStackSlotData& slot : func().dynamic_stack_slots) {
    out().stack_slots.push_back(
        {.bytes = func().dynamic_types[slot.type].base.bytes(), .align_log2 = 4});
  }
  flags_of_ = ir::Inst::none();
  if (const ir::FuncRef handler = func().trap_handler; handler.is_some()) {
    out().trap_symbol = static_cast<std::int32_t>(add_symbol(func().ext_funcs[handler].name));
  }
  layout_known_.assign(func().signatures.size(), 0);
  if (layouts_.size() < func().signatures.size()) layouts_.resize(func().signatures.size());
  return find_stack_limit();
}

void Lowering::lower_entry(bool jump) {
  const ir::Function& f = func();
  const auto params = f.block_params(f.entry_block());
  const bool rezero = follows_system_abi(f.signature.call_conv);
  // Copies and loads follow the definition of the registers.
  edge_args_.clear();
  std::vector<Operand>& defs = operand_list();
  const auto is_wanted = [&](ir::Value v) { return jump || is_used(v); };
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!is_wanted(params[i])) continue;
    const std::size_t first = edge_args_.size();
    edge_args_.push_back(jump ? new_vreg_for(type(params[i])) : vreg_of(params[i]));
    if (type(params[i]) == ir::I128) {
      edge_args_.push_back(jump ? new_int() : high_of(params[i]));
    }
    const ArgLocation& loc = own_.params[i];
    if (!loc.in_reg()) continue;
    const bool copy = rezero && type(params[i]) == ir::I32;
    defs.push_back(codegen::def_fixed(copy ? new_int() : edge_args_[first], loc.reg));
    if (!loc.high.is_none()) defs.push_back(codegen::def_fixed(edge_args_[first + 1], loc.high));
  }
  std::size_t next_def = out().operands.size();
  emit_list(mi(Pseudo::Args));
  std::size_t next_arg = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!is_wanted(params[i])) continue;
    const ArgLocation& loc = own_.params[i];
    const VReg v = edge_args_[next_arg++];
    const bool is_wide = type(params[i]) == ir::I128;
    if (f.signature.params[i].purpose == ir::ArgPurpose::StructArgument) {
      Address structure;
      structure.kind = AddrKind::IncomingArg;
      structure.disp = static_cast<std::int32_t>(loc.offset);
      load_into(Op::LeaRM, 8, v, structure);
      continue;
    }
    if (!loc.in_reg()) {
      load_argument(AddrKind::IncomingArg, loc.offset, v, is_wide ? ir::I64 : type(params[i]));
      if (is_wide) {
        load_argument(AddrKind::IncomingArg, loc.offset + 8, edge_args_[next_arg++], ir::I64);
      }
      continue;
    }
    const VReg from = out().operands[next_def++].vreg;
    if (from != v) mov(Op::MovRR, 4, v, from);
    if (is_wide) {
      ++next_def;
      ++next_arg;
    }
  }
  if (!jump) return;
  terminator(Pseudo::Jump);
  add_successor(order().item_of(f.entry_block()), edge_args_);
}

Result<void> lower_function(Lowering& rules, const ir::Function& func, codegen::MachFunction& out) {
  return codegen::lower_function(rules, func, out);
}

}  // namespace hoist::isa::x64
