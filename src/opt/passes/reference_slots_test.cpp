// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "opt/passes/reference_slots.hpp"

#include <gtest/gtest.h>

#include <random>

#include "ir/builder.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"
#include "opt/pipeline.hpp"
#include "opt/rules/rules.hpp"

namespace hoist::opt {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;
using ir::Variable;

/// Declares `refs`: a function that takes and returns a number of i64.
ir::FuncRef declare(Function& func, unsigned params, unsigned results, bool tail = false) {
  ir::Signature sig;
  sig.call_conv = tail ? ir::CallConv::Tail : ir::CallConv::Fast;
  sig.params.assign(params, {ir::I64});
  sig.returns.assign(results, {ir::I64});
  ir::ExtFunc callee;
  callee.name = ir::ExternalName::user(4, params * 16 + results);
  callee.signature = func.signatures.push(std::move(sig));
  callee.colocated = true;
  return func.ext_funcs.push(std::move(callee));
}

std::string place(Function& func) {
  ReferenceSlots slots;
  const auto done = slots.run(func);
  EXPECT_TRUE(done.has_value());
  const auto fine = ir::verify(func);
  EXPECT_TRUE(fine.has_value()) << fine.error().message();
  return check_reference_slots(func);
}

std::size_t map_entries(const Function& func) {
  std::size_t count = 0;
  for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
      count += func.stack_map(inst).size();
    }
  }
  return count;
}

TEST(ReferenceSlots, OnlyWhatIsLiveAcrossACall) {
  Function func;
  func.signature.params.assign(3, {ir::I64});
  func.signature.returns.assign(1, {ir::I64});
  ir::FunctionBuilder b(func);
  const ir::FuncRef callee = declare(func, 1, 1);
  const Block entry = b.make_block();
  b.append_params_for_signature(entry);
  b.switch_to(entry);
  const Value kept = func.block_params(entry)[0];
  const Value passed = func.block_params(entry)[1];
  const Value number = func.block_params(entry)[2];
  func.mark_reference(kept);
  func.mark_reference(passed);
  const Inst call = b.call(callee, {{passed}});
  b.call(callee, {{number}});
  const Value sum = b.binary(Op::Bor, kept, number);
  b.ret({{sum}});
  b.seal_all();
  EXPECT_EQ(place(func), "");
  EXPECT_EQ(func.stack_map(call).size(), 1u);
  EXPECT_EQ(map_entries(func), 2u);
  ASSERT_EQ(func.stack_slots.size(), 1u);
  EXPECT_EQ(func.stack_slots[ir::StackSlot(0u)].bytes, 8u);
}

TEST(ReferenceSlots, MarksFollowBlockParametersAndSelects) {
  Function func;
  func.signature.params = {{ir::I64}, {ir::I32}};
  func.signature.returns.assign(1, {ir::I64});
  ir::FunctionBuilder b(func);
  const ir::FuncRef callee = declare(func, 0, 0);
  const Block entry = b.make_block();
  const Block loop = b.make_block();
  const Block out = b.make_block();
  b.append_params_for_signature(entry);
  b.switch_to(entry);
  const Value reference = func.block_params(entry)[0];
  const Value condition = func.block_params(entry)[1];
  func.mark_reference(reference);
  const Value null = b.iconst(ir::I64, 0);
  const Value chosen = b.ternary(Op::Select, condition, reference, null);
  const Value merged = func.append_block_param(loop, ir::I64);
  b.jump(loop, {{chosen}});
  b.switch_to(loop);
  b.call(callee, {});
  b.brif(condition, loop, {{merged}}, out, {});
  b.switch_to(out);
  b.ret({{merged}});
  b.seal_all();
  EXPECT_EQ(place(func), "");
  EXPECT_EQ(map_entries(func), 1u);
}

TEST(ReferenceSlots, TryCallKeepsTheArgumentsOfItsTargets) {
  Function func;
  func.signature.params.assign(2, {ir::I64});
  func.signature.returns.assign(1, {ir::I64});
  ir::FunctionBuilder b(func);
  const ir::FuncRef callee = declare(func, 0, 1, true);
  const Block entry = b.make_block();
  const Block normal = b.make_block();
  const Block handler = b.make_block();
  b.append_params_for_signature(entry);
  b.switch_to(entry);
  const Value one = func.block_params(entry)[0];
  const Value two = func.block_params(entry)[1];
  func.mark_reference(one);
  func.mark_reference(two);
  func.append_block_param(normal, ir::I64);
  func.append_block_param(normal, ir::I64);
  func.append_block_param(handler, ir::I64);
  const Value result = b.try_return(func.ext_funcs[callee].signature, 0);
  const Value normal_args[] = {result, one};
  const Value handler_args[] = {two};
  const ir::FunctionBuilder::Handler handlers[] = {
      {.kind = ir::ExceptionItem::Kind::Default, .block = handler, .args = handler_args}};
  const Inst call = b.try_call(callee, {}, normal, normal_args, handlers);
  b.switch_to(normal);
  b.ret({{func.block_params(normal)[1]}});
  b.switch_to(handler);
  b.ret({{func.block_params(handler)[0]}});
  b.seal_all();
  EXPECT_EQ(place(func), "");
  EXPECT_EQ(func.stack_map(call).size(), 2u);
}

TEST(ReferenceSlots, FunctionsWithoutReferencesStayAsTheyAre) {
  Function func;
  func.signature.params.assign(1, {ir::I64});
  func.signature.returns.assign(1, {ir::I64});
  ir::FunctionBuilder b(func);
  const ir::FuncRef callee = declare(func, 0, 0);
  const Block entry = b.make_block();
  b.append_params_for_signature(entry);
  b.switch_to(entry);
  b.call(callee, {});
  b.ret({{func.block_params(entry)[0]}});
  b.seal_all();
  const std::string before = ir::to_string(func);
  EXPECT_EQ(place(func), "");
  EXPECT_EQ(ir::to_string(func), before);
}

/// Random control flow over variables that hold references, with calls and loops.
void generate(Function& func, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t below) { return static_cast<unsigned>(random() % below); };
  func.clear();
  func.signature.params.assign(3, {ir::I64});
  func.signature.params.push_back({ir::I32});
  func.signature.returns.assign(1, {ir::I64});
  ir::FunctionBuilder b(func);
  if (seed % 2 == 0) b.set_simplifier(simplify_while_building);
  const ir::FuncRef make = declare(func, 0, 1);
  const ir::FuncRef use = declare(func, 2, 2);
  const ir::FuncRef take = declare(func, 1, 0);
  const Block entry = b.make_block();
  b.append_params_for_signature(entry);
  b.switch_to(entry);
  b.seal(entry);
  std::vector<Variable> variables;
  for (unsigned i = 0; i < 6; ++i) {
    variables.push_back(b.declare_variable(ir::I64));
    const Value v = i < 3 ? func.block_params(entry)[i] : b.iconst(ir::I64, 0);
    if (i < 3) func.mark_reference(v);
    b.define(variables.back(), v);
  }
  const Value condition = func.block_params(entry)[3];
  const auto variable = [&] { return variables[pick(variables.size())]; };
  std::vector<Block> blocks;
  for (unsigned i = 0; i < 2 + pick(8); ++i) blocks.push_back(b.make_block());
  const Block out = b.make_block();
  b.jump(blocks[0]);
  for (const Block block : blocks) {
    b.switch_to(block);
    for (unsigned i = pick(8); i > 0; --i) {
      switch (pick(5)) {
        case 0: {
          const Value made = func.result(b.call(make, {}));
          func.mark_reference(made);
          b.define(variable(), made);
          break;
        }
        case 1: {
          const Value args[] = {b.use(variable()), b.use(variable())};
          const Inst call = b.call(use, args);
          for (const Value result : func.results(call)) func.mark_reference(result);
          const Value first = func.results(call)[0];
          b.define(variable(), first);
          break;
        }
        case 2: {
          const Value arg = b.use(variable());
          b.call(take, {{arg}});
          break;
        }
        case 3: {
          const Value x = b.use(variable());
          const Value y = b.use(variable());
          b.define(variable(), b.ternary(Op::Select, condition, x, y));
          break;
        }
        default: b.define(variable(), b.use(variable())); break;
      }
    }
    const auto target = [&] { return pick(5) == 0 ? out : blocks[pick(blocks.size())]; };
    const Block first = target();
    b.brif(condition, first, {}, target(), {});
  }
  b.switch_to(out);
  Value last = b.use(variables[0]);
  b.ret({{last}});
  b.seal_all();
}

TEST(ReferenceSlots, RandomFunctions) {
  OptContext context;
  std::size_t entries = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    Function func;
    generate(func, seed);
    if (seed % 3 != 0) optimise(func, context);
    ASSERT_EQ(place(func), "") << "seed " << seed << '\n' << ir::to_string(func);
    entries += map_entries(func);
  }
  EXPECT_GT(entries, 2'000u);
}

// The checker finds each entry that is missing, and each slot that holds something else.
TEST(ReferenceSlots, CheckerSeesDamage) {
  std::size_t damaged = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    Function func;
    generate(func, seed);
    ASSERT_EQ(place(func), "");
    for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
      for (Inst inst = func.first_inst(block); inst.is_some(); inst = func.next_inst(inst)) {
        const auto map = func.stack_map(inst);
        if (map.empty()) continue;
        const std::vector<ir::StackMapEntry> whole(map.begin(), map.end());
        std::vector<ir::StackMapEntry> part(whole.begin() + 1, whole.end());
        func.set_stack_map(inst, part);
        if (!part.empty()) {
          EXPECT_NE(check_reference_slots(func), "") << seed;
          ++damaged;
        }
        func.set_stack_map(inst, whole);
      }
    }
    // Without its stores.
    for (Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
      for (Inst inst = func.first_inst(block); inst.is_some();) {
        const Inst next = func.next_inst(inst);
        if (func.op(inst) == Op::Store) func.remove_inst(inst);
        inst = next;
      }
    }
    if (map_entries(func) != 0) {
      EXPECT_NE(check_reference_slots(func), "") << seed;
    }
  }
  EXPECT_GT(damaged, 100u);
}

}  // namespace
}  // namespace hoist::opt
