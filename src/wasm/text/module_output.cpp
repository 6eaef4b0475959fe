// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The assembled sections in their order, custom sections at their places, the name section.
#include "wasm/format/name_subsection.hpp"
#include "wasm/text/module_assembler.hpp"

namespace hoist::wasm {

namespace {

void append(Bytes& out, const Bytes& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// `id`, then `content` behind its length.
void write_block(Bytes& out, std::uint8_t id, const Bytes& content) {
  out.push_back(id);
  base::write_uleb(out, content.size());
  append(out, content);
}

}  // namespace

Bytes ModuleAssembler::module_bytes() {
  Bytes out{0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00};
  write_customs(out, TextSection::First, false);
  write_section(out, TextSection::Type, type_section_);
  write_section(out, TextSection::Import, import_section_);
  write_section(out, TextSection::Func, func_section_);
  write_section(out, TextSection::Table, table_section_);
  write_section(out, TextSection::Memory, memory_section_);
  write_section(out, TextSection::Tag, tag_section_);
  write_section(out, TextSection::Global, global_section_);
  write_section(out, TextSection::Export, export_section_);
  write_customs(out, TextSection::Start, false);
  if (has_start_) {
    Bytes start;
    base::write_uleb(start, start_);
    write_block(out, static_cast<std::uint8_t>(TextSection::Start), start);
  }
  write_customs(out, TextSection::Start, true);
  write_section(out, TextSection::Elem, elem_section_);
  write_customs(out, TextSection::DataCount, false);
  if (uses_data_index_) {
    Bytes count;
    base::write_uleb(count, data_section_.count);
    write_block(out, static_cast<std::uint8_t>(TextSection::DataCount), count);
  }
  write_customs(out, TextSection::DataCount, true);
  if (hint_section_.count != 0) {
    Bytes content;
    write_name(content, "metadata.code.branch_hint");
    base::write_uleb(content, hint_section_.count);
    append(content, hint_section_.bytes);
    write_block(out, static_cast<std::uint8_t>(TextSection::Custom), content);
  }
  write_section(out, TextSection::Code, code_section_);
  write_section(out, TextSection::Data, data_section_);
  write_customs(out, TextSection::Last, true);
  if (options_.names) write_names(out);
  return out;
}

void ModuleAssembler::write_section(Bytes& out, TextSection id, const Section& section) {
  write_customs(out, id, false);
  if (section.count != 0) {
    Bytes count;
    base::write_uleb(count, section.count);
    out.push_back(static_cast<std::uint8_t>(id));
    base::write_uleb(out, count.size() + section.bytes.size());
    append(out, count);
    append(out, section.bytes);
  }
  write_customs(out, id, true);
}

void ModuleAssembler::write_customs(Bytes& out, TextSection id, bool after) {
  for (const Custom& custom : customs_) {
    if (custom.section != id || custom.after != after) continue;
    Bytes content;
    write_name(content, custom.name);
    content.insert(content.end(), custom.content.begin(), custom.content.end());
    write_block(out, static_cast<std::uint8_t>(TextSection::Custom), content);
  }
}

void ModuleAssembler::write_names(Bytes& out) {
  Bytes content;
  write_name(content, "name");
  const std::size_t empty = content.size();
  if (!module_name_.empty()) {
    Bytes module;
    write_name(module, module_name_);
    write_block(content, kModuleName, module);
  }
  write_name_map(content, kFunctionNames, funcs_);
  write_indirect_names(content, kLocalNames, local_names_);
  write_indirect_names(content, kLabelNames, label_names_);
  write_name_map(content, kTypeNames, types_);
  write_name_map(content, kTableNames, tables_);
  write_name_map(content, kMemoryNames, memories_);
  write_name_map(content, kGlobalNames, globals_);
  write_name_map(content, kElementNames, elems_);
  write_name_map(content, kDataNames, datas_);
  write_indirect_names(content, kFieldNames, field_names_);
  write_name_map(content, kTagNames, tags_);
  if (content.size() > empty) {
    write_block(out, static_cast<std::uint8_t>(TextSection::Custom), content);
  }
}

/// Names within something that has the index `owner`, if there are any.
void ModuleAssembler::write_names_of(Section& out, std::uint32_t owner,
                                     const std::vector<IndexSpace::Name>& names) {
  if (names.empty()) return;
  ++out.count;
  base::write_uleb(out.bytes, owner);
  base::write_uleb(out.bytes, names.size());
  for (const IndexSpace::Name& name : names) {
    base::write_uleb(out.bytes, name.index);
    write_name(out.bytes, name.text);
  }
}

void ModuleAssembler::write_indirect_names(Bytes& out, std::uint8_t id, const Section& names) {
  if (names.count == 0) return;
  Bytes content;
  base::write_uleb(content, names.count);
  append(content, names.bytes);
  write_block(out, id, content);
}

void ModuleAssembler::write_name_map(Bytes& out, std::uint8_t id, const IndexSpace& space) {
  const std::vector<IndexSpace::Name> names = space.names(symbols_);
  if (names.empty()) return;
  Bytes content;
  base::write_uleb(content, names.size());
  for (const IndexSpace::Name& name : names) {
    base::write_uleb(content, name.index);
    write_name(content, name.text);
  }
  write_block(out, id, content);
}

}  // namespace hoist::wasm
