// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Reads value types, with types of later features: the caller decides what a feature means.
///
/// Source: WebAssembly core specification 3.0, section 5.3.

#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/features.hpp"
#include "wasm/format/types.hpp"

namespace hoist::wasm {

enum class TypeRead : std::uint8_t {
  Ok,
  ReadFault,  ///< see `ByteReader::error`
  NotAType    ///< the byte at the reader's old offset begins no type
};

/// `needs` is the feature that the type belongs to, Core where none is to be checked.
TypeRead read_val_type(ByteReader& in, ValType& out, Feature& needs);
/// A type index or an abstract heap type.
TypeRead read_heap_type(ByteReader& in, HeapType& out, Feature& needs);

}  // namespace hoist::wasm
