// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Skips the immediates of any opcode of the table: for code that is read without being understood.

#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/opcodes.hpp"

namespace hoist::wasm {

enum class SkipResult : std::uint8_t {
  Ok,
  ReadFault,  ///< see `ByteReader::error`
  Malformed   ///< the immediates are wrong in another way
};

/// `in` stands behind the opcode.
SkipResult skip_immediates(ByteReader& in, Imm imm);

/// Reads an opcode with its prefix. False: see `ByteReader::error`. The number may be no opcode.
[[nodiscard]] bool read_opcode(ByteReader& in, std::uint16_t& number);

}  // namespace hoist::wasm
