// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Comparisons, and what consumes their flags: conditional traps, select, set-on-condition.
///
/// A comparison is made where its result is consumed, and made again for each consumer in the
/// block.
#include <bit>

#include "base/bits.hpp"
#include "isa/x64/lower.hpp"

namespace hoist::isa::x64 {

static Cc cc_of(ir::IntCC cc) {
  switch (cc) {
    case ir::IntCC::Eq: return Cc::E;
    case ir::IntCC::Ne: return Cc::Ne;
    case ir::IntCC::Slt: return Cc::L;
    case ir::IntCC::Sge: return Cc::Ge;
    case ir::IntCC::Sgt: return Cc::G;
    case ir::IntCC::Sle: return Cc::Le;
    case ir::IntCC::Ult: return Cc::B;
    case ir::IntCC::Uge: return Cc::Ae;
    case ir::IntCC::Ugt: return Cc::A;
    case ir::IntCC::Ule: return Cc::Be;
  }
  HOIST_UNREACHABLE("all integer conditions are above");
}

/// Sets the flags for x - y. Loads are taken over if nothing but `root` uses the comparison.
void Lowering::emit_compare(unsigned width, ir::Value x, ir::Value y, ir::Inst root,
                            bool only_user) {
  const unsigned bits = width * 8;
  Address memory;
  if (const auto imm = immediate(y, width)) {
    if (only_user && fold_load(x, root, memory)) {
      emit(mi(Op::CmpMI, width, *imm), {}, memory);
    } else if (*imm == 0) {
      const VReg v = low(x, bits);
      emit(mi(Op::TestRR, width), {codegen::use(v), codegen::use(v)});
    } else {
      emit(mi(Op::CmpRI, width, *imm), {codegen::use_any(low(x, bits))});
    }
    return;
  }
  if (only_user && fold_load(y, root, memory)) {
    emit(mi(Op::CmpRM, width), {codegen::use(low(x, bits))}, memory);
    return;
  }
  if (only_user && fold_load(x, root, memory)) {
    emit(mi(Op::CmpMR, width), {codegen::use(low(y, bits))}, memory);
    return;
  }
  const VReg first = low(x, bits);
  emit(mi(Op::CmpRR, width), {codegen::use(first), codegen::use_any(low(y, bits))});
}

/// Sets ZF for `masked` being 0, if it is a `band`.
bool Lowering::test_bits(ir::Value masked, ir::Inst root, bool only_user) {
  const ir::Inst band = match(masked, ir::Op::Band);
  if (band.is_none() || !can_fuse(band, root)) return false;
  // Also used elsewhere: then it is computed anyway, and sets flags at no cost but a test.
  if (!is_single_use(masked) && is_used(masked)) return false;
  const unsigned width = type(masked).bytes();
  const unsigned bits = width * 8;
  only_user = only_user && is_single_use(masked);
  ir::Value x = resolve(func().arg_a(band));
  ir::Value y = resolve(func().arg_b(band));
  if (constant(x) && !constant(y)) std::swap(x, y);
  Address memory;
  if (const auto mask = constant(y)) {
    if (only_user && *mask <= 0xff && fold_load(x, ir::Op::Uload8, root, memory)) {
      emit(mi(Op::TestMI, 1, static_cast<std::int8_t>(*mask)), {}, memory);
      return true;
    }
    // Unsigned: a mask of 32 bits needs no 64-bit operation.
    const bool narrow = *mask <= 0xffff'ffff;
    const auto imm = narrow && width == 8
                         ? std::optional<std::int64_t>(static_cast<std::int32_t>(*mask))
                         : immediate(y, width);
    if (imm) {
      if (only_user && fold_load(x, root, memory)) {
        // The whole value is read, as far as it can fault.
        if (width == 8 && !fits_imm32(static_cast<std::int64_t>(*mask))) {
          emit(mi(Op::TestMR, 8), {codegen::use(make_int(*mask))}, memory);
        } else {
          emit(mi(Op::TestMI, width, width == 8 ? static_cast<std::int64_t>(*mask) : *imm), {},
               memory);
        }
        return true;
      }
      const unsigned test_width = *mask <= 0x7f ? 1 : narrow && width == 8 ? 4 : width;
      emit(mi(Op::TestRI, test_width, test_width == 1 ? static_cast<std::int64_t>(*mask) : *imm),
           {codegen::use(low(x, test_width * 8))});
      return true;
    }
  }
  if (only_user && fold_load(y, root, memory)) {
    emit(mi(Op::TestMR, width), {codegen::use(low(x, bits))}, memory);
    return true;
  }
  if (only_user && fold_load(x, root, memory)) {
    emit(mi(Op::TestMR, width), {codegen::use(low(y, bits))}, memory);
    return true;
  }
  const VReg first = low(x, bits);
  emit(mi(Op::TestRR, width), {codegen::use(first), codegen::use_any(low(y, bits))});
  return true;
}

/// A byte or half-word in memory against a constant that it can equal.
std::optional<Cc> Lowering::compare_narrow_load(ir::IntCC cc, ir::Value x, ir::Value y,
                                                ir::Inst root) {
  const auto imm = signed_constant(y);
  if (!imm) return std::nullopt;
  struct Form {
    ir::Op load;
    unsigned bytes;
    bool is_signed;
  };
  static constexpr Form kForms[] = {{ir::Op::Uload8, 1, false},
                                    {ir::Op::Sload8, 1, true},
                                    {ir::Op::Uload16, 2, false},
                                    {ir::Op::Sload16, 2, true}};
  for (const Form& form : kForms) {
    if (match(x, form.load).is_none()) continue;
    const std::int64_t range = std::int64_t{1} << (form.bytes * 8);
    const std::int64_t smallest = form.is_signed ? -range / 2 : 0;
    if (*imm < smallest || *imm >= smallest + range) return std::nullopt;
    Cc flags = cc_of(cc);
    if (!form.is_signed) {
      // Neither side is negative, so signed conditions are unsigned ones.
      switch (cc) {
        case ir::IntCC::Slt: flags = Cc::B; break;
        case ir::IntCC::Sge: flags = Cc::Ae; break;
        case ir::IntCC::Sgt: flags = Cc::A; break;
        case ir::IntCC::Sle: flags = Cc::Be; break;
        case ir::IntCC::Eq:
        case ir::IntCC::Ne:
        case ir::IntCC::Ult:
        case ir::IntCC::Uge:
        case ir::IntCC::Ugt:
        case ir::IntCC::Ule: break;
      }
    }  // Sign-extension keeps the unsigned order as well: both sides are extended.
    Address memory;
    if (!fold_load(x, form.load, root, memory)) return std::nullopt;
    emit(mi(Op::CmpMI, form.bytes,
            base::sign_extend(static_cast<std::uint64_t>(*imm), form.bytes * 8)),
         {}, memory);
    return flags;
  }
  return std::nullopt;
}

Condition Lowering::compare_ints(ir::Inst icmp, ir::Inst root, bool only_user) {
  ir::IntCC cc = func().int_cc(icmp);
  ir::Value x = resolve(func().arg_a(icmp));
  ir::Value y = resolve(func().arg_b(icmp));
  if (type(x) == ir::I128) return compare_wide(cc, x, y);
  if (constant(x) && !constant(y)) {
    std::swap(x, y);
    cc = ir::swapped(cc);
  }
  if (constant(y) == std::uint64_t{0} && (cc == ir::IntCC::Eq || cc == ir::IntCC::Ne) &&
      (test_bits(x, root, only_user) || take_flags_of(x, root))) {
    return {Condition::Kind::One, cc_of(cc)};
  }
  if (only_user) {
    if (const auto narrow = compare_narrow_load(cc, x, y, root)) {
      return {Condition::Kind::One, *narrow};
    }
  }
  emit_compare(type(x).bytes(), x, y, root, only_user);
  return {Condition::Kind::One, cc_of(cc)};
}

Condition Lowering::compare_floats(ir::Inst fcmp, ir::Inst root, bool only_user) {
  ir::Value x = resolve(func().arg_a(fcmp));
  ir::Value y = resolve(func().arg_b(fcmp));
  // ucomis sets ZF PF CF: 111 unordered, 000 greater, 001 less, 100 equal.
  Condition out;
  bool swap = false;
  switch (func().float_cc(fcmp)) {
    case ir::FloatCC::Ord: out.cc = Cc::Np; break;
    case ir::FloatCC::Uno: out.cc = Cc::P; break;
    case ir::FloatCC::Eq: out.kind = Condition::Kind::Feq; break;
    case ir::FloatCC::Ne: out.kind = Condition::Kind::Fne; break;
    case ir::FloatCC::One: out.cc = Cc::Ne; break;
    case ir::FloatCC::Ueq: out.cc = Cc::E; break;
    case ir::FloatCC::Lt:
      swap = true;
      out.cc = Cc::A;
      break;
    case ir::FloatCC::Le:
      swap = true;
      out.cc = Cc::Ae;
      break;
    case ir::FloatCC::Gt: out.cc = Cc::A; break;
    case ir::FloatCC::Ge: out.cc = Cc::Ae; break;
    case ir::FloatCC::Ult: out.cc = Cc::B; break;
    case ir::FloatCC::Ule: out.cc = Cc::Be; break;
    case ir::FloatCC::Ugt:
      swap = true;
      out.cc = Cc::B;
      break;
    case ir::FloatCC::Uge:
      swap = true;
      out.cc = Cc::Be;
      break;
  }
  if (swap) std::swap(x, y);
  const bool is_f32 = type(x) == ir::F32;
  Address memory;
  const bool is_load = match(y, ir::Op::Load).is_some();
  if ((!is_load || only_user) && float_operand(y, root, memory)) {
    emit(mi(is_f32 ? Op::UcomissRM : Op::UcomisdRM, is_f32 ? 4 : 8), {codegen::use(reg(x))},
         memory);
    return out;
  }
  const VReg first = reg(x);
  emit(mi(is_f32 ? Op::UcomissRR : Op::UcomisdRR, is_f32 ? 4 : 8),
       {codegen::use(first), codegen::use_any(reg(y))});
  return out;
}

/// If `v` is computed just before `branch` by an operation that sets ZF: leaves it to that.
bool Lowering::take_flags_of(ir::Value v, ir::Inst branch) {
  const ir::Inst inst = def_of(v);
  if (inst.is_none() || func().op(branch) != ir::Op::Brif || !same_block(inst, branch))
    return false;
  if (type(v) != ir::I32 && type(v) != ir::I64) return false;
  switch (func().op(inst)) {
    case ir::Op::Iadd:
    case ir::Op::Isub:
    case ir::Op::Band:
    case ir::Op::Bor:
    case ir::Op::Bxor: break;
    default: return false;  // leaves no flags, or other ones
  }
  // Nothing in between may be emitted: constants never are, comparisons only if someone wants their
  // value.
  for (ir::Inst at = func().prev_inst(branch); at != inst; at = func().prev_inst(at)) {
    const ir::Op op = func().op(at);
    if (op == ir::Op::Iconst) continue;
    if ((op != ir::Op::Icmp && op != ir::Op::Uextend) || !is_single_use(func().result(at)) ||
        is_used(func().result(at))) {
      return false;
    }
  }
  flags_of_ = inst;
  static_cast<void>(vreg_of(v));  // asks for it
  return true;
}

/// Sets flags for `c` not being 0.
Condition Lowering::condition(ir::Value c, ir::Inst root) {
  bool inverted = false;
  bool only_user = true;
  ir::Value v = resolve(c);
  const auto done = [&](Condition found) { return inverted ? found.inverted() : found; };
  // Each step goes to an operand; comparisons of comparisons are short in practice, but bounded.
  for (unsigned steps = 0; steps < 16; ++steps) {
    const ir::Inst inst = def_of(v);
    if (inst.is_none() || !can_fuse(inst, root)) break;
    const ir::Op op = func().op(inst);
    only_user = only_user && is_single_use(v);
    if (op == ir::Op::Uextend || op == ir::Op::Sextend) {
      v = resolve(func().arg_a(inst));
      continue;
    }
    if (op == ir::Op::Fcmp) {
      if (!is_comparable_float(type(func().arg_a(inst)))) break;
      return done(compare_floats(inst, root, only_user));
    }
    if (op == ir::Op::Band && type(v) != ir::I128 && test_bits(v, root, only_user)) {
      return done({Condition::Kind::One, Cc::Ne});
    }
    if (op == ir::Op::VanyTrue || op == ir::Op::VallTrue) {
      if (!fits_vector_register(type(func().arg_a(inst)))) break;
      return done({Condition::Kind::One, vector_test(inst)});
    }
    if (op != ir::Op::Icmp) break;
    // Is it a test of another condition?
    const ir::IntCC cc = func().int_cc(inst);
    const ir::Value x = resolve(func().arg_a(inst));
    if ((cc == ir::IntCC::Eq || cc == ir::IntCC::Ne) &&
        constant(func().arg_b(inst)) == std::uint64_t{0}) {
      const ir::Inst inner = def_of(x);
      if (inner.is_some() && can_fuse(inner, root) &&
          (func().op(inner) == ir::Op::Icmp || func().op(inner) == ir::Op::Fcmp ||
           func().op(inner) == ir::Op::VanyTrue || func().op(inner) == ir::Op::VallTrue ||
           func().op(inner) == ir::Op::Uextend)) {
        if (cc == ir::IntCC::Eq) inverted = !inverted;
        v = x;
        continue;
      }
    }
    return done(compare_ints(inst, root, only_user));
  }
  if (type(v) == ir::I128) return done(wide_condition(v));
  // What a narrow load extends is 0 exactly if the memory is.
  struct Form {
    ir::Op load;
    unsigned bytes;
  };
  const unsigned width = type(v).bytes();
  Address memory;
  for (const Form form :
       {Form{ir::Op::Load, width}, Form{ir::Op::Uload8, 1}, Form{ir::Op::Sload8, 1},
        Form{ir::Op::Uload16, 2}, Form{ir::Op::Sload16, 2}, Form{ir::Op::Uload32, 4},
        Form{ir::Op::Sload32, 4}}) {
    if (!only_user || !fold_load(v, form.load, root, memory)) continue;
    emit(mi(Op::CmpMI, form.bytes, 0), {}, memory);
    return done({Condition::Kind::One, Cc::Ne});
  }
  if (take_flags_of(v, root)) return done({Condition::Kind::One, Cc::Ne});
  const VReg value = low(v, width * 8);
  emit(mi(Op::TestRR, width), {codegen::use(value), codegen::use(value)});
  return done({Condition::Kind::One, Cc::Ne});
}

void Lowering::materialize(Condition condition, VReg d, bool zero_extend) {
  if (condition.kind == Condition::Kind::One) return setcc(condition.cc, d, zero_extend);
  const bool equal = condition.kind == Condition::Kind::Feq;
  const VReg zero = new_int();
  const VReg parity = new_int();
  setcc(equal ? Cc::E : Cc::Ne, zero, false);
  setcc(equal ? Cc::Np : Cc::P, parity, false);
  const VReg both = zero_extend ? new_int() : d;
  rr(equal ? Op::AndRR : Op::OrRR, 1, both, zero, parity);
  if (zero_extend) mov(Op::Movzx8RR, 4, d, both);
}

void Lowering::trap_on(Condition condition, image::TrapCode code) {
  switch (condition.kind) {
    case Condition::Kind::One: return trap_if(condition.cc, code);
    case Condition::Kind::Fne:
      trap_if(Cc::Ne, code);
      trap_if(Cc::P, code);
      return;
    case Condition::Kind::Feq: {
      const VReg equal = new_int();
      materialize(condition, equal, false);
      emit(mi(Op::TestRR, 1), {codegen::use(equal), codegen::use(equal)});
      trap_if(Cc::Ne, code);
      return;
    }
  }
}

void Lowering::lower_select(ir::Inst inst) {
  const VReg d = result(inst);
  const ir::Type t = type(func().result(inst));
  ir::Value x = resolve(func().arg_b(inst));
  ir::Value y = resolve(func().arg_c(inst));
  const bool is_float = class_of(t) == codegen::RegClass::Float;
  // Constants are loaded before the comparison, so that nothing but the consumer follows it.
  const unsigned bits = t.bits();
  VReg then = is_float ? reg(x) : low(x, bits);
  VReg otherwise = is_float ? reg(y) : low(y, bits);
  Condition c = condition(func().arg_a(inst), inst);
  if (c.kind == Condition::Kind::Feq) {
    c = c.inverted();
    std::swap(then, otherwise);
  }
  const auto choose = [&](Cc cc, VReg to, VReg if_not, VReg if_so) {
    if (!is_float) return cmov(cc, op_width(t), to, if_not, if_so);
    emit(mi(Pseudo::FSelect, t.bytes()),
         {codegen::def_same(to, 1), codegen::use(if_not), codegen::use(if_so)})
        .cc = static_cast<std::uint8_t>(cc);
  };
  if (c.kind == Condition::Kind::One) return choose(c.cc, d, otherwise, then);
  const VReg step = new_vreg_for(t);
  choose(Cc::Ne, step, otherwise, then);
  choose(Cc::P, d, step, then);
}

}  // namespace hoist::isa::x64
