// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A reference to any entity of a function: what an error or a comment is about.

#include "base/text/printer.hpp"
#include "ir/entities.hpp"

namespace hoist::ir {

enum class EntityKind : std::uint8_t {
  Function,
  Block,
  Inst,
  StackSlot,
  AliasRegion,
  GlobalValue,
  SigRef,
  FuncRef,
  Constant,
  DynamicType,
  DynamicStackSlot
};

struct EntityRef {
  EntityKind kind = EntityKind::Function;
  std::uint32_t index = 0;

  constexpr EntityRef() = default;
  constexpr EntityRef(EntityKind k, std::uint32_t i) : kind(k), index(i) {}
  constexpr EntityRef(Block e) : EntityRef(EntityKind::Block, e.index()) {}              // NOLINT
  constexpr EntityRef(Inst e) : EntityRef(EntityKind::Inst, e.index()) {}                // NOLINT
  constexpr EntityRef(StackSlot e) : EntityRef(EntityKind::StackSlot, e.index()) {}      // NOLINT
  constexpr EntityRef(AliasRegion e) : EntityRef(EntityKind::AliasRegion, e.index()) {}  // NOLINT
  constexpr EntityRef(GlobalValue e) : EntityRef(EntityKind::GlobalValue, e.index()) {}  // NOLINT
  constexpr EntityRef(SigRef e) : EntityRef(EntityKind::SigRef, e.index()) {}            // NOLINT
  constexpr EntityRef(FuncRef e) : EntityRef(EntityKind::FuncRef, e.index()) {}          // NOLINT
  constexpr EntityRef(Constant e) : EntityRef(EntityKind::Constant, e.index()) {}        // NOLINT
  constexpr EntityRef(DynamicType e) : EntityRef(EntityKind::DynamicType, e.index()) {}  // NOLINT
  constexpr EntityRef(DynamicStackSlot e)                                                // NOLINT
      : EntityRef(EntityKind::DynamicStackSlot, e.index()) {}
  friend constexpr bool operator==(EntityRef, EntityRef) = default;
};

inline base::Printer& operator<<(base::Printer& out, EntityRef entity) {
  constexpr const char* kPrefixes[] = {"function", "block", "inst",  "ss", "region", "gv",
                                       "sig",      "fn",    "const", "dt", "dss"};
  out << kPrefixes[static_cast<unsigned>(entity.kind)];
  return entity.kind == EntityKind::Function ? out : out << entity.index;
}

}  // namespace hoist::ir
