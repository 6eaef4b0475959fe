// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The types of WebAssembly as an embedder sees them: of values, functions, memories, tables,
/// globals, imports and exports. Plain values. Source: core specification, section 2.3.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hoist/detail/export.hpp"

namespace hoist {

/// References of more special types count as the kind of the general one: FuncRef for functions of
/// a known type, AnyRef for i31, struct and array types (only null is a value of those so far).
enum class ValKind : std::uint8_t { I32, I64, F32, F64, V128, FuncRef, ExternRef, ExnRef, AnyRef };

/// Type of a value; converts from and compares with ValKind.
class ValType {
 public:
  constexpr ValType() = default;
  constexpr ValType(ValKind kind) : kind_(kind) {}  // NOLINT: implicit by design
  constexpr ValKind kind() const { return kind_; }
  constexpr bool is_num() const { return kind_ <= ValKind::F64; }
  constexpr bool is_ref() const { return kind_ >= ValKind::FuncRef; }
  friend constexpr bool operator==(ValType, ValType) = default;

 private:
  ValKind kind_ = ValKind::I32;
};

/// "i32", "funcref" …
HOIST_API std::string_view name(ValType type) noexcept;

/// Parameters and results of a function.
class FuncType {
 public:
  FuncType() = default;
  FuncType(std::vector<ValType> params, std::vector<ValType> results)
      : params_(std::move(params)), results_(std::move(results)) {}
  FuncType(std::initializer_list<ValType> params, std::initializer_list<ValType> results)
      : params_(params), results_(results) {}
  std::span<const ValType> params() const { return params_; }
  std::span<const ValType> results() const { return results_; }
  friend bool operator==(const FuncType&, const FuncType&) = default;

 private:
  std::vector<ValType> params_;
  std::vector<ValType> results_;
};

/// "(i32, i64) -> (f32)"
HOIST_API std::string to_string(const FuncType& type) noexcept;

/// Of a linear memory, in pages.
struct MemoryType {
  std::uint64_t minimum = 0;
  std::optional<std::uint64_t> maximum;
  bool is_64 = false;                ///< addresses are i64
  bool shared = false;               ///< between threads (shared_memory.hpp); has a maximum
  std::uint8_t page_size_log2 = 16;  ///< pages of 65,536 bytes; 0: of one byte
  friend bool operator==(const MemoryType&, const MemoryType&) = default;
};

/// Of a table, in elements.
struct TableType {
  ValType element = ValKind::FuncRef;
  std::uint64_t minimum = 0;
  std::optional<std::uint64_t> maximum;
  bool is_64 = false;  ///< indexes are i64
  friend bool operator==(const TableType&, const TableType&) = default;
};

struct GlobalType {
  ValType content;
  bool is_mutable = false;
  friend bool operator==(const GlobalType&, const GlobalType&) = default;
};

enum class ExternKind : std::uint8_t { Func, Table, Memory, Global, Tag };
/// "function", "table" …
HOIST_API std::string_view name(ExternKind kind) noexcept;

/// Type of something that is imported or exported. Only the member of `kind` means anything.
struct ExternType {
  ExternKind kind = ExternKind::Func;
  FuncType func;
  TableType table;
  MemoryType memory;
  GlobalType global;
  FuncType tag;  ///< what exceptions with it carry are its parameters; no results
};

/// "memory 1..16 pages", "memory i64 1.. pages", "global mut i32", "function (i32) -> ()"
HOIST_API std::string to_string(const ExternType& type) noexcept;

struct ImportType {
  std::string module;
  std::string field;
  ExternType type;
};

struct ExportType {
  std::string name;
  ExternType type;
};

}  // namespace hoist
