// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The verifier: what every ir::Function obeys before and after each pass.
///
/// Preamble
///   V1  Integer extension of a parameter or result only on scalar integers; `preserve_all` has no
///       results.
///   V2  Global values: bases exist, no cycles, a vmctx parameter where one is a vmctx, loads have
///   a
///       base of pointer type. The stack limit is a declared global value.
///   V3  Alias regions have distinct user ids.
/// Layout
///   V4  There is an entry block, not cold, whose parameters are those of the signature.
///   V5  Each block in the layout ends in a terminator and has no other; instructions know their
///   block. V6  Branches go to blocks in the layout and pass what the block's parameters ask for
///   (number and
///       types). A jump table belongs to one instruction.
/// Values
///   V7  Operands exist and are defined by an instruction in the layout or a block parameter;
///   results
///       and parameters know their place. Aliases end at such a value and have its type.
///   V8  In reachable code a definition dominates its uses.
///   V9  Operand and result types are those that the operation allows.
/// Operations
///   V10 Calls pass what the signature asks for and have its results; `return` returns what the
///       function's signature says; tail calls have the caller's results and a convention that
///       allows them, the same on both sides.
///   V11 Constants have no bits above their type; a bitcast keeps the size, has byte order flags
///   only and
///       needs one where the number of lanes changes; stores are not `readonly`; alias regions and
///       stack slots that are named exist; addresses have the pointer type, where it is known.
///   V12 Patchable functions are colocated, have no results and are only called directly, not by a
///       tail call. A lane number is below the number of lanes, a shuffle's numbers below 32; a
///       vector constant has the size of its type.
///   V13 Limits of the implementation: values, blocks, parameters and arguments (kMax… below).
///   V14 Debug tags only on calls and sequence_point; stack maps only on calls that come back,
///   their
///       entries inside of declared slots.
///   V15 try_call: the convention supports exceptions, the table's signature is the callee's; an
///       exception table belongs to one instruction; `retN` only in the normal target, `exnN` only
///       in the others, both within what the callee has. get_exception_handler_address names a
///       block that ends in a try_call with that many handlers.
///   V16 Dynamic types have a declared scale, dynamic slots a declared type.
///
/// Not checked: what a value is at run time (addresses, division by zero), memory flags against
/// what the memory is, and unreachable code's dominance.

#include <span>
#include <string>
#include <vector>

#include "base/containers/bit_set.hpp"
#include "base/result.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/entity_ref.hpp"
#include "ir/function.hpp"

namespace hoist::ir {

/// Limits of the implementation, far from where a number could wrap.
inline constexpr std::size_t kMaxValues = (std::size_t{1} << 31) - 1;
inline constexpr std::size_t kMaxBlocks = (std::size_t{1} << 31) - 1;
inline constexpr std::size_t kMaxArgs = 0xffff;  ///< of a block, a call, a signature

struct VerifierError {
  EntityRef where;
  std::string message;
};

/// Reusable: keeps its memory between functions.
class Verifier {
 public:
  /// The pointer type of the target, or invalid: addresses may be i32 or i64.
  void set_pointer_type(Type type) { pointer_type_ = type; }
  /// All violations, in the order of the function.
  std::span<const VerifierError> run(const Function& func);
  /// Whatever the last function names exists, so that analyses and the printer may look at it.
  bool is_printable() const { return is_printable_; }

 private:
  void report(EntityRef where, std::string message);
  // Preamble (verifier.cpp).
  void check_signature(const Signature& signature, EntityRef where);
  void check_preamble();
  void check_global_value(GlobalValue global, bool& cycle_seen);
  Type global_type(GlobalValue global) const;
  // Layout and values.
  bool check_aliases();
  bool check_layout();
  void check_entry();
  void check_block(Block block);
  bool check_references(Inst inst);
  void check_results(Inst inst);
  void check_value(Inst inst, Value v);
  void check_dominance(Block block, Inst inst, Value v);
  void check_block_call(Inst inst, BlockCall call, bool is_normal);
  // Operations (operations.cpp).
  void check_operation(Inst inst);
  void check_types(Inst inst);
  void check_flags(Inst inst);
  void check_extras(Inst inst);
  void check_patchable(Inst inst, FuncRef callee);
  void check_try_call(Inst inst);
  void check_handler_address(Inst inst);
  void check_try_value(Inst inst, Value v, bool is_normal);
  void check_limits();
  void expect_derived(Inst inst);
  void check_lane(Inst inst, Type vector);
  void check_address(Inst inst, Value v);
  void check_call(Inst inst, const Signature& signature, std::span<const Value> args);
  void check_return(Inst inst);
  void check_tail_call(Inst inst, const Signature& signature);
  void check_global_reference(Inst inst);
  void expect_type(Inst inst, unsigned number, Type expected);
  void expect(Inst inst, unsigned number, bool holds);
  void expect_control(Inst inst, bool holds);

  const Function* func_ = nullptr;
  Type pointer_type_;
  std::vector<VerifierError> errors_;
  bool is_printable_ = false;
  ControlFlow flow_;
  DominatorTree dominators_;
  std::vector<std::uint32_t> positions_;  // of instructions within their block; marks of aliases
  base::BitSet tables_, exception_tables_;
};

/// The first violation as an error that shows the instruction, or ok.
Result<void> verify(const Function& func);

}  // namespace hoist::ir
