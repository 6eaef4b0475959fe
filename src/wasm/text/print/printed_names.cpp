// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/text/print/printed_names.hpp"

#include <algorithm>

#include "wasm/format/name_subsection.hpp"

namespace hoist::wasm {

// ---- One space.

const PrintedName* find_printed_name(std::span<const PrintedName> names, std::uint32_t index) {
  if (names.empty()) return nullptr;
  // Most spaces have a name for each index.
  const std::size_t guess = std::min<std::size_t>(index, names.size() - 1);
  if (names[guess].index == index) return &names[guess];
  const auto found = std::lower_bound(
      names.begin(), names.end(), index,
      [](const PrintedName& name, std::uint32_t wanted) { return name.index < wanted; });
  return found != names.end() && found->index == index ? &*found : nullptr;
}

void PrintedSpace::add(std::uint32_t index, std::string_view name) {
  const bool usable = !name.empty() && name.front() != '#' && taken_.insert(name).second;
  names_.push_back({.index = index, .made_up = !usable, .text = name});
}

void PrintedSpace::identifier(TextWriter& out, const PrintedName& name) const {
  if (!name.made_up) {
    out.identifier(name.text);
    return;
  }
  out << "$#" << word_;
  out.decimal(name.index);
}

void PrintedSpace::reference(TextWriter& out, std::uint32_t index) const {
  if (const PrintedName* name = find(index)) {
    identifier(out, *name);
  } else {
    out.decimal(index);
  }
}

void PrintedSpace::plain_definition(TextWriter& out, std::uint32_t index) const {
  const PrintedName* name = find(index);
  if (name == nullptr) return;
  out << ' ';
  identifier(out, *name);
  if (!name->made_up) return;
  out << " (@name ";
  out.string(name->text, true);
  out << ')';
}

void PrintedSpace::definition(TextWriter& out, std::uint32_t index) const {
  plain_definition(out, index);
  out << " (;";
  out.decimal(index);
  out << ";)";
}

// ---- The section.

void PrintedNames::read(std::span<const std::uint8_t> module_bytes, std::uint32_t begin,
                        std::uint32_t end, const PrintedCounts& counts) {
  bytes_ = module_bytes;
  end_ = end;
  ByteReader in(module_bytes, begin, end);
  while (!in.at_end()) {
    std::uint8_t id = 0;
    std::span<const std::uint8_t> content;
    if (!in.u8(id) || !in.bytes(content)) return;
    ByteReader sub(module_bytes, in.offset() - content.size(), in.offset());
    if (!subsection(id, sub, counts)) return;
  }
}

/// False at the first mistake.
bool PrintedNames::subsection(std::uint8_t id, ByteReader& in, const PrintedCounts& counts) {
  switch (id) {
    case kModuleName: return in.name(module);
    case kFunctionNames: return name_map(in, counts.functions, functions);
    case kLocalNames: return find_maps(in, local_maps_);
    case kLabelNames: return find_maps(in, label_maps_);
    case kTypeNames: return name_map(in, counts.types, types);
    case kTableNames: return name_map(in, counts.tables, tables);
    case kMemoryNames: return name_map(in, counts.memories, memories);
    case kGlobalNames: return name_map(in, counts.globals, globals);
    case kElementNames: return name_map(in, counts.elements, elements);
    case kDataNames: return name_map(in, counts.data, data);
    case kFieldNames: return find_maps(in, field_maps_);
    case kTagNames: return name_map(in, counts.tags, tags);
    default: return true;  // of a later version
  }
}

/// Reads names of ascending indexes below `count` into `space`.
bool PrintedNames::name_map(ByteReader& in, std::uint32_t count, PrintedSpace& space) {
  std::uint32_t entries = 0;
  if (space.any() || !in.u32(entries)) return false;
  std::uint32_t next = 0;
  for (; entries != 0; --entries) {
    std::uint32_t index = 0;
    std::string_view name;
    if (!in.u32(index) || !in.name(name) || index < next || index >= count) return false;
    space.add(index, name);
    next = index + 1;
  }
  return true;
}

/// Notes where the map of each index begins; the maps themselves are read when they are needed.
bool PrintedNames::find_maps(ByteReader& in, Places& places) {
  std::uint32_t maps = 0;
  if (!in.u32(maps)) return false;
  for (; maps != 0; --maps) {
    std::uint32_t index = 0;
    if (!in.u32(index)) return false;
    const std::uint32_t at = in.offset();
    std::uint32_t entries = 0;
    if (!in.u32(entries)) return false;
    for (; entries != 0; --entries) {
      std::uint32_t inner = 0;
      std::string_view name;
      if (!in.u32(inner) || !in.name(name)) return false;
    }
    places.try_emplace(index, at);
  }
  return true;
}

void PrintedNames::enter_function(std::uint32_t func, std::uint32_t num_locals) {
  if (locals.any()) locals.clear();
  labels_.clear();
  if (const auto found = local_maps_.find(func); found != local_maps_.end()) {
    ByteReader in(bytes_, found->second, end_);
    static_cast<void>(name_map(in, num_locals, locals));
  }
  const auto found = label_maps_.find(func);
  if (found == label_maps_.end()) return;
  ByteReader in(bytes_, found->second, end_);
  std::uint32_t entries = 0;
  if (!in.u32(entries)) return;
  for (std::uint32_t next = 0; entries != 0; --entries) {
    std::uint32_t number = 0;
    std::string_view name;
    if (!in.u32(number) || !in.name(name) || number < next || number == 0xffff'ffff) return;
    labels_.push_back({.index = number, .text = name});
    next = number + 1;
  }
}

const PrintedSpace& PrintedNames::fields_of(std::uint32_t type) {
  const auto found = field_maps_.find(type);
  if (found == field_maps_.end()) return no_fields_;
  const auto [it, fresh] = fields_.try_emplace(type, "field");
  if (fresh) {
    ByteReader in(bytes_, found->second, end_);
    // A type has fewer fields than the module has bytes.
    static_cast<void>(name_map(in, static_cast<std::uint32_t>(bytes_.size()), it->second));
  }
  return it->second;
}

void PrintedNames::field_reference(TextWriter& out, std::uint32_t type, std::uint32_t field) {
  fields_of(type).reference(out, field);
}

}  // namespace hoist::wasm
