// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function bodies and constant expressions: flat instructions, one a line, indented by block.
// Source: WebAssembly core specification 3.0, sections 5.4 and 6.5.
#include <fmt/core.h>

#include "base/bits.hpp"
#include "wasm/decode/immediates.hpp"
#include "wasm/format/limits.hpp"
#include "wasm/text/print/module_printer.hpp"

namespace hoist::wasm {

namespace {

constexpr std::string_view kCatchKinds[] = {"catch", "catch_ref", "catch_all", "catch_all_ref"};

/// Tests and casts have an opcode for each nullness, the one to null second.
bool is_cast_to_null(const OpInfo& info) {
  const std::uint16_t before = op_number(info.prefix, info.code - 1u);
  return before < kOpNumbers && op_info_at(before).text == info.text;
}

}  // namespace

// ---- Functions.

bool ModulePrinter::body(ByteReader& in, std::uint32_t func) {
  const std::uint32_t type = func < function_types_.size() ? function_types_[func] : 0;
  const std::uint32_t params = num_params(type);
  body_begin_ = in.offset();
  names_.enter_function(func, params + kMaxLocals);
  const auto hints = hints_.find(func);
  function_hints_ = hints != hints_.end() ? &hints->second : nullptr;
  out_.line();
  out_ << "(func";
  names_.functions.definition(out_, func);
  out_ << " (type ";
  type_reference(type);
  out_ << ')';
  if (!signature(type, &names_.locals)) return false;
  out_.indent();
  const std::uint64_t breaks = out_.breaks();
  bool ok = locals(in, params);
  next_label_ = 0;
  in_function_ = true;
  frames_.clear();
  frame_of_name_.clear();
  push_frame(Block::Function, {});
  while (ok && !frames_.empty()) ok = instruction(in) && check_size(in.offset());
  in_function_ = false;
  function_hints_ = nullptr;
  if (ok && !in.at_end()) {
    ok = malformed("section size mismatch: operators remain behind the end of the function",
                   in.offset());
  }
  if (ok) {
    if (out_.breaks() != breaks) out_.line();
    out_ << ')';
    return true;
  }
  if (in.failed()) fail_read(in);
  if (error_) error_->message() += fmt::format(" (function {})", func);
  return false;
}

bool ModulePrinter::locals(ByteReader& in, std::uint32_t first) {
  std::uint32_t runs = 0;
  if (!in.u32(runs)) return fail_read(in);
  std::uint64_t index = first;
  bool open = false;
  for (std::uint32_t run = 0; run < runs; ++run) {
    const std::uint32_t at = in.offset();
    std::uint32_t count = 0;
    if (!in.u32(count)) return fail_read(in);
    if (index + count > std::uint64_t{first} + kMaxLocals) {
      if (!error_) {
        error_.emplace(ErrorKind::Limit,
                       fmt::format("too many locals, at most {} are supported", kMaxLocals), at);
      }
      return false;
    }
    const ByteReader type = in;
    const bool muted = out_.mute(true);
    const bool ok = val_type(in);
    out_.mute(muted);
    if (!ok) return false;
    for (; count != 0; --count, ++index) {
      const auto local = static_cast<std::uint32_t>(index);
      const bool named = names_.locals.has(local);
      if (open && named) out_ << ')';
      if (named || !open) {
        out_.line();
        out_ << "(local";
      }
      names_.locals.plain_definition(out_, local);
      out_ << ' ';
      ByteReader again = type;
      if (!val_type(again)) return false;
      if (named) out_ << ')';
      open = !named;
    }
  }
  if (open) out_ << ')';
  return true;
}

// ---- Expressions.

/// Up to the end that closes the expression; `count` is without it.
bool ModulePrinter::one_line_instructions(ByteReader& in, TextWriter::Lines lines,
                                          std::uint32_t& count) {
  frames_.clear();
  frame_of_name_.clear();
  push_frame(Block::Function, {});
  out_.set_lines(lines);
  const std::uint32_t depth = out_.depth();
  bool ok = true;
  for (count = 0; ok; ++count) {
    ok = instruction(in) && check_size(in.offset());
    if (frames_.empty()) break;
  }
  out_.set_depth(depth);
  out_.set_lines(TextWriter::Lines::Breaks);
  if (!ok && in.failed()) fail_read(in);
  return ok;
}

bool ModulePrinter::expression(ByteReader& in, std::string_view word) {
  using Lines = TextWriter::Lines;
  ByteReader ahead = in;
  const bool muted = out_.mute(true);
  std::uint32_t count = 0;
  const bool ok = one_line_instructions(ahead, Lines::Spaces, count);
  out_.mute(muted);
  if (!ok) return false;
  // None at all is invalid, and not told from a definition without initializer.
  if (word.empty() && count != 0) out_ << ' ';
  const bool in_list = count == 1 || !word.empty();
  if (in_list) out_ << '(';
  if (count != 1) out_ << word;
  const Lines lines = count == 1 || word.empty() ? Lines::SpacesBetween : Lines::Spaces;
  if (!one_line_instructions(in, lines, count)) return false;
  if (in_list) out_ << ')';
  return true;
}

// ---- Instructions.

bool ModulePrinter::instruction(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint16_t op_code = 0;
  if (!read_opcode(in, op_code)) return fail_read(in);
  const OpInfo* info = op_code < kOpNumbers ? &op_info_at(op_code) : nullptr;
  if (info == nullptr || info->text.empty()) {
    std::string bytes;
    for (std::uint32_t i = at; i < in.offset(); ++i) bytes += fmt::format(" {:02x}", bytes_[i]);
    return malformed(fmt::format("illegal opcode{}", bytes), at);
  }
  const auto op = static_cast<Op>(op_code);
  hint(at);
  switch (op) {
    case Op::Block:
    case Op::Loop:
    case Op::If:
    case Op::Try:
    case Op::TryTable:
    case Op::Else:
    case Op::Catch:
    case Op::CatchAll:
    case Op::Delegate:
    case Op::End: return structured(in, op, *info);
    default: break;  // plain; the set of opcodes is open
  }
  out_.line();
  out_ << info->text;
  return immediates(in, *info);
}

void ModulePrinter::push_frame(Block kind, std::string_view name) {
  Frame frame{.kind = kind, .name = name};
  if (!name.empty()) {
    std::uint32_t& innermost = frame_of_name_[name];
    frame.shadowed = innermost;
    innermost = static_cast<std::uint32_t>(frames_.size()) + 1;
  }
  frames_.push_back(frame);
}

void ModulePrinter::pop_frame() {
  const Frame& frame = frames_.back();
  if (!frame.name.empty()) frame_of_name_[frame.name] = frame.shadowed;
  frames_.pop_back();
}

bool ModulePrinter::structured(ByteReader& in, Op op, const OpInfo& info) {
  const std::uint32_t at = in.offset();
  const Block inside = frames_.back().kind;
  const auto misplaced = [&] {
    return malformed(fmt::format("{} without the block that it belongs to", info.text), at);
  };
  const auto part = [&](Block kind) {
    frames_.back().kind = kind;
    out_.outdent();
    out_.line();
    out_ << info.text;
    const bool ok = immediates(in, info);
    out_.indent();
    return ok;
  };
  switch (op) {
    case Op::If: return open_block(in, Block::If, info);
    case Op::Try: return open_block(in, Block::Try, info);
    case Op::Else: return inside == Block::If ? part(Block::Else) : misplaced();
    case Op::Catch:
      return inside == Block::Try || inside == Block::Catch ? part(Block::Catch) : misplaced();
    case Op::CatchAll:
      return inside == Block::Try || inside == Block::Catch ? part(Block::CatchAll) : misplaced();
    case Op::Delegate:
      if (inside != Block::Try) return misplaced();
      // Its label does not count the block that it ends.
      pop_frame();
      out_.outdent();
      out_.line();
      out_ << info.text;
      return label(in);
    case Op::End: return close_block(info);
    default: return open_block(in, Block::Block, info);
  }
}

bool ModulePrinter::open_block(ByteReader& in, Block kind, const OpInfo& info) {
  const std::string_view name = in_function_ ? names_.label(next_label_) : std::string_view();
  ++next_label_;
  out_.line();
  out_ << info.text;
  if (!name.empty()) {
    out_ << ' ';
    out_.identifier(name);
  } else {
    // The number that branches to it have in a comment.
    out_ << " (;@";
    out_.decimal(frames_.size());
    out_ << ";)";
  }
  if (!block_type(in)) return false;
  if (info.imm == Imm::TryTable && !catch_clauses(in)) return false;
  push_frame(kind, name);
  out_.indent();
  return true;
}

bool ModulePrinter::close_block(const OpInfo& info) {
  const bool last = frames_.size() == 1;
  pop_frame();
  out_.outdent();
  if (last) return true;  // of the function or expression: not in the text
  out_.line();
  out_ << info.text;
  return true;
}

bool ModulePrinter::block_type(ByteReader& in) {
  constexpr std::uint8_t kEmpty = 0x40;
  const std::uint32_t at = in.offset();
  const std::uint8_t first = in.peek();
  if (first == kEmpty) return in.skip(1);
  if ((first & 0xc0) == 0x40) {
    out_ << " (result ";
    if (!val_type(in)) return false;
    out_ << ')';
    return true;
  }
  std::int64_t type = 0;
  if (!in.s33(type)) return fail_read(in);
  if (type < 0) return malformed("malformed block type", at);
  const auto index = static_cast<std::uint32_t>(type);
  out_ << " (type ";
  type_reference(index);
  out_ << ')';
  return signature(index, nullptr);
}

/// Their labels do not count the block itself.
bool ModulePrinter::catch_clauses(ByteReader& in) {
  std::uint32_t count = 0;
  if (!in.u32(count)) return fail_read(in);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t at = in.offset();
    std::uint8_t kind = 0;
    if (!in.u8(kind)) return fail_read(in);
    if (kind > 3) return malformed(fmt::format("malformed catch clause {}", kind), at);
    out_ << " (" << kCatchKinds[kind];
    if (kind < 2 && !index(in, names_.tags)) return false;
    if (!label(in)) return false;
    out_ << ')';
  }
  return true;
}

// ---- Immediates.

bool ModulePrinter::immediates(ByteReader& in, const OpInfo& info) {
  std::int32_t s32 = 0;
  std::int64_t s64 = 0;
  std::uint32_t bits32 = 0;
  std::uint64_t bits64 = 0;
  std::uint8_t byte = 0;
  const auto op = static_cast<Op>(op_number(info.prefix, info.code));
  switch (info.imm) {
    case Imm::None: return true;
    case Imm::Label: return label(in);
    case Imm::LabelTable: return label_table(in);
    case Imm::Func: return index(in, names_.functions);
    case Imm::CallIndirect: return call_indirect(in);
    case Imm::Type: return index(in, names_.types);
    case Imm::TypeField: return type_field(in);
    case Imm::TypeCount: return index(in, names_.types) && number(in);
    case Imm::TypeType: return index(in, names_.types) && index(in, names_.types);
    case Imm::TypeData:
      uses_data_index_ = true;
      return index(in, names_.types) && index(in, names_.data);
    case Imm::TypeElem: return index(in, names_.types) && index(in, names_.elements);
    case Imm::Local: return index(in, names_.locals);
    case Imm::Global: return index(in, names_.globals);
    case Imm::Table: return index_unless_zero(in, names_.tables);
    case Imm::TableTable: return two_indexes(in, names_.tables);
    case Imm::Memory: return index_unless_zero(in, names_.memories);
    case Imm::MemoryMemory: return two_indexes(in, names_.memories);
    case Imm::Data: uses_data_index_ = true; return index(in, names_.data);
    case Imm::DataMemory:
      uses_data_index_ = true;
      return segment_and_target(in, names_.data, names_.memories);
    case Imm::Elem: return index(in, names_.elements);
    case Imm::ElemTable: return segment_and_target(in, names_.elements, names_.tables);
    case Imm::Tag: return index(in, names_.tags);
    case Imm::HeapType:
      out_ << ' ';
      return op == Op::RefNull ? heap_type(in) : cast_type(in, is_cast_to_null(info));
    case Imm::SelectTypes: return select_types(in);
    case Imm::BrOnCast: return br_on_cast(in);
    case Imm::I32:
      if (!in.s32(s32)) return fail_read(in);
      out_ << ' ';
      out_.decimal_signed(s32);
      return true;
    case Imm::I64:
      if (!in.s64(s64)) return fail_read(in);
      out_ << ' ';
      out_.decimal_signed(s64);
      return true;
    case Imm::F32:
      if (!in.f32_bits(bits32)) return fail_read(in);
      out_ << ' ';
      out_.f32(bits32);
      return true;
    case Imm::F64:
      if (!in.f64_bits(bits64)) return fail_read(in);
      out_ << ' ';
      out_.f64(bits64);
      return true;
    case Imm::V128: return vector_constant(in);
    case Imm::Shuffle: return lanes(in, 16);
    case Imm::Lane: return lanes(in, 1);
    case Imm::Fence:
      if (!in.u8(byte)) return fail_read(in);
      return byte == 0 || malformed("zero byte expected", in.offset() - 1);
    case Imm::Mem1:
    case Imm::Mem2:
    case Imm::Mem4:
    case Imm::Mem8:
    case Imm::Mem16: return memory_argument(in, info.imm);
    case Imm::MemLane1:
    case Imm::MemLane2:
    case Imm::MemLane4:
    case Imm::MemLane8: return memory_argument(in, info.imm) && lanes(in, 1);
    case Imm::Block:
    case Imm::TryTable: break;  // structured instructions
  }
  return malformed(fmt::format("unexpected {}", info.text), in.offset());
}

bool ModulePrinter::index(ByteReader& in, const PrintedSpace& space) {
  std::uint32_t value = 0;
  if (!in.u32(value)) return fail_read(in);
  out_ << ' ';
  space.reference(out_, value);
  return true;
}

bool ModulePrinter::number(ByteReader& in) {
  std::uint32_t value = 0;
  if (!in.u32(value)) return fail_read(in);
  out_ << ' ';
  out_.decimal(value);
  return true;
}

/// The first table or memory is meant where none is named.
bool ModulePrinter::index_unless_zero(ByteReader& in, const PrintedSpace& space) {
  std::uint32_t value = 0;
  if (!in.u32(value)) return fail_read(in);
  if (value == 0) return true;
  out_ << ' ';
  space.reference(out_, value);
  return true;
}

bool ModulePrinter::two_indexes(ByteReader& in, const PrintedSpace& space) {
  std::uint32_t to = 0;
  std::uint32_t from = 0;
  if (!in.u32(to) || !in.u32(from)) return fail_read(in);
  if (to == 0 && from == 0) return true;
  out_ << ' ';
  space.reference(out_, to);
  out_ << ' ';
  space.reference(out_, from);
  return true;
}

/// The target comes first in the text.
bool ModulePrinter::segment_and_target(ByteReader& in, const PrintedSpace& segments,
                                       const PrintedSpace& targets) {
  std::uint32_t segment = 0;
  std::uint32_t target = 0;
  if (!in.u32(segment) || !in.u32(target)) return fail_read(in);
  out_ << ' ';
  if (target != 0) {
    targets.reference(out_, target);
    out_ << ' ';
  }
  segments.reference(out_, segment);
  return true;
}

bool ModulePrinter::label(ByteReader& in) {
  std::uint32_t depth = 0;
  if (!in.u32(depth)) return fail_read(in);
  out_ << ' ';
  if (depth >= frames_.size()) {
    out_.decimal(depth);
    return true;
  }
  const std::size_t position = frames_.size() - 1 - depth;
  const std::string_view name = frames_[position].name;
  // A name means the innermost block that has it.
  if (!name.empty() && frame_of_name_[name] == position + 1) {
    out_.identifier(name);
    return true;
  }
  out_.decimal(depth);
  if (position == 0) return true;
  out_ << " (;@";
  out_.decimal(position);
  out_ << ";)";
  return true;
}

bool ModulePrinter::label_table(ByteReader& in) {
  std::uint32_t count = 0;
  if (!in.u32(count)) return fail_read(in);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!label(in) || !check_size(in.offset())) return false;
  }
  return label(in);
}

bool ModulePrinter::call_indirect(ByteReader& in) {
  std::uint32_t type = 0;
  if (!in.u32(type) || !index_unless_zero(in, names_.tables)) return fail_read(in);
  out_ << " (type ";
  type_reference(type);
  out_ << ')';
  return true;
}

bool ModulePrinter::type_field(ByteReader& in) {
  std::uint32_t type = 0;
  std::uint32_t field = 0;
  if (!in.u32(type) || !in.u32(field)) return fail_read(in);
  out_ << ' ';
  type_reference(type);
  out_ << ' ';
  names_.field_reference(out_, type, field);
  return true;
}

bool ModulePrinter::select_types(ByteReader& in) {
  if (in.peek() != 0) return val_types(in, " (result");
  // An empty list is not the instruction without a list.
  out_ << " (result)";
  return in.skip(1);
}

bool ModulePrinter::br_on_cast(ByteReader& in) {
  const std::uint32_t at = in.offset();
  std::uint8_t flags = 0;
  if (!in.u8(flags)) return fail_read(in);
  if (flags > 3) return malformed(fmt::format("malformed br_on_cast flags {}", flags), at);
  if (!label(in)) return false;
  out_ << ' ';
  if (!cast_type(in, (flags & 1) != 0)) return false;
  out_ << ' ';
  return cast_type(in, (flags & 2) != 0);
}

bool ModulePrinter::memory_argument(ByteReader& in, Imm imm) {
  constexpr std::uint32_t kHasMemory = 0x40;
  const std::uint32_t at = in.offset();
  std::uint32_t flags = 0;
  std::uint32_t memory = 0;
  std::uint64_t offset = 0;
  if (!in.u32(flags)) return fail_read(in);
  if (flags >= 2 * kHasMemory) return malformed("malformed memop flags", at);
  if ((flags & kHasMemory) != 0 && !in.u32(memory)) return fail_read(in);
  if (!in.u64(offset)) return fail_read(in);
  if (memory != 0) {
    out_ << ' ';
    names_.memories.reference(out_, memory);
  }
  if (offset != 0) {
    out_ << " offset=";
    out_.decimal(offset);
  }
  const std::uint64_t align = std::uint64_t{1} << (flags & (kHasMemory - 1));
  if (align != access_bytes(imm)) {
    out_ << " align=";
    out_.decimal(align);
  }
  return true;
}

bool ModulePrinter::lanes(ByteReader& in, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    std::uint8_t lane = 0;
    if (!in.u8(lane)) return fail_read(in);
    out_ << ' ';
    out_.decimal(lane);
  }
  return true;
}

bool ModulePrinter::vector_constant(ByteReader& in) {
  out_ << " i32x4";
  for (int i = 0; i < 4; ++i) {
    std::uint32_t bits = 0;
    if (!in.f32_bits(bits)) return fail_read(in);
    out_ << ' ';
    out_.hex(bits, 8);
  }
  return true;
}

}  // namespace hoist::wasm
