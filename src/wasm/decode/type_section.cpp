// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The type section, and value types wherever they occur.
//
// Source: WebAssembly core specification 3.0, section 5.3.
#include <fmt/core.h>

#include <algorithm>

#include "wasm/decode/module_decoder.hpp"
#include "wasm/decode/type_groups.hpp"
#include "wasm/decode/type_reader.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/format/type_bytes.hpp"

namespace hoist::wasm {

bool ModuleDecoder::type_section(ByteReader& in) {
  std::uint32_t groups = 0;
  if (!count(in, 0, kMaxRecGroups, "types", groups)) return false;
  reserve(module_.types, groups, 3, in);
  reserve(module_.type_defs, groups, 3, in);
  TypeGroups known(module_);
  for (std::uint32_t i = 0; i < groups; ++i) {
    if (!type_group(in, known)) return false;
  }
  return true;
}

bool ModuleDecoder::type_group(ByteReader& in, TypeGroups& known) {
  const auto begin = static_cast<std::uint32_t>(module_.types.size());
  std::uint32_t members = 1;
  if (in.peek() == kRec) {
    need(Feature::Gc, "recursive types", in.offset());
    if (!in.skip(1)) return fail_read(in);
    if (!count(in, begin, kMaxTypes, "types", members)) return false;
  } else if (begin == kMaxTypes) {
    return limit(fmt::format("too many types: at most {} are supported", kMaxTypes), in.offset());
  }
  for (std::uint32_t i = 0; i < members; ++i) {
    if (!sub_type(in)) return false;
  }
  for (std::uint32_t i = begin; i < module_.types.size(); ++i) {
    module_.type_defs[i].group = begin;
    module_.type_defs[i].group_size = members;
    module_.canonical_types.push_back(i);
  }
  if (module_.type_fault) return true;
  // After a fault nothing can be said of types; nothing needs to be, either.
  if (std::optional<TypeFault> fault = known.add(begin)) {
    if (fault->is_limit) return limit(std::move(fault->message), fault->offset);
    module_.type_fault = std::move(fault);
  }
  return true;
}

bool ModuleDecoder::sub_type(ByteReader& in) {
  TypeDef def;
  def.offset = in.offset();
  const std::uint8_t form = in.peek();
  if (form == kSub || form == kSubFinal) {
    need(Feature::Gc, "subtypes", in.offset());
    def.is_final = form == kSubFinal;
    if (!in.skip(1)) return fail_read(in);
    std::uint32_t supertypes = 0;
    if (!count(in, 0, kMaxTypes, "supertypes", supertypes)) return false;
    if (supertypes > 1) {
      note_fault(fmt::format("sub type {} has {} super types, at most one is allowed",
                             module_.types.size(), supertypes),
                 def.offset);
    }
    for (std::uint32_t i = 0; i < supertypes; ++i) {
      if (!in.u32(def.super)) return fail_read(in);
      // An index that would read as "none" is out of range, whatever it is exactly.
      def.super = std::min(def.super, kMaxTypes);
    }
  }
  for (const std::uint8_t clause : {kDescribes, kDescriptor}) {
    if (in.peek() != clause) continue;
    need(Feature::CustomDescriptors, "descriptor of a type", in.offset());
    std::uint32_t index = 0;
    if (!in.skip(1) || !in.u32(index)) return fail_read(in);
  }
  return composite_type(in, def);
}

bool ModuleDecoder::composite_type(ByteReader& in, TypeDef& def) {
  const std::uint32_t at = in.offset();
  std::uint8_t form = 0;
  if (!in.u8(form)) return fail_read(in);
  if (form == kFuncType) {
    module_.type_defs.push_back(def);
    return function_type(in);
  }
  if (form != kArray && form != kStruct) {
    // Forms are integers of one byte.
    return malformed(fmt::format("{}malformed definition type {:#04x}",
                                 form >= 0x80 ? "integer representation too long: " : "", form),
                     at);
  }
  need(Feature::Gc, form == kArray ? "array type" : "struct type", at);
  def.kind = form == kArray ? CompositeKind::Array : CompositeKind::Struct;
  def.first_field = static_cast<std::uint32_t>(module_.fields.size());
  def.num_fields = 1;
  if (form == kStruct && !count(in, 0, kMaxFields, "fields", def.num_fields)) return false;
  module_.types.emplace_back();
  module_.type_defs.push_back(def);
  for (std::uint32_t i = 0; i < def.num_fields; ++i) {
    if (!field_type(in)) return false;
  }
  return true;
}

bool ModuleDecoder::function_type(ByteReader& in) {
  if (!type_list(in, kMaxParams, "parameters", params_)) return false;
  const std::uint32_t at = in.offset();
  if (!type_list(in, kMaxResults, "results", results_)) return false;
  if (results_.size() > 1) need(Feature::MultiValue, "function with several results", at);
  module_.types.emplace_back(params_, results_);
  return true;
}

bool ModuleDecoder::type_list(ByteReader& in, std::uint32_t limit, std::string_view what,
                              std::vector<ValType>& out) {
  std::uint32_t length = 0;
  if (!count(in, 0, limit, what, length)) return false;
  out.resize(length);
  for (ValType& type : out) {
    if (!unresolved_type(in, "value", type)) return false;
  }
  return true;
}

bool ModuleDecoder::field_type(ByteReader& in) {
  const std::uint8_t packed = in.peek();
  FieldType field;
  if (packed == kI8 || packed == kI16) {
    field.packed = packed == kI8 ? Packed::I8 : Packed::I16;
    field.type = TypeKind::I32;
    if (!in.skip(1)) return fail_read(in);
  } else if (!unresolved_type(in, "storage", field.type)) {
    return false;
  }
  if (!mutability(in, field.is_mutable)) return false;
  module_.fields.push_back(field);
  return true;
}

bool ModuleDecoder::unresolved_type(ByteReader& in, std::string_view what, ValType& out) {
  const std::uint32_t at = in.offset();
  const std::uint8_t first = in.peek();
  Feature needs = Feature::Core;
  switch (read_val_type(in, out, needs)) {
    case TypeRead::Ok: break;
    case TypeRead::ReadFault: return fail_read(in);
    case TypeRead::NotAType:
      return malformed(fmt::format("malformed {} type {:#04x}", what, first), at);
  }
  if (!module_.features.has(needs)) need(needs, "type " + to_string(out), at);
  return true;
}

bool ModuleDecoder::val_type(ByteReader& in, std::string_view what, ValType& out) {
  const std::uint32_t at = in.offset();
  if (!unresolved_type(in, what, out)) return false;
  resolve(out, at);
  return true;
}

void ModuleDecoder::resolve(ValType& type, std::uint32_t offset) {
  if (!type.is_ref() || type.heap().is_abstract()) return;
  const std::uint32_t index = type.heap().type_index();
  if (index < module_.types.size()) {
    type = ValType::ref(HeapType::concrete(module_.canonical_type(index)), type.is_nullable());
  } else {
    note_fault(fmt::format("unknown type {}: there are {}", index, module_.types.size()), offset);
  }
}

void ModuleDecoder::note_fault(std::string message, std::uint32_t offset) {
  if (!module_.type_fault) module_.type_fault = TypeFault{std::move(message), offset, false};
}

bool ModuleDecoder::ref_type(ByteReader& in, ValType& out) {
  const std::uint32_t at = in.offset();
  // The one type that tables had before there were references.
  if (in.peek() == static_cast<std::uint8_t>(TypeKind::FuncRef)) {
    out = TypeKind::FuncRef;
    return in.skip(1) || fail_read(in);
  }
  if (!val_type(in, "reference", out)) return false;
  if (out.is_ref()) return true;
  return malformed("malformed reference type: found " + to_string(out), at);
}

bool ModuleDecoder::mutability(ByteReader& in, bool& out) {
  const std::uint32_t at = in.offset();
  std::uint8_t byte = 0;
  if (!in.u8(byte)) return fail_read(in);
  if (byte > 1) return malformed(fmt::format("malformed mutability {}, not 0 or 1", byte), at);
  out = byte == 1;
  return true;
}

}  // namespace hoist::wasm
