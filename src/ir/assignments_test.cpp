// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random structured programs built with and without knowledge of the assignments: valid, the same
// results, and no more block parameters than without.
#include "ir/assignments.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ir/builder.hpp"
#include "ir/interp/interpreter.hpp"
#include "ir/verify/verifier.hpp"

namespace hoist::ir {

namespace {

/// The same walk gives the first pass (no builder) and the function.
class Walk {
 public:
  Walk(std::uint64_t seed, unsigned variables, Assignments* assignments, FunctionBuilder* builder)
      : state_(seed), variables_(variables), assignments_(assignments), builder_(builder) {}

  void function() {
    if (builder_ == nullptr) {
      assignments_->start(variables_);
      statements(0);
      assignments_->finish();
      return;
    }
    FunctionBuilder& b = *builder_;
    b.set_assignments(assignments_);
    const Block entry = b.make_block();
    if (assignments_ != nullptr) assignments_->reached_start(entry);
    b.append_params_for_signature(entry);
    b.switch_to(entry);
    b.seal(entry);
    for (unsigned i = 0; i < variables_; ++i) {
      const Value start = i == 0 ? b.func().block_params(entry)[0] : b.iconst(I32, i * 7);
      b.define(b.declare_variable(I32), start);
    }
    fuel_ = b.declare_variable(I32);
    b.define(fuel_, b.iconst(I32, 30));
    statements(0);
    Value sum = b.use(fuel_);
    for (unsigned i = 0; i < variables_; ++i) {
      sum = b.binary(Op::Imul, sum, b.iconst(I32, 31));
      sum = b.binary(Op::Iadd, sum, b.use(Variable(i)));
    }
    b.ret(std::span(&sum, 1));
    b.finish();
  }

 private:
  struct Frame {
    Block target;
    bool used;
  };

  unsigned pick(unsigned n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(state_ >> 33) % n;
  }
  void assign() {
    const Variable var(pick(variables_));
    const Variable x(pick(variables_));
    const Variable y(pick(variables_));
    if (builder_ == nullptr) return assignments_->assign(var);
    const Value a = builder_->use(x);
    const Value b = builder_->use(y);
    builder_->define(var, builder_->binary(Op::Isub, a, b));
    if (assignments_ != nullptr) assignments_->reached_assignment(builder_->current_block());
  }
  void open(RegionKind kind, Block header = Block::none()) {
    if (builder_ == nullptr) return assignments_->open(kind);
    if (assignments_ != nullptr) assignments_->reached_open(builder_->current_block(), header);
  }
  /// Goes on in `join`, if there is one.
  void close(Block join) {
    if (builder_ == nullptr) return assignments_->close();
    if (join.is_some()) {
      builder_->switch_to(join);
      builder_->seal(join);
    }
    if (assignments_ == nullptr) return;
    assignments_->reached_close(builder_->current_block());
    if (join.is_some()) assignments_->reached_block(join);
  }
  Value less_fuel() {
    const Value x = builder_->use(fuel_);
    const Value less = builder_->binary(Op::Isub, x, builder_->iconst(I32, 1));
    builder_->define(fuel_, less);
    return builder_->icmp(IntCC::Sgt, less, builder_->iconst(I32, 0));
  }
  void plain(unsigned depth) {
    open(RegionKind::Plain);
    const bool joins = pick(2) == 0;
    const Block join = builder_ != nullptr && joins ? builder_->make_block() : Block::none();
    exits_.push_back({join, joins});
    statements(depth + 1);
    exits_.pop_back();
    if (join.is_some()) builder_->jump(join);
    close(join);
  }
  void loop(unsigned depth) {
    const Block header = builder_ != nullptr ? builder_->make_block() : Block::none();
    open(RegionKind::Loop, header);
    if (builder_ != nullptr) {
      builder_->jump(header);
      builder_->switch_to(header);
    }
    statements(depth + 1);
    if (builder_ != nullptr) {
      const Block next = builder_->make_block();
      builder_->brif(less_fuel(), header, {}, next, {});
      builder_->switch_to(next);
      builder_->seal(next);
      builder_->seal(header);
    }
    close(Block::none());
  }
  void choice(unsigned depth) {
    const bool both = pick(2) == 0;
    Block yes;
    Block no;
    Block join;
    Block from;
    if (builder_ != nullptr) {
      yes = builder_->make_block();
      join = builder_->make_block();
      no = both ? builder_->make_block() : join;
      from = builder_->current_block();
    }
    const Variable x(pick(variables_));
    open(RegionKind::Choice);
    open(RegionKind::Plain);
    if (builder_ != nullptr) {
      builder_->brif(builder_->use(x), yes, {}, no, {});
      builder_->switch_to(yes);
      builder_->seal(yes);
    }
    exits_.push_back({join, true});
    statements(depth + 1);
    if (builder_ != nullptr) builder_->jump(join);
    if (builder_ == nullptr) {
      assignments_->close();
      assignments_->open(RegionKind::Plain);
    } else if (assignments_ != nullptr) {
      assignments_->reached_close(Block::none());
      assignments_->reached_open(assignments_->opened_from(), Block::none());
    }
    if (both) {
      if (builder_ != nullptr) {
        builder_->switch_to(no);
        builder_->seal(no);
      }
      statements(depth + 1);
      if (builder_ != nullptr) builder_->jump(join);
    }
    exits_.pop_back();
    if (builder_ == nullptr) {
      assignments_->close();
      return assignments_->close();
    }
    builder_->switch_to(join);
    builder_->seal(join);
    if (assignments_ == nullptr) return;
    assignments_->reached_close(join);
    assignments_->reached_close(join);
    assignments_->reached_block(join);
  }
  void leave() {
    if (exits_.empty()) return;
    const Frame frame = exits_[pick(static_cast<unsigned>(exits_.size()))];
    const Variable x(pick(variables_));
    if (!frame.used || builder_ == nullptr) return;
    const Block next = builder_->make_block();
    builder_->brif(builder_->use(x), frame.target, {}, next, {});
    builder_->switch_to(next);
    builder_->seal(next);
  }
  void statements(unsigned depth) {
    const unsigned count = pick(depth == 0 ? 12 : 6);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = pick(depth < 5 ? 8 : 3);
      if (kind < 2) {
        assign();
      } else if (kind == 2) {
        leave();
      } else if (kind < 4) {
        plain(depth);
      } else if (kind < 6) {
        loop(depth);
      } else {
        choice(depth);
      }
    }
  }

  std::uint64_t state_;
  unsigned variables_;
  Assignments* assignments_;
  FunctionBuilder* builder_;
  Variable fuel_;
  std::vector<Frame> exits_;
};

struct Built {
  Function func;
  std::size_t params = 0;
};

void build(std::uint64_t seed, unsigned variables, Assignments* assignments, Built& out) {
  if (assignments != nullptr) Walk(seed, variables, assignments, nullptr).function();
  out.func.name = ExternalName::testcase("f");
  out.func.signature.params.push_back({I32});
  out.func.signature.returns.push_back({I32});
  FunctionBuilder builder(out.func);
  Walk(seed, variables, assignments, &builder).function();
  out.params = builder.variable_param_count();
}

}  // namespace

TEST(Assignments, KnowingThemChangesNothingButTheWork) {
  Assignments assignments;  // one for all: it is reused
  std::size_t plain_params = 0;
  std::size_t known_params = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const unsigned variables = 1 + static_cast<unsigned>(seed % 6);
    Built plain;
    Built known;
    build(seed, variables, nullptr, plain);
    build(seed, variables, &assignments, known);
    for (const Built* built : {&plain, &known}) {
      const Result<void> verified = verify(built->func);
      ASSERT_TRUE(verified) << "seed " << seed << ": " << verified.error().message();
    }
    plain_params += plain.params;
    known_params += known.params;
    EXPECT_LE(known.params, plain.params) << "seed " << seed;
    Interpreter interpreter(Interpreter::Limits{.fuel = 100'000});
    for (const std::uint64_t x : {0u, 1u, 5u}) {
      const DataValue args[] = {{I32, x}};
      const auto expected = interpreter.run(plain.func, args);
      const auto found = interpreter.run(known.func, args);
      ASSERT_TRUE(expected && found);
      if (expected->kind == Interpreter::Outcome::Kind::OutOfFuel) continue;
      ASSERT_EQ(expected->kind, found->kind) << "seed " << seed;
      if (found->values.empty()) continue;
      ASSERT_EQ(expected->values[0].lo, found->values[0].lo) << "seed " << seed;
    }
  }
  EXPECT_LT(known_params, plain_params);
}

}  // namespace hoist::ir
