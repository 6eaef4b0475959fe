// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Comparison of two functions up to renumbering.
///
/// Blocks are paired from the entry on, along the targets of paired branches. Instructions with
/// effects of paired blocks are paired in order. Values are equal if they come from paired places,
/// or from pure instructions that are equal with equal operands, wherever those stand. Entities are
/// compared by what they are.
#include <map>
#include <utility>

#include "hoistdev/filetest_command.hpp"
#include "ir/text/printer.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

using ir::Block;
using ir::BlockCall;
using ir::Function;
using ir::Inst;
using ir::Value;

class Comparison {
 public:
  Comparison(const Function& a, const Function& b) : a_(a), b_(b) {}

  std::optional<std::string> run() {
    if (a_.name != b_.name || a_.signature != b_.signature) return "the heads differ";
    if (a_.entry_block().is_none() || b_.entry_block().is_none()) return std::nullopt;
    pair(a_.entry_block(), b_.entry_block());
    for (std::size_t next = 0; next < order_.size() && error_.empty(); ++next) {
      const auto [x, y] = order_[next];
      compare_blocks(x, y);
    }
    // Now every instruction with effects has its partner.
    for (const auto& [x, y, where] : values_) {
      if (!error_.empty()) break;
      if (!same(x, y, 0)) fail(where, "an operand differs");
    }
    if (error_.empty() && pure_a_ != pure_b_) {
      error_ = std::to_string(pure_a_) + " pure instructions against " + std::to_string(pure_b_);
    }
    return error_.empty() ? std::nullopt : std::optional(error_);
  }

 private:
  static constexpr unsigned kMaxDepth = 2000;

  void fail(Inst where, const std::string& what) {
    if (error_.empty()) error_ = "at `" + ir::to_string(a_, where) + "`: " + what;
  }

  void pair(Block x, Block y) {
    const auto [known, is_new] = blocks_.try_emplace(x.index(), y);
    if (is_new) {
      if (!targets_.try_emplace(y.index(), x).second) error_ = "two blocks correspond to one";
      order_.emplace_back(x, y);
    } else if (known->second != y) {
      error_ = "branches to different blocks";
    }
  }

  Inst next_effect(const Function& func, Inst inst, std::size_t& pure) {
    while (inst.is_some() && ir::is_pure(func.op(inst))) {
      ++pure;
      inst = func.next_inst(inst);
    }
    return inst;
  }

  void compare_blocks(Block x, Block y) {
    const auto params_x = a_.block_params(x), params_y = b_.block_params(y);
    if (params_x.size() != params_y.size()) {
      error_ = "a block has " + std::to_string(params_x.size()) + " parameters against " +
               std::to_string(params_y.size());
      return;
    }
    for (std::size_t i = 0; i < params_x.size(); ++i) {
      if (a_.type(params_x[i]) != b_.type(params_y[i])) error_ = "types of parameters differ";
    }
    Inst i = next_effect(a_, a_.first_inst(x), pure_a_);
    Inst j = next_effect(b_, b_.first_inst(y), pure_b_);
    while (i.is_some() && j.is_some() && error_.empty()) {
      compare_effects(i, j);
      i = next_effect(a_, a_.next_inst(i), pure_a_);
      j = next_effect(b_, b_.next_inst(j), pure_b_);
    }
    if (error_.empty() && i.is_some() != j.is_some()) {
      error_ = i.is_some() ? "only the expected text has `" + ir::to_string(a_, i) + "`"
                           : "only the output has `" + ir::to_string(b_, j) + "`";
    }
  }

  void compare_effects(Inst i, Inst j) {
    insts_.try_emplace(i.index(), j);
    if (!same_shape(i, j)) return fail(i, "found `" + ir::to_string(b_, j) + "`");
    if (a_.debug_tags(i).size() != b_.debug_tags(j).size()) return fail(i, "debug tags differ");
    for (std::size_t t = 0; t < a_.debug_tags(i).size(); ++t) {
      const ir::DebugTag x = a_.debug_tags(i)[t], y = b_.debug_tags(j)[t];
      const bool slot = x.kind == ir::DebugTag::Kind::StackSlot;
      if (x.kind != y.kind || (slot ? !same_slot(x.value, y.value) : x.value != y.value)) {
        return fail(i, "debug tags differ");
      }
    }
    const auto map_x = a_.stack_map(i), map_y = b_.stack_map(j);
    if (map_x.size() != map_y.size()) return fail(i, "stack maps differ");
    for (std::size_t e = 0; e < map_x.size(); ++e) {
      if (map_x[e].type != map_y[e].type || map_x[e].offset != map_y[e].offset ||
          !same_slot(map_x[e].slot.index(), map_y[e].slot.index())) {
        return fail(i, "stack maps differ");
      }
    }
    std::vector<Value> args_x, args_y;
    a_.for_each_arg(i, [&](Value v) { args_x.push_back(v); });
    b_.for_each_arg(j, [&](Value v) { args_y.push_back(v); });
    if (args_x.size() != args_y.size()) return fail(i, "numbers of operands differ");
    for (std::size_t n = 0; n < args_x.size(); ++n) values_.push_back({args_x[n], args_y[n], i});
    std::vector<Block> to_x, to_y;
    a_.for_each_target(i, [&](BlockCall call) { to_x.push_back(a_.call_target(call)); });
    b_.for_each_target(j, [&](BlockCall call) { to_y.push_back(b_.call_target(call)); });
    if (to_x.size() != to_y.size()) return fail(i, "numbers of targets differ");
    for (std::size_t n = 0; n < to_x.size(); ++n) pair(to_x[n], to_y[n]);
  }

  bool same(Value v, Value w, unsigned depth) {
    v = a_.resolve(v);
    w = b_.resolve(w);
    const ir::ValueData &x = a_.value(v), &y = b_.value(w);
    if (x.type != y.type || x.kind != y.kind || x.number != y.number || depth > kMaxDepth) {
      return false;
    }
    if (x.kind == ir::ValueKind::Param) {
      const auto found = blocks_.find(x.source);
      return found != blocks_.end() && found->second.index() == y.source;
    }
    const Inst i(x.source), j(y.source);
    if (const auto known = insts_.find(i.index()); known != insts_.end()) return known->second == j;
    if (!ir::is_pure(a_.op(i)) || !same_shape(i, j)) return false;
    std::vector<Value> args_x, args_y;
    a_.for_each_arg(i, [&](Value arg) { args_x.push_back(arg); });
    b_.for_each_arg(j, [&](Value arg) { args_y.push_back(arg); });
    for (std::size_t n = 0; n < args_x.size(); ++n) {
      if (!same(args_x[n], args_y[n], depth + 1)) return false;
    }
    insts_.try_emplace(i.index(), j);
    return true;
  }

  // ---- Everything but value operands and targets.

  bool same_shape(Inst i, Inst j) const {
    const ir::InstData &x = a_.data(i), &y = b_.data(j);
    if (x.op != y.op || a_.loc(i) != b_.loc(j)) return false;
    const auto rx = a_.results(i), ry = b_.results(j);
    if (rx.size() != ry.size()) return false;
    for (std::size_t n = 0; n < rx.size(); ++n) {
      if (a_.type(rx[n]) != b_.type(ry[n])) return false;
    }
    using ir::Format;
    switch (ir::format(x.op)) {
      case Format::Nullary:
      case Format::Unary:
      case Format::Binary:
      case Format::Ternary:
      case Format::Jump:
      case Format::Brif: return true;
      case Format::UnaryImm:
      case Format::UnaryF16:
      case Format::UnaryF32:
      case Format::UnaryF64: return x.imm64() == y.imm64();
      case Format::UnaryF128:
        return a_.immediates[ir::Immediate(x.a)] == b_.immediates[ir::Immediate(y.a)];
      case Format::UnaryConst:
        return a_.constants[ir::Constant(x.a)] == b_.constants[ir::Constant(y.a)];
      case Format::UnaryGlobalValue:
        return same_global(ir::GlobalValue(x.a), ir::GlobalValue(y.a), 0);
      case Format::BinaryImm8:
      case Format::TernaryImm8:
      case Format::IntCompare:
      case Format::FloatCompare:
      case Format::IntAddTrap:
      case Format::Trap:
      case Format::CondTrap: return x.aux == y.aux;
      case Format::Shuffle: return a_.shuffle_mask(i) == b_.shuffle_mask(j);
      case Format::MultiAry: return a_.arg_list(i).size() == b_.arg_list(j).size();
      case Format::BrTable: return true;
      case Format::Call:
      case Format::FuncAddr: return same_function(x.a, y.a);
      case Format::CallIndirect: return same_signature(i, j);
      case Format::TryCall: return same_function(x.a, y.a) && same_items(i, j);
      case Format::TryCallIndirect: return same_signature(i, j) && same_items(i, j);
      case Format::StackAddr: return x.b == y.b && same_slot(x.a, y.a);
      case Format::DynamicStackAddr: return true;
      case Format::Load: return x.b == y.b && same_flags(i, j);
      case Format::LoadNoOffset:
      case Format::StoreNoOffset:
      case Format::AtomicCas: return same_flags(i, j);
      case Format::Store:
      case Format::AtomicRmw: return x.c == y.c && same_flags(i, j);
      case Format::ExceptionHandlerAddress: return x.b == y.b;
    }
    return false;
  }

  bool same_flags(Inst i, Inst j) const {
    ir::MemFlags x = a_.mem_flags(i), y = b_.mem_flags(j);
    if (x.region.is_some() != y.region.is_some()) return false;
    if (x.region.is_some() &&
        a_.alias_regions[x.region].user_id != b_.alias_regions[y.region].user_id) {
      return false;
    }
    x.region = y.region;
    return x == y;
  }
  bool same_slot(std::uint32_t x, std::uint32_t y) const {
    const ir::StackSlotData &s = a_.stack_slots[ir::StackSlot(x)],
                            &t = b_.stack_slots[ir::StackSlot(y)];
    return s.bytes == t.bytes && s.align_log2 == t.align_log2 && s.has_key == t.has_key &&
           s.key == t.key;
  }
  bool same_function(std::uint32_t x, std::uint32_t y) const {
    const ir::ExtFunc &f = a_.ext_funcs[ir::FuncRef(x)], &g = b_.ext_funcs[ir::FuncRef(y)];
    return f.name == g.name && f.colocated == g.colocated && f.patchable == g.patchable &&
           a_.signatures[f.signature] == b_.signatures[g.signature];
  }
  bool same_signature(Inst i, Inst j) const {
    return a_.signatures[a_.call_signature(i)] == b_.signatures[b_.call_signature(j)];
  }
  bool same_items(Inst i, Inst j) const {
    const auto x = a_.exception_items(i), y = b_.exception_items(j);
    if (x.size() != y.size()) return false;
    for (std::size_t n = 0; n < x.size(); ++n) {
      if (x[n].kind != y[n].kind || x[n].tag != y[n].tag) return false;
    }
    return true;
  }
  bool same_global(ir::GlobalValue x, ir::GlobalValue y, unsigned depth) const {
    const ir::GlobalValueData &g = a_.global_values[x], &h = b_.global_values[y];
    if (g.kind != h.kind || g.offset != h.offset || g.type != h.type || g.name != h.name ||
        g.colocated != h.colocated || g.tls != h.tls || g.base.is_some() != h.base.is_some()) {
      return false;
    }
    return g.base.is_none() || (depth < 64 && same_global(g.base, h.base, depth + 1));
  }

  struct Use {
    Value a, b;
    Inst where;
  };
  const Function& a_;
  const Function& b_;
  std::map<std::uint32_t, Block> blocks_, targets_;
  std::vector<std::pair<Block, Block>> order_;
  std::map<std::uint32_t, Inst> insts_;
  std::vector<Use> values_;
  std::size_t pure_a_ = 0, pure_b_ = 0;
  std::string error_;
};

}  // namespace

std::optional<std::string> difference(const ir::Function& a, const ir::Function& b) {
  return Comparison(a, b).run();
}

}  // namespace hoistdev
