// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// V9: operand and result types, lane numbers and the size of constants, by operation.
#include "ir/verify/message.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {

using verify_detail::is_address;
using verify_detail::message;
using verify_detail::same_lanes;

static bool is_small_int(Type type) {
  return type.is_int() && type.bits() <= 64;
}

void Verifier::expect_type(Inst inst, unsigned number, Type expected) {
  const InstData& data = func_->data(inst);
  const Value v(number == 0 ? data.a : number == 1 ? data.b : data.c);
  if (func_->type(v) == expected) return;
  report(inst,
         message("arg ", number, " (", v, ") has type ", func_->type(v), ", expected ", expected));
}

void Verifier::expect(Inst inst, unsigned number, bool holds) {
  if (holds) return;
  const InstData& data = func_->data(inst);
  const Value v(number == 0 ? data.a : number == 1 ? data.b : data.c);
  report(inst, message("arg ", number, " (", v, ") with type ", func_->type(v),
                       " failed to satisfy type set of ", info(data.op).text));
}

void Verifier::expect_control(Inst inst, bool holds) {
  if (holds) return;
  const Type type = func_->type(func_->result(inst));
  report(inst, message("has an invalid controlling type ", type));
}

/// The results have the types that the table derives from the first operand.
void Verifier::expect_derived(Inst inst) {
  const Type control = func_->type(func_->arg_a(inst));
  const std::span<const Value> results = func_->results(inst);
  for (unsigned i = 0; i < results.size(); ++i) {
    const Type want = result_type(func_->op(inst), control, i);
    if (want == func_->type(results[i])) continue;
    report(inst, message("result ", i, " has type ", func_->type(results[i]), ", expected ", want));
  }
}

void Verifier::check_lane(Inst inst, Type vector) {
  if (!vector.is_vector() || func_->lane(inst) < vector.lane_count()) return;
  report(inst, message("The lane ", static_cast<unsigned>(func_->lane(inst)),
                       " does not index into the type ", vector));
}

void Verifier::check_types(Inst inst) {
  const Function& func = *func_;
  const InstData& data = func.data(inst);
  const auto arg = [&](unsigned number) {
    return func.type(Value(number == 0 ? data.a : number == 1 ? data.b : data.c));
  };
  const Type result = func.result_count(inst) == 0 ? Type() : func.type(func.result(inst));
  const auto all_are_result = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i) expect_type(inst, i, result);
  };
  switch (data.op) {
    // Nothing typed, or checked with the signature or the blocks.
    case Op::Jump:
    case Op::Trap:
    case Op::Return:
    case Op::Call:
    case Op::CallIndirect:
    case Op::ReturnCall:
    case Op::ReturnCallIndirect:
    case Op::GlobalValue:
    case Op::TryCall:
    case Op::TryCallIndirect:
    case Op::Debugtrap:
    case Op::Fence:
    case Op::SequencePoint:
    case Op::Nop: break;

    case Op::Brif:
    case Op::Trapz:
    case Op::Trapnz: expect(inst, 0, arg(0).is_int()); break;
    case Op::BrTable: expect_type(inst, 0, I32); break;

    case Op::FuncAddr:
    case Op::SymbolValue:
    case Op::StackAddr:
    case Op::GetFramePointer:
    case Op::GetStackPointer:
    case Op::GetReturnAddress:
    case Op::TlsValue:
    case Op::DynamicStackAddr:
    case Op::GetPinnedReg:
    case Op::GetExceptionHandlerAddress: expect_control(inst, is_address(result)); break;

    case Op::SetPinnedReg: expect(inst, 0, is_address(arg(0))); break;
    case Op::StackSwitch:
      expect_control(inst, is_address(result));
      all_are_result(3);
      break;

    case Op::Load:
    case Op::Store: break;
    case Op::Uload8x8:
    case Op::Sload8x8:
    case Op::Uload16x4:
    case Op::Sload16x4:
    case Op::Uload32x2:
    case Op::Sload32x2: expect_control(inst, result == result_type(data.op, result)); break;
    case Op::AtomicRmw:
      expect_control(inst, result.is_int());
      expect_type(inst, 1, result);
      break;
    case Op::AtomicCas:
      expect_control(inst, result.is_int());
      expect_type(inst, 1, result);
      expect_type(inst, 2, result);
      break;
    case Op::AtomicLoad: expect_control(inst, result.is_int()); break;
    case Op::AtomicStore: expect(inst, 0, arg(0).is_int()); break;
    case Op::Uload8:
    case Op::Sload8: expect_control(inst, is_small_int(result) && result.bits() >= 16); break;
    case Op::Uload16:
    case Op::Sload16: expect_control(inst, is_address(result)); break;
    case Op::Uload32:
    case Op::Sload32: expect_control(inst, result == I64); break;
    case Op::Istore8: expect(inst, 0, is_small_int(arg(0)) && arg(0).bits() >= 16); break;
    case Op::Istore16: expect(inst, 0, is_address(arg(0))); break;
    case Op::Istore32: expect(inst, 0, arg(0) == I64); break;

    case Op::Iconst:
      expect_control(inst, is_small_int(result));
      if (is_small_int(result) && result.bits() < 64 && data.imm64() >> result.bits() != 0) {
        report(inst, "constant immediate is out of bounds");
      }
      break;
    case Op::F16const: expect_control(inst, result == F16); break;
    case Op::F128const: expect_control(inst, result == F128); break;
    case Op::Vconst: {
      expect_control(inst, result.is_vector());
      const std::size_t bytes = func.constants[Constant(data.a)].size();
      if (result.is_vector() && bytes != result.bytes()) {
        report(inst, message("The instruction expects ", Constant(data.a), " to have a size of ",
                             result.bytes(), " bytes but it has ", bytes));
      }
      break;
    }
    case Op::F32const: expect_control(inst, result == F32); break;
    case Op::F64const: expect_control(inst, result == F64); break;

    case Op::Select:
    case Op::SelectSpectreGuard:
      expect(inst, 0, arg(0).is_int());
      expect_type(inst, 1, result);
      expect_type(inst, 2, result);
      break;
    case Op::Bitselect:
    case Op::Blendv: all_are_result(3); break;

    case Op::Iadd:
    case Op::Isub:
    case Op::Imul:
    case Op::Umulhi:
    case Op::Smulhi:
    case Op::Smin:
    case Op::Smax:
    case Op::Umin:
    case Op::Umax:
    case Op::Udiv:
    case Op::Sdiv:
    case Op::Urem:
    case Op::Srem:
      expect_control(inst, result.lane_is_int());
      all_are_result(2);
      break;
    case Op::UaddOverflow:
    case Op::SaddOverflow:
    case Op::UsubOverflow:
    case Op::SsubOverflow:
    case Op::UmulOverflow:
    case Op::SmulOverflow:
      expect_control(inst, result.is_int());
      all_are_result(2);
      if (func.result_count(inst) == 2 && func.type(func.results(inst)[1]) != I8) {
        report(inst, "the overflow flag is an i8");
      }
      break;
    case Op::UaddOverflowCin:
    case Op::SaddOverflowCin:
    case Op::UsubOverflowBin:
    case Op::SsubOverflowBin:
      expect_control(inst, result.is_int());
      all_are_result(2);
      expect_type(inst, 2, I8);
      if (func.result_count(inst) == 2 && func.type(func.results(inst)[1]) != I8) {
        report(inst, "the overflow flag is an i8");
      }
      break;
    case Op::Iconcat:
      expect(inst, 0, arg(0).is_int() && arg(0).bits() <= 64);
      expect_type(inst, 1, arg(0));
      expect_derived(inst);
      break;
    case Op::Isplit:
      expect(inst, 0, arg(0).is_int() && arg(0).bits() >= 16);
      expect_derived(inst);
      break;
    case Op::UaddOverflowTrap:
      expect_control(inst, is_address(result));
      all_are_result(2);
      break;
    case Op::Ineg:
    case Op::Iabs:
    case Op::Bitrev:
    case Op::Clz:
    case Op::Cls:
    case Op::Ctz:
    case Op::Popcnt:
      expect_control(inst, result.lane_is_int());
      all_are_result(1);
      break;
    case Op::Bswap:
      expect_control(inst, result.is_int() && result.bits() >= 16);
      all_are_result(1);
      break;

    case Op::Band:
    case Op::Bor:
    case Op::Bxor: all_are_result(2); break;
    case Op::Bnot: all_are_result(1); break;
    case Op::Rotl:
    case Op::Rotr:
    case Op::Ishl:
    case Op::Ushr:
    case Op::Sshr:
      expect_control(inst, result.lane_is_int());
      expect_type(inst, 0, result);
      expect(inst, 1, arg(1).is_int());
      break;

    case Op::Icmp:
    case Op::Fcmp: {
      expect(inst, 0, data.op == Op::Icmp ? arg(0).lane_is_int() : arg(0).lane_is_float());
      expect_type(inst, 1, arg(0));
      const Type flag =
          arg(0).is_scalar() ? I8 : arg(0).with_lane(Type::int_of_bits(arg(0).lane_bits()).lane());
      if (result != flag) report(inst, message("has type ", result, ", expected ", flag));
      break;
    }

    case Op::Uextend:
    case Op::Sextend:
      expect_control(inst, result.is_int());
      expect(inst, 0, arg(0).is_int() && arg(0).bits() < result.bits());
      break;
    case Op::Ireduce:
      expect_control(inst, result.is_int());
      expect(inst, 0, arg(0).is_int() && arg(0).bits() > result.bits());
      break;
    case Op::ScalarToVector:
      expect_control(inst, result.is_vector());
      expect_type(inst, 0, result.lane_type());
      break;
    case Op::Splat:
      expect_control(inst, result.is_vector() || result.is_dynamic());
      expect_type(inst, 0, result.lane_type());
      break;
    case Op::VanyTrue:
    case Op::VallTrue:
      expect(inst, 0, arg(0).is_vector());
      expect_derived(inst);
      break;
    case Op::VhighBits:
      expect_control(inst, is_small_int(result));
      expect(inst, 0, arg(0).is_vector());
      break;
    case Op::Fvdemote: expect_type(inst, 0, F64x2); break;
    case Op::FvpromoteLow: expect_type(inst, 0, F32x4); break;
    case Op::X86Cvtt2dq:
      expect_control(inst, result.lane_is_int());
      // Of doubles also to the low half of narrower lanes.
      expect(inst, 0,
             (arg(0).lane_is_float() && same_lanes(arg(0), result)) ||
                 (arg(0) == F64x2 && result == I32x4));
      break;

    case Op::Swizzle:
    case Op::X86Pshufb:
    case Op::X86Pmaddubsw:
      expect_type(inst, 0, I8x16);
      expect_type(inst, 1, I8x16);
      expect_derived(inst);
      break;
    case Op::Shuffle: {
      all_are_result(2);
      expect_control(inst, result == I8x16);
      for (const std::uint8_t number : func.shuffle_mask(inst)) {
        if (number < 32) continue;
        report(inst, message("shuffle immediate index ", static_cast<unsigned>(number),
                             " is larger than the maximum 31"));
        break;
      }
      break;
    }
    case Op::Insertlane:
      expect_control(inst, result.is_vector());
      expect_type(inst, 0, result);
      expect_type(inst, 1, result.lane_type());
      check_lane(inst, arg(0));
      break;
    case Op::Extractlane:
      expect(inst, 0, arg(0).is_vector());
      expect_derived(inst);
      check_lane(inst, arg(0));
      break;
    case Op::ExtractVector:
      expect(inst, 0, arg(0).is_dynamic());
      expect_derived(inst);
      break;
    case Op::AvgRound:
    case Op::UaddSat:
    case Op::SaddSat:
    case Op::UsubSat:
    case Op::SsubSat:
    case Op::SqmulRoundSat:
    case Op::X86Pmulhrsw:
    case Op::IaddPairwise:
      expect_control(inst, result.lane_is_int() && !result.is_scalar());
      all_are_result(2);
      break;
    case Op::Snarrow:
    case Op::Unarrow:
    case Op::Uunarrow:
      expect(inst, 0, !arg(0).is_scalar() && arg(0).lane_is_int() && arg(0).lane_bits() >= 16);
      expect_type(inst, 1, arg(0));
      expect_derived(inst);
      break;
    case Op::SwidenLow:
    case Op::SwidenHigh:
    case Op::UwidenLow:
    case Op::UwidenHigh:
      expect(inst, 0, !arg(0).is_scalar() && arg(0).lane_is_int() && arg(0).lane_bits() <= 64);
      expect_derived(inst);
      break;

    case Op::Bmask:
      expect_control(inst, result.lane_is_int());
      expect(inst, 0, arg(0).lane_is_int() && same_lanes(arg(0), result));
      break;
    case Op::Bitcast: break;  // check_flags
    case Op::Fpromote:
      expect_control(inst, result.is_float());
      expect(inst, 0, arg(0).is_float() && arg(0).bits() < result.bits());
      break;
    case Op::Fdemote:
      expect_control(inst, result.is_float());
      expect(inst, 0, arg(0).is_float() && arg(0).bits() > result.bits());
      break;
    case Op::FcvtToUint:
    case Op::FcvtToSint:
      expect_control(inst, result.is_int());
      expect(inst, 0, arg(0).is_float());
      break;
    case Op::FcvtToUintSat:
    case Op::FcvtToSintSat:
      expect_control(inst, result.lane_is_int());
      expect(inst, 0, arg(0).lane_is_float() && same_lanes(arg(0), result));
      break;
    case Op::FcvtFromUint:
    case Op::FcvtFromSint:
      expect_control(inst, result.lane_is_float());
      expect(inst, 0, arg(0).lane_is_int() && same_lanes(arg(0), result));
      break;

    case Op::Fadd:
    case Op::Fsub:
    case Op::Fmul:
    case Op::Fdiv:
    case Op::Fcopysign:
    case Op::Fmin:
    case Op::Fmax:
      expect_control(inst, result.lane_is_float());
      all_are_result(2);
      break;
    case Op::Sqrt:
    case Op::Fneg:
    case Op::Fabs:
    case Op::Ceil:
    case Op::Floor:
    case Op::Trunc:
    case Op::Nearest:
      expect_control(inst, result.lane_is_float());
      all_are_result(1);
      break;
    case Op::Fma:
      expect_control(inst, result.lane_is_float());
      all_are_result(3);
      break;
  }
}

}  // namespace hoist::ir
