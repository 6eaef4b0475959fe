// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Host functions that CLIF knows by name: compiled code calls them where the target has no
/// instruction.

#include <string_view>

namespace hoist::native {

/// Address of `CeilF32`, `FmaF64`, `Memcpy`, …, in the C convention; null for another name. Code
/// for i128 division and conversions calls `UdivI128`, `F64ToS128`, …
const void* find_libcall(std::string_view name);

}  // namespace hoist::native
