// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Types, flags and calls: what each operation allows.
#include "ir/text/printer.hpp"
#include "ir/verify/message.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {

using verify_detail::is_address;
using verify_detail::message;
using verify_detail::same_lanes;

namespace {

/// The operand that is an address, by number, or none.
constexpr unsigned kNoAddress = 99;
unsigned address_operand(Format format) {
  switch (format) {
    case Format::Load:
    case Format::AtomicRmw:
    case Format::AtomicCas: return 0;
    case Format::Store:
    case Format::StoreNoOffset: return 1;
    default: return kNoAddress;  // atomic_load shares its format with bitcast
  }
}

}  // namespace

void Verifier::check_operation(Inst inst) {
  const Function& func = *func_;
  check_types(inst);
  check_flags(inst);
  check_extras(inst);
  const InstData& data = func.data(inst);
  switch (format(data.op)) {
    case Format::Call: {
      const ExtFunc& callee = func.ext_funcs[FuncRef(data.a)];
      const Signature& signature = func.signatures[callee.signature];
      check_call(inst, signature, func.arg_list(inst));
      check_patchable(inst, FuncRef(data.a));
      break;
    }
    case Format::CallIndirect: {
      const std::span<const Value> args = func.arg_list(inst);
      check_address(inst, args.front());
      check_call(inst, func.signatures[SigRef(data.a)], args.subspan(1));
      break;
    }
    case Format::TryCall: {
      const FuncRef callee(data.a);
      check_patchable(inst, callee);
      const SigRef declared = func.ext_funcs[callee].signature;
      const SigRef sig = func.call_signature(inst);
      if (declared != sig && func.signatures[declared] != func.signatures[sig]) {
        report(inst, message("exception table signature ", sig, " did not match function ", callee,
                             "'s signature ", declared));
      }
      check_try_call(inst);
      break;
    }
    case Format::TryCallIndirect:
      check_address(inst, func.arg_list(inst).front());
      check_try_call(inst);
      break;
    case Format::ExceptionHandlerAddress: check_handler_address(inst); break;
    case Format::FuncAddr:
      if (func.ext_funcs[FuncRef(data.a)].patchable) {
        report(inst,
               message("patchable function ", FuncRef(data.a), " can only be called directly"));
      }
      break;
    case Format::UnaryGlobalValue: check_global_reference(inst); break;
    default:
      if (data.op == Op::Return) check_return(inst);
      break;
  }
}

void Verifier::check_patchable(Inst inst, FuncRef callee) {
  const ExtFunc& ext = func_->ext_funcs[callee];
  if (!ext.patchable) return;
  if (!ext.colocated) report(inst, "patchable call to non-colocated function");
  if (!func_->signatures[ext.signature].returns.empty()) {
    report(inst, "patchable call cannot occur to a function with return values");
  }
  if (func_->op(inst) == Op::ReturnCall) {
    report(inst, "patchable functions cannot be tail-called");
  }
}

/// V14: debug tags and stack maps.
void Verifier::check_extras(Inst inst) {
  const Function& func = *func_;
  const Op op = func.op(inst);
  const std::span<const DebugTag> tags = func.debug_tags(inst);
  if (!tags.empty() && !may_have_debug_tags(op)) {
    report(inst, "debug tags present on non-call, non-sequence point instruction");
  }
  for (const DebugTag tag : tags) {
    if (tag.kind == DebugTag::Kind::User || func.stack_slots.contains(StackSlot(tag.value)))
      continue;
    report(inst, message("debug tag names the undeclared stack slot ", StackSlot(tag.value)));
  }
  const std::span<const StackMapEntry> map = func.stack_map(inst);
  if (!map.empty() && (!is_call(op) || (is_terminator(op) && !is_try(op)))) {
    report(inst, "only calls that come back have a stack map");
  }
  for (const StackMapEntry& entry : map) {
    if (!func.stack_slots.contains(entry.slot)) {
      report(inst, message("stack map names the undeclared stack slot ", entry.slot));
    } else if (const std::uint32_t bytes = func.stack_slots[entry.slot].bytes;
               entry.type.bytes() > bytes || entry.offset > bytes - entry.type.bytes()) {
      report(inst, message("stack map entry ", entry.type, " @ ", entry.slot, '+', entry.offset,
                           " lies outside of the slot's ", bytes, " bytes"));
    }
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
  const unsigned operand = data.op == Op::AtomicLoad ? 0 : address_operand(form);
  if (operand != kNoAddress) {
    check_address(inst, Value(operand == 0 ? data.a : data.b));
    const MemFlags& flags = func.mem_flags(inst);
    if (flags.region.is_some() && !func.alias_regions.contains(flags.region)) {
      report(inst, message("undefined alias region ", flags.region));
    }
    if (has_effect(data.op, effect::Store) && flags.readonly) {
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
  if (is_try(func.op(inst))) return;  // its results are those of the edge
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

void Verifier::check_try_call(Inst inst) {
  const Function& func = *func_;
  const Signature& signature = func.signatures[func.call_signature(inst)];
  if (!supports_exceptions(signature.call_conv)) {
    report(inst, message("calling convention `", text(signature.call_conv),
                         "` of callee does not support exceptions"));
  }
  check_call(inst, signature, func.call_operands(inst));
}

void Verifier::check_handler_address(Inst inst) {
  const Function& func = *func_;
  const Block block(func.data(inst).a);
  const auto number = static_cast<std::int32_t>(func.data(inst).b);
  const Inst last = func.last_inst(block);
  if (last.is_none() || !is_try(func.op(last))) {
    report(inst, message("referenced block ", block, " does not end in a try_call"));
    return;
  }
  if (number < 0) {
    report(inst, message("exception handler index ", number, " cannot be negative"));
    return;
  }
  std::int32_t count = 0;
  for (const ExceptionItem& item : func.exception_items(last)) {
    count += item.kind == ExceptionItem::Kind::Context ? 0 : 1;
  }
  if (number >= count) {
    report(inst, message("exception handler index ", number, " is out-of-range"));
  }
}

/// V15: is the `retN` or `exnN`, an argument of a target, in its place?
void Verifier::check_try_value(Inst inst, Value v, bool is_normal) {
  const Function& func = *func_;
  const ValueData& data = func.value(v);
  const bool is_return = data.kind == ValueKind::TryReturn;
  const bool belongs = data.source == inst.index() && is_try(func.op(inst));
  if (!belongs || is_return != is_normal) {
    report(inst, message(is_return ? "`retN`" : "`exnN`",
                         " block argument used outside normal-return target of `try_call`"));
    return;
  }
  const Signature& signature = func.signatures[func.call_signature(inst)];
  const std::size_t count =
      is_return ? signature.returns.size() : exception_payload_words(signature.call_conv);
  // A convention without exceptions has its own message.
  if (data.number >= count && (is_return || supports_exceptions(signature.call_conv))) {
    report(inst, message("out-of-bounds ", is_return ? "`retN`" : "`exnN`", " block argument"));
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
