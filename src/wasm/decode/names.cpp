// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/names.hpp"

#include "base/function_ref.hpp"
#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {

namespace {
enum Subsection : std::uint8_t { kModuleName = 0, kFunctionNames = 1, kLocalNames = 2 };
}  // namespace

/// Calls `visit` with the content of each subsection of that id.
static void for_each_subsection(const Module& module, std::uint8_t wanted,
                                base::FunctionRef<void(ByteReader&)> visit) {
  for (const CustomSection& custom : module.customs) {
    if (custom.name != "name") continue;
    ByteReader in(module.bytes.span(), custom.content.offset, custom.content.end());
    while (!in.at_end()) {
      std::uint8_t id = 0;
      std::span<const std::uint8_t> content;
      if (!in.u8(id) || !in.bytes(content)) break;
      if (id != wanted) continue;
      ByteReader sub(module.bytes.span(), in.offset() - content.size(), in.offset());
      visit(sub);
    }
    return;
  }
}

/// Calls `visit(index, name)` for each entry; stops when it returns false.
static void for_each_name(ByteReader& in,
                          base::FunctionRef<bool(std::uint32_t, std::string_view)> visit) {
  std::uint32_t count = 0;
  if (!in.u32(count)) return;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t index = 0;
    std::string_view name;
    if (!in.u32(index) || !in.name(name) || !visit(index, name)) return;
  }
}

ModuleNames read_names(const Module& module) {
  ModuleNames names;
  for_each_subsection(module, kModuleName, [&](ByteReader& in) {
    std::string_view name;
    if (in.name(name)) names.module = name;
  });
  for_each_subsection(module, kFunctionNames, [&](ByteReader& in) {
    for_each_name(in, [&](std::uint32_t index, std::string_view name) {
      if (index >= module.functions.size()) return false;
      if (index >= names.functions.size()) names.functions.resize(module.functions.size());
      names.functions[index] = name;
      return true;
    });
  });
  return names;
}

LocalNames read_local_names(const Module& module, std::uint32_t func) {
  LocalNames names;
  for_each_subsection(module, kLocalNames, [&](ByteReader& in) {
    std::uint32_t count = 0;
    if (!in.u32(count)) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t owner = 0;
      if (!in.u32(owner)) return;
      std::uint32_t previous = 0;
      bool good = false;
      // Each list is read to its end, wanted or not: it says nothing of its size.
      for_each_name(in, [&](std::uint32_t index, std::string_view name) {
        good = names.empty() || owner != func || index > previous;
        if (owner == func && good) names.emplace_back(index, name);
        previous = index;
        return good;
      });
      if (in.failed() || owner == func) return;
    }
  });
  return names;
}

std::string find_function_name(const Module& module, std::uint32_t func) {
  std::string_view found;
  for_each_subsection(module, kFunctionNames, [&](ByteReader& in) {
    for_each_name(in, [&](std::uint32_t index, std::string_view name) {
      if (index == func) found = name;
      return index != func;
    });
  });
  for (std::size_t i = 0; found.empty() && i < module.exports.size(); ++i) {
    const Export& item = module.exports[i];
    if (item.kind == ExternKind::Func && item.index == func) found = item.name;
  }
  if (found.size() <= kMaxNameInMessage) return std::string(found);
  std::size_t cut = kMaxNameInMessage;
  while (cut > 0 && (static_cast<unsigned char>(found[cut]) & 0xc0) == 0x80) --cut;
  return std::string(found.substr(0, cut)) + "...";
}

}  // namespace hoist::wasm
