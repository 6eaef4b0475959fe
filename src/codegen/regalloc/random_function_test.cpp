// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator of random_function.hpp, and the test that what it makes keeps the guarantees of
// lowering.

#include "codegen/regalloc/random_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "codegen/mach/print.hpp"

namespace hoist::codegen::testing {

namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e37'79b9'7f4a'7c15u + 0x1234'5678'9abcu) {}
  std::uint64_t bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545'f491'4f6c'dd1du;
  }
  unsigned below(std::size_t limit) {
    return static_cast<unsigned>((bits() >> 33) % static_cast<std::uint64_t>(limit));
  }
  bool percent(unsigned chance) { return below(100) < chance; }

 private:
  std::uint64_t state_;
};

struct Block {
  std::vector<unsigned> succs;
  std::vector<unsigned> preds;
  std::vector<std::vector<VReg>> args;  // by successor
  std::vector<VReg> params;
  std::vector<MachInst> insts;
  std::vector<VReg> values;  // visible at the end: own ones and those of dominators
  bool cold = false;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomOptions& options)
      : random_(seed), options_(options), registers_(make_registers(options)) {}
  MachFunction run();

 private:
  void make_graph();
  void drop_unreachable();
  void split_critical_edges();
  void find_dominators();
  void fill(unsigned block);
  void choose_args();
  MachFunction assemble();

  VReg new_vreg(RegClass cls, unsigned bytes = 8);
  RegClass any_class() { return random_.percent(70) ? RegClass::Int : RegClass::Float; }
  bool find(const Block& block, RegClass cls, VReg& out, unsigned bytes = 0);
  unsigned regs_of(RegClass cls) const {
    return cls == RegClass::Int ? options_.int_regs : options_.float_regs;
  }
  PReg some_reg(RegClass cls) {
    const auto& order = cls == RegClass::Int ? registers_.int_order : registers_.float_order;
    return order[random_.below(order.size())];
  }

  void begin();
  void end(Block& block, std::uint8_t flags = 0);
  void add(VReg vreg, Role role, Constraint constraint = Constraint::Reg, PReg fixed = {},
           unsigned same = 0);
  void define(Block& block, VReg vreg) { defined_.push_back(vreg), static_cast<void>(block); }

  void plain(Block& block);
  void two_address(Block& block);
  void shift(Block& block);
  void divide(Block& block);
  void call(Block& block);
  void constant(Block& block);
  void copy(Block& block);
  void spread(Block& block);
  void terminator(Block& block);

  Random random_;
  RandomOptions options_;
  RegisterFile registers_;
  MachFunction func_;
  std::vector<Block> blocks_;
  std::vector<unsigned> order_;      // reverse postorder
  std::vector<unsigned> dominator_;  // immediate
  MachInst inst_;
  std::vector<VReg> defined_;
};

VReg Generator::new_vreg(RegClass cls, unsigned bytes) {
  return func_.vregs.push({cls, static_cast<std::uint8_t>(bytes)});
}

// A visible value of the class; recent ones are likelier.
bool Generator::find(const Block& block, RegClass cls, VReg& out, unsigned bytes) {
  for (unsigned attempt = 0; attempt < 20; ++attempt) {
    if (block.values.empty()) return false;
    const std::size_t count = block.values.size();
    const std::size_t window =
        random_.percent(options_.live_bias) ? count : std::min<std::size_t>(count, 4);
    const VReg v = block.values[count - 1 - random_.below(window)];
    if (func_.vregs[v].cls != cls || (bytes != 0 && func_.vregs[v].bytes != bytes)) continue;
    out = v;
    return true;
  }
  return false;
}

void Generator::begin() {
  inst_ = {};
  inst_.op = static_cast<std::uint16_t>(1 + random_.below(100));
  inst_.first_operand = static_cast<std::uint32_t>(func_.operands.size());
  defined_.clear();
}

void Generator::add(VReg vreg, Role role, Constraint constraint, PReg fixed, unsigned same) {
  func_.operands.push_back({vreg, role, constraint, fixed, static_cast<std::uint8_t>(same)});
  ++inst_.operand_count;
}

void Generator::end(Block& block, std::uint8_t flags) {
  inst_.flags |= flags;
  block.insts.push_back(inst_);
  block.values.insert(block.values.end(), defined_.begin(), defined_.end());
}

// Some uses, some definitions, all roles; never more than the registers allow.
void Generator::plain(Block& block) {
  begin();
  unsigned room[2] = {options_.int_regs - 1, options_.float_regs - 1};
  const unsigned uses = random_.below(4);
  std::vector<VReg> early;
  if (random_.percent(25)) {
    const RegClass cls = any_class();
    --room[static_cast<std::size_t>(cls)];
    early.push_back(new_vreg(cls));
    add(early.back(), Role::EarlyDef);
  }
  unsigned late[2] = {0, 0};
  for (unsigned u = 0; u < uses; ++u) {
    const RegClass cls = any_class();
    VReg v;
    if (room[static_cast<std::size_t>(cls)] < 2 || !find(block, cls, v)) continue;
    --room[static_cast<std::size_t>(cls)];
    const bool is_late = random_.percent(15);
    late[static_cast<std::size_t>(cls)] += is_late ? 1 : 0;
    add(v, is_late ? Role::LateUse : Role::Use,
        random_.percent(30) ? Constraint::RegOrSlot : Constraint::Reg);
  }
  const unsigned defs = random_.below(3);
  for (unsigned d = 0; d < defs; ++d) {
    const RegClass cls = any_class();
    const auto c = static_cast<std::size_t>(cls);
    if (late[c] + early.size() + d + 1 > regs_of(cls)) continue;
    const VReg v = new_vreg(cls, cls == RegClass::Float && random_.percent(30) ? 16 : 8);
    add(v, Role::Def);
    define(block, v);
  }
  for (const VReg v : early) {
    if (random_.percent(60)) define(block, v);
  }
  end(block);
}

void Generator::two_address(Block& block) {
  begin();
  const RegClass cls = any_class();
  VReg a;
  VReg b;
  if (!find(block, cls, a) || !find(block, cls, b)) return;
  const VReg d = new_vreg(cls, func_.vregs[a].bytes);
  add(d, Role::Def, Constraint::Same, {}, 1);
  add(a, Role::Use);
  add(b, Role::Use, random_.percent(40) ? Constraint::RegOrSlot : Constraint::Reg);
  define(block, d);
  end(block);
}

void Generator::shift(Block& block) {
  begin();
  VReg a;
  VReg count;
  if (!find(block, RegClass::Int, a) || !find(block, RegClass::Int, count)) return;
  const VReg d = new_vreg(RegClass::Int);
  add(d, Role::Def, Constraint::Same, {}, 1);
  add(a, Role::Use);
  add(count, Role::Use, Constraint::Fixed, PReg::gpr(1));
  define(block, d);
  end(block);
}

// Quotient and remainder in two fixed registers, one of them an operand, the other a temporary.
void Generator::divide(Block& block) {
  begin();
  VReg a;
  VReg b;
  if (!find(block, RegClass::Int, a) || !find(block, RegClass::Int, b)) return;
  const VReg d = new_vreg(RegClass::Int);
  add(d, Role::Def, Constraint::Fixed, PReg::gpr(0));
  add(a, Role::Use, Constraint::Fixed, PReg::gpr(0));
  add(b, Role::Use, random_.percent(50) ? Constraint::RegOrSlot : Constraint::Reg);
  if (random_.percent(50)) {
    const VReg temp = new_vreg(RegClass::Int);
    add(temp, Role::EarlyDef, Constraint::Fixed, PReg::gpr(2));
    if (random_.percent(50)) define(block, temp);
  } else {
    RegMask clobbers;
    clobbers.add(PReg::gpr(2));
    inst_.clobbers = static_cast<std::uint16_t>(func_.clobber_sets.size());
    func_.clobber_sets.push_back(clobbers);
  }
  define(block, d);
  end(block);
}

void Generator::call(Block& block) {
  begin();
  RegMask clobbers;
  for (const PReg reg : registers_.int_order) {
    if (!registers_.callee_saved.contains(reg)) clobbers.add(reg);
  }
  for (const PReg reg : registers_.float_order) clobbers.add(reg);
  const unsigned int_args = random_.below(3);
  const unsigned float_args = random_.below(3);
  std::vector<VReg> results;
  if (random_.percent(60)) {
    results.push_back(new_vreg(RegClass::Int));
    add(results.back(), Role::Def, Constraint::Fixed, PReg::gpr(0));
  }
  if (random_.percent(30)) {
    results.push_back(new_vreg(RegClass::Float));
    add(results.back(), Role::Def, Constraint::Fixed, PReg::fpr(0));
  }
  for (unsigned i = 0; i < int_args; ++i) {
    VReg v;
    if (find(block, RegClass::Int, v)) add(v, Role::Use, Constraint::Fixed, PReg::gpr(2 - i));
  }
  for (unsigned i = 0; i < float_args; ++i) {
    VReg v;
    if (find(block, RegClass::Float, v)) add(v, Role::Use, Constraint::Fixed, PReg::fpr(i));
  }
  if (random_.percent(30)) {
    VReg v;
    if (find(block, RegClass::Int, v)) {
      add(v, Role::Use, random_.percent(50) ? Constraint::RegOrSlot : Constraint::Reg);
    }
  }
  inst_.clobbers = static_cast<std::uint16_t>(func_.clobber_sets.size());
  func_.clobber_sets.push_back(clobbers);
  func_.has_calls = true;
  for (const VReg v : results) define(block, v);
  end(block, kCall);
}

void Generator::constant(Block& block) {
  begin();
  const VReg v = new_vreg(any_class());
  add(v, Role::Def);
  define(block, v);
  end(block, kRemat);
}

void Generator::copy(Block& block) {
  begin();
  const RegClass cls = any_class();
  VReg v;
  if (!find(block, cls, v)) return;
  const VReg d = new_vreg(cls, func_.vregs[v].bytes);
  add(d, Role::Def);
  add(v, Role::Use);
  define(block, d);
  end(block, kMove);
}

// One value in several fixed registers and plain operands at once.
void Generator::spread(Block& block) {
  begin();
  const RegClass cls = any_class();
  VReg v;
  if (!find(block, cls, v)) return;
  const VReg d = new_vreg(cls, func_.vregs[v].bytes);
  const bool same = random_.percent(50);
  const PReg first = some_reg(cls);
  PReg second = some_reg(cls);
  while (second == first) second = some_reg(cls);
  if (same) {
    add(d, Role::Def, Constraint::Same, {}, 1 + random_.below(2));
  } else {
    add(d, Role::Def);
  }
  add(v, Role::Use, Constraint::Fixed, first);
  add(v, Role::Use);
  if (random_.percent(50)) add(v, Role::Use, Constraint::Fixed, second);
  define(block, d);
  end(block);
}

void Generator::terminator(Block& block) {
  begin();
  if (block.succs.size() != 1) {
    const unsigned uses = random_.below(3);
    for (unsigned u = 0; u < uses; ++u) {
      const RegClass cls = any_class();
      VReg v;
      if (!find(block, cls, v)) continue;
      if (block.succs.empty() && u == 0) {
        add(v, Role::Use, Constraint::Fixed, cls == RegClass::Int ? PReg::gpr(0) : PReg::fpr(0));
      } else {
        add(v, Role::Use, random_.percent(30) ? Constraint::RegOrSlot : Constraint::Reg);
      }
    }
  }
  end(block, kTerminator);
}

void Generator::make_graph() {
  const unsigned count = 1 + random_.below(options_.blocks);
  blocks_.resize(count);
  const bool local = random_.percent(50);
  for (unsigned b = 0; b < count; ++b) {
    const unsigned kind = random_.below(10);
    unsigned succs = kind < 4 ? 1 : kind < 8 ? 2 : kind < 9 ? 3 + random_.below(3) : 0;
    if (count == 1) succs = 0;
    for (unsigned s = 0; s < succs; ++s) {
      unsigned target = 1 + random_.below(count - 1);
      if (local && random_.percent(80)) target = 1 + std::min(count - 2, b + random_.below(3));
      auto& list = blocks_[b].succs;
      if (std::find(list.begin(), list.end(), target) == list.end()) list.push_back(target);
    }
    blocks_[b].cold = b != 0 && random_.percent(15);
  }
}

void Generator::drop_unreachable() {
  std::vector<bool> seen(blocks_.size(), false);
  std::vector<unsigned> stack = {0};
  seen[0] = true;
  while (!stack.empty()) {
    const unsigned b = stack.back();
    stack.pop_back();
    for (const unsigned s : blocks_[b].succs) {
      if (!seen[s]) stack.push_back(s);
      seen[s] = true;
    }
  }
  std::vector<unsigned> renumber(blocks_.size(), 0);
  std::vector<Block> kept;
  for (unsigned b = 0; b < blocks_.size(); ++b) {
    if (!seen[b]) continue;
    renumber[b] = static_cast<unsigned>(kept.size());
    kept.push_back(blocks_[b]);
  }
  for (Block& block : kept) {
    for (unsigned& s : block.succs) s = renumber[s];
  }
  blocks_ = std::move(kept);
}

void Generator::split_critical_edges() {
  const auto find_preds = [&] {
    for (Block& block : blocks_) block.preds.clear();
    for (unsigned b = 0; b < blocks_.size(); ++b) {
      for (const unsigned s : blocks_[b].succs) blocks_[s].preds.push_back(b);
    }
  };
  find_preds();
  const auto count = static_cast<unsigned>(blocks_.size());
  for (unsigned b = 0; b < count; ++b) {
    if (blocks_[b].succs.size() < 2) continue;
    for (std::size_t s = 0; s < blocks_[b].succs.size(); ++s) {
      const unsigned target = blocks_[b].succs[s];
      if (blocks_[target].preds.size() < 2) continue;
      Block middle;
      middle.succs = {target};
      middle.cold = blocks_[target].cold;
      blocks_[b].succs[s] = static_cast<unsigned>(blocks_.size());
      blocks_.push_back(middle);
    }
  }
  find_preds();
}

void Generator::find_dominators() {
  // Depth-first order, then the usual iteration.
  std::vector<unsigned> state(blocks_.size(), 0);
  std::vector<std::pair<unsigned, std::size_t>> stack = {{0, 0}};
  state[0] = 1;
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    if (next == blocks_[b].succs.size()) {
      order_.push_back(b);
      stack.pop_back();
      continue;
    }
    const unsigned s = blocks_[b].succs[next++];
    if (state[s] != 0) continue;
    state[s] = 1;
    stack.push_back({s, 0});
  }
  std::reverse(order_.begin(), order_.end());
  std::vector<unsigned> position(blocks_.size(), 0);
  for (unsigned i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  constexpr unsigned kNone = ~0u;
  dominator_.assign(blocks_.size(), kNone);
  dominator_[0] = 0;
  for (bool again = true; again;) {
    again = false;
    for (const unsigned b : order_) {
      if (b == 0) continue;
      unsigned best = kNone;
      for (const unsigned p : blocks_[b].preds) {
        if (dominator_[p] == kNone) continue;
        unsigned other = p;
        if (best == kNone) best = p;
        while (best != other) {
          while (position[best] > position[other]) best = dominator_[best];
          while (position[other] > position[best]) other = dominator_[other];
        }
      }
      again = again || best != dominator_[b];
      dominator_[b] = best;
    }
  }
}

void Generator::fill(unsigned b) {
  Block& block = blocks_[b];
  if (b != 0) block.values = blocks_[dominator_[b]].values;
  const bool may_have_params =
      b != 0 && (block.preds.size() > 1 || blocks_[block.preds[0]].succs.size() == 1);
  if (may_have_params) {
    for (unsigned p = random_.below(5); p > 0; --p) {
      block.params.push_back(new_vreg(any_class()));
      block.values.push_back(block.params.back());
    }
  }
  if (b == 0) {
    // As of a function with arguments.
    begin();
    for (unsigned i = 0; i < 3; ++i) {
      const VReg v = new_vreg(RegClass::Int);
      add(v, Role::Def, Constraint::Fixed, PReg::gpr(i));
      define(block, v);
    }
    for (unsigned i = 0; i < 2; ++i) {
      const VReg v = new_vreg(RegClass::Float);
      add(v, Role::Def, Constraint::Fixed, PReg::fpr(i));
      define(block, v);
    }
    end(block);
  }
  for (unsigned count = random_.below(options_.insts_per_block + 1); count > 0; --count) {
    switch (random_.below(12)) {
      case 0: call(block); break;
      case 1: constant(block); break;
      case 2: copy(block); break;
      case 3: spread(block); break;
      case 4: shift(block); break;
      case 5: divide(block); break;
      case 6:
      case 7:
      case 8: two_address(block); break;
      default: plain(block); break;
    }
  }
  terminator(block);
}

void Generator::choose_args() {
  for (Block& block : blocks_) {
    block.args.resize(block.succs.size());
    for (std::size_t s = 0; s < block.succs.size(); ++s) {
      for (const VReg param : blocks_[block.succs[s]].params) {
        VReg v;
        // The entry block has values of both classes.
        while (!find(block, func_.vregs[param].cls, v, 8)) {
        }
        block.args[s].push_back(v);
      }
    }
  }
}

MachFunction Generator::assemble() {
  std::vector<unsigned> layout = order_;
  if (random_.percent(50)) {
    for (std::size_t i = layout.size(); i-- > 2;)
      std::swap(layout[i], layout[1 + random_.below(i)]);
  }
  std::vector<unsigned> number(blocks_.size());
  for (unsigned i = 0; i < layout.size(); ++i) number[layout[i]] = i;
  for (const unsigned b : layout) {
    const Block& block = blocks_[b];
    MachBlockData data;
    data.first_inst = static_cast<std::uint32_t>(func_.insts.size());
    func_.insts.insert(func_.insts.end(), block.insts.begin(), block.insts.end());
    data.end_inst = static_cast<std::uint32_t>(func_.insts.size());
    data.first_param = static_cast<std::uint32_t>(func_.block_params.size());
    data.param_count = static_cast<std::uint32_t>(block.params.size());
    func_.block_params.insert(func_.block_params.end(), block.params.begin(), block.params.end());
    data.first_succ = static_cast<std::uint32_t>(func_.succs.size());
    data.succ_count = static_cast<std::uint32_t>(block.succs.size());
    for (std::size_t s = 0; s < block.succs.size(); ++s) {
      func_.succs.push_back({MachBlock(number[block.succs[s]]),
                             static_cast<std::uint32_t>(func_.edge_args.size()),
                             static_cast<std::uint32_t>(block.args[s].size())});
      func_.edge_args.insert(func_.edge_args.end(), block.args[s].begin(), block.args[s].end());
    }
    data.first_pred = static_cast<std::uint32_t>(func_.preds.size());
    data.pred_count = static_cast<std::uint32_t>(block.preds.size());
    for (const unsigned p : block.preds) func_.preds.push_back(MachBlock(number[p]));
    data.cold = block.cold;
    func_.blocks.push(data);
  }
  func_.locs.resize(func_.insts.size());
  return std::move(func_);
}

MachFunction Generator::run() {
  func_.clear();
  make_graph();
  drop_unreachable();
  split_critical_edges();
  find_dominators();
  for (const unsigned b : order_) fill(b);
  choose_args();
  return assemble();
}

}  // namespace

RegisterFile make_registers(const RandomOptions& options) {
  RegisterFile regs;
  for (unsigned i = 0; i < options.int_regs; ++i) {
    regs.int_order.push_back(PReg::gpr(i));
    if (i >= options.int_regs - options.callee_saved) regs.callee_saved.add(PReg::gpr(i));
  }
  for (unsigned i = 0; i < options.float_regs; ++i) regs.float_order.push_back(PReg::fpr(i));
  regs.float_scratch = PReg::fpr(31);
  return regs;
}

MachFunction random_function(std::uint64_t seed, const RandomOptions& options) {
  return Generator(seed, options).run();
}

TEST(RandomFunction, PrintsAndParses) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const MachFunction func = random_function(seed, {});
    base::Printer first;
    print_function(first, func);
    MachFunction again;
    const auto parsed = parse_function(first.view(), again);
    ASSERT_TRUE(parsed) << parsed.error().message() << " line " << parsed.error().line();
    base::Printer second;
    print_function(second, again);
    ASSERT_EQ(first.view(), second.view());
  }
}

TEST(RandomFunction, IsTheSameForTheSameSeed) {
  base::Printer a;
  base::Printer b;
  print_function(a, random_function(7, {}));
  print_function(b, random_function(7, {}));
  EXPECT_EQ(a.view(), b.view());
}

}  // namespace hoist::codegen::testing
