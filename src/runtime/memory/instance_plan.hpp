// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// InstancePlan: what instances of a module have in common, worked out once: function references,
/// values of globals, elements, and memory images. Immutable; any thread.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/containers/bit_set.hpp"
#include "image/layout/vm_layout.hpp"
#include "runtime/memory/memory_image.hpp"
#include "wasm/format/module.hpp"

namespace hoist::runtime {

class ModuleCode;

class InstancePlan {
 public:
  explicit InstancePlan(const ModuleCode& code);

  std::uint64_t id() const { return id_; }

  /// By number. `ctx` is null, and for an imported function also `code`.
  const std::vector<image::VmFuncRef>& func_refs() const { return func_refs_; }
  /// Imported functions that escape.
  const std::vector<std::uint32_t>& imported_refs() const { return imported_refs_; }

  struct Global {
    std::uint32_t index = 0;  ///< in the module
    std::uint64_t bits = 0;
    bool is_constant = false;  ///< else to be evaluated in each instance
  };
  const std::vector<Global>& globals() const { return globals_; }

  /// Elements of a segment as offsets of function references in the instance, 0 for null. Empty if
  /// it has items of other kinds.
  const std::vector<std::int32_t>& elements(std::uint32_t segment) const {
    return elements_[segment];
  }

  /// Null for memories that start as zeros, and for imported ones.
  const std::shared_ptr<const MemoryImage>& image(std::uint32_t memory) const {
    return images_[memory];
  }
  /// Active data segments below this number are in the images; there are images only then.
  std::uint32_t data_in_images() const { return data_in_images_; }
  /// Segments that are dropped once instantiation has succeeded.
  const base::BitSet& dropped_data() const { return dropped_data_; }
  const base::BitSet& dropped_elements() const { return dropped_elements_; }

 private:
  void plan_functions(const ModuleCode& code);
  void plan_globals(const wasm::Module& module);
  void plan_elements(const ModuleCode& code);
  void plan_data(const wasm::Module& module);

  std::uint64_t id_;
  std::vector<image::VmFuncRef> func_refs_;
  std::vector<std::uint32_t> imported_refs_;
  std::vector<Global> globals_;
  std::vector<std::vector<std::int32_t>> elements_;
  std::vector<std::shared_ptr<const MemoryImage>> images_;
  std::uint32_t data_in_images_ = 0;
  base::BitSet dropped_data_;
  base::BitSet dropped_elements_;
};

}  // namespace hoist::runtime
