// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checker against wrong allocations: by hand, and random damage to right ones, where a
// simulation with concrete values decides whether the checker was allowed to accept.

#include <gtest/gtest.h>

#include <vector>

#include "codegen/mach/print.hpp"
#include "codegen/regalloc/allocation.hpp"
#include "codegen/regalloc/random_function.hpp"

namespace hoist::codegen {

namespace {

using testing::make_registers;
using testing::random_function;
using testing::RandomOptions;

MachFunction parse(std::string_view text) {
  MachFunction func;
  const auto parsed = parse_function(text, func);
  EXPECT_TRUE(parsed) << parsed.error().message() << " at line " << parsed.error().line();
  return func;
}

Alloc reg(unsigned n) {
  return Alloc::of(PReg::gpr(n));
}

AllocMove copy(std::uint32_t before, Alloc to, Alloc from) {
  AllocMove move;
  move.before = before;
  move.to = to;
  move.from = from;
  return move;
}

// Everything is in use so that hand-made allocations need not count.
Allocation with(std::vector<Alloc> allocs, std::vector<AllocMove> moves = {},
                std::uint32_t slots = 0) {
  Allocation alloc;
  alloc.allocs = std::move(allocs);
  alloc.moves = std::move(moves);
  alloc.spill_slots = slots;
  alloc.used.bits = ~std::uint64_t{0};
  return alloc;
}

std::string check(const MachFunction& func, const Allocation& alloc) {
  return check_allocation(func, make_registers({}), alloc);
}

constexpr const char* kTwoUses = R"(
mb0:
  op1 def %v0:i, def %v1:i
  op2 use %v0, use %v1 end
)";

TEST(Checker, AcceptsWhatIsRight) {
  EXPECT_EQ(check(parse(kTwoUses), with({reg(0), reg(1), reg(0), reg(1)})), "");
}

TEST(Checker, FindsTheWrongRegister) {
  EXPECT_EQ(check(parse(kTwoUses), with({reg(0), reg(1), reg(1), reg(1)})),
            "mb0 inst 1 operand 0 (use %v0@r1): r1 does not hold %v0, it holds { %v1 }");
}

TEST(Checker, FindsTwoDefinitionsInOneRegister) {
  EXPECT_EQ(check(parse(kTwoUses), with({reg(0), reg(0), reg(0), reg(0)})),
            "mb0 inst 0 operand 1 (def %v1:i@r0): register defined twice");
}

TEST(Checker, FindsAMissingLocation) {
  EXPECT_EQ(check(parse(kTwoUses), with({reg(0), reg(1), reg(0), {}})),
            "mb0 inst 1 operand 1 (use %v1@-): has no location");
}

TEST(Checker, FollowsCopies) {
  const MachFunction func = parse(kTwoUses);
  const std::vector<Alloc> swapped = {reg(0), reg(1), reg(1), reg(0)};
  AllocMove exchange = copy(1, reg(0), reg(1));
  exchange.kind = AllocMove::Kind::Exchange;
  EXPECT_EQ(check(func, with(swapped, {exchange})), "");
  EXPECT_EQ(check(func, with(swapped, {copy(1, reg(2), reg(0)), copy(1, reg(0), reg(1)),
                                       copy(1, reg(1), reg(2))})),
            "");
  EXPECT_NE(check(func, with(swapped, {copy(1, reg(0), reg(1)), copy(1, reg(1), reg(0))})), "");
  EXPECT_EQ(check(func, with(swapped, {copy(1, reg(0), Alloc::of_slot(3))})),
            "copy 0: no such place");
}

TEST(Checker, KnowsClobbers) {
  const MachFunction func = parse(R"(
mb0:
  op1 def %v0:i
  op2 clobber r0 r1 call
  op3 use %v0 end
)");
  EXPECT_NE(check(func, with({reg(0), reg(0)})), "");
  EXPECT_EQ(check(func, with({reg(2), reg(2)})), "");
}

TEST(Checker, KnowsWhenOperandsAreReadAndWritten) {
  const MachFunction early = parse(R"(
mb0:
  op1 def %v0:i
  op2 use %v0, early %v1:i end
)");
  EXPECT_EQ(check(early, with({reg(0), reg(0), reg(0)})),
            "mb0 inst 1 operand 1 (early %v1:i@r0): early definition in the register of a use");
  const MachFunction late = parse(R"(
mb0:
  op1 def %v0:i
  op2 late %v0, def %v1:i end
)");
  EXPECT_EQ(
      check(late, with({reg(0), reg(0), reg(0)})),
      "mb0 inst 1 operand 0 (late %v0@r0): late use in a register that the instruction writes");
  const MachFunction normal = parse(R"(
mb0:
  op1 def %v0:i
  op2 use %v0, def %v1:i end
)");
  EXPECT_EQ(check(normal, with({reg(0), reg(0), reg(0)})), "");
}

TEST(Checker, KnowsConstraints) {
  const MachFunction func = parse(R"(
mb0:
  op1 def %v0:i
  op2 def %v1:i~1, use %v0
  op3 use %v1=r3 end
)");
  EXPECT_EQ(check(func, with({reg(3), reg(3), reg(3), reg(3)})), "");
  EXPECT_EQ(
      check(func, with({reg(0), reg(3), reg(0), reg(3)})),
      "mb0 inst 1 operand 0 (def %v1:i~1@r3): must be in the register of the operand that it is "
      "the same as");
  EXPECT_EQ(check(func, with({reg(0), reg(0), reg(0), reg(0)})),
            "mb0 inst 2 operand 0 (use %v1=r3@r0): must be in the register that it is fixed to");
}

constexpr const char* kLoop = R"(
mb0:
  op1 def %v0:i
  op2 -> mb1(%v0)
mb1(%v1:i) depth 1 loop:
  op3 def %v2:i, use %v1
  op4 use %v2 -> mb2, mb3
mb2 depth 1:
  op5 -> mb1(%v2)
mb3:
  op6 use %v1 end
)";

TEST(Checker, MeetsAtBlocks) {
  const MachFunction func = parse(kLoop);
  const std::vector<Alloc> allocs = {reg(0), reg(1), reg(0), reg(1), reg(0)};
  EXPECT_EQ(check(func, with(allocs, {copy(4, reg(0), reg(1))})), "");
  // Without the copy on the back edge, r0 holds the parameter only on the way in.
  EXPECT_EQ(check(func, with(allocs)),
            "mb1 inst 2 operand 1 (use %v1@r0): r0 does not hold %v1, it holds { %v0 }");
}

TEST(Checker, ForgetsValuesOfEarlierIterations) {
  const MachFunction func = parse(R"(
mb0:
  op1 -> mb1
mb1 depth 1 loop:
  op2 def %v0:i
  op3 -> mb2, mb3
mb2 depth 1:
  op4 -> mb1
mb3:
  op5 use %v0 end
)");
  // r1 has the value of the iteration before.
  EXPECT_NE(check(func, with({reg(0), reg(1)}, {copy(1, reg(1), reg(0))})), "");
  EXPECT_EQ(check(func, with({reg(0), reg(1)}, {copy(2, reg(1), reg(0))})), "");
}

TEST(Checker, KnowsTheWidthOfSlots) {
  const MachFunction func = parse(R"(
mb0:
  op1 def %v0:v
  op2 any %v0 end
)");
  AllocMove store = copy(1, Alloc::of_slot(0), Alloc::of(PReg::fpr(0)));
  store.cls = RegClass::Float;
  const std::vector<Alloc> allocs = {Alloc::of(PReg::fpr(0)), Alloc::of_slot(0)};
  EXPECT_NE(check(func, with(allocs, {store}, 2)), "");
  store.bytes = 16;
  EXPECT_EQ(check(func, with(allocs, {store}, 2)), "");
  EXPECT_EQ(check(func, with(allocs, {store}, 1)), "copy 0: a 16-byte slot that is not aligned");
}

TEST(Checker, KnowsRematerialisation) {
  const MachFunction func = parse(R"(
mb0:
  op1 def %v0:i remat
  op2 use %v0 end
)");
  AllocMove remat = copy(1, reg(4), {});
  remat.remat_inst = 0;
  EXPECT_EQ(check(func, with({{}, reg(4)}, {remat})), "");
  remat.remat_inst = 1;
  EXPECT_EQ(check(func, with({{}, reg(4)}, {remat})),
            "copy 0: not an instruction to be made again");
}

/// Runs a function with concrete values, once over virtual registers and once over locations, and
/// says whether each use reads the same in both.
class Simulation {
 public:
  Simulation(const MachFunction& func, const RegisterFile& regs, const Allocation& alloc,
             std::uint64_t seed)
      : func_(func), regs_(regs), alloc_(alloc), noise_(seed * 2 + 1) {
    values_.resize(func.vregs.size());
    places_.resize(64 + alloc.spill_slots);
    for (auto& place : places_) place = noise();
  }
  bool agrees(unsigned steps) {
    MachBlock block(0u);
    for (; steps > 0; --steps) {
      const MachBlockData& data = func_.blocks[block];
      for (std::uint32_t i = data.first_inst; i < data.end_inst; ++i) {
        for (const AllocMove& move : alloc_.moves) {
          if (move.before == i) apply(move);
        }
        if (!visit(i)) return false;
      }
      if (data.succ_count == 0) return true;
      const MachEdge& edge = func_.succs_of(data)[(noise() >> 20) % data.succ_count];
      std::vector<std::uint64_t> args;
      for (const VReg arg : func_.args_of(edge)) args.push_back(values_[arg.index()]);
      const auto params = func_.params_of(func_.blocks[edge.target]);
      for (std::size_t p = 0; p < params.size(); ++p) values_[params[p].index()] = args[p];
      block = edge.target;
    }
    return true;
  }

 private:
  std::uint64_t noise() {
    noise_ = noise_ * 6364136223846793005u + 1442695040888963407u;
    return noise_ ^ (noise_ >> 29);
  }
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  }
  std::size_t place(Alloc a) const { return a.is_reg() ? a.reg.index : std::size_t{64} + a.slot; }

  void apply(const AllocMove& move) {
    if (move.remat_inst != AllocMove::kNoRemat) {
      places_[place(move.to)] = mix(move.remat_inst, 0);
    } else if (move.kind == AllocMove::Kind::Exchange) {
      std::swap(places_[place(move.to)], places_[place(move.from)]);
    } else {
      if (move.to.is_slot() && move.from.is_slot()) places_[regs_.float_scratch.index] = noise();
      places_[place(move.to)] = places_[place(move.from)];
      if (move.to.is_slot() && move.bytes == 16) places_[place(move.to) + 1] = noise();
    }
  }

  bool visit(std::uint32_t i) {
    const MachInst& inst = func_.insts[i];
    std::uint64_t result = i;
    const auto operands = func_.operands_of(inst);
    const Alloc* allocs = alloc_.allocs.data() + inst.first_operand;
    const bool remat = (inst.flags & kRemat) != 0;
    const auto same = [&](std::size_t o) {
      return places_[place(allocs[o])] == values_[operands[o].vreg.index()];
    };
    for (std::size_t o = 0; o < operands.size(); ++o) {
      if (operands[o].role == Role::Def || operands[o].role == Role::EarlyDef) continue;
      if (!same(o)) return false;
      result = mix(result, values_[operands[o].vreg.index()]);
    }
    if (!remat) result = mix(result, noise());
    for (const Role role : {Role::EarlyDef, Role::Def}) {
      if (role == Role::Def) {
        for (unsigned r = 0; r < 64; ++r) {
          if (((func_.clobber_sets[inst.clobbers].bits >> r) & 1) != 0) places_[r] = noise();
        }
      }
      for (std::size_t o = 0; o < operands.size(); ++o) {
        if (operands[o].role != role) continue;
        const std::uint64_t value = mix(result, remat ? 0 : o);
        values_[operands[o].vreg.index()] = remat ? mix(i, 0) : value;
        if (allocs[o].is_reg()) places_[allocs[o].reg.index] = values_[operands[o].vreg.index()];
      }
    }
    for (std::size_t o = 0; o < operands.size(); ++o) {
      if (operands[o].role == Role::LateUse && !same(o)) return false;
    }
    return true;
  }

  const MachFunction& func_;
  const RegisterFile& regs_;
  const Allocation& alloc_;
  std::uint64_t noise_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> places_;
};

bool agrees(const MachFunction& func, const RegisterFile& regs, const Allocation& alloc) {
  for (std::uint64_t run = 1; run <= 6; ++run) {
    if (!Simulation(func, regs, alloc, run * 977).agrees(60)) return false;
  }
  return true;
}

TEST(Checker, AgreesWithSimulation) {
  const RandomOptions options;
  const RegisterFile regs = make_registers(options);
  for (const AllocatorKind kind : {AllocatorKind::LinearScan, AllocatorKind::Simple}) {
    const auto allocator = make_allocator(kind);
    for (std::uint64_t seed = 500; seed < 800; ++seed) {
      const MachFunction func = random_function(seed, options);
      Allocation alloc;
      ASSERT_TRUE(allocator->run(func, regs, alloc));
      ASSERT_EQ(check_allocation(func, regs, alloc), "");
      ASSERT_TRUE(agrees(func, regs, alloc)) << "seed " << seed;
    }
  }
}

/// One change to an allocation, chosen by `noise`; false where it cannot be made.
bool damage(Allocation& alloc, const MachFunction& func, std::uint64_t noise) {
  const std::uint64_t kind = noise % 6;
  noise /= 6;
  if (kind >= 4) {
    if (alloc.allocs.empty()) return false;
    Alloc& at = alloc.allocs[noise % alloc.allocs.size()];
    if (!at.is_reg()) return false;
    const unsigned limit = at.reg.cls() == RegClass::Int ? 6 : 4;
    const auto index = static_cast<std::uint8_t>((at.reg.index & 32u) + (noise / 1024) % limit);
    if (index == at.reg.index) return false;
    at.reg.index = index;
    return true;
  }
  if (alloc.moves.empty()) return false;
  const std::size_t m = noise % alloc.moves.size();
  AllocMove& move = alloc.moves[m];
  static_cast<void>(func);
  switch (kind) {
    case 0: alloc.moves.erase(alloc.moves.begin() + static_cast<std::ptrdiff_t>(m)); return true;
    case 1: {
      if (m + 1 == alloc.moves.size() || alloc.moves[m + 1].before != move.before) return false;
      std::swap(alloc.moves[m], alloc.moves[m + 1]);
      return true;
    }
    case 2: {
      Alloc& side = (noise / 4096) % 2 == 0 ? move.to : move.from;
      if (!side.is_slot() || alloc.spill_slots < 2 || move.bytes == 16) return false;
      side.slot = static_cast<std::uint16_t>((side.slot + 1) % alloc.spill_slots);
      return true;
    }
    default: {
      if (!move.from.is_reg()) return false;
      const unsigned limit = move.cls == RegClass::Int ? 6 : 4;
      const auto index =
          static_cast<std::uint8_t>((move.from.reg.index & 32u) + (noise / 1024) % limit);
      if (index == move.from.reg.index) return false;
      move.from.reg.index = index;
      return true;
    }
  }
}

TEST(Checker, RejectsDamage) {
  const RandomOptions options;
  const RegisterFile regs = make_registers(options);
  const auto allocator = make_allocator(AllocatorKind::LinearScan);
  unsigned wrong = 0;
  unsigned rejected = 0;
  unsigned damaged = 0;
  std::uint64_t noise = 12345;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    const MachFunction func = random_function(seed, options);
    Allocation good;
    ASSERT_TRUE(allocator->run(func, regs, good));
    for (unsigned round = 0; round < 12; ++round) {
      noise = noise * 6364136223846793005u + 1442695040888963407u;
      Allocation bad = good;
      if (!damage(bad, func, noise >> 16)) continue;
      ++damaged;
      const std::string message = check_allocation(func, regs, bad);
      rejected += message.empty() ? 0U : 1U;
      // A location may have none of its values left, then the simulation cannot run it.
      if (!message.empty() && message.find("no such place") != std::string::npos) continue;
      if (agrees(func, regs, bad)) continue;
      ++wrong;
      ASSERT_NE(message, "") << "seed " << seed << " round " << round;
    }
  }
  // Most damage matters, and all that shows was found above.
  EXPECT_GT(wrong, damaged / 2) << damaged;
  EXPECT_GE(rejected, wrong);
}

}  // namespace

}  // namespace hoist::codegen
