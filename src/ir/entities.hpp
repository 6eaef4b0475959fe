// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The entities of a function; each prints with CLIF's prefix.

#include "base/entity.hpp"

namespace hoist::ir {

HOIST_ENTITY(Value, "v");
HOIST_ENTITY(Inst, "inst");
HOIST_ENTITY(Block, "block");
HOIST_ENTITY(StackSlot, "ss");
HOIST_ENTITY(GlobalValue, "gv");
HOIST_ENTITY(SigRef, "sig");
HOIST_ENTITY(FuncRef, "fn");
HOIST_ENTITY(Constant, "const");
HOIST_ENTITY(JumpTable, "jt");
HOIST_ENTITY(AliasRegion, "region");
HOIST_ENTITY(ExceptionTable, "extable");
HOIST_ENTITY(DynamicType, "dt");
HOIST_ENTITY(DynamicStackSlot, "dss");
/// A 16-byte constant of one instruction (shuffle mask, f128); interned, not declared in the text.
HOIST_ENTITY(Immediate, "imm");
/// A call site whose callee was inlined; see Function::position.
HOIST_ENTITY(InlineFrame, "inline");
/// Handle of a block call: a target block with its arguments, in the function's pool.
HOIST_ENTITY(BlockCall, "blockcall");
/// A source-level variable of the builder.
HOIST_ENTITY(Variable, "var");
/// Handle of interned MemFlags.
HOIST_ENTITY(MemFlagsRef, "memflags");

/// Source location: 32 opaque bits of the front end (a byte offset for WebAssembly). All ones:
/// none. In a function that others were inlined into, Function::position tells what it stands for.
struct SourceLoc {
  std::uint32_t bits = 0xffff'ffff;
  constexpr bool is_none() const { return bits == 0xffff'ffff; }
  friend constexpr bool operator==(SourceLoc, SourceLoc) = default;
};

}  // namespace hoist::ir
