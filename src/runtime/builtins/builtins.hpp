// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Bodies of builtins.def: what compiled code calls through builtin trampolines.

namespace hoist::runtime {

/// kBuiltinCount function pointers, in the order of builtins.def.
void* const* builtin_table();

}  // namespace hoist::runtime
