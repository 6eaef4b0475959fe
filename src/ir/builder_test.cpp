// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// SSA construction: by example, and against the same program with its variables in memory.
#include "ir/builder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "ir/interp/interpreter.hpp"
#include "ir/text/printer.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {
namespace {

Function function_of(std::vector<Type> params, std::vector<Type> returns) {
  Function func;
  func.name = ExternalName::testcase("f");
  for (const Type type : params) func.signature.params.push_back({type, {}, {}, 0});
  for (const Type type : returns) func.signature.returns.push_back({type, {}, {}, 0});
  return func;
}

std::size_t total_params(const Function& func) {
  std::size_t count = 0;
  for (Block b = func.first_block(); b.is_some(); b = func.next_block(b)) {
    if (b != func.entry_block()) count += func.block_params(b).size();
  }
  return count;
}

void expect_valid(const Function& func) {
  const Result<void> result = verify(func);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message()) << "\n"
                                  << to_string(func);
}

TEST(Builder, LoopParameterOnlyForWhatChanges) {
  Function func = function_of({I32}, {I32});
  FunctionBuilder b(func);
  const Block entry = b.make_block(), loop = b.make_block(), done = b.make_block();
  const Variable i = b.declare_variable(I32), step = b.declare_variable(I32);
  b.switch_to(entry);
  b.append_params_for_signature(entry);
  b.seal(entry);
  b.define(i, func.block_params(entry)[0]);
  b.define(step, b.iconst(I32, 3));
  b.jump(loop);
  b.switch_to(loop);
  const Value i_in_loop = b.use(i);
  b.define(i, b.binary(Op::Isub, i_in_loop, b.use(step)));
  b.brif(b.use(i), loop, {}, done, {});
  b.seal(loop);
  b.switch_to(done);
  b.seal(done);
  const Value i_after = b.use(i);
  const Value results[] = {b.binary(Op::Iadd, i_after, b.use(step))};
  b.ret(results);
  b.finish();
  expect_valid(func);
  EXPECT_EQ(to_string(func),
            "function %f(i32) -> i32 fast {\n"
            "block0(v0: i32):\n"
            "    v1 = iconst.i32 3\n"
            "    v3 -> v1\n"
            "    jump block1(v0)\n"
            "\n"
            "block1(v2: i32):\n"
            "    v4 = isub v2, v1  ; v1 = 3\n"
            "    brif v4, block1(v4), block2\n"
            "\n"
            "block2:\n"
            "    v5 = iadd.i32 v4, v1  ; v1 = 3\n"
            "    return v5\n"
            "}\n");
}

TEST(Builder, CascadeThroughNestedLoops) {
  // x never changes: the parameters of all 40 loops turn out redundant, from the outermost inwards.
  Function func = function_of({I32, I32}, {I32});
  FunctionBuilder b(func);
  const Block entry = b.make_block();
  b.switch_to(entry);
  b.append_params_for_signature(entry);
  b.seal(entry);
  const Variable x = b.declare_variable(I32);
  b.define(x, func.block_params(entry)[0]);
  std::vector<Block> headers;
  for (int i = 0; i < 40; ++i) {
    headers.push_back(b.make_block());
    b.jump(headers.back());
    b.switch_to(headers.back());
    b.use(x);
  }
  const Value c = func.block_params(entry)[1];
  for (int i = 40; i-- > 0;) {
    const Block after = b.make_block();
    b.brif(c, headers[static_cast<std::size_t>(i)], {}, after, {});
    b.switch_to(after);
    b.seal(after);
  }
  const Value results[] = {b.use(x)};
  b.ret(results);
  b.finish();
  expect_valid(func);
  EXPECT_EQ(total_params(func), 0u) << to_string(func);
}

TEST(Builder, UndefinedVariableIsZero) {
  Function func = function_of({}, {I64, F32});
  FunctionBuilder b(func);
  const Block entry = b.make_block();
  b.switch_to(entry);
  b.seal(entry);
  const Variable i = b.declare_variable(I64), f = b.declare_variable(F32);
  const Value results[] = {b.use(i), b.use(f)};
  b.ret(results);
  b.finish();
  expect_valid(func);
  Interpreter interpreter;
  const auto outcome = interpreter.run(func, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->values, (std::vector<DataValue>{{I64, 0, 0}, {F32, 0, 0}}));
}

TEST(Builder, UnreachableCyclesEnd) {
  // Blocks that only reach each other, alone and in a long chain of single predecessors.
  for (const int length : {1, 2, 100}) {
    Function func = function_of({}, {});
    FunctionBuilder b(func);
    const Block entry = b.make_block();
    b.switch_to(entry);
    b.seal(entry);
    const Variable x = b.declare_variable(I32);
    b.ret({});
    std::vector<Block> blocks;
    for (int i = 0; i < length; ++i) blocks.push_back(b.make_block());
    for (int i = 0; i < length; ++i) {
      b.switch_to(blocks[static_cast<std::size_t>(i)]);
      b.jump(blocks[static_cast<std::size_t>((i + 1) % length)]);
    }
    b.seal_all();
    const Block user = b.make_block();
    b.switch_to(user);
    b.use(x);
    b.ret({});
    b.finish();
    expect_valid(func);
  }
}

TEST(Builder, TableWithManySlotsToOneBlockSplitsTheEdge) {
  Function func = function_of({I32}, {I32});
  FunctionBuilder b(func);
  const Block entry = b.make_block(), other = b.make_block(), join = b.make_block();
  b.switch_to(entry);
  b.append_params_for_signature(entry);
  b.seal(entry);
  const Variable x = b.declare_variable(I32);
  b.define(x, b.iconst(I32, 7));
  const FunctionBuilder::Target targets[] = {{join, {}}, {other, {}}, {join, {}}, {join, {}}};
  b.br_table(func.block_params(entry)[0], {other, {}}, targets);
  b.switch_to(other);
  b.seal(other);
  b.define(x, b.iconst(I32, 9));
  b.jump(join);
  b.switch_to(join);
  b.seal(join);
  EXPECT_EQ(b.predecessor_count(join), 2u);
  const Value results[] = {b.use(x)};
  b.ret(results);
  b.finish();
  expect_valid(func);
  Interpreter interpreter;
  const std::uint64_t expected[] = {7, 9, 7, 7, 9};
  for (std::uint64_t i = 0; i < 5; ++i) {
    const DataValue args[] = {{I32, i, 0}};
    const auto outcome = interpreter.run(func, args);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->values[0].lo, expected[i]) << i;
  }
  EXPECT_EQ(func.block_count(), 4u);
}

Value no_simplification(FunctionBuilder&, InstData&, Type) {
  return Value::none();
}

TEST(Builder, ReusesEqualInstructionsOfTheBlock) {
  Function func = function_of({I64}, {I64});
  FunctionBuilder b(func);
  b.set_simplifier(no_simplification);
  const Block entry = b.make_block(), next = b.make_block();
  b.switch_to(entry);
  b.append_params_for_signature(entry);
  const Value p = func.block_params(entry)[0];
  const Value one = b.iconst(I64, 1);
  EXPECT_EQ(b.iconst(I64, 1), one);
  EXPECT_NE(b.iconst(I32, 1), one);
  EXPECT_EQ(b.binary(Op::Iadd, p, one), b.binary(Op::Iadd, p, one));
  EXPECT_NE(b.binary(Op::Isub, p, one), b.binary(Op::Iadd, p, one));
  MemFlags constant = MemFlags::trusted();
  constant.readonly = constant.can_move = true;
  const MemFlagsRef movable = func.intern(constant), plain = func.intern(MemFlags());
  EXPECT_EQ(b.load(Op::Load, I64, movable, p, 8), b.load(Op::Load, I64, movable, p, 8));
  EXPECT_NE(b.load(Op::Load, I64, movable, p, 16), b.load(Op::Load, I64, movable, p, 8));
  EXPECT_NE(b.load(Op::Load, I64, plain, p, 8), b.load(Op::Load, I64, plain, p, 8));
  const std::size_t before = func.inst_count();
  b.trapz(p, TrapCode::NullReference);
  b.trapz(p, TrapCode::NullReference);
  EXPECT_EQ(func.inst_count(), before + 1);
  for (std::uint64_t i = 0; i < 1000; ++i) b.iconst(I64, i);
  EXPECT_EQ(b.iconst(I64, 999), b.iconst(I64, 999));
  b.jump(next);
  b.switch_to(next);
  EXPECT_NE(b.iconst(I64, 1), one);
}

/// A random program over `kVariables` i32 variables: blocks of assignments and branches. It is
/// built twice, from the same decisions: with the builder's variables, and with the variables in
/// memory.
class RandomProgram {
 public:
  RandomProgram(std::uint32_t seed, bool in_memory, bool seal_late)
      : random_(seed), in_memory_(in_memory), seal_late_(seal_late) {}

  Function build() {
    Function func = function_of({I32, I32}, {I32});
    FunctionBuilder b(func);
    for (unsigned i = 0; i < kVariables; ++i) {
      if (in_memory_) {
        slots_.push_back(func.stack_slots.push({4, 2, false, 0}));
      } else {
        variables_.push_back(b.declare_variable(I32));
      }
    }
    make_graph();
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < successors_.size(); ++i) blocks.push_back(b.make_block());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      b.switch_to(blocks[i]);
      if (i == 0) {
        b.append_params_for_signature(blocks[0]);
        set(b, 0, func.block_params(blocks[0])[0]);
        set(b, 1, func.block_params(blocks[0])[1]);
      }
      seal_ready(b, blocks, i);
      fill(b);
      terminate(b, blocks, i);
    }
    b.finish();
    return func;
  }

 private:
  static constexpr unsigned kVariables = 6;
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  void make_graph() {
    const unsigned count = 2 + pick(14);
    successors_.resize(count);
    predecessors_.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = pick(8);
      const unsigned edges = kind == 0 ? 0 : kind < 3 ? 1 : kind < 7 ? 2 : 5;
      for (unsigned e = 0; e < edges; ++e) {
        // Mostly forwards; the entry has no predecessors.
        unsigned target = pick(4) == 0 ? 1 + pick(count - 1) : std::min(count - 1, i + 1 + pick(3));
        if (target == 0) target = 1;
        successors_[i].push_back(target);
        predecessors_[target].push_back(i);
      }
    }
  }

  /// Seals the block, and others, as soon as it could be known that no branch to them will follow.
  void seal_ready(FunctionBuilder& b, const std::vector<Block>& blocks, std::size_t filled) {
    if (seal_late_) return;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      bool ready = i <= filled + 1;
      for (const unsigned pred : predecessors_[i]) ready = ready && pred < filled;
      if (ready) b.seal(blocks[i]);
    }
  }

  Value get(FunctionBuilder& b, unsigned i) {
    if (!in_memory_) return b.use(variables_[i]);
    const Value address = b.stack_addr(I64, slots_[i], 0);
    return b.load(Op::Load, I32, b.func().intern(MemFlags::trusted()), address, 0);
  }
  void set(FunctionBuilder& b, unsigned i, Value v) {
    if (!in_memory_) {
      b.define(variables_[i], v);
      return;
    }
    const Value address = b.stack_addr(I64, slots_[i], 0);
    b.store(Op::Store, b.func().intern(MemFlags::trusted()), v, address, 0);
  }

  void fill(FunctionBuilder& b) {
    for (unsigned count = pick(4); count-- > 0;) {
      const unsigned to = pick(kVariables), x = pick(kVariables), y = pick(kVariables);
      switch (pick(4)) {
        case 0: set(b, to, get(b, x)); break;
        case 1: set(b, to, b.iconst(I32, pick(1000))); break;
        default: set(b, to, b.binary(pick(2) == 0 ? Op::Iadd : Op::Isub, get(b, x), get(b, y)));
      }
    }
  }

  void terminate(FunctionBuilder& b, const std::vector<Block>& blocks, std::size_t i) {
    const std::vector<unsigned>& next = successors_[i];
    const Value c = get(b, pick(kVariables));
    if (next.empty()) {
      const Value results[] = {b.binary(Op::Iadd, c, get(b, pick(kVariables)))};
      b.ret(results);
    } else if (next.size() == 1) {
      b.jump(blocks[next[0]]);
    } else if (next.size() == 2) {
      const Value low = b.binary(Op::Band, c, b.iconst(I32, 1));
      b.brif(low, blocks[next[0]], {}, blocks[next[1]], {});
    } else {
      std::vector<FunctionBuilder::Target> targets;
      for (std::size_t t = 1; t < next.size(); ++t) targets.push_back({blocks[next[t]], {}});
      b.br_table(b.binary(Op::Band, c, b.iconst(I32, 7)), {blocks[next[0]], {}}, targets);
    }
  }

  std::mt19937 random_;
  bool in_memory_, seal_late_;
  std::vector<std::vector<unsigned>> successors_, predecessors_;
  std::vector<Variable> variables_;
  std::vector<StackSlot> slots_;
};

TEST(Builder, VariablesAreLikeMemory) {
  unsigned returned = 0;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    const Function early = RandomProgram(seed, false, false).build();
    const Function late = RandomProgram(seed, false, true).build();
    const Function memory = RandomProgram(seed, true, false).build();
    expect_valid(early);
    expect_valid(late);
    expect_valid(memory);
    if (HasFailure()) FAIL() << "seed " << seed;
    Interpreter interpreter({.fuel = 5000, .call_depth = 1});
    for (std::uint64_t x = 0; x < 3; ++x) {
      const DataValue args[] = {{I32, x, 0}, {I32, x * 77, 0}};
      const auto expected = interpreter.run(memory, args);
      ASSERT_TRUE(expected);
      if (expected->kind != Interpreter::Outcome::Kind::Returned) continue;
      ++returned;
      for (const Function* func : {&early, &late}) {
        const auto found = interpreter.run(*func, args);
        ASSERT_TRUE(found);
        ASSERT_EQ(found->values, expected->values) << "seed " << seed << "\n" << to_string(*func);
      }
    }
  }
  EXPECT_GT(returned, 1000u);
}

TEST(Builder, LongChainsOfSinglePredecessorsAreFast) {
  // 1,000 variables defined at the top of a chain of 100,000 blocks and used at its bottom, and
  // again from side exits: a walk up the chain for each use would take a minute.
  const auto start = std::chrono::steady_clock::now();
  Function func = function_of({I32}, {});
  FunctionBuilder b(func);
  const Block entry = b.make_block();
  b.switch_to(entry);
  b.append_params_for_signature(entry);
  b.seal(entry);
  const Value c = func.block_params(entry)[0];
  std::vector<Variable> variables;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    variables.push_back(b.declare_variable(I32));
    b.define(variables.back(), b.iconst(I32, i));
  }
  std::vector<Block> exits;
  for (unsigned i = 0; i < 100'000; ++i) {
    exits.push_back(b.make_block());
    const Block next = b.make_block();
    b.brif(c, exits.back(), {}, next, {});
    b.seal(exits.back());
    b.switch_to(next);
    b.seal(next);
    if (i % 100 == 0) b.define(variables[i % 1000], c);
  }
  for (const Variable v : variables) b.use(v);
  b.ret({});
  for (std::size_t i = exits.size(); i-- > 0;) {
    b.switch_to(exits[i]);
    b.use(variables[i % 1000]);
    b.ret({});
  }
  b.finish();
  EXPECT_EQ(b.variable_param_count(), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace hoist::ir
