// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// Instance: a module's state in a store: the block that compiled code works on, and the objects
/// behind its index spaces. Lives until its store ends, also when instantiation fails after its
/// functions may have been put into an imported table.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/containers/bit_set.hpp"
#include "runtime/engine/module_code.hpp"
#include "runtime/store/store.hpp"

namespace hoist::runtime {

/// Something to import or export. `object`: image::VmFuncRef, LinearMemory, TableObject or
/// GlobalObject, TagObject.
struct Extern {
  wasm::ExternKind kind = wasm::ExternKind::Func;
  void* object = nullptr;
};

class Instance {
 public:
  /// @param imports  of this store; one for each import of the module, in order.
  /// @error Link: number or type of the imports; nothing has happened. Trap: a segment did not fit,
  /// or
  ///        the start function. Limit, OutOfMemory. Others: the start function's.
  /// @source core specification, section 4.5.4.
  static Result<Instance*> instantiate(Store& store, std::shared_ptr<const ModuleCode> code,
                                       std::span<const Extern> imports,
                                       std::shared_ptr<void> embedder_module = nullptr);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  Store& store() const { return store_; }
  const ModuleCode& code() const { return *code_; }
  /// What the layer above keeps with the instance: its module.
  const std::shared_ptr<void>& embedder_module() const { return embedder_module_; }

  LinearMemory& memory(std::uint32_t index) const { return *memories_[index]; }
  TableObject& table(std::uint32_t index) const { return *tables_[index]; }
  GlobalObject& global(std::uint32_t index) { return *globals_[index]; }
  const TagObject* tag(std::uint32_t index) const { return tags_[index]; }
  /// A function that escapes (every exported one does).
  image::VmFuncRef* func_ref(std::uint32_t func) const;
  /// Null kind-and-object pair where there is no such export.
  Extern find_export(std::string_view name);
  Extern export_at(const wasm::Export& item);

  /// The references in the globals that the module defines.
  void mark_globals(Heap::Marker& marker) const;

  // ---- Segments: false if out of bounds, and then nothing was written.
  bool init_memory(std::uint32_t memory, std::uint32_t segment, std::uint64_t to,
                   std::uint64_t from, std::uint64_t length);
  bool init_table(std::uint32_t table, std::uint32_t segment, std::uint64_t to, std::uint64_t from,
                  std::uint64_t length);
  void drop_data(std::uint32_t segment) { dropped_data_.insert(segment); }
  void drop_elem(std::uint32_t segment) { dropped_elems_.insert(segment); }

 private:
  Instance(Store& store, std::shared_ptr<const ModuleCode> code);
  Result<void> make_block();
  Result<void> make_objects(std::span<const Extern> imports);
  Result<void> make_functions(std::span<const Extern> imports);
  void make_func_refs(std::span<const Extern> imports);
  void write_pointers();
  void make_globals();
  Result<void> fill_tables();
  void make_tags();
  Result<void> run_segments();
  Result<void> run_element_segments();
  Result<void> run_data_segments();
  Result<void> run_start();
  std::uint64_t evaluate(wasm::ConstExpr expr) const;
  image::VmGlobal evaluate_vector(wasm::ConstExpr expr) const;
  std::uint64_t element(const wasm::ElemSegment& segment, std::uint64_t item) const;

  template <typename T>
  T& at(std::int32_t offset) const {
    return *reinterpret_cast<T*>(block_ + offset);
  }
  Store& store_;
  std::shared_ptr<const ModuleCode> code_;
  std::shared_ptr<void> embedder_module_;
  const InstancePlan& plan_;
  const MemoryImages& images_;
  std::uint8_t* block_ = nullptr;  // as code_->layout() says; zeros at first
  Pool* pool_ = nullptr;           // if not null, the block is that of `slot_`
  std::uint32_t slot_ = 0;
  bool has_func_refs_ = false;  // those of defined functions are in the block
  std::vector<LinearMemory*> memories_;
  std::vector<TableObject*> tables_;
  std::vector<GlobalObject*> globals_;
  std::vector<GlobalObject> own_globals_;
  std::vector<TagObject*> tags_;
  std::vector<TagObject> own_tags_;
  std::unique_ptr<image::VmHostContext[]> host_contexts_;  // one per imported host function
  base::BitSet dropped_data_;
  base::BitSet dropped_elems_;
};

/// Type of something of a store, with its present size as minimum.
hoist::ExternType extern_type(Store& store, const Extern& item);

}  // namespace hoist::runtime
