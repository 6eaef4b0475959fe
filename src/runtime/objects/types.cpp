// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/objects/types.hpp"

#include <fmt/core.h>

#include <vector>

#include "base/check.hpp"

namespace hoist::runtime {

wasm::ValType to_wasm(hoist::ValType type) {
  switch (type.kind()) {
    case ValKind::I32: return wasm::TypeKind::I32;
    case ValKind::I64: return wasm::TypeKind::I64;
    case ValKind::F32: return wasm::TypeKind::F32;
    case ValKind::F64: return wasm::TypeKind::F64;
    case ValKind::V128: return wasm::TypeKind::V128;
    case ValKind::FuncRef: return wasm::TypeKind::FuncRef;
    case ValKind::ExternRef: return wasm::TypeKind::ExternRef;
    case ValKind::ExnRef: return wasm::ValType::ref(wasm::HeapType(wasm::HeapType::Exn), true);
    case ValKind::AnyRef: return wasm::ValType::ref(wasm::HeapType(wasm::HeapType::Any), true);
  }
  HOIST_UNREACHABLE("a ValKind");
}

wasm::FuncType to_wasm(const hoist::FuncType& type) {
  std::vector<wasm::ValType> params;
  std::vector<wasm::ValType> results;
  for (const hoist::ValType param : type.params()) params.push_back(to_wasm(param));
  for (const hoist::ValType result : type.results()) results.push_back(to_wasm(result));
  return {params, results};
}

static wasm::Limits limits(std::uint64_t minimum, std::optional<std::uint64_t> maximum) {
  return {minimum, maximum.value_or(0), maximum.has_value()};
}

static std::optional<std::uint64_t> maximum(const wasm::Limits& limits) {
  if (!limits.has_max) return std::nullopt;
  return limits.max;
}

wasm::MemoryType to_wasm(const hoist::MemoryType& type) {
  wasm::MemoryType out;
  out.limits = limits(type.minimum, type.maximum);
  out.is64 = type.is_64;
  out.shared = type.shared;
  out.page_size_log2 = type.page_size_log2;
  return out;
}

wasm::TableType to_wasm(const hoist::TableType& type) {
  wasm::TableType out;
  out.element = to_wasm(type.element);
  out.limits = limits(type.minimum, type.maximum);
  out.is64 = type.is_64;
  return out;
}

wasm::GlobalType to_wasm(const hoist::GlobalType& type) {
  return {to_wasm(type.content), type.is_mutable};
}

/// A concrete type is taken for one of functions: of others there are no values but null.
static ValKind general_kind(wasm::HeapType heap) {
  if (!heap.is_abstract()) return ValKind::FuncRef;
  using enum wasm::HeapType::Abstract;
  switch (heap.abstract()) {
    case Bot:
    case NoFunc:
    case Func: return ValKind::FuncRef;
    case NoExtern:
    case Extern: return ValKind::ExternRef;
    case NoExn:
    case Exn: return ValKind::ExnRef;
    case None:
    case Any:
    case Eq:
    case I31:
    case Struct:
    case Array: return ValKind::AnyRef;
  }
  HOIST_UNREACHABLE("a heap type");
}

hoist::ValType to_public(wasm::ValType type) {
  switch (type.kind()) {
    case wasm::TypeKind::I32: return ValKind::I32;
    case wasm::TypeKind::I64: return ValKind::I64;
    case wasm::TypeKind::F32: return ValKind::F32;
    case wasm::TypeKind::F64: return ValKind::F64;
    case wasm::TypeKind::V128: return ValKind::V128;
    case wasm::TypeKind::ExternRef: return ValKind::ExternRef;
    case wasm::TypeKind::Bottom:
    case wasm::TypeKind::FuncRef: return ValKind::FuncRef;
    case wasm::TypeKind::Ref:
    case wasm::TypeKind::RefNull: return general_kind(type.heap());
  }
  HOIST_UNREACHABLE("a TypeKind");
}

hoist::FuncType to_public(const wasm::FuncType& type) {
  std::vector<hoist::ValType> params;
  std::vector<hoist::ValType> results;
  for (const wasm::ValType param : type.params()) params.push_back(to_public(param));
  for (const wasm::ValType result : type.results()) results.push_back(to_public(result));
  return {std::move(params), std::move(results)};
}

hoist::MemoryType to_public(const wasm::MemoryType& type) {
  return {type.limits.min, maximum(type.limits), type.is64, type.shared, type.page_size_log2};
}

hoist::TableType to_public(const wasm::TableType& type) {
  return {to_public(type.element), type.limits.min, maximum(type.limits), type.is64};
}

hoist::GlobalType to_public(const wasm::GlobalType& type) {
  return {to_public(type.type), type.is_mutable};
}

hoist::ExternKind to_public(wasm::ExternKind kind) {
  switch (kind) {
    case wasm::ExternKind::Func: return hoist::ExternKind::Func;
    case wasm::ExternKind::Table: return hoist::ExternKind::Table;
    case wasm::ExternKind::Memory: return hoist::ExternKind::Memory;
    case wasm::ExternKind::Global: return hoist::ExternKind::Global;
    case wasm::ExternKind::Tag: return hoist::ExternKind::Tag;
  }
  HOIST_UNREACHABLE("an ExternKind");
}

hoist::ExternType type_of(const wasm::Module& module, wasm::ExternKind kind, std::uint32_t index) {
  hoist::ExternType out;
  out.kind = to_public(kind);
  switch (kind) {
    case wasm::ExternKind::Func: out.func = to_public(module.function_type(index)); break;
    case wasm::ExternKind::Table: out.table = to_public(module.tables[index].type); break;
    case wasm::ExternKind::Memory: out.memory = to_public(module.memories[index].type); break;
    case wasm::ExternKind::Global: out.global = to_public(module.globals[index].type); break;
    case wasm::ExternKind::Tag:
      out.tag = to_public(module.types[module.tags[index].type_index]);
      break;
  }
  return out;
}

}  // namespace hoist::runtime

// ---- Texts of the public types.
namespace hoist {

std::string_view name(ValType type) noexcept {
  switch (type.kind()) {
    case ValKind::I32: return "i32";
    case ValKind::I64: return "i64";
    case ValKind::F32: return "f32";
    case ValKind::F64: return "f64";
    case ValKind::V128: return "v128";
    case ValKind::FuncRef: return "funcref";
    case ValKind::ExternRef: return "externref";
    case ValKind::ExnRef: return "exnref";
    case ValKind::AnyRef: return "anyref";
  }
  return "";
}

std::string_view name(ExternKind kind) noexcept {
  switch (kind) {
    case ExternKind::Func: return "function";
    case ExternKind::Table: return "table";
    case ExternKind::Memory: return "memory";
    case ExternKind::Global: return "global";
    case ExternKind::Tag: return "tag";
  }
  return "";
}

static void append_list(std::string& out, std::span<const ValType> types) {
  out += '(';
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i != 0) out += ", ";
    out += name(types[i]);
  }
  out += ')';
}

std::string to_string(const FuncType& type) noexcept {
  std::string out;
  append_list(out, type.params());
  out += " -> ";
  append_list(out, type.results());
  return out;
}

static std::string range_text(std::uint64_t minimum, const std::optional<std::uint64_t>& maximum) {
  return maximum ? fmt::format("{}..{}", minimum, *maximum) : fmt::format("{}..", minimum);
}

static std::string page_text(std::uint8_t log2) {
  if (log2 == 16) return "";
  return fmt::format(" of {} byte{}", 1U << log2, log2 == 0 ? "" : "s");
}

std::string to_string(const ExternType& type) noexcept {
  switch (type.kind) {
    case ExternKind::Func: return "function " + to_string(type.func);
    case ExternKind::Table:
      return fmt::format("table {}{} of {}", type.table.is_64 ? "i64 " : "",
                         range_text(type.table.minimum, type.table.maximum),
                         name(type.table.element));
    case ExternKind::Memory:
      return fmt::format("{}memory {}{} pages{}", type.memory.shared ? "shared " : "",
                         type.memory.is_64 ? "i64 " : "",
                         range_text(type.memory.minimum, type.memory.maximum),
                         page_text(type.memory.page_size_log2));
    case ExternKind::Global:
      return fmt::format("global {}{}", type.global.is_mutable ? "mut " : "",
                         name(type.global.content));
    case ExternKind::Tag: return "tag " + to_string(type.tag);
  }
  return "";
}

}  // namespace hoist
