// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random functions with loops, memory in alias regions, traps and calls of nothing but themselves,
// before and after the mid-end, in the interpreter.
#include <gtest/gtest.h>

#include <random>

#include "ir/builder.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"
#include "opt/rules/rules.hpp"

namespace hoist::opt {
namespace {

using ir::Block;
using ir::Variable;

class Generator {
 public:
  explicit Generator(std::uint32_t seed)
      : random_(seed), memory_heavy_(seed % 2 == 0), has_checks_(seed % 3 == 0) {}

  void generate(ir::Function& func, ir::SimplifyFn simplify) {
    func.clear();
    for (unsigned i = 0; i < 3; ++i) func.signature.params.push_back({ir::I32});
    func.signature.returns.push_back({ir::I64});
    ir::FunctionBuilder builder(func);
    b_ = &builder;
    builder.set_simplifier(simplify);
    declare_memory(func);
    blocks_.clear();
    variables_.clear();
    const Block entry = builder.make_block();
    builder.append_params_for_signature(entry);
    builder.switch_to(entry);
    builder.seal(entry);
    for (const Value param : func.block_params(entry)) {
      variables_.push_back(builder.declare_variable(ir::I32));
      builder.define(variables_.back(), param);
    }
    for (unsigned i = 0; i < 3; ++i) {
      variables_.push_back(builder.declare_variable(ir::I32));
      builder.define(variables_.back(), builder.iconst(ir::I32, pick(4)));
    }
    budget_ = builder.declare_variable(ir::I32);
    builder.define(budget_, builder.iconst(ir::I32, 40));
    for (const ir::StackSlot slot : slots_) {
      const Value address = builder.stack_addr(ir::I64, slot, 0);
      const Value zero = builder.iconst(ir::I64, 0);
      for (int i = 0; i < 16; i += 8) builder.store(Op::Store, flags_[2], zero, address, i);
    }
    // A length for the checks, which stores may change.
    const Value length = builder.iconst(ir::I64, 40);
    const Value place = builder.stack_addr(ir::I64, slots_[0], 0);
    builder.store(Op::Store, flags_[2], length, place, 8);
    const unsigned count = 2 + pick(10);
    for (unsigned i = 0; i < count; ++i) blocks_.push_back(builder.make_block());
    exit_ = builder.make_block();
    builder.jump(blocks_[0]);
    for (const Block block : blocks_) fill(block);
    finish();
    builder.seal_all();
  }

 private:
  unsigned pick(std::size_t below) { return static_cast<unsigned>(random_() % below); }

  void declare_memory(ir::Function& func) {
    for (unsigned i = 0; i < 2; ++i) {
      ir::StackSlotData slot;
      slot.bytes = 16;
      slots_[i] = func.stack_slots.push(slot);
      ir::MemFlags flags = ir::MemFlags::trusted();
      flags.region = func.alias_regions.push({i, ""});
      flags_[i] = func.intern(flags);
      flags.can_move = true;
      if (i == 0) length_flags_ = func.intern(flags);
    }
    flags_[2] = func.intern(ir::MemFlags::trusted());  // may be any memory
  }

  Value variable() { return b_->use(variables_[pick(variables_.size())]); }
  Value operand() { return pick(3) == 0 ? b_->iconst(ir::I32, pick(5) - 1) : variable(); }

  /// x + constant > length, of few x and constants.
  void check() {
    const Value address = b_->stack_addr(ir::I64, slots_[0], 0);
    const Value length = b_->load(Op::Load, ir::I64, length_flags_, address, 8);
    const Value index = variable();
    const Value masked = b_->binary(Op::Band, index, b_->iconst(ir::I32, 7));
    const Value x = b_->unary(Op::Uextend, ir::I64, masked);
    Value end = x;
    if (pick(4) != 0) end = b_->binary(Op::Iadd, x, b_->iconst(ir::I64, 8 * pick(4)));
    const Value outside = b_->icmp(pick(2) == 0 ? IntCC::Ugt : IntCC::Uge, end, length);
    b_->trapnz(outside, ir::TrapCode::HeapOutOfBounds);
  }

  /// A loop whose body comes first.
  void loop() {
    const Variable counter = b_->declare_variable(ir::I32);
    b_->define(counter, b_->iconst(ir::I32, 1 + pick(3)));
    const Block body = b_->make_block();
    const Block behind = b_->make_block();
    b_->jump(body);
    b_->switch_to(body);
    for (unsigned i = pick(3); i > 0; --i) check();
    for (unsigned i = pick(5); i > 0; --i) simple_statement();
    const Value left = b_->binary(Op::Isub, b_->use(counter), b_->iconst(ir::I32, 1));
    b_->define(counter, left);
    b_->brif(left, body, {}, behind, {});
    b_->switch_to(behind);
  }

  void statement() {
    if (has_checks_ && pick(8) == 0) return loop();
    simple_statement();
  }

  void simple_statement() {
    if (has_checks_ && pick(4) == 0) return check();
    constexpr Op kOps[] = {Op::Iadd, Op::Isub, Op::Band, Op::Bor, Op::Bxor, Op::Imul, Op::Ishl};
    const Variable to = variables_[pick(variables_.size())];
    const unsigned slot = pick(2);
    // Now and then an access that the regions say nothing about.
    const ir::MemFlagsRef flags = flags_[pick(6) == 0 ? 2 : slot];
    // Half of the functions are mostly about memory, in few places, so that accesses meet.
    const auto offset = static_cast<std::int32_t>(pick(memory_heavy_ ? 2 : 4) * 4);
    const unsigned kind = memory_heavy_ && pick(4) != 0 ? 5 + pick(3) : pick(10);
    switch (kind) {
      case 0:
      case 1:
      case 2: {
        const Value x = operand();
        return b_->define(to, b_->binary(kOps[pick(std::size(kOps))], x, operand()));
      }
      case 3: {
        const Value x = operand();
        const Value c = b_->icmp(static_cast<IntCC>(pick(10)), x, operand());
        return b_->define(to, b_->unary(Op::Uextend, ir::I32, c));
      }
      case 4: {
        const Value c = variable();
        const Value x = operand();
        return b_->define(to, b_->ternary(Op::Select, c, x, operand()));
      }
      case 5:
      case 6: {
        const Value address = b_->stack_addr(ir::I64, slots_[slot], 0);
        constexpr Op kLoads[] = {Op::Load, Op::Load, Op::Uload8, Op::Sload16};
        return b_->define(to, b_->load(kLoads[pick(4)], ir::I32, flags, address, offset));
      }
      case 7: {
        const Value address = b_->stack_addr(ir::I64, slots_[slot], 0);
        constexpr Op kStores[] = {Op::Store, Op::Store, Op::Istore8, Op::Istore16};
        return b_->store(kStores[pick(4)], flags, operand(), address, offset);
      }
      case 8: {
        const Value x = nonzero_mostly();
        if (pick(2) == 0) return b_->trapz(x, ir::TrapCode::Unreachable);
        return b_->define(to, b_->binary(Op::Urem, operand(), x));
      }
      default: return b_->define(to, variable());
    }
  }

  Value nonzero_mostly() {
    const Value x = operand();
    return b_->binary(Op::Bor, x, b_->iconst(ir::I32, pick(8) == 0 ? 0 : 1));
  }

  Block any_block() { return pick(8) == 0 ? exit_ : blocks_[pick(blocks_.size())]; }

  void fill(Block block) {
    b_->switch_to(block);
    // Every block costs one of the budget, so that all loops end.
    const Value left = b_->binary(Op::Isub, b_->use(budget_), b_->iconst(ir::I32, 1));
    b_->define(budget_, left);
    const Block body = b_->make_block();
    b_->brif(left, body, {}, exit_, {});
    b_->switch_to(body);
    for (unsigned i = pick(memory_heavy_ ? 12 : 8); i > 0; --i) statement();
    switch (pick(6)) {
      case 0:
      case 1: return b_->jump(any_block());
      case 2: {
        const Block target = any_block();
        const ir::FunctionBuilder::Target targets[] = {
            {any_block(), {}}, {target, {}}, {target, {}}};
        return b_->br_table(variable(), {any_block(), {}}, targets);
      }
      default: {
        const Value x = operand();
        const Value c = pick(3) == 0 ? x : b_->icmp(static_cast<IntCC>(pick(10)), x, operand());
        const Block then_block = any_block();
        return b_->brif(c, then_block, {}, any_block(), {});
      }
    }
  }

  void finish() {
    b_->switch_to(exit_);
    Value sum = b_->iconst(ir::I64, 0);
    const auto add = [&](Value v) {
      sum = b_->binary(Op::Iadd, b_->binary(Op::Imul, sum, b_->iconst(ir::I64, 31)), v);
    };
    for (const Variable var : variables_) add(b_->unary(Op::Uextend, ir::I64, b_->use(var)));
    for (const ir::StackSlot slot : slots_) {
      const Value address = b_->stack_addr(ir::I64, slot, 0);
      for (int i = 0; i < 16; i += 8) add(b_->load(Op::Load, ir::I64, flags_[2], address, i));
    }
    b_->ret({&sum, 1});
  }

  std::mt19937 random_;
  bool memory_heavy_;
  bool has_checks_;
  ir::FunctionBuilder* b_ = nullptr;
  ir::StackSlot slots_[2];
  ir::MemFlagsRef flags_[3];
  ir::MemFlagsRef length_flags_;
  std::vector<Block> blocks_;
  std::vector<Variable> variables_;
  Variable budget_;
  Block exit_;
};

TEST(Passes, RandomFunctionsKeepTheirMeaning) {
  OptContext context;
  std::size_t returned = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    ir::Function plain;
    ir::Function optimised;
    ir::Function built;
    Generator(seed).generate(plain, nullptr);
    Generator(seed).generate(optimised, nullptr);
    Generator(seed).generate(built, simplify_while_building);
    optimise(optimised, context);
    optimise(built, context);
    for (const ir::Function* func : {&plain, &optimised, &built}) {
      const auto fine = ir::verify(*func);
      ASSERT_TRUE(fine.has_value()) << "seed " << seed << ' ' << fine.error().message()
                                    << ir::to_string(plain) << ir::to_string(*func);
    }
    ir::Interpreter interpreter;
    for (std::uint32_t run = 0; run < 6; ++run) {
      const std::vector<ir::DataValue> args = {{ir::I32, run, 0},
                                               {ir::I32, run % 3, 0},
                                               {ir::I32, run == 5 ? 0xffff'ffffu : 7 * run, 0}};
      const auto x = interpreter.run(plain, args);
      ASSERT_TRUE(x.has_value()) << x.error().message() << ir::to_string(plain);
      returned += x->kind == ir::Interpreter::Outcome::Kind::Returned ? 1U : 0U;
      for (const ir::Function* func : {&optimised, &built}) {
        const auto y = interpreter.run(*func, args);
        ASSERT_TRUE(y.has_value()) << y.error().message();
        ASSERT_TRUE(x->kind == y->kind && x->trap == y->trap && x->values == y->values)
            << "seed " << seed << " run " << run << '\n'
            << ir::to_string(plain) << ir::to_string(*func);
      }
    }
  }
  EXPECT_GT(returned, 1'200u);
  for (unsigned i = 0; i < kPassCount; ++i) {
    EXPECT_GT(context.changes(static_cast<Pass>(i)), 0u) << info(static_cast<Pass>(i)).text;
  }
}

}  // namespace
}  // namespace hoist::opt
