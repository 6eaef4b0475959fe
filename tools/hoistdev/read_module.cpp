// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoistdev/read_module.hpp"

#include <cstdio>
#include <string_view>
#include <vector>

#include "platform/files.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/text/wat_parser.hpp"
#include "wasm/validate/validator.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

int report(const std::string& file, const Error& error) {
  std::fprintf(stderr, "hoistdev: %s: %s", file.c_str(), error.message().c_str());
  if (error.has_offset()) {
    std::fprintf(stderr, " (at offset 0x%llx)", static_cast<unsigned long long>(error.offset()));
  }
  if (error.line() != 0) std::fprintf(stderr, " (line %u:%u)", error.line(), error.column());
  std::fputc('\n', stderr);
  return 1;
}

Result<wasm::Module> read_module(const std::string& file) {
  HOIST_TRY(std::vector<std::uint8_t> bytes, platform::read_file(file, wasm::kMaxModuleBytes));
  if (!wasm::has_magic(bytes)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    HOIST_TRY(bytes, wasm::assemble_wat(text));
  }
  HOIST_TRY(wasm::Module module, wasm::decode(wasm::ModuleBytes::own(std::move(bytes))));
  HOIST_TRY_VOID(wasm::validate_module(module));
  return module;
}

}  // namespace hoistdev
