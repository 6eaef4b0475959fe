// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element and data segments, and the constant expressions of segments and globals.
#include <fmt/core.h>

#include <algorithm>

#include "wasm/decode/immediates.hpp"
#include "wasm/decode/module_decoder.hpp"
#include "wasm/decode/type_reader.hpp"
#include "wasm/format/limits.hpp"

namespace hoist::wasm {

// ---- Element segments

bool ModuleDecoder::elem_section(ByteReader& in) {
  std::uint32_t segments = 0;
  if (!count(in, 0, kMaxElemSegments, "element segments", segments)) return false;
  for (std::uint32_t i = 0; i < segments; ++i) {
    ElemSegment segment;
    if (!elem_segment(in, segment)) return false;
    module_.elements.push_back(std::move(segment));
  }
  return true;
}

bool ModuleDecoder::elem_segment(ByteReader& in, ElemSegment& out) {
  enum Flag : std::uint32_t { kNotActive = 1, kTableOrDeclared = 2, kExprs = 4, kAll = 7 };
  out.offset = in.offset();
  std::uint32_t flags = 0;
  if (!in.u32(flags)) return fail_read(in);
  if (flags > kAll) {
    return malformed(fmt::format("malformed elements segment kind {}", flags), out.offset);
  }
  const bool active = (flags & kNotActive) == 0;
  // Either feature brought the other forms of active segments.
  if (flags != 0 && !(active && module_.features.has(Feature::ReferenceTypes))) {
    need(Feature::BulkMemory, "element segment of a later kind", out.offset);
  }
  const bool has_table = active && (flags & kTableOrDeclared) != 0;
  if (active) {
    out.mode = SegmentMode::Active;
  } else {
    out.mode = (flags & kTableOrDeclared) != 0 ? SegmentMode::Declarative : SegmentMode::Passive;
  }
  if (has_table && !in.u32(out.table)) return fail_read(in);
  if (active && !const_expr(in, out.place)) return false;
  // The short forms leave the type out.
  const bool has_type = !active || has_table;
  if ((flags & kExprs) != 0) return (!has_type || ref_type(in, out.type)) && elem_exprs(in, out);
  // Functions are never null.
  out.type = ValType::ref(HeapType(HeapType::Func), false);
  if (has_type) {
    const std::uint32_t at = in.offset();
    std::uint8_t kind = 0;
    if (!in.u8(kind)) return fail_read(in);
    if (kind != 0) return malformed(fmt::format("malformed element kind {}, not 0", kind), at);
  }
  return elem_functions(in, out);
}

bool ModuleDecoder::elem_functions(ByteReader& in, ElemSegment& out) {
  out.items_offset = in.offset();
  std::uint32_t items = 0;
  if (!count(in, 0, kMaxElemItems, "elements of a segment", items)) return false;
  out.items.resize(items);
  for (ElemItem& item : out.items) {
    item.kind = ElemItem::Kind::Func;
    if (!in.u32(item.index)) return fail_read(in);
  }
  return true;
}

/// Whether any function may be an item of a segment of that type.
static bool is_func_item_type(ValType type) {
  return type.is_ref() && type.heap() == HeapType(HeapType::Func);
}

bool ModuleDecoder::elem_exprs(ByteReader& in, ElemSegment& out) {
  out.items_offset = in.offset();
  std::uint32_t items = 0;
  if (!count(in, 0, kMaxElemItems, "elements of a segment", items)) return false;
  reserve(out.items, items, 1, in);
  for (std::uint32_t i = 0; i < items; ++i) {
    ConstExpr expr;
    if (!const_expr(in, expr)) return false;
    const ConstOp first = expr.count == 1 ? module_.const_pool.back() : ConstOp{};
    // The two forms that segments consist of, if their type is right, need no expression.
    const bool is_func = first.op == Op::RefFunc && is_func_item_type(out.type);
    const bool is_null = first.op == Op::RefNull && first.operand == out.type.bits();
    if (is_func) {
      out.items.push_back({static_cast<std::uint32_t>(first.operand), ElemItem::Kind::Func});
    } else if (is_null) {
      out.items.push_back({0, ElemItem::Kind::Null});
    } else {
      out.items.push_back({static_cast<std::uint32_t>(out.exprs.size()), ElemItem::Kind::Expr});
      out.exprs.push_back(expr);
    }
    if (is_func || is_null) module_.const_pool.pop_back();
  }
  return true;
}

// ---- Data segments

bool ModuleDecoder::data_section(ByteReader& in) {
  std::uint32_t segments = 0;
  if (!count(in, 0, kMaxDataSegments, "data segments", segments)) return false;
  reserve(module_.data, segments, 2, in);
  for (std::uint32_t i = 0; i < segments; ++i) {
    DataSegment segment;
    if (!data_segment(in, segment)) return false;
    module_.data.push_back(segment);
  }
  return true;
}

bool ModuleDecoder::data_segment(ByteReader& in, DataSegment& out) {
  enum Form : std::uint32_t { kActive = 0, kPassive = 1, kActiveWithMemory = 2 };
  out.offset = in.offset();
  std::uint32_t form = 0;
  if (!in.u32(form)) return fail_read(in);
  if (form > kActiveWithMemory) {
    return malformed(fmt::format("malformed data segment kind {}", form), out.offset);
  }
  if (form == kPassive) need(Feature::BulkMemory, "passive data segment", out.offset);
  if (form != kPassive) {
    out.mode = SegmentMode::Active;
    if (form == kActiveWithMemory && !in.u32(out.memory)) return fail_read(in);
    if (!const_expr(in, out.place)) return false;
  }
  const std::uint32_t at = in.offset();
  if (!in.u32(out.bytes.size)) return fail_read(in);
  if (out.bytes.size > in.remaining()) {
    return malformed(fmt::format("unexpected end of section or function: a data segment claims {} "
                                 "bytes, {} are left",
                                 out.bytes.size, in.remaining()),
                     at);
  }
  out.bytes.offset = in.offset();
  return in.skip(out.bytes.size) || fail_read(in);
}

// ---- Constant expressions

/// Reads any expression up to its end; `validate_module` says whether it is constant. After an
/// instruction that is not, no more are kept.
bool ModuleDecoder::const_expr(ByteReader& in, ConstExpr& out) {
  out = {static_cast<std::uint32_t>(module_.const_pool.size()), 0, in.offset()};
  std::uint32_t depth = 0;
  bool keep = true;
  for (;;) {
    ConstOp op;
    bool constant = true;
    if (!const_instruction(in, op, constant)) return false;
    const Group group = op_info(op.op).group;
    if (group == Group::End) {
      if (depth == 0) return true;
      --depth;
    }
    if (op_info(op.op).imm == Imm::Block || op_info(op.op).imm == Imm::TryTable) ++depth;
    if (group == Group::Else && depth == 0) {
      return malformed("unexpected else in a constant expression", op.offset);
    }
    if (keep) {
      module_.const_pool.push_back(op);
      ++out.count;
    }
    keep = keep && constant;
  }
}

bool ModuleDecoder::const_instruction(ByteReader& in, ConstOp& out, bool& constant) {
  out.offset = in.offset();
  std::uint16_t number = 0;
  if (!read_opcode(in, number)) return fail_read(in);
  const OpInfo& info = op_info_at(number);
  out.op = static_cast<Op>(number);
  if (info.group == Group::Illegal) {
    const std::uint8_t first = module_.bytes.span()[out.offset];
    return malformed(fmt::format("illegal opcode {:02x}", first), out.offset);
  }
  if (!module_.features.has(info.feature)) need(info.feature, info.text, out.offset);
  if (is_const_arithmetic(out.op) && !module_.features.has(Feature::ExtendedConst)) {
    need(Feature::ExtendedConst, info.text, out.offset);
  }
  std::int32_t s32 = 0;
  std::int64_t s64 = 0;
  std::uint32_t u32 = 0;
  if (out.op == Op::I32Const) {
    if (!in.s32(s32)) return fail_read(in);
    out.operand = static_cast<std::uint32_t>(s32);
  } else if (out.op == Op::I64Const) {
    if (!in.s64(s64)) return fail_read(in);
    out.operand = static_cast<std::uint64_t>(s64);
  } else if (out.op == Op::F32Const) {
    if (!in.f32_bits(u32)) return fail_read(in);
    out.operand = u32;
  } else if (out.op == Op::F64Const) {
    if (!in.f64_bits(out.operand)) return fail_read(in);
  } else if (out.op == Op::RefFunc || out.op == Op::GlobalGet) {
    if (!in.u32(u32)) return fail_read(in);
    out.operand = u32;
  } else if (out.op == Op::RefNull) {
    HeapType heap(HeapType::Func);
    Feature needs = Feature::Core;
    switch (read_heap_type(in, heap, needs)) {
      case TypeRead::Ok: break;
      case TypeRead::ReadFault: return fail_read(in);
      case TypeRead::NotAType: return malformed("malformed heap type", out.offset + 1);
    }
    ValType type = ValType::ref(heap, true);
    if (!module_.features.has(needs)) need(needs, "ref.null of " + to_string(type), out.offset);
    resolve(type, out.offset);
    out.operand = type.bits();
  } else if (out.op == Op::V128Const) {
    std::array<std::uint8_t, 16>& bytes = module_.vectors.emplace_back();
    const std::uint32_t at = in.offset();
    if (!in.skip(bytes.size())) return fail_read(in);
    std::ranges::copy(module_.bytes.span().subspan(at, bytes.size()), bytes.begin());
    out.operand = module_.vectors.size() - 1;
  } else if (is_const_heap(out.op)) {
    if (info.imm != Imm::None && !in.u32(u32)) return fail_read(in);
    out.operand = u32;
    if (info.imm == Imm::TypeCount) {
      if (!in.u32(u32)) return fail_read(in);
      out.operand |= std::uint64_t{u32} << 32;
    }
  } else {
    constant = is_const_arithmetic(out.op);
    switch (skip_immediates(in, info.imm)) {
      case SkipResult::Ok: break;
      case SkipResult::ReadFault: return fail_read(in);
      case SkipResult::Malformed:
        return malformed(fmt::format("malformed immediate of {}", info.text), out.offset);
    }
  }
  return true;
}

}  // namespace hoist::wasm
