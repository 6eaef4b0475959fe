// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/memory/instance_plan.hpp"

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "runtime/engine/module_code.hpp"

namespace hoist::runtime {

InstancePlan::InstancePlan(const ModuleCode& code) : id_(next_memory_id()) {
  const wasm::Module& module = code.module();
  plan_functions(code);
  plan_globals(module);
  plan_elements(code);
  plan_data(module);
}

void InstancePlan::plan_functions(const ModuleCode& code) {
  const wasm::Module& module = code.module();
  func_refs_.resize(code.func_refs().count());
  // The trampoline of a type is looked up once.
  std::vector<const void*> entries(module.types.size(), nullptr);
  for (std::uint32_t func = 0; func < module.num_functions(); ++func) {
    const std::uint32_t number = code.func_refs().number(func);
    if (number == image::FuncRefNumbers::kNone) continue;
    const void*& entry = entries[module.canonical_type(module.functions[func].type_index)];
    if (entry == nullptr) entry = code.entry_trampoline(func);
    image::VmFuncRef& ref = func_refs_[number];
    ref.type_id = code.function_type_id(func);
    ref.supertypes = code.engine()->types().supertypes(ref.type_id);
    ref.func_index = func;
    ref.entry = entry;
    if (module.is_imported_function(func)) {
      imported_refs_.push_back(func);
    } else {
      ref.code = code.function_code(func);
    }
    HOIST_CHECK(ref.entry != nullptr && (ref.code != nullptr || module.is_imported_function(func)),
                "the image has the code and entry trampolines of escaping functions");
  }
}

/// The value, if the expression is one constant.
static std::optional<std::uint64_t> constant_of(const wasm::Module& module, wasm::ConstExpr expr) {
  const std::span<const wasm::ConstOp> ops = module.const_ops(expr);
  if (ops.size() != 1) return std::nullopt;
  const wasm::ConstOp& op = ops[0];
  if (op.op == wasm::Op::I32Const || op.op == wasm::Op::F32Const) {
    return static_cast<std::uint32_t>(op.operand);
  }
  if (op.op == wasm::Op::I64Const || op.op == wasm::Op::F64Const) return op.operand;
  if (op.op == wasm::Op::RefNull) return 0;
  return std::nullopt;
}

void InstancePlan::plan_globals(const wasm::Module& module) {
  globals_.reserve(module.globals.size() - module.num_imported_globals);
  for (std::uint32_t i = module.num_imported_globals; i < module.globals.size(); ++i) {
    const auto value = constant_of(module, module.globals[i].init);
    globals_.push_back({i, value.value_or(0), value.has_value()});
  }
}

void InstancePlan::plan_elements(const ModuleCode& code) {
  const wasm::Module& module = code.module();
  elements_.resize(module.elements.size());
  for (std::uint32_t i = 0; i < module.elements.size(); ++i) {
    const wasm::ElemSegment& segment = module.elements[i];
    if (segment.mode != wasm::SegmentMode::Passive) dropped_elements_.insert(i);
    if (!segment.exprs.empty() || segment.mode == wasm::SegmentMode::Declarative) continue;
    elements_[i].reserve(segment.items.size());
    for (const wasm::ElemItem& item : segment.items) {
      const bool is_null = item.kind == wasm::ElemItem::Kind::Null;
      elements_[i].push_back(is_null ? 0
                                     : code.layout().func_ref(code.func_refs().number(item.index)));
    }
  }
}

void InstancePlan::plan_data(const wasm::Module& module) {
  for (std::uint32_t i = 0; i < module.data.size(); ++i) {
    if (module.data[i].mode != wasm::SegmentMode::Active) continue;
    dropped_data_.insert(i);
    data_bytes_ += module.data[i].bytes.size;
  }
}

/// Images hold the segments before the first that cannot be in one: later ones may overlap it.
MemoryImages::MemoryImages(const wasm::Module& module) {
  std::vector<std::vector<MemoryImage::Piece>> pieces(module.memories.size());
  std::uint32_t next = 0;
  for (; next < module.data.size(); ++next) {
    const wasm::DataSegment& segment = module.data[next];
    if (segment.mode != wasm::SegmentMode::Active) continue;
    const wasm::MemoryType& memory = module.memories[segment.memory].type;
    const auto place = constant_of(module, segment.place);
    if (!place || segment.memory < module.num_imported_memories) break;
    // What no process can have is refused later.
    if (memory.limits.min > image::kMostMemoryBytes >> memory.page_size_log2) break;
    const std::uint64_t size = memory.limits.min << memory.page_size_log2;
    if (segment.bytes.size > size || *place > size - segment.bytes.size) break;
    pieces[segment.memory].push_back({*place, module.bytes_of(segment.bytes)});
  }
  std::vector<std::shared_ptr<const MemoryImage>> images(module.memories.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    images[i] = MemoryImage::build(pieces[i]);
    const bool has_data = std::any_of(pieces[i].begin(), pieces[i].end(),
                                      [](const auto& piece) { return !piece.bytes.empty(); });
    if (has_data && images[i] == nullptr) return;
  }
  images_ = std::move(images);
  segments_ = next;
}

}  // namespace hoist::runtime
