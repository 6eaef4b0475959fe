// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A scalar value with its type: arguments and results of the interpreter and of run tests.

#include <cstdint>

#include "ir/types.hpp"

namespace hoist::ir {

struct DataValue {
  Type type;
  /// The value's bits; those above the type's width are 0.
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;  ///< i128 only
  friend bool operator==(const DataValue&, const DataValue&) = default;
};

}  // namespace hoist::ir
