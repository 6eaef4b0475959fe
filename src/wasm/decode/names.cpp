// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/names.hpp"

#include "base/function_ref.hpp"
#include "wasm/decode/byte_reader.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/format/name_subsection.hpp"

namespace hoist::wasm {

/// Calls `visit` with the content of each subsection of that id. False: the section is malformed.
static bool for_each_subsection(const Module& module, std::uint8_t wanted,
                                base::FunctionRef<void(ByteReader&)> visit) {
  for (const CustomSection& custom : module.customs) {
    if (custom.name != "name") continue;
    ByteReader in(module.bytes.span(), custom.content.offset, custom.content.end());
    while (!in.at_end()) {
      std::uint8_t id = 0;
      std::span<const std::uint8_t> content;
      if (!in.u8(id) || !in.bytes(content)) return false;
      if (id != wanted) continue;
      ByteReader sub(module.bytes.span(), in.offset() - content.size(), in.offset());
      visit(sub);
      if (sub.failed()) return false;
    }
    return true;
  }
  return true;
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

/// Names of entities of which there are `count`, by index. False: some are not UTF-8; they are left
/// out, and those that come after them are not.
static bool read_name_map(ByteReader& in, std::size_t count, std::vector<std::string_view>& out) {
  bool all = true;
  std::uint32_t entries = 0;
  if (!in.u32(entries)) return all;
  for (std::uint32_t i = 0; i < entries; ++i) {
    std::uint32_t index = 0;
    std::span<const std::uint8_t> name;
    if (!in.u32(index) || !in.bytes(name) || index >= count) return all;
    if (index >= out.size()) out.resize(count);
    if (is_utf8(name)) {
      out[index] = {reinterpret_cast<const char*>(name.data()), name.size()};
    } else {
      all = false;
    }
  }
  return all;
}

ModuleNames read_names(const Module& module) {
  ModuleNames names;
  names.damaged = !for_each_subsection(module, kModuleName, [&](ByteReader& in) {
    std::string_view name;
    if (in.name(name)) names.module = name;
  });
  const bool read = for_each_subsection(module, kFunctionNames, [&](ByteReader& in) {
    names.damaged |= !read_name_map(in, module.functions.size(), names.functions);
  });
  names.damaged |= !read;
  for_each_subsection(module, kTagNames, [&](ByteReader& in) {
    static_cast<void>(read_name_map(in, module.tags.size(), names.tags));
  });
  return names;
}

/// Names of a name map that is in order up to the first that is not.
static void read_map(ByteReader& in, bool keep, LocalNames& names) {
  std::uint32_t previous = 0;
  bool any = false;
  for_each_name(in, [&](std::uint32_t index, std::string_view name) {
    if (any && index <= previous) return false;
    if (keep) names.emplace_back(index, name);
    previous = index;
    any = true;
    return true;
  });
}

static LocalNames read_indirect(const Module& module, std::uint8_t subsection,
                                std::uint32_t wanted) {
  LocalNames names;
  for_each_subsection(module, subsection, [&](ByteReader& in) {
    std::uint32_t count = 0;
    if (!in.u32(count)) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t owner = 0;
      if (!in.u32(owner)) return;
      // Each list is read to its end, wanted or not: it says nothing of its size.
      const bool keep = owner == wanted;
      read_map(in, keep, names);
      if (in.failed() || keep) return;
    }
  });
  return names;
}

LocalNames read_local_names(const Module& module, std::uint32_t func) {
  return read_indirect(module, kLocalNames, func);
}

LocalNames read_space_names(const Module& module, NameSpace space) {
  LocalNames names;
  for_each_subsection(module, static_cast<std::uint8_t>(space),
                      [&](ByteReader& in) { read_map(in, true, names); });
  return names;
}

LocalNames read_inner_names(const Module& module, NameSpace space, std::uint32_t owner) {
  return read_indirect(module, static_cast<std::uint8_t>(space), owner);
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
