// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DWARF line programs: the input is the .debug_line section of a module, behind a byte that says
// where .debug_line_str begins in it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "demangle/demangle.hpp"
#include "wasm/debug/line_table.hpp"
#include "wasm/decode/decoder.hpp"
#include "wasm/format/module.hpp"

using namespace hoist;  // NOLINT: one function

static void custom(std::vector<std::uint8_t>& out, const char* name, const std::uint8_t* data,
                   std::size_t size) {
  const std::string text = name;
  out.push_back(0);
  std::size_t body = 1 + text.size() + size;
  for (; body >= 0x80; body >>= 7) out.push_back(static_cast<std::uint8_t>(body | 0x80));
  out.push_back(static_cast<std::uint8_t>(body));
  out.push_back(static_cast<std::uint8_t>(text.size()));
  out.insert(out.end(), text.begin(), text.end());
  out.insert(out.end(), data, data + size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(demangle::demangled({reinterpret_cast<const char*>(data), size}));
  if (size < 1) return 0;
  std::vector<std::uint8_t> bytes = {0, 'a', 's', 'm', 1, 0, 0,  0, 1, 4, 1, 0x60,
                                     0, 0,   3,   2,   1, 0, 10, 4, 1, 2, 0, 0x0b};
  const std::size_t split = size * data[0] / 256;
  custom(bytes, ".debug_line", data + 1, size - 1);
  custom(bytes, ".debug_line_str", data + split, size - split);
  const auto module = wasm::decode(wasm::ModuleBytes::borrow(bytes));
  if (!module) return 0;
  const wasm::LineTable table = wasm::LineTable::read(*module);
  for (std::uint64_t at = 0; at < 40; ++at) {
    const std::string file(table.find(at).file);
    if (file.size() > 20'000) __builtin_trap();
  }
  return 0;
}
