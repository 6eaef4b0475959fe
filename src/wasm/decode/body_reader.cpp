// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/body_reader.hpp"

#include <fmt/core.h>

#include "wasm/decode/names.hpp"
#include "wasm/decode/type_reader.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {

static constexpr TypeKind kind_of(char letter) {
  switch (letter) {
    case 'i': return TypeKind::I32;
    case 'l': return TypeKind::I64;
    case 'f': return TypeKind::F32;
    case 'd': return TypeKind::F64;
    case 'v': return TypeKind::V128;
    default: return TypeKind::Bottom;
  }
}

static constexpr std::uint8_t log2_of(std::uint32_t power) {
  std::uint8_t log = 0;
  while ((1u << log) < power) ++log;
  return log;
}

/// The last operand and the result of "operands:results"; the operators of the groups that use them
/// have operands of one type (but for addresses) and at most one result.
static constexpr OpMeta meta_of(Group group, std::string_view signature, Imm imm) {
  OpMeta meta{group, TypeKind::Bottom, TypeKind::Bottom, log2_of(access_bytes(imm))};
  const std::size_t colon = signature.find(':');
  if (colon == std::string_view::npos) return meta;
  if (colon != 0) meta.in = kind_of(signature[colon - 1]);
  if (colon + 1 < signature.size()) meta.out = kind_of(signature[colon + 1]);
  return meta;
}

static constexpr std::array<OpMeta, kOpNumbers> make_meta() {
  std::array<OpMeta, kOpNumbers> table{};
#define HOIST_WASM_OP(group, name, prefix, code, text, imm, sig, feature) \
  table[op_number(prefix, code)] = meta_of(Group::group, sig, Imm::imm);
#include "wasm/format/opcodes.def"
  return table;
}

constexpr std::array<OpMeta, kOpNumbers> kOpMeta = make_meta();

void BodyReader::reset(const Module& module, std::uint32_t func) {
  const Range body = module.body(func);
  module_ = &module;
  reader_ = ByteReader(module.bytes.span(), body.offset, body.end());
  type_ = &module.function_type(func);
  func_ = func;
  at_ = body.offset;
  op_ = Op::Nop;
  local_runs_.clear();
  dense_locals_.assign(type_->params().begin(), type_->params().end());
  error_.reset();
}

bool BodyReader::read_locals() {
  constexpr std::size_t kDense = 1024;
  std::uint32_t groups = 0;
  if (!read_u32(groups)) return false;
  std::uint64_t total = type_->params().size();
  for (std::uint32_t i = 0; i < groups; ++i) {
    at_ = reader_.offset();
    std::uint32_t count = 0;
    if (!read_u32(count)) return false;
    total += count;
    if (total > UINT32_MAX) return fail(ErrorKind::Malformed, "too many locals", at_);
    const std::uint32_t type_offset = reader_.offset();
    ValType type;
    Feature needs = Feature::Core;
    switch (read_val_type(reader_, type, needs)) {
      case TypeRead::Ok: break;
      case TypeRead::ReadFault: return fail_read();
      case TypeRead::NotAType:
        return fail(ErrorKind::Malformed, "malformed value type of a local", type_offset);
    }
    if (!module_->features.has(needs)) {
      return fail_feature(needs, "local of type " + to_string(type), type_offset);
    }
    if (count == 0) continue;
    // The total is checked at the end, so that a sum beyond 32 bits is malformed, not a limit.
    if (total <= kMaxLocals) {
      local_runs_.push_back({static_cast<std::uint32_t>(total), type});
      if (dense_locals_.size() < kDense) {
        dense_locals_.resize(std::min<std::size_t>(total, kDense), type);
      }
    }
  }
  if (total > kMaxLocals) {
    return fail(ErrorKind::Limit,
                fmt::format("too many locals: {}, at most {} are supported", total, kMaxLocals),
                module_->body(func_).offset);
  }
  num_locals_ = static_cast<std::uint32_t>(total);
  return true;
}

ValType BodyReader::run_local_type(std::uint32_t index) const {
  std::size_t low = 0;
  std::size_t high = local_runs_.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (local_runs_[middle].end <= index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return local_runs_[low].type;
}

bool BodyReader::read_prefixed(std::uint32_t prefix, std::uint16_t& number) {
  std::uint32_t code = 0;
  if (!read_u32(code)) return false;
  number = op_number(prefix, code);
  if (number < kOpNumbers) return true;
  return fail(ErrorKind::Malformed, fmt::format("illegal opcode {:x} {:x}", prefix, code), at_);
}

/// Stable storage for block types of one result.
static std::span<const ValType> single_type(TypeKind kind) {
  static constexpr ValType kSingle[] = {TypeKind::I32,      TypeKind::I64,  TypeKind::F32,
                                        TypeKind::F64,      TypeKind::V128, TypeKind::FuncRef,
                                        TypeKind::ExternRef};
  for (const ValType& type : kSingle) {
    if (type.kind() == kind) return {&type, 1};
  }
  return {};
}

bool BodyReader::read_block_type(BlockType& out) {
  constexpr std::uint8_t kEmpty = 0x40;
  const std::uint32_t offset = reader_.offset();
  const std::uint8_t first = reader_.peek();
  if (first == kEmpty) {
    out = {};
    return reader_.skip(1) || fail_read();
  }
  // One byte with the sign bit of a LEB128 integer set is a value type; else a type index follows.
  if ((first & 0xc0) == 0x40) {
    ValType type;
    Feature needs = Feature::Core;
    switch (read_val_type(reader_, type, needs)) {
      case TypeRead::Ok: break;
      case TypeRead::ReadFault: return fail_read();
      case TypeRead::NotAType:
        return fail(ErrorKind::Malformed, fmt::format("malformed block type {:#x}", first), offset);
    }
    if (!module_->features.has(needs)) {
      return fail_feature(needs, "block of type " + to_string(type), offset);
    }
    out = {{}, single_type(type.kind())};
    if (out.results.empty()) return fail_feature(Feature::FunctionReferences, "block type", offset);
    return true;
  }
  std::int64_t index = 0;
  if (!reader_.s33(index)) return fail_read();
  if (index < 0) return fail(ErrorKind::Malformed, "malformed block type", offset);
  if (static_cast<std::uint64_t>(index) >= module_->types.size()) {
    return fail_unknown("type", static_cast<std::uint32_t>(index), module_->types.size());
  }
  const FuncType& type = module_->types[static_cast<std::size_t>(index)];
  out = {type.params(), type.results()};
  return true;
}

bool BodyReader::read_mem_arg(std::uint8_t align_log2, MemArg& out) {
  constexpr std::uint32_t kHasMemory = 0x40;
  const std::uint32_t offset = reader_.offset();
  std::uint32_t flags = 0;
  if (!read_u32(flags)) return false;
  if (flags >= 2 * kHasMemory) {
    return fail(ErrorKind::Malformed, fmt::format("malformed memop flags {:#x}", flags), offset);
  }
  out.memory = 0;
  if ((flags & kHasMemory) != 0 && !read_u32(out.memory)) return false;
  const std::uint32_t align = flags & (kHasMemory - 1);
  if (!reader_.u64(out.offset)) return fail_read();
  if (out.memory >= module_->memories.size()) {
    return fail_unknown("memory", out.memory, module_->memories.size());
  }
  if (align > align_log2) {
    return invalid(
        fmt::format("alignment must not be larger than natural: {} has 2**{}, found 2**{}",
                    text(op_), align_log2, align));
  }
  out.align_log2 = static_cast<std::uint8_t>(align);
  if (out.offset > UINT32_MAX && !module_->memories[out.memory].type.is64) {
    return invalid(
        fmt::format("offset out of range: {} in a memory with 32-bit addresses", out.offset));
  }
  return true;
}

bool BodyReader::read_select_type(ValType& out) {
  std::uint32_t count = 0;
  if (!read_u32(count)) return false;
  // The list is read in any case: what follows it may be malformed.
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t offset = reader_.offset();
    Feature needs = Feature::Core;
    switch (read_val_type(reader_, out, needs)) {
      case TypeRead::Ok: break;
      case TypeRead::ReadFault: return fail_read();
      case TypeRead::NotAType: return fail(ErrorKind::Malformed, "malformed value type", offset);
    }
    if (!module_->features.has(needs)) {
      return fail_feature(needs, "select of type " + to_string(out), offset);
    }
  }
  if (count != 1) return invalid(fmt::format("invalid result arity: select has {}, not 1", count));
  return true;
}

bool BodyReader::read_null_type(ValType& out) {
  const std::uint32_t offset = reader_.offset();
  HeapType heap(HeapType::Func);
  Feature needs = Feature::Core;
  switch (read_heap_type(reader_, heap, needs)) {
    case TypeRead::Ok: break;
    case TypeRead::ReadFault: return fail_read();
    case TypeRead::NotAType: return fail(ErrorKind::Malformed, "malformed heap type", offset);
  }
  out = ValType::ref(heap, true);
  if (!module_->features.has(needs))
    return fail_feature(needs, "ref.null of " + to_string(out), at_);
  return true;
}

bool BodyReader::read_label_table(std::size_t num_labels) {
  std::uint32_t count = 0;
  if (!read_u32(count)) return false;
  if (count >= reader_.remaining()) {
    return fail(ErrorKind::Malformed, "length out of bounds: br_table is longer than the function",
                at_);
  }
  if (count > kMaxBrTable) {
    return fail(ErrorKind::Limit,
                fmt::format("br_table has {} labels, at most {} are supported", count, kMaxBrTable),
                at_);
  }
  depths_.resize(std::size_t{count} + 1);
  for (std::uint32_t& depth : depths_) {
    if (!read_label(num_labels, depth)) return false;
  }
  return true;
}

bool BodyReader::read_label(std::size_t num_labels, std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < num_labels) [[likely]]
    return true;
  return fail_unknown("label", out, num_labels);
}

bool BodyReader::read_local(std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < num_locals_) [[likely]]
    return true;
  return fail_unknown("local", out, num_locals_);
}

bool BodyReader::read_global(std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < module_->globals.size()) [[likely]]
    return true;
  return fail_unknown("global", out, module_->globals.size());
}

bool BodyReader::read_function(std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < module_->functions.size()) [[likely]]
    return true;
  return fail_unknown("function", out, module_->functions.size());
}

bool BodyReader::read_type(std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < module_->types.size()) [[likely]]
    return true;
  return fail_unknown("type", out, module_->types.size());
}

bool BodyReader::read_table(std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < module_->tables.size()) [[likely]]
    return true;
  return fail_unknown("table", out, module_->tables.size());
}

bool BodyReader::read_memory(std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < module_->memories.size()) [[likely]]
    return true;
  return fail_unknown("memory", out, module_->memories.size());
}

bool BodyReader::check_data(std::uint32_t data) {
  if (!module_->data_count) return fail(ErrorKind::Malformed, "data count section required", at_);
  if (data < *module_->data_count) return true;
  return fail_unknown("data segment", data, *module_->data_count);
}

bool BodyReader::check_elem(std::uint32_t elem) {
  if (elem < module_->elements.size()) return true;
  return fail_unknown("elem segment", elem, module_->elements.size());
}

bool BodyReader::check_declared(std::uint32_t func) {
  if (module_->escaping_functions.contains(func)) return true;
  return invalid(fmt::format(
      "undeclared function reference: function {} is in no export, global or element segment",
      func));
}

bool BodyReader::check_mutable(std::uint32_t global) {
  if (module_->globals[global].type.is_mutable) return true;
  return invalid(fmt::format("immutable global: global.set of global {}", global));
}

bool BodyReader::check_elements(ValType found, ValType expected) {
  if (found == expected) return true;
  return invalid(fmt::format("type mismatch: {} from elements of type {} to a table of {}",
                             text(op_), to_string(found), to_string(expected)));
}

bool BodyReader::fail(ErrorKind kind, std::string message, std::uint32_t offset) {
  error_.emplace(kind, std::move(message), offset);
  return false;
}

bool BodyReader::fail_read() {
  error_.emplace(reader_.error());
  return false;
}

bool BodyReader::fail_opcode(std::uint16_t number) {
  if (number <= 0xff) {
    return fail(ErrorKind::Malformed, fmt::format("illegal opcode {:02x}", number), at_);
  }
  const std::uint8_t prefix = module_->bytes.span()[at_];
  const unsigned code = number - op_number(prefix, 0);
  return fail(ErrorKind::Malformed, fmt::format("illegal opcode {:x} {:x}", prefix, code), at_);
}

bool BodyReader::fail_feature(Feature feature, std::string_view what, std::uint32_t offset) {
  return fail(ErrorKind::Unsupported,
              fmt::format("unsupported feature: {} ({})", text(feature), what), offset);
}

bool BodyReader::fail_unknown(std::string_view what, std::uint32_t index, std::size_t count) {
  if (count == 0) return invalid(fmt::format("unknown {} {}: there is none", what, index));
  return invalid(fmt::format("unknown {} {}: there are {}", what, index, count));
}

bool BodyReader::fail_type(ValType expected, ValType found) {
  return invalid(fmt::format("type mismatch: {} expects {}, found {}", text(op_),
                             to_string(expected), to_string(found)));
}

bool BodyReader::fail_empty(ValType expected) {
  return invalid(fmt::format("type mismatch: {} expects {}, but the block's stack is empty",
                             text(op_), expected.is_bottom() ? "a value" : to_string(expected)));
}

bool BodyReader::fail_height(std::size_t extra) {
  return invalid(
      fmt::format("type mismatch: {} more value{} on the stack than the block's results at {}",
                  extra, extra == 1 ? "" : "s", text(op_)));
}

Error BodyReader::take_error() {
  Error error = *std::move(error_);
  error_.reset();
  const std::string name = find_function_name(*module_, func_);
  error.message() += fmt::format(", in function {}", func_);
  if (!name.empty()) error.message() += fmt::format(" \"{}\"", name);
  return error;
}

}  // namespace hoist::wasm
