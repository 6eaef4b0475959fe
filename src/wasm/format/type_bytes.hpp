// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Bytes that begin type definitions and types of more than one byte.

#include <cstdint>

namespace hoist::wasm {

/// Source: core specification 3.0, section 5.3, and the custom descriptors proposal.
enum TypeByte : std::uint8_t {
  kDescribes = 0x4c,
  kDescriptor = 0x4d,
  kRec = 0x4e,
  kSubFinal = 0x4f,
  kSub = 0x50,
  kArray = 0x5e,
  kStruct = 0x5f,
  kFuncType = 0x60,
  kExact = 0x62,
  kRefNull = 0x63,
  kRef = 0x64,
  kI16 = 0x77,
  kI8 = 0x78
};

}  // namespace hoist::wasm
