// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiled code does for limits (docs/limits.md), each part only where CodeSettings asks for
// it:
//
//  - Epoch: at the start of a function and of each turn of a loop, the engine's counter is compared
//    with the deadline of the store. The loads are of no region and so never reused.
//  - Interrupts: at the start of each turn of a loop, the deadline is compared with 0, which is
//    what a request makes of it. Functions that call compare the stack limit anyway, which a
//    request raises; those that only call as their last act would not, so they look before that.
//  - Fuel: what is left is a variable like a local, so that loops keep it in a register.
//    Instructions are counted while they are translated and taken off where control flow parts or
//    joins; the variable goes to the store context before every call and every way out, and comes
//    from there after calls. That does not depend on what the optimiser does later: the counts are
//    the same at all levels.
//  - Traps without signals: they call the builtin `trap`, and what a processor would find by
//    faulting is compared.
#include "translate/ir_sink.hpp"

namespace hoist::translate {

using image::Builtin;
using image::StoreContext;
using ir::I64;
using wasm::Op;

IrSink::Value IrSink::store_context() {
  return builder_.load(ir::Op::Load, I64, constant_flags_, ctx_, image::kStoreOffset);
}

/// `condition` is rare: calls `builtin` then, and goes on in a new block either way.
void IrSink::call_if(Value condition, Builtin builtin) {
  const ir::Block rare = builder_.make_block();
  const ir::Block next = builder_.make_block();
  builder_.brif(condition, rare, {}, next, {});
  builder_.switch_to(rare);
  builder_.seal(rare);
  func().set_cold(rare);
  call_builtin(builtin, {});
  builder_.jump(next);
  builder_.switch_to(next);
  builder_.seal(next);
}

void IrSink::start_limits() {
  started_ = true;
  if (env_.settings.fuel) {
    fuel_ = builder_.declare_variable(I64);
    load_fuel();
  }
  check_limits();
}

void IrSink::check_interrupts() {
  if (!env_.settings.interrupts || env_.settings.epoch) return;
  const Value store = store_context();
  const ir::MemFlagsRef flags = func().intern(ir::MemFlags::trusted());
  const Value deadline =
      builder_.load(ir::Op::Load, I64, flags, store, offsetof(StoreContext, epoch_deadline));
  const Value none = builder_.iconst(I64, 0);
  call_if(builder_.icmp(ir::IntCC::Eq, deadline, none), Builtin::epoch);
}

void IrSink::check_limits() {
  if (env_.settings.epoch) {
    const Value store = store_context();
    const Value counter =
        builder_.load(ir::Op::Load, I64, constant_flags_, store, offsetof(StoreContext, epoch));
    const ir::MemFlagsRef flags = func().intern(ir::MemFlags::trusted());
    const Value now = builder_.load(ir::Op::Load, I64, flags, counter, 0);
    const Value deadline =
        builder_.load(ir::Op::Load, I64, flags, store, offsetof(StoreContext, epoch_deadline));
    call_if(builder_.icmp(ir::IntCC::Uge, now, deadline), Builtin::epoch);
  }
  if (env_.settings.fuel) {
    const Value left = builder_.use(fuel_);
    const Value none = builder_.iconst(I64, 0);
    call_if(builder_.icmp(ir::IntCC::Sle, left, none), Builtin::fuel);
  }
}

// ---- Fuel.

void IrSink::charge_fuel() {
  if (fuel_used_ == 0) return;
  const Value used = builder_.iconst(I64, fuel_used_);
  fuel_used_ = 0;
  const Value left = builder_.use(fuel_);
  builder_.define(fuel_, builder_.binary(ir::Op::Isub, left, used));
}

void IrSink::store_fuel() {
  charge_fuel();
  const Value left = builder_.use(fuel_);
  const Value store = store_context();
  builder_.store(ir::Op::Store, state_flags(Region::Limits, 0), left, store,
                 offsetof(StoreContext, fuel));
}

void IrSink::load_fuel() {
  const Value store = store_context();
  builder_.define(fuel_, builder_.load(ir::Op::Load, I64, state_flags(Region::Limits, 0), store,
                                       offsetof(StoreContext, fuel)));
}

// ---- Traps without signals.

/// Compares what the processor would find out by faulting.
void IrSink::check_division(Op op, Value x, Value y) {
  const bool is_quotient = op == Op::I32DivS || op == Op::I64DivS;
  const ir::Type type = func().type(x);
  const std::uint64_t minus_one = type == I64 ? ~std::uint64_t{0} : 0xffff'ffff;
  const ir::Inst def = func().def_inst(y);
  if (def.is_some() && func().op(def) == ir::Op::Iconst) {
    const std::uint64_t divisor = func().data(def).imm64() & minus_one;
    if (divisor != 0 && (!is_quotient || divisor != minus_one)) return;
  }
  builder_.trapz(y, ir::TrapCode::IntegerDivideByZero);
  if (!is_quotient) return;
  const Value all_ones = builder_.iconst(type, minus_one);
  const Value by_minus_one = builder_.icmp(ir::IntCC::Eq, y, all_ones);
  const Value smallest = builder_.iconst(type, std::uint64_t{1} << (type == I64 ? 63 : 31));
  const Value of_smallest = builder_.icmp(ir::IntCC::Eq, x, smallest);
  const Value overflows = builder_.binary(ir::Op::Band, by_minus_one, of_smallest);
  builder_.trapnz(overflows, ir::TrapCode::IntegerOverflow);
}

}  // namespace hoist::translate
