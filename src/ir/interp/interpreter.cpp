// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Frames, control flow and dispatch. Memory and calls: memory.cpp, calls.cpp.
#include "ir/interp/interpreter.hpp"

#include "ir/text/printer.hpp"

namespace hoist::ir {

using interp::Evaluated;

namespace {

std::string name_text(const ExternalName& name) {
  base::Printer out;
  out << name;
  return out.take();
}

}  // namespace

void Interpreter::add_function(const Function& func) {
  by_name_[name_text(func.name)] = code_of(func);
}

std::uint32_t Interpreter::code_of(const Function& func) {
  const auto [entry, is_new] =
      by_func_.try_emplace(&func, static_cast<std::uint32_t>(codes_.size()));
  if (is_new) codes_.push_back({&func, {}});
  return entry->second;
}

Error Interpreter::unsupported(Inst inst) const {
  return Error(ErrorKind::Unsupported,
               "the interpreter does not support `" + to_string(func(), inst) + "`");
}

Result<void> Interpreter::check_types(const Function& func) const {
  for (std::size_t i = 0; i < func.value_count(); ++i) {
    const Type type = func.type(Value(i));
    if (type.is_valid() && type.fixed_part().bits() > 128) {
      base::Printer text;
      text << "the interpreter does not support the type " << type;
      return Error(ErrorKind::Unsupported, text.take());
    }
  }
  return {};
}

Result<Interpreter::Outcome> Interpreter::run(const Function& func,
                                              std::span<const DataValue> args) {
  frames_.clear();
  values_.clear();
  regions_.clear();
  frame_cells_.clear();
  stack_used_ = 0;
  pinned_ = 0;
  fuel_ = limits_.fuel;
  outcome_ = {};
  if (args.size() != func.signature.params.size()) {
    return Error(ErrorKind::BadArgument, "expected " +
                                             std::to_string(func.signature.params.size()) +
                                             " arguments, found " + std::to_string(args.size()));
  }
  std::vector<U128> bits;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].type != func.signature.params[i].type) {
      base::Printer text;
      text << "argument " << i << " has type " << args[i].type << ", expected "
           << func.signature.params[i].type;
      return Error(ErrorKind::BadArgument, text.take());
    }
    bits.push_back(U128{args[i].hi} << 64 | args[i].lo);
  }
  HOIST_TRY(Step next, enter(code_of(func), bits));
  while (next == Step::Continue) {
    if (fuel_-- == 0) {
      outcome_.kind = Outcome::Kind::OutOfFuel;
      break;
    }
    HOIST_TRY(next, step());
  }
  return std::move(outcome_);
}

Result<Interpreter::Step> Interpreter::step() {
  const Inst inst = frames_.back().at;
  const InstData& data = func().data(inst);
  switch (format(data.op)) {
    case Format::Jump:
    case Format::Brif:
    case Format::BrTable: return branch(inst);
    case Format::Trap: return trap(func().trap_code(inst));
    case Format::CondTrap:
      if ((value(Value(data.a)) == 0) == (data.op == Op::Trapz))
        return trap(func().trap_code(inst));
      break;
    case Format::Call:
    case Format::CallIndirect:
    case Format::TryCall:
    case Format::TryCallIndirect: return call(inst);
    case Format::MultiAry: {
      std::vector<U128> results;
      for (const Value v : func().arg_list(inst)) results.push_back(value(v));
      return leave(results);
    }
    case Format::FuncAddr: {
      HOIST_TRY(const U128 address, address_of_callee(inst));
      value(func().result(inst)) = address;
      break;
    }
    case Format::StackAddr: {
      const Frame& frame = frames_.back();
      const Region& slot = regions_[frame.regions + data.a];
      const auto offset = static_cast<std::uint64_t>(static_cast<std::int32_t>(data.b));
      const Value result = func().result(inst);
      value(result) = U128{slot.address + offset} & interp::mask(func().type(result).bits());
      break;
    }
    case Format::UnaryGlobalValue: {
      if (data.op != Op::GlobalValue) return unsupported(inst);
      HOIST_TRY(const U128 bits, global_value(GlobalValue(data.a)));
      value(func().result(inst)) = bits;
      break;
    }
    case Format::DynamicStackAddr: {
      const Frame& frame = frames_.back();
      value(func().result(inst)) =
          regions_[frame.regions + func().stack_slots.size() + data.a].address;
      break;
    }
    case Format::ExceptionHandlerAddress: {
      // Handlers are places of their own; nothing can be done with one but hand it on.
      constexpr std::uint64_t kHandlerAddress = 0xc000'0000;
      value(func().result(inst)) = kHandlerAddress + std::uint64_t{data.a} * 256 + data.b;
      break;
    }
    case Format::Load: return load(inst);
    case Format::Store:
    case Format::StoreNoOffset: return store(inst);
    case Format::AtomicRmw:
    case Format::AtomicCas: return atomic(inst);
    case Format::LoadNoOffset:
      if (data.op == Op::AtomicLoad) return load(inst);
      return compute(inst);
    case Format::Nullary: return nullary(inst);
    case Format::Unary:
      if (data.op == Op::SetPinnedReg) {
        pinned_ = value(Value(data.a));
        break;
      }
      return compute(inst);
    case Format::Ternary:
      if (data.op == Op::StackSwitch) return unsupported(inst);
      return compute(inst);
    case Format::UnaryImm:
    case Format::UnaryF16:
    case Format::UnaryF32:
    case Format::UnaryF64:
    case Format::UnaryF128:
    case Format::UnaryConst:
    case Format::Binary:
    case Format::BinaryImm8:
    case Format::TernaryImm8:
    case Format::Shuffle:
    case Format::IntCompare:
    case Format::FloatCompare:
    case Format::IntAddTrap: return compute(inst);
  }
  frames_.back().at = func().next_inst(inst);
  return Step::Continue;
}

Result<Interpreter::Step> Interpreter::compute(Inst inst) {
  U128 operands[3] = {0, 0, 0};
  std::size_t count = 0;
  func().for_each_arg(inst, [&](Value v) { operands[count++] = value(v); });
  const Evaluated result = interp::evaluate(func(), inst, operands[0], operands[1], operands[2]);
  if (!result.supported) return unsupported(inst);
  if (result.trap != TrapCode::None) return trap(result.trap);
  const std::span<const Value> results = func().results(inst);
  value(results[0]) = result.value;
  if (results.size() > 1) value(results[1]) = result.second;
  frames_.back().at = func().next_inst(inst);
  return Step::Continue;
}

Result<Interpreter::Step> Interpreter::nullary(Inst inst) {
  const std::size_t top = frames_.size() - 1;
  U128 bits = 0;
  switch (func().op(inst)) {
    case Op::GetPinnedReg: bits = pinned_; break;
    case Op::GetFramePointer: bits = frame_pointer(top); break;
    // Between the frame pointer and the next frame's: an address that can be compared and read.
    case Op::GetReturnAddress: bits = frame_pointer(top) + 8; break;
    case Op::GetStackPointer: bits = frame_pointer(top + 1); break;
    default: break;  // nop, fence, sequence_point and debugtrap do nothing here
  }
  if (func().result_count(inst) != 0) {
    const Value result = func().result(inst);
    value(result) = bits & interp::mask(func().type(result).bits());
  }
  frames_.back().at = func().next_inst(inst);
  return Step::Continue;
}

// ---- Control flow.

Result<Interpreter::Step> Interpreter::branch(Inst inst) {
  const InstData& data = func().data(inst);
  switch (data.op) {
    case Op::Jump: return go_to(BlockCall(data.a));
    case Op::Brif: return go_to(BlockCall(value(Value(data.a)) != 0 ? data.b : data.c));
    default: {
      const JumpTableData& table = func().jump_tables[JumpTable(data.b)];
      const std::span<const BlockCall> targets = func().call_list(table.targets);
      const U128 index = value(Value(data.a));
      return go_to(index < targets.size() ? targets[static_cast<std::size_t>(index)]
                                          : table.default_call);
    }
  }
}

Interpreter::Step Interpreter::go_to(BlockCall call) {
  const Block target = func().call_target(call);
  // All arguments are read before any parameter is written: they may be the same values.
  scratch_.clear();
  for (const Value v : func().call_args(call)) scratch_.push_back(value(v));
  const std::span<const Value> params = func().block_params(target);
  for (std::size_t i = 0; i < params.size(); ++i) value(params[i]) = scratch_[i];
  frames_.back().at = func().first_inst(target);
  return Step::Continue;
}

Result<Interpreter::Step> Interpreter::enter(std::uint32_t code, std::span<const U128> args) {
  const Function& callee = *codes_[code].func;
  HOIST_TRY_VOID(check_types(callee));
  const std::size_t value_count = values_.size() + callee.value_count();
  if (frames_.size() >= limits_.call_depth || value_count > limits_.value_bytes / sizeof(U128)) {
    return trap(TrapCode::StackOverflow);
  }
  Frame frame;
  frame.code = code;
  frame.values = values_.size();
  frame.regions = regions_.size();
  frame.stack = stack_used_;
  frame.at = callee.first_inst(callee.entry_block());
  for (const StackSlotData& slot : callee.stack_slots) push_region(slot.bytes, slot.align_log2);
  for (const DynamicStackSlotData& slot : callee.dynamic_stack_slots) {
    push_region(callee.dynamic_types[slot.type].base.bytes(), 4);
  }
  if (stack_used_ > limits_.stack_bytes) return trap(TrapCode::StackOverflow);
  frame_cells_.push_back({frames_.empty() ? 0 : frame_pointer(frames_.size() - 1), 0});
  values_.resize(value_count, 0);
  frames_.push_back(frame);
  const std::span<const Value> params = callee.block_params(callee.entry_block());
  for (std::size_t i = 0; i < params.size(); ++i) value(params[i]) = args[i];
  return Step::Continue;
}

/// A slot of the frame being made. Slots are apart, so that an access beyond one does not hit the
/// next. Past the stack's end only the size is counted.
void Interpreter::push_region(std::uint32_t bytes, unsigned align_log2) {
  constexpr std::size_t kGap = 16;
  const std::uint64_t align = std::max<std::uint64_t>(std::uint64_t{1} << align_log2, 16);
  const std::uint64_t at = (stack_used_ + kGap + align - 1) & ~(align - 1);
  stack_used_ = static_cast<std::size_t>(at + bytes);
  if (stack_used_ > limits_.stack_bytes) return;
  if (stack_.empty()) stack_.resize(limits_.stack_bytes);
  std::fill_n(stack_.begin() + static_cast<std::ptrdiff_t>(at), bytes, std::uint8_t{0});
  regions_.push_back({limits_.stack_address + at, bytes, stack_.data() + at});
}

/// Where frame number `frame` says it lies: apart from slots and functions, growing downwards.
std::uint64_t Interpreter::frame_pointer(std::size_t frame) const {
  constexpr std::uint64_t kFrameAddress = 0xb000'0000;
  return kFrameAddress - frame * sizeof(FrameCell);
}

void Interpreter::pop_frame() {
  frame_cells_.pop_back();
  const Frame& frame = frames_.back();
  values_.resize(frame.values);
  regions_.resize(frame.regions);
  stack_used_ = frame.stack;
  frames_.pop_back();
}

/// Returns from the top frame.
Interpreter::Step Interpreter::leave(std::span<const U128> values) {
  const std::vector<AbiParam>& returns = func().signature.returns;
  if (frames_.size() == 1) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      outcome_.values.push_back({returns[i].type, static_cast<std::uint64_t>(values[i]),
                                 static_cast<std::uint64_t>(values[i] >> 64)});
    }
    return Step::Finished;
  }
  pop_frame();
  return return_to(frames_.back().at, values);
}

/// Goes on after a call in the top frame with its results.
Interpreter::Step Interpreter::return_to(Inst call, std::span<const U128> values) {
  if (is_try(func().op(call))) {
    const BlockCall normal = func().exception_table(call).normal;
    for (const Value v : func().call_args(normal)) {
      const ValueData& data = func().value(v);
      if (data.kind == ValueKind::TryReturn) value(v) = values[data.number];
    }
    return go_to(normal);
  }
  const std::span<const Value> results = func().results(call);
  for (std::size_t i = 0; i < results.size(); ++i) value(results[i]) = values[i];
  frames_.back().at = func().next_inst(call);
  return Step::Continue;
}

Interpreter::Step Interpreter::trap(TrapCode code) {
  outcome_.kind = Outcome::Kind::Trapped;
  outcome_.trap = code;
  return Step::Finished;
}

}  // namespace hoist::ir
