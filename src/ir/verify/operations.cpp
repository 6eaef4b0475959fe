// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Types, flags and calls: what each operation allows.
#include "ir/text/printer.hpp"
#include "ir/verify/message.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {

using verify_detail::message;

namespace {

bool is_small_int(Type type) {
  return type.is_int() && type.bits() <= 64;
}
bool is_address(Type type) {
  return type == I32 || type == I64;
}

bool same_lanes(Type a, Type b) {
  return a.log2_lane_count() == b.log2_lane_count() && a.is_dynamic() == b.is_dynamic();
}

/// The operand that is an address, by number, or none.
constexpr unsigned kNoAddress = 99;
unsigned address_operand(Format format) {
  if (format == Format::Load) return 0;
  if (format == Format::Store) return 1;
  return kNoAddress;
}

}  // namespace

void Verifier::check_operation(Inst inst) {
  const Function& func = *func_;
  check_types(inst);
  check_flags(inst);
  const InstData& data = func.data(inst);
  switch (format(data.op)) {
    case Format::Call: {
      const ExtFunc& callee = func.ext_funcs[FuncRef(data.a)];
      const Signature& signature = func.signatures[callee.signature];
      check_call(inst, signature, func.arg_list(inst));
      if (!callee.patchable) break;
      if (!callee.colocated) report(inst, "patchable call to non-colocated function");
      if (!signature.returns.empty()) {
        report(inst, "patchable call cannot occur to a function with return values");
      }
      if (data.op == Op::ReturnCall) report(inst, "patchable functions cannot be tail-called");
      break;
    }
    case Format::CallIndirect: {
      const std::span<const Value> args = func.arg_list(inst);
      check_address(inst, args.front());
      check_call(inst, func.signatures[SigRef(data.a)], args.subspan(1));
      break;
    }
    case Format::UnaryGlobalValue: check_global_reference(inst); break;
    default:
      if (data.op == Op::Return) check_return(inst);
      break;
  }
}

// ---- Types.

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
    case Op::Debugtrap:
    case Op::Fence:
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
    case Op::GetReturnAddress: expect_control(inst, is_address(result)); break;

    case Op::Load:
    case Op::Store: break;
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
    case Op::F32const: expect_control(inst, result == F32); break;
    case Op::F64const: expect_control(inst, result == F64); break;

    case Op::Select:
    case Op::SelectSpectreGuard:
      expect(inst, 0, arg(0).is_int());
      expect_type(inst, 1, result);
      expect_type(inst, 2, result);
      break;
    case Op::Bitselect: all_are_result(3); break;

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

// ---- Memory.

void Verifier::check_address(Inst inst, Value v) {
  const Type type = func_->type(v);
  if (!is_address(type)) {
    report(inst, message("address ", v, " has type ", type, ", expected i32 or i64"));
  } else if (pointer_type_.is_valid() && type != pointer_type_) {
    report(inst, message("invalid pointer width (got ", type.bits(), ", expected ",
                         pointer_type_.bits(), ") encountered ", v));
  }
}

void Verifier::check_flags(Inst inst) {
  const Function& func = *func_;
  const InstData& data = func.data(inst);
  const Format form = format(data.op);
  if (const unsigned operand = address_operand(form); operand != kNoAddress) {
    check_address(inst, Value(operand == 0 ? data.a : data.b));
    const MemFlags& flags = func.mem_flags(inst);
    if (flags.region.is_some() && !func.alias_regions.contains(flags.region)) {
      report(inst, message("undefined alias region ", flags.region));
    }
    if (form == Format::Store && flags.readonly) {
      report(inst, "A store instruction cannot have the `readonly` MemFlag");
    }
  }
  if (data.op != Op::Bitcast) return;
  MemFlags only_order;
  only_order.endian = func.mem_flags(inst).endian;
  if (!(func.mem_flags(inst) == only_order)) {
    report(inst, "The bitcast instruction only accepts the `big` or `little` memory flags");
  }
  const Type from = func.type(Value(data.a));
  const Type to = func.type(func.result(inst));
  if (from.bits() != to.bits()) {
    report(inst, message("The bitcast argument ", Value(data.a), " has a type of ", from.bits(),
                         " bits, which doesn't match an expected type of ", to.bits(), " bits"));
  } else if (!same_lanes(from, to) && from.is_vector() && to.is_vector() &&
             only_order.endian == 0) {
    report(inst, "Byte order specifier required for bitcast instruction changing lane count");
  }
}

void Verifier::check_global_reference(Inst inst) {
  const GlobalValue global(func_->data(inst).a);
  const Type have = func_->type(func_->result(inst));
  const Type want = global_type(global);
  if (func_->op(inst) == Op::SymbolValue &&
      func_->global_values[global].kind != GlobalValueData::Kind::Symbol) {
    report(inst, message(global, " is not a symbol"));
  }
  if (want.is_valid() && have != want) {
    report(inst, message("global_value instruction with type ", have,
                         " references global value with type ", want));
  }
}

// ---- Calls.

void Verifier::check_call(Inst inst, const Signature& signature, std::span<const Value> args) {
  const Function& func = *func_;
  if (args.size() != signature.params.size()) {
    base::Printer text;
    print_operation(text, func, inst);
    report(inst, message("mismatched argument count for `", text.view(), "`: got ", args.size(),
                         ", expected ", signature.params.size()));
    return;
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Type expected = signature.params[i].type;
    if (func.type(args[i]) == expected) continue;
    report(inst, message("arg ", i, " (", args[i], ") has type ", func.type(args[i]), ", expected ",
                         expected));
  }
  if (is_terminator(func.op(inst))) {
    check_tail_call(inst, signature);
    return;
  }
  const std::span<const Value> results = func.results(inst);
  if (results.size() != signature.returns.size()) {
    report(inst, message("mismatched result count: got ", results.size(), ", expected ",
                         signature.returns.size()));
    return;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Type expected = signature.returns[i].type;
    if (func.type(results[i]) == expected) continue;
    report(inst, message("result ", i, " has type ", func.type(results[i]),
                         ", must match callee signature of ", expected));
  }
}

void Verifier::check_return(Inst inst) {
  const Function& func = *func_;
  const std::span<const Value> values = func.arg_list(inst);
  const std::vector<AbiParam>& returns = func.signature.returns;
  if (values.size() != returns.size()) {
    report(inst, "arguments of return must match function signature");
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (func.type(values[i]) == returns[i].type) continue;
    report(inst, message("result ", i, " has type ", func.type(values[i]),
                         ", must match function signature of ", returns[i].type));
  }
}

void Verifier::check_tail_call(Inst inst, const Signature& signature) {
  const Function& func = *func_;
  if (signature.call_conv != CallConv::Tail) {
    report(inst, message("calling convention `", text(signature.call_conv),
                         "` does not support tail calls"));
  }
  if (signature.call_conv != func.signature.call_conv) {
    report(inst, "callee's calling convention must match caller");
  }
  const std::vector<AbiParam>& returns = func.signature.returns;
  if (signature.returns.size() != returns.size()) {
    report(inst, "results of callee must match caller");
    return;
  }
  for (std::size_t i = 0; i < returns.size(); ++i) {
    if (signature.returns[i].type == returns[i].type) continue;
    report(inst, message("result ", i, " has type ", signature.returns[i].type,
                         ", must match function signature of ", returns[i].type));
  }
}

}  // namespace hoist::ir
