// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The enum over builtins.def and its rows.

#include <cstdint>

namespace hoist::image {

enum class Builtin : std::uint32_t {
#define HOIST_BUILTIN(name, result, params, meaning) name,
#include "image/layout/builtins.def"
};
enum class BuiltinResult : std::uint8_t { Void, I64, Status };
struct BuiltinInfo {
  const char* name;
  BuiltinResult result;
  const char* params;
};
#define HOIST_BUILTIN(name, result, params, meaning) +1
inline constexpr std::uint32_t kBuiltinCount = 0
#include "image/layout/builtins.def"
    ;
inline constexpr BuiltinInfo kBuiltins[] = {
#define HOIST_BUILTIN(name, result, params, meaning) {#name, BuiltinResult::result, params},
#include "image/layout/builtins.def"
};

}  // namespace hoist::image
