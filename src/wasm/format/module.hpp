// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// A decoded module: every section but the function bodies, which stay spans of the input and are
/// decoded, validated and translated in one go, later and in parallel.
///
/// `decode` makes it; until `validate_module` has accepted it, indexes in it may be out of range.
/// Immutable afterwards and safe to share between threads. Names are views of the input bytes,
/// which the module keeps alive. All index spaces start with the imports.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/containers/bit_set.hpp"
#include "wasm/format/opcodes.hpp"
#include "wasm/format/types.hpp"

namespace hoist::wasm {

/// Input bytes and whatever keeps them alive.
class ModuleBytes {
 public:
  ModuleBytes() = default;
  /// `owner` keeps `bytes` alive (a mapped file, say).
  ModuleBytes(std::shared_ptr<const void> owner, std::span<const std::uint8_t> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}
  static ModuleBytes own(std::vector<std::uint8_t> bytes) {
    auto owner = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
    const std::span<const std::uint8_t> view(*owner);
    return {std::move(owner), view};
  }
  /// The caller keeps the bytes alive as long as the module.
  static ModuleBytes borrow(std::span<const std::uint8_t> bytes) { return {nullptr, bytes}; }

  std::span<const std::uint8_t> span() const { return bytes_; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::uint8_t> bytes_;
};

/// A piece of the input.
struct Range {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t end() const { return offset + size; }
};

enum class ExternKind : std::uint8_t { Func = 0, Table = 1, Memory = 2, Global = 3, Tag = 4 };
/// "function", "table", …
std::string_view text(ExternKind kind);

/// `index` is the entity's place in the index space of its kind.
struct Import {
  std::string_view module;
  std::string_view field;
  std::uint32_t index = 0;
  std::uint32_t offset = 0;
  ExternKind kind = ExternKind::Func;
};

struct Export {
  std::string_view name;
  std::uint32_t index = 0;
  std::uint32_t offset = 0;
  ExternKind kind = ExternKind::Func;
};

/// One instruction of a constant expression. Operand: the constant's bits, of v128.const the place
/// in Module::vectors, a function or global index, of ref.null the bits of its ValType, of
/// struct.new and array.new… the type index (array.new_fixed: and the number of elements times
/// 2^32). Once a module is valid only these occur: I32/I64 const, add, sub and mul, F32/F64/V128
/// const, RefNull, RefFunc, GlobalGet, and those of is_const_heap. `Op::End` is left out.
struct ConstOp {
  Op op = Op::End;
  std::uint32_t offset = 0;
  std::uint64_t operand = 0;
};

/// Whether `op` is an operator on the values of a constant expression.
constexpr bool is_const_arithmetic(Op op) {
  return op == Op::I32Add || op == Op::I32Sub || op == Op::I32Mul || op == Op::I64Add ||
         op == Op::I64Sub || op == Op::I64Mul;
}

/// Whether `op` is one of the constant instructions that make or convert heap objects.
constexpr bool is_const_heap(Op op) {
  return op == Op::StructNew || op == Op::StructNewDefault || op == Op::ArrayNew ||
         op == Op::ArrayNewDefault || op == Op::ArrayNewFixed || op == Op::RefI31 ||
         op == Op::AnyConvertExtern || op == Op::ExternConvertAny;
}

/// A constant expression: `Module::const_ops(expr)`. Most have one instruction.
struct ConstExpr {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t offset = 0;
};

struct Table {
  TableType type;
  ConstExpr init;  ///< if has_init: what the elements are at first; else null
  std::uint32_t offset = 0;
  bool has_init = false;
};

struct Memory {
  MemoryType type;
  std::uint32_t offset = 0;
};

struct Global {
  GlobalType type;
  ConstExpr init;  ///< of a defined global; empty for an import
  std::uint32_t offset = 0;
};

struct Function {
  std::uint32_t type_index = 0;
  std::uint32_t offset = 0;  ///< of the type index (import or function section)
};

struct Tag {
  std::uint32_t type_index = 0;
  std::uint32_t offset = 0;
};

enum class SegmentMode : std::uint8_t { Active, Passive, Declarative };

/// An item of an element segment. `Expr`: `index` counts in `ElemSegment::exprs`.
struct ElemItem {
  enum class Kind : std::uint8_t { Null, Func, Expr };
  std::uint32_t index = 0;
  Kind kind = Kind::Null;
};

struct ElemSegment {
  std::vector<ElemItem> items;
  std::vector<ConstExpr> exprs;  ///< the items that are more than ref.null or ref.func
  ConstExpr place;               ///< Active: where in the table
  ValType type = TypeKind::FuncRef;
  std::uint32_t table = 0;
  std::uint32_t offset = 0;
  std::uint32_t items_offset = 0;
  SegmentMode mode = SegmentMode::Passive;
};

struct DataSegment {
  Range bytes;
  ConstExpr place;  ///< Active: where in the memory
  std::uint32_t memory = 0;
  std::uint32_t offset = 0;
  SegmentMode mode = SegmentMode::Passive;
};

struct CustomSection {
  std::string_view name;
  Range content;  ///< after the name
};

/// What the module says of the br_if or if at `offset` (in the module): its condition is likely
/// nonzero, or likely zero.
struct BranchHint {
  std::uint32_t offset = 0;
  bool likely = false;
};

/// The first thing found wrong while the module was decoded that is no matter of the format: a
/// reference to a type that does not exist, a wrong definition of a type. `validate_module` reports
/// it.
struct TypeFault {
  std::string message;
  std::uint32_t offset = 0;
  bool is_limit = false;
};

class Module {
 public:
  ModuleBytes bytes;
  Features features;

  std::vector<FuncType> types;     ///< of structs and arrays: empty
  std::vector<TypeDef> type_defs;  ///< of the same types
  std::vector<FieldType> fields;
  std::vector<std::uint32_t> canonical_types;  ///< see canonical_type()
  std::optional<TypeFault> type_fault;
  std::vector<Import> imports;
  std::vector<Function> functions;
  std::vector<Table> tables;
  std::vector<Memory> memories;
  std::vector<Global> globals;
  std::vector<Tag> tags;
  std::vector<Export> exports;
  std::optional<std::uint32_t> start;
  std::vector<ElemSegment> elements;
  std::vector<DataSegment> data;
  std::optional<std::uint32_t> data_count;  ///< of the data count section
  std::vector<Range> bodies;                ///< of defined functions: locals and code, without size
  std::vector<CustomSection> customs;
  std::vector<BranchHint> branch_hints;  ///< ascending offsets
  std::vector<ConstOp> const_pool;
  std::vector<std::array<std::uint8_t, 16>> vectors;  ///< constants of constant expressions
  /// Functions that ref.func may name in a body: those in exports, globals and element segments.
  /// A defined function that is not in the set is only ever called directly (or is the start).
  base::BitSet escaping_functions;

  std::uint32_t num_imported_functions = 0;
  std::uint32_t num_imported_tables = 0;
  std::uint32_t num_imported_memories = 0;
  std::uint32_t num_imported_globals = 0;
  std::uint32_t num_imported_tags = 0;
  std::uint32_t start_offset = 0;
  Range code_section;  ///< content of the code section

  std::uint32_t num_functions() const { return static_cast<std::uint32_t>(functions.size()); }
  std::uint32_t num_defined_functions() const { return num_functions() - num_imported_functions; }
  bool is_imported_function(std::uint32_t func) const { return func < num_imported_functions; }
  const FuncType& function_type(std::uint32_t func) const {
    return types[functions[func].type_index];
  }
  /// Smallest index of an equal type: two types are equal exactly if these are. Equality is that of
  /// the specification: the same place in equal rec groups. Type indexes in value types, fields and
  /// super types are canonical already.
  std::uint32_t canonical_type(std::uint32_t type) const { return canonical_types[type]; }
  bool is_func_type(std::uint32_t type) const {
    return type_defs[type].kind == CompositeKind::Func;
  }
  std::span<const FieldType> fields_of(std::uint32_t type) const {
    return {fields.data() + type_defs[type].first_field, type_defs[type].num_fields};
  }
  /// Type of a reference to the function: `(ref $t)`.
  ValType func_ref_type(std::uint32_t func) const {
    const std::uint32_t type = canonical_type(functions[func].type_index);
    return ValType::ref(HeapType::concrete(type), false);
  }
  /// The hints for a defined function's body, by offset.
  std::span<const BranchHint> branch_hints_of(std::uint32_t func) const;
  const FuncType& tag_type(std::uint32_t tag) const { return types[tags[tag].type_index]; }
  /// Place of a defined function's body; `func` counts in the whole index space.
  Range body(std::uint32_t func) const { return bodies[func - num_imported_functions]; }
  std::span<const std::uint8_t> bytes_of(Range range) const {
    return bytes.span().subspan(range.offset, range.size);
  }
  std::span<const ConstOp> const_ops(ConstExpr expr) const {
    return {const_pool.data() + expr.first, expr.count};
  }
  /// The export of that name, or null. Linear.
  const Export* find_export(std::string_view name) const;
};

}  // namespace hoist::wasm
