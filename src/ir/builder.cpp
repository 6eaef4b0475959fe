// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Instructions of the builder: simplification, reuse within the block, insertion.
#include "ir/builder.hpp"

#include "base/keyed_hash.hpp"

namespace hoist::ir {

namespace {

std::uint32_t hash_inst(const InstData& data, Type type) {
  const std::uint64_t what = static_cast<std::uint64_t>(data.op) << 48 |
                             std::uint64_t{data.aux} << 32 | std::uint64_t{data.a};
  const std::uint64_t operands = std::uint64_t{data.b} << 32 | data.c;
  return static_cast<std::uint32_t>(
      base::keyed_hash(what ^ std::uint64_t{type.raw()} << 32, operands));
}

bool is_reusable_load(const MemFlags& flags) {
  return flags.readonly && flags.can_move && flags.notrap();
}

Type comparison_type(Type operand) {
  if (operand.is_scalar()) return I8;
  return Type(Type::int_of_bits(operand.lane_bits()).lane(), operand.log2_lane_count(),
              operand.is_dynamic());
}

}  // namespace

void FunctionBuilder::begin(Function& func) {
  func_ = &func;
  current_ = Block::none();
  open_ = false;
  loc_ = {};
  ssa_.begin(func);
  if (numbers_.empty()) numbers_.resize(256);
  if (++epoch_ == 0) {
    numbers_.assign(numbers_.size(), {});
    epoch_ = 1;
  }
  number_count_ = 0;
}

// ---- Blocks.

void FunctionBuilder::switch_to(Block block) {
  if (!func_->is_in_layout(block)) func_->append_block(block);
  current_ = block;
  const Inst last = func_->last_inst(block);
  open_ = last.is_none() || !is_terminator(func_->op(last));
  ssa_.enter(block);
  if (++epoch_ == 0) {
    numbers_.assign(numbers_.size(), {});
    epoch_ = 1;
  }
  number_count_ = 0;
}

void FunctionBuilder::seal(Block block) {
  ssa_.seal(block);
}
void FunctionBuilder::seal_all() {
  ssa_.finish();
}
void FunctionBuilder::finish() {
  ssa_.finish();
}

std::size_t FunctionBuilder::predecessor_count(Block block) const {
  return ssa_.predecessor_count(block);
}

void FunctionBuilder::append_params_for_signature(Block block) {
  for (const AbiParam& param : func_->signature.params)
    func_->append_block_param(block, param.type);
}

// ---- Variables.

Variable FunctionBuilder::declare_variable(Type type) {
  return ssa_.declare(type);
}
void FunctionBuilder::define(Variable var, Value value) {
  HOIST_DCHECK(is_open(), "definitions come before the terminator");
  ssa_.define(var, value);
}
Value FunctionBuilder::use(Variable var) {
  return ssa_.use(var);
}

// ---- Insertion.

Inst FunctionBuilder::append(const InstData& data) {
  HOIST_DCHECK(is_open(), "the current block has no terminator yet");
  const Inst inst = func_->make_inst(data, loc_);
  func_->append_inst(inst, current_);
  return inst;
}

void FunctionBuilder::terminate(const InstData& data) {
  const Inst inst = append(data);
  open_ = false;
  ssa_.end_block(inst);
}

Value FunctionBuilder::insert(const InstData& data, Type type) {
  const Inst inst = append(data);
  const Value value = func_->append_result(inst, type);
  const ResultRule rule = info(data.op).result;
  if (rule == ResultRule::PairI8) func_->append_result(inst, I8);
  if (rule == ResultRule::HalfPair) func_->append_result(inst, type);
  return value;
}

Inst FunctionBuilder::find_equal(const InstData& data, Type type, std::uint32_t hash) const {
  for (std::uint32_t at = hash;; ++at) {
    const NumberSlot& slot = numbers_[at & (numbers_.size() - 1)];
    if (slot.epoch != epoch_) return Inst::none();
    if (slot.hash != hash || !(func_->data(slot.inst) == data)) continue;
    const std::span<const Value> results = func_->results(slot.inst);
    if (results.empty() ? !type.is_valid() : func_->type(results.front()) == type) {
      return slot.inst;
    }
  }
}

void FunctionBuilder::remember(Inst inst, std::uint32_t hash) {
  if (2 * ++number_count_ > numbers_.size()) {
    std::vector<NumberSlot> old(numbers_.size() * 2);
    old.swap(numbers_);
    for (const NumberSlot& slot : old) {
      if (slot.epoch != epoch_) continue;
      std::uint32_t at = slot.hash;
      while (numbers_[at & (numbers_.size() - 1)].epoch == epoch_) ++at;
      numbers_[at & (numbers_.size() - 1)] = slot;
    }
  }
  std::uint32_t at = hash;
  while (numbers_[at & (numbers_.size() - 1)].epoch == epoch_) ++at;
  numbers_[at & (numbers_.size() - 1)] = {hash, epoch_, inst};
}

Value FunctionBuilder::reuse_or_insert(const InstData& data, Type type) {
  const std::uint32_t hash = hash_inst(data, type);
  if (const Inst equal = find_equal(data, type, hash)) return resolved(func_->result(equal));
  const Value value = insert(data, type);
  remember(func_->def_inst(value), hash);
  return value;
}

Value FunctionBuilder::pure(InstData data, Type type) {
  if (simplify_ == nullptr) return insert(data, type);
  // A simplifier answers with one value.
  if (result_count(info(data.op).result) != 1) return reuse_or_insert(data, type);
  if (const Value simpler = simplify_(*this, data, type)) return resolved(simpler);
  return reuse_or_insert(data, type);
}

// ---- Pure operations, and those that trap idempotently (divisions, conversions).

Value FunctionBuilder::unary(Op op, Type type, Value x) {
  return pure({.op = op, .a = resolved(x).index()}, type);
}

Value FunctionBuilder::binary(Op op, Value x, Value y) {
  x = resolved(x);
  return pure({.op = op, .a = x.index(), .b = resolved(y).index()},
              result_type(op, func_->type(x)));
}

Value FunctionBuilder::ternary(Op op, Value x, Value y, Value z) {
  x = resolved(x);
  y = resolved(y);
  const Type type = func_->type(info(op).control == Control::Arg1 ? y : x);
  return pure({.op = op, .a = x.index(), .b = y.index(), .c = resolved(z).index()}, type);
}

Value FunctionBuilder::icmp(IntCC cc, Value x, Value y) {
  x = resolved(x);
  return pure({Op::Icmp, static_cast<std::uint16_t>(cc), x.index(), resolved(y).index(), 0},
              comparison_type(func_->type(x)));
}

Value FunctionBuilder::fcmp(FloatCC cc, Value x, Value y) {
  x = resolved(x);
  return pure({Op::Fcmp, static_cast<std::uint16_t>(cc), x.index(), resolved(y).index(), 0},
              comparison_type(func_->type(x)));
}

Value FunctionBuilder::iconst(Type type, std::uint64_t bits) {
  HOIST_DCHECK(type.is_int() && type.bits() <= 64, "iconst makes i8 to i64");
  if (type.bits() < 64) bits &= (std::uint64_t{1} << type.bits()) - 1;
  const InstData data = InstData::imm(Op::Iconst, bits);
  return simplify_ == nullptr ? insert(data, type) : reuse_or_insert(data, type);
}

Value FunctionBuilder::f32const(std::uint32_t bits) {
  const InstData data = InstData::imm(Op::F32const, bits);
  return simplify_ == nullptr ? insert(data, F32) : reuse_or_insert(data, F32);
}

Value FunctionBuilder::f64const(std::uint64_t bits) {
  const InstData data = InstData::imm(Op::F64const, bits);
  return simplify_ == nullptr ? insert(data, F64) : reuse_or_insert(data, F64);
}

Value FunctionBuilder::bitcast(Type type, Value x) {
  return pure({.op = Op::Bitcast, .a = resolved(x).index()}, type);
}

Value FunctionBuilder::vconst(Type type, std::span<const std::uint8_t> bytes) {
  const InstData data{.op = Op::Vconst, .a = func_->intern_constant(bytes).index()};
  return simplify_ == nullptr ? insert(data, type) : reuse_or_insert(data, type);
}

Value FunctionBuilder::shuffle(Value x, Value y, const std::array<std::uint8_t, 16>& mask) {
  return pure({Op::Shuffle, 0, resolved(x).index(), resolved(y).index(),
               func_->intern_immediate(mask).index()},
              I8x16);
}

Value FunctionBuilder::extractlane(Value x, std::uint8_t lane) {
  x = resolved(x);
  return pure({.op = Op::Extractlane, .aux = lane, .a = x.index()}, func_->type(x).lane_type());
}

Value FunctionBuilder::insertlane(Value x, Value y, std::uint8_t lane) {
  x = resolved(x);
  return pure({Op::Insertlane, lane, x.index(), resolved(y).index(), 0}, func_->type(x));
}

std::span<const Value> FunctionBuilder::pair(Op op, Value x, Value y, Value z) {
  x = resolved(x);
  InstData data{.op = op, .a = x.index()};
  if (y.is_some()) data.b = resolved(y).index();
  if (z.is_some()) data.c = resolved(z).index();
  const Value first = pure(data, result_type(op, func_->type(x)));
  return func_->results(func_->def_inst(first));
}

Value FunctionBuilder::stack_addr(Type type, StackSlot slot, std::int32_t offset) {
  return pure({.op = Op::StackAddr, .a = slot.index(), .b = static_cast<std::uint32_t>(offset)},
              type);
}

Value FunctionBuilder::func_addr(Type type, FuncRef func) {
  return pure({.op = Op::FuncAddr, .a = func.index()}, type);
}

Value FunctionBuilder::nullary(Op op, Type type) {
  if (!type.is_valid()) {
    append({.op = op});
    return Value::none();
  }
  return is_pure(op) ? pure({.op = op}, type) : insert({.op = op}, type);
}

// ---- Memory.

Value FunctionBuilder::load(Op op, Type type, MemFlagsRef flags, Value address,
                            std::int32_t offset) {
  const InstData data{op, static_cast<std::uint16_t>(flags.index()), resolved(address).index(),
                      static_cast<std::uint32_t>(offset), 0};
  const bool reusable = simplify_ != nullptr && is_reusable_load(func_->mem_flags(flags));
  return reusable ? reuse_or_insert(data, type) : insert(data, type);
}

void FunctionBuilder::store(Op op, MemFlagsRef flags, Value x, Value address, std::int32_t offset) {
  append({op, static_cast<std::uint16_t>(flags.index()), resolved(x).index(),
          resolved(address).index(), static_cast<std::uint32_t>(offset)});
}

Value FunctionBuilder::atomic_load(Type type, MemFlagsRef flags, Value address) {
  return insert(
      {Op::AtomicLoad, static_cast<std::uint16_t>(flags.index()), resolved(address).index(), 0, 0},
      type);
}

void FunctionBuilder::atomic_store(MemFlagsRef flags, Value x, Value address) {
  append({Op::AtomicStore, static_cast<std::uint16_t>(flags.index()), resolved(x).index(),
          resolved(address).index(), 0});
}

Value FunctionBuilder::atomic_rmw(Type type, MemFlagsRef flags, AtomicOp op, Value address,
                                  Value x) {
  return insert({Op::AtomicRmw, static_cast<std::uint16_t>(flags.index()),
                 resolved(address).index(), resolved(x).index(), static_cast<std::uint32_t>(op)},
                type);
}

Value FunctionBuilder::atomic_cas(MemFlagsRef flags, Value address, Value expected,
                                  Value replacement) {
  expected = resolved(expected);
  return insert({Op::AtomicCas, static_cast<std::uint16_t>(flags.index()),
                 resolved(address).index(), expected.index(), resolved(replacement).index()},
                func_->type(expected));
}

// ---- Calls.

InstData FunctionBuilder::call_data(Op op, std::uint32_t callee, std::span<const Value> args) {
  scratch_.clear();
  for (const Value arg : args) scratch_.push_back(resolved(arg));
  return {.op = op, .a = callee, .b = func_->make_value_list(scratch_).index};
}

InstData FunctionBuilder::indirect_data(Op op, SigRef sig, Value callee,
                                        std::span<const Value> args) {
  scratch_.assign(1, resolved(callee));
  for (const Value arg : args) scratch_.push_back(resolved(arg));
  return {.op = op, .a = sig.index(), .b = func_->make_value_list(scratch_).index};
}

Inst FunctionBuilder::append_call(const InstData& data, SigRef sig) {
  const Inst inst = append(data);
  for (const AbiParam& ret : func_->signatures[sig].returns) func_->append_result(inst, ret.type);
  return inst;
}

Inst FunctionBuilder::call(FuncRef func, std::span<const Value> args) {
  return append_call(call_data(Op::Call, func.index(), args), func_->ext_funcs[func].signature);
}

Inst FunctionBuilder::call_indirect(SigRef sig, Value callee, std::span<const Value> args) {
  return append_call(indirect_data(Op::CallIndirect, sig, callee, args), sig);
}

Value FunctionBuilder::try_return(SigRef sig, std::uint32_t number) {
  return func_->make_try_value(ValueKind::TryReturn, number,
                               func_->signatures[sig].returns[number].type);
}

Value FunctionBuilder::try_exception(std::uint32_t number, Type type) {
  return func_->make_try_value(ValueKind::TryException, number, type);
}

Inst FunctionBuilder::append_try(InstData data, SigRef sig, Block normal,
                                 std::span<const Value> normal_args,
                                 std::span<const Handler> handlers) {
  const BlockCall normal_call = block_call(normal, normal_args);
  scratch_items_.clear();
  for (const Handler& handler : handlers) {
    ExceptionItem item{handler.kind, handler.tag, {}, {}};
    if (handler.kind == ExceptionItem::Kind::Context) {
      item.context = resolved(handler.context);
    } else {
      item.target = block_call(handler.block, handler.args);
    }
    scratch_items_.push_back(item);
  }
  data.c = func_->make_exception_table(sig, normal_call, scratch_items_).index();
  const Inst inst = append(data);
  func_->attach_try_values(inst);
  open_ = false;
  ssa_.end_block(inst);
  return inst;
}

Inst FunctionBuilder::try_call(FuncRef func, std::span<const Value> args, Block normal,
                               std::span<const Value> normal_args,
                               std::span<const Handler> handlers) {
  return append_try(call_data(Op::TryCall, func.index(), args), func_->ext_funcs[func].signature,
                    normal, normal_args, handlers);
}

Inst FunctionBuilder::try_call_indirect(SigRef sig, Value callee, std::span<const Value> args,
                                        Block normal, std::span<const Value> normal_args,
                                        std::span<const Handler> handlers) {
  InstData data = indirect_data(Op::TryCallIndirect, sig, callee, args);
  data.a = 0;
  return append_try(data, sig, normal, normal_args, handlers);
}

void FunctionBuilder::return_call(FuncRef func, std::span<const Value> args) {
  terminate(call_data(Op::ReturnCall, func.index(), args));
}

void FunctionBuilder::return_call_indirect(SigRef sig, Value callee, std::span<const Value> args) {
  terminate(indirect_data(Op::ReturnCallIndirect, sig, callee, args));
}

// ---- Traps and control flow.

void FunctionBuilder::trap(TrapCode code) {
  terminate({.op = Op::Trap, .aux = static_cast<std::uint16_t>(code)});
}

void FunctionBuilder::trapz(Value c, TrapCode code) {
  const InstData data{Op::Trapz, static_cast<std::uint16_t>(code), resolved(c).index(), 0, 0};
  if (simplify_ == nullptr) {
    append(data);
    return;
  }
  const std::uint32_t hash = hash_inst(data, Type());
  if (find_equal(data, Type(), hash).is_none()) remember(append(data), hash);
}

void FunctionBuilder::trapnz(Value c, TrapCode code) {
  const InstData data{Op::Trapnz, static_cast<std::uint16_t>(code), resolved(c).index(), 0, 0};
  if (simplify_ == nullptr) {
    append(data);
    return;
  }
  const std::uint32_t hash = hash_inst(data, Type());
  if (find_equal(data, Type(), hash).is_none()) remember(append(data), hash);
}

BlockCall FunctionBuilder::block_call(Block target, std::span<const Value> args) {
  scratch_.clear();
  for (const Value arg : args) scratch_.push_back(resolved(arg));
  return func_->make_block_call(target, scratch_);
}

void FunctionBuilder::jump(Block target, std::span<const Value> args) {
  terminate({.op = Op::Jump, .a = block_call(target, args).index()});
}

void FunctionBuilder::brif(Value c, Block then_block, std::span<const Value> then_args,
                           Block else_block, std::span<const Value> else_args) {
  const BlockCall then_call = block_call(then_block, then_args);
  const BlockCall else_call = block_call(else_block, else_args);
  terminate({Op::Brif, 0, resolved(c).index(), then_call.index(), else_call.index()});
}

void FunctionBuilder::br_table(Value index, Target default_target,
                               std::span<const Target> targets) {
  const BlockCall default_call = block_call(default_target.block, default_target.args);
  scratch_calls_.clear();
  for (const Target& target : targets) {
    scratch_calls_.push_back(block_call(target.block, target.args));
  }
  const ListRef list = func_->make_call_list(scratch_calls_);
  const JumpTable table = func_->jump_tables.push({default_call, list});
  terminate({.op = Op::BrTable, .a = resolved(index).index(), .b = table.index()});
}

void FunctionBuilder::ret(std::span<const Value> values) {
  scratch_.clear();
  for (const Value value : values) scratch_.push_back(resolved(value));
  terminate({.op = Op::Return, .b = func_->make_value_list(scratch_).index});
}

}  // namespace hoist::ir
