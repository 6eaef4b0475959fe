// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Preamble, layout, values and dominance.
#include "ir/verify/verifier.hpp"

#include <algorithm>

#include "ir/text/printer.hpp"
#include "ir/verify/message.hpp"

namespace hoist::ir {

using verify_detail::message;

Result<void> verify(const Function& func) {
  Verifier verifier;
  const std::span<const VerifierError> errors = verifier.run(func);
  if (errors.empty()) return {};
  const VerifierError& error = errors.front();
  std::string text = message(error.where, ": ", error.message);
  if (error.where.kind == EntityKind::Inst && verifier.is_printable()) {
    text += message(" in `", to_string(func, Inst(error.where.index)), "`");
  }
  return Error(ErrorKind::Invalid, std::move(text));
}

void Verifier::report(EntityRef where, std::string text) {
  errors_.push_back({where, std::move(text)});
}

std::span<const VerifierError> Verifier::run(const Function& func) {
  func_ = &func;
  errors_.clear();
  check_limits();
  check_preamble();
  is_printable_ = check_aliases() && check_layout();
  if (!is_printable_) return errors_;
  flow_.compute(func);
  dominators_.compute(func, flow_);
  check_entry();
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    check_block(block);
  }
  return errors_;
}

// ---- Preamble.

/// V13; what one instruction or block has is checked with it.
void Verifier::check_limits() {
  const Function& func = *func_;
  if (func.value_count() > kMaxValues) {
    report({}, message("implementation limit exceeded: ", func.value_count(), " values, at most ",
                       kMaxValues));
  }
  if (func.block_count() > kMaxBlocks) {
    report({}, message("implementation limit exceeded: ", func.block_count(), " blocks, at most ",
                       kMaxBlocks));
  }
}

void Verifier::check_signature(const Signature& signature, EntityRef where) {
  const auto check = [&](const std::vector<AbiParam>& params, std::string_view what) {
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].extension == ArgExtension::None || params[i].type.is_int()) continue;
      const bool sext = params[i].extension == ArgExtension::Sext;
      report(where,
             message(what, " at position ", i, " has invalid extension ", sext ? "Sext" : "Uext"));
    }
  };
  if (signature.params.size() > kMaxArgs || signature.returns.size() > kMaxArgs) {
    report(where, message("implementation limit exceeded: a signature has at most ", kMaxArgs,
                          " parameters and results"));
  }
  check(signature.params, "Parameter");
  check(signature.returns, "Return value");
  if (signature.call_conv == CallConv::PreserveAll && !signature.returns.empty()) {
    report(where, "Signature with `preserve_all` ABI cannot have return values");
  }
}

void Verifier::check_preamble() {
  const Function& func = *func_;
  check_signature(func.signature, {});
  for (std::size_t i = 0; i < func.signatures.size(); ++i) {
    check_signature(func.signatures[SigRef(i)], SigRef(i));
  }
  for (std::size_t i = 0; i < func.alias_regions.size(); ++i) {
    const std::uint32_t id = func.alias_regions[AliasRegion(i)].user_id;
    for (std::size_t other = 0; other < i; ++other) {
      if (func.alias_regions[AliasRegion(other)].user_id != id) continue;
      report(AliasRegion(i), message("duplicate alias region user_id ", id));
      break;
    }
  }
  using Kind = GlobalValueData::Kind;
  for (std::size_t i = 0; i < func.dynamic_types.size(); ++i) {
    const GlobalValue scale = func.dynamic_types[DynamicType(i)].scale;
    if (scale.is_none()) continue;  // a number that the text left out
    if (!func.global_values.contains(scale) || func.global_values[scale].kind != Kind::DynScale) {
      report(DynamicType(i), message("scale ", scale, " is not a dyn_scale_target_const"));
    }
  }
  for (std::size_t i = 0; i < func.dynamic_stack_slots.size(); ++i) {
    const DynamicType type = func.dynamic_stack_slots[DynamicStackSlot(i)].type;
    if (type.is_none()) continue;
    if (!func.dynamic_types.contains(type) || func.dynamic_types[type].scale.is_none()) {
      report(DynamicStackSlot(i), message("undeclared type ", type));
    }
  }
  bool cycle_seen = false;
  for (std::size_t i = 0; i < func.global_values.size(); ++i) {
    check_global_value(GlobalValue(i), cycle_seen);
  }
  if (func.stack_limit.is_some() && !func.global_values.contains(func.stack_limit)) {
    report(EntityRef(), message("the stack limit ", func.stack_limit, " is not declared"));
  }
}

void Verifier::check_global_value(GlobalValue global, bool& cycle_seen) {
  using Kind = GlobalValueData::Kind;
  const Function& func = *func_;
  const GlobalValueData& data = func.global_values[global];
  if (data.kind == Kind::VmContext &&
      std::ranges::none_of(func.signature.params, [](const AbiParam& param) {
        return param.purpose == ArgPurpose::VmCtx;
      })) {
    report(global, message("undeclared vmctx reference ", global));
  }
  if ((data.kind != Kind::Load && data.kind != Kind::IaddImm) || data.base.is_none()) return;
  if (!func.global_values.contains(data.base)) {
    report(global, message("undeclared base ", data.base));
    return;
  }
  if (cycle_seen) return;
  base::Printer path;
  path << global;
  GlobalValue at = data.base;
  for (std::size_t steps = 0; at.is_some() && func.global_values.contains(at); ++steps) {
    if (at == global || steps > func.global_values.size()) {
      report(global, message("global value cycle: [", path.view(), "]"));
      cycle_seen = true;
      return;
    }
    path << ", " << at;
    const GlobalValueData& next = func.global_values[at];
    if (next.kind != Kind::Load && next.kind != Kind::IaddImm) break;
    at = next.base;
  }
  if (data.kind == Kind::Load && pointer_type_.is_valid()) {
    const Type base = global_type(data.base);
    if (base.is_valid() && base != pointer_type_) {
      report(global, message("base ", data.base, " has type ", base,
                             ", which is not the pointer type ", pointer_type_));
    }
  }
}

/// Invalid where it is the pointer type and that is not known.
Type Verifier::global_type(GlobalValue global) const {
  const GlobalValueData& data = func_->global_values[global];
  const bool typed =
      data.kind == GlobalValueData::Kind::Load || data.kind == GlobalValueData::Kind::IaddImm;
  return typed ? data.type : pointer_type_;
}

// ---- Layout.

/// Everything that follows an alias relies on its chain to end, printing included.
bool Verifier::check_aliases() {
  const Function& func = *func_;
  const auto count = static_cast<std::uint32_t>(func.value_count());
  // A chain that runs into one that was walked before ends: marks are the start of the walk.
  positions_.assign(count, count);
  for (std::uint32_t start = 0; start < count; ++start) {
    for (Value at(start);
         func.value(at).kind == ValueKind::Alias && positions_[at.index()] == count;) {
      positions_[at.index()] = start;
      at = Value(func.value(at).source);
      if (at.index() >= count || positions_[at.index()] == start) {
        report(EntityRef(), message("alias ", Value(start), " does not end at a value"));
        return false;
      }
    }
  }
  return true;
}

/// Is the rest worth checking?
bool Verifier::check_layout() {
  const Function& func = *func_;
  if (func.entry_block().is_none()) {
    report(EntityRef(), "the function has no entry block");
    return false;
  }
  positions_.assign(func.inst_count(), 0);
  tables_.reset(func.jump_tables.size());
  exception_tables_.reset(func.exception_tables.size());
  bool ok = true;
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    std::uint32_t position = 0;
    if (func.last_inst(block).is_none()) {
      report(block, message(block, " is empty: it does not end in a terminator"));
    }
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      positions_[inst.index()] = ++position;
      if (func.inst_block(inst) != block) {
        report(inst, message(inst, " is laid out in ", block, " but says ", func.inst_block(inst)));
        ok = false;
      }
      const bool last = inst == func.last_inst(block);
      if (is_terminator(func.op(inst)) && !last) {
        report(inst, message("a terminator instruction was encountered before the end of ", block));
        ok = false;
      } else if (!is_terminator(func.op(inst)) && last) {
        report(inst, message(block, " does not end in a terminator"));
      }
      // Before any analysis reads them: indexes into tables.
      ok = check_references(inst) && ok;
    }
  }
  return ok;
}

/// V6, V7: whatever the instruction names exists. Analyses and the other checks rely on it.
bool Verifier::check_references(Inst inst) {
  const Function& func = *func_;
  const InstData& data = func.data(inst);
  bool ok = true;
  const auto require = [&](bool exists, auto entity) {
    if (exists) return;
    report(inst, message("undeclared reference ", entity));
    ok = false;
  };
  switch (format(data.op)) {
    case Format::BrTable: {
      require(func.jump_tables.contains(JumpTable(data.b)), JumpTable(data.b));
      if (ok && !tables_.insert(data.b)) {
        report(inst, message(JumpTable(data.b), " belongs to more than one instruction"));
      }
      break;
    }
    case Format::TryCall:
    case Format::TryCallIndirect:
      require(func.exception_tables.contains(ExceptionTable(data.c)), ExceptionTable(data.c));
      if (!ok) break;
      if (!exception_tables_.insert(data.c)) {
        report(inst, message(ExceptionTable(data.c), " belongs to more than one instruction"));
      }
      if (const SigRef sig = func.exception_table(inst).signature; true) {
        require(func.signatures.contains(sig), sig);
      }
      if (format(data.op) == Format::TryCallIndirect) {
        if (!func.arg_list(inst).empty()) break;
        report(inst, "a call through a pointer needs the pointer");
        ok = false;
        break;
      }
      [[fallthrough]];
    case Format::Call:
    case Format::FuncAddr:
      if (ok) require(func.ext_funcs.contains(FuncRef(data.a)), FuncRef(data.a));
      if (ok) {
        const SigRef sig = func.ext_funcs[FuncRef(data.a)].signature;
        require(func.signatures.contains(sig), sig);
      }
      break;
    case Format::CallIndirect:
      require(func.signatures.contains(SigRef(data.a)), SigRef(data.a));
      if (func.arg_list(inst).empty()) {
        report(inst, "a call through a pointer needs the pointer");
        ok = false;
      }
      break;
    case Format::ExceptionHandlerAddress:
      if (data.a >= func.block_count() || !func.is_in_layout(Block(data.a))) {
        report(inst, message("invalid block reference ", Block(data.a)));
        ok = false;
      }
      break;
    case Format::UnaryConst:
      require(func.constants.contains(Constant(data.a)), Constant(data.a));
      break;
    case Format::UnaryF128:
      require(func.immediates.contains(Immediate(data.a)), Immediate(data.a));
      break;
    case Format::Shuffle:
      require(func.immediates.contains(Immediate(data.c)), Immediate(data.c));
      break;
    case Format::DynamicStackAddr:
      require(func.dynamic_stack_slots.contains(DynamicStackSlot(data.a)),
              DynamicStackSlot(data.a));
      break;
    case Format::StackAddr:
      require(func.stack_slots.contains(StackSlot(data.a)), StackSlot(data.a));
      break;
    case Format::UnaryGlobalValue:
      require(func.global_values.contains(GlobalValue(data.a)), GlobalValue(data.a));
      break;
    default: break;
  }
  if (!ok) return false;
  func.for_each_target(inst, [&](BlockCall call) {
    const Block target = func.call_target(call);
    if (target.index() < func.block_count() && func.is_in_layout(target)) return;
    report(inst, message("invalid block reference ", target));
    ok = false;
  });
  func.for_each_arg(inst, [&](Value v) {
    if (v.index() < func.value_count()) return;
    report(inst, message("undefined value ", v));
    ok = false;
  });
  return ok;
}

void Verifier::check_entry() {
  const Function& func = *func_;
  const Block entry = func.entry_block();
  if (func.is_cold(entry)) report(entry, "entry block cannot be marked as cold");
  const std::span<const Value> params = func.block_params(entry);
  if (params.size() != func.signature.params.size()) {
    report(entry, message("entry block parameters (", params.size(),
                          ") must match function signature (", func.signature.params.size(), ")"));
    return;
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Type expected = func.signature.params[i].type;
    if (func.type(params[i]) == expected) continue;
    report(entry, message("entry block parameter ", i, " expected to have type ", expected,
                          ", got ", func.type(params[i])));
  }
}

void Verifier::check_block(Block block) {
  const Function& func = *func_;
  const std::span<const Value> params = func.block_params(block);
  if (params.size() > kMaxArgs) {
    report(block, message("implementation limit exceeded: ", params.size(),
                          " block parameters, at most ", kMaxArgs));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    const ValueData& data = func.value(params[i]);
    if (data.kind != ValueKind::Param || data.source != block.index() || data.number != i ||
        !data.type.is_valid()) {
      report(block, message("parameter ", params[i], " does not know its place"));
    }
  }
  for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
    check_results(inst);
    const std::size_t before = errors_.size();
    std::size_t operands = 0;
    func.for_each_operand(inst, [&](Value v) {
      check_value(inst, v);
      ++operands;
      if (func.value(func.resolve(v)).is_try_value()) {
        report(inst, "`retN` and `exnN` are arguments of a try_call's blocks only");
      }
    });
    if (operands > kMaxArgs + 1) {
      report(inst,
             message("implementation limit exceeded: ", operands, " operands, at most ", kMaxArgs));
    }
    func.for_each_target(inst, [&](BlockCall call) {
      for (const Value v : func.call_args(call)) {
        if (!func.value(v).is_try_value()) check_value(inst, v);
      }
    });
    if (errors_.size() != before) continue;
    check_operation(inst);
    bool is_normal = is_try(func.op(inst));
    func.for_each_target(inst, [&](BlockCall call) {
      check_block_call(inst, call, is_normal);
      is_normal = false;
    });
    if (!flow_.is_reachable(block)) continue;
    func.for_each_arg(inst, [&](Value v) { check_dominance(block, inst, v); });
  }
}

// ---- Values.

void Verifier::check_results(Inst inst) {
  const Function& func = *func_;
  const std::span<const Value> results = func.results(inst);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ValueData& data = func.value(results[i]);
    if (data.kind != ValueKind::Result || data.source != inst.index() || data.number != i ||
        !data.type.is_valid()) {
      report(inst, message("result ", results[i], " does not know its place"));
    }
  }
  const ResultRule rule = info(func.op(inst)).result;
  const std::size_t expected = rule == ResultRule::Sig ? results.size() : result_count(rule);
  if (results.size() != expected) {
    report(inst, message("expected ", expected, " results, found ", results.size()));
  }
}

void Verifier::check_value(Inst inst, Value v) {
  const Function& func = *func_;
  const Value at = func.resolve(v);
  const ValueData& data = func.value(at);
  if (data.type != func.type(v)) {
    report(inst, message("alias ", v, " has type ", func.type(v), " but ", at, " has ", data.type));
    return;
  }
  if (data.is_try_value()) return;  // reported where it is used
  if (data.kind == ValueKind::Param) {
    if (data.source >= func.block_count() || !func.is_in_layout(Block(data.source))) {
      report(inst, message(v, " is a parameter of a block that is not in the layout"));
    } else if (const auto params = func.block_params(Block(data.source));
               data.number >= params.size() || params[data.number] != at) {
      report(inst, message(v, " is not among the parameters of ", Block(data.source)));
    }
  } else if (data.source >= func.inst_count() || func.inst_block(Inst(data.source)).is_none()) {
    report(inst, message(v, " is the result of no instruction in the layout"));
  }
}

void Verifier::check_dominance(Block block, Inst inst, Value v) {
  const Function& func = *func_;
  const ValueData& data = func.value(func.resolve(v));
  if (data.is_try_value()) return;
  if (data.kind == ValueKind::Param) {
    if (!dominators_.dominates(Block(data.source), block)) {
      report(inst, message("uses value arg from non-dominating ", Block(data.source)));
    }
    return;
  }
  const Inst def(data.source);
  if (def == inst) {
    report(inst, message("uses value ", v, " from itself"));
  } else if (func.inst_block(def) == block ? positions_[def.index()] >= positions_[inst.index()]
                                           : !dominators_.dominates(func.inst_block(def), block)) {
    report(inst, message("uses value ", v, " from non-dominating ", def));
  }
}

void Verifier::check_block_call(Inst inst, BlockCall call, bool is_normal) {
  const Function& func = *func_;
  const std::span<const Value> args = func.call_args(call);
  const std::span<const Value> params = func.block_params(func.call_target(call));
  if (args.size() != params.size()) {
    report(inst, message("mismatched argument count for `", to_string(func, inst), "`: got ",
                         args.size(), ", expected ", params.size()));
    return;
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ValueData& data = func.value(args[i]);
    Type type = data.type;
    if (data.is_try_value()) {
      const std::size_t before = errors_.size();
      check_try_value(inst, args[i], is_normal);
      if (errors_.size() != before) continue;
      // A text's payload words have the type that the handler wants: here it is checked.
      if (data.kind == ValueKind::TryException && pointer_type_.is_valid()) type = pointer_type_;
    }
    if (type == func.type(params[i])) continue;
    base::Printer name;
    if (data.is_try_value()) {
      name << (data.kind == ValueKind::TryReturn ? "ret" : "exn") << data.number;
    } else {
      name << args[i];
    }
    report(inst,
           message("arg ", name.view(), " has type ", type, ", expected ", func.type(params[i])));
  }
}

}  // namespace hoist::ir
