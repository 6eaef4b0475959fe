// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// FunctionBuilder: appends instructions block by block and builds SSA form on the fly from
/// variables (Braun et al., "Simple and Efficient Construction of Static Single Assignment Form",
/// 2013).
///
/// With a simplifier set, every pure instruction is offered to it first, and an equal instruction
/// already in the block is reused: fewer instructions ever exist. Without one (the CLIF reader,
/// copying code) what is asked for is what is inserted.
///
/// Loads whose flags are readonly, can_move and notrap count as pure. A terminator closes the
/// block.
///
/// A builder is reused from function to function: `begin` resets it and keeps its memory.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/function.hpp"
#include "ir/ssa.hpp"

namespace hoist::ir {

/// Rewrites applied while building: see opt/rules. Given the instruction about to be made (`data`,
/// result type `type`), returns an equivalent existing value or one that it built through
/// `builder`; none to insert as asked. It may also change `data` in place (canonical forms).
class FunctionBuilder;
using SimplifyFn = Value (*)(FunctionBuilder& builder, InstData& data, Type type);

class FunctionBuilder {
 public:
  explicit FunctionBuilder(Function& func) { begin(func); }
  /// Starts a new function (already cleared) in `func`.
  void begin(Function& func);
  void set_simplifier(SimplifyFn simplify) { simplify_ = simplify; }
  Function& func() { return *func_; }
  const Function& func() const { return *func_; }

  // ---- Blocks. A block is sealed once all its predecessors are known.
  Block make_block() { return func_->make_block(); }
  /// Later instructions go to `block`, which enters the layout at the end if it is not in it yet.
  void switch_to(Block block);
  Block current_block() const { return current_; }
  /// No terminator yet?
  bool is_open() const { return current_.is_some() && open_; }
  void seal(Block block);
  /// Seals every block that is not yet sealed, then `finish`.
  void seal_all();
  /// Ends the building of a function that uses variables: every block is sealed. Only now do the
  /// block parameters that the variables need, and the branch arguments for them, enter the
  /// function (redundant ones never do), and aliases of redundant ones are replaced. Calling it
  /// twice is fine.
  void finish();
  /// Number of branches to `block` seen so far.
  std::size_t predecessor_count(Block block) const;
  /// Appends the signature's parameters to the entry block.
  void append_params_for_signature(Block block);

  // ---- Variables.
  /// For structured code, optional and right after `begin`: see assignments.hpp.
  void set_assignments(Assignments* assignments) { ssa_.set_assignments(assignments); }
  Variable declare_variable(Type type);
  void define(Variable var, Value value);
  /// In a block without predecessors an undefined variable is 0.
  Value use(Variable var);
  /// Block parameters made for variables so far. Their number may grow with variables × blocks
  /// where the program really asks for it: callers with hostile input watch it.
  std::size_t variable_param_count() const { return ssa_.param_count(); }

  void set_loc(SourceLoc loc) { loc_ = loc; }
  SourceLoc loc() const { return loc_; }

  // ---- Instructions, by format. Types: `type` is the result's.
  Value unary(Op op, Type type, Value x);
  Value binary(Op op, Value x, Value y);
  Value ternary(Op op, Value x, Value y, Value z);
  Value icmp(IntCC cc, Value x, Value y);
  Value fcmp(FloatCC cc, Value x, Value y);
  Value iconst(Type type, std::uint64_t bits);  ///< bits above the type's width are dropped
  Value f32const(std::uint32_t bits);
  Value f64const(std::uint64_t bits);
  Value bitcast(Type type, Value x);
  Value load(Op op, Type type, MemFlagsRef flags, Value address, std::int32_t offset);
  void store(Op op, MemFlagsRef flags, Value x, Value address, std::int32_t offset);
  Value vconst(Type type, std::span<const std::uint8_t> bytes);  ///< lowest first
  Value shuffle(Value x, Value y, const std::array<std::uint8_t, 16>& mask);
  Value extractlane(Value x, std::uint8_t lane);
  Value insertlane(Value x, Value y, std::uint8_t lane);
  /// For the operations with two results: isplit, overflow operations. The values live until the
  /// next instruction is made.
  std::span<const Value> pair(Op op, Value x, Value y = {}, Value z = {});
  Value atomic_load(Type type, MemFlagsRef flags, Value address);
  void atomic_store(MemFlagsRef flags, Value x, Value address);
  Value atomic_rmw(Type type, MemFlagsRef flags, AtomicOp op, Value address, Value x);
  Value atomic_cas(MemFlagsRef flags, Value address, Value expected, Value replacement);
  Value stack_addr(Type type, StackSlot slot, std::int32_t offset);
  Value func_addr(Type type, FuncRef func);
  Value nullary(Op op, Type type);
  Inst call(FuncRef func, std::span<const Value> args);
  Inst call_indirect(SigRef sig, Value callee, std::span<const Value> args);
  /// `retN` and `exnN` as arguments of the next try_call.
  Value try_return(SigRef sig, std::uint32_t number);
  Value try_exception(std::uint32_t number, Type type);
  struct Handler {
    ExceptionItem::Kind kind;
    std::uint32_t tag = 0;             ///< Tag
    Block block = {};                  ///< Tag, Default
    std::span<const Value> args = {};  ///< Tag, Default
    Value context = {};                ///< Context
  };
  Inst try_call(FuncRef func, std::span<const Value> args, Block normal,
                std::span<const Value> normal_args, std::span<const Handler> handlers);
  Inst try_call_indirect(SigRef sig, Value callee, std::span<const Value> args, Block normal,
                         std::span<const Value> normal_args, std::span<const Handler> handlers);
  void trap(TrapCode code);
  void trapz(Value c, TrapCode code);
  void trapnz(Value c, TrapCode code);
  void jump(Block target, std::span<const Value> args = {});
  void brif(Value c, Block then_block, std::span<const Value> then_args, Block else_block,
            std::span<const Value> else_args);
  struct Target {
    Block block;
    std::span<const Value> args;
  };
  void br_table(Value index, Target default_target, std::span<const Target> targets);
  void ret(std::span<const Value> values);
  void return_call(FuncRef func, std::span<const Value> args);
  void return_call_indirect(SigRef sig, Value callee, std::span<const Value> args);

  /// The common path of all pure operations: simplify, reuse within the block, else insert.
  Value pure(InstData data, Type type);
  /// Inserts as asked, no simplification, one result.
  Value insert(const InstData& data, Type type);

 private:
  Inst append_try(InstData data, SigRef sig, Block normal, std::span<const Value> normal_args,
                  std::span<const Handler> handlers);
  Inst append(const InstData& data);
  void terminate(const InstData& data);
  Inst append_call(const InstData& data, SigRef sig);
  InstData call_data(Op op, std::uint32_t callee, std::span<const Value> args);
  InstData indirect_data(Op op, SigRef sig, Value callee, std::span<const Value> args);
  BlockCall block_call(Block target, std::span<const Value> args);
  Value resolved(Value v) { return func_->resolve_and_compress(v); }
  /// An equal instruction of this block, or the place for it in the table of numbers.
  Inst find_equal(const InstData& data, Type type, std::uint32_t hash) const;
  void remember(Inst inst, std::uint32_t hash);
  Value reuse_or_insert(const InstData& data, Type type);

  Function* func_;
  SimplifyFn simplify_ = nullptr;
  Block current_;
  bool open_ = false;
  SourceLoc loc_;
  SsaConstruction ssa_;
  std::vector<Value> scratch_;
  std::vector<BlockCall> scratch_calls_;
  std::vector<ExceptionItem> scratch_items_;

  /// Value numbering within the current block: open-addressed, cleared by epoch.
  struct NumberSlot {
    std::uint32_t hash = 0;
    std::uint32_t epoch = 0;
    Inst inst;
  };
  std::vector<NumberSlot> numbers_;
  std::uint32_t number_count_ = 0;
  std::uint32_t epoch_ = 0;
};

}  // namespace hoist::ir
