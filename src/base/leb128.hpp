// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// LEB128 writers (the checked reader is wasm::ByteReader). Source: WebAssembly core specification,
/// section 5.2.2 "Integers".

#include <cstdint>
#include <vector>

namespace hoist::base {

inline void write_uleb(std::vector<std::uint8_t>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

inline void write_sleb(std::vector<std::uint8_t>& out, std::int64_t value) {
  for (;;) {
    const auto byte = static_cast<std::uint8_t>(value & 0x7f);
    value >>= 7;
    if ((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0)) {
      out.push_back(byte);
      return;
    }
    out.push_back(static_cast<std::uint8_t>(byte | 0x80));
  }
}

}  // namespace hoist::base
