// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Instructions by their name in the text format.

#include <string_view>

#include "wasm/format/opcodes.hpp"

namespace hoist::wasm {

/// The first row of opcodes.def with this name, or null. Rows that share a name (select, ref.test,
/// ref.cast, …) differ in what follows them.
const OpInfo* find_instruction(std::string_view name);

}  // namespace hoist::wasm
