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
