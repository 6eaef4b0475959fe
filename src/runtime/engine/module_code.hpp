// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// ModuleCode: a compiled module that can be instantiated: declarations, code, and the numbers that
/// instances are laid out by. Immutable and shared between threads.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "image/layout/instance_layout.hpp"
#include "jit/loaded_image.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/engine/line_source.hpp"
#include "runtime/engine/symbol_names.hpp"
#include "runtime/memory/instance_plan.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

class ModuleCode {
 public:
  /// `image` is what the engine's compiler made of `module`. Tells the engine's listener.
  /// Errors as LoadedImage::load.
  static Result<std::shared_ptr<const ModuleCode>> load(std::shared_ptr<Engine> engine,
                                                        wasm::Module module, image::Image image);
  ~ModuleCode();
  ModuleCode(const ModuleCode&) = delete;
  ModuleCode& operator=(const ModuleCode&) = delete;

  const std::shared_ptr<Engine>& engine() const { return engine_; }
  const wasm::Module& module() const { return module_; }
  const image::VmLayout& layout() const { return layout_; }
  const image::FuncRefNumbers& func_refs() const { return func_refs_; }
  const jit::LoadedImage& code() const { return *code_; }
  /// Engine-wide number of a type of the module.
  std::uint32_t type_id(std::uint32_t type_index) const { return type_ids_[type_index]; }
  const std::vector<std::uint32_t>& type_ids() const { return type_ids_; }
  std::uint32_t function_type_id(std::uint32_t func) const {
    return type_ids_[module_.functions[func].type_index];
  }
  /// A value type of the module with engine-wide numbers.
  wasm::ValType engine_type(wasm::ValType type) const {
    return TypeRegistry::translate(type, type_ids_);
  }
  /// Null if the image does not have it.
  const void* function_code(std::uint32_t func) const;
  const void* entry_trampoline(std::uint32_t func) const;
  const void* exit_trampoline(std::uint32_t func) const;
  const void* exit_trampoline_of_type(std::uint32_t type_id) const;

  /// What its instances have in common, worked out on first use.
  const InstancePlan& plan() const;
  /// The images that an instance is to use; made when they pay: not for the only instance of a
  /// module, nor for little data, unless it is `pooled`.
  const MemoryImages& images(bool pooled) const;

  const wasm::Export* find_export(std::string_view name) const;
  /// Read on first use.
  const SymbolNames& names() const;
  /// Which source lines offsets of the module come from. Read on first use.
  const wasm::LineTable& lines() const { return lines_->table(); }
  const wasm::InlinedCalls& inlined_calls() const { return lines_->inlined_calls(); }
  const std::shared_ptr<hoist::detail::LineSource>& line_source() const { return lines_; }

 private:
  ModuleCode(std::shared_ptr<Engine> engine, wasm::Module module);
  void sort_exports();

  std::shared_ptr<Engine> engine_;
  wasm::Module module_;
  image::FuncRefNumbers func_refs_;
  image::VmLayout layout_;
  std::vector<std::uint32_t> type_ids_;
  std::vector<std::uint32_t> exports_by_name_;
  CodeOwner owner_;
  std::unique_ptr<jit::LoadedImage> code_;
  mutable std::once_flag plan_once_;
  mutable std::unique_ptr<const InstancePlan> plan_;
  mutable std::atomic<bool> instantiated_{false};
  mutable std::once_flag images_once_;
  mutable std::unique_ptr<const MemoryImages> images_;
  const MemoryImages no_images_;
  mutable std::once_flag names_once_;
  mutable std::unique_ptr<const SymbolNames> names_;
  std::shared_ptr<hoist::detail::LineSource> lines_;
};

/// "fib" or "func[3]".
std::string display_name(const ModuleCode& code, std::uint32_t func);

}  // namespace hoist::runtime
