// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/table.hpp"

#include <fmt/core.h>

#include "api/impl.hpp"
#include "runtime/objects/types.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist {

using api::Access;
using runtime::TableObject;

static ValType element_type(const TableObject& table) {
  return runtime::to_public(table.type().element);
}

Result<Table> Table::create(StoreRef store, const TableType& type, const Val& init) noexcept {
  runtime::Store* inner = Access::store(store);
  if (inner == nullptr) return api::store_gone();
  if (!type.element.is_ref()) {
    return Error(ErrorKind::BadArgument,
                 fmt::format("a table holds references, not {}", name(type.element)));
  }
  HOIST_TRY(const std::uint64_t bits,
            api::to_bits(*inner, init, type.element, "the initial element"));
  HOIST_TRY(TableObject * table, inner->new_table(runtime::to_wasm(type), bits));
  return Access::make<Table>(store, table);
}

TableType Table::type() const noexcept {
  const auto* table = Access::live<TableObject>(*this);
  if (table == nullptr) return {};
  TableType out = runtime::to_public(table->type());
  out.minimum = table->size();
  return out;
}

std::uint64_t Table::size() const noexcept {
  const auto* table = Access::live<TableObject>(*this);
  return table == nullptr ? 0 : table->size();
}

static Error out_of_bounds(std::uint64_t index, const TableObject& table) {
  return runtime::trap_error(
      image::TrapCode::TableOutOfBounds,
      fmt::format("element {} of a table of {} elements", index, table.size()));
}

Result<Val> Table::get(std::uint64_t index) const noexcept {
  auto* table = Access::live<TableObject>(*this);
  if (table == nullptr) return api::store_gone();
  if (index >= table->size()) return out_of_bounds(index, *table);
  return api::from_bits(*Access::store(store_), element_type(*table), table->elements()[index]);
}

Result<void> Table::set(std::uint64_t index, const Val& value) const noexcept {
  auto* table = Access::live<TableObject>(*this);
  if (table == nullptr) return api::store_gone();
  if (index >= table->size()) return out_of_bounds(index, *table);
  HOIST_TRY(const std::uint64_t bits,
            api::to_bits(*Access::store(store_), value, table->type().element, "the element"));
  table->elements()[index] = bits;
  return {};
}

Result<std::uint64_t> Table::grow(std::uint64_t delta, const Val& init) const noexcept {
  auto* table = Access::live<TableObject>(*this);
  if (table == nullptr) return api::store_gone();
  HOIST_TRY(const std::uint64_t bits,
            api::to_bits(*Access::store(store_), init, table->type().element, "the new element"));
  return Access::store(store_)->grow_table(*table, delta, bits);
}

}  // namespace hoist
