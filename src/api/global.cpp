// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/global.hpp"

#include "api/impl.hpp"
#include "runtime/objects/types.hpp"

namespace hoist {

using api::Access;
using runtime::GlobalObject;

Result<Global> Global::create(StoreRef store, const GlobalType& type, const Val& init) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  HOIST_TRY(const std::uint64_t bits,
            api::to_bits(*inner, init, type.content, "the initial value"));
  GlobalObject* made = inner->new_global(runtime::to_wasm(type), bits);
  made->cell->bits[1] = Access::upper(init);
  return Access::make<Global>(store, made);
}

GlobalType Global::type() const noexcept {
  const auto* global = Access::live<GlobalObject>(*this);
  return global == nullptr ? GlobalType() : runtime::to_public(global->type);
}

Val Global::get() const noexcept {
  const auto* global = Access::live<GlobalObject>(*this);
  if (global == nullptr) return {};
  const ValType type = runtime::to_public(global->type.type);
  return api::from_slot(*Access::store(store_), type, global->cell->bits);
}

Result<void> Global::set(const Val& value) const noexcept {
  const auto* global = Access::live<GlobalObject>(*this);
  if (global == nullptr) return api::store_gone();
  if (!global->type.is_mutable) {
    return Error(ErrorKind::BadArgument, "the global is immutable");
  }
  HOIST_TRY(const std::uint64_t bits,
            api::to_bits(*Access::store(store_), value, global->type.type, "the value"));
  global->cell->bits[0] = bits;
  global->cell->bits[1] = Access::upper(value);
  return {};
}

}  // namespace hoist
