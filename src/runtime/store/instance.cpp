// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/store/instance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "runtime/builtins/builtins.hpp"
#include "runtime/gc/reference_types.hpp"
#include "runtime/linker/import_check.hpp"
#include "runtime/objects/types.hpp"
#include "runtime/trap/trap_error.hpp"

namespace hoist::runtime {

using image::TrapCode;

Instance::Instance(Store& store, std::shared_ptr<const ModuleCode> code)
    : store_(store),
      code_(std::move(code)),
      plan_(code_->plan()),
      images_(code_->images(store.pool() != nullptr)) {}

Instance::~Instance() {
  if (pool_ != nullptr) {
    // Function references depend on the module and the block's place only: the next instance of
    // the module in this block uses them as they are.
    pool_->give_block(slot_, has_func_refs_ ? plan_.id() : 0,
                      static_cast<std::uint64_t>(code_->layout().func_ref(0)));
  } else {
    std::free(block_);
  }
}

Result<Instance*> Instance::instantiate(Store& store, std::shared_ptr<const ModuleCode> code,
                                        std::span<const Extern> imports,
                                        std::shared_ptr<void> embedder_module) {
  if (code->engine() != store.engine()) {
    return Error(ErrorKind::BadArgument, "the module is of another engine than the store");
  }
  HOIST_TRY_VOID(check_imports(store, *code, imports));
  HOIST_TRY_VOID(store.allow_instance());
  std::unique_ptr<Instance> made(new Instance(store, std::move(code)));
  made->embedder_module_ = std::move(embedder_module);
  HOIST_TRY_VOID(made->make_block());
  HOIST_TRY_VOID(made->make_objects(imports));
  HOIST_TRY_VOID(made->make_functions(imports));
  made->make_tags();
  made->write_pointers();
  made->make_globals();
  HOIST_TRY_VOID(made->fill_tables());
  // From here on it can be reached from elsewhere.
  Instance* instance = store.adopt(std::move(made));
  HOIST_TRY_VOID(instance->run_segments());
  HOIST_TRY_VOID(instance->run_start());
  return instance;
}

// ---- Making the index spaces.

Result<void> Instance::make_block() {
  const std::uint64_t size = code_->layout().size();
  if (Pool* pool = store_.pool()) {
    HOIST_TRY(const Pool::Block block, pool->take_block(plan_.id(), size));
    pool_ = pool;
    block_ = block.base;
    slot_ = block.slot;
    has_func_refs_ = block.same;
    return {};
  }
  block_ = static_cast<std::uint8_t*>(std::calloc(1, size));
  if (block_ == nullptr) {
    return Error(ErrorKind::OutOfMemory,
                 fmt::format("no memory for an instance of {} bytes", size));
  }
  return {};
}

Result<void> Instance::make_objects(std::span<const Extern> imports) {
  const wasm::Module& module = code_->module();
  own_globals_.reserve(module.globals.size() - module.num_imported_globals);
  for (std::size_t i = 0; i < imports.size(); ++i) {
    switch (module.imports[i].kind) {
      case wasm::ExternKind::Func: break;  // make_functions
      case wasm::ExternKind::Tag:
        tags_.push_back(static_cast<TagObject*>(imports[i].object));
        break;
      case wasm::ExternKind::Table:
        tables_.push_back(static_cast<TableObject*>(imports[i].object));
        break;
      case wasm::ExternKind::Memory:
        memories_.push_back(static_cast<LinearMemory*>(imports[i].object));
        break;
      case wasm::ExternKind::Global:
        globals_.push_back(static_cast<GlobalObject*>(imports[i].object));
        break;
    }
  }
  for (std::size_t i = tables_.size(); i < module.tables.size(); ++i) {
    wasm::TableType type = module.tables[i].type;
    type.element = code_->engine_type(type.element);
    HOIST_TRY(TableObject * table, store_.new_table(type, 0));
    tables_.push_back(table);
  }
  for (std::size_t i = memories_.size(); i < module.memories.size(); ++i) {
    HOIST_TRY(LinearMemory * memory, store_.new_memory(module.memories[i].type,
                                                       images_.of(static_cast<std::uint32_t>(i))));
    memories_.push_back(memory);
  }
  return {};
}

Result<void> Instance::make_functions(std::span<const Extern> imports) {
  const wasm::Module& module = code_->module();
  const auto is_host = [&](std::size_t i) {
    return module.imports[i].kind == wasm::ExternKind::Func &&
           host_context(*static_cast<image::VmFuncRef*>(imports[i].object)) != nullptr;
  };
  std::size_t num_hosts = 0;
  for (std::size_t i = 0; i < imports.size(); ++i) num_hosts += is_host(i) ? 1U : 0U;
  if (num_hosts != 0) host_contexts_.reset(new image::VmHostContext[num_hosts]);

  std::size_t next_host = 0;
  for (std::size_t i = 0; i < imports.size(); ++i) {
    if (module.imports[i].kind != wasm::ExternKind::Func) continue;
    const std::uint32_t func = module.imports[i].index;
    const auto& given = *static_cast<image::VmFuncRef*>(imports[i].object);
    auto& place = at<image::VmFuncImport>(code_->layout().func_import(func));
    if (is_host(i)) {
      image::VmHostContext& context = host_contexts_[next_host++];
      context = *host_context(given);
      context.caller = this;
      place.code = code_->exit_trampoline(func);
      place.ctx = &context;
      HOIST_CHECK(place.code != nullptr, "the image has exit trampolines for its imports");
    } else {
      place.code = given.code;
      place.ctx = given.ctx;
    }
  }
  make_func_refs(imports);
  return {};
}

void Instance::make_func_refs(std::span<const Extern> imports) {
  const std::vector<image::VmFuncRef>& planned = plan_.func_refs();
  if (planned.empty()) return;
  auto* refs = &at<image::VmFuncRef>(code_->layout().func_ref(0));
  if (!has_func_refs_) {
    for (std::size_t i = 0; i < planned.size(); ++i) {
      refs[i] = planned[i];
      refs[i].ctx = block_;
    }
    has_func_refs_ = true;
  }
  // Import numbers and function indexes run in step.
  std::size_t next = 0;
  std::uint32_t func_of_next = 0;
  for (const std::uint32_t func : plan_.imported_refs()) {
    const wasm::Module& module = code_->module();
    while (module.imports[next].kind != wasm::ExternKind::Func || func_of_next != func) {
      if (module.imports[next++].kind == wasm::ExternKind::Func) ++func_of_next;
    }
    image::VmFuncRef& ref = refs[code_->func_refs().number(func)];
    const auto& place = at<image::VmFuncImport>(code_->layout().func_import(func));
    // The type that it has, which may be below the one that it is imported with.
    const auto& given = *static_cast<const image::VmFuncRef*>(imports[next].object);
    ref.code = place.code;
    ref.ctx = place.ctx;
    ref.type_id = given.type_id;
    ref.supertypes = given.supertypes;
    ref.func_index = host_context(ref) != nullptr ? func : given.func_index;
  }
}

void Instance::write_pointers() {
  const wasm::Module& module = code_->module();
  const image::VmLayout& layout = code_->layout();
  auto& header = at<image::VmContextHeader>(0);
  header.magic = image::VmContextHeader::kMagic;
  header.store = &store_.context();
  header.builtins = builtin_table();
  header.instance = this;
  for (std::uint32_t i = 0; i < memories_.size(); ++i) {
    at<std::uint8_t*>(layout.memory_base(i)) = memories_[i]->base();
    at<image::VmMemory*>(layout.memory(i)) = memories_[i]->vm();
  }
  for (std::uint32_t i = 0; i < tables_.size(); ++i) {
    at<image::VmTable*>(layout.table(i)) = tables_[i]->vm();
  }
  for (std::uint32_t i = 0; i < module.num_imported_globals; ++i) {
    at<image::VmGlobal*>(layout.imported_global(i)) = globals_[i]->cell;
  }
  for (std::uint32_t i = 0; i < tags_.size(); ++i) {
    at<const TagObject*>(layout.tag(i)) = tags_[i];
  }
  if (!code_->type_ids().empty()) {
    std::memcpy(&at<std::uint32_t>(layout.type_id(0)), code_->type_ids().data(),
                code_->type_ids().size() * sizeof(std::uint32_t));
  }
}

void Instance::make_tags() {
  const std::vector<wasm::Tag>& tags = code_->module().tags;
  own_tags_.reserve(tags.size() - tags_.size());
  for (std::size_t i = tags_.size(); i < tags.size(); ++i) {
    own_tags_.push_back(
        {code_->type_id(tags[i].type_index), code_.get(), static_cast<std::uint32_t>(i)});
    tags_.push_back(&own_tags_.back());
  }
}

void Instance::make_globals() {
  const wasm::Module& module = code_->module();
  for (const InstancePlan::Global& global : plan_.globals()) {
    const std::uint32_t own = global.index - module.num_imported_globals;
    auto& cell = at<image::VmGlobal>(code_->layout().global(own));
    wasm::GlobalType type = module.globals[global.index].type;
    if (type.type.is_vec()) {
      cell = evaluate_vector(module.globals[global.index].init);
    } else {
      cell.bits[0] = global.is_constant ? global.bits : evaluate(module.globals[global.index].init);
    }
    type.type = code_->engine_type(type.type);
    own_globals_.push_back({&cell, type});
    globals_.push_back(&own_globals_.back());
  }
}

/// The elements that tables with an initialiser begin with; other tables have nulls.
Result<void> Instance::fill_tables() {
  const wasm::Module& module = code_->module();
  for (std::size_t i = module.num_imported_tables; i < tables_.size(); ++i) {
    if (!module.tables[i].has_init) continue;
    const std::uint64_t init = evaluate(module.tables[i].init);
    if (init == 0) continue;
    // A few bytes of a module can be a table of the limit's size, and there can be many.
    HOIST_TRY_VOID(store_.check_interrupted());
    std::fill_n(tables_[i]->elements(), tables_[i]->size(), init);
  }
  return {};
}

void Instance::mark_globals(Heap::Marker& marker) const {
  for (const GlobalObject& global : own_globals_) {
    if (is_collected(global.type.type)) marker.mark(global.cell->bits[0]);
  }
}

image::VmFuncRef* Instance::func_ref(std::uint32_t func) const {
  const std::uint32_t number = code_->func_refs().number(func);
  HOIST_CHECK(number != image::FuncRefNumbers::kNone, "a function that escapes");
  return &at<image::VmFuncRef>(code_->layout().func_ref(number));
}

// ---- Constant expressions.

/// Most have one instruction. Source: core specification, section 3.4.7.
std::uint64_t Instance::evaluate(wasm::ConstExpr expr) const {
  const std::span<const wasm::ConstOp> ops = code_->module().const_ops(expr);
  std::vector<std::uint64_t> stack;
  const auto pop = [&] {
    const std::uint64_t top = stack.back();
    stack.pop_back();
    return top;
  };
  const auto value_of = [&](const wasm::ConstOp& op) -> std::uint64_t {
    if (op.op == wasm::Op::RefFunc) {
      return reinterpret_cast<std::uintptr_t>(func_ref(static_cast<std::uint32_t>(op.operand)));
    }
    if (op.op == wasm::Op::RefNull) return 0;
    if (op.op == wasm::Op::GlobalGet) return globals_[op.operand]->cell->bits[0];
    if (op.op == wasm::Op::I32Const || op.op == wasm::Op::F32Const) {
      return static_cast<std::uint32_t>(op.operand);
    }
    return op.operand;
  };
  if (ops.size() == 1) return value_of(ops[0]);
  for (const wasm::ConstOp& op : ops) {
    const bool is_i32 =
        op.op == wasm::Op::I32Add || op.op == wasm::Op::I32Sub || op.op == wasm::Op::I32Mul;
    if (op.op == wasm::Op::I32Add || op.op == wasm::Op::I64Add) {
      const std::uint64_t right = pop();
      stack.back() += right;
    } else if (op.op == wasm::Op::I32Sub || op.op == wasm::Op::I64Sub) {
      const std::uint64_t right = pop();
      stack.back() -= right;
    } else if (op.op == wasm::Op::I32Mul || op.op == wasm::Op::I64Mul) {
      const std::uint64_t right = pop();
      stack.back() *= right;
    } else {
      stack.push_back(value_of(op));
    }
    if (is_i32) stack.back() = static_cast<std::uint32_t>(stack.back());
  }
  HOIST_CHECK(stack.size() == 1, "a constant expression is valid");
  return stack.back();
}

/// A v128 has no operators in constant expressions: it is a constant or another global.
image::VmGlobal Instance::evaluate_vector(wasm::ConstExpr expr) const {
  const std::span<const wasm::ConstOp> ops = code_->module().const_ops(expr);
  HOIST_CHECK(ops.size() == 1, "a constant expression is valid");
  if (ops[0].op == wasm::Op::GlobalGet) return *globals_[ops[0].operand]->cell;
  image::VmGlobal out;
  std::memcpy(out.bits, code_->module().vectors[ops[0].operand].data(), sizeof(out.bits));
  return out;
}

// ---- Segments.

std::uint64_t Instance::element(const wasm::ElemSegment& segment, std::uint64_t item) const {
  const wasm::ElemItem& place = segment.items[item];
  switch (place.kind) {
    case wasm::ElemItem::Kind::Null: return 0;
    case wasm::ElemItem::Kind::Func: return reinterpret_cast<std::uintptr_t>(func_ref(place.index));
    // Only immutable globals may be read: the value is the same at any time.
    case wasm::ElemItem::Kind::Expr: return evaluate(segment.exprs[place.index]);
  }
  HOIST_UNREACHABLE("an ElemItem");
}

bool Instance::init_table(std::uint32_t table, std::uint32_t segment, std::uint64_t to,
                          std::uint64_t from, std::uint64_t length) {
  const wasm::ElemSegment& source = code_->module().elements[segment];
  TableObject& target = *tables_[table];
  const std::uint64_t size = dropped_elems_.contains(segment) ? 0 : source.items.size();
  if (from > size || length > size - from || !target.in_bounds(to, length)) return false;
  std::uint64_t* out = target.elements() + to;
  if (const std::vector<std::int32_t>& offsets = plan_.elements(segment); !offsets.empty()) {
    const auto base = reinterpret_cast<std::uintptr_t>(block_);
    for (std::uint64_t i = 0; i < length; ++i) {
      const auto offset = static_cast<std::uint64_t>(offsets[from + i]);
      out[i] = offset == 0 ? 0 : base + offset;
    }
  } else {
    for (std::uint64_t i = 0; i < length; ++i) out[i] = element(source, from + i);
  }
  return true;
}

bool Instance::init_memory(std::uint32_t memory, std::uint32_t segment, std::uint64_t to,
                           std::uint64_t from, std::uint64_t length) {
  const wasm::DataSegment& source = code_->module().data[segment];
  LinearMemory& target = *memories_[memory];
  const std::uint64_t size = dropped_data_.contains(segment) ? 0 : source.bytes.size;
  if (from > size || length > size - from || !target.in_bounds(to, length)) return false;
  if (length != 0) {
    std::memcpy(target.base() + to, code_->module().bytes_of(source.bytes).data() + from, length);
  }
  return true;
}

/// Images already hold data segments, which come after all element segments: if one of those does
/// not fit, functions that got into an imported table must find zeros.
Result<void> Instance::run_segments() {
  if (Result<void> done = run_element_segments(); !done) {
    for (std::uint32_t i = 0; i < memories_.size(); ++i) {
      if (const auto image = images_.of(i)) memories_[i]->clear_image(*image);
    }
    return done;
  }
  return run_data_segments();
}

Result<void> Instance::run_element_segments() {
  const wasm::Module& module = code_->module();
  for (std::uint32_t i = 0; i < module.elements.size(); ++i) {
    const wasm::ElemSegment& segment = module.elements[i];
    if (segment.mode == wasm::SegmentMode::Active) {
      const std::uint64_t to = evaluate(segment.place);
      if (!init_table(segment.table, i, to, 0, segment.items.size())) {
        return trap_error(
            TrapCode::TableOutOfBounds,
            fmt::format("element segment {} ({} elements at {}) does not fit table {} of "
                        "{} elements",
                        i, segment.items.size(), to, segment.table,
                        tables_[segment.table]->size()));
      }
    }
    if (segment.mode != wasm::SegmentMode::Passive) drop_elem(i);
  }
  return {};
}

Result<void> Instance::run_data_segments() {
  const wasm::Module& module = code_->module();
  if (images_.segments() == module.data.size()) {
    dropped_data_ = plan_.dropped_data();
    return {};
  }
  for (std::uint32_t i = 0; i < images_.segments(); ++i) {
    if (plan_.dropped_data().contains(i)) drop_data(i);
  }
  for (std::uint32_t i = images_.segments(); i < module.data.size(); ++i) {
    const wasm::DataSegment& segment = module.data[i];
    if (segment.mode != wasm::SegmentMode::Active) continue;
    const std::uint64_t to = evaluate(segment.place);
    if (!init_memory(segment.memory, i, to, 0, segment.bytes.size)) {
      return trap_error(TrapCode::HeapOutOfBounds,
                        fmt::format("data segment {} ({} bytes at {}) does not fit memory {} of {} "
                                    "bytes",
                                    i, segment.bytes.size, to, segment.memory,
                                    memories_[segment.memory]->bytes()));
    }
    drop_data(i);
  }
  return {};
}

Result<void> Instance::run_start() {
  const wasm::Module& module = code_->module();
  if (!module.start) return {};
  image::VmFuncRef start;
  start.entry = code_->entry_trampoline(*module.start);
  if (module.is_imported_function(*module.start)) {
    const auto& place = at<image::VmFuncImport>(code_->layout().func_import(*module.start));
    start.code = place.code;
    start.ctx = place.ctx;
  } else {
    start.code = code_->function_code(*module.start);
    start.ctx = block_;
  }
  image::VmGlobal no_values;
  if (!store_.call(start, &no_values)) return store_.take_error();
  return {};
}

// ---- Exports.

Extern Instance::export_at(const wasm::Export& item) {
  switch (item.kind) {
    case wasm::ExternKind::Func: return {item.kind, func_ref(item.index)};
    case wasm::ExternKind::Table: return {item.kind, tables_[item.index]};
    case wasm::ExternKind::Memory: return {item.kind, memories_[item.index]};
    case wasm::ExternKind::Global: return {item.kind, globals_[item.index]};
    case wasm::ExternKind::Tag: return {item.kind, tags_[item.index]};
  }
  HOIST_UNREACHABLE("an ExternKind");
}

Extern Instance::find_export(std::string_view name) {
  const wasm::Export* item = code_->find_export(name);
  return item == nullptr ? Extern{} : export_at(*item);
}

hoist::ExternType extern_type(Store& store, const Extern& item) {
  hoist::ExternType out;
  out.kind = to_public(item.kind);
  switch (item.kind) {
    case wasm::ExternKind::Func: {
      const auto& ref = *static_cast<const image::VmFuncRef*>(item.object);
      out.func = to_public(store.engine()->types().get(ref.type_id));
      break;
    }
    case wasm::ExternKind::Table: {
      const auto& table = *static_cast<const TableObject*>(item.object);
      out.table = to_public(table.type());
      out.table.minimum = table.size();
      break;
    }
    case wasm::ExternKind::Memory: {
      const auto& memory = *static_cast<const LinearMemory*>(item.object);
      out.memory = to_public(memory.type());
      out.memory.minimum = memory.pages();
      break;
    }
    case wasm::ExternKind::Global:
      out.global = to_public(static_cast<const GlobalObject*>(item.object)->type);
      break;
    case wasm::ExternKind::Tag: {
      const auto& tag = *static_cast<const TagObject*>(item.object);
      out.tag = to_public(store.engine()->types().get(tag.type_id));
      break;
    }
  }
  return out;
}

}  // namespace hoist::runtime
