// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The public Result plus the two macros that pass errors on.

#include "hoist/result.hpp"

#define HOIST_CONCAT_(a, b) a##b
#define HOIST_CONCAT(a, b) HOIST_CONCAT_(a, b)

/// `HOIST_TRY(const auto size, read_size(in));` declares `size` or returns the error.
#define HOIST_TRY(decl, expr) HOIST_TRY_(HOIST_CONCAT(hoist_try_, __LINE__), decl, expr)
#define HOIST_TRY_(tmp, decl, expr) \
  auto tmp = (expr);                \
  if (!tmp) [[unlikely]]            \
    return std::move(tmp).error();  \
  decl = *std::move(tmp)

/// For Result<void>, or when the value is not wanted.
#define HOIST_TRY_VOID(expr)                                            \
  do {                                                                  \
    if (auto hoist_try_result = (expr); !hoist_try_result) [[unlikely]] \
      return std::move(hoist_try_result).error();                       \
  } while (false)
