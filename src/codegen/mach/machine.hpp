// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Machine IR: instructions of one target over virtual registers, in SSA form with block
/// parameters, in final block order. Made by lowering, read by register allocation (which changes
/// nothing in it and answers with an Allocation), consumed by emission.
///
/// Guarantees of lowering that the allocator relies on: every virtual register has one definition,
/// which dominates its uses (block parameters included); critical edges are split, also those
/// without arguments; a block ends with exactly one terminator (flag kTerminator); a block with one
/// successor ends in an unconditional jump whose only operands are the edge's arguments (kept in
/// the block); only edges out of such blocks carry arguments; the entry block has no predecessors
/// and no parameters; every block is reachable; loops are contiguous where the control flow is
/// reducible, but for cold blocks, which come last. Flags: nothing that the allocator inserts
/// changes condition flags.

#include <cstdint>
#include <span>
#include <vector>

#include "base/entity.hpp"
#include "base/text/printer.hpp"
#include "image/layout/trap_code.hpp"
#include "ir/entities.hpp"
#include "ir/function.hpp"
#include "ir/signature.hpp"

namespace hoist::codegen {

HOIST_ENTITY(VReg, "%v");
HOIST_ENTITY(MachBlock, "mb");

enum class RegClass : std::uint8_t { Int, Float };

/// A physical register: 0..31 integer, 32..63 float/vector; 0xff none.
struct PReg {
  std::uint8_t index = 0xff;
  static constexpr PReg gpr(unsigned n) { return {static_cast<std::uint8_t>(n)}; }
  static constexpr PReg fpr(unsigned n) { return {static_cast<std::uint8_t>(32 + n)}; }
  constexpr bool is_none() const { return index == 0xff; }
  constexpr RegClass cls() const { return index < 32 ? RegClass::Int : RegClass::Float; }
  constexpr unsigned number() const { return index & 31u; }
  friend constexpr bool operator==(PReg, PReg) = default;
};

/// A set of physical registers.
struct RegMask {
  std::uint64_t bits = 0;
  constexpr bool contains(PReg r) const { return ((bits >> r.index) & 1) != 0; }
  constexpr void add(PReg r) { bits |= std::uint64_t{1} << r.index; }
  constexpr void remove(PReg r) { bits &= ~(std::uint64_t{1} << r.index); }
  friend constexpr RegMask operator|(RegMask a, RegMask b) { return {a.bits | b.bits}; }
  friend constexpr RegMask operator&(RegMask a, RegMask b) { return {a.bits & b.bits}; }
  friend constexpr RegMask operator~(RegMask a) { return {~a.bits}; }
  friend constexpr bool operator==(RegMask, RegMask) = default;
};

/// When an operand is read or written. An instruction has an early and a late point.
enum class Role : std::uint8_t {
  Use,       ///< read early: its register may be reused by a Def
  LateUse,   ///< must stay intact until the end
  Def,       ///< written late
  EarlyDef,  ///< written early: shares no register with any use (temporaries are EarlyDefs without
             ///< uses)
};

enum class Constraint : std::uint8_t {
  Reg,        ///< any register of the class
  RegOrSlot,  ///< a register or the spill slot, as it comes (uses only)
  Fixed,      ///< the register `fixed`
  Same,  ///< a Def in the same register as operand number `same_as` of this instruction (a Use)
  Slot,  ///< the spill slot, which stays intact during the instruction; uses of values that are not
         ///< kRemat
};

struct Operand {
  VReg vreg;
  Role role = Role::Use;
  Constraint constraint = Constraint::Reg;
  PReg fixed;
  std::uint8_t same_as = 0;
};
static_assert(sizeof(Operand) == 8);

constexpr bool is_use(const Operand& op) {
  return op.role == Role::Use || op.role == Role::LateUse;
}

/// How the memory operand of an instruction is formed. Its register operands are the last ones of
/// the instruction's operand list, base before index.
enum class AddrKind : std::uint8_t {
  None,         ///< no memory operand
  Base,         ///< [base + disp]
  BaseIndex,    ///< [base + index << scale + disp]
  Index,        ///< [index << scale + disp]
  StackSlot,    ///< [sized stack slot number `aux` + disp]
  IncomingArg,  ///< [stack argument area of this function + disp]
  OutgoingArg,  ///< [outgoing argument area + disp]
  Constant,     ///< [pool entry `aux`]
};

enum InstFlags : std::uint8_t {
  kTerminator = 1,  ///< last of its block
  kCall = 2,        ///< clobbers `clobbers`; a safepoint
  kMove = 4,        ///< copies operand 1 (use) to operand 0 (def), same class: a hint to coalesce
  kRemat = 8,  ///< no uses, no effects: its result may be made again anywhere instead of spilled
  kTry = 16,  ///< a terminator without operands: the successors after the first are the handlers of
              ///< the last call of the block, which enters them at once. That call clobbers all
              ///< registers that may be allocated, but for those of its results; no result is live
              ///< into a handler; nothing between call and terminator uses a value from before.
};

/// One machine instruction, 32 bytes. `op` is a target's opcode (for x64: masm::x64::Op, then the
/// pseudo operations of isa/x64/pseudo.def).
struct MachInst {
  std::uint16_t op = 0;
  std::uint8_t width = 0;           ///< operation width in bytes
  std::uint8_t cc = 0;              ///< condition code or another small selector
  std::uint32_t first_operand = 0;  ///< in MachFunction::operands
  std::uint8_t operand_count = 0;   ///< up to 255; calls with more arguments pass them on the stack
  AddrKind addr = AddrKind::None;
  std::uint8_t scale = 0;  ///< log2
  std::uint8_t flags = 0;
  std::int32_t disp = 0;
  std::int64_t imm = 0;
  std::uint16_t clobbers = 0;  ///< index into MachFunction::clobber_sets; 0 is the empty set
  image::TrapCode trap = image::TrapCode::None;  ///< of a faulting access or trap
  std::uint8_t spare = 0;
  std::uint32_t aux = 0;  ///< successor number, symbol, stack slot, pool entry … by op and addr
};
static_assert(sizeof(MachInst) == 32);

/// What a call or a sequence point says about itself besides its operands: the source of side
/// tables. Found by MachInst::imm of calls and sequence points: number + 1, or 0 for nothing.
struct CallNote {
  std::uint32_t first_handler = 0;  ///< in MachFunction::handlers
  std::uint32_t handler_count = 0;
  std::uint32_t first_tag = 0;  ///< in MachFunction::debug_tags
  std::uint32_t tag_count = 0;
  std::uint32_t first_map_entry = 0;  ///< in MachFunction::stack_map
  std::uint32_t map_entry_count = 0;
  bool patchable = false;
};

/// One item of the list that the unwinder goes through for a call.
struct MachHandler {
  enum class Kind : std::uint8_t { Tag, Default, Context };
  Kind kind = Kind::Default;
  std::uint32_t tag = 0;  ///< Tag
  std::uint32_t where =
      0;  ///< Tag, Default: number of the successor; Context: of the call's operand
};

struct VRegData {
  RegClass cls = RegClass::Int;
  std::uint8_t bytes = 8;  ///< what a spill must keep: 8 or 16
};

struct MachEdge {
  MachBlock target;
  std::uint32_t first_arg =
      0;  ///< in MachFunction::edge_args; as many as the target has parameters
  std::uint32_t arg_count = 0;
};

struct MachBlockData {
  std::uint32_t first_inst = 0;  ///< [first_inst, end_inst) in MachFunction::insts
  std::uint32_t end_inst = 0;
  std::uint32_t first_param = 0;  ///< in MachFunction::block_params
  std::uint32_t param_count = 0;
  std::uint32_t first_succ = 0;  ///< in MachFunction::succs
  std::uint32_t succ_count = 0;
  std::uint32_t first_pred = 0;  ///< in MachFunction::preds
  std::uint32_t pred_count = 0;
  std::uint16_t loop_depth = 0;
  bool loop_header = false;
  bool cold = false;
};

class MachFunction {
 public:
  std::vector<MachInst> insts;
  std::vector<ir::SourceLoc> locs;  ///< parallel to insts
  std::vector<Operand> operands;
  base::EntityTable<VReg, VRegData> vregs;
  base::EntityTable<MachBlock, MachBlockData> blocks;  ///< in layout order; block 0 is the entry
  std::vector<VReg> block_params;
  std::vector<MachEdge> succs;
  std::vector<MachBlock> preds;
  std::vector<VReg> edge_args;
  std::vector<RegMask> clobber_sets;  ///< [0] is empty
  std::vector<ir::ExternalName> symbols;
  struct PoolEntry {
    std::uint8_t bytes[16];
    std::uint8_t size;  ///< 4, 8 or 16; also its alignment
  };
  std::vector<PoolEntry> pool;
  std::vector<ir::StackSlotData> stack_slots;
  std::uint32_t outgoing_arg_bytes = 0;
  std::uint32_t incoming_arg_bytes = 0;
  std::uint32_t popped_arg_bytes = 0;  ///< what returning removes from the caller's stack
  ir::CallConv call_conv = ir::CallConv::Fast;
  bool has_calls = false;
  /// Where the prologue finds the stack limit; see isa/x64/abi.hpp. Negative: no check.
  std::int32_t stack_limit_offset = -1;
  std::int32_t stack_limit_offset2 = -1;  ///< of a second load; negative: there is none
  PReg stack_limit_base;                  ///< of the first load
  /// The target's pinned register belongs to the whole program: nobody allocates or saves it.
  bool pins_register = false;
  /// Symbol that traps call; negative: they fault. See ir::Function::trap_handler.
  std::int32_t trap_symbol = -1;
  /// Entries of jump tables: successor numbers of the block that ends in the table's jump.
  std::vector<std::uint32_t> jump_tables;
  std::vector<CallNote> notes;
  std::vector<MachHandler> handlers;
  std::vector<ir::DebugTag> debug_tags;
  std::vector<ir::StackMapEntry> stack_map;

  void clear();
  /// Fills `preds` from `succs`, in the order of the blocks.
  void find_preds();
  std::span<const Operand> operands_of(const MachInst& inst) const {
    return {operands.data() + inst.first_operand, inst.operand_count};
  }
  std::span<const MachEdge> succs_of(const MachBlockData& block) const {
    return {succs.data() + block.first_succ, block.succ_count};
  }
  std::span<const MachBlock> preds_of(const MachBlockData& block) const {
    return {preds.data() + block.first_pred, block.pred_count};
  }
  std::span<const VReg> params_of(const MachBlockData& block) const {
    return {block_params.data() + block.first_param, block.param_count};
  }
  std::span<const VReg> args_of(const MachEdge& edge) const {
    return {edge_args.data() + edge.first_arg, edge.arg_count};
  }
};

}  // namespace hoist::codegen
