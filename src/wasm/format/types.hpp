// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The types of WebAssembly. Value types are 4 bytes and compare as integers; function types own
/// their lists, so that runtime and host code can hold one without a module.
///
/// Source: WebAssembly core specification 3.0, sections 2.3 and 5.3.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hoist::wasm {

/// First byte of a value type in the binary format; Bottom (any type, of dead code) is not one.
enum class TypeKind : std::uint8_t {
  Bottom = 0x00,
  I32 = 0x7f,
  I64 = 0x7e,
  F32 = 0x7d,
  F64 = 0x7c,
  V128 = 0x7b,
  FuncRef = 0x70,    ///< (ref null func)
  ExternRef = 0x6f,  ///< (ref null extern)
  Ref = 0x64,        ///< (ref ht), ht in `heap()`
  RefNull = 0x63     ///< (ref null ht), ht in `heap()`
};

/// A heap type: a type index, or an abstract one named by its byte in the binary format.
class HeapType {
 public:
  static constexpr std::uint32_t kAbstract = 0x80'0000;
  enum Abstract : std::uint8_t {  ///< the one-byte encodings
    Bot = 0x00,                   ///< below all others, of dead code; not in the binary format
    NoExn = 0x74,
    NoFunc = 0x73,
    NoExtern = 0x72,
    None = 0x71,
    Func = 0x70,
    Extern = 0x6f,
    Any = 0x6e,
    Eq = 0x6d,
    I31 = 0x6c,
    Struct = 0x6b,
    Array = 0x6a,
    Exn = 0x69
  };
  constexpr explicit HeapType(Abstract type) : bits_(kAbstract | type) {}
  /// `type_index` is below 2^23.
  static constexpr HeapType concrete(std::uint32_t type_index) { return HeapType(type_index); }
  static constexpr HeapType from_bits(std::uint32_t bits) { return HeapType(bits); }

  constexpr bool is_abstract() const { return (bits_ & kAbstract) != 0; }
  constexpr std::uint32_t type_index() const { return bits_; }
  /// Of an abstract one.
  constexpr Abstract abstract() const { return static_cast<Abstract>(bits_ & 0xff); }
  constexpr std::uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(HeapType, HeapType) = default;

 private:
  constexpr explicit HeapType(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_;
};

/// A value type. Equal types have equal bits: (ref null func) is always FuncRef, and type indexes
/// in a decoded module are canonical (Module::canonical_type).
class ValType {
 public:
  constexpr ValType() = default;
  constexpr ValType(TypeKind kind) : bits_(static_cast<std::uint32_t>(kind)) {}  // NOLINT: implicit
  static constexpr ValType ref(HeapType heap, bool nullable) {
    if (nullable && heap == HeapType(HeapType::Func)) return TypeKind::FuncRef;
    if (nullable && heap == HeapType(HeapType::Extern)) return TypeKind::ExternRef;
    ValType out(nullable ? TypeKind::RefNull : TypeKind::Ref);
    out.bits_ |= heap.bits() << 8;
    return out;
  }

  /// The type that has these `bits()`.
  static constexpr ValType from_bits(std::uint32_t bits) {
    ValType out;
    out.bits_ = bits;
    return out;
  }

  constexpr TypeKind kind() const { return static_cast<TypeKind>(bits_ & 0xff); }
  /// Equal exactly for equal types; an order for sorting.
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool is_bottom() const { return bits_ == 0; }
  constexpr bool is_num() const { return (bits_ & 0xff) >= 0x7c; }
  constexpr bool is_vec() const { return kind() == TypeKind::V128; }
  constexpr bool is_ref() const { return bits_ != 0 && (bits_ & 0xff) <= 0x74; }
  /// Of a reference.
  constexpr HeapType heap() const {
    if (kind() == TypeKind::FuncRef) return HeapType(HeapType::Func);
    if (kind() == TypeKind::ExternRef) return HeapType(HeapType::Extern);
    return HeapType::from_bits(bits_ >> 8);
  }
  /// Of a reference: whether null is among its values.
  constexpr bool is_nullable() const { return kind() != TypeKind::Ref; }
  /// Whether the type has a default value (zero or null).
  constexpr bool is_defaultable() const { return kind() != TypeKind::Ref; }
  /// Of a reference: the same without and with null.
  constexpr ValType non_null() const { return ref(heap(), false); }
  constexpr ValType nullable() const { return ref(heap(), true); }
  friend constexpr bool operator==(ValType, ValType) = default;

 private:
  std::uint32_t bits_ = 0;
};
static_assert(sizeof(ValType) == 4);

/// "func", "3"
std::string to_string(HeapType type);
/// "i32", "funcref", "(ref null 3)"; "any" for the type of dead code.
std::string to_string(ValType type);
/// "[i32 i64]"
std::string to_string(std::span<const ValType> types);

/// Parameters and results of a function, block or tag.
class FuncType {
 public:
  FuncType() = default;
  FuncType(std::span<const ValType> params, std::span<const ValType> results)
      : types_(params.begin(), params.end()),
        num_params_(static_cast<std::uint32_t>(params.size())) {
    types_.insert(types_.end(), results.begin(), results.end());
  }
  FuncType(std::initializer_list<ValType> params, std::initializer_list<ValType> results)
      : FuncType(std::span<const ValType>(params.begin(), params.size()),
                 std::span<const ValType>(results.begin(), results.size())) {}

  std::span<const ValType> params() const { return {types_.data(), num_params_}; }
  std::span<const ValType> results() const {
    return std::span<const ValType>(types_).subspan(num_params_);
  }
  /// Replaces each type by what `change` makes of it.
  template <typename F>
  void map(F change) {
    for (ValType& type : types_) type = change(type);
  }
  friend bool operator==(const FuncType&, const FuncType&) = default;

 private:
  std::vector<ValType> types_;  // parameters, then results
  std::uint32_t num_params_ = 0;
};

/// "[i32] -> [i64]"
std::string to_string(const FuncType& type);

enum class CompositeKind : std::uint8_t { Func, Struct, Array };

enum class Packed : std::uint8_t { None, I8, I16 };

/// A field of a struct, the elements of an array.
struct FieldType {
  ValType type;  ///< I32 for packed ones
  Packed packed = Packed::None;
  bool is_mutable = false;
  friend bool operator==(const FieldType&, const FieldType&) = default;
};

/// What a type is besides its function type: its kind, its place among its super types and its rec
/// group (the types `group` up to `group + group_size`, defined together).
struct TypeDef {
  static constexpr std::uint32_t kNoSuper = UINT32_MAX;
  std::uint32_t super = kNoSuper;  ///< the direct super type, canonical
  std::uint32_t group = 0;
  std::uint32_t group_size = 1;
  std::uint32_t first_field = 0;  ///< in Module::fields
  std::uint32_t num_fields = 0;   ///< 1 for an array
  std::uint32_t offset = 0;       ///< in the module
  std::uint8_t depth = 0;         ///< number of super types, at most kMaxSubtypeDepth
  CompositeKind kind = CompositeKind::Func;
  bool is_final = true;
};

/// Size limits of a memory (in pages) or table (in elements).
struct Limits {
  std::uint64_t min = 0;
  std::uint64_t max = 0;  ///< only if has_max
  bool has_max = false;
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct TableType {
  ValType element = TypeKind::FuncRef;
  Limits limits;
  bool is64 = false;  ///< indexes are i64
  ValType index_type() const { return is64 ? TypeKind::I64 : TypeKind::I32; }
  friend bool operator==(const TableType&, const TableType&) = default;
};

struct MemoryType {
  Limits limits;
  bool is64 = false;  ///< addresses are i64
  bool shared = false;
  std::uint8_t page_size_log2 = 16;  ///< 16, or 0 with custom page sizes
  ValType address_type() const { return is64 ? TypeKind::I64 : TypeKind::I32; }
  friend bool operator==(const MemoryType&, const MemoryType&) = default;
};

struct GlobalType {
  ValType type;
  bool is_mutable = false;
  friend bool operator==(const GlobalType&, const GlobalType&) = default;
};

}  // namespace hoist::wasm
