// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hoist/modules.hpp"

#include "hoist/hoist.hpp"
#include "platform/files.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/text/wat_parser.hpp"

namespace hoist::cli {

bool is_binary_module(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 'a' && bytes[2] == 's' &&
         bytes[3] == 'm';
}

Result<std::vector<std::uint8_t>> read_module_file(const std::string& path) {
  HOIST_TRY(std::vector<std::uint8_t> bytes,
            platform::read_file(path == "-" ? "/dev/stdin" : path, wasm::kMaxModuleBytes));
  if (is_binary_module(bytes)) return bytes;
  if (Module::is_image(bytes)) {
    return Error(ErrorKind::BadArgument,
                 "it is an image, compiled already: `hoist objdump` shows it");
  }
  return wasm::assemble_wat({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, {});
}

}  // namespace hoist::cli
