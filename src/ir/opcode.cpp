// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The facts of each operation, expanded from ops.def, and the algebra of the condition codes.
#include "ir/opcode.hpp"

#include "base/check.hpp"

namespace hoist::ir {

namespace {
// The names that the effects column of ops.def uses.
using effect::Branch;
using effect::Call;
using effect::Idem;
using effect::Load;
using effect::Pure;
using effect::Side;
using effect::Store;
using effect::Term;
using effect::Trap;

constexpr std::string_view kIntConditions[] = {"eq",  "ne",  "slt", "sge", "sgt",
                                               "sle", "ult", "uge", "ugt", "ule"};
constexpr std::string_view kAtomicOps[] = {"add",  "sub",  "and",  "nand", "or",  "xor",
                                           "xchg", "umin", "umax", "smin", "smax"};
constexpr std::string_view kFloatConditions[] = {"ord", "uno", "eq", "ne",  "one", "ueq", "lt",
                                                 "le",  "gt",  "ge", "ult", "ule", "ugt", "uge"};
}  // namespace

constexpr OpInfo kOpInfos[kOpCount] = {
#define HOIST_IR_OP(name, text, format, control, result, effects, meaning) \
  {#name,                                                                  \
   text,                                                                   \
   meaning,                                                                \
   Format::format,                                                         \
   Control::control,                                                       \
   ResultRule::result,                                                     \
   static_cast<std::uint16_t>(effects)},
#include "ir/ops.def"
};

unsigned result_count(ResultRule rule) {
  if (rule == ResultRule::None || rule == ResultRule::Sig) return 0;
  return rule == ResultRule::PairI8 || rule == ResultRule::HalfPair ? 2 : 1;
}

/// A vector (or scalar) of integers with `bits` per lane, or invalid.
static Type int_lanes(unsigned bits, unsigned log2_lanes, bool dynamic) {
  const Type lane = Type::int_of_bits(bits);
  if (!lane.is_valid() || log2_lanes > 8) return Type();
  return Type(lane.lane(), log2_lanes, dynamic);
}

Type result_type(Op op, Type control, unsigned number) {
  const unsigned log2 = control.log2_lane_count();
  switch (info(op).result) {
    case ResultRule::None:
    case ResultRule::Sig: return Type();
    case ResultRule::T:
    case ResultRule::Addr:
    case ResultRule::Suffix: return control;
    case ResultRule::PairI8: return number == 0 ? control : I8;
    case ResultRule::Byte: return I8;
    case ResultRule::I8:
      return control.is_scalar() ? I8 : int_lanes(control.lane_bits(), log2, control.is_dynamic());
    case ResultRule::HalfPair: return int_lanes(control.lane_bits() / 2, log2, false);
    case ResultRule::Double: return int_lanes(control.lane_bits() * 2, log2, false);
    case ResultRule::Lane: return control.lane_type();
    case ResultRule::Narrow:
      return int_lanes(control.lane_bits() / 2, log2 + 1, control.is_dynamic());
    case ResultRule::Wide:
      if (log2 == 0) return Type();
      return int_lanes(control.lane_bits() * 2, log2 - 1, control.is_dynamic());
    case ResultRule::Fixed: return control.fixed_part();
    case ResultRule::I64: return I64;
    case ResultRule::F16: return F16;
    case ResultRule::F32: return F32;
    case ResultRule::F64: return F64;
    case ResultRule::F128: return F128;
    case ResultRule::I8x16: return I8x16;
    case ResultRule::I16x8: return I16x8;
    case ResultRule::I32x4: return I32x4;
    case ResultRule::I64x2: return I64x2;
    case ResultRule::F32x4: return F32x4;
    case ResultRule::F64x2: return F64x2;
  }
  HOIST_UNREACHABLE("result rule");
}

std::string_view text(AtomicOp op) {
  return kAtomicOps[static_cast<unsigned>(op)];
}
std::string_view text(IntCC cc) {
  return kIntConditions[static_cast<unsigned>(cc)];
}
std::string_view text(FloatCC cc) {
  return kFloatConditions[static_cast<unsigned>(cc)];
}

IntCC inverse(IntCC cc) {
  switch (cc) {
    case IntCC::Eq: return IntCC::Ne;
    case IntCC::Ne: return IntCC::Eq;
    case IntCC::Slt: return IntCC::Sge;
    case IntCC::Sge: return IntCC::Slt;
    case IntCC::Sgt: return IntCC::Sle;
    case IntCC::Sle: return IntCC::Sgt;
    case IntCC::Ult: return IntCC::Uge;
    case IntCC::Uge: return IntCC::Ult;
    case IntCC::Ugt: return IntCC::Ule;
    case IntCC::Ule: return IntCC::Ugt;
  }
  HOIST_UNREACHABLE("integer condition");
}

FloatCC inverse(FloatCC cc) {
  switch (cc) {
    case FloatCC::Ord: return FloatCC::Uno;
    case FloatCC::Uno: return FloatCC::Ord;
    case FloatCC::Eq: return FloatCC::Ne;
    case FloatCC::Ne: return FloatCC::Eq;
    case FloatCC::One: return FloatCC::Ueq;
    case FloatCC::Ueq: return FloatCC::One;
    case FloatCC::Lt: return FloatCC::Uge;
    case FloatCC::Le: return FloatCC::Ugt;
    case FloatCC::Gt: return FloatCC::Ule;
    case FloatCC::Ge: return FloatCC::Ult;
    case FloatCC::Ult: return FloatCC::Ge;
    case FloatCC::Ule: return FloatCC::Gt;
    case FloatCC::Ugt: return FloatCC::Le;
    case FloatCC::Uge: return FloatCC::Lt;
  }
  HOIST_UNREACHABLE("float condition");
}

IntCC swapped(IntCC cc) {
  switch (cc) {
    case IntCC::Eq:
    case IntCC::Ne: return cc;
    case IntCC::Slt: return IntCC::Sgt;
    case IntCC::Sge: return IntCC::Sle;
    case IntCC::Sgt: return IntCC::Slt;
    case IntCC::Sle: return IntCC::Sge;
    case IntCC::Ult: return IntCC::Ugt;
    case IntCC::Uge: return IntCC::Ule;
    case IntCC::Ugt: return IntCC::Ult;
    case IntCC::Ule: return IntCC::Uge;
  }
  HOIST_UNREACHABLE("integer condition");
}

FloatCC swapped(FloatCC cc) {
  switch (cc) {
    case FloatCC::Ord:
    case FloatCC::Uno:
    case FloatCC::Eq:
    case FloatCC::Ne:
    case FloatCC::One:
    case FloatCC::Ueq: return cc;
    case FloatCC::Lt: return FloatCC::Gt;
    case FloatCC::Le: return FloatCC::Ge;
    case FloatCC::Gt: return FloatCC::Lt;
    case FloatCC::Ge: return FloatCC::Le;
    case FloatCC::Ult: return FloatCC::Ugt;
    case FloatCC::Ule: return FloatCC::Uge;
    case FloatCC::Ugt: return FloatCC::Ult;
    case FloatCC::Uge: return FloatCC::Ule;
  }
  HOIST_UNREACHABLE("float condition");
}

base::Printer& operator<<(base::Printer& out, Type type) {
  constexpr std::string_view kLanes[] = {"invalid", "i8",  "i16", "i32", "i64",
                                         "i128",    "f16", "f32", "f64", "f128"};
  if (!type.is_valid()) return out << "invalid";
  out << kLanes[static_cast<unsigned>(type.lane())];
  if (type.log2_lane_count() != 0) out << 'x' << type.lane_count();
  if (type.is_dynamic()) out << "xN";
  return out;
}

}  // namespace hoist::ir
