// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The type section. Types of garbage collection are read to their end, so that what follows can be
// checked, and are marked as a missing feature.
//
// Source: WebAssembly core specification 3.0, section 5.3.
#include <fmt/core.h>

#include "wasm/decode/module_decoder.hpp"
#include "wasm/decode/type_reader.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {

namespace {
enum TypeForm : std::uint8_t {
  kFunc = 0x60,
  kStruct = 0x5f,
  kArray = 0x5e,
  kSub = 0x50,
  kSubFinal = 0x4f,
  kRec = 0x4e,
  kDescriptor = 0x4d,
  kDescribes = 0x4c
};
constexpr std::uint8_t kI8 = 0x78;
constexpr std::uint8_t kI16 = 0x77;
}  // namespace

bool ModuleDecoder::type_section(ByteReader& in) {
  std::uint32_t groups = 0;
  if (!count(in, 0, kMaxTypes, "types", groups)) return false;
  reserve(module_.types, groups, 3, in);
  for (std::uint32_t i = 0; i < groups; ++i) {
    if (!type_group(in)) return false;
  }
  return true;
}

bool ModuleDecoder::type_group(ByteReader& in) {
  if (in.peek() != kRec) return sub_type(in);
  need(Feature::Gc, "recursive types", in.offset());
  if (!in.skip(1)) return fail_read(in);
  std::uint32_t members = 0;
  if (!count(in, module_.types.size(), kMaxTypes, "types", members)) return false;
  for (std::uint32_t i = 0; i < members; ++i) {
    if (!sub_type(in)) return false;
  }
  return true;
}

bool ModuleDecoder::sub_type(ByteReader& in) {
  const std::uint8_t form = in.peek();
  if (form == kSub || form == kSubFinal) {
    need(Feature::Gc, "subtypes", in.offset());
    if (!in.skip(1)) return fail_read(in);
    std::uint32_t supertypes = 0;
    if (!count(in, 0, kMaxTypes, "supertypes", supertypes)) return false;
    for (std::uint32_t i = 0; i < supertypes; ++i) {
      std::uint32_t index = 0;
      if (!in.u32(index)) return fail_read(in);
    }
  }
  for (const std::uint8_t clause : {kDescribes, kDescriptor}) {
    if (in.peek() != clause) continue;
    need(Feature::CustomDescriptors, "descriptor of a type", in.offset());
    std::uint32_t index = 0;
    if (!in.skip(1) || !in.u32(index)) return fail_read(in);
  }
  return composite_type(in);
}

bool ModuleDecoder::composite_type(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint8_t form = 0;
  if (!in.u8(form)) return fail_read(in);
  if (form == kFunc) return function_type(in);
  if (form == kArray) {
    need(Feature::Gc, "array type", at);
    module_.types.emplace_back();
    return field_type(in);
  }
  if (form == kStruct) {
    need(Feature::Gc, "struct type", at);
    module_.types.emplace_back();
    std::uint32_t fields = 0;
    if (!count(in, 0, kMaxFields, "fields", fields)) return false;
    for (std::uint32_t i = 0; i < fields; ++i) {
      if (!field_type(in)) return false;
    }
    return true;
  }
  return malformed(fmt::format("malformed definition type {:#04x}", form), at);
}

bool ModuleDecoder::function_type(ByteReader& in) {
  if (!type_list(in, kMaxParams, "parameters", params_)) return false;
  if (!type_list(in, kMaxResults, "results", results_)) return false;
  module_.types.emplace_back(params_, results_);
  return true;
}

bool ModuleDecoder::type_list(ByteReader& in, std::uint32_t limit, std::string_view what,
                              std::vector<ValType>& out) {
  std::uint32_t length = 0;
  if (!count(in, 0, limit, what, length)) return false;
  out.resize(length);
  for (ValType& type : out) {
    if (!val_type(in, "value", type)) return false;
  }
  return true;
}

bool ModuleDecoder::field_type(ByteReader& in) {
  const std::uint8_t packed = in.peek();
  ValType type;
  bool is_mutable = false;
  if (packed == kI8 || packed == kI16) {
    if (!in.skip(1)) return fail_read(in);
  } else if (!val_type(in, "storage", type)) {
    return false;
  }
  return mutability(in, is_mutable);
}

bool ModuleDecoder::val_type(ByteReader& in, std::string_view what, ValType& out) {
  const std::uint32_t at = in.offset();
  const std::uint8_t first = in.peek();
  Feature needs = Feature::Core;
  switch (read_val_type(in, out, needs)) {
    case TypeRead::Ok: break;
    case TypeRead::ReadFault: return fail_read(in);
    case TypeRead::NotAType:
      return malformed(fmt::format("malformed {} type {:#04x}", what, first), at);
  }
  need(needs, "type " + to_string(out), at);
  return true;
}

bool ModuleDecoder::ref_type(ByteReader& in, ValType& out) {
  const std::uint32_t at = in.offset();
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
