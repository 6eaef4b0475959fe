// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Which value types the collector has to do with.

#include "image/layout/vm_layout.hpp"
#include "wasm/format/types.hpp"

namespace hoist::runtime {

/// Whether a value of the type may be an object of the collector: all references but those to
/// functions, which instances and stores own. Of the other types that a module defines there is
/// only null so far.
constexpr bool is_collected(wasm::ValType type) {
  if (!type.is_ref() || !type.heap().is_abstract()) return false;
  const wasm::HeapType::Abstract heap = type.heap().abstract();
  return heap != wasm::HeapType::Func && heap != wasm::HeapType::NoFunc;
}

/// What a listed exception counts as.
constexpr std::uint64_t exception_bytes(const image::VmException& exception) {
  return sizeof(image::VmException) + exception.capacity * sizeof(image::VmGlobal);
}

}  // namespace hoist::runtime
