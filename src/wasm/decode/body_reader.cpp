// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wasm/decode/body_reader.hpp"

#include <fmt/core.h>

#include "wasm/decode/names.hpp"
#include "wasm/decode/type_reader.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/format/subtyping.hpp"

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

/// The number of lanes in a name such as "i16x8.extract_lane_s"; 0 for others.
static constexpr std::uint8_t lanes_of(std::string_view text) {
  const std::size_t x = text.find('x');
  std::uint8_t lanes = 0;
  for (std::size_t i = x + 1; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    lanes = static_cast<std::uint8_t>(lanes * 10 + (text[i] - '0'));
  }
  return lanes;
}

static constexpr OpShape shape_of(std::string_view signature) {
  OpShape shape;
  if (signature == "-") return shape;
  bool results = false;
  for (const char letter : signature) {
    if (letter == ':') {
      results = true;
    } else if (results) {
      shape.out[shape.num_out++] = kind_of(letter);
    } else {
      shape.in[shape.num_in++] = kind_of(letter);
    }
  }
  return shape;
}

static constexpr std::array<OpMeta, kOpNumbers> make_meta() {
  std::array<OpMeta, kOpNumbers> table{};
#define HOIST_WASM_OP(group, name, prefix, code, text, imm, sig, feature)                     \
  table[op_number(prefix, code)] =                                                            \
      meta_of(Features().has(Feature::feature) ? Group::group : Group::Later, sig, Imm::imm); \
  if (Group::group == Group::VectorLane) {                                                    \
    table[op_number(prefix, code)].align_log2 = lanes_of(text);                               \
  }
#include "wasm/format/opcodes.def"
  return table;
}

static constexpr std::array<OpShape, kOpNumbers> make_shapes() {
  std::array<OpShape, kOpNumbers> table{};
#define HOIST_WASM_OP(group, name, prefix, code, text, imm, sig, feature) \
  table[op_number(prefix, code)] = shape_of(sig);
#include "wasm/format/opcodes.def"
  return table;
}

constexpr std::array<OpMeta, kOpNumbers> kOpMeta = make_meta();
constexpr std::array<OpShape, kOpNumbers> kOpShapes = make_shapes();

void BodyReader::select_meta(Features features) {
  if (meta_features_ == features) return;
  meta_features_ = features;
  meta_ = kOpMeta.data();
  if (features == Features()) return;
  if (!own_meta_) own_meta_ = std::make_unique<std::array<OpMeta, kOpNumbers>>();
  *own_meta_ = kOpMeta;
  for (std::uint16_t number = 0; number < kOpNumbers; ++number) {
    const OpInfo& info = op_info_at(number);
    if (info.group == Group::Illegal) continue;
    (*own_meta_)[number].group = features.has(info.feature) ? info.group : Group::Later;
  }
  meta_ = own_meta_->data();
}

void BodyReader::reset(const Module& module, std::uint32_t func) {
  const Range body = module.body(func);
  module_ = &module;
  reader_ = ByteReader(module.bytes.span(), body.offset, body.end());
  type_ = &module.function_type(func);
  func_ = func;
  at_ = body.offset;
  op_ = Op::Nop;
  local_runs_.clear();
  inits_.clear();
  ++body_number_;
  num_kept_ = 0;
  select_meta(module.features);
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
    ValType type;
    if (!read_value_type("malformed value type of a local", type)) return false;
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
std::span<const ValType> BodyReader::keep(ValType type) {
  static constexpr ValType kSingle[] = {TypeKind::I32,      TypeKind::I64,  TypeKind::F32,
                                        TypeKind::F64,      TypeKind::V128, TypeKind::FuncRef,
                                        TypeKind::ExternRef};
  for (const ValType& known : kSingle) {
    if (known == type) return {&known, 1};
  }
  constexpr std::size_t kChunk = 256;
  if (num_kept_ == kept_.size() * kChunk) kept_.push_back(std::make_unique<ValType[]>(kChunk));
  ValType& kept = kept_[num_kept_ / kChunk][num_kept_ % kChunk];
  ++num_kept_;
  kept = type;
  return {&kept, 1};
}

bool BodyReader::resolve(ValType& type) {
  if (!type.is_ref() || type.heap().is_abstract()) return true;
  const std::uint32_t index = type.heap().type_index();
  if (index >= module_->types.size()) return fail_unknown("type", index, module_->types.size());
  type = ValType::ref(HeapType::concrete(module_->canonical_type(index)), type.is_nullable());
  return true;
}

bool BodyReader::read_value_type(std::string_view malformed, ValType& out) {
  const std::uint32_t offset = reader_.offset();
  const std::uint8_t first = reader_.peek();
  Feature needs = Feature::Core;
  switch (read_val_type(reader_, out, needs)) {
    case TypeRead::Ok: break;
    case TypeRead::ReadFault: return fail_read();
    case TypeRead::NotAType:
      return fail(ErrorKind::Malformed, fmt::format("{} {:#x}", malformed, first), offset);
  }
  if (!module_->features.has(needs)) return fail_feature(needs, "type " + to_string(out), offset);
  return resolve(out);
}

bool BodyReader::read_heap_type_ref(bool nullable, ValType& out) {
  const std::uint32_t offset = reader_.offset();
  HeapType heap(HeapType::Func);
  Feature needs = Feature::Core;
  switch (read_heap_type(reader_, heap, needs)) {
    case TypeRead::Ok: break;
    case TypeRead::ReadFault: return fail_read();
    case TypeRead::NotAType: return fail(ErrorKind::Malformed, "malformed heap type", offset);
  }
  out = ValType::ref(heap, nullable);
  if (!module_->features.has(needs)) return fail_feature(needs, "type " + to_string(out), offset);
  return resolve(out);
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
    if (!read_value_type("malformed block type", type)) return false;
    out = {{}, keep(type)};
    return true;
  }
  std::int64_t index = 0;
  if (!reader_.s33(index)) return fail_read();
  if (index < 0) return fail(ErrorKind::Malformed, "malformed block type", offset);
  if (static_cast<std::uint64_t>(index) >= module_->types.size()) {
    return fail_unknown("type", static_cast<std::uint32_t>(index), module_->types.size());
  }
  const auto type_index = static_cast<std::uint32_t>(index);
  if (!module_->is_func_type(type_index)) {
    return invalid(fmt::format("type mismatch: block type {} is not a function type", index));
  }
  const FuncType& type = module_->types[type_index];
  out = {type.params(), type.results()};
  return true;
}

bool BodyReader::read_mem_arg(std::uint8_t align_log2, MemArg& out) {
  constexpr std::uint32_t kHasMemory = 0x40;
  const std::uint32_t offset = reader_.offset();
  std::uint32_t flags = 0;
  if (!read_u32(flags)) return false;
  const bool multi_memory = module_->features.has(Feature::MultiMemory);
  if (flags >= (multi_memory ? 2 * kHasMemory : kHasMemory)) {
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
    if (!read_value_type("malformed value type", out)) return false;
  }
  if (count != 1) return invalid(fmt::format("invalid result arity: select has {}, not 1", count));
  return true;
}

bool BodyReader::read_null_type(ValType& out) {
  return read_heap_type_ref(true, out);
}

bool BodyReader::read_atomic_arg(std::uint8_t align_log2, MemArg& out) {
  if (!read_mem_arg(align_log2, out)) return false;
  if (out.align_log2 == align_log2) return true;
  return invalid(fmt::format("atomic alignment must be natural: {} has 2**{}, found 2**{}",
                             text(op_), align_log2, out.align_log2));
}

bool BodyReader::read_lane(std::uint32_t lanes, std::uint8_t& out) {
  if (!reader_.u8(out)) return fail_read();
  if (out < lanes) [[likely]]
    return true;
  return invalid(fmt::format("invalid lane index {}: {} has {} lanes", out, text(op_), lanes));
}

bool BodyReader::read_16_bytes(std::span<const std::uint8_t, 16>& out) {
  const std::uint32_t offset = reader_.offset();
  if (!reader_.skip(16)) return fail_read();
  out = module_->bytes.span().subspan(offset).first<16>();
  return true;
}

bool BodyReader::read_fence() {
  const std::uint32_t offset = reader_.offset();
  std::uint8_t byte = 0;
  if (!reader_.u8(byte)) return fail_read();
  if (byte == 0) return true;
  return fail(ErrorKind::Malformed, "zero byte expected after atomic.fence", offset);
}

bool BodyReader::read_clauses(std::size_t num_labels) {
  std::uint32_t count = 0;
  if (!read_u32(count)) return false;
  if (count > reader_.remaining()) {
    return fail(ErrorKind::Malformed,
                "length out of bounds: try_table has more clauses than the function has bytes",
                at_);
  }
  if (count > kMaxCatches) {
    return fail(
        ErrorKind::Limit,
        fmt::format("try_table has {} catch clauses, at most {} are supported", count, kMaxCatches),
        at_);
  }
  clauses_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t offset = reader_.offset();
    std::uint8_t kind = 0;
    if (!reader_.u8(kind)) return fail_read();
    if (kind > static_cast<std::uint8_t>(CatchClause::Kind::AllRef)) {
      return fail(ErrorKind::Malformed, fmt::format("malformed catch clause {:#x}", kind), offset);
    }
    CatchClause clause;
    clause.kind = static_cast<CatchClause::Kind>(kind);
    if (clause.has_tag() && !read_tag(clause.tag)) return false;
    if (!read_label(num_labels, clause.depth)) return false;
    clauses_.push_back(clause);
  }
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

static std::string_view text(CompositeKind kind) {
  switch (kind) {
    case CompositeKind::Func: return "function";
    case CompositeKind::Struct: return "struct";
    case CompositeKind::Array: return "array";
  }
  return "";
}

bool BodyReader::read_composite(CompositeKind kind, std::uint32_t& out) {
  if (!read_type(out)) return false;
  const CompositeKind found = module_->type_defs[out].kind;
  if (found == kind) [[likely]]
    return true;
  return invalid(fmt::format("type mismatch: {} expects a type of kind {}, type {} is of kind {}",
                             text(op_), text(kind), out, text(found)));
}

bool BodyReader::read_func_type(std::uint32_t& out) {
  return read_composite(CompositeKind::Func, out);
}

bool BodyReader::read_tag(std::uint32_t& out) {
  if (!read_u32(out)) return false;
  if (out < module_->tags.size()) [[likely]]
    return true;
  return fail_unknown("tag", out, module_->tags.size());
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
  if (is_subtype(*module_, found, expected)) return true;
  return invalid(fmt::format("type mismatch: {} from elements of type {} to a table of {}",
                             text(op_), to_string(found), to_string(expected)));
}

bool BodyReader::check_callee_table(std::uint32_t table) {
  const ValType element = module_->tables[table].type.element;
  if (is_subtype(*module_, element, TypeKind::FuncRef)) return true;
  return invalid(fmt::format("type mismatch: {} needs a table of functions, found {}", text(op_),
                             to_string(element)));
}

bool BodyReader::are_subtypes(std::span<const ValType> a, std::span<const ValType> b) const {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_subtype(*module_, a[i], b[i])) return false;
  }
  return true;
}

bool BodyReader::check_clause(const CatchClause& clause, std::span<const ValType> label_types) {
  std::span<const ValType> values;
  if (clause.has_tag()) values = module_->tag_type(clause.tag).params();
  const ValType exception = ValType::ref(HeapType(HeapType::Exn), false);
  const std::size_t count = values.size() + (clause.has_ref() ? 1 : 0);
  if (count == label_types.size() && are_subtypes(values, label_types.first(values.size())) &&
      (!clause.has_ref() || is_subtype(*module_, exception, label_types.back()))) {
    return true;
  }
  return invalid(fmt::format("type mismatch: a catch clause sends {}{} to label {}, which takes {}",
                             to_string(values), clause.has_ref() ? " and (ref exn)" : "",
                             clause.depth, to_string(label_types)));
}

bool BodyReader::check_ref_label(std::span<const ValType> label_types) {
  if (!label_types.empty() && label_types.back().is_ref()) return true;
  return invalid(fmt::format("type mismatch: {} to a label that takes {}, not a reference last",
                             text(op_), to_string(label_types)));
}

bool BodyReader::read_cast_flags(std::uint8_t& out) {
  const std::uint32_t offset = reader_.offset();
  if (!reader_.u8(out)) return fail_read();
  if (out <= 3) return true;
  return fail(ErrorKind::Malformed, fmt::format("malformed cast flags {:#x}", out), offset);
}

bool BodyReader::check_tail_call(const FuncType& callee) {
  const std::span<const ValType> found = callee.results();
  const std::span<const ValType> wanted = type_->results();
  if (are_subtypes(found, wanted)) return true;
  return invalid(fmt::format("type mismatch: {} of a function with results {} in one with {}",
                             text(op_), to_string(found), to_string(wanted)));
}

bool BodyReader::check_set(std::uint32_t local) {
  if (local < type_->params().size()) return true;
  if (local < set_in_.size() && set_in_[local] == body_number_) return true;
  return invalid(fmt::format("uninitialized local: local {} of type {} has no value here", local,
                             to_string(local_type(local))));
}

void BodyReader::mark_set(std::uint32_t local) {
  if (local >= set_in_.size()) set_in_.resize(num_locals_);
  if (set_in_[local] == body_number_) return;
  set_in_[local] = body_number_;
  inits_.push_back(local);
}

void BodyReader::unset_down_to(std::uint32_t mark) {
  for (; inits_.size() > mark; inits_.pop_back()) set_in_[inits_.back()] = 0;
}

bool BodyReader::fail_refused(const Refusal& refusal) {
  return fail(ErrorKind::Unsupported, fmt::format("unsupported instruction: {}", refusal.what),
              refusal.offset);
}

bool BodyReader::fail_not_ref(ValType found) {
  return invalid(
      fmt::format("type mismatch: {} expects a reference, found {}", text(op_), to_string(found)));
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

bool BodyReader::fail_stack(std::string_view what, std::span<const ValType> expected,
                            std::span<const ValType> found) {
  return invalid(fmt::format("type mismatch: {} requires {} but stack has {} at {}", what,
                             to_string(expected), to_string(found), text(op_)));
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
