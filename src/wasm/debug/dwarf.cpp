// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/debug/dwarf.hpp"

#include "wasm/format/module.hpp"

namespace hoist::wasm::dwarf {

Sections::Sections(const Module& module) {
  const struct {
    std::string_view name;
    Bytes Sections::* bytes;
  } kAll[] = {{".debug_line", &Sections::line},
              {".debug_line_str", &Sections::line_str},
              {".debug_str", &Sections::str},
              {".debug_info", &Sections::info},
              {".debug_abbrev", &Sections::abbrev},
              {".debug_ranges", &Sections::ranges},
              {".debug_rnglists", &Sections::rnglists},
              {".debug_addr", &Sections::addr},
              {".debug_str_offsets", &Sections::str_offsets}};
  for (const CustomSection& custom : module.customs) {
    for (const auto& one : kAll) {
      // Of several of one name the first counts.
      if (custom.name == one.name && (this->*one.bytes).empty())
        this->*one.bytes = module.bytes_of(custom.content);
    }
  }
}

bool string_at(Bytes section, std::uint64_t at, std::string_view& out) {
  if (at >= section.size()) return false;
  // More of it is not shown, and many entries may name the same long string.
  const Bytes rest = section.subspan(static_cast<std::size_t>(at));
  const Bytes shown = rest.first(std::min(rest.size(), kMaxText));
  const auto end = std::find(shown.begin(), shown.end(), std::uint8_t{0});
  out = {reinterpret_cast<const char*>(shown.data()),
         static_cast<std::size_t>(end - shown.begin())};
  return end != shown.end() || shown.size() != rest.size();
}

UnitLength unit_length(Cursor& in) {
  UnitLength out;
  out.bytes = in.fixed<std::uint32_t>();
  out.wide = out.bytes == 0xffff'ffff;
  if (out.wide) out.bytes = in.fixed<std::uint64_t>();
  return out;
}

}  // namespace hoist::wasm::dwarf
