// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Global: a global variable. Source: core specification, section 4.2.10.

#include "hoist/extern.hpp"
#include "hoist/value.hpp"

namespace hoist {

class HOIST_API Global : public detail::Handle {
 public:
  /// @error BadArgument: `init` is of another type or store.
  static Result<Global> create(StoreRef store, const GlobalType& type, const Val& init) noexcept;

  GlobalType type() const noexcept;
  Val get() const noexcept;
  /// @error BadArgument: immutable, or `value` is of another type or store.
  Result<void> set(const Val& value) const noexcept;

 private:
  friend class detail::Access;
  Global() = default;
};

}  // namespace hoist
