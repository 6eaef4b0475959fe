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
#include "wasm/format/subtyping.hpp"
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

static Result<void> check_function(const Module& module, const Function& function) {
  const std::uint32_t type = function.type_index;
  if (type >= module.types.size()) {
    return unknown("type", type, module.types.size(), function.offset);
  }
  if (module.is_func_type(type)) return {};
  return invalid(fmt::format("type mismatch: type {} of a function is not a function type", type),
                 function.offset);
}

static Result<void> check_tag(const Module& module, const Tag& tag) {
  HOIST_TRY_VOID(check_function(module, {tag.type_index, tag.offset}));
  const FuncType& type = module.types[tag.type_index];
  if (type.results().empty()) return {};
  return invalid("non-empty tag result type: found " + to_string(type), tag.offset);
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

/// With its initial value, which an imported table does not have.
static Result<void> check_defined_table(const Module& module, std::uint32_t index,
                                        ConstExprValidator& exprs) {
  const Table& table = module.tables[index];
  HOIST_TRY_VOID(check_table(table));
  if (table.has_init) {
    // The globals that the module defines come later.
    return exprs.check(table.init, table.type.element, module.num_imported_globals,
                       "initializer of table", index);
  }
  if (table.type.element.is_defaultable()) return {};
  return invalid(fmt::format("type mismatch: table {} of {} needs an initializer", index,
                             to_string(table.type.element)),
                 table.offset);
}

/// The most pages that a memory can have: a rule of validation, not a limit of ours.
static std::uint64_t max_pages(const MemoryType& type) {
  if (type.page_size_log2 == 0) return type.is64 ? UINT64_MAX : UINT32_MAX;
  return type.is64 ? std::uint64_t{1} << 48 : kMaxPages32;
}

static Result<void> check_memory(const Memory& memory) {
  const MemoryType& type = memory.type;
  const Limits& limits = type.limits;
  if (type.page_size_log2 != 16 && type.page_size_log2 != 0) {
    return invalid(fmt::format("invalid custom page size: 2**{} bytes, neither 1 nor 65536",
                               type.page_size_log2),
                   memory.offset);
  }
  const std::uint64_t largest = std::max(limits.min, limits.has_max ? limits.max : 0);
  if (largest > max_pages(type)) {
    const bool usual = !type.is64 && type.page_size_log2 == 16;
    return invalid(fmt::format("memory size must be at most {} pages{}, found {}", max_pages(type),
                               usual ? " (4GiB)" : "", largest),
                   memory.offset);
  }
  if (type.shared && !limits.has_max) {
    return invalid("shared memory must have maximum", memory.offset);
  }
  return check_order(limits, memory.offset);
}

static Result<void> check_imports(const Module& module) {
  for (const Import& item : module.imports) {
    switch (item.kind) {
      case ExternKind::Func: {
        HOIST_TRY_VOID(check_function(module, module.functions[item.index]));
        break;
      }
      case ExternKind::Table: HOIST_TRY_VOID(check_table(module.tables[item.index])); break;
      case ExternKind::Memory: HOIST_TRY_VOID(check_memory(module.memories[item.index])); break;
      case ExternKind::Tag: HOIST_TRY_VOID(check_tag(module, module.tags[item.index])); break;
      case ExternKind::Global: break;
    }
  }
  return {};
}

static Result<void> check_definitions(const Module& module, ConstExprValidator& exprs) {
  const bool gc = module.features.has(Feature::Gc);
  for (std::size_t i = module.num_imported_functions; i < module.functions.size(); ++i) {
    HOIST_TRY_VOID(check_function(module, module.functions[i]));
  }
  for (std::uint32_t i = module.num_imported_tables; i < module.tables.size(); ++i) {
    HOIST_TRY_VOID(check_defined_table(module, i, exprs));
  }
  for (std::size_t i = module.num_imported_memories; i < module.memories.size(); ++i) {
    HOIST_TRY_VOID(check_memory(module.memories[i]));
  }
  for (std::size_t i = module.num_imported_tags; i < module.tags.size(); ++i) {
    HOIST_TRY_VOID(check_tag(module, module.tags[i]));
  }
  for (std::uint32_t i = module.num_imported_globals; i < module.globals.size(); ++i) {
    const Global& global = module.globals[i];
    // Before the collector's extension only imported globals were constant.
    const std::uint32_t usable = gc ? i : module.num_imported_globals;
    HOIST_TRY_VOID(exprs.check(global.init, global.type.type, usable, "initializer of global", i));
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
      if (!is_subtype(module, segment.type, table.element)) {
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

static Result<void> check_before_code(const Module& module) {
  ConstExprValidator exprs(module);
  HOIST_TRY_VOID(check_imports(module));
  HOIST_TRY_VOID(check_definitions(module, exprs));
  HOIST_TRY_VOID(check_exports(module));
  HOIST_TRY_VOID(check_start(module));
  return check_elements(module, exprs);
}

/// Of what was found and what the decoder found, the one at the lower offset.
static Result<void> first_of(Result<void> found, const Module& module) {
  if (!module.type_fault) return found;
  const TypeFault& fault = *module.type_fault;
  if (!found && found.error().offset() < fault.offset) return found;
  return Error(fault.is_limit ? ErrorKind::Limit : ErrorKind::Invalid, fault.message, fault.offset);
}

/// Whether the decoder's fault is in front of the bodies.
static bool is_before_code(const Module& module) {
  const std::uint32_t code = module.code_section.offset;
  return !module.type_fault || code == 0 || module.type_fault->offset < code;
}

Result<void> validate_before_code(const Module& module) {
  Result<void> result = check_before_code(module);
  return is_before_code(module) ? first_of(std::move(result), module) : std::move(result);
}

static Result<void> check_data(const Module& module) {
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

Result<void> validate_data(const Module& module) {
  Result<void> result = check_data(module);
  return is_before_code(module) ? std::move(result) : first_of(std::move(result), module);
}

Result<void> validate_module(const Module& module) {
  HOIST_TRY_VOID(validate_before_code(module));
  return validate_data(module);
}

}  // namespace hoist::wasm
