// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// What lowering is made of on every target: block order, use counts, effect colours, virtual
/// registers, the growing machine function. A target's rules derive from it; lower_inl.hpp has the
/// driver.
///
/// Blocks are lowered from the last to the first in reverse postorder and each block backwards, so
/// that every use is seen before the definition: a pure instruction whose result nobody asked for
/// is never emitted. The rules for one IR instruction (the root) emit machine instructions in
/// execution order; they may look through the root's operands and take over (fold) what defines
/// them:
///   pure instructions: always; one that is also used elsewhere is then computed in both places;
///   loads: only if `can_sink_load` says so, and then `sink` must be called.
///
/// Each value has one virtual register. Constants and addresses of symbols and stack slots have
/// none: they are made again at each use. A bitcast between vectors of one register is its operand:
/// the type of a resolved value says how large it is, not what its lanes are.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "codegen/lower/block_order.hpp"
#include "codegen/mach/machine.hpp"
#include "ir/function.hpp"

namespace hoist::codegen {

/// An operand of a machine instruction that accesses memory.
struct Address {
  AddrKind kind = AddrKind::None;
  std::uint8_t scale = 0;
  image::TrapCode trap = image::TrapCode::None;
  std::int32_t disp = 0;
  std::uint32_t aux = 0;
  VReg base;
  VReg index;
  ir::SourceLoc loc;  ///< of a folded load; none: the root's
};

// Operands in short.
inline Operand def(VReg v) {
  return {v, Role::Def, Constraint::Reg, {}, 0};
}
inline Operand early_def(VReg v) {
  return {v, Role::EarlyDef, Constraint::Reg, {}, 0};
}
inline Operand def_same(VReg v, std::uint8_t use) {
  return {v, Role::Def, Constraint::Same, {}, use};
}
inline Operand def_fixed(VReg v, PReg reg) {
  return {v, Role::Def, Constraint::Fixed, reg, 0};
}
inline Operand use(VReg v) {
  return {v, Role::Use, Constraint::Reg, {}, 0};
}
inline Operand use_any(VReg v) {
  return {v, Role::Use, Constraint::RegOrSlot, {}, 0};
}
inline Operand use_fixed(VReg v, PReg reg) {
  return {v, Role::Use, Constraint::Fixed, reg, 0};
}
inline Operand use_slot(VReg v) {
  return {v, Role::Use, Constraint::Slot, {}, 0};
}
inline Operand late_use(VReg v) {
  return {v, Role::LateUse, Constraint::Reg, {}, 0};
}
inline Operand late_use_any(VReg v) {
  return {v, Role::LateUse, Constraint::RegOrSlot, {}, 0};
}

class LowerBase {
 public:
  LowerBase(const LowerBase&) = delete;
  LowerBase& operator=(const LowerBase&) = delete;

 protected:
  LowerBase() = default;
  ~LowerBase() = default;

  // ---- Called by the driver.
  void begin(const ir::Function& func, MachFunction& out);
  void start_item(std::uint32_t item);
  void end_item(std::uint32_t item);
  /// Instructions emitted from here on belong to one root.
  void start_root(ir::SourceLoc loc) {
    group_.clear();
    group_locs_.clear();
    root_loc_ = loc;
  }
  void end_root();
  bool must_emit(ir::Inst inst) const;
  /// Copies the blocks to the machine function in layout order, with their edges.
  void finish();

  // ---- Questions about the IR. All values are resolved (aliases, parameters of blocks with one
  // edge).
  const ir::Function& func() const { return *func_; }
  const BlockOrder& order() const { return order_; }
  ir::Value resolve(ir::Value v) const { return resolved_[v.index()]; }
  /// A dynamic vector is its fixed part: the targets have vectors of one size.
  ir::Type type(ir::Value v) const { return func_->type(v).fixed_part(); }
  /// The instruction that defines `v`, or none.
  ir::Inst def_of(ir::Value v) const {
    const ir::ValueData& data = func_->value(resolve(v));
    return data.kind == ir::ValueKind::Result ? ir::Inst(data.source) : ir::Inst::none();
  }
  /// The instruction that defines `v` if it is an `op`, or none.
  ir::Inst match(ir::Value v, ir::Op op) const {
    const ir::Inst inst = def_of(v);
    return inst.is_some() && func_->op(inst) == op ? inst : ir::Inst::none();
  }
  /// Bits of an integer constant, those above its type are zero.
  std::optional<std::uint64_t> constant(ir::Value v) const {
    const ir::Inst inst = match(v, ir::Op::Iconst);
    if (inst.is_none()) return std::nullopt;
    const unsigned bits = type(v).bits();
    const std::uint64_t imm = func_->data(inst).imm64();
    return bits >= 64 ? imm : imm & ((std::uint64_t{1} << bits) - 1);
  }
  /// Sign-extended from its type.
  std::optional<std::int64_t> signed_constant(ir::Value v) const;
  bool is_single_use(ir::Value v) const { return use_count_[resolve(v).index()] <= 1; }
  /// Was the value asked for by something lowered before?
  bool is_used(ir::Value v) const { return vreg_of_[resolve(v).index()].is_some(); }
  bool same_block(ir::Inst a, ir::Inst b) const {
    return func_->inst_block(a) == func_->inst_block(b);
  }
  /// May the load `load` be executed where `root` is, instead of where it stands? It must be used
  /// once.
  bool can_sink_load(ir::Inst load, ir::Inst root) const;
  void sink(ir::Inst load) { sunk_[load.index()] = true; }

  // ---- Virtual registers.
  /// `bytes` (8 or 16) is what a spill must keep.
  VReg new_vreg(RegClass cls, std::uint8_t bytes = 8) { return out_->vregs.push({cls, bytes}); }
  /// Of the class and size that a value of this type needs.
  VReg new_vreg_for(ir::Type type) {
    const bool wide = type.is_vector() || type == ir::F128;
    return new_vreg(class_of(type), wide ? 16 : 8);
  }
  VReg new_int() { return new_vreg(RegClass::Int); }
  VReg new_float() { return new_vreg(RegClass::Float); }
  RegClass class_of(ir::Type type) const {
    return type.lane_is_float() || type.is_vector() ? RegClass::Float : RegClass::Int;
  }
  /// The register of a value that is not made again at each use; asks for its definition.
  VReg vreg_of(ir::Value v) {
    const ir::Value value = resolve(v);
    VReg& vreg = vreg_of_[value.index()];
    if (vreg.is_none()) vreg = new_vreg_for(type(value));
    return vreg;
  }
  /// The upper half of an i128, whose lower half is `vreg_of`.
  VReg high_of(ir::Value v) {
    const ir::Value value = resolve(v);
    static_cast<void>(vreg_of(value));
    if (high_of_.empty()) high_of_.assign(func_->value_count(), VReg{});
    VReg& vreg = high_of_[value.index()];
    if (vreg.is_none()) vreg = new_int();
    return vreg;
  }
  /// The register that an instruction must define for result `number`.
  VReg result(ir::Inst inst, std::size_t number = 0) {
    return vreg_of(func_->results(inst)[number]);
  }

  // ---- Machine instructions.
  MachInst& emit(MachInst inst, std::initializer_list<Operand> operands) {
    inst.first_operand = static_cast<std::uint32_t>(out_->operands.size());
    inst.operand_count = static_cast<std::uint8_t>(operands.size());
    out_->operands.insert(out_->operands.end(), operands.begin(), operands.end());
    group_.push_back(inst);
    group_locs_.push_back(root_loc_);
    return group_.back();
  }
  MachInst& emit(MachInst inst, std::initializer_list<Operand> operands, const Address& address);
  /// For instructions with many operands: add them to `operand_list()` first, then emit.
  std::vector<Operand>& operand_list() { return list_; }
  MachInst& emit_list(MachInst inst);
  /// Adds a flag to the instruction emitted last.
  void set_last_flags(std::uint8_t flags) { group_.back().flags |= flags; }
  /// Whether the instruction emitted last makes `v`, and does so again wherever it is needed.
  bool is_made_again(VReg v) const {
    return !group_.empty() && (group_.back().flags & kRemat) != 0 &&
           out_->operands[group_.back().first_operand].vreg == v;
  }
  std::uint32_t add_clobbers(RegMask mask);
  std::uint32_t add_symbol(const ir::ExternalName& name);
  std::uint32_t add_pool(const void* bytes, std::uint8_t size);

  // ---- Edges. Successors of the block being lowered, in the order of the terminator's successor
  // numbers.
  void add_successor(std::uint32_t item) { successors_.push_back({item, 0, 0}); }
  /// The one successor of a block that ends in a jump, with the registers of the arguments.
  void add_successor(std::uint32_t item, std::span<const VReg> args);
  /// Stops the lowering of this function with an error; the first one counts.
  void fail(Error error) {
    if (!error_) error_.emplace(std::move(error));
  }
  const std::optional<Error>& error() const { return error_; }

  MachFunction& out() { return *out_; }

 private:
  struct Successor {
    std::uint32_t item;
    std::uint32_t first_arg;
    std::uint32_t arg_count;
  };
  struct ItemRange {
    std::uint32_t first_inst = 0, end_inst = 0;  // in reversed_
    std::uint32_t first_successor = 0, successor_count = 0;
  };

  void resolve_values();
  bool is_same_register(ir::Inst inst) const;
  void keep_payload_params(std::span<const ir::Value> params, std::span<const ir::Value> args);
  void count_uses();

  const ir::Function* func_ = nullptr;
  MachFunction* out_ = nullptr;
  BlockOrder order_;
  std::vector<ir::Value> resolved_;
  std::vector<std::uint8_t> use_count_;  // 0, 1, 2 (or more)
  std::vector<VReg> vreg_of_;
  std::vector<VReg> high_of_;          // empty until an i128 is met
  std::vector<std::uint32_t> colour_;  // of instructions: same colour, no effect in between
  std::vector<bool> sunk_;
  std::vector<MachInst> group_;
  std::vector<ir::SourceLoc> group_locs_;
  std::vector<MachInst> reversed_;
  std::vector<ir::SourceLoc> reversed_locs_;
  std::vector<ItemRange> ranges_;
  std::vector<Successor> successors_;
  std::vector<Operand> list_;
  ir::SourceLoc root_loc_;
  std::optional<Error> error_;
};

}  // namespace hoist::codegen
