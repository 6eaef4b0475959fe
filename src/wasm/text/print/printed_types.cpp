// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Type definitions, value types and the types of imports and definitions.
// Source: WebAssembly core specification 3.0, sections 5.3 and 6.4; custom descriptors proposal.
#include <fmt/core.h>

#include "wasm/format/type_bytes.hpp"
#include "wasm/text/print/module_printer.hpp"

namespace hoist::wasm {

namespace {

struct NamedByte {
  std::uint8_t byte;
  std::string_view type;  ///< as a value type
  std::string_view heap;  ///< as a heap type, empty if it is none
};
constexpr NamedByte kTypes[] = {
    {0x7f, "i32", ""},
    {0x7e, "i64", ""},
    {0x7d, "f32", ""},
    {0x7c, "f64", ""},
    {0x7b, "v128", ""},
    {0x74, "nullexnref", "noexn"},
    {0x73, "nullfuncref", "nofunc"},
    {0x72, "nullexternref", "noextern"},
    {0x71, "nullref", "none"},
    {0x70, "funcref", "func"},
    {0x6f, "externref", "extern"},
    {0x6e, "anyref", "any"},
    {0x6d, "eqref", "eq"},
    {0x6c, "i31ref", "i31"},
    {0x6b, "structref", "struct"},
    {0x6a, "arrayref", "array"},
    {0x69, "exnref", "exn"},
};

const NamedByte* find_type(std::uint8_t byte) {
  for (const NamedByte& row : kTypes) {
    if (row.byte == byte) return &row;
  }
  return nullptr;
}

enum LimitFlag : std::uint8_t { kHasMax = 1, kShared = 2, kIs64 = 4, kPageSize = 8 };

}  // namespace

// ---- Definitions.

bool ModulePrinter::rec_group(ByteReader& in) {
  if (in.peek() != kRec) return type_definition(in);
  std::uint32_t count = 0;
  if (!in.skip(1) || !in.u32(count)) return fail_read(in);
  // A group of one is the type alone.
  if (count == 1) return type_definition(in);
  out_.line();
  out_ << "(rec";
  out_.indent();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t at = in.offset();
    if (!type_definition(in) || !check_size(at)) return false;
  }
  out_.outdent();
  out_ << ')';
  return true;
}

bool ModulePrinter::type_definition(ByteReader& in) {
  const std::uint32_t type = next_type_++;
  out_.line();
  out_ << "(type";
  names_.types.definition(out_, type);
  out_ << ' ';
  const std::uint8_t lead = in.peek();
  bool sub = false;
  if (lead == kSub || lead == kSubFinal) {
    std::uint32_t supers = 0;
    if (!in.skip(1) || !in.u32(supers)) return fail_read(in);
    // Final and without supertypes is the type alone.
    sub = lead == kSub || supers != 0;
    if (sub) out_ << (lead == kSub ? "(sub " : "(sub final ");
    for (; supers != 0; --supers) {
      std::uint32_t super = 0;
      if (!in.u32(super)) return fail_read(in);
      names_.types.reference(out_, super);
      out_ << ' ';
    }
  }
  for (const TypeByte clause : {kDescribes, kDescriptor}) {
    if (in.peek() != clause) continue;
    std::uint32_t other = 0;
    if (!in.skip(1) || !in.u32(other)) return fail_read(in);
    out_ << (clause == kDescribes ? "(describes " : "(descriptor ");
    names_.types.reference(out_, other);
    out_ << ") ";
  }
  if (!composite_type(in, type)) return false;
  out_ << (sub ? "))" : ")");
  return true;
}

bool ModulePrinter::composite_type(ByteReader& in, std::uint32_t type) {
  const std::uint32_t at = in.offset();
  std::uint8_t form = 0;
  if (!in.u8(form)) return fail_read(in);
  if (types_.size() <= type) {
    types_.push_back({.is_func = form == kFuncType, .signature = in.offset()});
  }
  switch (form) {
    case kFuncType: return func_type(in);
    case kStruct: return struct_type(in, type);
    case kArray:
      out_ << "(array ";
      if (!field_type(in)) return false;
      out_ << ')';
      return true;
    case 0x5d: return unsupported("stack-switching", at);
    case 0x65: return unsupported("shared-everything-threads", at);
    default: return malformed(fmt::format("malformed type form 0x{:02x}", form), at);
  }
}

bool ModulePrinter::func_type(ByteReader& in) {
  out_ << "(func";
  if (!val_types(in, " (param") || !val_types(in, " (result")) return false;
  out_ << ')';
  return true;
}

/// A vector of value types as one list, nothing if it is empty.
bool ModulePrinter::val_types(ByteReader& in, std::string_view word) {
  std::uint32_t count = 0;
  if (!in.u32(count)) return fail_read(in);
  if (count == 0) return true;
  out_ << word;
  for (std::uint32_t i = 0; i < count; ++i) {
    out_ << ' ';
    if (!val_type(in)) return false;
  }
  out_ << ')';
  return true;
}

bool ModulePrinter::struct_type(ByteReader& in, std::uint32_t type) {
  std::uint32_t count = 0;
  if (!in.u32(count)) return fail_read(in);
  const PrintedSpace& names = names_.fields_of(type);
  out_ << "(struct";
  for (std::uint32_t i = 0; i < count; ++i) {
    out_ << " (field";
    names.plain_definition(out_, i);
    out_ << ' ';
    if (!field_type(in)) return false;
    out_ << ')';
  }
  out_ << ')';
  return true;
}

bool ModulePrinter::field_type(ByteReader& in) {
  const std::uint32_t at = in.offset();
  // Whether it is mutable comes behind the type.
  const bool muted = out_.mute(true);
  ByteReader ahead = in;
  std::uint8_t is_mutable = 0;
  const auto storage = [this](ByteReader& from) {
    const std::uint8_t packed = from.peek();
    if (packed != kI8 && packed != kI16) return val_type(from);
    out_ << (packed == kI8 ? "i8" : "i16");
    return from.skip(1);
  };
  const bool ok = storage(ahead) && ahead.u8(is_mutable);
  out_.mute(muted);
  if (!ok) return fail_read(ahead);
  if (is_mutable > 1) return malformed("malformed mutability", at);
  if (is_mutable != 0) out_ << "(mut ";
  if (!storage(in) || !in.skip(1)) return false;
  if (is_mutable != 0) out_ << ')';
  return true;
}

// ---- Value types.

bool ModulePrinter::val_type(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint8_t lead = 0;
  if (!in.u8(lead)) return fail_read(in);
  if (lead == kRef || lead == kRefNull) return cast_type(in, lead == kRefNull);
  const NamedByte* row = find_type(lead);
  if (row == nullptr) {
    if (lead == 0x68 || lead == 0x75) return unsupported("stack-switching", at);
    return malformed(fmt::format("malformed value type 0x{:02x}", lead), at);
  }
  out_ << row->type;
  return true;
}

bool ModulePrinter::ref_type(ByteReader& in) {
  const NamedByte* row = find_type(in.peek());
  if (row == nullptr || !row->heap.empty()) return val_type(in);
  return malformed(fmt::format("malformed reference type 0x{:02x}", in.peek()), in.offset());
}

bool ModulePrinter::heap_type(ByteReader& in) {
  const std::uint32_t at = in.offset();
  const std::uint8_t lead = in.peek();
  if (const NamedByte* row = find_type(lead); row != nullptr && !row->heap.empty()) {
    out_ << row->heap;
    return in.skip(1);
  }
  const bool exact = lead == kExact;
  if (exact && !in.skip(1)) return fail_read(in);
  std::int64_t type = 0;
  if (!in.s33(type)) return fail_read(in);
  if (type < 0) return malformed("malformed heap type", at);
  if (exact) out_ << "(exact ";
  names_.types.reference(out_, static_cast<std::uint32_t>(type));
  if (exact) out_ << ')';
  return true;
}

bool ModulePrinter::cast_type(ByteReader& in, bool nullable) {
  const NamedByte* row = find_type(in.peek());
  if (nullable && row != nullptr && !row->heap.empty()) {
    out_ << row->type;
    return in.skip(1);
  }
  out_ << (nullable ? "(ref null " : "(ref ");
  if (!heap_type(in)) return false;
  out_ << ')';
  return true;
}

// ---- Types of definitions.

bool ModulePrinter::limits(ByteReader& in, std::uint8_t flags) {
  if ((flags & kIs64) != 0) out_ << " i64";
  std::uint64_t bound = 0;
  if (!in.u64(bound)) return fail_read(in);
  out_ << ' ';
  out_.decimal(bound);
  if ((flags & kHasMax) == 0) return true;
  if (!in.u64(bound)) return fail_read(in);
  out_ << ' ';
  out_.decimal(bound);
  return true;
}

bool ModulePrinter::table_type(ByteReader& in) {
  // The limits come first in the text.
  const bool muted = out_.mute(true);
  ByteReader element = in;
  const bool ok = ref_type(in);
  out_.mute(muted);
  if (!ok) return false;
  const std::uint32_t at = in.offset();
  std::uint8_t flags = 0;
  if (!in.u8(flags)) return fail_read(in);
  if ((flags & kShared) != 0) return unsupported("shared-everything-threads (shared table)", at);
  if (flags >= kPageSize) return malformed(fmt::format("malformed limits flags {}", flags), at);
  if (!limits(in, flags)) return false;
  out_ << ' ';
  return val_type(element);
}

bool ModulePrinter::memory_type(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint8_t flags = 0;
  if (!in.u8(flags)) return fail_read(in);
  if (flags >= 2 * kPageSize) return malformed(fmt::format("malformed limits flags {}", flags), at);
  if (!limits(in, flags)) return false;
  if ((flags & kShared) != 0) out_ << " shared";
  if ((flags & kPageSize) == 0) return true;
  std::uint32_t log2 = 0;
  if (!in.u32(log2)) return fail_read(in);
  if (log2 >= 64) return malformed(fmt::format("invalid custom page size 2^{}", log2), at);
  out_ << " (pagesize ";
  out_.decimal(std::uint64_t{1} << log2);
  out_ << ')';
  return true;
}

bool ModulePrinter::global_type(ByteReader& in) {
  const bool muted = out_.mute(true);
  ByteReader type = in;
  const bool ok = val_type(in);
  out_.mute(muted);
  if (!ok) return false;
  const std::uint32_t at = in.offset();
  std::uint8_t is_mutable = 0;
  if (!in.u8(is_mutable)) return fail_read(in);
  if (is_mutable > 1) return malformed("malformed mutability", at);
  out_ << (is_mutable != 0 ? " (mut " : " ");
  if (!val_type(type)) return false;
  if (is_mutable != 0) out_ << ')';
  return true;
}

bool ModulePrinter::tag_type(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint8_t attribute = 0;
  std::uint32_t type = 0;
  if (!in.u8(attribute) || !in.u32(type)) return fail_read(in);
  if (attribute != 0) return malformed(fmt::format("malformed tag attribute {}", attribute), at);
  out_ << " (type ";
  type_reference(type);
  out_ << ')';
  return signature(type, nullptr);
}

void ModulePrinter::type_reference(std::uint32_t type) {
  names_.types.reference(out_, type);
}

// ---- Signatures.

std::uint32_t ModulePrinter::num_params(std::uint32_t type) const {
  if (type >= types_.size() || !types_[type].is_func) return 0;
  ByteReader in(bytes_, types_[type].signature, bytes_.size());
  std::uint32_t count = 0;
  return in.u32(count) ? count : 0;
}

/// Parameters with names stand alone, others together.
bool ModulePrinter::signature(std::uint32_t type, const PrintedSpace* params) {
  if (type >= types_.size() || !types_[type].is_func) return true;
  ByteReader in(bytes_, types_[type].signature, bytes_.size());
  if (params == nullptr || !params->any()) {
    return val_types(in, " (param") && val_types(in, " (result");
  }
  std::uint32_t count = 0;
  if (!in.u32(count)) return fail_read(in);
  bool open = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool named = params->has(i);
    if (open && named) out_ << ')';
    if (named || !open) out_ << " (param";
    params->plain_definition(out_, i);
    out_ << ' ';
    if (!val_type(in)) return false;
    if (named) out_ << ')';
    open = !named;
  }
  if (open) out_ << ')';
  return val_types(in, " (result");
}

}  // namespace hoist::wasm
