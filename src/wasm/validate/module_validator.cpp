// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Validation of all but the bodies, in the order of the sections, so that the first error found is
// the one at the lowest offset.
//
// Source: WebAssembly core specification, section 3.4 "Modules".
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "wasm/format/limits.hpp"
#include "wasm/validate/const_expr.hpp"
#include "wasm/validate/validator.hpp"
#include "wasm/validate/validator_parts.hpp"

namespace hoist::wasm {

static Error invalid(std::string message, std::uint32_t offset) {
  return Error(ErrorKind::Invalid, std::move(message), offset);
}

static Error unknown(std::string_view what, std::uint32_t index, std::size_t count,
                     std::uint32_t offset) {
  if (count == 0) return invalid(fmt::format("unknown {} {}: there is none", what, index), offset);
  return invalid(fmt::format("unknown {} {}: there are {}", what, index, count), offset);
}

static Result<void> check_order(const Limits& limits, std::uint32_t offset) {
  if (!limits.has_max || limits.min <= limits.max) return {};
  return invalid(fmt::format("size minimum must not be greater than maximum: {} and {}", limits.min,
                             limits.max),
                 offset);
}

static Result<void> check_type_index(const Module& module, std::uint32_t type,
                                     std::uint32_t offset) {
  if (type < module.types.size()) return {};
  return unknown("type", type, module.types.size(), offset);
}

static Result<void> check_table(const Table& table) {
  constexpr std::uint64_t kMax = UINT32_MAX;
  const Limits& limits = table.type.limits;
  const std::uint64_t largest = std::max(limits.min, limits.has_max ? limits.max : 0);
  if (!table.type.is64 && largest > kMax) {
    return invalid(fmt::format("table size must be at most {} elements, found {}", kMax, largest),
                   table.offset);
  }
  return check_order(limits, table.offset);
}

static Result<void> check_memory(const Memory& memory) {
  const Limits& limits = memory.type.limits;
  const std::uint64_t largest = std::max(limits.min, limits.has_max ? limits.max : 0);
  if (!memory.type.is64 && largest > kMaxPages32) {
    return invalid(fmt::format("memory size must be at most 65536 pages (4GiB), found {}", largest),
                   memory.offset);
  }
  return check_order(limits, memory.offset);
}

static Result<void> check_imports(const Module& module) {
  for (const Import& item : module.imports) {
    switch (item.kind) {
      case ExternKind::Func: {
        const Function& function = module.functions[item.index];
        HOIST_TRY_VOID(check_type_index(module, function.type_index, function.offset));
        break;
      }
      case ExternKind::Table: HOIST_TRY_VOID(check_table(module.tables[item.index])); break;
      case ExternKind::Memory: HOIST_TRY_VOID(check_memory(module.memories[item.index])); break;
      case ExternKind::Tag: {
        const Tag& tag = module.tags[item.index];
        HOIST_TRY_VOID(check_type_index(module, tag.type_index, tag.offset));
        break;
      }
      case ExternKind::Global: break;
    }
  }
  return {};
}

static Result<void> check_definitions(const Module& module, ConstExprValidator& exprs) {
  for (std::size_t i = module.num_imported_functions; i < module.functions.size(); ++i) {
    const Function& function = module.functions[i];
    HOIST_TRY_VOID(check_type_index(module, function.type_index, function.offset));
  }
  for (std::size_t i = module.num_imported_tables; i < module.tables.size(); ++i) {
    HOIST_TRY_VOID(check_table(module.tables[i]));
  }
  for (std::size_t i = module.num_imported_memories; i < module.memories.size(); ++i) {
    HOIST_TRY_VOID(check_memory(module.memories[i]));
  }
  for (std::size_t i = module.num_imported_tags; i < module.tags.size(); ++i) {
    HOIST_TRY_VOID(check_type_index(module, module.tags[i].type_index, module.tags[i].offset));
  }
  for (std::uint32_t i = module.num_imported_globals; i < module.globals.size(); ++i) {
    const Global& global = module.globals[i];
    HOIST_TRY_VOID(exprs.check(global.init, global.type.type, i, "initializer of global", i));
  }
  return {};
}

/// Index of the first export whose name an earlier one has, or the number of exports.
static std::size_t first_duplicate(const std::vector<Export>& exports) {
  std::vector<std::uint32_t> order(exports.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int names = exports[a].name.compare(exports[b].name);
    return names != 0 ? names < 0 : a < b;
  });
  std::size_t first = exports.size();
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (exports[order[i]].name == exports[order[i - 1]].name) {
      first = std::min<std::size_t>(first, order[i]);
    }
  }
  return first;
}

static std::size_t index_space_size(const Module& module, ExternKind kind) {
  switch (kind) {
    case ExternKind::Func: return module.functions.size();
    case ExternKind::Table: return module.tables.size();
    case ExternKind::Memory: return module.memories.size();
    case ExternKind::Global: return module.globals.size();
    case ExternKind::Tag: return module.tags.size();
  }
  return 0;
}

static std::string shortened(std::string_view name) {
  if (name.size() <= kMaxNameInMessage) return std::string(name);
  return std::string(name.substr(0, kMaxNameInMessage)) + "...";
}

static Result<void> check_exports(const Module& module) {
  const std::size_t duplicate = first_duplicate(module.exports);
  for (std::size_t i = 0; i < module.exports.size(); ++i) {
    const Export& item = module.exports[i];
    const std::size_t size = index_space_size(module, item.kind);
    if (i == duplicate) {
      return invalid(fmt::format("duplicate export name \"{}\"", shortened(item.name)),
                     item.offset);
    }
    if (item.index >= size) return unknown(text(item.kind), item.index, size, item.offset);
  }
  return {};
}

static Result<void> check_start(const Module& module) {
  if (!module.start) return {};
  if (*module.start >= module.functions.size()) {
    return unknown("function", *module.start, module.functions.size(), module.start_offset);
  }
  const FuncType& type = module.function_type(*module.start);
  if (type.params().empty() && type.results().empty()) return {};
  return invalid("start function must have type [] -> [], found " + to_string(type),
                 module.start_offset);
}

static Result<void> check_elements(const Module& module, ConstExprValidator& exprs) {
  const auto num_globals = static_cast<std::uint32_t>(module.globals.size());
  for (std::uint32_t i = 0; i < module.elements.size(); ++i) {
    const ElemSegment& segment = module.elements[i];
    if (segment.mode == SegmentMode::Active) {
      if (segment.table >= module.tables.size()) {
        return unknown("table", segment.table, module.tables.size(), segment.offset);
      }
      const TableType& table = module.tables[segment.table].type;
      if (table.element != segment.type) {
        return invalid(fmt::format("type mismatch: element segment {} of type {} for a table of {}",
                                   i, to_string(segment.type), to_string(table.element)),
                       segment.offset);
      }
      HOIST_TRY_VOID(exprs.check(segment.place, table.index_type(), num_globals,
                                 "offset of element segment", i));
    }
    for (const ElemItem& item : segment.items) {
      if (item.kind == ElemItem::Kind::Func && item.index >= module.functions.size()) {
        return unknown("function", item.index, module.functions.size(), segment.items_offset);
      }
      if (item.kind == ElemItem::Kind::Expr) {
        HOIST_TRY_VOID(exprs.check(segment.exprs[item.index], segment.type, num_globals,
                                   "an item of element segment", i));
      }
    }
  }
  return {};
}

Result<void> validate_before_code(const Module& module) {
  ConstExprValidator exprs(module);
  HOIST_TRY_VOID(check_imports(module));
  HOIST_TRY_VOID(check_definitions(module, exprs));
  HOIST_TRY_VOID(check_exports(module));
  HOIST_TRY_VOID(check_start(module));
  return check_elements(module, exprs);
}

Result<void> validate_data(const Module& module) {
  ConstExprValidator exprs(module);
  const auto num_globals = static_cast<std::uint32_t>(module.globals.size());
  for (std::uint32_t i = 0; i < module.data.size(); ++i) {
    const DataSegment& segment = module.data[i];
    if (segment.mode != SegmentMode::Active) continue;
    if (segment.memory >= module.memories.size()) {
      return unknown("memory", segment.memory, module.memories.size(), segment.offset);
    }
    const ValType address = module.memories[segment.memory].type.address_type();
    HOIST_TRY_VOID(exprs.check(segment.place, address, num_globals, "offset of data segment", i));
  }
  return {};
}

Result<void> validate_module(const Module& module) {
  HOIST_TRY_VOID(validate_before_code(module));
  return validate_data(module);
}

}  // namespace hoist::wasm
