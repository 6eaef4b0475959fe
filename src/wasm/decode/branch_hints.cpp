// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The custom section "metadata.code.branch_hint". A hint changes nothing but speed, so a section
// that is wrong in any way is ignored as a whole.
//
// Source: WebAssembly core specification 3.0, appendix "Custom Sections" (code metadata, branch
// hints).
#include <algorithm>

#include "wasm/decode/module_decoder.hpp"

namespace hoist::wasm {

/// One function's hints, in ascending order.
static bool function_hints(const Module& module, ByteReader& in, std::uint32_t func,
                           std::vector<BranchHint>& out) {
  const Range body = module.body(func);
  std::uint32_t count = 0;
  if (!in.u32(count)) return false;
  std::uint32_t least = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint8_t value = 0;
    if (!in.u32(offset) || !in.u32(size) || size != 1 || !in.u8(value) || value > 1) return false;
    if (offset < least || offset >= body.size) return false;
    least = offset + 1;
    out.push_back({body.offset + offset, value == 1});
  }
  return true;
}

static bool all_hints(const Module& module, ByteReader& in, std::vector<BranchHint>& out) {
  std::uint32_t functions = 0;
  if (!in.u32(functions)) return false;
  std::uint32_t least = module.num_imported_functions;
  for (std::uint32_t i = 0; i < functions; ++i) {
    std::uint32_t func = 0;
    if (!in.u32(func) || func < least || func >= module.num_functions()) return false;
    if (!function_hints(module, in, func, out)) return false;
    least = func + 1;
  }
  return in.at_end();
}

void ModuleDecoder::read_branch_hints() {
  const auto is_hints = [&](const CustomSection& custom) {
    return custom.name == "metadata.code.branch_hint" &&
           custom.content.offset < module_.code_section.offset;
  };
  const auto found = std::ranges::find_if(module_.customs, is_hints);
  if (found == module_.customs.end()) return;
  ByteReader in(module_.bytes.span(), found->content.offset, found->content.end());
  if (!all_hints(module_, in, module_.branch_hints)) module_.branch_hints.clear();
}

}  // namespace hoist::wasm
