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
/// Handle of a block call: a target block with its arguments, in the function's pool.
HOIST_ENTITY(BlockCall, "blockcall");
/// A source-level variable of the builder.
HOIST_ENTITY(Variable, "var");
/// Handle of interned MemFlags.
HOIST_ENTITY(MemFlagsRef, "memflags");

/// Source location: 32 opaque bits of the front end (a byte offset for WebAssembly). All ones:
/// none.
struct SourceLoc {
  std::uint32_t bits = 0xffff'ffff;
  constexpr bool is_none() const { return bits == 0xffff'ffff; }
  friend constexpr bool operator==(SourceLoc, SourceLoc) = default;
};

}  // namespace hoist::ir
