// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Table: a table of references. Source: core specification, section 4.2.7.

#include <cstdint>

#include "hoist/extern.hpp"
#include "hoist/value.hpp"

namespace hoist {

class HOIST_API Table : public detail::Handle {
 public:
  /// All elements are `init`. @error BadArgument: `init` is of another type or store, or minimum
  /// above maximum; Limit: larger than the store allows; OutOfMemory.
  static Result<Table> create(StoreRef store, const TableType& type, const Val& init) noexcept;

  /// The type it was made with, with the present size as minimum.
  TableType type() const noexcept;
  std::uint64_t size() const noexcept;
  /// @error Trap ("out of bounds table access").
  Result<Val> get(std::uint64_t index) const noexcept;
  /// @error Trap ("out of bounds table access"); BadArgument: of another type or store.
  Result<void> set(std::uint64_t index, const Val& value) const noexcept;
  /// Old size. @error Limit: beyond its maximum or the store's limit; BadArgument; OutOfMemory.
  Result<std::uint64_t> grow(std::uint64_t delta, const Val& init) const noexcept;

 private:
  friend class detail::Access;
  Table() = default;
};

}  // namespace hoist
