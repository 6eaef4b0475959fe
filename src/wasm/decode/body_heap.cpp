// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Immediates and types of the instructions on structs, arrays, i31 and casts.
//
// Source: WebAssembly core specification 3.0, section 3.4 "Reference Instructions", "Aggregate
// Instructions".
#include <fmt/core.h>

#include "wasm/decode/body_reader.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/format/subtyping.hpp"

namespace hoist::wasm {

static constexpr ValType kI32 = TypeKind::I32;

static ValType abstract_ref(HeapType::Abstract heap, bool nullable) {
  return ValType::ref(HeapType(heap), nullable);
}

bool BodyReader::read_heap(HeapImm& imm) {
  heap_in_.clear();
  heap_out_ = {};
  switch (op_) {
    case Op::StructNew:
    case Op::StructNewDefault:
    case Op::StructGet:
    case Op::StructGetS:
    case Op::StructGetU:
    case Op::StructSet: return read_struct_op(imm);
    case Op::ArrayNew:
    case Op::ArrayNewDefault:
    case Op::ArrayGet:
    case Op::ArrayGetS:
    case Op::ArrayGetU:
    case Op::ArraySet:
    case Op::ArrayFill: return read_array_op(imm);
    case Op::ArrayNewFixed: return read_array_new_fixed(imm);
    case Op::ArrayCopy: return read_array_copy(imm);
    case Op::ArrayNewData:
    case Op::ArrayNewElem:
    case Op::ArrayInitData:
    case Op::ArrayInitElem: return read_array_segment_op(imm);
    case Op::ArrayLen:
      heap_in_.push_back(abstract_ref(HeapType::Array, true));
      heap_out_ = kI32;
      return true;
    case Op::RefTest:
    case Op::RefTestNull:
    case Op::RefCast:
    case Op::RefCastNull: {
      const bool nullable = op_ == Op::RefTestNull || op_ == Op::RefCastNull;
      if (!read_heap_type_ref(nullable, imm.to)) return false;
      heap_in_.push_back(ValType::ref(top_of(*module_, imm.to.heap()), true));
      heap_out_ = op_ == Op::RefTest || op_ == Op::RefTestNull ? kI32 : imm.to;
      return true;
    }
    case Op::AnyConvertExtern:
      heap_in_.push_back(abstract_ref(HeapType::Extern, true));
      heap_out_ = abstract_ref(HeapType::Any, true);
      return true;
    case Op::ExternConvertAny:
      heap_in_.push_back(abstract_ref(HeapType::Any, true));
      heap_out_ = abstract_ref(HeapType::Extern, true);
      return true;
    case Op::RefI31:
      heap_in_.push_back(kI32);
      heap_out_ = abstract_ref(HeapType::I31, false);
      return true;
    case Op::I31GetS:
    case Op::I31GetU:
      heap_in_.push_back(abstract_ref(HeapType::I31, true));
      heap_out_ = kI32;
      return true;
    default: break;
  }
  return fail_opcode(static_cast<std::uint16_t>(op_));
}

bool BodyReader::read_struct_op(HeapImm& imm) {
  if (!read_composite(CompositeKind::Struct, imm.first)) return false;
  const std::span<const FieldType> fields = module_->fields_of(imm.first);
  if (op_ == Op::StructNew || op_ == Op::StructNewDefault) {
    heap_out_ = type_ref(imm.first, false);
    for (const FieldType& field : fields) {
      if (op_ == Op::StructNew) {
        heap_in_.push_back(field.type);
      } else if (!check_default(field)) {
        return false;
      }
    }
    return true;
  }
  if (!read_u32(imm.second)) return false;
  if (imm.second >= fields.size()) return fail_unknown("field", imm.second, fields.size());
  const FieldType& field = fields[imm.second];
  heap_in_.push_back(type_ref(imm.first, true));
  if (op_ != Op::StructSet) {
    heap_out_ = field.type;
    return check_packing(field);
  }
  heap_in_.push_back(field.type);
  if (field.is_mutable) return true;
  return invalid(
      fmt::format("immutable field: struct.set of field {} of type {}", imm.second, imm.first));
}

bool BodyReader::read_array_op(HeapImm& imm) {
  if (!read_composite(CompositeKind::Array, imm.first)) return false;
  const FieldType& element = module_->fields_of(imm.first)[0];
  if (op_ == Op::ArrayNew || op_ == Op::ArrayNewDefault) {
    if (op_ == Op::ArrayNewDefault && !check_default(element)) return false;
    if (op_ == Op::ArrayNew) heap_in_.push_back(element.type);
    heap_in_.push_back(kI32);
    heap_out_ = type_ref(imm.first, false);
    return true;
  }
  heap_in_.push_back(type_ref(imm.first, true));
  heap_in_.push_back(kI32);
  if (op_ == Op::ArraySet || op_ == Op::ArrayFill) {
    heap_in_.push_back(element.type);
    if (op_ == Op::ArrayFill) heap_in_.push_back(kI32);
    return check_writable_array(imm.first);
  }
  heap_out_ = element.type;
  return check_packing(element);
}

bool BodyReader::read_array_new_fixed(HeapImm& imm) {
  if (!read_composite(CompositeKind::Array, imm.first) || !read_u32(imm.second)) return false;
  if (imm.second > kMaxArrayNewFixed) {
    return fail(ErrorKind::Limit,
                fmt::format("array.new_fixed has {} elements, at most {} are supported", imm.second,
                            kMaxArrayNewFixed),
                at_);
  }
  heap_in_.assign(imm.second, module_->fields_of(imm.first)[0].type);
  heap_out_ = type_ref(imm.first, false);
  return true;
}

bool BodyReader::read_array_copy(HeapImm& imm) {
  if (!read_composite(CompositeKind::Array, imm.first)) return false;
  if (!read_composite(CompositeKind::Array, imm.second)) return false;
  if (!check_writable_array(imm.first)) return false;
  const FieldType& to = module_->fields_of(imm.first)[0];
  const FieldType& from = module_->fields_of(imm.second)[0];
  if (to.packed != from.packed || !is_subtype(*module_, from.type, to.type)) {
    return invalid(fmt::format("array types do not match: array.copy from type {} to type {}",
                               imm.second, imm.first));
  }
  heap_in_ = {type_ref(imm.first, true), kI32, type_ref(imm.second, true), kI32, kI32};
  return true;
}

bool BodyReader::read_array_segment_op(HeapImm& imm) {
  if (!read_composite(CompositeKind::Array, imm.first) || !read_u32(imm.second)) return false;
  const bool init = op_ == Op::ArrayInitData || op_ == Op::ArrayInitElem;
  if (init && !check_writable_array(imm.first)) return false;
  const FieldType& element = module_->fields_of(imm.first)[0];
  if (op_ == Op::ArrayNewData || op_ == Op::ArrayInitData) {
    if (element.type.is_ref()) {
      return invalid(
          fmt::format("array type is not numeric or vector: {} of type {}", text(op_), imm.first));
    }
    if (!check_data(imm.second)) return false;
  } else {
    if (!check_elem(imm.second)) return false;
    const ValType items = module_->elements[imm.second].type;
    if (element.packed != Packed::None || !is_subtype(*module_, items, element.type)) {
      return invalid(fmt::format("type mismatch: {} from elements of type {} to an array of {}",
                                 text(op_), to_string(items), to_string(element.type)));
    }
  }
  if (init) {
    heap_in_ = {type_ref(imm.first, true), kI32, kI32, kI32};
  } else {
    heap_in_ = {kI32, kI32};
    heap_out_ = type_ref(imm.first, false);
  }
  return true;
}

bool BodyReader::check_writable_array(std::uint32_t type) {
  if (module_->fields_of(type)[0].is_mutable) return true;
  return invalid(fmt::format("immutable array: {} of type {}", text(op_), type));
}

/// The operators that say how to extend a value are for packed fields, and the others are not.
bool BodyReader::check_packing(const FieldType& field) {
  const bool extends = op_ == Op::StructGetS || op_ == Op::StructGetU || op_ == Op::ArrayGetS ||
                       op_ == Op::ArrayGetU;
  if (extends == (field.packed != Packed::None)) return true;
  return invalid(fmt::format("type mismatch: {} of a field that is {}packed", text(op_),
                             extends ? "not " : ""));
}

bool BodyReader::check_default(const FieldType& field) {
  if (field.type.is_defaultable()) return true;
  return invalid(
      fmt::format("type mismatch: {} of a type with a field of type {}, which has no "
                  "default",
                  text(op_), to_string(field.type)));
}

}  // namespace hoist::wasm
