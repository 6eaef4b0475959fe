// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Between the public types of include/hoist and those of wasm/format.

#include <optional>
#include <string>

#include "hoist/types.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

wasm::ValType to_wasm(hoist::ValType type);
wasm::FuncType to_wasm(const hoist::FuncType& type);
wasm::MemoryType to_wasm(const hoist::MemoryType& type);
wasm::TableType to_wasm(const hoist::TableType& type);
wasm::GlobalType to_wasm(const hoist::GlobalType& type);

/// Reference types of later features come out as the nearest that the public API has.
hoist::ValType to_public(wasm::ValType type);
hoist::FuncType to_public(const wasm::FuncType& type);
hoist::MemoryType to_public(const wasm::MemoryType& type);
hoist::TableType to_public(const wasm::TableType& type);
hoist::GlobalType to_public(const wasm::GlobalType& type);
hoist::ExternKind to_public(wasm::ExternKind kind);

/// Type of an entity of a module; `index` counts in the index space of its kind.
hoist::ExternType type_of(const wasm::Module& module, wasm::ExternKind kind, std::uint32_t index);

}  // namespace hoist::runtime
