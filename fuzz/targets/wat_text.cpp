// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text to the WAT assembler; what it assembles goes to the decoder, which must not call it
// malformed.
#include <cstdint>

#include "base/check.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/validator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hoist;
  auto bytes = wasm::assemble_wat({reinterpret_cast<const char*>(data), size});
  if (!bytes) return 0;
  auto module = wasm::decode(wasm::ModuleBytes::borrow(*bytes));
  if (module) static_cast<void>(wasm::validate_all(*module));
  return 0;
}
