// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text to the script reader; the modules of its commands go to the decoder and the validator.
#include <cstdint>

#include "wasm/decode/decoder.hpp"
#include "wasm/text/wast_script.hpp"
#include "wasm/validate/validator.hpp"

using namespace hoist;  // NOLINT: a fuzz target, not a library

static void check_commands(const std::vector<wasm::Command>& commands) {
  for (const wasm::Command& command : commands) {
    if (!command.module.error && !command.module.bytes.empty()) {
      auto module = wasm::decode(wasm::ModuleBytes::borrow(command.module.bytes));
      if (module) static_cast<void>(wasm::validate_all(*module));
    }
    check_commands(command.nested);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_commands(wasm::parse_script({reinterpret_cast<const char*>(data), size}).commands);
  return 0;
}
