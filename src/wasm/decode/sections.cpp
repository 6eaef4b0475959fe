// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sections but for types, element and data segments.
#include <fmt/core.h>

#include "wasm/decode/module_decoder.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {

static Range rest_of(const ByteReader& in) {
  return {in.offset(), static_cast<std::uint32_t>(in.remaining())};
}

bool ModuleDecoder::custom_section(ByteReader& in) {
  CustomSection custom;
  if (!in.name(custom.name)) return fail_read(in);
  custom.content = rest_of(in);
  module_.customs.push_back(custom);
  return in.skip(in.remaining()) || fail_read(in);
}

// ---- Imports

bool ModuleDecoder::import_section(ByteReader& in) {
  constexpr std::uint8_t kExactFunc = 0x20;
  std::uint32_t imports = 0;
  if (!count(in, 0, kMaxImports, "imports", imports)) return false;
  reserve(module_.imports, imports, 4, in);
  for (std::uint32_t i = 0; i < imports; ++i) {
    Import item;
    item.offset = in.offset();
    if (!in.name(item.module) || !in.name(item.field)) return fail_read(in);
    const std::uint32_t at = in.offset();
    std::uint8_t kind = 0;
    if (!in.u8(kind)) return fail_read(in);
    if (kind == kExactFunc) {
      need(Feature::CustomDescriptors, "import of an exact function type", at);
      kind = 0;
    }
    if (kind > static_cast<std::uint8_t>(ExternKind::Tag)) {
      return malformed(fmt::format("malformed import kind {}", kind), at);
    }
    item.kind = static_cast<ExternKind>(kind);
    if (!import_type(in, item)) return false;
    module_.imports.push_back(item);
  }
  return true;
}

bool ModuleDecoder::import_type(ByteReader& in, Import& item) {
  const std::uint32_t at = in.offset();
  switch (item.kind) {
    case ExternKind::Func: {
      Function function{0, at};
      if (!in.u32(function.type_index)) return fail_read(in);
      item.index = module_.num_imported_functions++;
      module_.functions.push_back(function);
      return true;
    }
    case ExternKind::Table: {
      Table table{{}, {}, at, false};
      if (!table_type(in, table.type)) return false;
      item.index = module_.num_imported_tables++;
      add_table(table);
      return true;
    }
    case ExternKind::Memory: {
      MemoryType type;
      if (!memory_type(in, type)) return false;
      item.index = module_.num_imported_memories++;
      add_memory(type, at);
      return true;
    }
    case ExternKind::Global: {
      Global global{{}, {}, at};
      if (!global_type(in, global.type)) return false;
      if (global.type.is_mutable) need(Feature::MutableGlobals, "import of a mutable global", at);
      item.index = module_.num_imported_globals++;
      module_.globals.push_back(global);
      return true;
    }
    case ExternKind::Tag: {
      Tag tag{0, at};
      if (!tag_type(in, tag)) return false;
      item.index = module_.num_imported_tags++;
      module_.tags.push_back(tag);
      return true;
    }
  }
  return false;
}

// ---- Types of entities

bool ModuleDecoder::limits(ByteReader& in, bool of_memory, MemoryType& out) {
  enum Flag : std::uint8_t { kHasMax = 1, kShared = 2, k64 = 4, kPageSize = 8 };
  const std::uint32_t at = in.offset();
  std::uint8_t flags = 0;
  if (!in.u8(flags)) return fail_read(in);
  unsigned allowed = kHasMax;
  const auto allow = [&](Flag flag, Feature feature) {
    if (module_.features.has(feature)) {
      allowed |= flag;
    } else if ((flags & flag) != 0) {
      need(feature, "flag of limits", at);
    }
  };
  allow(k64, Feature::Memory64);
  if (of_memory) {
    allow(kShared, Feature::Threads);
    allow(kPageSize, Feature::CustomPageSizes);
  }
  if ((flags & ~allowed) != 0) {
    const std::string needs = missing_feature_ ? ", " + missing_feature_->message() : "";
    return malformed(fmt::format("malformed limits flags {:#x}{}", flags, needs), at);
  }
  out.is64 = (flags & k64) != 0;
  out.shared = (flags & kShared) != 0;
  out.limits.has_max = (flags & kHasMax) != 0;
  if (!in.u64(out.limits.min)) return fail_read(in);
  if (out.limits.has_max && !in.u64(out.limits.max)) return fail_read(in);
  if ((flags & kPageSize) != 0) {
    const std::uint32_t size_offset = in.offset();
    std::uint32_t log2 = 0;
    if (!in.u32(log2)) return fail_read(in);
    if (log2 >= 64) return malformed("invalid custom page size", size_offset);
    out.page_size_log2 = static_cast<std::uint8_t>(log2);
  }
  return true;
}

bool ModuleDecoder::table_type(ByteReader& in, TableType& out) {
  MemoryType size;
  if (!ref_type(in, out.element) || !limits(in, false, size)) return false;
  out.limits = size.limits;
  out.is64 = size.is64;
  return true;
}

bool ModuleDecoder::memory_type(ByteReader& in, MemoryType& out) {
  return limits(in, true, out);
}

bool ModuleDecoder::global_type(ByteReader& in, GlobalType& out) {
  return val_type(in, "value", out.type) && mutability(in, out.is_mutable);
}

bool ModuleDecoder::tag_type(ByteReader& in, Tag& out) {
  need(Feature::Exceptions, "tag", in.offset());
  const std::uint32_t at = in.offset();
  std::uint8_t attribute = 0;
  if (!in.u8(attribute)) return fail_read(in);
  if (attribute != 0) return malformed(fmt::format("malformed tag attribute {}", attribute), at);
  return in.u32(out.type_index) || fail_read(in);
}

void ModuleDecoder::add_table(const Table& table) {
  if (!module_.tables.empty() && !module_.features.has(Feature::ReferenceTypes)) {
    note_fault("multiple tables: the feature reference-types is off", table.offset);
  }
  module_.tables.push_back(table);
}

void ModuleDecoder::add_memory(const MemoryType& type, std::uint32_t offset) {
  if (!module_.memories.empty() && !module_.features.has(Feature::MultiMemory)) {
    note_fault("multiple memories: the feature multi-memory is off", offset);
  }
  module_.memories.push_back({type, offset});
}

// ---- Definitions

bool ModuleDecoder::function_section(ByteReader& in) {
  std::uint32_t functions = 0;
  if (!count(in, module_.functions.size(), kMaxFunctions, "functions", functions)) return false;
  reserve(module_.functions, functions, 1, in);
  for (std::uint32_t i = 0; i < functions; ++i) {
    Function function{0, in.offset()};
    if (!in.u32(function.type_index)) return fail_read(in);
    module_.functions.push_back(function);
  }
  return true;
}

bool ModuleDecoder::table_section(ByteReader& in) {
  constexpr std::uint8_t kWithInit = 0x40;
  std::uint32_t tables = 0;
  if (!count(in, module_.tables.size(), kMaxTables, "tables", tables)) return false;
  for (std::uint32_t i = 0; i < tables; ++i) {
    Table table{{}, {}, in.offset(), false};
    const bool has_init = in.peek() == kWithInit;
    if (has_init) {
      need(Feature::FunctionReferences, "table with an initializer", in.offset());
      std::uint8_t reserved = 0;
      if (!in.skip(1) || !in.u8(reserved)) return fail_read(in);
      if (reserved != 0) return malformed("malformed table: zero byte expected", in.offset() - 1);
    }
    if (!table_type(in, table.type)) return false;
    table.has_init = has_init;
    if (has_init && !const_expr(in, table.init)) return false;
    add_table(table);
  }
  return true;
}

bool ModuleDecoder::memory_section(ByteReader& in) {
  std::uint32_t memories = 0;
  if (!count(in, module_.memories.size(), kMaxMemories, "memories", memories)) return false;
  for (std::uint32_t i = 0; i < memories; ++i) {
    const std::uint32_t at = in.offset();
    MemoryType type;
    if (!memory_type(in, type)) return false;
    add_memory(type, at);
  }
  return true;
}

bool ModuleDecoder::tag_section(ByteReader& in) {
  std::uint32_t tags = 0;
  if (!count(in, module_.tags.size(), kMaxTags, "tags", tags)) return false;
  for (std::uint32_t i = 0; i < tags; ++i) {
    Tag tag{0, in.offset()};
    if (!tag_type(in, tag)) return false;
    module_.tags.push_back(tag);
  }
  return true;
}

bool ModuleDecoder::global_section(ByteReader& in) {
  std::uint32_t globals = 0;
  if (!count(in, module_.globals.size(), kMaxGlobals, "globals", globals)) return false;
  reserve(module_.globals, globals, 3, in);
  for (std::uint32_t i = 0; i < globals; ++i) {
    Global global{{}, {}, in.offset()};
    if (!global_type(in, global.type) || !const_expr(in, global.init)) return false;
    module_.globals.push_back(global);
  }
  return true;
}

bool ModuleDecoder::export_section(ByteReader& in) {
  std::uint32_t exports = 0;
  if (!count(in, 0, kMaxExports, "exports", exports)) return false;
  reserve(module_.exports, exports, 3, in);
  for (std::uint32_t i = 0; i < exports; ++i) {
    Export item;
    item.offset = in.offset();
    if (!in.name(item.name)) return fail_read(in);
    const std::uint32_t at = in.offset();
    std::uint8_t kind = 0;
    if (!in.u8(kind)) return fail_read(in);
    if (kind > static_cast<std::uint8_t>(ExternKind::Tag)) {
      return malformed(fmt::format("malformed export kind {}", kind), at);
    }
    item.kind = static_cast<ExternKind>(kind);
    if (!in.u32(item.index)) return fail_read(in);
    if (item.kind == ExternKind::Global && item.index < module_.globals.size() &&
        module_.globals[item.index].type.is_mutable) {
      need(Feature::MutableGlobals, "export of a mutable global", at);
    }
    module_.exports.push_back(item);
  }
  return true;
}

bool ModuleDecoder::start_section(ByteReader& in) {
  std::uint32_t func = 0;
  module_.start_offset = in.offset();
  if (!in.u32(func)) return fail_read(in);
  module_.start = func;
  return true;
}

bool ModuleDecoder::data_count_section(ByteReader& in) {
  std::uint32_t segments = 0;
  if (!in.u32(segments)) return fail_read(in);
  need(Feature::BulkMemory, "data count section", in.offset());
  module_.data_count = segments;
  return true;
}

bool ModuleDecoder::code_section(ByteReader& in) {
  module_.code_section = rest_of(in);
  std::uint32_t bodies = 0;
  if (!count(in, 0, kMaxFunctions, "function bodies", bodies)) return false;
  reserve(module_.bodies, bodies, 1, in);
  for (std::uint32_t i = 0; i < bodies; ++i) {
    const std::uint32_t at = in.offset();
    Range body;
    if (!in.u32(body.size)) return fail_read(in);
    if (body.size > in.remaining()) {
      return malformed(
          fmt::format("unexpected end of section or function: function body {} claims {} "
                      "bytes, {} are left",
                      i, body.size, in.remaining()),
          at);
    }
    if (body.size > kMaxBodyBytes) {
      error_.emplace(ErrorKind::Limit,
                     fmt::format("function body {} has {} bytes, at most {} are supported", i,
                                 body.size, kMaxBodyBytes),
                     at);
      return false;
    }
    body.offset = in.offset();
    module_.bodies.push_back(body);
    if (!in.skip(body.size)) return fail_read(in);
  }
  return true;
}

}  // namespace hoist::wasm
