// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/extern.hpp"

#include "api/impl.hpp"
#include "base/check.hpp"
#include "runtime/objects/types.hpp"

namespace hoist {

using api::Access;

namespace api {

static wasm::ExternKind to_wasm(ExternKind kind) {
  switch (kind) {
    case ExternKind::Func: return wasm::ExternKind::Func;
    case ExternKind::Table: return wasm::ExternKind::Table;
    case ExternKind::Memory: return wasm::ExternKind::Memory;
    case ExternKind::Global: return wasm::ExternKind::Global;
    case ExternKind::Tag: return wasm::ExternKind::Tag;
  }
  HOIST_UNREACHABLE("an ExternKind");
}

runtime::Extern to_runtime(const Extern& item) {
  return {to_wasm(item.kind()), Access::object(item)};
}

Extern to_public(runtime::Store& store, const runtime::Extern& item) {
  return Access::make_extern<Extern>(runtime::to_public(item.kind), store.ref(), item.object);
}

}  // namespace api

Extern::Extern(const Func& func) noexcept
    : Extern(Access::make_extern<Extern>(ExternKind::Func, func.store(), Access::object(func))) {}
Extern::Extern(const Memory& memory) noexcept
    : Extern(Access::make_extern<Extern>(ExternKind::Memory, memory.store(),
                                         Access::object(memory))) {}
Extern::Extern(const Table& table) noexcept
    : Extern(Access::make_extern<Extern>(ExternKind::Table, table.store(), Access::object(table))) {
}
Extern::Extern(const Global& global) noexcept
    : Extern(Access::make_extern<Extern>(ExternKind::Global, global.store(),
                                         Access::object(global))) {}
Extern::Extern(const Tag& tag) noexcept
    : Extern(Access::make_extern<Extern>(ExternKind::Tag, tag.store(), Access::object(tag))) {}

ExternType Extern::type() const noexcept {
  runtime::Store* store = Access::store(store_);
  if (store == nullptr) {
    ExternType out;
    out.kind = kind_;
    return out;
  }
  return runtime::extern_type(*store, api::to_runtime(*this));
}

template <typename T>
static std::optional<T> as(const Extern& item, ExternKind kind) {
  if (item.kind() != kind) return std::nullopt;
  return Access::make<T>(item.store(), Access::object(item));
}

std::optional<Func> Extern::func() const noexcept {
  return as<Func>(*this, ExternKind::Func);
}
std::optional<Memory> Extern::memory() const noexcept {
  return as<Memory>(*this, ExternKind::Memory);
}
std::optional<Table> Extern::table() const noexcept {
  return as<Table>(*this, ExternKind::Table);
}
std::optional<Global> Extern::global() const noexcept {
  return as<Global>(*this, ExternKind::Global);
}
std::optional<Tag> Extern::tag() const noexcept {
  return as<Tag>(*this, ExternKind::Tag);
}

}  // namespace hoist
